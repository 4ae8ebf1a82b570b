"""A surprise in one sentence, with the SQL that gives its figures and its rows again. Association, never cause."""

from __future__ import annotations

from collections.abc import Sequence

from lexsi_ds.data.raw_rows import quoted
from lexsi_ds.insights.dimensions import Dimension
from lexsi_ds.insights.hypotheses import Tested
from lexsi_ds.insights.surprise import Measure, Side, Surprise

_WIDE = 1.959964


def said(measure: Measure, dims: Sequence[Dimension], tested: Tested, *, q: float, confidence: float) -> Surprise:
    """The surprise that a confirmed hypothesis is."""
    sides = tuple(dims[d].sides[level] for d, level in tested.key if level >= 0)
    low, high = tested.effect - _WIDE * tested.error, tested.effect + _WIDE * tested.error
    sentence, sql = _TOLD[tested.kind](measure, dims, tested, sides, low, high)
    condition = " AND ".join(f"({s.condition})" for s in sides)
    if tested.kind == "simpson_reversal":
        condition = " OR ".join(f"({s.condition})" for s in sides)
    return Surprise(
        kind=tested.kind, measure=measure, sides=sides, n=tested.n, observed=tested.observed, expected=tested.expected,
        effect=tested.effect, low=low, high=high, p=tested.p, q=q, confidence=confidence, sentence=sentence, sql=sql,
        rows_sql=f"SELECT * FROM dataset WHERE {condition}",
    )


def figure(value: float, *, share: bool) -> str:
    """A value of the measure: a number, or a percentage."""
    if share:
        return f"{100 * value:.1f}%"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.2f}" if abs(value) >= 1 else f"{value:.3g}"


def difference(value: float, *, share: bool) -> str:
    """The size of a difference, without its sign."""
    return f"{100 * abs(value):.1f} percentage points" if share else figure(abs(value), share=False)


def _bounds(low: float, high: float, *, share: bool) -> str:
    if low < 0 < high:
        return f"95% interval {figure(low, share=share)} to {figure(high, share=share)}"
    near, far = sorted((abs(low), abs(high)))
    unit = " points" if share else ""
    first, second = (f"{100 * v:.1f}" if share else figure(v, share=False) for v in (near, far))
    return f"95% interval {first} to {second}{unit}"


def _named(side: Side) -> str:
    return f"{side.column} is {side.level}"


def _effect(
    measure: Measure, dims: Sequence[Dimension], t: Tested, sides: tuple[Side, ...], low: float, high: float
) -> tuple[str, str]:
    way = "higher" if t.effect > 0 else "lower"
    sentence = (
        f"Where {_named(sides[0])} and {_named(sides[1])}, {measure.label} is {figure(t.observed, share=measure.binary)} "
        f"({t.n:,} rows); each column by itself would give {figure(t.expected, share=measure.binary)}: "
        f"{difference(t.effect, share=measure.binary)} {way} ({_bounds(low, high, share=measure.binary)})."
    )
    figures = f"count({measure.sql}) AS n, avg({measure.sql}) AS observed"
    return sentence, f"SELECT {_by(dims, t)}, {figures} FROM dataset GROUP BY ALL ORDER BY ALL"


def _trend(
    measure: Measure, dims: Sequence[Dimension], t: Tested, sides: tuple[Side, ...], low: float, high: float
) -> tuple[str, str]:
    time = dims[t.key[1][0]]
    way = "rises" if t.effect > 0 else "falls"
    periods = [s for s in time.sides if s.level != "missing"]
    sentence = (
        f"Where {_named(sides[0])}, {measure.label} {way} against the other rows, by {difference(t.effect, share=measure.binary)} "
        f"from {periods[0].level} to {periods[-1].level} ({t.n:,} rows; {_bounds(low, high, share=measure.binary)})."
    )
    period = str(time.mapping[0]) if time.mapping else quoted(time.column)
    sql = (
        f"SELECT {period} AS period, ({sides[0].condition}) AS is_group, count({measure.sql}) AS n, avg({measure.sql}) AS observed "
        "FROM dataset GROUP BY ALL ORDER BY ALL"
    )
    return sentence, sql


def _concentrated(
    measure: Measure, dims: Sequence[Dimension], t: Tested, sides: tuple[Side, ...], low: float, high: float
) -> tuple[str, str]:
    sentence = (
        f"Where {_named(sides[0])}, {figure(t.observed, share=True)} of {t.n:,} rows are among the "
        f"{figure(t.expected, share=True)} whose {measure.column} is farthest from "
        f"what the other columns give: {t.observed / max(t.expected, 1e-12):.1f} times their share."
    )
    sql = (
        f"SELECT count({measure.sql}) AS n, avg({measure.sql}) AS average, stddev_samp({measure.sql}) AS deviation, "
        f"min({measure.sql}) AS lowest, max({measure.sql}) AS highest, ({sides[0].condition}) AS is_group FROM dataset GROUP BY ALL"
    )
    return sentence, sql


def _reversal(
    measure: Measure, dims: Sequence[Dimension], t: Tested, sides: tuple[Side, ...], low: float, high: float
) -> tuple[str, str]:
    other = dims[t.key[2][0]]
    more = "higher" if t.observed > 0 else "lower"
    less = "lower" if t.observed > 0 else "higher"
    sentence = (
        f"Over all rows, {measure.label} is {difference(t.observed, share=measure.binary)} {more} where {_named(sides[0])} "
        f"than where {_named(sides[1])}; among rows alike in {other.column} it is "
        f"{difference(t.effect, share=measure.binary)} {less} "
        f"({_bounds(low, high, share=measure.binary)}; {t.n:,} rows)."
    )
    level = _case(other)
    sql = (
        f"SELECT {level} AS {quoted(other.column)}, CASE WHEN {sides[0].condition} THEN 1 ELSE 2 END AS \"group\", "
        f"count({measure.sql}) AS n, avg({measure.sql}) AS observed FROM dataset WHERE ({sides[0].condition}) OR "
        f"({sides[1].condition}) GROUP BY ROLLUP (1), 2 ORDER BY ALL"
    )
    return sentence, sql


def _by(dims: Sequence[Dimension], t: Tested) -> str:
    return ", ".join(f"{_case(dims[d])} AS {quoted(dims[d].column)}" for d in dict.fromkeys(t.dims))


def _case(dim: Dimension) -> str:
    if dim.time and dim.mapping:
        return str(dim.mapping[0])
    if not dim.ordered and all(s.condition.startswith(f"{quoted(dim.column)} = ") for s in dim.sides if s.level != "missing"):
        return quoted(dim.column)
    whens = " ".join(f"WHEN {s.condition} THEN '{s.level.replace(chr(39), chr(39) * 2)}'" for s in dim.sides)
    return f"CASE {whens} END"


_TOLD = {
    "unexpected_effect": _effect, "trend_shift": _trend, "concentrated_anomaly": _concentrated, "simpson_reversal": _reversal,
}
