"""Values of numeric columns that look like marks and no measurements: sentinels such as -999, and far values that repeat.

Must never: say that a value is wrong; it says what is odd about it and how often it stands there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import duckdb

from lexsi_ds.data.handle import Column
from lexsi_ds.data.raw_rows import quoted

_LEAST, _MOST = 5, 5
_SPREADS = 3.0
"""Farther from the quartiles than so many quartile ranges is far, as in Tukey's outer fences."""
_MARK = re.compile(r"-?(9{2,}|1|9|8{2,})(\.0+)?$")
Json = dict[str, Any]


def repeated_far_values(con: duckdb.DuckDBPyConnection, columns: Sequence[Column]) -> dict[str, list[Json]]:
    """By column: each far value of ``data`` that stands there five times or more, the most frequent first."""
    found: dict[str, list[Json]] = {}
    for column in columns:
        if column.family != "number" or column.distinct < 10 or column.masked or column.identifier:
            continue
        if values := _of(con, column):
            found[column.name] = values
    return found


def _of(con: duckdb.DuckDBPyConnection, column: Column) -> list[Json]:
    name = f"{quoted(column.name)}::DOUBLE"
    fences = con.execute(
        f"SELECT quantile_cont(v, [0.25, 0.75]) FROM (SELECT {name} AS v FROM data) WHERE isfinite(v)"
    ).fetchone()
    if fences is None or fences[0] is None:
        return []
    low, high = fences[0]
    wide = _SPREADS * (high - low)
    rows = con.execute(
        f"SELECT v, count(*) AS n FROM (SELECT {name} AS v FROM data) WHERE isfinite(v) AND (v < ? OR v > ?) "
        f"GROUP BY v HAVING count(*) >= {_LEAST} ORDER BY n DESC, v LIMIT {_MOST}", [low - wide, high + wide],
    ).fetchall()
    return [{"value": v, "count": n, "kind": _kind(v, low)} for v, n in rows if wide > 0]


def _kind(value: float, low: float) -> str:
    """A number made of nines or eights, or minus one below positive values, is how files say "not known"."""
    text = f"{value:g}"
    marks = _MARK.match(text) is not None and (abs(value) >= 9 or (value < 0 <= low))
    return "sentinel" if marks else "repeated_outlier"
