"""A connector on its way in, as a tab remembers it. Must never: hold a secret."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from components import session
from components.frame import progress_of
from components.problems import careful
from lexsi_ds.application import Application
from lexsi_ds.services.access import Actor


@dataclass
class ConnectorWizard:
    """A connector on its way in. Nothing in it is secret."""

    kind: str
    connector_id: str | None = None
    kept: dict[str, Any] = field(default_factory=dict)
    """The open fields of the form as they were sent, for when it is shown again: a form that is hidden forgets."""
    task_id: str | None = None
    """The test, or the listing, that is at work."""
    looked: tuple[str, ...] = ()
    """The files that the look at work, or the last one, is about."""
    picked: list[tuple[str | None, str]] = field(default_factory=list)
    marked: set[tuple[str | None, str]] = field(default_factory=set)
    """Tables that are ticked, also those that the search hides now."""
    ticked: tuple[str, frozenset[tuple[str | None, str]]] | None = None
    """The search that is shown, and what was ticked when it began."""
    loading: bool = False
    round: int = 0
    """Part of the password fields' keys: a new one is an empty field."""


@careful
def begin(kind: str, connector_id: str | None = None) -> None:
    """Open the form of a kind, or the tables of a connector that is there."""
    session.held().wizard = ConnectorWizard(kind, connector_id)


@careful
def leave() -> None:
    """Back to the first step."""
    session.held().wizard = None


@st.fragment(run_every=0.4)
def waiting(app: Application, actor: Actor, task_id: str) -> None:
    """The bar of a test or a listing at work."""
    task = app.background.get(task_id)
    if task is None or task.state != "running":
        st.rerun()
    progress_of(app, actor, task, "connector")
