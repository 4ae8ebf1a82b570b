"""The history of a finding: who did what, through which door, and each change as before and after."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import streamlit as st

from components import figures
from components.safe import plain
from components.sql_text import pretty
from lexsi_ds.application import Application
from lexsi_ds.services.access import Actor
from lexsi_ds.services.finding import Finding

ACTIONS = {
    "proposed": "proposed it", "accepted": "accepted it", "rejected": "rejected it", "undone": "took the decision back",
    "edited": "edited it", "retitled": "gave it another title", "retired": "retired it", "restored": "restored it",
    "checked": "ran the check", "flagged": "changed what it depends on", "suggested": "suggested a decision",
}
_CONTENT = {
    "title": "Title", "statement": "Sentence", "columns": "Columns", "check_sql": "Check", "depends_on": "Depends on",
    "band": "Band", "verdict": "Verdict",
}
_LONGEST = 12
"""Steps that are shown at once; the others by a button."""


def draw(app: Application, actor: Actor, finding: Finding) -> None:
    """The steps, newest first."""
    steps = list(reversed(app.findings.history(actor, finding.id)))
    whole = len(steps) <= _LONGEST or st.toggle(f"All {len(steps)} steps", key=f"finding-{finding.id}-steps")
    shown = steps if whole else steps[:_LONGEST]
    titles = app.findings.titles(actor, _named(shown))
    for step in shown:
        _step(step, titles)


def _named(steps: Sequence[Any]) -> set[str]:
    """Ids of findings that the steps speak of."""
    return {i for step in steps for side in (step.before, step.after) for i in (side.get("depends_on") or ())}


def _step(step: Any, titles: dict[str, str]) -> None:
    did = ACTIONS.get(step.action, step.action.replace("_", " "))
    when = figures.ago(step.at)
    st.markdown(f"**{plain(step.person_name)}** {plain(did)} :gray[{when}, through {plain(_door(step.via))}]")
    if step.note:
        st.text(step.note)
    if step.action in ("proposed", "checked") and not _content(step):
        return
    for name, label in _CONTENT.items():
        before, after = step.before.get(name), step.after.get(name)
        if step.action == "proposed" or (name not in step.before and name not in step.after) or before == after:
            continue
        _change(label, _worded(name, before, titles), _worded(name, after, titles), code=name == "check_sql")


def _content(step: Any) -> bool:
    return bool(set(_CONTENT) & set(step.before) & set(step.after))


def _door(via: str) -> str:
    return {"ui": "this page", "chat": "the chat", "user": "this page", "agent": "the chat", "refresh": "a refresh",
            "dependency": "a dependency", "file": "a file", "cli": "the command line"}.get(via, via)


def _worded(name: str, value: Any, titles: dict[str, str]) -> str:
    if value in (None, "", [], ()):
        return "none"
    if name == "depends_on":
        return ", ".join(titles.get(i, "a finding that is not there") for i in value)
    if name == "columns":
        return ", ".join(value)
    if name == "check_sql":
        return pretty(str(value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value)


def _change(label: str, before: str, after: str, *, code: bool) -> None:
    st.caption(label)
    left, right = st.columns(2, gap="small")
    for column, text, word in ((left, before, "Before"), (right, after, "After")):
        with column:
            st.caption(word)
            if code and text != "none":
                st.code(text, language="sql", wrap_lines=True)
            else:
                st.text(text)
