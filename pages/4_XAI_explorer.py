"""XAI explorer: what moves the model over a cohort, one case in full, what if, and cases like it. Nothing is computed here."""

from __future__ import annotations

import streamlit as st

from components import (
    explain_cases,
    explain_cohort,
    explain_counterfactuals,
    explain_features,
    explain_global,
    explain_state,
    explain_what_if,
    explain_work,
    explorer,
    model,
)
from components.charts import TALL
from components.empty import first_start, not_found, teach
from components.explain_asked import Asking
from components.frame import bootstrap
from components.problems import guarded
from components.safe import plain, safe_md

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
            model.elsewhere(app, actor)
            teach(
                frame,
                "Why does the model say so?",
                "It needs a model with predictions. Ask in Chat which rows are likely to have an outcome, and why.",
                "Ask for a prediction",
                "chat",
            )
        st.stop()
    head, actions = st.columns([1, 2.4], vertical_alignment="bottom")
    with head:
        st.title("XAI explorer", anchor=False)
    with actions, st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
        model.picker(app, actor, card)
        output = explorer.class_picker(card)
        scale = explorer.scale_switch(card)
    st.caption(
        f"{plain(card.name)}, {plain(card.task.title)}, data version {card.snapshot_number}. "
        "A contribution goes with the score; it is not a cause."
    )
    latest = app.models.latest_predictions(actor, card.id)
    mine = explain_state.state(card)
    asking = Asking(app, actor, card, mine, scale, output, latest.id if latest else None)
    cohort, total = st.container(), latest.rows if latest else card.rows
    late = False
    if asking.local:
        explain_cohort.settle(app, actor, mine, asking.predictions_id)
        with cohort, st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            cohort = st.container()
            with st.container(horizontal=True, width="content", gap="small", vertical_alignment="center"):
                explain_features.definitions(asking)
                explain_features.contributions(asking)
        late = mine.cohort is not None and asking.there("overall") is None
        if not late:
            with cohort:
                explain_cohort.of(asking, total)
    left, right = st.columns(2, gap="medium")
    case = None
    with right, guarded("The case"):
        wanted = st.query_params.get("case")
        cases = explain_cases.cases(asking, wanted)
        case_id = wanted or cases.first
        found = explorer.explained(asking, case_id, cases) if case_id else ""
        if found:
            case = found
            explorer.one_case(asking, case, cases)
        elif found == "":
            explorer.no_case(asking, cases, case_id)
    with left, guarded("What moves the model"):
        if asking.local:
            explain_global.card(asking)
            if late:
                with cohort:  # how many rows meet the filters is known once the charts are there
                    explain_cohort.of(asking, total)
        else:
            explained = explain_work.view(
                app, actor, (*asking.mark, "elsewhere"), "What moves the model",
                lambda cancel, tell: app.overall_explanation(actor, asking.card.id, scale=scale), height=TALL,
            )  # fmt: skip
            if explained is not None:
                explain_global.elsewhere(explained, asking)
    if case is not None:
        if case.summary:
            st.markdown(safe_md(case.summary))
        values, others = st.columns(2, gap="medium")
        with values:
            if asking.local:
                with guarded("What if"):
                    explain_what_if.card(asking, case)
            explorer.values_table(asking, case)
        with others:
            if asking.local:
                with guarded("What would have to be different"):
                    explain_counterfactuals.card(asking, case)
            with guarded("Similar cases"):
                near = explorer.similar(asking, case.case_id)
                if near is not None:
                    explorer.similar_table(asking, near, case.case_id)
