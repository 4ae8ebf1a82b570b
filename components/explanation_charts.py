"""Plotly figures of explanations: importance, beeswarm, waterfall. Pure: a payload and a mode in, a figure out.

Every axis names its scale. Sign is shown by hue, by mark and by place. Computes nothing but where points stand.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from components import figures
from components.charts import TALL, Chart, figure_for, literal, shortened
from components.plotly_template import Palette, colorscale, direction, signed
from lexsi_ds.models.engine import BeeswarmFeature, CaseExplanation, GlobalExplanation

SHOWN_FEATURES = 10
LABEL = 28
"""Most characters of a feature beside a chart; the hover text has it whole."""
SVG_POINTS = 6000
"""Above this many points a beeswarm is drawn by WebGL."""


def scale_title(scale: str, target: str, output: str | None = None) -> str:
    """The name of a scale, for an axis, short enough for a narrow chart: the rescaling is always said."""
    of = literal(shortened(output, 24)) if output else None
    if scale == "probability":
        return "Probability points, rescaled" + (f", of {of}" if of else "")
    if scale == "platform":
        return "The platform's own units"
    if scale == "value":
        return f"{target[:1].upper()}{target[1:]}, in its own units"
    return f"Margin of {of}" if of else f"Log-odds of {target}"


def towards(scale: str, output: str | None = None) -> str:
    """What the two directions are about."""
    return "the amount" if scale == "value" else "this class" if output else "the risk"


def importance(explanation: GlobalExplanation, target: str, mode: str | None) -> Chart:
    """Mean absolute contribution of the most important features, largest on top."""
    figure, p = figure_for(mode, TALL)
    shown = explanation.features[:SHOWN_FEATURES]
    figure.add_bar(
        x=[f.mean_abs for f in shown],
        y=list(range(len(shown))),
        orientation="h",
        marker={"color": p.categorical[0]},
        text=[_digits(f.mean_abs) for f in shown],
        textposition="outside",
        customdata=[literal(f.label) for f in shown],
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
    figure, p = figure_for(mode, TALL)
    shown = explanation.features[:SHOWN_FEATURES]
    trace = go.Scatter if len(shown) * explanation.rows <= SVG_POINTS else go.Scattergl
    reach = max([1e-9, *(float(np.abs(f.contributions).max(initial=0.0)) for f in shown)])
    cases = np.array([literal(case) for case in explanation.case_ids], dtype=object)
    traces = [each for i, feature in enumerate(shown) for each in _swarm(trace, feature, cases, i, reach, p)]
    figure.add_traces(traces)
    _feature_axis(figure, [f.label for f in shown])
    bar = {"title": {"text": "Feature value"}, "tickvals": [0, 1], "ticktext": ["low", "high"]}
    values = {"colorscale": colorscale(p.feature_value), "cmin": 0, "cmax": 1, "colorbar": bar}
    title, goal = scale_title(explanation.scale, target, explanation.output), towards(explanation.scale, explanation.output)
    figure.update_xaxes(title_text=title, zeroline=True, showgrid=True)
    sides = [
        {"x": 0, "y": 1, "yref": "paper", "yanchor": "bottom", "xshift": shift, "xanchor": anchor, "text": words}
        for shift, anchor, words in ((-6, "right", f"▼ lowers {goal}"), (6, "left", f"▲ raises {goal}"))
    ]
    figure.update_layout(showlegend=False, margin={"t": 40}, coloraxis=values, annotations=sides)
    alt = f"Beeswarm of {figures.count(explanation.rows)} rows: contribution of the {len(shown)} strongest features."
    return Chart(figure, alt, TALL)


def _swarm(
    trace: type, feature: BeeswarmFeature, case_ids: np.ndarray, row: int, reach: float, p: Palette
) -> list[go.Scatter]:
    """The points of one feature: those with a value coloured by it, those without in the reference grey."""
    x = np.asarray(feature.contributions)
    y = row + _spread(x, reach)
    colours = np.array([np.nan if v is None else v for v in feature.values], dtype=float)
    raw = np.array(
        [None if v is None else v if isinstance(v, float) else literal(v) for v in feature.raw], dtype=object
    )
    missing = np.isnan(colours)
    numeric = all(v is None or isinstance(v, float) for v in feature.raw)
    name = literal(feature.label)
    looks: tuple[tuple[np.ndarray, dict, str], ...] = (
        (
            ~missing,
            {"color": colours[~missing], "coloraxis": "coloraxis"},
            "%{customdata[1]:,.6~g}" if numeric else "%{customdata[1]}",
        ),
        (missing, {"color": p.reference}, "missing"),
    )
    return [
        trace(
            x=x[rows],
            y=y[rows],
            mode="markers",
            customdata=np.column_stack([case_ids[rows], raw[rows]]),
            hovertemplate=f"%{{customdata[0]}}<br>{name} = {shown}<br>%{{x:+,.3~f}}<extra></extra>",
            marker={"size": 5, "opacity": 0.85, **look},
        )
        for rows, look, shown in looks
        if rows.any()
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
    figure, p = figure_for(mode, TALL)
    top, rest = case.drivers[:shown], case.drivers[shown:]
    labels = ["Base value", *(f"{shortened(d.label, LABEL - 4)} = {_cut(figures.value(d.value))}" for d in top)]
    steps = [d.contribution for d in top]
    if rest:
        labels.append(figures.counted(len(rest), "other feature"))
        steps.append(sum(d.contribution for d in rest))
    digits = digits_of(steps)
    ends = min(2, digits) if case.scale == "value" else 2
    words = [figures.number(case.base_value, ends), *(_step(s, digits) for s in steps), figures.number(case.prediction, ends)]
    figure.add_waterfall(
        orientation="h",
        measure=["absolute", *["relative"] * len(steps), "total"],
        x=[case.base_value, *steps, case.prediction],
        y=list(range(len(steps) + 2)),
        customdata=[[literal(label), word] for label, word in zip([*labels, "Prediction"], words, strict=True)],
        hovertemplate="%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
    )
    ink = {"color": p.text}
    column = [
        {"x": 1, "xref": "paper", "xanchor": "right", "y": place, "text": word, "showarrow": False, "font": ink}
        for place, word in enumerate(words)
    ]
    _feature_axis(figure, [*labels, "Prediction"], 40)
    reach = _reach(case.base_value, steps, from_zero=case.scale != "value")
    title = scale_title(case.scale, literal(target), case.output)
    figure.update_xaxes(title_text=title, range=reach, showgrid=True, domain=[0, 0.8])
    figure.update_layout(showlegend=False, margin={"t": 12}, bargap=0.3, annotations=column)
    alt = f"Waterfall of case {case.case_id}: from the base value {words[0]} to {words[-1]}."
    return Chart(figure, alt, TALL)


def digits_of(steps: Sequence[float]) -> int:
    """Decimals that tell contributions apart: none for thousands, three for small shares."""
    most = max((abs(s) for s in steps), default=0.0)
    return 0 if most >= 100 else 2 if most >= 0.1 else 3


def _step(contribution: float, digits: int) -> str:
    amount = signed(contribution, digits) if digits else f"{signed(contribution, 0)[:1]}{abs(contribution):,.0f}"
    return f"{direction(contribution)} {amount}"


def _cut(text: str) -> str:
    return shortened(text, 12)


def _reach(base: float, steps: Sequence[float], *, from_zero: bool) -> list[float]:
    """Axis range that holds every bar; the figures stand in a column of their own at the right."""
    path = np.cumsum([base, *steps])
    low, high = float(path.min()), float(path.max())
    if from_zero:
        low, high = min(0.0, low), max(0.0, high)
    room = 0.06 * (high - low or 1)
    return [low - room, high + room]


def _digits(size: float) -> str:
    return figures.number(size, 2 if size >= 0.1 else 3)


def _scale_word(scale: str) -> str:
    words = {"probability": "probability points (log-odds rescaled)", "platform": "the platform's own units"}
    return words.get(scale, "log-odds")


def _feature_axis(figure: go.Figure, labels: Sequence[str], limit: int = LABEL) -> None:
    figure.update_yaxes(
        tickvals=list(range(len(labels))),
        ticktext=[literal(shortened(label, limit)) for label in labels],
        range=[len(labels) - 0.4, -0.6],
        showgrid=False,
        zeroline=False,
    )
