"""What stands under a question once its run is over: state, words, reading, result cards, and what to ask next."""

from __future__ import annotations

from typing import Any

import streamlit as st

from components import (
    asking,
    builder,
    cards,
    document_cards,
    exports,
    problems,
    propose,
    remembered,
    result_card,
    session,
    task_editor,
    turn_actions,
)
from components.cards import Ranking
from components.payloads import ArtifactLike
from components.registry import page
from components.safe import plain, safe_md
from components.tasks import task_card
from components.turn import Step, TurnView
from lexsi_ds.application import Application
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.engine import CaseExplanation
from lexsi_ds.services.access import Actor
from lexsi_ds.store.board import FeedbackRecord
from lexsi_ds.text_to_sql.verified import MARK

BADGES: dict[str, tuple[str, str, Any]] = {
    "needs_clarification": ("Asks back", ":material/help:", "blue"),
    "cannot_answer": ("Cannot answer", ":material/visibility_off:", "gray"),
    "refused": ("Refused", ":material/block:", "yellow"),
    "failed": ("Failed", ":material/error:", "red"),
    "stopped": ("Stopped", ":material/stop_circle:", "gray"),
    "limit_reached": ("Limit reached", ":material/hourglass_empty:", "yellow"),
    "interrupted": ("Interrupted", ":material/power_off:", "yellow"),
}
"""States that are not a plain answer. An answered turn needs no badge."""
_CUT_SHORT = {
    "stopped": "You stopped this run. The words above are not the whole answer.",
    "failed": "The run failed. The words above are not the whole answer.",
    "interrupted": "The run was interrupted. The words above are not the whole answer.",
}
AGAIN = ("failed", "stopped", "interrupted", "limit_reached")


def draw(
    app: Application,
    actor: Actor,
    source_id: str,
    conversation_id: str,
    view: TurnView,
    *,
    newest: bool,
    unfolded: bool,
    rated: FeedbackRecord | None = None,
) -> None:
    """Draw a turn that is over. ``source_id`` is the source it was about, ``rated`` what this person thinks of it."""
    state = view.state or "interrupted"
    if state in BADGES:
        label, icon, colour = BADGES[state]
        st.badge(label, icon=icon, color=colour)
    elif (view.reading or "").startswith(MARK):
        st.badge("Verified", icon=":material/verified:", color="green")
    words = view.narrative or view.asked or _words(state)
    if words:
        st.markdown(safe_md(words))
    if view.text and view.answer is None and state in _CUT_SHORT:
        st.caption(_CUT_SHORT[state])
    if view.asked and view.narrative and view.asked not in view.narrative:
        st.markdown(safe_md(view.asked))
    if state == "failed":
        for problem in view.problems:
            st.caption(f":material/error: {plain(problem, 600)}")
    cards.reading_line(view.reading, view.caveats, view.removed)
    if newest or view.offer:
        _waiting(app, actor, source_id, conversation_id, view, newest=newest)
    if newest:
        _finish(app, actor, source_id, conversation_id, view)
    if unfolded:
        _cards(app, actor, view, source_id, conversation_id)
        _train_again(app, actor, source_id, conversation_id, view)
        if view.answer_query:
            _change(app, actor, source_id, conversation_id, view)
    elif any(view.last(name) for name in ("predict", "explain_prediction", "read_document")) or view.answer_query:
        more = st.expander(
            "Results of this turn", type="compact", on_change="rerun", key=session.wkey("results", view.run_id)
        )
        if more.open:
            with more:
                _cards(app, actor, view, source_id, conversation_id)
    if state in AGAIN and newest:
        st.button(
            "Retry",
            key=session.wkey("chat", "retry", view.run_id),
            icon=":material/refresh:",
            on_click=asking.on_retry,
            args=(app, actor, source_id, conversation_id, view.question, view.given),
        )
    if unfolded:
        with problems.guarded("The actions"):
            turn_actions.row(app, actor, source_id, view, rated)
    _chips(app, actor, source_id, conversation_id, view, newest)


def _waiting(
    app: Application, actor: Actor, source_id: str, conversation_id: str, view: TurnView, *, newest: bool
) -> None:
    """A task that waits for a person; an older one may still be taken up."""
    step = view.last("text_to_sql")
    if (view.offer or {}).get("kind") != "task" or step is None:
        return
    reading = task_editor.reading_of(app, actor, step.artifact_ids)
    if reading is None:
        return
    if newest or session.held().editing_task == view.run_id:
        handle = app.catalog.handle(actor, source_id)
        task_editor.editor(app, actor, handle, conversation_id, view.run_id, view.question, reading, trained=False)
    else:
        task_card(reading.task, reading.task.left_out, session.wkey("task", view.run_id))
        _edit_button(view.run_id, "Change and train")


def _edit_button(run_id: str, label: str) -> None:
    st.button(
        label,
        icon=":material/tune:",
        type="tertiary",
        key=session.wkey("edit", run_id),
        on_click=task_editor.on_edit,
        args=(run_id,),
    )


def _train_again(app: Application, actor: Actor, source_id: str, conversation_id: str, view: TurnView) -> None:
    step = view.last("text_to_sql")
    reading = task_editor.reading_of(app, actor, step.artifact_ids) if step and view.last("train_tabular_model") else None
    if reading is None:
        return
    if session.held().editing_task == view.run_id:
        handle = app.catalog.handle(actor, source_id)
        task_editor.editor(app, actor, handle, conversation_id, view.run_id, view.question, reading, trained=True)
    else:
        _edit_button(view.run_id, "Change and train again")


def _finish(app: Application, actor: Actor, source_id: str, conversation_id: str, view: TurnView) -> None:
    """What a question left half understood, as a form."""
    offer = view.offer or {}
    if view.state != "cannot_answer":
        return
    handle = app.catalog.handle(actor, source_id)
    if offer.get("kind") == "query":
        builder.half_filled(app, handle, view.run_id, offer)
    if builder.at(view.run_id):
        builder.panel(app, actor, handle, conversation_id, view.run_id)
        return
    if not offer.get("logical"):
        return  # "Build a question" stands right below
    st.button(
        "Finish it by point and click",
        icon=":material/tune:",
        key=session.wkey("build", view.run_id),
        on_click=builder.on_open,
        args=(app, handle, view.run_id, offer.get("logical"), tuple(offer.get("words") or ())),
    )


def _change(app: Application, actor: Actor, source_id: str, conversation_id: str, view: TurnView) -> None:
    """The query of an answer, to be changed by point and click."""
    step = view.last("text_to_sql")
    found = [app.chats.artifact(actor, i) for i in step.artifact_ids] if step else []
    reading = next((a.json() for a in found if a.kind == "json"), {})
    logical = reading.get("logical") if reading.get("kind") == "analytic" else None
    if not logical:
        return
    handle = app.catalog.handle(actor, source_id)
    if builder.at(view.run_id):
        builder.panel(app, actor, handle, conversation_id, view.run_id)
        return
    st.button(
        "Change this query",
        icon=":material/tune:",
        type="tertiary",
        key=session.wkey("change", view.run_id),
        on_click=builder.on_open,
        args=(app, handle, view.run_id, logical),
    )


def _words(state: str) -> str:
    return {
        "stopped": "You stopped this run. Nothing of it was kept but the steps above.",
        "interrupted": "The server ended while this run was at work. Ask again to run it anew.",
        "limit_reached": "The run used all its steps before it had an answer.",
        "failed": "This run failed. What went wrong is said below; the log has more.",
    }.get(state, "")


def _chips(app: Application, actor: Actor, source_id: str, conversation_id: str, view: TurnView, newest: bool) -> None:
    """Options of a question asked back (greyed out once answered), or follow-ups under the newest answer."""
    if newest:
        remembered.line(app, actor, view.run_id)
    options = view.options or (view.suggestions if newest else [])
    options = [o for o in dict.fromkeys(options) if o.strip()]
    if not options:
        return
    key = session.wkey("chips", view.run_id)  # the same before and after, so that what was chosen stays marked
    st.pills(
        "Answer with one of these" if view.options else "Ask next",
        options,
        key=key,
        label_visibility="collapsed",
        disabled=not newest,
        format_func=lambda o: f":gray[{plain(o, 160)}]",
        on_change=asking.on_option,
        args=(app, actor, source_id, conversation_id, key, view.run_id, view.options, view.learns),
        wrap=True,
    )


def _cards(app: Application, actor: Actor, view: TurnView, source_id: str, conversation_id: str) -> None:
    def read(step: Step | None, kind: str) -> ArtifactLike | None:
        if step is None:
            return None
        found = [app.chats.artifact(actor, i) for i in step.artifact_ids]
        return next((a for a in found if a.kind == kind), None)

    if predicted := read(view.last("predict"), "frame"):
        _prediction(app, actor, view, predicted, read(view.last("explain_prediction"), "json"))
    elif explained := read(view.last("explain_prediction"), "json"):
        _explanation(app, actor, view, explained)
    elif queried := read(view.answer_query, "frame"):
        step = view.answer_query
        artifact_id = step.artifact_ids[0] if step else ""
        result_card.draw(app, actor, source_id, conversation_id, view, queried, artifact_id)
    opened = [read(s, "json") for s in view.steps if s.name == "read_document" and s.ok]
    if opened:
        with problems.guarded("The documents"):
            document_cards.cards([a.json() for a in opened if a is not None])
    trained = read(view.last("train_tabular_model"), "json")
    if trained:
        with problems.guarded("The model card"):
            card = ModelCard.model_validate(trained.json()["card"])
            cards.model_card(card, view.run_id)
            task_card(card.task, card.left_out, session.wkey("task", view.run_id))
    if view.state == "answered" and (predicted or view.answer_query):
        propose.button_or_form(app, actor, view.run_id, source_id)


def _prediction(
    app: Application, actor: Actor, view: TurnView, predicted: ArtifactLike, explained: ArtifactLike | None
) -> None:
    meta = predicted.meta
    predictions_id, k = str(meta["predictions_id"]), int(meta.get("top_k") or 10)
    ranked, apart = (
        Ranking(*app.models.page(actor, predictions_id, limit=k, filters={"segment": segment}))
        for segment in ("ranked", "apart")
    )
    cases = explained.json()["cases"] if explained else []

    def downloads() -> None:
        card = app.models.get(actor, str(meta["model_id"]))
        rows, key = ranked.total + apart.total, session.wkey("risk", view.run_id)
        exports.of_predictions(app, actor, card, predictions_id, rows=rows, key=key, type_="tertiary")

    _open_case(meta.get("model_id"), cards.risk_list(ranked, apart, meta, cases, view.run_id, downloads))


def _explanation(app: Application, actor: Actor, view: TurnView, explained: ArtifactLike) -> None:
    body = explained.json()
    cases = [CaseExplanation.model_validate(c) for c in body["cases"]]
    card = app.models.get(actor, body["model_id"])
    _open_case(
        body["model_id"], cards.explained_cases(cases, card.task.target_label, view.run_id, card.task.entity_label)
    )


def _open_case(model_id: str | None, case_id: str | None) -> None:
    if model_id and case_id:
        st.switch_page(page("explorer").path, query_params={"model": model_id, "case": case_id})
