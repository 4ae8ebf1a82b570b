"""Plotly figures of a model card, and what every figure shares. Pure: a payload and a mode in, a figure with its spoken name out.

Text that comes from data goes through ``literal``: Plotly reads a little HTML, and a column may be named like a tag.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from components import figures
from components.plotly_template import LIGHT, Palette, palette, template
from lexsi_ds.models.card import Candidate, ModelCard

HEIGHT = 300
TALL = 390


@dataclass(frozen=True)
class Chart:
    """A figure, its height in pixels, and one sentence that names it for those who cannot see it."""

    figure: go.Figure
    alt: str
    height: int = HEIGHT


def literal(label: object) -> str:
    """Text of the data as Plotly draws it letter by letter."""
    return str(label).replace("&", "&amp;").replace("<", "&lt;")


def shortened(label: str, limit: int = 34) -> str:
    """A label cut with an ellipsis; the hover text has it whole."""
    return label if len(label) <= limit else label[: limit - 1].rstrip() + "…"


def figure_for(mode: str | None, height: int) -> tuple[go.Figure, Palette]:
    """An empty figure in our look, with the colours of its mode."""
    figure = go.Figure()
    figure.update_layout(template=template(mode or "light"), height=height)
    return figure, palette(mode) if mode else LIGHT


def roc(card: ModelCard, mode: str | None, beside: Candidate | None = None) -> Chart:
    """Out-of-fold ROC of the chosen model with its band, another candidate dashed (the first, or ``beside``), chance dotted."""
    figure, p = figure_for(mode, HEIGHT)
    chosen, other = card.chosen, beside or next((c for c in card.candidates if not c.chosen), None)
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
    figure.update_yaxes(title_text=f"Share of {literal(card.task.target_label)} caught", range=[0, 1.02], dtick=0.2)
    auc = chosen.main
    return Chart(figure, f"ROC curve, area {figures.number(auc.value)}, interval {figures.interval(auc)}.")


def _auc_name(candidate: Candidate) -> str:
    return f"{candidate.model_type}, {figures.number(candidate.main.value)}"


def calibration(card: ModelCard, mode: str | None) -> Chart:
    """Observed share against mean predicted probability, by bin, with Wilson intervals; the diagonal is perfect."""
    figure, p = figure_for(mode, HEIGHT)
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
