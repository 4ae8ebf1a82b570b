"""What is counted of a table's columns: the same whether DuckDB knows the extremes already or has to look at every row."""

from __future__ import annotations

from datetime import date, timedelta

import duckdb
import pytest

from lexsi_ds.data import profile as profiles
from lexsi_ds.data.profile import count_columns, profile

_FAR = (date.today() + timedelta(days=400)).isoformat()


@pytest.fixture
def con() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    con.execute("SET TimeZone = 'UTC'")
    con.execute(
        """CREATE TABLE t (whole BIGINT, clean DOUBLE, odd DOUBLE, day DATE, due DATE, ends TIMESTAMP, seen TIMESTAMPTZ,
           yes BOOLEAN, word VARCHAR, none DOUBLE)"""
    )
    con.execute(
        f"""INSERT INTO t VALUES
            (3, 1.5, 'nan', '2020-01-02', '2021-05-06', '2019-01-01 10:00', '2020-02-03 23:30:00+00', true, 'b', NULL),
            (-7, NULL, 2.5, '2020-03-04', '{_FAR}', 'infinity', '2020-01-01 00:00:00+00', true, 'a', NULL),
            (3, -0.5, 'inf', NULL, '2021-01-01', NULL, NULL, NULL, NULL, NULL),
            (0, 1.5, -4, '1999-12-31', '2021-05-05', '2018-01-01 09:00', NULL, true, 'é', NULL)"""
    )
    return con


@pytest.mark.parametrize("most_exact", [profiles.EXACT_ROWS, 0])
def test_nulls_and_extremes_are_exact(con: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch, most_exact: int) -> None:
    monkeypatch.setattr(profiles, "EXACT_ROWS", most_exact)
    names = [row[0] for row in con.execute("DESCRIBE t").fetchall()]
    found = {n: (c.nulls, c.minimum, c.maximum, c.latest) for n, c in zip(names, count_columns(con, "t"), strict=True)}
    assert found == {
        "whole": (0, "-7", "3", None),
        "clean": (1, "-0.5", "1.5", None),
        "odd": (0, "-4.0", "2.5", None),
        "day": (1, "1999-12-31", "2020-03-04", date(2020, 3, 4)),
        "due": (0, "2021-01-01", _FAR, date(2021, 5, 6)),
        "ends": (1, "2018-01-01 09:00:00", "infinity", date(2019, 1, 1)),
        "seen": (2, "2020-01-01 00:00:00+00", "2020-02-03 23:30:00+00", date(2020, 2, 3)),
        "yes": (1, None, None, None),
        "word": (1, "a", "é", None),
        "none": (4, None, None, None),
    }


def test_rows_deleted_and_changed_do_not_count(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE TABLE n AS SELECT range AS x, range / 4 AS y FROM range(300000)")
    con.execute("DELETE FROM n WHERE x > 100")
    con.execute("UPDATE n SET y = 7 WHERE x = 100")
    x, y = count_columns(con, "n")
    assert (x.minimum, x.maximum, y.minimum, y.maximum) == ("0", "100", "0.0", "24.75")


def test_a_future_day_is_not_today_and_a_long_text_is_no_extreme(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("UPDATE t SET word = repeat('z', 121) WHERE word = 'é'")
    made = profile(con, "t")
    words = {c.name: (c.minimum, c.maximum, c.distinct) for c in made.columns}
    assert made.latest == date(2021, 5, 6) and made.rows == 4 and not made.estimated
    assert words["word"] == ("a", None, 3) and words["yes"][2] == 1
