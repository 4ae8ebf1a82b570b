"""The chat page's pieces: conversations, the thread, the live turn and the box.

Asking only starts a run; whoever has the page open draws it by draining its events. Leaving the page, a reload and
Streamlit's own Stop end the drawing and nothing else; the Stop button here ends the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import streamlit as st

from components import answer, asking, builder, figures, help_panel, ledger, made, problems, scroll, session
from components.asking import CONVERSATION, open_conversation
from components.safe import plain
from components.timeline import LiveTurn, replay
from components.turn import TurnView, fold
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import NotFound
from lexsi_ds.ids import is_id
from lexsi_ds.services.access import Actor

SEARCHED_FROM = 5
"""Conversations from which on a search stands above the list."""
OPEN_TURNS = 4
"""The newest turns keep their result cards open; older ones fold them away so that a long thread draws fast."""


def current(app: Application, actor: Actor) -> str | None:
    """The conversation of the address, else the one this tab had open. An unknown id is said and dropped."""
    wanted = st.query_params.get(CONVERSATION) or session.held().conversation_id
    if not wanted:
        return None
    try:
        if not is_id(wanted, "conv"):
            raise NotFound("This link does not lead to a conversation.")
        app.chats.get(actor, wanted)
    except NotFound:
        open_conversation(None)
        st.warning(
            "**This conversation is not there.** It was deleted, or the link is not whole. Start a new one below.",
            icon=":material/link_off:",
        )
        return None
    if st.query_params.get(CONVERSATION) != wanted:
        st.query_params[CONVERSATION] = wanted
    session.held().conversation_id = wanted
    return wanted


def found(app: Application, actor: Actor, every: Sequence[Any]) -> Sequence[Any]:
    """The conversations that the search asks for; all without one."""
    wanted = str(session.read(session.CHAT_SEARCH) or "").strip()
    return app.chats.search(actor, wanted) if wanted else every


def conversation_list(conversations: Sequence[Any], current_id: str | None) -> None:
    """The list at the left; the open one is bold."""
    st.button(
        "New conversation",
        icon=":material/add:",
        key="chat-new",
        width="stretch",
        on_click=asking.on_open,
        args=(None,),
    )
    group = None
    if len(conversations) > SEARCHED_FROM or session.read(session.CHAT_SEARCH):
        st.text_input(
            "Search conversations", key=session.CHAT_SEARCH, placeholder="Search", label_visibility="collapsed",
            icon=":material/search:", persist_state="session",
        )  # fmt: skip
        if not conversations:
            st.caption("No conversation has these words.")
    with st.container(gap="xxsmall"):
        for c in conversations[:40]:
            heading = _when(c.updated_at)
            if heading != group:
                st.caption(heading)
                group = heading
            title = plain(c.title or "Untitled", 60)
            st.button(
                f"**{title}**" if c.id == current_id else title,
                key=session.wkey("chat", c.id, "open"),
                type="tertiary",
                on_click=asking.on_open,
                args=(c.id,),
                wrap=False,
            )
    if len(conversations) > 40:
        st.caption(f"Showing 40 of {figures.count(len(conversations))}")


def menu(app: Application, actor: Actor, conversation_id: str, title: str) -> None:
    """Rename or delete the open conversation."""
    with st.popover("", icon=":material/more_horiz:", type="tertiary", help="Rename or delete", key="chat-menu"):
        key = session.wkey("chat", conversation_id, "title")
        st.text_input(
            "Title", value=title, key=key, max_chars=120, on_change=asking.on_rename, args=(app, actor, conversation_id)
        )
        st.button(
            "Delete conversation",
            key=session.wkey("chat", conversation_id, "delete"),
            type="tertiary",
            icon=":material/delete:",
            on_click=asking.on_delete,
            args=(app, actor, conversation_id),
        )


def welcome(app: Application, actor: Actor, handle: DatasetHandle, conversation_id: str | None) -> None:
    """An empty thread teaches: what can be asked, with questions made for this source."""
    st.markdown(
        f":gray[Ask about {plain(handle.name)} in plain words. Each answer shows its steps, the SQL it ran and how it read you. "
        "Words it does not understand are named, not guessed.]"
    )
    with st.container(border=True, gap="xxsmall"):
        for i, question in enumerate(app.suggestions(handle)):
            st.button(
                plain(question),
                key=session.wkey("welcome", i),
                type="tertiary",
                icon=":material/north_east:",
                wrap=True,
                on_click=asking.on_retry,
                args=(app, actor, handle.source_id, conversation_id, question),
            )


def tools(app: Application, actor: Actor, handle: DatasetHandle, conversation_id: str | None, *, quiet: bool) -> None:
    """Above the box: the help and the query builder, each opening where it stands. ``quiet`` under a thread."""
    with st.container(horizontal=True, gap="small"):
        build_button(app, handle, "tertiary" if quiet else "secondary")
        help_panel.button("tertiary" if quiet else "secondary")
    builder.panel(app, actor, handle, conversation_id, builder.NEW)
    help_panel.panel(app, actor, handle, conversation_id)


def build_button(app: Application, handle: DatasetHandle, type_: Literal["secondary", "tertiary"]) -> None:
    """Opens an empty query builder."""
    st.button(
        "Build a question",
        icon=":material/tune:",
        type=type_,
        key="chat-build",
        on_click=builder.on_open,
        args=(app, handle, builder.NEW, None),
    )


def _when(moment: Any) -> str:
    past = figures.ago(moment)
    if "day" not in past:
        return "Today"
    return "Last week" if int(past.split()[0]) < 7 else "Earlier"


def thread(
    app: Application, actor: Actor, handle: DatasetHandle, conversation_id: str, turns: Sequence[Any]
) -> TurnView | None:
    """All turns that are over, and the question of a live one. Returns the view of the live turn, still to be drawn."""
    live = None
    rated = app.feedback.of_runs(actor, [turn.run_id for turn in turns[-OPEN_TURNS:]])
    for i, turn in enumerate(turns):
        if i == len(turns) - 1 and i:
            scroll.bring_into_view(session.wkey("chat", "newest", turn.run_id))
        with st.chat_message("user", avatar=":material/person:"):
            st.markdown(plain(turn.question, 5000))
        view = fold(turn.run_id, turn.question, turn.events)
        if not view.over and turn.state in ("queued", "running"):
            live = TurnView(turn.run_id, turn.question)
            continue
        with st.chat_message("assistant", avatar=":material/insights:"), problems.guarded("This turn"):
            replay(view, lambda artifact_id: app.chats.artifact(actor, artifact_id))
            ledger.what_the_model_saw(app, actor, view)
            made.how(app, actor, view)
            age = len(turns) - i
            source_id = turn.source_id or handle.source_id
            view.given, view.view = turn.given, turn.view
            answer.draw(
                app, actor, source_id, conversation_id, view, newest=age == 1, unfolded=age <= OPEN_TURNS,
                rated=rated.get(turn.run_id),
            )  # fmt: skip
    return live


@st.fragment(run_every=1.0)
def live_turn(app: Application, actor: Actor, run_id: str, question: str) -> None:
    """Draws a run while it goes, in whatever tab. ``run_every`` only repairs a drain that was cut short."""
    drawn = LiveTurn(TurnView(run_id, question), lambda artifact_id: app.chats.artifact(actor, artifact_id))
    beat = st.empty()
    while not drawn.view.over:
        batch = app.chats.events(actor, run_id, after=drawn.view.seq, wait=0.25)
        drawn.feed(batch)
        if not batch:
            beat.empty()
    st.rerun()


def box(
    app: Application, actor: Actor, handle: DatasetHandle, conversation_id: str | None, live: TurnView | None
) -> None:
    """The input, and Stop beside it while a run goes."""
    problems.draw_notices()
    mine = session.held()
    if mine.kept_question is not None:
        session.put(session.ASK, mine.kept_question)
        mine.kept_question = None
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.chat_input(
            f"Ask about {handle.name}",
            key=session.ASK,
            on_submit=asking.on_ask,
            args=(app, actor, handle.source_id, conversation_id),
        )
        if live:
            st.button(
                "Stop",
                key=session.wkey("chat", "stop", live.run_id),
                icon=":material/stop_circle:",
                on_click=asking.on_stop,
                args=(app, actor, live.run_id),
            )
