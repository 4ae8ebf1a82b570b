"""Which case is open, and the ones before and after it: by risk, by how wrong the model was, by how unsure it is, or by id.

Reads pages of predictions, never all of them. Must never: jump to a case that nobody asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from components import explain_work, figures, session, tables
from components.explain_asked import Asking
from components.problems import careful
from components.safe import flat, plain
from lexsi_ds.errors import NotFound
from lexsi_ds.services.case_orders import CaseOrders, OrderedCase

PICKABLE = 100
"""How many cases of an order can be picked from the list; any other is found by its id."""
ORDERS = {"risk": "By risk", "error": "By error", "uncertainty": "By uncertainty"}


@dataclass(frozen=True)
class Cases:
    """Where a case stands in an order, without loading all of them: its neighbours and the first to pick from."""

    total: int
    first: str | None
    """What is opened when no case is named."""
    top: dict[str, str]
    """The first cases with what is said of each in the list."""
    order: str = "risk"
    position: int | None = None
    """From 0; None when the case has no place in this order."""
    previous: str | None = None
    following: str | None = None
    row: dict[str, Any] | None = None
    """The case's row of predictions."""
    ranked: int = 0
    """How many cases are ranked; the rest stand apart."""


def chosen_order(asking: Asking) -> str:
    """The order asked for; where nothing was scored, by error: training rows are all there is."""
    if asking.predictions_id is None:
        return "error"
    order = session.read(session.CASE_ORDER)
    return order if order in ORDERS else "risk"


def cases(asking: Asking, case_id: str | None) -> Cases:
    """The cases around ``case_id`` in the order asked for."""
    order = chosen_order(asking)
    return _by_risk(asking, case_id) if order == "risk" else _by_list(asking, case_id, order)


def _by_list(asking: Asking, case_id: str | None, order: str) -> Cases:
    """By error or uncertainty: the first 200 of the order, sorted once in the background."""
    found = _ordered(asking, order)
    ids = [c.case_id for c in found]
    first = ids[0] if ids else None
    wanted = case_id or first
    at = ids.index(wanted) if wanted in ids else None
    top = {c.case_id: c.note for c in found[:PICKABLE]}
    before = ids[at - 1] if at else None
    after = ids[at + 1] if at is not None and at + 1 < len(ids) else None
    return Cases(len(ids), first, top, order, at, before, after if at is not None else first, _row(asking, wanted), len(ids))


def _ordered(asking: Asking, order: str) -> tuple[OrderedCase, ...]:
    orders = CaseOrders(asking.app.models)
    read = orders.by_error if order == "error" else orders.by_uncertainty

    def work(*, cancel: Any, tell: Any) -> tuple[OrderedCase, ...]:
        return read(asking.actor, asking.card)

    key = (asking.card.id, asking.predictions_id or "training", "order", order)
    found = explain_work.view(asking.app, asking.actor, key, ORDERS[order], work, height=40, patience=1.0)
    return found or ()


def _row(asking: Asking, case_id: str | None) -> dict[str, Any] | None:
    if case_id is None or asking.predictions_id is None:
        return None
    try:
        return asking.app.models.case(asking.actor, asking.predictions_id, case_id)
    except NotFound:
        return None


def score(row: Any) -> float:
    """A row's score: its probability, or the amount."""
    probability = row["probability"]
    return float(row["prediction"] if probability is None or pd.isna(probability) else probability)


def _by_risk(asking: Asking, case_id: str | None) -> Cases:
    app, actor = asking.app, asking.actor
    latest = app.models.latest_predictions(actor, asking.card.id)
    if latest is None:
        return Cases(0, None, {})
    entity, read = latest.entity_column, partial(app.models.page, actor, latest.id)
    head, total = read(limit=PICKABLE)
    digits = 0 if asking.card.task.kind == "regression" else 2
    ids = [str(tables.as_id(i)) for i in head[entity]]
    top = {i: figures.number(score(row), digits) for i, (_, row) in zip(ids, head.iterrows(), strict=True)}
    first = ids[0] if ids else None
    wanted = case_id or first
    row = _row(asking, wanted)
    if row is None:
        return Cases(total, first, top)
    at = int(row["rank"]) - 1 + (0 if row["segment"] == "ranked" else latest.ranked)
    around, _ = read(offset=max(0, at - 1), limit=3)
    near = [str(tables.as_id(i)) for i in around[entity]]
    place = near.index(wanted) if wanted in near else None
    if place is None:
        return Cases(total, first, top, "risk", at, row=row, ranked=latest.ranked)
    before, after = near[place - 1] if place else None, near[place + 1] if place + 1 < len(near) else None
    return Cases(total, first, top, "risk", max(0, at - 1) + place, before, after, row, latest.ranked)


def bar(asking: Asking, found: Cases, case_id: str | None) -> None:
    """Choose the order, pick among its first, go to any id, or step to the one before or after."""
    noun = asking.noun
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        orders = list(ORDERS) if asking.predictions_id is not None else ["error"]
        st.selectbox(
            "Order", orders, key=session.CASE_ORDER, label_visibility="collapsed", width=116, persist_state="session",
            format_func=lambda o: "By amount" if o == "risk" and asking.card.task.kind == "regression" else ORDERS[o],
        )  # fmt: skip
        names: dict[str | None, str] = {i: f"{noun} {i}, {said}" for i, said in found.top.items()}
        if case_id is None and names:
            names = {None: "Choose one", **names}
        elif case_id not in names:
            names = {case_id: f"{noun} {case_id}", **names}
        if names:
            session.put(session.CASE_PICK, case_id)
            st.selectbox(
                "Case", list(names), key=session.CASE_PICK, format_func=lambda i: flat(names.get(i, str(i)), 60),
                label_visibility="collapsed", width=164, on_change=_pick,
            )  # fmt: skip
        st.text_input(
            "Id", key=session.CASE_SEARCH, placeholder="Id", label_visibility="collapsed", width=76, on_change=_search
        )


def steps(found: Cases) -> None:
    """Previous and next, in the order chosen."""
    with st.container(horizontal=True, width="content", gap="xsmall"):
        for name, icon, goal in (("previous", "chevron_left", found.previous), ("next", "chevron_right", found.following)):
            st.button(
                "", key=session.wkey("explorer", name), icon=f":material/{icon}:", type="tertiary",
                help=f"{name.capitalize()} {ORDERS[found.order].lower()}", disabled=goal is None, on_click=_go, args=(goal,),
            )  # fmt: skip


def place_line(asking: Asking, found: Cases) -> str:
    """Where the case stands."""
    noun, risk = asking.noun, "amount" if asking.card.task.kind == "regression" else "risk"
    if found.order != "risk":
        if found.position is None:
            return f"Not among the first {figures.count(found.total)} {ORDERS[found.order].lower()}."
        of = "training rows, out of fold, worst first" if found.order == "error" else "scored, least sure first"
        said = list(found.top.values())[found.position] if found.position < len(found.top) else ""
        note = f" {said[:1].upper()}{plain(said[1:], 120)}." if found.order == "error" and said else ""
        return f"{figures.count(found.position + 1)} of the first {figures.count(found.total)}: {of}.{note}"
    if found.position is None:
        return f"Not among the {figures.counted(found.total, noun)} scored: it trained the model."
    if found.row is not None and found.row["segment"] == "apart":
        place, of_apart = found.position + 1 - found.ranked, found.total - found.ranked
        return f"{figures.count(place)} of {figures.counted(of_apart, noun)} set apart, by {risk}."
    return f"{figures.count(found.position + 1)} of {figures.counted(found.ranked or found.total, noun)} ranked by {risk}."


@careful
def _pick() -> None:
    _go(session.read(session.CASE_PICK))


@careful
def _search() -> None:
    wanted = str(session.read(session.CASE_SEARCH) or "").strip()
    session.put(session.CASE_SEARCH, "")
    _go(wanted or None)


def _go(case_id: str | None) -> None:
    if case_id:
        st.query_params["case"] = case_id
