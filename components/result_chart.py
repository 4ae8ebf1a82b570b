"""The chart of a query's result: bars or a line over the group column, as the reading of the question says."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from components import figures
from components.charts import HEIGHT, Chart, figure_for, literal, shortened
from components.plotly_template import Palette

MOST_MARKS = 40
MOST_POINTS = 5_000
"""Most rows of a chart of points."""
MOST_SERIES = 8


def result_chart(
    frame: pd.DataFrame,
    kind: str,
    value_column: str,
    group_columns: tuple[str, ...],
    unit: str | None,
    mode: str | None,
) -> Chart | None:
    """Draws up to 40 groups and 8 series; None when the result does not carry a chart (no rows, no such column)."""
    groups = [c for c in group_columns if c in frame.columns]
    if not groups or value_column not in frame.columns or len(frame) < 2:
        return None
    if not pd.api.types.is_numeric_dtype(frame[value_column]):
        return None
    figure, p = figure_for(mode, HEIGHT)
    head = frame.head(MOST_POINTS if kind == "scatter" else MOST_MARKS)
    if len(groups) == 1:
        _add(figure, kind, head, groups[0], value_column, value_column, p, 0)
        figure.update_layout(showlegend=False)
    else:
        names = list(dict.fromkeys(head[groups[1]].astype(str)))[:MOST_SERIES]
        for i, name in enumerate(names):
            _add(
                figure,
                kind,
                pd.DataFrame(head[head[groups[1]].astype(str) == name]),
                groups[0],
                value_column,
                name,
                p,
                i,
            )
        figure.update_layout(barmode="group")
    title = value_column.replace("_", " ")
    figure.update_xaxes(
        title_text=literal(groups[0].replace("_", " ")), type=_axis_type(kind, pd.Series(head[groups[0]]))
    )
    figure.update_yaxes(
        title_text=literal(f"{title}, {unit}" if unit else title), rangemode="normal" if kind == "scatter" else "tozero"
    )
    figure.update_layout(margin={"t": 12})
    return Chart(figure, f"{title} by {groups[0].replace('_', ' ')}, {len(head)} values.", HEIGHT)


def _group(value: object) -> str:
    """A group's name: whole numbers are years, codes and ids more often than amounts, so they take no thousands marks."""
    whole = (
        isinstance(value, (int, float)) and not isinstance(value, bool) and value == value and float(value).is_integer()
    )
    return str(int(value)) if whole else figures.value(value)  # pyright: ignore[reportArgumentType]


def _axis_type(kind: str, x: pd.Series) -> str:
    if kind == "scatter" and pd.api.types.is_numeric_dtype(x):
        return "linear"
    if kind in ("line", "scatter") and pd.api.types.is_datetime64_any_dtype(x):
        return "date"
    if kind == "line" and pd.api.types.is_datetime64_any_dtype(x):
        return "date"
    return "category"


def _add(
    figure: go.Figure,
    kind: str,
    rows: pd.DataFrame,
    x: str,
    y: str,
    name: str,
    p: Palette,
    i: int,
) -> None:
    dated = kind == "line" and pd.api.types.is_datetime64_any_dtype(rows[x])
    across = rows[x] if dated else [literal(shortened(_group(v), 24)) for v in rows[x].tolist()]
    colour = p.categorical[i % len(p.categorical)]
    tip = "%{x}: %{y:,}<extra></extra>"
    if kind == "scatter":
        points = rows[x] if pd.api.types.is_numeric_dtype(rows[x]) or pd.api.types.is_datetime64_any_dtype(rows[x]) else across
        figure.add_scatter(x=points, y=rows[y], name=literal(name), mode="markers", marker={"color": colour}, hovertemplate=tip)
    elif kind == "line":
        figure.add_scatter(
            x=across, y=rows[y], name=literal(name), mode="lines+markers", line={"color": colour}, hovertemplate=tip
        )
    else:
        figure.add_bar(x=across, y=rows[y], name=literal(name), marker={"color": colour}, hovertemplate=tip)
