"""A word that was just taught: kept when a person chooses what it means, said, and taken back with one click.

It is drawn under the first answer after it was taught. Must never: keep a question from being asked because no word could be kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from components import problems, session
from components.problems import careful
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.errors import LexsiError
from lexsi_ds.knowledge.model import LearnedWord
from lexsi_ds.services.access import Actor

_KEY = session.wkey("remembered", "words")


@dataclass
class Remembered:
    """A taught word of this tab. ``run_id`` is the answer it is shown under, once there is one."""

    word_id: str
    source_id: str
    words: str
    meaning: str
    after_run: str
    run_id: str | None = None


def keep(app: Application, actor: Actor, source_id: str, taught: Mapping[str, str], after_run: str) -> None:
    """Keep what a person chose: ``words``, and ``table``, ``column``, ``value`` or ``metric`` that they mean. Why it could not
    be kept is said; nothing is raised."""
    places = {name: str(taught.get(name) or "") for name in ("table", "column", "value", "metric")}
    try:
        word = app.semantics.learn(actor, source_id, str(taught.get("words") or ""), LearnedWord(id="", words="", **places))
    except LexsiError as error:
        session.notify("warning", f"The word was not remembered: {problems.sentence(error)}")
        return
    listed: list[Remembered] = session.read(_KEY) or []
    fresh = [r for r in listed if r.run_id is None and r.source_id == source_id]
    session.put(_KEY, [*fresh, Remembered(word.id, source_id, word.words, word.meaning, after_run)])
    session.notify("success", f"Remembered: {plain(word.words, 80)} means {plain(word.meaning, 120)}.")


def chosen(options: Sequence[str], learns: Sequence[Mapping[str, str]], choice: str) -> Mapping[str, str] | None:
    """What choosing this option teaches; None when it teaches nothing."""
    if len(learns) != len(options) or choice not in options:
        return None
    found = learns[options.index(choice)]
    return found if found.get("words") else None


def line(app: Application, actor: Actor, run_id: str) -> None:
    """What was remembered on the way to this answer, with Undo."""
    for each in session.read(_KEY) or []:
        if each.run_id is None and each.after_run != run_id:
            each.run_id = run_id
        if each.run_id != run_id:
            continue
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(f":material/bookmark_added: Remembered: **{plain(each.words, 80)}** means {plain(each.meaning, 120)}.")
            st.button(
                "Undo", type="tertiary", icon=":material/undo:", key=session.wkey("remembered", each.word_id),
                on_click=_undo, args=(app, actor, each.source_id, each.word_id, each.words),
            )  # fmt: skip


@careful
def _undo(app: Application, actor: Actor, source_id: str, word_id: str, words: str) -> None:
    app.semantics.forget(actor, source_id, word_id)
    session.put(_KEY, [r for r in session.read(_KEY) or [] if r.word_id != word_id])
    session.notify("success", f"Forgotten: {plain(words, 80)}.")
