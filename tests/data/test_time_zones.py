"""Moments with a time zone are read and shown, whichever packages Python has for them."""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb
import pytest

from lexsi_ds.data.plan import ReadPlan
from lexsi_ds.data.planning import plan, preview
from tests.data.conftest import Importing


@pytest.fixture(autouse=True)
def _without_pytz(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pytz", None)


_SELECT = """SELECT range AS id, TIMESTAMPTZ '2024-01-31 23:30:00-05' + to_hours(range) AS ts, TIMETZ '10:00:00+02' AS tt,
    [TIMESTAMPTZ '2024-01-31 08:00:00+00'] AS list, {'at': TIMESTAMPTZ '2024-01-31 08:00:00+00'} AS inner,
    [DATE '2024-01-31'] AS days, [1.5::DECIMAL(4, 1)] AS amounts FROM range(3)"""


@pytest.mark.parametrize("ending", ["parquet", "duckdb"])
def test_moments_with_a_time_zone_are_previewed_and_imported(tmp_path: Path, importing: Importing, ending: str) -> None:
    path = tmp_path / f"t.{ending}"
    if ending == "parquet":
        duckdb.sql(_SELECT).write_parquet(str(path))
    else:
        with duckdb.connect(str(path)) as db:
            db.execute(f"CREATE TABLE t AS {_SELECT}")
    shown = preview(path, ReadPlan.model_validate(plan([path], {})["plans"][0]))
    assert shown.rows[0][:2] == (0, "2024-02-01 04:30:00+00") and shown.rows[2][1] == "2024-02-01 06:30:00+00"
    read = importing("files", path)
    column = read.column("ts")
    assert (column["minimum"], column["maximum"]) == ("2024-02-01 04:30:00+00", "2024-02-01 06:30:00+00")
    assert read.result["today"] == "2024-02-01"
    assert read.rows(sql="SELECT epoch(ts) FROM data ORDER BY id")[0] == (1706761800.0,)
