"""Plotly figures of model and explanation payloads. Pure: a payload and a mode in, a figure with its spoken name out.

Text that comes from data goes through ``_text``: Plotly reads a little HTML, and a column may be named like a tag.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from components import figures
from components.plotly_template import LIGHT, Palette, colorscale, direction, palette, signed, template
from lexsi_ds.models.card import Candidate, ModelCard
from lexsi_ds.models.engine import BeeswarmFeature, CaseExplanation, GlobalExplanation

HEIGHT = 300
TALL = 390
SHOWN_FEATURES = 10
LABEL = 28
"""Most characters of a feature beside a chart; the hover text has it whole."""
SVG_POINTS = 6000
"""Above this many points a beeswarm is drawn by WebGL."""


@dataclass(frozen=True)
class Chart:
    """A figure, its height in pixels, and one sentence that names it for those who cannot see it."""

    figure: go.Figure
    alt: str
    height: int = HEIGHT


def _text(label: object) -> str:
    return str(label).replace("&", "&amp;").replace("<", "&lt;")


def _short(label: str, limit: int = 34) -> str:
    return label if len(label) <= limit else label[: limit - 1].rstrip() + "…"


def _figure(mode: str | None, height: int) -> tuple[go.Figure, Palette]:
    figure = go.Figure()
    figure.update_layout(template=template(mode or "light"), height=height)
    return figure, palette(mode) if mode else LIGHT


def scale_title(scale: str, target: str) -> str:
    """The name of a scale, for an axis, short enough for a narrow chart: the rescaling is always said."""
    if scale == "probability":
        return "Probability points, rescaled"
    return f"Log-odds of {target}"


def roc(card: ModelCard, mode: str | None) -> Chart:
    """Out-of-fold ROC of the chosen model with its band, the other candidate dashed, chance dotted."""
    figure, p = _figure(mode, HEIGHT)
    chosen, other = card.chosen, next((c for c in card.candidates if not c.chosen), None)
    blue, curve = p.categorical[0], chosen.roc
    if curve.low and curve.high:
        figure.add_scatter(
            x=[*curve.x, *reversed(curve.x)],
            y=[*curve.high, *reversed(curve.low)],
            fill="toself",
            mode="lines",
            line={"width": 0},
            fillcolor=blue,
            opacity=0.16,
            hoverinfo="skip",
            showlegend=False,
        )
    tip = "%{y:.0%} of outcomes caught at %{x:.0%} false alarms<extra></extra>"
    figure.add_scatter(
        x=curve.x, y=curve.y, mode="lines", line={"color": blue}, name=_auc_name(chosen), hovertemplate=tip
    )
    if other:
        figure.add_scatter(
            x=other.roc.x,
            y=other.roc.y,
            mode="lines",
            line={"color": p.reference, "dash": "dash"},
            name=_auc_name(other),
            hovertemplate=tip,
        )
    figure.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        line={"color": p.reference, "dash": "dot", "width": 1},
        name="Chance",
        hoverinfo="skip",
    )
    figure.update_xaxes(title_text="False alarm rate", range=[0, 1], dtick=0.2)
    figure.update_yaxes(title_text=f"Share of {_text(card.task.target_label)} caught", range=[0, 1.02], dtick=0.2)
    auc = chosen.metrics.roc_auc
    return Chart(figure, f"ROC curve, area {figures.number(auc.value)}, interval {figures.interval(auc)}.")


def _auc_name(candidate: Candidate) -> str:
    return f"{candidate.model_type}, {figures.number(candidate.metrics.roc_auc.value)}"


def calibration(card: ModelCard, mode: str | None) -> Chart:
    """Observed share against mean predicted probability, by bin, with Wilson intervals; the diagonal is perfect."""
    figure, p = _figure(mode, HEIGHT)
    bins = card.chosen.calibration
    top = max([0.2, *(b.high for b in bins), *(b.predicted for b in bins)])
    top = min(1.0, np.ceil(top * 10) / 10)
    figure.add_scatter(
        x=[0, top],
        y=[0, top],
        mode="lines",
        line={"color": p.reference, "dash": "dot", "width": 1},
        name="Perfect",
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=[b.predicted for b in bins],
        y=[b.observed for b in bins],
        mode="lines+markers",
        name=card.chosen.model_type,
        line={"color": p.categorical[0]},
        customdata=[[b.n, b.low, b.high] for b in bins],
        error_y={
            "type": "data",
            "symmetric": False,
            "width": 0,
            "thickness": 1.5,
            "array": [max(0.0, b.high - b.observed) for b in bins],
            "arrayminus": [max(0.0, b.observed - b.low) for b in bins],
        },
        hovertemplate="predicted %{x:.2f}, observed %{y:.2f}<br>%{customdata[1]:.2f} to %{customdata[2]:.2f}, "
        "%{customdata[0]} rows<extra></extra>",
    )
    figure.update_xaxes(title_text="Mean predicted probability", range=[0, top * 1.02])
    figure.update_yaxes(title_text="Observed share", range=[0, top * 1.02])
    return Chart(figure, f"Calibration in {len(bins)} bins: observed share against predicted probability.")


def importance(explanation: GlobalExplanation, target: str, mode: str | None) -> Chart:
    """Mean absolute contribution of the most important features, largest on top."""
    figure, p = _figure(mode, TALL)
    shown = explanation.features[:SHOWN_FEATURES]
    figure.add_bar(
        x=[f.mean_abs for f in shown],
        y=list(range(len(shown))),
        orientation="h",
        marker={"color": p.categorical[0]},
        text=[_digits(f.mean_abs) for f in shown],
        textposition="outside",
        customdata=[_text(f.label) for f in shown],
        hovertemplate="%{customdata}: %{x:.3f}<extra></extra>",
    )
    _feature_axis(figure, [f.label for f in shown])
    figure.update_xaxes(
        title_text=f"Mean size of the contribution, {_scale_word(explanation.scale)}", rangemode="tozero"
    )
    first = shown[0].label if shown else "none"
    return Chart(
        figure, f"Importance of the {len(shown)} strongest features for {target}; the strongest is {first}.", TALL
    )


def beeswarm(explanation: GlobalExplanation, target: str, mode: str | None) -> Chart:
    """One point a row and feature: position is the contribution, colour the feature's value."""
    figure, p = _figure(mode, TALL)
    shown = explanation.features[:SHOWN_FEATURES]
    trace = go.Scatter if len(shown) * explanation.rows <= SVG_POINTS else go.Scattergl
    reach = max([1e-9, *(abs(c) for f in shown for c in f.contributions)])
    for i, feature in enumerate(shown):
        figure.add_traces(_swarm(trace, feature, explanation.case_ids, i, reach, p))
    _feature_axis(figure, [f.label for f in shown])
    bar = {"title": {"text": "Feature value"}, "tickvals": [0, 1], "ticktext": ["low", "high"]}
    values = {"colorscale": colorscale(p.feature_value), "cmin": 0, "cmax": 1, "colorbar": bar}
    figure.update_layout(showlegend=False, margin={"t": 40}, coloraxis=values)
    figure.update_xaxes(title_text=scale_title(explanation.scale, target), zeroline=True, showgrid=True)
    for side, anchor, words in ((-6, "right", "▼ lowers the risk"), (6, "left", "▲ raises the risk")):
        figure.add_annotation(
            x=0,
            y=1,
            yref="paper",
            yanchor="bottom",
            xshift=side,
            xanchor=anchor,
            text=words,
            showarrow=False,
        )
    alt = f"Beeswarm of {figures.count(explanation.rows)} rows: contribution of the {len(shown)} strongest features."
    return Chart(figure, alt, TALL)


def _swarm(
    trace: type, feature: BeeswarmFeature, case_ids: Sequence[str], row: int, reach: float, p: Palette
) -> list[go.Scatter]:
    """The points of one feature: those with a value coloured by it, those without in the reference grey."""
    y = row + _spread(np.asarray(feature.contributions), reach)
    tips = [
        f"{_text(case)}<br>{_text(feature.label)} = {_text(figures.value(raw))}<br>{signed(c)}"
        for case, raw, c in zip(case_ids, feature.raw, feature.contributions, strict=True)
    ]
    known = [i for i, v in enumerate(feature.values) if v is not None]
    missing = [i for i, v in enumerate(feature.values) if v is None]
    looks: tuple[tuple[list[int], dict], ...] = (
        (known, {"color": [feature.values[i] for i in known], "coloraxis": "coloraxis"}),
        (missing, {"color": p.reference}),
    )
    return [
        trace(
            x=[feature.contributions[i] for i in rows],
            y=[float(y[i]) for i in rows],
            mode="markers",
            text=[tips[i] for i in rows],
            hovertemplate="%{text}<extra></extra>",
            marker={"size": 5, "opacity": 0.85, **look},
        )
        for rows, look in looks
        if rows
    ]


def _spread(x: np.ndarray, reach: float, bins: int = 90, height: float = 0.38) -> np.ndarray:
    """Offsets that set points of one bin beside each other, the same on every draw."""
    place = np.clip(((x / reach + 1) / 2 * bins).astype(int), 0, bins)
    offsets = np.zeros(len(x))
    crowd = max(6, int(np.bincount(place).max(initial=0)))
    for b in np.unique(place):
        members = np.flatnonzero(place == b)
        k = np.arange(len(members))
        offsets[members] = np.where(k % 2, -1, 1) * ((k + 1) // 2) / crowd * 2 * height
    return offsets


def waterfall(case: CaseExplanation, target: str, mode: str | None, shown: int = 8) -> Chart:
    """From the base value to the prediction of one case, one bar a driver, the rest summed."""
    figure, p = _figure(mode, TALL)
    top, rest = case.drivers[:shown], case.drivers[shown:]
    labels = ["Base value", *(f"{_short(d.label, LABEL - 4)} = {_cut(figures.value(d.value))}" for d in top)]
    steps = [d.contribution for d in top]
    if rest:
        labels.append(figures.counted(len(rest), "other feature"))
        steps.append(sum(d.contribution for d in rest))
    words = [figures.number(case.base_value), *(_step(s) for s in steps), figures.number(case.prediction)]
    figure.add_waterfall(
        orientation="h",
        measure=["absolute", *["relative"] * len(steps), "total"],
        x=[case.base_value, *steps, case.prediction],
        y=list(range(len(steps) + 2)),
        customdata=[[_text(label), word] for label, word in zip([*labels, "Prediction"], words, strict=True)],
        hovertemplate="%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
    )
    for place, word in enumerate(words):
        figure.add_annotation(
            x=1, xref="paper", xanchor="right", y=place, text=word, showarrow=False, font={"color": p.text}
        )
    _feature_axis(figure, [*labels, "Prediction"], 40)
    reach = _reach(case.base_value, steps)
    title = scale_title(case.scale, _text(target))
    figure.update_xaxes(title_text=title, range=reach, showgrid=True, domain=[0, 0.8])
    figure.update_layout(showlegend=False, margin={"t": 12}, bargap=0.3)
    alt = f"Waterfall of case {case.case_id}: from the base value {words[0]} to {words[-1]}."
    return Chart(figure, alt, TALL)


def _step(contribution: float) -> str:
    return f"{direction(contribution)} {signed(contribution, 2 if abs(contribution) >= 0.01 else 3)}"


def _cut(text: str) -> str:
    return _short(text, 12)


def _reach(base: float, steps: Sequence[float]) -> list[float]:
    """Axis range that holds every bar; the figures stand in a column of their own at the right."""
    path = np.cumsum([base, *steps])
    low, high = min(0.0, float(path.min())), max(0.0, float(path.max()))
    room = 0.06 * (high - low or 1)
    return [low - room, high + room]


def _digits(size: float) -> str:
    return figures.number(size, 2 if size >= 0.1 else 3)


def _scale_word(scale: str) -> str:
    return "probability points (log-odds rescaled)" if scale == "probability" else "log-odds"


def _feature_axis(figure: go.Figure, labels: Sequence[str], limit: int = LABEL) -> None:
    figure.update_yaxes(
        tickvals=list(range(len(labels))),
        ticktext=[_text(_short(label, limit)) for label in labels],
        range=[len(labels) - 0.4, -0.6],
        showgrid=False,
        zeroline=False,
    )
