"""The cohort bar: which rows all charts over many rows are about, by conditions, by a band of scores, or by a lasso.

Active conditions stand as gray badges beside it. Must never: filter rows itself, or leave unsaid that a cohort is on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from components import figures, session
from components.explain_asked import Asking
from components.explain_state import PROBABILITY, ExplorerState, columns, words, write
from components.problems import careful
from components.safe import flat, plain
from lexsi_ds.application import Application
from lexsi_ds.errors import LexsiError
from lexsi_ds.explain.results import Condition
from lexsi_ds.explain.results_local import FeatureRange, FeatureRanges
from lexsi_ds.models.card import ModelCard
from lexsi_ds.services.access import Actor
from lexsi_ds.services.case_orders import CaseOrders

_FROM, _TO, _WORDS, _MISSING = "explorer-from", "explorer-to", "explorer-words", "explorer-missing"
_SAMPLE = 500
"""Scored rows read to learn which words a shown column has."""


@dataclass(frozen=True)
class Size:
    """How many rows the charts are about."""

    rows: int | None
    """None while it is not known yet."""
    total: int


def settle(app: Application, actor: Actor, mine: ExplorerState, predictions_id: str | None) -> None:
    """Find the cases of a condition on the score; where nothing was scored such a condition is dropped."""
    bands = [c for c in mine.conditions if c.column == PROBABILITY]
    if not bands:
        mine.band = None
    elif mine.band is None:
        try:
            if predictions_id is None:
                raise LexsiError("This model has scored nothing yet.", to_do="Score rows first.")
            low = max((float(c.value) for c in bands if c.operator == ">="), default=float("-inf"))  # type: ignore[arg-type]
            high = min((float(c.value) for c in bands if c.operator == "<="), default=float("inf"))  # type: ignore[arg-type]
            mine.band = CaseOrders(app.models).between(actor, predictions_id, low, high)
        except LexsiError as error:
            mine.conditions = tuple(c for c in mine.conditions if c.column != PROBABILITY)
            write(mine)
            st.warning(f"{plain(error.what)} {plain(error.to_do or '')} The filter on the score was dropped.")


def of(asking: Asking, total: int) -> None:
    """The bar of what is asked now; ``total``: rows without a filter, while no view has counted them."""
    overall = asking.there("overall")
    size = Size(overall.of_rows if overall else None, total)
    _bar(asking.app, asking.actor, asking.card, asking.mine, size, asking.ranges(), asking.predictions_id)


def _bar(
    app: Application, actor: Actor, card: ModelCard, mine: ExplorerState, size: Size, ranges: FeatureRanges | None,
    predictions_id: str | None,
) -> None:  # fmt: skip
    """The popover with the form, and what is on."""
    noun, labels = figures.plural(card.task.entity_label), columns(card)
    if mine.cohort is None:
        label = f"Cohort: all {figures.count(size.total)} {noun}"
    elif size.rows is None:
        label = f"Cohort: some of {figures.count(size.total)} {noun}"
    else:
        label = f"Cohort: {figures.count(size.rows)} of {figures.count(size.total)} {noun}"
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        chip = st.popover(plain(label, 60), icon=":material/filter_alt:", on_change="rerun", key="explorer-cohort")
        for i, condition in enumerate(mine.conditions):
            _badge(words(condition, labels), session.wkey("explorer-drop", i), mine, i)
        if mine.chosen:
            said = f"{figures.counted(len(mine.chosen), card.task.entity_label)} chosen in {mine.chosen_in}"
            _badge(said, "explorer-drop-chosen", mine, None)
        if mine.cohort is not None:
            st.button(
                "Clear",
                key="explorer-clear",
                icon=":material/filter_alt_off:",
                type="tertiary",
                on_click=_clear,
                args=(mine,),
            )
    if chip.open:
        with chip:
            _form(app, actor, card, mine, ranges, predictions_id)


def _badge(text: str, key: str, mine: ExplorerState, place: int | None) -> None:
    with st.container(horizontal=True, width="content", gap=None, vertical_alignment="center"):
        st.badge(plain(text, 70), color="gray")
        st.button(
            "", icon=":material/close:", type="tertiary", key=key, help="Remove", on_click=_drop, args=(mine, place)
        )


def _form(
    app: Application,
    actor: Actor,
    card: ModelCard,
    mine: ExplorerState,
    ranges: FeatureRanges | None,
    predictions_id: str | None,
) -> None:
    labels = columns(card)
    if predictions_id is None:
        labels.pop(PROBABILITY)
    st.caption(
        "All charts over many rows are about the rows that meet every filter. A box or lasso in a chart is one more."
    )
    column = st.selectbox(
        "Column", list(labels), key=session.COHORT_COLUMN, format_func=lambda c: flat(labels[c], 60), on_change=_fresh
    )
    known = next((r for r in ranges.features if r.feature == column), None) if ranges else None
    if column == PROBABILITY:
        kind = "score" if card.task.kind != "regression" else "numeric"
    elif known is not None:
        kind = "numeric" if known.kind == "numeric" else "words"
    else:
        known, kind = _shown_column(app, actor, predictions_id, column)
    _inputs(kind, known)
    st.button(
        "Add filter", key="explorer-add", type="primary", icon=":material/add:", on_click=_add, args=(mine, column, kind),
    )  # fmt: skip


def _inputs(kind: str, known: FeatureRange | None) -> None:
    if kind == "score":
        st.slider("From and to", 0.0, 1.0, (0.0, 1.0), step=0.01, key=_WORDS + "-score")
    elif kind == "numeric":
        left, right = st.columns(2)
        low, high = (known.low, known.high) if known else (None, None)
        for side, name, key, bound in ((left, "At least", _FROM, low), (right, "At most", _TO, high)):
            with side:
                placeholder = figures.value(bound) if bound is not None else ""
                st.number_input(name, value=None, key=key, placeholder=placeholder)
    else:
        st.multiselect("Is one of", list(known.words) if known else [], key=_WORDS, format_func=lambda w: flat(w, 60))
    if known is not None and known.missing:
        st.checkbox("Only where it is missing", key=_MISSING)


def _shown_column(app: Application, actor: Actor, predictions_id: str | None, column: str) -> tuple[FeatureRange, str]:
    """A column that is shown beside a case: its kind and words from some scored rows."""
    values = pd.Series([], dtype=object)
    if predictions_id is not None:
        rows, _ = app.models.page(actor, predictions_id, limit=_SAMPLE)
        values = pd.Series(rows[column]) if column in rows.columns else values
    numeric = bool(pd.api.types.is_numeric_dtype(values)) and not pd.api.types.is_bool_dtype(values)
    numbers = values.dropna().to_numpy(dtype=float) if numeric else np.array([])
    texts = tuple(sorted({str(v) for v in values.dropna()})[:200]) if not numeric else ()
    found = FeatureRange(
        feature=column, label=column, unit=None, kind="numeric" if numeric else "categorical", words=texts, whole=False,
        low=float(numbers.min()) if numbers.size else None, high=float(numbers.max()) if numbers.size else None,
        missing=bool(values.isna().any()),
    )  # fmt: skip
    return found, "numeric" if numeric else "words"


@careful
def _add(mine: ExplorerState, column: str, kind: str) -> None:
    found: list[Condition] = []
    if session.read(_MISSING):
        found = [Condition(column=column, operator="missing")]
    elif kind == "words":
        chosen = tuple(session.read(_WORDS) or ())
        found = [Condition(column=column, operator="in", value=chosen)] if chosen else []
    else:
        bounds: Any = session.read(_WORDS + "-score") if kind == "score" else (session.read(_FROM), session.read(_TO))
        low, high = bounds or (None, None)
        if kind == "score":
            low, high = low or None, None if high == 1 else high
        found = [Condition(column=column, operator=">=", value=low)] if low is not None else []
        found += [Condition(column=column, operator="<=", value=high)] if high is not None else []
    if not found:
        session.notify("info", "Give the filter a value first.")
        return
    mine.conditions = tuple(c for c in mine.conditions if c.column != column) + tuple(found)
    _changed(mine)
    _fresh()


def _fresh() -> None:
    session.forget(_FROM, _TO, _WORDS, _WORDS + "-score", _MISSING)


@careful
def _drop(mine: ExplorerState, place: int | None) -> None:
    if place is None:
        mine.chosen, mine.chosen_in = (), ""
    else:
        mine.conditions = tuple(c for i, c in enumerate(mine.conditions) if i != place)
    _changed(mine)


@careful
def _clear(mine: ExplorerState) -> None:
    mine.conditions, mine.chosen, mine.chosen_in = (), (), ""
    _changed(mine)


def _changed(mine: ExplorerState) -> None:
    mine.band = None
    mine.round += 1
    write(mine)
