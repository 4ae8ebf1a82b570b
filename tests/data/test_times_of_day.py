"""Times of day: suggested of texts, read by choice, kept as times from sources that have them, and written as times."""

from __future__ import annotations

from datetime import time
from pathlib import Path

import duckdb
import pyarrow as pa
from python_calamine import CalamineWorkbook

from lexsi_ds.data.plan import ReadPlan
from lexsi_ds.data.planning import plan
from lexsi_ds.data.workbook import write_workbook
from tests.data.conftest import Importing

_TEXT = "shop,opens,closes,lap\n" + "".join(f"s{i},{8 + i % 3}:{i:02},{1 + i}:05 PM,{61 + i}:30\n" for i in range(9))


def test_texts_that_are_times_of_day_are_suggested_and_read_by_choice(csv: Importing, tmp_path: Path) -> None:
    as_found = csv(_TEXT)
    assert as_found.types() == dict.fromkeys(("shop", "opens", "closes", "lap"), "VARCHAR")
    found = ReadPlan.model_validate(plan([tmp_path / "t.csv"], {})["plans"][0])
    assert [(s.column, s.values) for s in found.suggestions] == [("opens", ("time",)), ("closes", ("time",))]
    read = csv(_TEXT, columns={"1": {"type": "time"}, "2": {"type": "time"}, "3": {"type": "time"}})
    assert read.types() == {"shop": "VARCHAR", "opens": "TIME", "closes": "TIME", "lap": "TIME"}
    assert read.rows(sql="SELECT opens, closes, lap FROM data WHERE opens > TIME '10:00' ORDER BY opens LIMIT 1") == [
        (time(10, 2), time(15, 5), None)
    ]
    assert (read.column("opens")["minimum"], read.column("opens")["maximum"]) == ("08:00:00", "10:08:00")
    assert "9 values of lap did not fit the chosen type" in read.notes()


def test_times_of_a_source_stay_times_and_are_written_as_times(importing: Importing, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    duckdb.sql(f"COPY (SELECT range AS id, TIME '08:00:00' + to_minutes(range * 7) AS opens FROM range(5)) TO '{path}'")
    read = importing("files", path)
    assert read.types()["opens"] == "TIME" and read.column("opens")["maximum"] == "08:28:00"
    assert read.table()["columns"] and read.rows(sql="SELECT max(opens) FROM data") == [(time(8, 28),)]
    table = pa.table({"opens": pa.array([time(8, 30), time(8, 30, 0, 5), None], pa.time64("us"))})
    write_workbook(table.to_reader(), tmp_path / "t.xlsx", [], lambda _: None)
    rows = CalamineWorkbook.from_path(str(tmp_path / "t.xlsx")).get_sheet_by_name("Result").to_python()
    assert [row[0] for row in rows] == ["opens", time(8, 30), "08:30:00.000005"]
