"""Chat: conversations at the left, the thread in the middle, the box at the bottom. A live turn is drawn last."""

from __future__ import annotations

import streamlit as st

from components import chat, session
from components.empty import first_start
from components.frame import bootstrap
from components.problems import draw_notices, guarded
from components.safe import plain

SPLIT = [1, 3.9]

frame = bootstrap("chat")
app, actor, handle = frame.app, frame.actor, frame.handle

if handle is None:
    st.title("Chat", anchor=False)
    st.caption("Ask in plain words; every answer opens into its steps, SQL and rows. It needs data first.")
    draw_notices()
    with guarded("Chat"):
        first_start(frame)
    st.stop()

with guarded("Chat"):
    conversation_id = chat.current(app, actor)
    turns = app.chats.turns(actor, conversation_id) if conversation_id else []
    conversations = app.chats.list(actor)
    left, middle = st.columns(SPLIT, gap="medium")
    with left:
        chat.conversation_list(chat.found(app, actor, conversations), conversation_id)
    with middle:
        title = next((c.title for c in conversations if c.id == conversation_id), "") or "New conversation"
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.title(plain(title, 90), anchor=False)
            if conversation_id:
                chat.menu(app, actor, conversation_id, title)
        greeting = st.empty()  # always drawn, so that a first question takes the greeting away at once
        if not turns:
            with greeting.container(), guarded("The examples"):
                chat.welcome(app, actor, handle, conversation_id)
        live = chat.thread(app, actor, handle, conversation_id, turns) if conversation_id else None
        place = st.container()
        if not live:
            chat.tools(app, actor, handle, conversation_id, quiet=bool(turns))
    with st.bottom, st.columns(SPLIT, gap="medium")[1]:
        chat.box(app, actor, handle, conversation_id, live)
    if live:
        with place, st.chat_message("assistant", avatar=":material/insights:"), guarded("The live turn"):
            chat.live_turn(app, actor, live.run_id, live.question)
    session.held().conversation_id = conversation_id
