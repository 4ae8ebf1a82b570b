"""The explorer on screen: what moves the model, one case in full, and cases like it. Draws explanation payloads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from components import charts, figures, session, tables
from components.cards import draw_chart, mode
from components.plotly_template import direction, signed
from components.problems import careful
from components.safe import plain, safe_md
from lexsi_ds.application import Application
from lexsi_ds.errors import NotFound
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.engine import CaseExplanation, GlobalExplanation
from lexsi_ds.services.access import Actor

SCALES = {"probability": "Probability points", "log-odds": "Log-odds"}
PICKABLE = 100
"""How many of the riskiest cases can be picked from the list; any other is found by its id."""


def scale_switch() -> str:
    """Probability points or log-odds; kept between pages."""
    return st.segmented_control(
        "Scale",
        list(SCALES),
        key=session.SCALE,
        default="probability",
        required=True,
        label_visibility="collapsed",
        format_func=lambda s: f":gray[{SCALES[s]}]",
        persist_state="session",
    )


def overall(explanation: GlobalExplanation, card: ModelCard) -> None:
    """Beeswarm and importance over many rows, in one card with a switch."""
    noun, target = card.task.entity_label, card.task.target_label
    with st.container(border=True, gap="small"):
        tables.card_head("What moves the model", figures.counted(explanation.rows, noun))
        beeswarm, importance = st.tabs(["Beeswarm", "Importance"])
        with beeswarm:
            draw_chart(
                charts.beeswarm(explanation, target, mode()), session.wkey("beeswarm", card.id, explanation.scale)
            )
        with importance:
            draw_chart(
                charts.importance(explanation, target, mode()), session.wkey("importance", card.id, explanation.scale)
            )
        if explanation.of_rows > explanation.rows:
            st.caption(
                f"{figures.count(explanation.rows)} of {figures.count(explanation.of_rows)} rows, a seeded sample."
            )
        shown = min(len(explanation.features), charts.SHOWN_FEATURES)
        if len(explanation.features) > shown:
            st.caption(
                f"The {shown} strongest of {len(explanation.features)} features. The model's associations, not causes."
            )


@dataclass(frozen=True)
class Cases:
    """Where a case stands among the scored ones, without loading them: its neighbours by risk and the riskiest to pick from."""

    total: int
    first: str | None
    """The riskiest case: what is opened when none is named."""
    top: dict[str, float]
    """The riskiest cases with their probability."""
    position: int | None = None
    """From 0; None when the case was not scored."""
    previous: str | None = None
    following: str | None = None
    row: dict[str, Any] | None = None
    """The case's row of predictions."""


def cases_by_risk(app: Application, actor: Actor, card: ModelCard, case_id: str | None) -> Cases:
    """The scored cases around ``case_id``."""
    latest = app.models.latest_predictions(actor, card.id)
    if latest is None:
        return Cases(0, None, {})
    entity = latest.entity_column
    head, total = app.models.page(actor, latest.id, limit=PICKABLE)
    top = {str(tables.as_id(i)): float(p) for i, p in zip(head[entity], head["probability"], strict=True)}
    first = next(iter(top), None)
    wanted = case_id or first
    if wanted is None:
        return Cases(total, first, top)
    try:
        row = app.models.case(actor, latest.id, wanted)
    except NotFound:
        return Cases(total, first, top)
    at = int(row["rank"]) - 1 + (0 if row["segment"] == "ranked" else latest.ranked)
    around, _ = app.models.page(actor, latest.id, offset=max(0, at - 1), limit=3)
    ids = [str(tables.as_id(i)) for i in around[entity]]
    place = ids.index(wanted) if wanted in ids else None
    if place is None:
        return Cases(total, first, top, at, row=row)
    before, after = ids[place - 1] if place else None, ids[place + 1] if place + 1 < len(ids) else None
    return Cases(total, first, top, max(0, at - 1) + place, before, after, row)


def case_bar(cases: Cases, case_id: str | None, noun: str) -> None:
    """Pick by risk, search by id, previous and next."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        names = {i: f"{noun} {i}, {figures.number(p)}" for i, p in cases.top.items()}
        if case_id and case_id not in names:
            names = {case_id: f"{noun} {case_id}", **names}
        if names:
            session.put(session.CASE_PICK, case_id)
            st.selectbox(
                "By risk",
                list(names),
                key=session.CASE_PICK,
                format_func=lambda i: names.get(i, str(i)),
                label_visibility="collapsed",
                width=190,
                on_change=_pick,
            )
        st.text_input(
            "Case",
            key=session.CASE_SEARCH,
            placeholder="Go to id",
            label_visibility="collapsed",
            width=120,
            on_change=_search,
        )
        st.button(
            "",
            key="explorer-previous",
            icon=":material/chevron_left:",
            type="tertiary",
            help="Previous by risk (k)",
            shortcut="k",
            disabled=cases.previous is None,
            on_click=_go,
            args=(cases.previous,),
        )
        st.button(
            "",
            key="explorer-next",
            icon=":material/chevron_right:",
            type="tertiary",
            help="Next by risk (j)",
            shortcut="j",
            disabled=cases.following is None,
            on_click=_go,
            args=(cases.following,),
        )
    if cases.position is not None:
        st.caption(f"{figures.count(cases.position + 1)} of {figures.count(cases.total)} by risk")
    elif case_id:
        st.caption(f"Not among the {figures.count(cases.total)} scored rows: it trained the model.")


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


def one_case(case: CaseExplanation, card: ModelCard, row: dict[str, Any] | None) -> None:
    """Waterfall with its values, and the plain reading. ``row`` is the case's row of predictions."""
    noun = card.task.entity_label
    span = ""
    if row and case.scale == "probability":
        span = f" ({figures.number(row['probability_low'])} to {figures.number(row['probability_high'])}, 80% band)"
    with st.container(border=True, gap="small"):
        tables.card_head(f"Why {noun} {case.case_id}", f"{figures.number(case.prediction)}{span}")
        draw_chart(
            charts.waterfall(case, card.task.target_label, mode()),
            session.wkey("waterfall", card.id, case.case_id, case.scale),
        )
        scored = (
            "It trained the model, so its score is out of fold."
            if case.scored == "out_of_fold"
            else "Scored by the model."
        )
        shown = ", ".join(f"{plain(k.replace('_', ' '))} {plain(figures.value(v))}" for k, v in case.display.items())
        st.caption(f"{scored} {shown}")
    if case.summary:
        st.markdown(safe_md(case.summary))


def values_table(case: CaseExplanation, card: ModelCard) -> None:
    """Every driver with its value and its part, on the scale of the waterfall."""
    frame = pd.DataFrame(
        [
            {
                "Feature": d.label + (f", {d.unit}" if d.unit else ""),
                "Value": figures.value(d.value),
                "Contribution": f"{direction(d.contribution)} {signed(d.contribution, 3)}",
            }
            for d in case.drivers
        ]
    )
    with st.container(border=True, gap="small"):
        tables.card_head(
            "All features", f"{figures.counted(len(frame), 'value')}, {SCALES.get(case.scale, case.scale).lower()}"
        )
        tables.show(
            frame,
            key=session.wkey("values", card.id, case.case_id, case.scale),
            alt=f"Contributions of all features for case {plain(case.case_id)}",
        )
        st.caption(
            f"Base value {figures.number(case.base_value, 3)} plus the contributions is {figures.number(case.prediction, 3)}. "
            "On the probability scale the log-odds values are rescaled to add up."
        )


def similar_table(similar: list[dict[str, Any]], card: ModelCard, case_id: str) -> None:
    """The nearest training rows with what became of them."""
    noun, task = card.task.entity_label, card.task
    with st.container(border=True, gap="small"):
        tables.card_head("Similar cases", f"{len(similar)} nearest with a known outcome")
        if not similar:
            st.caption("No training row is close.")
            return
        rows = [_similar_row(s, card) for s in similar]
        frame = tables.presentable(pd.DataFrame(rows))
        tables.show(
            frame,
            key=session.wkey("similar", card.id, case_id),
            alt=f"{plain(noun)} rows like case {plain(case_id)}",
            settings={"Probability": tables.probability_column(width=140)},
        )
        st.caption(f"Probability: out of fold. Outcome: {plain(task.positive_meaning)}.")


def _similar_row(similar: dict[str, Any], card: ModelCard) -> dict[str, Any]:
    task = card.task
    row: dict[str, Any] = {
        task.entity_label.capitalize(): tables.as_id(similar.get("entity")),
        "Outcome": task.target_label if similar.get("outcome") else f"no {task.target_label}",
        "Probability": similar.get("probability"),
        "Distance": similar.get("distance"),
    }
    display = similar.get("display") or {}
    return row | {str(k).replace("_", " ").capitalize(): v for k, v in display.items()}
