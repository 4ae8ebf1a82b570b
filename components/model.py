"""Model results on screen: which model, its header, its features and its card. Draws a card; computes nothing."""

from __future__ import annotations

import contextlib
from typing import Any

import pandas as pd
import streamlit as st

from components import figures, session
from components.problems import careful
from components.safe import plain
from components.tasks import features_table, left_out_table
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import NotFound
from lexsi_ds.ids import is_id
from lexsi_ds.models.card import Interval, ModelCard, ShiftDriver
from lexsi_ds.services.access import Actor
from lexsi_ds.services.model_entry import WORDS, Entry

STATES: dict[str, tuple[str, Any]] = {
    "draft": ("edit_note", "gray"), "validated": ("fact_check", "blue"),
    "approved": ("verified", "green"), "retired": ("archive", "gray"),
}
"""Icon and colour of each state of the registry."""

def wanted() -> str | None:
    """The model that the address names."""
    return st.query_params.get("model")


def current(app: Application, actor: Actor, source_id: str | None) -> ModelCard | None:
    """The model of the address, else the one this tab had open, else the latest of the active source."""
    for model_id in (wanted(), None if wanted() else session.held().model_id):
        if model_id and is_id(model_id, "mdl"):
            with contextlib.suppress(NotFound):
                card = app.models.get(actor, model_id)
                session.held().model_id = card.id
                return card
        if wanted():
            return None
    return app.models.latest(actor, source_id) if source_id else None


def elsewhere(app: Application, actor: Actor) -> None:
    """Ways to the models of other data sets, where the active one has none."""
    others = app.models.list(actor)[:5]
    if not others:
        return
    with st.container(border=True, gap="small"):
        st.markdown("**Models of other data sets** :gray[newest first]")
        for card in others:
            st.button(
                f"{plain(card.name, 30)}, {plain(card.task.title, 50)}, {plain(card.source_name, 40)}", type="tertiary",
                icon=":material/model_training:", key=session.wkey("elsewhere", card.id), on_click=_open, args=(card.id,),
            )  # fmt: skip


@careful
def _open(model_id: str) -> None:
    st.query_params["model"] = model_id
    session.held().model_id = model_id


def newest_version(app: Application, actor: Actor, card: ModelCard, handle: DatasetHandle | None) -> int | None:
    """Number of the newest version of the model's source; None when that is not there any more."""
    if handle and handle.source_id == card.source_id:
        return handle.snapshot_number
    return next((s.snapshot_number for s in app.catalog.sources(actor) if s.id == card.source_id), None)


def entry(app: Application, actor: Actor, card: ModelCard) -> Entry | None:
    """Where the model stands in the registry; None for one that no person entered."""
    with contextlib.suppress(NotFound):
        return app.registry.entry(actor, card.id)
    return None


def header(card: ModelCard, entry: Entry | None, newest: int | None) -> None:
    """What the model predicts, where it stands, and on which data."""
    task = card.task
    target = plain(task.target_label[:1].upper() + task.target_label[1:])
    meaning = plain(task.positive_meaning)
    means = f"{target} means {meaning}" if task.kind == "binary" else f"Predicts {meaning}"
    st.markdown(f"{means}. Known: {plain(task.known_meaning)}. Unknown: {plain(task.unknown_meaning)}.")
    with st.container(horizontal=True, gap="xsmall"):
        if entry is not None:
            icon, colour = STATES[entry.state]
            st.badge(WORDS[entry.state], color=colour, icon=f":material/{icon}:")
        where = ", Lexsi platform" if card.engine == "lexsi" else ""
        st.badge(f"{plain(card.model_type)}, {plain(card.name)}{where}", color="gray", icon=":material/model_training:")
        st.badge(f"{plain(card.source_name)}, version {card.snapshot_number}", color="gray", icon=":material/dataset:")
        stale = entry.stale if entry is not None else None
        if stale is not None:
            said = f"Stale: {plain(', '.join(stale.tables[:3]), 60)} changed since version {stale.trained_on}"
            st.badge(said, color="yellow", icon=":material/history:")
        elif entry is None and newest and newest > card.snapshot_number:
            said = f"Stale: made from version {card.snapshot_number}, version {newest} is there"
            st.badge(said, color="yellow", icon=":material/history:")


def picker(app: Application, actor: Actor, card: ModelCard) -> None:
    """Which model, latest first. The list is read only when it is opened; the choice goes to the address."""
    chip = st.popover(plain(card.name, 30), icon=":material/model_training:", on_change="rerun", key="models-picker")
    if not chip.open:
        return
    with chip:
        listed = sorted(app.models.list(actor), key=lambda m: m.source_id != card.source_id)
        names = {m.id: f"{m.name}, {m.task.title}" for m in listed}
        captions = [
            f"{m.chosen.main_name.removeprefix('ROC ')} {figures.number(m.chosen.main.value)}, {figures.ago(m.created_at)}"
            + ("" if m.source_id == card.source_id else f", {plain(m.source_name, 40)}")
            for m in listed
        ]
        session.put(session.MODEL_PICK, card.id)
        st.radio(
            "Model",
            list(names),
            key=session.MODEL_PICK,
            format_func=lambda i: plain(names.get(i, i), 60),
            captions=captions,
            on_change=_pick,
        )


@careful
def _pick() -> None:
    st.query_params["model"] = session.read(session.MODEL_PICK)
    session.held().model_id = session.read(session.MODEL_PICK)
    session.forget(
        session.PREDICTION_SEARCH, session.PREDICTION_PAGE, session.PREDICTION_SEGMENT, session.PREDICTION_SORT,
        session.PREDICTION_SET, session.MODEL_TAB,
    )


def features(card: ModelCard) -> None:
    """Definitions, missing shares, how much each matters and whether scored rows differ in it; then what was left out."""
    known = "every one known before the cut-off" if card.task.cutoff_column else "no date proves when each was known"
    st.markdown(f"**Features** :gray[{len(card.features)}, {known}]")
    drops = {i.feature: i.drop for i in card.importance}
    fallen = (card.importance[0].figure if card.importance else "") or card.chosen.main_name
    units = any(f.feature.unit for f in card.features)
    drivers = {d.feature: d for d in card.comparability.drivers} if card.comparability else {}
    frame = pd.DataFrame(
        [
            {
                "Feature": f.feature.label,
                "Kind": f.feature.kind,
                "Missing": 100 * f.missing / card.rows if card.rows else 0.0,
                "Distinct": f.distinct,
                "Definition": f.feature.expression,
            }
            | ({"Unit": f.feature.unit or ""} if units else {})
            | ({f"{fallen} lost when shuffled": _drop(drops.get(f.feature.name))} if drops else {})
            | ({"Known against scored": _drift(drivers.get(f.feature.name))} if drivers else {})
            for f in card.features
        ]
    )
    features_table(frame, session.wkey("features", card.id))
    st.markdown(f"**Left out** :gray[{len(card.left_out)}, with the reason]")
    if card.left_out:
        left_out_table(card.left_out, session.wkey("left", card.id))
    else:
        st.caption("Nothing was left out.")


def _drop(drop: Interval | None) -> str:
    return "" if drop is None else f"{figures.number(drop.value, 3)} ({figures.interval(drop, 3)})"


def _drift(driver: ShiftDriver | None) -> str:
    return "" if driver is None else f"known {driver.known}, scored {driver.scored} (AUC {figures.number(driver.auc)})"


def document(card: ModelCard) -> None:
    """How it was made, and the card as JSON."""
    made = (
        f"Trained {figures.ago(card.created_at)} in {figures.seconds(card.seconds)}, seed {card.seed}, "
        f"data version {card.snapshot_number} of {plain(card.source_name)}."
    )
    st.caption(made + " " + ", ".join(f"{plain(k)} {plain(v)}" for k, v in card.versions.items()))
    for note in card.notes:
        st.caption(f":material/info: {plain(note, 400)}")
    with st.expander("The card as JSON", type="compact", key=session.wkey("json", card.id)):
        st.json(card.model_dump(mode="json", exclude={"candidates": {"__all__": {"roc", "calibration"}}}), expanded=1)
