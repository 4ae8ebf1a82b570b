"""The tabs of Model results: which ones a kind of model has, and what each draws. Only the open tab is drawn."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from components import (
    decision,
    fairness,
    model,
    model_credit,
    model_performance,
    model_rows,
    predictions,
    registry_compare,
    registry_panel,
    session,
)
from components.problems import guarded
from lexsi_ds.application import Application
from lexsi_ds.models.card import ModelCard
from lexsi_ds.services.access import Actor
from lexsi_ds.services.model_entry import Entry

Draw = Callable[[], None]


def draw(app: Application, actor: Actor, card: ModelCard, entry: Entry | None) -> None:
    """The tabs, the open one with its content."""
    parts = tabs(app, actor, card, entry)
    opened = st.tabs(list(parts), key=session.MODEL_TAB, on_change="rerun")
    for (name, content), tab in zip(parts.items(), opened, strict=True):
        if tab.open:
            with tab, guarded(name):
                content()


def tabs(app: Application, actor: Actor, card: ModelCard, entry: Entry | None) -> dict[str, Draw]:
    """Name of each tab -> what it draws, in order."""
    local = card.engine == "local"
    parts: dict[str, Draw] = {"Performance": lambda: model_performance.draw(app, actor, card)}
    if card.task.kind == "binary" and local:
        parts["Decision"] = lambda: _decide(app, actor, card, entry)
    parts["Predictions"] = lambda: predictions.draw(app, actor, card)
    if local:
        parts["New data"] = lambda: model_rows.draw(app, actor, card)
    parts["Features"] = lambda: model.features(card)
    if local:
        parts["Fairness"] = lambda: fairness.draw(app, actor, card, entry)
    parts["Model card"] = lambda: _card(app, actor, card, entry)
    return parts


def _card(app: Application, actor: Actor, card: ModelCard, entry: Entry | None) -> None:
    with guarded("The registry"):
        registry_panel.draw(app, actor, card, entry)
    with guarded("The comparison"):
        registry_compare.compare(app, actor, card)
    with guarded("The downloads"):
        registry_compare.downloads(app, actor, card)
    model.document(card)


def _decide(app: Application, actor: Actor, card: ModelCard, entry: Entry | None) -> None:
    decision.draw(app, actor, card, entry)
    with guarded("The credit tables"):
        model_credit.draw(card)
