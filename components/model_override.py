"""A person's decision about a case, with a reason, beside the model's figure; the figure stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from components import figures, session
from components.problems import careful
from components.safe import flat, plain
from lexsi_ds.application import Application
from lexsi_ds.models.card import ModelCard
from lexsi_ds.services.access import Actor


def standing(app: Application, actor: Actor, card: ModelCard, case_ids: Sequence[str]) -> dict[str, str]:
    """Case -> its decision with the reason, of the cases that have one."""
    found = app.overrides.standing(actor, card.id, case_ids)
    return {case: f"{step.decision}: {step.reason}" for case, step in found.items()}


def draw(app: Application, actor: Actor, card: ModelCard, predictions_id: str, case_ids: Sequence[str]) -> None:
    """The form for the cases of the page, and the history of the chosen one."""
    at, noun = partial(session.wkey, "override", card.id), card.task.entity_label
    with st.expander(
        f"Decide otherwise about a {plain(noun, 40)}", type="compact", icon=":material/gavel:", key=at("box")
    ):
        st.caption(
            "A decision stands beside the model's figure and never changes it. Every one is kept, with who and why."
        )
        case = st.selectbox(
            plain(noun.capitalize(), 40),
            list(case_ids),
            index=None,
            key=at("case"),
            placeholder="Choose one of this page",
            format_func=lambda i: flat(i, 60),
            width=320,
        )
        if case is None:
            return
        steps = app.overrides.history(actor, card.id, case)
        for step in steps[-5:]:
            what = plain(step.decision, 200) if step.decision is not None else "taken back"
            st.caption(
                f"{figures.ago(step.at)}, {plain(step.person_name)}: **{what}**. {plain(step.reason, 300)}{_said(step.model_said)}"
            )
        st.text_input("Decision", key=at("decision"), placeholder="Granted, with a guarantee", max_chars=200)
        st.text_input("Reason", key=at("reason"), placeholder="What the model does not know")
        seen, standing = len(steps) and steps[-1].number, bool(steps and steps[-1].decision is not None)
        with st.container(horizontal=True, gap="small"):
            st.button(
                "Save decision", type="primary", icon=":material/save:", key=at("save"), on_click=_save,
                args=(app, actor, card.id, case, seen, predictions_id),
            )  # fmt: skip
            if standing:
                st.button(
                    "Take back",
                    icon=":material/undo:",
                    key=at("back"),
                    on_click=_back,
                    args=(app, actor, card.id, case, seen),
                )


def _said(said: dict[str, object] | None) -> str:
    probability = (said or {}).get("probability")
    value = probability if isinstance(probability, float) else (said or {}).get("prediction")
    return "" if value is None else f" The model said {plain(figures.value(value), 40)}."


@careful
def _save(app: Application, actor: Actor, model_id: str, case: str, seen: int, predictions_id: str) -> None:
    keys = [session.wkey("override", model_id, part) for part in ("decision", "reason")]
    decision, reason = (str(session.read(key) or "") for key in keys)
    app.overrides.decide(actor, model_id, case, seen, decision, reason, predictions_id=predictions_id)
    for key in keys:
        session.put(key, "")
    session.notify("success", "The decision is saved.")


@careful
def _back(app: Application, actor: Actor, model_id: str, case: str, seen: int) -> None:
    key = session.wkey("override", model_id, "reason")
    app.overrides.withdraw(actor, model_id, case, seen, str(session.read(key) or ""))
    session.put(key, "")
    session.notify("success", "The decision is taken back; it stays in the history.")
