"""Home on screen: the path with its present state, questions made for this source, what was asked, what waits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from components import asking, figures, findings, session
from components.frame import Frame
from components.problems import careful
from components.registry import PageKey, page
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.models.card import ModelCard
from lexsi_ds.services.access import Actor
from lexsi_ds.services.finding import Finding


def path(frame: Frame, latest: ModelCard | None, conversations: Sequence[Any], counts: dict[Any, int]) -> None:
    """Four cards: where each step of the path stands."""
    handle = frame.handle
    ready = (
        ("Ready", "green", f"{figures.counted(len(handle.tables), 'table')}, {figures.count(handle.rows)} rows")
        if handle
        else ("Nothing yet", "gray", "No source")
    )
    asked = (
        ("In use", "blue", figures.counted(len(conversations), "conversation"))
        if conversations
        else ("Not started", "gray", "Ask in plain words")
    )
    with st.grid(4, min_column_width=200):
        _card("connect", "Connect", *ready, "Open data")
        _card("chat", "Ask", *asked, "Ask a question")
        _card("models", "Predict and explain", *_model_state(latest), "Open results")
        _card("findings", "Review", *_review_state(counts), "Review findings")


def _card(key: PageKey, title: str, badge: str, colour: str, line: str, link: str) -> None:
    info = page(key)
    with st.container(border=True, gap="xsmall", height="stretch"):
        st.markdown(f"{info.icon} **{title}**")
        st.markdown(f":{colour}-badge[{badge}]  \n:gray[{line}]")
        st.space("stretch")
        st.page_link(info.path, label=link, icon=":material/arrow_forward:", icon_position="right")


def _model_state(latest: ModelCard | None) -> tuple[str, str, str]:
    if latest is None:
        return "Not started", "gray", "Ask who is likely to be next"
    auc = latest.chosen.main
    name = latest.chosen.main_name.removeprefix("ROC ")
    return "Trained", "green", f"{plain(latest.task.title)}, {name} {figures.number(auc.value)} ({figures.interval(auc)})"


def _review_state(counts: dict[Any, int]) -> tuple[str, str, str]:
    waiting, flagged = counts.get("to_review", 0), counts.get("flagged", 0)
    if flagged or waiting:
        parts = [f"{figures.counted(waiting, 'finding')} to review"] if waiting else []
        return "Needs you", "yellow", ", ".join([*parts, *([f"{flagged} flagged"] if flagged else [])])
    accepted = counts.get("accepted", 0)
    return (
        ("Up to date", "green", f"{accepted} accepted")
        if accepted
        else ("Not started", "gray", "Propose what you find")
    )


@careful
def _ask_example(app: Application, actor: Actor, source_id: str, question: str) -> None:
    session.held().conversation_id = None
    asking.start(app, actor, source_id, None, question)
    session.held().go_to_chat = True


def examples(frame: Frame, questions: Sequence[str]) -> None:
    """Questions made for this source; one click asks."""
    assert frame.handle is not None
    st.subheader("Try one of these", anchor=False)
    with st.container(border=True, gap="xxsmall"):
        for i, question in enumerate(questions):
            st.button(
                plain(question),
                key=session.wkey("example", i),
                type="tertiary",
                icon=":material/north_east:",
                wrap=True,
                on_click=_ask_example,
                args=(frame.app, frame.actor, frame.handle.source_id, question),
            )
        if not questions:
            st.caption("No examples for this source; ask in Chat.")


def follow_example() -> None:
    """After an example was asked: go to the conversation that has started."""
    mine = session.held()
    if mine.go_to_chat:
        mine.go_to_chat = False
        st.switch_page(page("chat").path, query_params={asking.CONVERSATION: mine.conversation_id or ""})


def recent(conversations: Sequence[Any]) -> None:
    """The last conversations."""
    st.subheader("Recent conversations", anchor=False)
    with st.container(border=True, gap="xxsmall"):
        for c in conversations[:5]:
            st.page_link(
                page("chat").path,
                label=f"{plain(c.title or 'Untitled', 25)} :gray[{figures.ago(c.updated_at)}]",
                icon=":material/chat_bubble:",
                query_params={asking.CONVERSATION: c.id},
            )
        if not conversations:
            st.caption("None yet. What you ask is kept here.")


def waiting(wanted: Sequence[Finding], total: int) -> None:
    """Findings that want a look: flagged first."""
    st.subheader("Findings that want a look", anchor=False)
    with st.container(border=True, gap="small"):
        for finding in wanted[:4]:
            st.markdown(f"{findings.headline_text(finding)} {plain(finding.title, 120)}")
        if wanted:
            label = f"Review {figures.counted(total, 'finding')}"
            st.page_link(page("findings").path, label=label, icon=":material/arrow_forward:", icon_position="right")
        if not wanted:
            st.caption("None. Propose one from an answer in Chat.")
