"""Plotly figures of views over many rows: both importances, dependence, interactions, partial dependence with single rows.

Pure: a view and a mode in, a figure out. Each point that stands for a case carries its id first in ``customdata``, so that
a lasso can name it. Must never: join words by a line, or draw a point at a place for a value that is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from components import figures
from components.charts import TALL, Chart, figure_for, literal, shortened
from components.explanation_charts import LABEL, SHOWN_FEATURES, scale_title
from components.plotly_template import Palette, colorscale
from lexsi_ds.explain.results import Cell, Dependence, ImportanceView, Interactions, Profile

MATRIX = 10
"""Features of the matrix; the list of pairs beside it goes further."""
_MISSING = "missing"


def importance_pair(view: ImportanceView, mode: str | None) -> Chart:
    """Mean size of the contribution, and beside it what shuffling costs, each with its 95% interval."""
    figure, p = figure_for(mode, TALL)
    shown = view.features[:SHOWN_FEATURES]
    sides = (
        ("x", [f.mean_abs_interval for f in shown], p.categorical[0], "Mean contribution, " + _short(view.basis.scale)),
        ("x2", [f.loss for f in shown], p.categorical[2], f"Loss of {view.figure} when shuffled"),
    )
    for axis, values, colour, name in sides:
        figure.add_bar(
            x=[v.value for v in values],
            y=list(range(len(shown))),
            orientation="h",
            xaxis=axis,
            marker={"color": colour},
            error_x={
                "type": "data", "symmetric": False, "width": 0, "thickness": 1.5, "color": p.muted,
                "array": [max(0.0, v.high - v.value) for v in values],
                "arrayminus": [max(0.0, v.value - v.low) for v in values],
            },
            customdata=[[literal(f.label), v.low, v.high] for f, v in zip(shown, values, strict=True)],
            hovertemplate=f"%{{customdata[0]}}<br>{literal(name)}: %{{x:,.3~g}} "
            "(%{customdata[1]:,.3~g} to %{customdata[2]:,.3~g})<extra></extra>",
        )  # fmt: skip
    labels = [("≠ " if f.disagrees else "") + shortened(f.label, LABEL) for f in shown]
    figure.update_yaxes(
        tickvals=list(range(len(shown))), ticktext=[literal(label) for label in labels], showgrid=False, zeroline=False,
        range=[len(shown) - 0.4, -0.6],
    )  # fmt: skip
    least = min([0.0, *(f.loss.low for f in shown)])
    titles = (sides[0][3].replace(", ", ",<br>"), sides[1][3].replace(" when", "<br>when"))
    figure.update_layout(
        showlegend=False,
        margin={"t": 12},
        bargap=0.35,
        xaxis={"domain": [0, 0.48], "rangemode": "tozero", "title": {"text": titles[0]}, "nticks": 4},
        xaxis2={"domain": [0.54, 1], "anchor": "y", "title": {"text": titles[1]}, "nticks": 4, "zeroline": least < 0},
    )
    first = shown[0].label if shown else "none"
    return Chart(figure, f"Importance of {len(shown)} features by two measures; {first} moves the model most.", TALL)


def dependence(view: Dependence, target: str, mode: str | None) -> Chart:
    """One point a row: the feature's value against its contribution, coloured by its strongest partner."""
    figure, p = figure_for(mode, TALL)
    place, ticks = _places(view.x)
    y, ids = np.asarray(view.y, dtype=float), np.array([literal(c) for c in view.case_ids], dtype=object)
    raw = np.array([figures.value(v) for v in view.x], dtype=object)
    beside = np.array([figures.value(v) for v in view.colour], dtype=object) if view.colour else np.full(len(y), "")
    name, other = literal(view.label), literal(view.partner_label or "")
    tip = f"%{{customdata[0]}}<br>{name} = %{{customdata[1]}}<br>%{{y:+,.3~f}}" + (
        f"<br>{other} = %{{customdata[2]}}" if view.partner else "") + "<extra></extra>"  # fmt: skip
    data = np.column_stack([ids, [literal(v) for v in raw], [literal(v) for v in beside]])
    for rows, look, legend in _colours(view, p):
        figure.add_trace((go.Scattergl if len(y) > 1500 else go.Scatter)(
            x=place[rows], y=y[rows], mode="markers", customdata=data[rows], hovertemplate=tip,
            marker={"size": 6, "opacity": 0.8, **look}, name=literal(shortened(legend, 18)), showlegend=bool(legend),
        ))  # fmt: skip
    unit = f", {literal(view.unit)}" if view.unit else ""
    figure.update_xaxes(title_text=f"{literal(shortened(view.label, 44))}{unit}", showgrid=False, **ticks)
    figure.update_yaxes(title_text=scale_title(view.basis.scale, literal(target), view.basis.output), zeroline=True)
    if view.partner and _numeric(view.colour):
        low, high = _span(view.colour)
        bar = _bar(shortened(view.partner_label or "", 26), p)
        figure.update_layout(
            coloraxis={"colorscale": colorscale(p.feature_value), "cmin": low, "cmax": high, "colorbar": bar}
        )
    figure.update_layout(margin={"t": 26}, legend={"title": {"text": other}})
    alt = f"Contribution of {view.label} against its value, {figures.count(len(y))} rows"
    return Chart(figure, alt + (f", coloured by {view.partner_label}." if view.partner else "."), TALL)


def interactions(view: Interactions, mode: str | None) -> Chart:
    """The matrix of pairs as squares: the darker, the more the two move the model together; off the diagonal only."""
    figure, p = figure_for(mode, TALL)
    matrix = np.asarray(view.matrix, dtype=float)
    order = np.argsort(-(matrix.sum(axis=0)), kind="stable")[:MATRIX]
    n, part = len(order), 2 * matrix[np.ix_(order, order)]
    rows, columns = np.nonzero(~np.eye(n, dtype=bool))
    labels = [view.labels[i] for i in order]
    names = [view.features[i] for i in order]
    figure.add_scatter(
        x=columns, y=rows, mode="markers",
        customdata=[
            [names[a], names[b], literal(labels[a]), literal(labels[b])] for a, b in zip(rows, columns, strict=True)
        ],
        marker={
            "symbol": "square", "size": max(8, min(26, 240 // max(1, n))), "color": part[rows, columns],
            "colorscale": colorscale(p.sequential), "cmin": 0, "cmax": max(1e-12, float(part[rows, columns].max(initial=0.0))),
            "colorbar": _bar(_margin(view), p),
            "line": {"width": 1, "color": p.grid},
        },
        hovertemplate="%{customdata[2]}<br>%{customdata[3]}<br>%{marker.color:,.3~g}<extra></extra>",
    )  # fmt: skip
    ticks = {"tickvals": list(range(n)), "showgrid": False, "zeroline": False}
    figure.update_yaxes(ticktext=[literal(shortened(label, 22)) for label in labels], range=[n - 0.4, -0.6], **ticks)
    figure.update_xaxes(
        ticktext=[literal(shortened(label, 12)) for label in labels], tickangle=-40, range=[-0.6, n - 0.4], **ticks
    )
    figure.update_layout(showlegend=False, margin={"t": 12})
    first = f"; strongest {view.pairs[0].first_label} with {view.pairs[0].second_label}" if view.pairs else ""
    return Chart(figure, f"Interactions of {n} features{first}.", TALL)


def effect(view: Profile, target: str, mode: str | None) -> Chart:
    """What the model says on average as only this feature is changed, its 10% to 90% band, and single rows."""
    figure, p = figure_for(mode, TALL)
    numbers = [i for i, v in enumerate(view.grid) if _is_number(v)]
    words = view.kind == "categorical" or len(numbers) < 2
    if words:
        _by_word(figure, view, p)
    else:
        _by_number(figure, view, p, numbers)
    unit = f", {literal(view.unit)}" if view.unit else ""
    figure.update_xaxes(title_text=f"{literal(shortened(view.label, 44))}{unit}", showgrid=False)
    of, scale = literal(shortened(view.basis.output or target, 24)), view.basis.scale
    answer = {"probability": f"Probability of {of}", "value": literal(target).capitalize()}
    figure.update_yaxes(title_text=answer.get(scale) or scale_title(scale, literal(target), view.basis.output))
    figure.update_layout(margin={"t": 26})
    return Chart(
        figure, f"Mean prediction over {figures.count(view.basis.rows)} rows as {view.label} is changed.", TALL
    )


def _by_number(figure: go.Figure, view: Profile, p: Palette, at: list[int]) -> None:
    grid = [view.grid[i] for i in at]
    xs: list[Any] = []
    ys: list[float | None] = []
    ids: list[list[str]] = []
    for case, line in zip(view.ice_ids, view.ice, strict=True):
        xs += [*grid, None]
        ys += [*(line[i] for i in at), None]
        ids += [[literal(case)]] * (len(at) + 1)
    figure.add_scatter(
        x=xs, y=ys, customdata=ids, mode="lines+markers", line={"color": p.reference, "width": 1}, opacity=0.35, name="Single rows",
        marker={"size": 3, "color": p.reference},  # a line without marks can neither be clicked nor lassoed
        hovertemplate="%{customdata[0]}<br>%{x:,.6~g}: %{y:,.3~f}<extra></extra>",
    )  # fmt: skip
    blue = p.categorical[0]
    figure.add_scatter(
        x=[*grid, *reversed(grid)], y=[*(view.high[i] for i in at), *(view.low[i] for i in reversed(at))], fill="toself",
        mode="lines", line={"width": 0}, fillcolor=blue, opacity=0.16, hoverinfo="skip", name="10% to 90% of rows",
    )  # fmt: skip
    figure.add_scatter(
        x=grid, y=[view.mean[i] for i in at], mode="lines", line={"color": blue, "width": 2.5}, name="Mean",
        hovertemplate="%{x:,.6~g}: %{y:,.3~f}<extra>mean</extra>",
    )  # fmt: skip
    for i, value in enumerate(view.grid):
        if value is None:
            words = f"where it is missing: {figures.number(view.mean[i])}"
            figure.add_hline(y=view.mean[i], line={"color": p.reference, "dash": "dot", "width": 1}, annotation={
                "text": words, "font": {"color": p.muted}})  # fmt: skip


def _by_word(figure: go.Figure, view: Profile, p: Palette) -> None:
    names = [figures.value(v) for v in view.grid]
    at = np.arange(len(names))
    blue = p.categorical[0]
    xs = np.concatenate([at + 0.22 * (k % 9 - 4) / 4 for k in range(len(view.ice))]) if view.ice else at[:0]
    figure.add_scatter(
        x=xs, y=np.asarray(view.ice, dtype=float).ravel(), mode="markers", name="Single rows",
        customdata=[[literal(case)] for case in view.ice_ids for _ in names],
        marker={"size": 4, "color": p.reference, "opacity": 0.45}, hovertemplate="%{customdata[0]}: %{y:,.3~f}<extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=at, y=list(view.mean), mode="markers", marker={"color": blue, "size": 10}, name="Mean, 10% to 90% of rows",
        error_y={
            "type": "data", "symmetric": False, "width": 0, "thickness": 2, "color": blue,
            "array": [max(0.0, h - m) for h, m in zip(view.high, view.mean, strict=True)],
            "arrayminus": [max(0.0, m - low) for m, low in zip(view.mean, view.low, strict=True)],
        },
        customdata=[[literal(n), s] for n, s in zip(names, view.shares, strict=True)],
        hovertemplate="%{customdata[0]}: %{y:,.3~f}<br>%{customdata[1]:.1%} of training rows<extra></extra>",
    )  # fmt: skip
    figure.update_xaxes(
        tickvals=list(at), ticktext=[literal(shortened(n, 16)) for n in names], range=[-0.6, len(names) - 0.4]
    )


def _is_number(value: Cell) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _numeric(values: Sequence[Cell]) -> bool:
    return all(v is None or _is_number(v) for v in values) and any(v is not None for v in values)


def _span(values: Sequence[Cell]) -> tuple[float, float]:
    """The colour axis without its extremes, so that one outlier does not wash out the rest."""
    known = np.array([float(v) for v in values if v is not None])
    low, high = (float(q) for q in np.quantile(known, [0.02, 0.98]))
    return (low, high) if high > low else (low, low + 1)


def _places(values: Sequence[Cell]) -> tuple[np.ndarray, dict[str, Any]]:
    """Where values stand on the x axis: numbers at their value, words (and what is missing) in their own columns."""
    if _numeric(values):
        known = np.array([np.nan if v is None else float(v) for v in values])
        if not np.isnan(known).any():
            return known, {}
        low, high = float(np.nanmin(known)), float(np.nanmax(known))
        apart = low - 0.09 * ((high - low) or 1)
        ticks = [low, (low + high) / 2, high]
        return np.where(np.isnan(known), apart + _jitter(len(known)) * 0.04 * ((high - low) or 1), known), {
            "tickvals": [apart, *ticks], "ticktext": [_MISSING, *(f"{t:,.4g}" for t in ticks)],
        }  # fmt: skip
    words = [figures.value(v) for v in values]
    known_words = sorted(set(words))
    places = np.array([known_words.index(w) for w in words]) + _jitter(len(words)) * 0.5
    shown = [literal(shortened(w, 14)) for w in known_words]
    return places, {"tickvals": list(range(len(known_words))), "ticktext": shown}


def _jitter(n: int) -> np.ndarray:
    """The same little spread on every draw, from -0.5 to 0.5."""
    return (np.arange(n) * 0.6180339887) % 1 - 0.5


def _colours(view: Dependence, p: Palette) -> list[tuple[np.ndarray, dict[str, Any], str]]:
    everything = np.ones(len(view.y), dtype=bool)
    if not view.partner:
        return [(everything, {"color": p.categorical[0]}, "")]
    if _numeric(view.colour):
        values = np.array([np.nan if v is None else float(v) for v in view.colour])
        gone = np.isnan(values)
        found = [(~gone, {"color": values[~gone], "coloraxis": "coloraxis"}, "")]
        return found + ([(gone, {"color": p.reference}, _MISSING)] if gone.any() else [])
    words = np.array([figures.value(v) for v in view.colour], dtype=object)
    names, counts = np.unique(words, return_counts=True)
    top = list(names[np.argsort(-counts, kind="stable")][: len(p.categorical) - 1])
    found = [(words == w, {"color": p.categorical[i]}, str(w)) for i, w in enumerate(top)]
    rest = ~np.isin(words, top)
    return found + ([(rest, {"color": p.reference}, "other")] if rest.any() else [])


def _bar(title: str, p: Palette) -> dict[str, Any]:
    """A colour bar in the ink of the axes."""
    ink = {"size": 12, "color": p.muted}
    return {
        "thickness": 10, "title": {"text": literal(title), "side": "right", "font": ink}, "tickfont": ink, "outlinewidth": 0,
    }  # fmt: skip


def _short(scale: str) -> str:
    return {"probability": "probability points", "value": "units of the outcome"}.get(scale, "log-odds")


def _margin(view: Interactions) -> str:
    return "units of the outcome" if view.basis.scale == "value" else "log-odds"
