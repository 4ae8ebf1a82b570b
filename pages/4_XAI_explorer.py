"""XAI explorer: what moves the model, one case in full, cases like it. Everything is read from explanations on disk."""

from __future__ import annotations

import streamlit as st

from components import explorer, model
from components.charts import TALL
from components.empty import first_start, not_found, teach
from components.frame import bootstrap
from components.problems import guarded
from components.safe import plain, safe_md
from lexsi_ds.errors import NotFound

frame = bootstrap("explorer")
app, actor, handle = frame.app, frame.actor, frame.handle

with guarded("XAI explorer"):
    card = model.current(app, actor, handle.source_id if handle else None)
    if card is None:
        st.title("XAI explorer", anchor=False)
        st.caption(frame.page.purpose)
        if model.wanted():
            not_found("This model is not there.", "It was deleted, or the link is not whole.")
        if not first_start(frame):
            teach(
                frame,
                "Why does the model say so?",
                "It needs a model with predictions. Ask in Chat which rows are likely to have an outcome, and why.",
                "Ask for a prediction",
                "chat",
            )
        st.stop()
    head, actions = st.columns([1.4, 2], vertical_alignment="bottom")
    with head:
        st.title("XAI explorer", anchor=False)
    with actions, st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
        model.picker(app, actor, card)
        scale = explorer.scale_switch()
    st.caption(
        f"{plain(card.name)}, {plain(card.task.title)}, data version {card.snapshot_number}. "
        "A contribution goes with the score; it is not a cause."
    )
    cases = explorer.cases_by_risk(app, actor, card, st.query_params.get("case"))
    case_id, case = st.query_params.get("case") or cases.first, None
    left, right = st.columns(2, gap="medium")
    with right, guarded("The case"), st.skeleton(height=TALL + 130):
        try:
            case = app.case_explanation(actor, card.id, case_id, scale=scale) if case_id else None
        except NotFound:
            case = None
        if case is None:
            explorer.no_case(cases, case_id, card)
        else:
            explorer.one_case(case, card, cases)
    with left, guarded("What moves the model"), st.skeleton(height=TALL + 130):
        explorer.overall(app.overall_explanation(actor, card.id, scale=scale), card)
    if case is not None:
        if case.summary:
            st.markdown(safe_md(case.summary))
        values, similar = st.columns(2, gap="medium")
        with values:
            explorer.values_table(case, card)
        with similar, guarded("Similar cases"):
            explorer.similar_table(app.similar_cases(actor, card.id, case.case_id), card, case.case_id)
