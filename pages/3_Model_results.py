"""Model results: the task, figures with intervals beside the baseline's, predictions, features, the card."""

from __future__ import annotations

import streamlit as st

from components import model, model_figures, model_tabs, train_form
from components.empty import first_start, not_found, teach
from components.frame import bootstrap
from components.problems import guarded
from components.registry import page
from components.safe import plain

frame = bootstrap("models")
app, actor, handle = frame.app, frame.actor, frame.handle

with guarded("Model results"):
    card = model.current(app, actor, handle.source_id if handle else None)
    if card is None:
        st.title("Model results", anchor=False)
        st.caption(frame.page.purpose)
        if model.wanted():
            not_found("This model is not there.", "It was deleted, or the link is not whole.")
        if not first_start(frame):
            with st.container(horizontal=True):
                train_form.button(app)
            train_form.draw(app, actor, handle)
            model.elsewhere(app, actor)
            teach(
                frame,
                "How good is a model, and who does it point at?",
                "It needs a model. Train one here on a table, or ask in Chat which rows are likely to have an outcome; "
                "the model opens here.",
                "Ask for a prediction",
                "chat",
            )
        st.stop()
    head, actions = st.columns([1.3, 2], vertical_alignment="bottom")
    with head:
        st.title(plain(card.task.title), anchor=False)
    with actions, st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
        model.picker(app, actor, card)
        train_form.button(app)
        if st.button("Open in explorer", icon=page("explorer").icon, key="models-explore"):
            st.switch_page(page("explorer").path, query_params={"model": card.id})
    train_form.draw(app, actor, handle)
    entry = model.entry(app, actor, card)
    model.header(card, entry, model.newest_version(app, actor, card, handle))
    model_figures.headlines(card)
    model_figures.metric_row(card)
    model_tabs.draw(app, actor, card, entry)
