"""The list of findings: segments with counts, the list itself, next and previous. What is open stands in the address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from components import figures, session
from components.findings import SEGMENTS, go, move, step
from components.problems import careful
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.errors import NotFound
from lexsi_ds.services.access import Actor
from lexsi_ds.services.finding import Finding, Segment


def linked(app: Application, actor: Actor) -> Finding | None:
    """The finding that the address names, else the one this tab had open; None when there is none of that id."""
    wanted = st.query_params.get("finding") or session.held().finding_id
    try:
        return app.findings.get(actor, wanted) if wanted else None
    except NotFound:
        session.held().finding_id = None
        return None


def segments(counts: dict[Any, int], opened: Finding | None) -> Segment:
    """The segment to list. A link to a finding opens the segment it stands in."""
    if session.read(session.SEGMENT) is None or session.held().follow_link:
        first = next((s for s in SEGMENTS if counts.get(s)), "to_review")
        session.put(session.SEGMENT, opened.segment if opened else first)
        session.held().follow_link = False
    chosen = st.segmented_control(
        "Segment",
        list(SEGMENTS),
        key=session.SEGMENT,
        required=True,
        label_visibility="collapsed",
        on_change=_segment_changed,
        format_func=lambda s: f":gray[{SEGMENTS[s]} {counts.get(s, 0)}]",
    )
    return chosen or "to_review"


@careful
def _segment_changed() -> None:
    session.held().finding_id = None
    session.forget(session.FINDING_PICK)
    if "finding" in st.query_params:
        del st.query_params["finding"]


def pick(listed: Sequence[Finding], opened: Finding | None) -> Finding | None:
    """The list at the left; what is chosen stands in the address."""
    if not listed:
        return None
    by_id = {f.id: f for f in listed}
    if session.read(session.FINDING_PICK) not in by_id:
        session.put(session.FINDING_PICK, opened.id if opened and opened.id in by_id else listed[0].id)
    captions = [f"{f.headline}, {figures.ago(f.updated_at)}{', stale' if f.stale else ''}" for f in listed]
    with st.container(height=560 if len(listed) > 7 else "content", border=False):
        chosen = st.radio(
            "Findings",
            list(by_id),
            key=session.FINDING_PICK,
            format_func=lambda i: plain(by_id[i].title, 80),
            captions=captions,
            label_visibility="collapsed",
            on_change=_picked,
        )
    return by_id.get(chosen)


@careful
def _picked() -> None:
    go(session.read(session.FINDING_PICK))


def steps(app_ids: Sequence[str], current: str | None) -> None:
    """Next and previous, with their keys."""
    with st.container(horizontal=True, gap="small"):
        for label, by, shortcut, icon in (
            ("Previous", -1, "k", "keyboard_arrow_up"),
            ("Next", 1, "j", "keyboard_arrow_down"),
        ):
            goal = step(app_ids, current, by)
            st.button(
                label,
                key=session.wkey("findings", label.casefold()),
                type="tertiary",
                icon=f":material/{icon}:",
                shortcut=shortcut,
                disabled=goal is None or goal == current,
                on_click=move,
                args=(app_ids, current, by),
            )
