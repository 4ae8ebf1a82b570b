"""Plotly figures of held-out rows: precision and recall, gains, classes, amounts, costs. Pure: values in, charts out."""

from __future__ import annotations

import numpy as np

from components import figures
from components.charts import HEIGHT, Chart, figure_for, literal, shortened
from components.plotly_template import colorscale
from lexsi_ds.explain.results_decision import Residuals, ThresholdView
from lexsi_ds.models.card import CalibrationBin, Credit, ModelCard
from lexsi_ds.services.model_curves import ClassConfusion, PrecisionRecall

_SVG_POINTS = 3000


def precision_recall(curve: PrecisionRecall, mode: str | None) -> Chart:
    """Precision against recall; the dotted line is the share of the outcome, which guessing reaches."""
    figure, p = figure_for(mode, HEIGHT)
    base = curve.positives / max(1, curve.rows)
    figure.add_scatter(
        x=curve.recall, y=curve.precision, mode="lines", line={"color": p.categorical[0]}, name="Model", showlegend=False,
        customdata=curve.threshold,
        hovertemplate="from %{customdata:.2f} on: %{y:.0%} right,<br>%{x:.0%} of outcomes caught<extra></extra>",
    )
    figure.add_scatter(
        x=[0, 1], y=[base, base], mode="lines", line={"color": p.reference, "dash": "dot", "width": 1}, hoverinfo="skip",
        name=f"Guessing, {base:.0%}",
    )
    figure.update_xaxes(title_text="Recall: share of outcomes caught", range=[0, 1], dtick=0.2)
    figure.update_yaxes(title_text="Precision: share that is right", range=[0, 1.02], dtick=0.2)
    return Chart(figure, "Precision against recall on held-out rows.")


def gains(credit: Credit, mode: str | None) -> Chart:
    """Share of all outcomes in the highest tenths of the score, with the lift of each tenth in the hover text."""
    figure, p = figure_for(mode, HEIGHT)
    tenths, caught = [0.0], [0.0]
    total = sum(d.rows for d in credit.deciles) or 1
    for each in credit.deciles:
        tenths.append(tenths[-1] + each.rows / total)
        caught.append(each.captured)
    lifts = [None, *(d.lift for d in credit.deciles)]
    figure.add_scatter(
        x=tenths, y=caught, mode="lines+markers", line={"color": p.categorical[0]}, showlegend=False, name="Model",
        customdata=lifts,
        hovertemplate="top %{x:.0%} of rows: %{y:.0%} of outcomes,<br>lift of this tenth %{customdata:.1f}<extra></extra>",
    )
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", line={"color": p.reference, "dash": "dot", "width": 1}, name="Chance", hoverinfo="skip"
    )
    figure.update_xaxes(title_text="Share of rows, highest score first", range=[0, 1.01], dtick=0.2)
    figure.update_yaxes(title_text="Share of outcomes caught", range=[0, 1.02], dtick=0.2)
    return Chart(figure, "Cumulative gains by tenths of the score.")


def confusion(view: ClassConfusion, mode: str | None, most: int = 20) -> Chart:
    """Shares of each true class by what was said; the largest classes where there are many."""
    order = np.argsort([-sum(row) for row in view.counts], kind="stable")[:most]
    counts = np.array(view.counts)[np.ix_(order, order)]
    names = [literal(shortened(view.classes[i], 18)) for i in order]
    of = np.maximum(1, np.array([sum(view.counts[i]) for i in order]))[:, None]
    height = max(HEIGHT, 26 * len(names) + 110)
    figure, p = figure_for(mode, height)
    shares = counts / of
    figure.add_heatmap(
        z=shares, x=list(range(len(names))), y=list(range(len(names))), zmin=0, zmax=1, colorscale=colorscale(p.sequential),
        customdata=np.dstack([counts, np.array([list(names) for _ in names], dtype=object)]),
        text=[[f"{v:.0%}" if v >= 0.005 else "" for v in row] for row in shares] if len(names) <= 12 else None,
        texttemplate="%{text}" if len(names) <= 12 else None, showscale=False, xgap=1, ygap=1,
        hovertemplate="said %{customdata[1]}: %{customdata[0]:,} rows, %{z:.1%} of the class<extra></extra>",
    )
    figure.update_xaxes(title_text="Said", tickvals=list(range(len(names))), ticktext=names, showgrid=False)
    figure.update_yaxes(title_text="Was", tickvals=list(range(len(names))), ticktext=names, autorange="reversed", showgrid=False)
    return Chart(figure, f"Confusion of {len(names)} classes on held-out rows, as shares of each true class.", height)


def predicted_actual(view: Residuals, unit: str, mode: str | None) -> Chart:
    """A sample of held-out rows: what was predicted and what came; on the dotted line both are equal."""
    figure, p = figure_for(mode, HEIGHT)
    x, y = [r.predicted for r in view.points], [r.actual for r in view.points]
    add = figure.add_scatter if len(x) <= _SVG_POINTS else figure.add_scattergl
    add(
        x=x, y=y, mode="markers", marker={"color": p.categorical[0], "size": 5, "opacity": 0.45}, showlegend=False,
        customdata=[literal(r.case_id) for r in view.points], name="",
        hovertemplate="%{customdata}: %{x:,.4~g} predicted, %{y:,.4~g} came<extra></extra>",
    )
    ends = [min([*x, *y], default=0.0), max([*x, *y], default=1.0)]
    figure.add_scatter(
        x=ends, y=ends, mode="lines", line={"color": p.reference, "dash": "dot", "width": 1}, name="Equal", hoverinfo="skip"
    )
    figure.update_xaxes(title_text=f"Predicted {literal(shortened(unit))}")
    figure.update_yaxes(title_text=f"Actual {literal(shortened(unit))}")
    return Chart(figure, f"Predicted against actual of {len(x)} held-out rows.")


def residuals(view: Residuals, unit: str, mode: str | None) -> Chart:
    """Mean residual by size of the prediction with its interval, and the spread of single rows around it."""
    figure, p = figure_for(mode, HEIGHT)
    middle = [(b.low + b.high) / 2 for b in view.bins]
    means, spread = [b.mean.value for b in view.bins], [b.spread for b in view.bins]
    both = list(zip(means, spread, strict=True))
    figure.add_scatter(
        x=[*middle, *reversed(middle)],
        y=[*(m + s for m, s in both), *(m - s for m, s in reversed(both))],
        fill="toself", mode="lines", line={"width": 0}, fillcolor=p.reference, opacity=0.16, hoverinfo="skip",
        name="One standard deviation",
    )
    figure.add_scatter(
        x=middle, y=means, mode="lines+markers", line={"color": p.categorical[0]}, name="Mean residual",
        customdata=[[b.rows, b.mean.low, b.mean.high] for b in view.bins],
        error_y={
            "type": "data", "symmetric": False, "width": 0, "thickness": 1.5,
            "array": [max(0.0, b.mean.high - b.mean.value) for b in view.bins],
            "arrayminus": [max(0.0, b.mean.value - b.mean.low) for b in view.bins],
        },
        hovertemplate="%{customdata[0]:,} rows near %{x:,.4~g}: %{y:+,.4~g}"
        "<br>%{customdata[1]:+,.4~g} to %{customdata[2]:+,.4~g}<extra></extra>",
    )
    figure.update_xaxes(title_text=f"Predicted {literal(shortened(unit))}")
    figure.update_yaxes(title_text="Actual minus predicted", zeroline=True)
    return Chart(figure, "Mean residual by size of the prediction.")


def cost_curve(view: ThresholdView, saved: float | None, mode: str | None) -> Chart:
    """Mean cost of a row along the threshold; the cheapest, the chosen and the saved one are marked."""
    figure, p = figure_for(mode, HEIGHT)
    low, high = view.best_interval
    figure.add_vrect(x0=low, x1=high, fillcolor=p.reference, opacity=0.14, line_width=0)
    figure.add_scatter(
        x=view.thresholds, y=view.costs, mode="lines", line={"color": p.categorical[0]}, showlegend=False, name="",
        customdata=view.flagged, hovertemplate="from %{x:.2f} on: cost %{y:,.4~g} a row, %{customdata:.1%} flagged<extra></extra>",
    )
    marks = [(view.best.threshold, view.best.cost_per_row, "Cheapest", "diamond", p.categorical[1]),
             (view.chosen.threshold, view.chosen.cost_per_row, "Chosen", "circle", p.categorical[0])]
    for x, y, name, symbol, colour in marks:
        figure.add_scatter(
            x=[min(1.0, x)], y=[y], mode="markers", marker={"symbol": symbol, "size": 10, "color": colour},
            name=f"{name}, {min(1.0, x):.2f}", hoverinfo="skip",
        )
    if saved is not None:
        figure.add_vline(x=saved, line={"color": p.reference, "dash": "dash", "width": 1})
    figure.update_xaxes(title_text="Threshold: flagged from this probability on", range=[0, 1], dtick=0.2)
    figure.update_yaxes(title_text="Cost of a row", rangemode="tozero")
    return Chart(figure, f"Cost along the threshold; the cheapest is {view.best.threshold:.2f}.")


def calibration_at(bins: tuple[CalibrationBin, ...], threshold: float, mode: str | None) -> Chart:
    """Observed against predicted by bin, with the threshold: can the probabilities near it be believed?"""
    figure, p = figure_for(mode, HEIGHT)
    top = min(1.0, float(np.ceil(max([0.2, threshold, *(b.high for b in bins), *(b.predicted for b in bins)]) * 10) / 10))
    figure.add_scatter(x=[0, top], y=[0, top], mode="lines", line={"color": p.reference, "dash": "dot", "width": 1},
                       name="Perfect", hoverinfo="skip")
    figure.add_scatter(
        x=[b.predicted for b in bins], y=[b.observed for b in bins], mode="lines+markers", line={"color": p.categorical[0]},
        name="Held-out rows", customdata=[[b.n, b.low, b.high] for b in bins],
        error_y={
            "type": "data", "symmetric": False, "width": 0, "thickness": 1.5,
            "array": [max(0.0, b.high - b.observed) for b in bins], "arrayminus": [max(0.0, b.observed - b.low) for b in bins],
        },
        hovertemplate="said %{x:.2f}, %{y:.2f} came"
        "<br>%{customdata[1]:.2f} to %{customdata[2]:.2f}, %{customdata[0]:,} rows<extra></extra>",
    )
    figure.add_vline(x=min(1.0, threshold), line={"color": p.categorical[0], "dash": "dash", "width": 1})
    figure.update_xaxes(title_text="Mean predicted probability", range=[0, top * 1.02])
    figure.update_yaxes(title_text="Observed share", range=[0, top * 1.02])
    return Chart(figure, f"Calibration with the threshold {threshold:.2f} marked.")


def class_sizes(card: ModelCard) -> list[dict[str, object]]:
    """Rows of each class, largest first, for a table."""
    counted = sorted(card.class_counts, key=lambda c: -c.rows)
    return [{"Class": c.name, "Rows": c.rows, "Share": f"{100 * c.rows / max(1, card.rows):.1f}%"} for c in counted]


def share_of(part: int, whole: int) -> str:
    """A count with its share: "31 (12.4%)"."""
    return f"{figures.count(part)} ({100 * part / whole:.1f}%)" if whole else figures.count(part)
