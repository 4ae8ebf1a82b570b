"""A chart with its title and its menu: the rows it draws as CSV, and whether its camera takes PNG or SVG.

The rows are read off the figure, so every chart has them. Must never: leave out a series that is drawn under a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from components import figures, tables
from components.charts import Chart
from components.explain_draw import Rows, config, csv_of, picture_format
from components.safe import plain

_TAG = re.compile(r"<[^>]+>")


def figure(title: str, note: str, drawn: Chart, key: str, name: str, *, on_select: Callable[[str], None] | None = None) -> None:
    """The head with the menu, and the chart below. ``on_select`` is told the id of a point's case when one is clicked."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        tables.card_head(title, note)
        menu(drawn, key, f"{name}_{title}", title)
    if on_select is None:
        st.plotly_chart(drawn.figure, theme=None, config=config(f"{name}_{title}"), key=key, height=drawn.height, alt=drawn.alt)
        return
    figure_ = go.Figure(drawn.figure).update_layout(dragmode="zoom", clickmode="event+select")
    event: Any = st.plotly_chart(
        figure_, theme=None, config=config(f"{name}_{title}"), key=key, height=drawn.height, alt=drawn.alt, on_select="rerun",
        selection_mode="points",
    )  # fmt: skip
    points = event.selection.points if event else ()
    if points and points[0].get("customdata"):
        on_select(_unescaped(str(np.ravel(points[0]["customdata"])[0])))


def menu(drawn: Chart, key: str, name: str, title: str, rows: Callable[[], Rows] | None = None) -> None:
    """CSV of what the chart shows, and the format of its pictures."""
    chip = st.popover(
        "", icon=":material/download:", type="tertiary", key=f"{key}-menu", on_change="rerun", help=f"Download {plain(title)}",
    )  # fmt: skip
    if chip.open:
        with chip:
            made = rows or (lambda: rows_of(drawn.figure))
            tables.csv_button("CSV of the chart", f"{figures.slug(name)}.csv", lambda: csv_of(*made()), f"{key}-csv")
            picture_format(key)


def rows_of(drawn: go.Figure) -> Rows:
    """Every point of every series with its name, and its interval where it has one."""
    across, up = _axes(drawn)
    x_name, y_name = _words(across.title.text) or "x", _words(up.title.text) or "y"
    found: list[tuple[Any, ...]] = []
    traces: Any = drawn.data
    for trace in traces:
        found += _grid(trace, drawn) if trace.type == "heatmap" else _points(trace, drawn)
    heat = any(trace.type == "heatmap" for trace in traces)
    return ["series", x_name, y_name, *(["value", "rows"] if heat else ["low", "high"])], found


def _axes(drawn: go.Figure) -> tuple[Any, Any]:
    layout: Any = drawn.layout
    return layout.xaxis, layout.yaxis


def _points(trace: Any, drawn: go.Figure) -> list[tuple[Any, ...]]:
    xs, ys = (_labelled(values, axis) for values, axis in zip((trace.x, trace.y), _axes(drawn), strict=True))
    name = _words(trace.name) or ("band" if trace.fill else "")
    across = trace.error_x.array is not None
    values, error = (xs, trace.error_x) if across else (ys, trace.error_y)
    if error.array is None:
        return [(name, x, y, None, None) for x, y in zip(xs, ys, strict=True)]
    below = error.arrayminus if error.arrayminus is not None else error.array
    ends = [(v - low, v + high) for v, low, high in zip(values, below, error.array, strict=True)]
    return [(name, x, y, low, high) for x, y, (low, high) in zip(xs, ys, ends, strict=True)]


def _grid(trace: Any, drawn: go.Figure) -> list[tuple[Any, ...]]:
    xs, ys = (_labelled(values, axis) for values, axis in zip((trace.x, trace.y), _axes(drawn), strict=True))
    counts = trace.customdata
    return [
        ("", x, y, float(trace.z[row][place]), int(counts[row][place][0]) if counts is not None else None)
        for row, y in enumerate(ys) for place, x in enumerate(xs)
    ]  # fmt: skip


def _labelled(values: Any, axis: Any) -> list[Any]:
    """Values as the axis writes them where it has words for them."""
    words = dict(zip(axis.tickvals, axis.ticktext, strict=True)) if axis.ticktext is not None else {}
    plain_values = [v.item() if isinstance(v, np.generic) else v for v in (values if values is not None else ())]
    return [_words(words[v]) if v in words else v for v in plain_values]


def _words(text: Any) -> str:
    return _unescaped(_TAG.sub(" ", str(text))).strip() if text else ""


def _unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&amp;", "&")
