"""The Decision tab: from which probability on to act, what errors cost there, whether the probabilities near it can be
believed, and who would be flagged. What is chosen here is a proposal until it is saved with the model, with a name and a time.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from components import chart_menu, figures, model_charts, session, tables
from components.cards import mode
from components.charts import HEIGHT
from components.explain_work import view
from components.problems import careful
from components.registry import page
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.explain.results_decision import ConfusionAt, ThresholdView
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.metrics import wilson
from lexsi_ds.services.access import Actor
from lexsi_ds.services.model_counts import DecisionCounts, Outcome, decision_counts
from lexsi_ds.services.model_entry import Entry, SavedThreshold

_WAYS = {"cost": "By cost", "rate": "By share", "value": "By value"}
_WHOLE = HEIGHT + 430
_RATIOS = (0.05, 0.1, 0.2, 0.33, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0, 100.0)
"""What a miss can be worth in false alarms, on the slider; any other ratio follows from the two fields."""


def draw(app: Application, actor: Actor, card: ModelCard, entry: Entry | None) -> None:
    """The whole tab of a yes/no model: what follows from counts at once, then what a worker looks at."""
    work = partial(decision_counts, app.models, actor, card.id)
    counts = view(app, actor, (card.id, "decision-counts"), "The held-out rows", work, height=_WHOLE, patience=1.0)
    if counts is None:
        return
    way, asked = _controls(card, entry)
    costs, chosen = asked["costs"], asked.get("value")
    if way == "rate":
        chosen = counts.for_rate(asked["rate"])
    best = counts.cheapest(*costs)
    at = counts.at(best if chosen is None else chosen, costs)
    _figures(counts, at, best, costs)
    work = partial(_threshold, app, actor, card.id, costs, chosen)
    found = view(app, actor, (card.id, "threshold", *costs, chosen), "How sure the threshold is", work, height=_WHOLE)
    if found is None:
        return
    _sure(card, found)
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
    for name, begins in (("alarm", start.cost_false_positive or 1.0), ("miss", start.cost_false_negative or 5.0)):
        if session.read(key(name)) is None:
            session.put(key(name), float(begins))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        way = st.segmented_control(
            "Set the threshold", list(_WAYS), key=key("way"), required=True, default=saved.how if saved else "cost",
            format_func=lambda w: f":gray[{_WAYS[w]}]",
        )
        alarm = st.number_input(
            "A false alarm costs", min_value=0.01, key=key("alarm"), width=150,
            help=f"What acting on a {plain(card.task.entity_label)} without the outcome costs, in any unit.",
        )
        miss = st.number_input(
            "A miss costs", min_value=0.01, key=key("miss"), width=150,
            help=f"What a missed {plain(card.task.target_label)} costs, in the same unit.",
        )
        asked: dict[str, Any] = {"costs": (float(alarm), float(miss))}
        if way == "rate":
            share = st.number_input(
                "Share to flag, %", min_value=0.1, max_value=100.0, value=100 * float(start.rate or 0.1), step=1.0, format="%.1f",
                key=key("rate"), width=150,
            )
            asked["rate"] = round(float(share) / 100, 6)
        elif way == "value":
            asked["value"] = float(st.number_input(
                "Threshold", min_value=0.0, max_value=1.0, value=min(1.0, float(start.value)), step=0.01, format="%.3f",
                key=key("value"), width=150,
            ))
        else:
            _ratio(key("ratio"), key("alarm"), key("miss"))
    return str(way or "cost"), asked


def _ratio(key: str, alarm: str, miss: str) -> None:
    """The slider of what matters to the threshold: how many false alarms a miss is worth."""
    now = float(f"{session.read(miss) / session.read(alarm):.4g}")
    session.put(key, now)
    st.select_slider(
        "Misses in false alarms", sorted({*_RATIOS, now}), key=key, width=210, on_change=_moved, args=(key, alarm, miss),
        format_func=lambda r: f"1 miss = {r:,.4g}", help="Drag: the threshold, who is flagged and the money follow at once.",
    )


@careful
def _moved(key: str, alarm: str, miss: str) -> None:
    session.put(miss, max(0.01, round(session.read(key) * session.read(alarm), 6)))


def _figures(counts: DecisionCounts, at: Outcome, best: float, costs: tuple[float, float]) -> None:
    """What follows from the costs, with the money beside what flagging nobody and everybody would cost."""
    per_row = at.cost / max(1, at.rows)
    with st.grid(5, min_column_width=130):
        st.metric("Threshold", figures.number(min(1.0, at.threshold), 3), border=True, height="stretch",
                  delta=_from_best(at.threshold - best), delta_color="gray", delta_arrow="off")  # fmt: skip
        st.metric("Flagged", f"{100 * at.flagged / max(1, at.rows):.1f}%", border=True, height="stretch",
                  delta=f"{figures.count(at.flagged)} of {figures.count(at.rows)}",
                  delta_color="gray", delta_arrow="off")  # fmt: skip
        _share("Precision", at.true_positive, at.flagged, "Share of the flagged that had the outcome.")
        _share("Recall", at.true_positive, at.true_positive + at.false_negative, "Share of the outcomes that are flagged.")
        st.metric("Errors cost", figures.number(at.cost, 0), border=True, height="stretch",
                  delta=f"{figures.number(per_row, 3)} a row", delta_color="gray", delta_arrow="off")  # fmt: skip
    along = counts.costs(*costs)
    nobody, everybody = float(along[0]), float(along[-1])
    st.caption(
        f"On the held-out rows flagging nobody would cost {figures.number(nobody, 0)}, flagging everybody "
        f"{figures.number(everybody, 0)}; this threshold saves {figures.number(min(nobody, everybody) - at.cost, 0)} against the "
        "cheaper of the two."
    )


def _sure(card: ModelCard, found: ThresholdView) -> None:
    low, high = (min(1.0, v) for v in found.best_interval)
    st.caption(
        f"Out of fold, {figures.counted(found.rows, 'row')}, {figures.count(found.positives)} with "
        f"{plain(card.task.target_label)}. The cheapest threshold is {figures.number(min(1.0, found.best.threshold), 3)}; in 95% "
        f"of resamples it lies in {figures.span(low, high)}, and costs {figures.number(found.best.cost_per_row, 3)} a row."
    )
    for warning in found.warnings:
        st.caption(f":material/warning: {plain(warning, 300)}")


def _from_best(gap: float) -> str:
    return "the cheapest" if abs(gap) < 5e-4 else f"{figures.signed(gap, 3)} from the cheapest"


def _share(label: str, part: int, whole: int, meaning: str) -> None:
    low, high = wilson(part, whole) if whole else (0.0, 1.0)
    st.metric(label, figures.number(part / whole) if whole else "none", border=True, height="stretch", help=meaning,
              delta=figures.span(low, high), delta_color="gray", delta_arrow="off")  # fmt: skip


def _charts(card: ModelCard, found: ThresholdView, entry: Entry | None) -> None:
    saved = entry.threshold.value if entry and entry.threshold else None
    left, right = st.columns(2, gap="medium")
    with left:
        drawn = model_charts.cost_curve(found, saved, mode())
        note = "band: 95%" + ("; dashed: saved" if saved is not None else "")
        chart_menu.figure("Cost by threshold", note, drawn, session.wkey("decision", card.id, "cost"), card.name)
    with right:
        drawn = model_charts.calibration_at(found.calibration, found.chosen.threshold, mode())
        chart_menu.figure(
            "Calibration", "dashed: the threshold", drawn, session.wkey("decision", card.id, "calibration"), card.name
        )
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
