"""What can I ask? The forms of a question, with examples made for the active source; each is one click."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from components import asking, problems, session, tables
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.services.access import Actor


def button(type_: Literal["secondary", "tertiary"]) -> None:
    """Opens and closes the panel."""
    st.button("What can I ask?", icon=":material/help:", type=type_, key="chat-help", on_click=_toggle)


def _toggle() -> None:
    mine = session.held()
    mine.help_open = not mine.help_open


def panel(app: Application, actor: Actor, handle: DatasetHandle, conversation_id: str | None) -> None:
    """The open panel."""
    if not session.held().help_open:
        return
    with st.container(border=True, gap="xsmall", key="chat-help-panel"), problems.guarded("The help"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            tables.card_head("What can I ask?", f"examples made for {handle.name}, each is understood")
            st.button("", icon=":material/close:", type="tertiary", help="Close", key="chat-help-close", on_click=_toggle)
        with st.spinner("Reading examples for this data set", show_time=False):
            found = app.forms(handle)
        for i, form in enumerate(found):
            left, right = st.columns([2, 3], gap="medium")
            with left:
                st.markdown(f"**{plain(form.title)}**  \n:gray[{plain(form.pattern)}]")
            with right, st.container(gap="xxsmall"):
                for j, question in enumerate(form.examples):
                    st.button(
                        plain(question, 160),
                        key=session.wkey("chat", "help", i, j),
                        type="tertiary",
                        icon=":material/north_east:",
                        wrap=True,
                        on_click=_ask,
                        args=(app, actor, handle.source_id, conversation_id, question),
                    )
        st.caption(
            "ROWS, COLUMN and VALUE stand for names of your data, in your words. A word that means nothing here is named, "
            "never guessed."
        )


@problems.careful
def _ask(app: Application, actor: Actor, source_id: str, conversation_id: str | None, question: str) -> None:
    session.held().help_open = False
    asking.start(app, actor, source_id, conversation_id, question)
