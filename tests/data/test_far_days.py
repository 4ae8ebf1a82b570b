"""Days without end, before the year 1 and beyond the year 9999, in every kind of file that can hold them."""

from __future__ import annotations

import datetime
from pathlib import Path

import duckdb
import pyarrow as pa

from lexsi_ds.data.frames import to_frame
from tests.data.conftest import Importing

ROWS = """
CREATE TABLE t AS SELECT * FROM (VALUES
  (1, DATE '2020-01-31', TIMESTAMP '2020-01-31 10:00:00', TIMESTAMPTZ '2020-01-31 10:00:00+00', DATE '9999-12-31',
    DATE '0044-03-15 (BC)'),
  (2, DATE '20000-01-01', TIMESTAMP 'infinity', TIMESTAMPTZ '290000-01-01 00:00:00+00', DATE '0001-01-01',
    DATE '0100-07-12 (BC)'),
  (3, DATE '2021-02-28', TIMESTAMP '2021-02-28 00:00:00', NULL, NULL, DATE '2000-01-01'),
  (4, 'infinity', '-infinity', NULL, NULL, NULL), (5, DATE '2021-03-01', TIMESTAMP '2021-03-01', 'infinity', NULL, NULL)
) v(i, d, ts, tz, edge, old);
CREATE TABLE plain AS SELECT 7 AS v;
CREATE TABLE inside AS SELECT [DATE '20000-01-01', DATE '2020-01-01'] AS l, {'a': TIMESTAMP 'infinity'} AS s;
"""




def test_far_days_of_a_duckdb_file_become_missing_and_are_counted(importing: Importing, tmp_path: Path) -> None:
    path = tmp_path / "v.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute(ROWS)
    made = importing("files", path)
    got = made.rows("t", "SELECT i, d, ts, epoch(tz), edge FROM data ORDER BY i")
    day, at = datetime.date, datetime.datetime
    assert got == [
        (1, day(2020, 1, 31), at(2020, 1, 31, 10), 1580464800.0, day(9999, 12, 31)), (2, None, None, None, day(1, 1, 1)),
        (3, day(2021, 2, 28), at(2021, 2, 28), None, None), (4, None, None, None, None),
        (5, day(2021, 3, 1), at(2021, 3, 1), None, None),
    ]
    notes = made.notes("t")
    assert "d: 2 days without end" in notes and "ts: 2 days" in notes and "tz: 2 days" in notes and "edge" not in notes
    assert made.result["today"] == "2021-03-01" and made.rows("plain") == [(7,)]


def test_a_column_of_which_most_days_are_far_is_kept_as_text(importing: Importing, tmp_path: Path) -> None:
    path = tmp_path / "v.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute(ROWS)
    made = importing("files", path)
    assert made.types("t")["old"] == "VARCHAR"
    assert made.rows("t", "SELECT old FROM data WHERE old IS NOT NULL ORDER BY i") == [
        ("0044-03-15 (BC)",), ("0100-07-12 (BC)",), ("2000-01-01",)
    ]
    assert "old: kept as text" in made.notes("t")


def test_far_days_of_a_parquet_file_become_missing_and_are_counted(importing: Importing, tmp_path: Path) -> None:
    path = tmp_path / "v.parquet"
    with duckdb.connect() as con:
        con.execute(ROWS)
        con.execute(f"COPY (SELECT i, d, edge FROM t) TO '{path}'")
        con.execute(f"COPY (SELECT i, ts FROM t WHERE isfinite(ts)) TO '{tmp_path / 'w.parquet'}'")
    made = importing("files", path)
    assert made.rows(sql="SELECT count(d), count(edge), max(d) FROM data") == [(3, 2, datetime.date(2021, 3, 1))]
    assert "d: 2 days without end" in made.notes()
    assert importing("files", tmp_path / "w.parquet").notes() == ""


def test_far_days_inside_of_lists_and_objects_do_not_break_a_frame(importing: Importing, tmp_path: Path) -> None:
    with duckdb.connect() as con:
        con.execute(ROWS)
        arrow: pa.Table = con.execute("SELECT l, s FROM inside").to_arrow_table()
    frame = to_frame(arrow)
    assert [str(day)[:10] for day in frame["l"][0]] == ["20000-01-0", "2020-01-01"] and len(frame) == 1
