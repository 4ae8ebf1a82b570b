"""The Performance tab: curves of a yes/no outcome, confusion of classes, residuals of an amount; each on held-out rows."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from components import chart_menu, charts, figures, model_charts, model_figures, session, tables
from components.cards import mode
from components.explain_work import view
from components.problems import guarded
from components.registry import page
from components.safe import plain
from components.tasks import task_card
from lexsi_ds.application import Application
from lexsi_ds.explain.results_decision import Residuals
from lexsi_ds.models.card import ModelCard
from lexsi_ds.services import model_curves
from lexsi_ds.services.access import Actor

HEIGHT = charts.HEIGHT


def draw(app: Application, actor: Actor, card: ModelCard) -> None:
    """Charts of the kind, later rows, candidates, the task."""
    {"binary": _binary, "multiclass": _classes, "regression": _amounts}[card.task.kind](app, actor, card)
    _later(card)
    model_figures.candidates(card)
    used = card.task.model_copy(update={"features": tuple(f.feature for f in card.features)})
    task_card(used, card.left_out, session.wkey("models", "task", card.id))


def _binary(app: Application, actor: Actor, card: ModelCard) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        drawn = charts.roc(card, mode(), model_figures.beside(card))
        _figure(card, "ROC", f"out of fold, {figures.counted(card.rows, 'row')}", drawn, "roc")
    with right:
        _calibration(card)
    if card.engine != "local":
        return
    left, right = st.columns(2, gap="medium")
    with left, guarded("Precision and recall"):
        work = partial(model_curves.precision_recall, app.models, actor, card.id)
        curve = view(app, actor, (card.id, "precision-recall"), "Precision and recall", work, height=HEIGHT)
        if curve is not None:
            note = "out of fold, as the threshold falls"
            _figure(card, "Precision and recall", note, model_charts.precision_recall(curve, mode()), "pr")
    with right:
        if card.credit is not None:
            note = "by tenths of the score"
            _figure(card, "Gains", note, model_charts.gains(card.credit, mode()), "gains")


def _figure(card: ModelCard, title: str, note: str, drawn: charts.Chart, key: str) -> None:
    chart_menu.figure(title, note, drawn, session.wkey(key, card.id), card.name)


def _open(card: ModelCard, case_id: str) -> None:
    st.switch_page(page("explorer").path, query_params={"model": card.id, "case": case_id})


def _calibration(card: ModelCard) -> None:
    note = f"{figures.counted(len(card.chosen.calibration), 'bin')}, 95% interval"
    _figure(card, "Calibration", note, charts.calibration(card, mode()), "calibration")
    if card.calibration.sentence:
        st.caption(plain(card.calibration.sentence, 400))


def _classes(app: Application, actor: Actor, card: ModelCard) -> None:
    left, right = st.columns([1.7, 1], gap="medium")
    with left, guarded("The confusion of classes"):
        work = partial(model_curves.class_confusion, app.models, actor, card.id)
        found = view(app, actor, (card.id, "confusion"), "Confusion of classes", work, height=HEIGHT)
        if found is not None:
            note = "share of each true class by what was said, out of fold"
            _figure(card, "Confusion", note, model_charts.confusion(found, mode()), "confusion")
            if len(found.classes) > 20:
                st.caption(f"The 20 largest of {len(found.classes)} classes.")
    with right:
        st.markdown(f"**Classes** :gray[{len(card.class_counts)}, training rows]")
        tables.show(pd.DataFrame(model_charts.class_sizes(card)), key=session.wkey("classes", card.id), alt="Rows of each class")


def _amounts(app: Application, actor: Actor, card: ModelCard) -> None:
    found = None
    if card.engine == "local":
        work = partial(_residuals, app, actor, card.id)
        found = view(app, actor, (card.id, "residuals"), "Residuals of held-out rows", work, height=HEIGHT + 30)
    unit = card.task.target_label
    if found is not None:
        left, right = st.columns(2, gap="medium")
        with left:
            note = f"{figures.count(len(found.points))} of {figures.counted(found.rows, 'row')}, out of fold"
            drawn, noun = model_charts.predicted_actual(found, unit, mode()), plain(card.task.entity_label)
            chart_menu.figure("Predicted and actual", note, drawn, session.wkey("actual", card.id), card.name,
                              on_select=partial(_open, card))  # fmt: skip
            st.caption(f"Click a point to open its {noun} in the explorer.")
        with right:
            note = "mean with 95% interval, by size of the prediction"
            _figure(card, "Residuals", note, model_charts.residuals(found, unit, mode()), "residuals")
        for warning in found.warnings:
            st.caption(f":material/warning: {plain(warning, 300)}")
        with st.expander("Largest errors", type="compact", key=session.wkey("largest", card.id)):
            rows = [{card.task.entity_label.capitalize(): r.case_id, "Predicted": r.predicted, "Actual": r.actual,
                     "Actual minus predicted": r.actual - r.predicted} for r in found.largest]
            tables.show(pd.DataFrame(rows), key=session.wkey("largest-rows", card.id), alt="Rows with the largest errors")
    if card.conformal is not None:
        c = card.conformal
        st.caption(
            f"Intervals of predictions: {c.level:.0%} wanted, {c.coverage:.1%} of {figures.counted(c.rows, 'training row')} "
            f"lie in theirs, made without them; half width {figures.number(c.half_width, 0 if c.half_width >= 100 else 2)}."
        )


def _residuals(app: Application, actor: Actor, model_id: str, **run: Any) -> Residuals:
    return app.explanations.views(actor, model_id).residuals(**run)


def _later(card: ModelCard) -> None:
    """Random folds beside later rows, figure by figure, even where it hurts."""
    later = card.out_of_time
    if later is None:
        return
    shown = model_figures.BINARY + model_figures.CLASSES + model_figures.AMOUNTS
    rows, seen = [], set()
    for name, label, _ in shown:
        here, there = getattr(card.chosen.metrics, name, None), getattr(later.metrics, name, None)
        if here is None or there is None or name in seen:
            continue
        seen.add(name)
        digits = model_figures.digits_of(name, here.value)
        rows.append({
            "Figure": label, "Random folds": f"{figures.number(here.value, digits)} ({figures.interval(here, digits)})",
            "Later rows": f"{figures.number(there.value, digits)} ({figures.interval(there, digits)})",
        })
    with st.container(border=True, gap="small"):
        tables.card_head("Out of time", f"{later.first} to {later.last}, by {later.column}")
        st.markdown(plain(later.sentence, 500))
        tables.show(pd.DataFrame(rows), key=session.wkey("later", card.id), alt="Figures on random folds and on later rows")
        before, after = figures.counted(later.trained, "earlier row"), figures.counted(later.tested, "later row")
        st.caption(f"Trained on the {before}, measured on {after}.")
