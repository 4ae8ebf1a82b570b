"""The callbacks that start, stop, open and rename: everything a click of the chat page does.

The run exists before the page is drawn again, and the conversation stands in the address before anything can start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from components import remembered, session
from components.problems import careful
from lexsi_ds.application import Application
from lexsi_ds.errors import BadInput, Busy
from lexsi_ds.services.access import Actor

CONVERSATION = "conversation"
"""Name of the query parameter."""


def start(
    app: Application,
    actor: Actor,
    source_id: str,
    conversation_id: str | None,
    question: str,
    given: dict[str, Any] | None = None,
) -> str | None:
    """Ask; a question that cannot start is kept for the box. ``given`` was built or edited by point and click and goes with its
    words. Returns the conversation's id."""
    question = question.strip()
    if not question:
        return conversation_id
    mine = session.held()
    try:
        conversation_id = conversation_id or app.chats.new(actor, source_id)
        open_conversation(conversation_id)
        app.chats.ask(actor, conversation_id, question, source_id, given=given)
    except (Busy, BadInput):
        mine.kept_question = None if given else question
        raise
    mine.builder = mine.editing_task = None
    return conversation_id


def open_conversation(conversation_id: str | None) -> None:
    """Show this conversation, here and after a reload; None is a new one."""
    mine = session.held()
    mine.conversation_id, mine.proposing_run = conversation_id, None
    mine.builder = mine.editing_task = None
    if conversation_id:
        st.query_params[CONVERSATION] = conversation_id
    elif CONVERSATION in st.query_params:
        del st.query_params[CONVERSATION]


@careful
def on_ask(app: Application, actor: Actor, source_id: str, conversation_id: str | None) -> None:
    """The box was sent."""
    start(app, actor, source_id, conversation_id, str(session.read(session.ASK) or ""))


@careful
def on_chip(app: Application, actor: Actor, source_id: str, conversation_id: str | None, key: str) -> None:
    """A follow-up or an option was chosen."""
    start(app, actor, source_id, conversation_id, str(session.read(key) or ""))


@careful
def on_option(
    app: Application, actor: Actor, source_id: str, conversation_id: str | None, key: str,
    run_id: str, options: Sequence[str], learns: Sequence[Mapping[str, str]],
) -> None:
    """An answer to a question back was chosen: what it teaches is kept, then it is asked.

    A browser may send the choice again when the chips have gone meanwhile (a part of the page that redraws itself does); each
    turn is answered once.
    """
    choice, mine = str(session.read(key) or ""), session.held()
    if not choice or run_id in mine.answered:
        return
    taught = remembered.chosen(options, learns, choice)
    if taught is not None:
        remembered.keep(app, actor, source_id, taught, run_id)
    start(app, actor, source_id, conversation_id, choice)
    mine.answered.add(run_id)


@careful
def on_retry(
    app: Application,
    actor: Actor,
    source_id: str,
    conversation_id: str | None,
    question: str,
    given: dict[str, Any] | None = None,
) -> None:
    """Ask these words: the same again, with what was given then, or an example."""
    start(app, actor, source_id, conversation_id, question, given)


@careful
def on_stop(app: Application, actor: Actor, run_id: str) -> None:
    """End the run itself."""
    app.chats.stop(actor, run_id)


@careful
def on_open(conversation_id: str | None) -> None:
    """A conversation of the list, or a new one."""
    open_conversation(conversation_id)


@careful
def on_delete(app: Application, actor: Actor, conversation_id: str) -> None:
    """Remove a conversation from the list."""
    app.chats.delete(actor, conversation_id)
    open_conversation(None)


@careful
def on_rename(app: Application, actor: Actor, conversation_id: str) -> None:
    """Give a conversation another title."""
    title = str(session.read(session.wkey("chat", conversation_id, "title")) or "").strip()
    if title:
        app.chats.rename(actor, conversation_id, title[:120])
