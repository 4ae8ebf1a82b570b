"""The explorer on screen: what moves the model, one case in full, and cases like it. Draws explanation payloads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from components import explanation_charts, figures, session, tables
from components.cards import draw_chart, mode
from components.plotly_template import direction, signed
from components.problems import careful
from components.safe import flat, plain
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


def _importance_only(explanation: GlobalExplanation, card: ModelCard) -> None:
    """An engine that gives no values per row: importance alone, and whose it is."""
    with st.container(border=True, gap="small"):
        tables.card_head("What moves the model", f"{figures.counted(explanation.of_rows, card.task.entity_label)} trained it")
        key = session.wkey("importance", card.id, explanation.scale)
        draw_chart(explanation_charts.importance(explanation, card.task.target_label, mode()), key)
        st.caption(plain(explanation.method))


def overall(explanation: GlobalExplanation, card: ModelCard) -> None:
    """Beeswarm and importance over many rows, in one card with a switch."""
    noun, target = card.task.entity_label, card.task.target_label
    if not explanation.rows:
        _importance_only(explanation, card)
        return
    with st.container(border=True, gap="small"):
        tables.card_head("What moves the model", figures.counted(explanation.rows, noun))
        beeswarm, importance = st.tabs(["Beeswarm", "Importance"], on_change="rerun", key=session.OVERALL_TAB)
        if beeswarm.open:
            with beeswarm:
                key = session.wkey("beeswarm", card.id, explanation.scale)
                draw_chart(explanation_charts.beeswarm(explanation, target, mode()), key)
        if importance.open:
            with importance:
                key = session.wkey("importance", card.id, explanation.scale)
                draw_chart(explanation_charts.importance(explanation, target, mode()), key)
        if explanation.of_rows > explanation.rows:
            st.caption(
                f"{figures.count(explanation.rows)} of {figures.count(explanation.of_rows)} rows, a seeded sample."
            )
        shown = min(len(explanation.features), explanation_charts.SHOWN_FEATURES)
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
    ranked: int = 0
    """How many cases are ranked; the rest stand apart."""


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
        return Cases(total, first, top, at, row=row, ranked=latest.ranked)
    before, after = ids[place - 1] if place else None, ids[place + 1] if place + 1 < len(ids) else None
    return Cases(total, first, top, max(0, at - 1) + place, before, after, row, latest.ranked)


def case_head(cases: Cases, title: str, note: str) -> None:
    """Head of the case's card, with previous and next at its right."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        tables.card_head(title, note)
        with st.container(horizontal=True, width="content", gap="xsmall"):
            for name, icon, goal in (
                ("previous", "chevron_left", cases.previous),
                ("next", "chevron_right", cases.following),
            ):
                st.button(
                    "",
                    key=session.wkey("explorer", name),
                    icon=f":material/{icon}:",
                    type="tertiary",
                    help=f"{name.capitalize()} by risk",
                    disabled=goal is None,
                    on_click=_go,
                    args=(goal,),
                )


def case_bar(cases: Cases, case_id: str | None, noun: str) -> None:
    """Pick among the riskiest, or go to any id."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        names: dict[str | None, str] = {i: f"{noun} {i}, {figures.number(p)}" for i, p in cases.top.items()}
        if case_id is None and names:
            names = {None: "By risk", **names}
        elif case_id not in names:
            names = {case_id: f"{noun} {case_id}", **names}
        if names:
            session.put(session.CASE_PICK, case_id)
            st.selectbox(
                "By risk",
                list(names),
                key=session.CASE_PICK,
                format_func=lambda i: names.get(i, str(i)),
                label_visibility="collapsed",
                width=200,
                on_change=_pick,
            )
        st.text_input(
            "Case",
            key=session.CASE_SEARCH,
            placeholder="Go to id",
            label_visibility="collapsed",
            width=110,
            on_change=_search,
        )


def place_line(cases: Cases, noun: str) -> str:
    """Where the case stands among the scored ones."""
    if cases.position is None:
        return f"Not among the {figures.counted(cases.total, noun)} scored: it trained the model."
    if cases.row is not None and cases.row["segment"] == "apart":
        place, of = cases.position + 1 - cases.ranked, cases.total - cases.ranked
        return f"{figures.count(place)} of {figures.counted(of, noun)} set apart, by risk."
    return f"{figures.count(cases.position + 1)} of {figures.counted(cases.ranked or cases.total, noun)} ranked by risk."


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


def one_case(case: CaseExplanation, card: ModelCard, cases: Cases) -> None:
    """Waterfall with its values, and the plain reading."""
    noun, row = card.task.entity_label, cases.row
    note = figures.number(case.prediction)
    if row and case.scale == "probability":
        band = figures.span(row["probability_low"], row["probability_high"])
        note += f" ({band}, 80% band)" if band != "none" else ""
    with st.container(border=True, gap="small"):
        case_head(cases, f"Why {noun} {case.case_id}", note)
        case_bar(cases, case.case_id, noun)
        chart = explanation_charts.waterfall(case, card.task.target_label, mode())
        draw_chart(chart, session.wkey("waterfall", card.id, case.case_id, case.scale))
        scored = {
            "out_of_fold": "It trained the model, so its score is out of fold.",
            "in_sample": "It trained the model that scored it, so the score flatters.",
        }.get(case.scored, "")
        shown = ", ".join(f"{plain(k.replace('_', ' '))} {plain(figures.value(v))}" for k, v in case.display.items())
        st.caption(" ".join(part for part in (place_line(cases, noun), shown, scored) if part))
        if card.engine == "lexsi":
            told = f" In its own words: {case.engine_summary}" if case.engine_summary else ""
            st.caption(plain(case.method + told))


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
            alt=f"Contributions of all features for case {flat(case.case_id)}",
            settings={
                "Feature": st.column_config.TextColumn("Feature", width=205),
                "Value": st.column_config.TextColumn("Value", width=75),
                "Contribution": st.column_config.TextColumn("Contribution", width=85),
            },
        )
        st.caption(
            f"Base value {figures.number(case.base_value, 3)} plus the contributions is {figures.number(case.prediction, 3)}. "
            + ("The log-odds values are rescaled so that they add up." if case.scale == "probability" else "")
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
            alt=f"{flat(noun)} rows like case {flat(case_id)}",
            settings={
                "Probability": tables.probability_column(width=120),
                "Distance": st.column_config.NumberColumn("Distance", format="%.1f", width=70),
            },
        )
        st.caption(f"Probability: out of fold. Outcome: {plain(task.positive_meaning)}.")


def _similar_row(similar: dict[str, Any], card: ModelCard) -> dict[str, Any]:
    task = card.task
    display = similar.get("display") or {}
    return {
        task.entity_label.capitalize(): tables.as_id(similar.get("entity")),
        "Outcome": task.target_label if similar.get("outcome") else f"no {task.target_label}",
        "Probability": similar.get("probability"),
        **{str(k).replace("_", " ").capitalize(): _day(v) for k, v in display.items()},
        "Distance": similar.get("distance"),
    }


def _day(value: Any) -> Any:
    return value.removesuffix("T00:00:00") if isinstance(value, str) else value


def no_case(cases: Cases, case_id: str | None, card: ModelCard) -> None:
    """Nothing to explain: no case was scored, or the address names one that the model does not know."""
    noun = plain(card.task.entity_label)
    with st.container(border=True, gap="small"):
        case_bar(cases, None, card.task.entity_label)
        if case_id is None:
            st.info("This model has scored nothing yet, so there is no case to open.", icon=":material/info:")
            return
        st.warning(
            f"**No {noun} {plain(case_id, 40)} here.** The model knows the {noun} ids it was trained on and those it scored.",
            icon=":material/link_off:",
        )
