"""Backtests on screen: what the card promised beside what came true, with the intervals of both. Draws stored figures."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from components import chart_menu, figures, model_charts, model_figures, session, tables
from components.cards import mode
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.models.card import ModelCard
from lexsi_ds.services.access import Actor
from lexsi_ds.services.model_backtests import Backtest

OLDER = 5


def draw(app: Application, actor: Actor, card: ModelCard) -> None:
    """The newest in full, older ones in a line each."""
    tests = app.backtests.list(actor, card.id)
    if not tests:
        return
    newest, older = tests[0], tests[1 : OLDER + 1]
    with st.container(border=True, gap="small"):
        tables.card_head("Promised and held", f"{newest.source}, {figures.ago(newest.at)}, by {newest.person_name}")
        st.markdown(plain(newest.sentence, 600))
        _figures(card, newest)
        _counts(card, newest)
        left, right = st.columns(2, gap="medium")
        with left:
            if newest.held.bins:
                note = "on the rows with an outcome; dashed: the threshold"
                drawn = model_charts.calibration_at(newest.held.bins, newest.threshold, mode())
                chart_menu.figure("Calibration", note, drawn, session.wkey("backtest", newest.id, "calibration"), card.name)
        with right:
            if len(newest.held.periods) > 1:
                st.markdown("**By time**")
                tables.show(_periods(newest), key=session.wkey("backtest", newest.id, "periods"), alt="Outcomes by period")
        for note in newest.notes:
            st.caption(f":material/info: {plain(note, 400)}")
        for each in older:
            st.caption(f"{plain(each.source, 80)}, {figures.ago(each.at)}: {plain(each.sentence, 400)}")


def _figures(card: ModelCard, test: Backtest) -> None:
    if test.held.metrics is None:
        return
    kinds = {"binary": model_figures.BINARY, "multiclass": model_figures.CLASSES, "regression": model_figures.AMOUNTS}
    rows = []
    for name, label, _ in kinds[card.task.kind]:
        promised, held = getattr(card.chosen.metrics, name, None), getattr(test.held.metrics, name, None)
        if promised is None or held is None:
            continue
        digits = model_figures.digits_of(name, promised.value)
        rows.append({
            "Figure": label, "Promised": f"{figures.number(promised.value, digits)} ({figures.interval(promised, digits)})",
            "Held": f"{figures.number(held.value, digits)} ({figures.interval(held, digits)})",
        })
    alt = "Figures promised by the card and held by the outcomes"
    tables.show(pd.DataFrame(rows), key=session.wkey("backtest", test.id), alt=alt)


def _counts(card: ModelCard, test: Backtest) -> None:
    held = test.held
    said = [f"{figures.counted(held.rows, 'row')} of {figures.count(test.predicted_rows)} predicted have an outcome"]
    if held.flagged is not None:
        said.append(f"{figures.count(held.hits or 0)} of {figures.count(held.flagged)} flagged had {plain(card.task.target_label)}")
    if test.not_predicted:
        said.append(f"{figures.counted(test.not_predicted, 'row')} with an outcome were not predicted")
    if held.coverage is not None:
        said.append(f"{held.coverage:.1%} lay in their interval")
    st.caption(". ".join(said) + ".")


def _periods(test: Backtest) -> pd.DataFrame:
    return pd.DataFrame([
        {"Period": p.period, "Rows": p.rows, "Said": figures.number(p.predicted),
         "Came": f"{figures.number(p.observed)} ({figures.span(p.low, p.high)})",
         test.main_name: f"{figures.number(p.main.value)} ({figures.interval(p.main)})" if p.main else "too few"}
        for p in test.held.periods
    ])  # fmt: skip
