"""The Decision tab: from which probability on to act, what errors cost there, whether the probabilities near it can be
believed, and who would be flagged. What is chosen here is a proposal until it is saved with the model, with a name and a time.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from components import figures, model_charts, session, tables
from components.cards import draw_chart, mode
from components.charts import HEIGHT
from components.explain_work import view
from components.problems import careful
from components.registry import page
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.explain.results_decision import ConfusionAt, ThresholdView
from lexsi_ds.models.card import Interval, ModelCard
from lexsi_ds.services import model_curves
from lexsi_ds.services.access import Actor
from lexsi_ds.services.model_entry import Entry, SavedThreshold

_WAYS = {"cost": "By cost", "rate": "By share", "value": "By value"}
_WHOLE = HEIGHT + 430


def draw(app: Application, actor: Actor, card: ModelCard, entry: Entry | None) -> None:
    """The whole tab of a yes/no model."""
    way, asked = _controls(card, entry)
    costs = asked["costs"]
    chosen: float | None = asked.get("value")
    if way == "rate":
        work = partial(model_curves.threshold_for_rate, app.models, actor, card.id, asked["rate"])
        key = (card.id, "threshold-rate", asked["rate"])
        chosen = view(app, actor, key, "The threshold", work, height=_WHOLE, patience=1.0)
        if chosen is None:
            return
    work = partial(_threshold, app, actor, card.id, costs, chosen)
    found = view(app, actor, (card.id, "threshold", *costs, chosen), "Costs along the threshold", work, height=_WHOLE, patience=1.5)
    if found is None:
        return
    _figures(card, found)
    _charts(card, found, entry)
    _confusion_and_flagged(card, found)
    _saving(app, actor, card, entry, found, way, asked)


def _threshold(
    app: Application, actor: Actor, model_id: str, costs: tuple[float, float], chosen: float | None, **run: Any
) -> ThresholdView:
    return app.explanations.views(actor, model_id).threshold(*costs, chosen, **run)


def _controls(card: ModelCard, entry: Entry | None) -> tuple[str, dict[str, Any]]:
    """How the threshold is to be set; it starts from what was saved."""
    saved = entry.threshold if entry is not None else None
    start: Any = saved or card.threshold
    key = partial(session.wkey, "decision", card.id)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        way = st.segmented_control(
            "Set the threshold", list(_WAYS), key=key("way"), required=True, default=saved.how if saved else "cost",
            format_func=lambda w: f":gray[{_WAYS[w]}]",
        )
        alarm = st.number_input(
            "A false alarm costs", min_value=0.01, value=float(start.cost_false_positive or 1.0), key=key("alarm"), width=170,
            help=f"What acting on a {plain(card.task.entity_label)} without the outcome costs, in any unit.",
        )
        miss = st.number_input(
            "A miss costs", min_value=0.01, value=float(start.cost_false_negative or 5.0), key=key("miss"), width=170,
            help=f"What a missed {plain(card.task.target_label)} costs, in the same unit.",
        )
        asked: dict[str, Any] = {"costs": (float(alarm), float(miss))}
        if way == "rate":
            share = st.number_input(
                "Share to flag, %", min_value=0.1, max_value=100.0, value=100 * float(start.rate or 0.1), step=1.0, format="%.1f",
                key=key("rate"), width=170,
            )
            asked["rate"] = round(float(share) / 100, 6)
        elif way == "value":
            asked["value"] = float(st.number_input(
                "Threshold", min_value=0.0, max_value=1.0, value=min(1.0, float(start.value)), step=0.01, format="%.3f",
                key=key("value"), width=170,
            ))
    return str(way or "cost"), asked


def _figures(card: ModelCard, found: ThresholdView) -> None:
    at = found.chosen
    with st.grid(5, min_column_width=130):
        st.metric("Threshold", figures.number(min(1.0, at.threshold), 3), border=True, height="stretch",
                  delta=_from_best(found), delta_color="gray", delta_arrow="off")  # fmt: skip
        st.metric("Flagged", f"{100 * at.flagged_share:.1f}%", border=True, height="stretch",
                  delta=f"{figures.count(at.true_positive + at.false_positive)} of {figures.count(found.rows)}",
                  delta_color="gray", delta_arrow="off")  # fmt: skip
        _share("Precision", at.precision, "Share of the flagged that had the outcome.")
        _share("Recall", at.recall, "Share of the outcomes that are flagged.")
        st.metric("Cost of a row", figures.number(at.cost_per_row, 3), border=True, height="stretch",
                  delta=f"{figures.number(at.cost, 0)} in all", delta_color="gray", delta_arrow="off")  # fmt: skip
    low, high = (min(1.0, v) for v in found.best_interval)
    st.caption(
        f"Out of fold, {figures.counted(found.rows, 'row')}, {figures.count(found.positives)} with "
        f"{plain(card.task.target_label)}. The cheapest threshold is {figures.number(min(1.0, found.best.threshold), 3)}; in 95% "
        f"of resamples it lies in {figures.span(low, high)}, and costs {figures.number(found.best.cost_per_row, 3)} a row."
    )
    for warning in found.warnings:
        st.caption(f":material/warning: {plain(warning, 300)}")


def _from_best(found: ThresholdView) -> str:
    gap = found.chosen.threshold - found.best.threshold
    return "the cheapest" if abs(gap) < 5e-4 else f"{figures.signed(gap, 3)} from the cheapest"


def _share(label: str, figure: Interval, meaning: str) -> None:
    st.metric(label, figures.number(figure.value), border=True, height="stretch", help=meaning, delta=figures.interval(figure),
              delta_color="gray", delta_arrow="off")  # fmt: skip


def _charts(card: ModelCard, found: ThresholdView, entry: Entry | None) -> None:
    saved = entry.threshold.value if entry and entry.threshold else None
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown("**Cost by threshold** :gray[band: 95% of the cheapest; dashed: saved]")
        draw_chart(model_charts.cost_curve(found, saved, mode()), session.wkey("decision", card.id, "cost"))
    with right:
        st.markdown("**Calibration** :gray[dashed: the threshold]")
        drawn = model_charts.calibration_at(found.calibration, found.chosen.threshold, mode())
        draw_chart(drawn, session.wkey("decision", card.id, "calibration"))
    if found.near is not None:
        n = found.near
        st.caption(
            f"Next to the threshold, {figures.counted(n.n, 'held-out row')}: {figures.number(n.predicted)} was said, "
            f"{figures.number(n.observed)} came ({figures.span(n.low, n.high)})."
        )


def _confusion_and_flagged(card: ModelCard, found: ThresholdView) -> None:
    left, right = st.columns([1, 1], gap="medium")
    with left:
        st.markdown("**Confusion** :gray[held-out rows at the threshold]")
        tables.show(confusion_rows(card, found.chosen), key=session.wkey("decision", card.id, "confusion"),
                    alt="Confusion at the threshold")  # fmt: skip
    with right:
        at, noun = found.chosen, card.task.entity_label
        note = f"{figures.count(at.scored_flagged)} of {figures.counted(at.scored_rows, noun)} without an outcome"
        tables.card_head("Who would be flagged", note)
        if not found.flagged_cases:
            st.caption("Nobody." if at.scored_rows else "This model has scored no rows yet. Score a file in the tab New data.")
            return
        shown = pd.DataFrame({noun.capitalize(): [c.case_id for c in found.flagged_cases],
                              "Probability": [c.probability for c in found.flagged_cases]})  # fmt: skip
        event = st.dataframe(
            shown, hide_index=True, on_select="rerun", selection_mode="single-row", height=min(tables.height(len(shown)), 235),
            key=session.wkey("decision", card.id, "flagged", at.threshold), alt="Rows that would be flagged",
            column_config={"Probability": tables.probability_column(width=190)},
        )
        more = f" The first {len(shown)} are listed; Predictions has all." if at.scored_flagged > len(shown) else ""
        st.caption(f"Select a row to open it in the explorer.{more}")
        picked: list[int] = list(event.selection.rows)
        if picked:
            st.switch_page(page("explorer").path, query_params={"model": card.id, "case": found.flagged_cases[picked[0]].case_id})


def confusion_rows(card: ModelCard, at: ConfusionAt) -> pd.DataFrame:
    """Two rows: what was, by what the threshold said, with shares of each row."""
    with_, without = at.true_positive + at.false_negative, at.true_negative + at.false_positive
    share = model_charts.share_of
    return pd.DataFrame([
        {"": f"With {card.task.target_label}", "Flagged": share(at.true_positive, with_),
         "Not flagged": share(at.false_negative, with_), "Rows": with_},
        {"": "Without", "Flagged": share(at.false_positive, without), "Not flagged": share(at.true_negative, without),
         "Rows": without},
    ])  # fmt: skip


def _saving(
    app: Application, actor: Actor, card: ModelCard, entry: Entry | None, found: ThresholdView, way: str, asked: dict[str, Any]
) -> None:
    if entry is None:
        return
    saved = entry.threshold
    with st.container(border=True, gap="small"):
        none = f"none; {figures.number(card.threshold.value)} of the training"
        tables.card_head("Saved threshold", _said(saved) if saved else none)
        st.caption(
            "Predictions, cases and downloads count a row as positive by the saved threshold; probabilities never change."
            + (" Saving takes the approval back to validated." if entry.state == "approved" else "")
        )
        with st.container(horizontal=True, gap="small"):
            value = figures.number(min(1.0, found.chosen.threshold), 3)
            st.button(
                f"Save {value}", type="primary", icon=":material/save:", key=session.wkey("decision", card.id, "save"),
                on_click=_save, args=(app, actor, card.id, entry.row_version, way, asked),
            )
            if saved is not None:
                st.button(
                    "Clear", icon=":material/undo:", key=session.wkey("decision", card.id, "clear"), on_click=_clear,
                    args=(app, actor, card.id, entry.row_version), help="Back to the threshold of the training.",
                )


def _said(saved: SavedThreshold) -> str:
    costs = f"a false alarm {figures.value(saved.cost_false_positive)}, a miss {figures.value(saved.cost_false_negative)}"
    how = {"cost": f"by cost ({costs})", "rate": f"to flag {100 * (saved.rate or 0):.1f}%", "value": "as given"}[saved.how]
    return f"{figures.number(min(1.0, saved.value), 3)} {how}, by {saved.set_by_name}, {figures.ago(saved.set_at)}"


@careful
def _save(app: Application, actor: Actor, model_id: str, seen: int, way: str, asked: dict[str, Any]) -> None:
    given = {"costs": asked["costs"]} if way == "cost" else {way: asked[way]}
    after = app.registry.set_threshold(actor, model_id, seen, **given)
    value = figures.number(after.threshold.value, 3) if after.threshold else ""
    session.notify("success", f"The threshold {value} is saved.")


@careful
def _clear(app: Application, actor: Actor, model_id: str, seen: int) -> None:
    app.registry.clear_threshold(actor, model_id, seen)
    session.notify("success", "The threshold of the training holds again.")
