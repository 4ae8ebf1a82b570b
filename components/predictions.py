"""Every scored row of a model: search, segment, order, pages from disk, download of what they leave. One page is in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from components import exports, figures, model_override, session, tables
from components.model_rows import own_button, scoring, set_name
from components.problems import careful
from components.registry import page
from components.safe import flat, plain
from lexsi_ds.application import Application
from lexsi_ds.models.card import ModelCard
from lexsi_ds.services.access import Actor
from lexsi_ds.services.models import PredictionSet

PAGE_ROWS = 50


def draw(app: Application, actor: Actor, card: ModelCard) -> None:
    """Every scored row: search, segment, order, pages from disk, download of what they leave."""
    if card.engine == "local":
        scoring(app, actor, card)
    latest = _chosen_set(app, actor, card)
    if latest is None:
        with st.container(border=True, gap="small"):
            st.markdown("**Nothing is scored yet** :gray[Score a file in the tab New data, ask in Chat, or take its own data.]")
            if card.engine == "local":
                own_button(app, actor, card)
        return
    noun = plain(card.task.entity_label)
    orders = _orders(card, latest.columns)
    bar = st.container(horizontal=True, vertical_alignment="center", gap="small")
    with bar:
        search = st.text_input(
            "Search",
            key=session.PREDICTION_SEARCH,
            placeholder=f"Search {noun}",
            label_visibility="collapsed",
            width=190,
            on_change=_first_page,
        )
        segment = _segment_filter(card)
        order = st.selectbox(
            "Order",
            list(orders),
            key=session.PREDICTION_SORT,
            label_visibility="collapsed",
            width=190,
            on_change=_first_page,
        )
    sort, descending = orders[order]
    wanted = {"segment": segment} if segment != "all" else None
    number = int(session.read(session.PREDICTION_PAGE) or 1)
    slot = st.container()
    rows, total = app.models.page(
        actor,
        latest.id,
        search=search or "",
        sort=sort,
        descending=descending,
        offset=(number - 1) * PAGE_ROWS,
        limit=PAGE_ROWS,
        filters=wanted,
    )
    with bar:
        exports.of_predictions(
            app, actor, card, latest.id, rows=total, key=session.wkey("models", latest.id), search=search or "", filters=wanted
        )
        st.button(
            "Save as data set", icon=":material/dataset:", type="tertiary", key=session.wkey("models", latest.id, "keep"),
            help="All rows, as a data set of the model's source: findings about predictions can then have a check.",
            on_click=_keep, args=(app, actor, latest.id),
        )
    with slot:
        ids = [tables.as_id(v) or "" for v in rows[card.task.entity_column]]
        _page(card, latest.id, rows, number, model_override.standing(app, actor, card, ids))
    _pager(rows, total, number, order, noun)
    model_override.draw(app, actor, card, latest.id, ids)


@careful
def _keep(app: Application, actor: Actor, predictions_id: str) -> None:
    table = app.prediction_datasets.save(actor, predictions_id)
    app.audit.note(actor, "save_predictions", table.dataset_id, detail={"rows": table.rows})
    session.notify("success", f"Saved as {plain(table.name, 80)}: a finding can be about it now.")


def _chosen_set(app: Application, actor: Actor, card: ModelCard) -> PredictionSet | None:
    """The predictions to show: the newest, or the ones chosen where there are several."""
    sets = {s.id: s for s in app.models.all_predictions(actor, card.id)}
    if len(sets) < 2:
        return next(iter(sets.values()), None)
    if session.read(session.PREDICTION_SET) not in sets:
        session.forget(session.PREDICTION_SET)
    chosen = st.selectbox(
        "Scored rows", list(sets), key=session.PREDICTION_SET, format_func=lambda i: flat(set_name(card, sets[i]), 90),
        on_change=_first_page, width=520,
    )
    for note in ((sets[chosen].about or {}).get("notes") or [])[:4]:
        st.caption(f":material/info: {plain(note, 400)}")
    return sets[chosen]


def _orders(card: ModelCard, columns: Sequence[str]) -> dict[str, tuple[str, bool]]:
    """Name of an order -> column and direction; the display columns sort both ways."""
    what, of = ("prediction", "amount") if card.task.kind == "regression" else ("probability", "probability")
    orders = {"By rank": ("rank", False), f"Highest {of}": (what, True), f"Lowest {of}": (what, False)}
    for name in card.task.display_columns:
        if name in columns:
            label = name.replace("_", " ").capitalize()
            orders |= {f"{label}, high to low": (name, True), f"{label}, low to high": (name, False)}
    return orders


@careful
def _first_page() -> None:
    session.forget(session.PREDICTION_PAGE)


def _segment_filter(card: ModelCard) -> str:
    apart = card.task.apart
    if apart is None:
        return "all"
    names = {"all": "All", "ranked": "Ranked", "apart": apart.label[:1].upper() + apart.label[1:]}
    return st.segmented_control(
        "Segment",
        list(names),
        key=session.PREDICTION_SEGMENT,
        default="all",
        required=True,
        label_visibility="collapsed",
        format_func=lambda s: f":gray[{plain(names[s], 30)}]",
        on_change=_first_page,
    )


_SCORED = {"out_of_fold": "out of fold", "in_sample": "in sample"}


def _page(
    card: ModelCard, predictions_id: str, rows: pd.DataFrame, number: int, decided: dict[str, str]
) -> None:
    if not len(rows):
        st.info("No row matches. Clear the search or choose another segment.", icon=":material/search_off:")
        return
    entity = card.task.entity_column
    noun = card.task.entity_label.capitalize()
    shown = pd.DataFrame({"Rank": rows["rank"].astype(int).to_list(), noun: [tables.as_id(v) for v in rows[entity]]})
    _scores(card, rows, shown)
    shown["Rank band"] = [figures.span(a, b, 0) for a, b in zip(rows["rank_low"], rows["rank_high"], strict=True)]
    if card.task.apart is not None:
        shown["Segment"] = [_segment_name(card, s) for s in rows["segment"]]
    for name in card.task.display_columns:
        if name in rows.columns and name != entity:
            shown[name.replace("_", " ").capitalize()] = rows[name].to_list()
    shown["Scored"] = [_SCORED.get(s, "by the model") for s in rows["scored"]]
    if decided:
        shown["Decided"] = [decided.get(tables.as_id(v) or "", "") for v in rows[entity]]
    shown = tables.presentable(shown)
    settings: dict[str, Any] = {
        "Rank": st.column_config.NumberColumn("Rank", width=60),
        "Probability": tables.probability_column(width=190),
        "Band": st.column_config.TextColumn("80% band", width=110),
        "Interval": st.column_config.TextColumn(_level(card), width=170),
        "Rank band": st.column_config.TextColumn("80% ranks", width=95),
    }
    event = st.dataframe(
        shown,
        hide_index=True,
        key=session.wkey("predictions", predictions_id, number),
        on_select="rerun",
        selection_mode="single-row",
        column_config=tables.columns(shown) | settings,
        height=tables.height(len(shown)),
        alt=f"Predictions of {flat(card.name)}, page {number}",
    )
    if event.selection.rows:
        case = tables.as_id(rows[entity].iloc[event.selection.rows[0]])
        st.switch_page(page("explorer").path, query_params={"model": card.id, "case": case or ""})


def _level(card: ModelCard) -> str:
    return f"{card.conformal.level:.0%} interval" if card.conformal else "Interval"


def _scores(card: ModelCard, rows: pd.DataFrame, shown: pd.DataFrame) -> None:
    """What the model says of each row, as its kind of outcome has it."""
    kind = card.task.kind
    if kind == "regression":
        amounts = [float(v) for v in rows["prediction"].to_list()]
        digits = 0 if max((abs(v) for v in amounts), default=0.0) >= 1000 else 2
        shown["Prediction"] = [figures.number(v, digits) for v in amounts]
        if "prediction_low" in rows.columns:
            ends = zip(rows["prediction_low"], rows["prediction_high"], strict=True)
            shown["Interval"] = [figures.span(a, b, digits) for a, b in ends]
        return
    if kind == "multiclass":
        shown["Says"] = rows["prediction"].astype(str).to_list()
    shown["Probability"] = rows["probability"].to_list()
    if kind == "binary":
        shown["Flagged"] = ["yes" if v is not None and float(v) >= 1 else "" for v in rows["prediction"].to_list()]
    ends = zip(rows["probability_low"], rows["probability_high"], strict=True)
    shown["Band"] = [figures.span(a, b) for a, b in ends]


def _segment_name(card: ModelCard, segment: str) -> str:
    return card.task.apart.label if segment == "apart" and card.task.apart else "ranked"


def _pager(rows: pd.DataFrame, total: int, number: int, order: str, noun: str) -> None:
    pages = max(1, -(-total // PAGE_ROWS))
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        first = (number - 1) * PAGE_ROWS + 1
        span = (
            f"Rows {figures.count(first)} to {figures.count(first + len(rows) - 1)} of {figures.count(total)}"
            if len(rows)
            else "No rows"
        )
        st.caption(f"{span}, {order.lower()}. Select a row to open the {noun} in the explorer.")
        if pages > 1:
            st.pagination(pages, key=session.PREDICTION_PAGE)
