"""What can be done with an answer: a thumb with a reason, a pin on the board, and keeping it as a verified question.

Small buttons under the cards; nothing in a popover is worked out before it is opened.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from components import session
from components.problems import careful
from components.result_card import bare
from components.safe import flat, plain
from components.turn import TurnView
from lexsi_ds.application import Application
from lexsi_ds.services.access import Actor
from lexsi_ds.services.feedback import LONGEST, REASONS
from lexsi_ds.store.board import FeedbackRecord
from lexsi_ds.text_to_sql.verified import MARK, Candidate, candidates, with_parameters

THUMBS = ("down", "up")
"""In the order in which the control numbers them."""


def row(app: Application, actor: Actor, source_id: str, view: TurnView, rated: FeedbackRecord | None) -> None:
    """Under a turn that is over."""
    answered = view.state == "answered"
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        _thumbs(app, actor, view, rated)
        if answered:
            _pin(app, actor, source_id, view)
            if view.answer_query is not None and not (view.reading or "").startswith(MARK):
                _verify(app, actor, source_id, view)


def _thumbs(app: Application, actor: Actor, view: TurnView, rated: FeedbackRecord | None) -> None:
    key = session.wkey("thumb", view.run_id)
    st.feedback(
        "thumbs", key=key, default=THUMBS.index(rated.thumb) if rated else None, on_change=_rated,
        args=(app, actor, view.run_id, key, rated.reason if rated else ""),
    )  # fmt: skip
    if rated is None:
        return
    label = plain(rated.reason, 40) if rated.reason else "Say why"
    why = session.wkey(key, "why")
    with st.popover(label, type="tertiary", key=why, on_change="rerun"):
        if rated.thumb == "down":
            st.pills(
                "What was wrong", REASONS, key=session.wkey(key, "reason"), selection_mode="multi", wrap=True,
                format_func=lambda r: f":gray[{r}]",
            )  # fmt: skip
        st.text_input("In your words", key=session.wkey(key, "words"), max_chars=300)
        st.button(
            "Keep", key=session.wkey(key, "keep"), type="primary", on_click=_reason,
            args=(app, actor, view.run_id, rated.thumb, key),
        )  # fmt: skip


@careful
def _rated(app: Application, actor: Actor, run_id: str, key: str, reason: str) -> None:
    value = session.read(key)
    thumb = None if value is None else THUMBS[int(value)]
    app.feedback.rate(actor, run_id, thumb, reason if thumb == "down" else "")  # pyright: ignore[reportArgumentType]


@careful
def _reason(app: Application, actor: Actor, run_id: str, thumb: Any, key: str) -> None:
    chosen = [*(session.read(session.wkey(key, "reason")) or ()), str(session.read(session.wkey(key, "words")) or "").strip()]
    app.feedback.rate(actor, run_id, thumb, "; ".join(c for c in chosen if c)[:LONGEST])
    session.put(session.wkey(key, "why"), False)
    session.notify("success", "Kept with the answer.")


def _query(app: Application, actor: Actor, view: TurnView) -> tuple[str, str]:
    """Artifact id and SQL of the rows that answer; empty without any."""
    step = view.answer_query
    artifact_id = step.artifact_ids[0] if step and step.artifact_ids else ""
    return (artifact_id, str(app.chats.artifact(actor, artifact_id).meta.get("sql") or "")) if artifact_id else ("", "")


def _pin(app: Application, actor: Actor, source_id: str, view: TurnView) -> None:
    key = session.wkey("pin", view.run_id)
    box = st.popover("Pin", type="tertiary", icon=":material/keep:", key=key, on_change="rerun", help="Keep it on Home's board")
    if not box.open:
        return
    with box:
        artifact_id, sql = _query(app, actor, view)
        kinds = ["card", "question"] if artifact_id else ["question"]
        names = {"card": "The result", "question": "The question"}
        kind = st.segmented_control(
            "Pin", kinds, default=kinds[0], key=session.wkey(key, "kind"), label_visibility="collapsed", required=True,
            format_func=lambda k: f":gray[{names[k]}]",
        )  # fmt: skip
        st.text_input("Title", value=bare(view.question)[:110], key=session.wkey(key, "title"), max_chars=120)
        found = candidates(bare(view.question), sql) if sql and kind == "question" else ()
        chosen = _changeable(found, key)
        said = "Its rows and its query; one click on Home runs it on fresh data."
        st.caption(said if kind == "card" else "One click on Home asks it again.")
        st.button(
            "Pin to Home", type="primary", key=session.wkey(key, "save"), on_click=_pinned,
            args=(app, actor, source_id, view, kind, artifact_id, chosen, key),
        )  # fmt: skip


def _changeable(found: tuple[Candidate, ...], key: str) -> tuple[Candidate, ...]:
    """What of a question may be another value the next time."""
    if not found:
        return ()
    labels = {f"{c.parameter.name} = {c.parameter.value}": c for c in found}
    picked = st.multiselect("May change", list(labels), key=session.wkey(key, "params"), format_func=flat)
    return tuple(labels[p] for p in picked if p in labels)


@careful
def _pinned(
    app: Application, actor: Actor, source_id: str, view: TurnView, kind: str, artifact_id: str, chosen: tuple[Candidate, ...],
    key: str,
) -> None:
    title = str(session.read(session.wkey(key, "title")) or bare(view.question))
    if kind == "card" and artifact_id:
        app.board.pin_card(actor, artifact_id, title, view=view.view)
    else:
        made = with_parameters(bare(view.question), "SELECT 1", chosen)
        app.board.pin_question(actor, source_id, made.question, title, {c.parameter.name: c.parameter.value for c in chosen})
    session.put(key, False)
    session.notify("success", "Pinned to the board on Home.")


def _verify(app: Application, actor: Actor, source_id: str, view: TurnView) -> None:
    key = session.wkey("verify", view.run_id)
    box = st.popover(
        "Save as verified", type="tertiary", icon=":material/verified:", key=key, on_change="rerun",
        help="You checked the SQL: this question and near ones are answered by it first",
    )  # fmt: skip
    if not box.open:
        return
    with box:
        _, sql = _query(app, actor, view)
        question = st.text_input("Question", value=bare(view.question), key=session.wkey(key, "question"), max_chars=500)
        chosen = _changeable(candidates(question or "", sql), key)
        st.caption(
            "Its SQL is run first for this question, and for the same question with other values of what may change. It counts for "
            "everybody who asks of this source."
        )
        st.button(
            "Save", type="primary", key=session.wkey(key, "save"), on_click=_verified,
            args=(app, actor, source_id, question, sql, chosen, key),
        )  # fmt: skip


@careful
def _verified(
    app: Application, actor: Actor, source_id: str, question: str, sql: str, chosen: tuple[Candidate, ...], key: str
) -> None:
    made = with_parameters(question, sql, chosen)
    seen = app.semantics.view(actor, source_id).version
    version = app.semantics.verify(actor, source_id, made.question, made.sql, seen, made.parameters)
    session.put(key, False)
    session.notify("success", f"Verified; version {version} of the semantic model.")
