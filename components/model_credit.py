"""What a credit desk reads of a yes/no model: deciles, score bands and an existing score as challenger. Draws a card."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from components import figures, session, tables
from components.safe import plain
from lexsi_ds.models.card import Credit, ModelCard


def draw(card: ModelCard) -> None:
    """Nothing where the card has none."""
    credit = card.credit
    if credit is None:
        return
    with st.container(border=True, gap="small"):
        tables.card_head("Credit tables", "out of fold")
        st.caption(
            f"Gini {figures.number(credit.gini.value)} ({figures.interval(credit.gini)}), KS {figures.number(credit.ks.value)} "
            f"({figures.interval(credit.ks)}), widest apart at a probability of {figures.number(credit.ks_at)}."
        )
        deciles, bands, challenger = st.tabs(["Deciles", "Score bands", "Challenger"])
        with deciles:
            _table(_deciles(credit), session.wkey("deciles", card.id), "Deciles of the score")
        with bands:
            _table(_bands(credit), session.wkey("bands", card.id), "Bands of the score")
            st.caption("Score: 600 at odds of 30 to 1 against the outcome, 20 points double them. Higher is safer.")
        with challenger:
            _challenger(credit)


def _table(frame: pd.DataFrame, key: str, alt: str) -> None:
    percent = {name: st.column_config.NumberColumn(name, format="%.1f%%") for name in frame.columns if name in _PERCENT}
    fixed = {name: st.column_config.NumberColumn(name, format="%.2f") for name in ("From", "To", "Lift") if name in frame.columns}
    tables.show(frame, key=key, alt=alt, settings=percent | (fixed if "Lift" in frame.columns else {}))


_PERCENT = frozenset({"Rate", "Caught so far", "KS so far"})


def _deciles(credit: Credit) -> pd.DataFrame:
    return pd.DataFrame([
        {"Decile": d.decile, "Rows": d.rows, "Events": d.events, "From": d.low, "To": d.high, "Rate": 100 * d.rate,
         "Lift": d.lift, "Caught so far": 100 * d.captured, "KS so far": 100 * d.ks} for d in credit.deciles
    ])  # fmt: skip


def _bands(credit: Credit) -> pd.DataFrame:
    return pd.DataFrame([
        {"Score": f"{b.low} to {b.high}", "Rows": b.rows, "Events": b.events, "Rate": 100 * b.rate,
         "95% interval": f"{100 * b.rate_low:.1f}% to {100 * b.rate_high:.1f}%"} for b in credit.bands
    ])  # fmt: skip


def _challenger(credit: Credit) -> None:
    beside = credit.challenger
    if beside is None:
        st.caption("No existing score was compared. Name its column when you train, and it stands here beside the model.")
        return
    st.markdown(plain(beside.sentence, 500))
    st.caption(
        f"{plain(beside.column)}: AUC {figures.number(beside.auc.value)} ({figures.interval(beside.auc)}); the model on the same "
        f"{figures.counted(beside.rows, 'row')}: {figures.number(beside.model_auc.value)} ({figures.interval(beside.model_auc)})."
    )
