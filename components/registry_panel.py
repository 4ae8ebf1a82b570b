"""Where a model stands, on screen: its state with the next steps, who answers for it and for what, every step so far.

Who may do what is the service's to say; its refusals come back as notices. Must never: change a model it did not show as it is.
"""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from components import figures, session, tables
from components.problems import careful
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.models.card import ModelCard
from lexsi_ds.services.access import Actor
from lexsi_ds.services.model_entry import WORDS, Entry, State

_STEPS: dict[State, tuple[State, ...]] = {
    "draft": ("validated", "retired"),
    "validated": ("approved", "draft", "retired"),
    "approved": ("draft", "retired"),
    "retired": ("draft",),
}
_BUTTONS: dict[State, tuple[str, str]] = {
    "validated": ("Validate", "fact_check"),
    "approved": ("Approve", "verified"),
    "retired": ("Retire", "archive"),
    "draft": ("Back to draft", "undo"),
}
_NEEDS: dict[State, str] = {
    "draft": "To validate it, say what it is for.",
    "validated": "To approve it, name an owner, its use and its limits.",
    "approved": "Another use, other limits or another threshold takes the approval back.",
    "retired": "It is kept, and no longer to be used.",
}


def draw(app: Application, actor: Actor, card: ModelCard, entry: Entry | None) -> None:
    """State and description beside the history."""
    if entry is None:
        st.info("This model is not in the registry.", icon=":material/info:")
        return
    if entry.stale is not None:
        st.warning(plain(entry.stale.sentence, 400), icon=":material/history:")
    left, right = st.columns([1.2, 1], gap="medium")
    with left, st.container(border=True, gap="small", height="stretch"):
        _state(app, actor, entry)
        _review(app, actor, entry)
        _description(app, actor, entry)
    with right, st.container(border=True, gap="small", height="stretch"):
        _history(app, actor, card)


def _state(app: Application, actor: Actor, entry: Entry) -> None:
    at = partial(session.wkey, "registry", entry.model_id)
    tables.card_head(WORDS[entry.state], f"since {figures.ago(entry.updated_at)}, trained by {entry.author_name}")
    if entry.note:
        st.markdown(plain(entry.note, 500))
    st.caption(_NEEDS[entry.state])
    st.text_input("Note with the next step", key=at("note"), placeholder="Why, in a sentence")
    with st.container(horizontal=True, gap="small"):
        for state in _STEPS[entry.state]:
            label, icon = _BUTTONS[state]
            st.button(
                label,
                icon=f":material/{icon}:",
                key=at(state),
                on_click=_move,
                args=(app, actor, entry.model_id, entry.row_version, state),
                type="primary" if state in ("validated", "approved") else "secondary",
            )


@careful
def _move(app: Application, actor: Actor, model_id: str, seen: int, state: State) -> None:
    key = session.wkey("registry", model_id, "note")
    after = app.registry.move(actor, model_id, seen, state, note=str(session.read(key) or ""))
    session.put(key, "")
    session.notify("success", f"{plain(after.name)}: {WORDS[after.state].lower()}.")


def _review(app: Application, actor: Actor, entry: Entry) -> None:
    """Whom the author asked to look at it: nobody else sees the model of somebody else."""
    at = partial(session.wkey, "registry", entry.model_id)
    if entry.reviewer:
        st.markdown(f"**Review** :gray[asked of {plain(entry.reviewer, 60)}, who can see, validate and approve it]")
        st.button(
            "Take back", icon=":material/undo:", type="tertiary", key=at("review-back"), on_click=_ask,
            args=(app, actor, entry.model_id, entry.row_version, False),
        )  # fmt: skip
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input(
            "Reviewer", key=at("reviewer"), placeholder="Another person's name here", width=240,
            help="They can then see the model, validate and approve it. Nobody else sees it.",
        )  # fmt: skip
        st.button(
            "Ask for review", icon=":material/person_add:", key=at("review"), on_click=_ask,
            args=(app, actor, entry.model_id, entry.row_version, True),
        )  # fmt: skip


@careful
def _ask(app: Application, actor: Actor, model_id: str, seen: int, ask: bool) -> None:
    key = session.wkey("registry", model_id, "reviewer")
    reviewer = str(session.read(key) or "").strip() if ask else None
    app.registry.ask_review(actor, model_id, seen, reviewer)
    session.put(key, "")
    session.notify("success", f"{plain(reviewer, 60)} is asked to review it." if reviewer else "The review is taken back.")


def _description(app: Application, actor: Actor, entry: Entry) -> None:
    at = partial(session.wkey, "registry", entry.model_id)
    with st.form(at("form"), border=False):
        owner = st.text_input(
            "Owner", value=entry.responsible, key=at("owner", entry.row_version), placeholder="Who answers for it"
        )
        use = st.text_area(
            "Intended use",
            value=entry.intended_use,
            key=at("use", entry.row_version),
            height=80,
            placeholder="Which decision, about whom, how often",
        )
        limits = st.text_area(
            "Limits",
            value=entry.limits,
            key=at("limits", entry.row_version),
            height=80,
            placeholder="What it must not be used for",
        )
        if st.form_submit_button("Save description", icon=":material/save:", key=at("describe")):
            _describe(app, actor, entry, owner, use, limits)
            st.rerun()


@careful
def _describe(app: Application, actor: Actor, entry: Entry, owner: str, use: str, limits: str) -> None:
    app.registry.describe(actor, entry.model_id, entry.row_version, responsible=owner, intended_use=use, limits=limits)
    session.notify("success", "The description is saved.")


def _history(app: Application, actor: Actor, card: ModelCard) -> None:
    steps = list(reversed(app.registry.history(actor, card.id)))
    tables.card_head("History", f"{figures.counted(len(steps), 'step')}, newest first")
    frame = pd.DataFrame(
        [
            {"When": f"{s.at:%Y-%m-%d %H:%M}", "Who": s.person_name, "What": s.action, "Note": s.note, "By": s.via}
            for s in steps
        ]
    )
    tables.show(
        frame, key=session.wkey("registry", card.id, "history", len(steps)), alt="Steps of the model in the registry"
    )
    st.caption("Times are UTC.")
