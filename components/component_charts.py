"""Plotly figures of computed components: importance of terms, a curve, a surface, and the map of rows. Pure.

Text of the data goes through ``literal``; sign is shown by place, and by hue only beside it.
"""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go

from components.charts import TALL, Chart, figure_for, literal, shortened
from components.plotly_template import colorscale

Json = dict[str, Any]
_SHOWN = 12
_GROUPS = 8


def importance(model: Json, mode: str | None) -> Chart:
    """Mean absolute contribution of the strongest terms, largest on top."""
    figure, p = figure_for(mode, TALL)
    shown = model["features"][:_SHOWN]
    figure.add_bar(
        x=[f["importance"] for f in shown], y=list(range(len(shown))), orientation="h", marker={"color": p.categorical[0]},
        customdata=[literal(f["name"]) for f in shown], hovertemplate="%{customdata}: %{x:.3g}<extra></extra>",
    )
    names = [literal(shortened(f["name"], 24)) for f in shown]
    figure.update_yaxes(tickvals=list(range(len(shown))), ticktext=names, autorange="reversed", title_text=None)
    figure.update_xaxes(title_text=f"Mean size of the contribution, {literal(model['scale'])}", rangemode="tozero")
    first = shown[0]["name"] if shown else "none"
    return Chart(figure, f"Importance of {len(shown)} terms; the strongest is {first}.", TALL)


def curve(graph: Json, scale: str, mode: str | None) -> Chart:
    """A feature's contribution, with one standard deviation between fits: steps of a number, bars of words."""
    figure, p = figure_for(mode, TALL)
    name = graph["columns"][0]
    if graph["type"] == "nominal":
        wide = [high - score for score, high in zip(graph["scores"], graph["upper"], strict=True)]
        figure.add_bar(
            x=[literal(shortened(str(n), 24)) for n in graph["names"]], y=graph["scores"], marker={"color": p.categorical[0]},
            error_y={"type": "data", "array": wide, "width": 0, "thickness": 1.5}, customdata=graph["counts"],
            hovertemplate="%{x}: %{y:.3g}, %{customdata:,.0f} rows<extra></extra>",
        )
    else:
        edges = [_day(e) for e in graph["names"]] if graph["type"] == "date" else graph["names"]
        line = {"color": p.categorical[0], "shape": "hv"}
        for values, fill in ((graph["lower"], None), (graph["upper"], "tonexty")):
            figure.add_scatter(x=edges, y=[*values, values[-1]], mode="lines", line={"width": 0, "shape": "hv"}, fill=fill,
                               fillcolor=_faint(p.categorical[0]), hoverinfo="skip", showlegend=False)
        figure.add_scatter(x=edges, y=[*graph["scores"], graph["scores"][-1]], mode="lines", line=line, showlegend=False,
                           hovertemplate="from %{x}: %{y:.3g}<extra></extra>")
    figure.update_xaxes(title_text=literal(shortened(name, 40)))
    figure.update_yaxes(title_text=f"Contribution, {literal(shortened(scale, 30))}", zeroline=True)
    low, high = min(graph["scores"]), max(graph["scores"])
    return Chart(figure, f"Contribution of {name}, from {low:.3g} to {high:.3g}.", TALL)


def surface(graph: Json, scale: str, mode: str | None) -> Chart:
    """What two features contribute together, beyond their curves."""
    figure, p = figure_for(mode, TALL)
    rows, columns = graph["names"]
    reach = max([abs(v) for line in graph["scores"] for v in line if v is not None] or [1.0]) or 1.0
    figure.add_heatmap(
        z=list(zip(*graph["scores"], strict=True)), x=_middles(rows, len(graph["scores"])),
        y=_middles(columns, len(graph["scores"][0])), zmin=-reach, zmax=reach, colorscale=colorscale(p.diverging),
        colorbar={"title": {"text": literal(shortened(scale, 20))}}, hovertemplate="%{x}, %{y}: %{z:.3g}<extra></extra>",
    )
    figure.update_xaxes(title_text=literal(shortened(graph["columns"][0], 40)), type="category")
    figure.update_yaxes(title_text=literal(shortened(graph["columns"][1], 40)), type="category")
    return Chart(figure, f"What {graph['name']} contribute together, at most {reach:.3g} either way.", TALL)


def points(got: Json, mode: str | None) -> Chart:
    """Rows as points, coloured by the target: a few values by name, numbers by a ramp."""
    figure, p = figure_for(mode, TALL + 60)
    found, target = got["points"], got["target"]
    values = [q.get("target") for q in found]
    if target is None or (all(isinstance(v, float) for v in values if v is not None) and len(set(values)) > _GROUPS):
        colour: Any = p.categorical[0] if target is None else [float("nan") if v is None else v for v in values]
        marker: Json = {"size": 4, "opacity": 0.6, "color": colour}
        if target is not None:
            marker |= {"colorscale": colorscale(p.sequential), "colorbar": {"title": {"text": literal(shortened(target, 20))}}}
        figure.add_trace(go.Scattergl(x=[q["x"] for q in found], y=[q["y"] for q in found], mode="markers", marker=marker,
                                      hoverinfo="skip", showlegend=False))
    else:
        groups = sorted({str(v) for v in values})
        for i, group in enumerate(groups[:_GROUPS]):
            last = i == _GROUPS - 1 and len(groups) > _GROUPS
            mine = [q for q, v in zip(found, values, strict=True) if str(v) in (groups[i:] if last else [group])]
            figure.add_trace(go.Scattergl(
                x=[q["x"] for q in mine], y=[q["y"] for q in mine], mode="markers",
                marker={"size": 4, "opacity": 0.6, "color": p.categorical[i % len(p.categorical)]},
                name="others" if last else f"{literal(shortened(target, 16))} = {literal(shortened(group, 16))}", hoverinfo="skip",
            ))
    figure.update_xaxes(title_text=None, showticklabels=False)
    figure.update_yaxes(title_text=None, showticklabels=False)
    return Chart(figure, f"A map of {len(found)} rows by {got['method']}; near points are alike.", TALL + 60)


def _middles(names: list[Any], count: int) -> list[str]:
    if len(names) == count:
        return [literal(shortened(str(n), 16)) for n in names]
    return [f"{a:.3g} to {b:.3g}" for a, b in pairwise(names)]


def _day(days: float) -> str:
    return (date(1970, 1, 1) + timedelta(days=days)).isoformat()


def _faint(colour: str) -> str:
    red, green, blue = (int(colour.lstrip("#")[i : i + 2], 16) for i in (0, 2, 4))
    return f"rgba({red},{green},{blue},0.18)"
