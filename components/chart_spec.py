"""How a result is drawn as a chart: a typed spec, a sensible default, and the controls that change it.

A spec names a kind and columns of the result, nothing else; what does not fit the rows is not drawn. Must never: run code, or take
a column that is not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import pandas as pd
import streamlit as st
from pydantic import BaseModel, ConfigDict, ValidationError

from components import figures, session
from components.charts import Chart
from components.result_chart import MOST_MARKS, MOST_POINTS, MOST_SERIES, result_chart
from components.safe import flat
from components.tables import is_identifier

ChartKind = Literal["bar", "line", "scatter", "none"]
LABELS: dict[ChartKind, str] = {"bar": "Bars", "line": "Line", "scatter": "Points", "none": "No chart"}
_NONE = "(none)"


class ChartSpec(BaseModel):
    """A chart of a result: ``x`` against ``y``, one colour a value of ``series``."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: ChartKind = "none"
    x: str = ""
    y: str = ""
    series: str = ""
    unit: str | None = None


def default_spec(frame: pd.DataFrame, meta: Mapping[str, Any]) -> ChartSpec:
    """What the reading asks for; else bars or a line where the rows are few and a column names them, and no chart otherwise."""
    value, groups = meta.get("value_column"), [g for g in meta.get("group_columns") or () if g in frame.columns]
    if meta.get("chart") in ("bar", "line") and value in frame.columns and groups:
        series = groups[1] if len(groups) > 1 else ""
        return ChartSpec(kind=meta["chart"], x=groups[0], y=str(value), series=series, unit=meta.get("unit"))
    if meta.get("chart") == "none" and value:  # the reading of a question that asks for no chart; SQL by hand has none
        return ChartSpec()
    numbers = measures(frame)
    times = [c for c in map(str, frame.columns) if pd.api.types.is_datetime64_any_dtype(frame[c])]
    names = [c for c in map(str, frame.columns) if c not in numbers and c not in times]
    if not numbers or not 2 <= len(frame) <= MOST_MARKS or len(frame.columns) > 6:
        return ChartSpec()
    if times and frame[times[0]].is_unique:
        return ChartSpec(kind="line", x=times[0], y=numbers[-1])
    if names and frame[names[0]].is_unique:
        return ChartSpec(kind="bar", x=names[0], y=numbers[-1])
    return ChartSpec()


def measures(frame: pd.DataFrame) -> list[str]:
    """Columns of numbers that are amounts rather than ids."""
    return [
        str(c) for c in frame.columns
        if pd.api.types.is_numeric_dtype(frame[c]) and not pd.api.types.is_bool_dtype(frame[c]) and not is_identifier(str(c))
    ]  # fmt: skip


def spec_of(body: Mapping[str, Any] | None, frame: pd.DataFrame, meta: Mapping[str, Any]) -> ChartSpec:
    """The spec that a person kept, where it still fits the rows; else the default."""
    if body and "kind" in body:
        try:
            kept = ChartSpec.model_validate(dict(body))
        except ValidationError:
            return default_spec(frame, meta)
        if kept.kind == "none" or (kept.x in frame.columns and kept.y in frame.columns):
            return kept if kept.series in frame.columns else kept.model_copy(update={"series": ""})
    return default_spec(frame, meta)


def controls(spec: ChartSpec, frame: pd.DataFrame, key: str) -> ChartSpec:
    """Kind and columns to choose from; what is chosen now."""
    columns, numbers = [str(c) for c in frame.columns], [str(c) for c in frame.columns if pd.api.types.is_numeric_dtype(frame[c])]
    if not numbers or len(frame) < 2:
        st.caption("A chart needs two rows and a column of numbers.")
        return spec
    kinds = list(get_args(ChartKind))
    kind = st.segmented_control(
        "Chart", kinds, default=spec.kind, key=session.wkey(key, "kind"), required=True,
        format_func=lambda k: f":gray[{LABELS[k]}]",
    )  # fmt: skip
    if kind == "none":
        return ChartSpec()
    x = st.selectbox("Across", columns, index=_at(columns, spec.x), key=session.wkey(key, "x"), format_func=flat)
    y = st.selectbox("Value", numbers, index=_at(numbers, spec.y or numbers[-1]), key=session.wkey(key, "y"), format_func=flat)
    few = (c for c in columns if c not in (x, y) and (c == spec.series or 1 < len(set(frame[c].astype(str))) <= MOST_SERIES))
    others = [_NONE, *few]
    chosen = st.selectbox(
        "One colour each", others, index=_at(others, spec.series), key=session.wkey(key, "series"), format_func=flat
    )
    series = "" if chosen in (None, _NONE) else str(chosen)
    unit = spec.unit if y == spec.y else None
    return ChartSpec(kind=kind or "bar", x=x or columns[0], y=y or numbers[-1], series=series, unit=unit)


def _at(names: list[str], name: str) -> int:
    return names.index(name) if name in names else 0


def drawn(spec: ChartSpec, frame: pd.DataFrame, mode: str | None) -> Chart | None:
    """The figure of a spec; None where it asks for none or its columns do not carry one."""
    if spec.kind == "none" or not {spec.x, spec.y} <= set(map(str, frame.columns)):
        return None
    groups = (spec.x, spec.series) if spec.series and spec.series in frame.columns else (spec.x,)
    return result_chart(frame, spec.kind, spec.y, groups, spec.unit, mode)


def left_out(spec: ChartSpec, total: int) -> str:
    """How many rows a chart shows, where those are not all."""
    most = MOST_POINTS if spec.kind == "scatter" else MOST_MARKS
    return f"The chart shows the first {figures.count(most)} of {figures.counted(total, 'row')}." if total > most else ""
