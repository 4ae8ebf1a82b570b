"""The list of findings: segments with counts, filters, a page of the list, next and previous. What is open stands in the address.

Must never: ask the store for more than a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from components import figures, session
from components.findings import SEGMENTS, go, move, step
from components.problems import careful
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import NotFound
from lexsi_ds.services.access import Actor
from lexsi_ds.services.finding import Finding, Segment

PAGE = 25
_VERDICTS = {"holds": "Check holds", "violated": "Check violated", "error": "Check failed to run", "unchecked": "No check"}


@dataclass(frozen=True)
class Narrowed:
    """What the search and the filters leave."""

    search: str | None = None
    dataset_id: str | None = None
    verdict: Any = None
    column: str | None = None

    def given(self) -> dict[str, Any]:
        """As the service takes it; what does not narrow is left out."""
        named = {"search": self.search, "dataset_id": self.dataset_id, "verdict": self.verdict, "column": self.column}
        return {name: value for name, value in named.items() if value}

    @property
    def filters(self) -> int:
        """How many filters are set beside the search."""
        return sum(1 for value in (self.dataset_id, self.verdict, self.column) if value)


def linked(app: Application, actor: Actor) -> Finding | None:
    """The finding that the address names, else the one this tab had open; None when there is none of that id."""
    wanted = st.query_params.get("finding") or session.held().finding_id
    try:
        return app.findings.get(actor, wanted) if wanted else None
    except NotFound:
        session.held().finding_id = None
        return None


def narrowed(handle: DatasetHandle | None) -> Narrowed:
    """The search box and the filters."""
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        search = st.text_input(
            "Search", key=session.FINDING_SEARCH, placeholder="Search findings", label_visibility="collapsed",
            on_change=_first_page, icon=":material/search:",
        )
        with st.popover("Filters", icon=":material/filter_list:"):
            tables = {t.dataset_id: t.name for t in handle.tables} if handle else {}
            dataset = _choice("Data set", tables, "dataset")
            columns = {c.name: c.name for t in handle.tables if t.dataset_id == dataset for c in t.columns} if handle else {}
            column = _choice("Column", columns, "column", disabled=not columns, help_="Choose a data set first.")
            verdict = _choice("Check", _VERDICTS, "verdict")
    return Narrowed(search or None, dataset, verdict, column if columns else None)


def _choice(label: str, options: dict[str, str], name: str, *, disabled: bool = False, help_: str | None = None) -> str | None:
    return st.selectbox(
        label, list(options), index=None, key=session.wkey("findings", "filter", name), placeholder="Any",
        format_func=lambda value: options.get(str(value), str(value)), on_change=_first_page, disabled=disabled,
        help=help_ if disabled else None, persist_state="page",
    )


@careful
def _first_page() -> None:
    session.held().finding_page = 0


def segments(
    app: Application, actor: Actor, counts: dict[Any, int], opened: Finding | None, source_id: str | None
) -> Segment:
    """The segment to list. A link to a finding opens the segment and the page that it stands on."""
    if session.read(session.SEGMENT) is None or session.held().follow_link:
        if opened is not None:
            session.held().finding_page = app.findings.place(actor, opened, source_id) // PAGE
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
        format_func=lambda s: f":gray[{SEGMENTS[s]} {figures.count(counts.get(s, 0))}]",
    )
    return chosen or "to_review"


@careful
def _segment_changed() -> None:
    session.held().finding_id = None
    session.held().finding_page = 0
    session.forget(session.FINDING_PICK)
    if "finding" in st.query_params:
        del st.query_params["finding"]


def listed(
    app: Application, actor: Actor, segment: Segment, source_id: str | None, wanted: Narrowed
) -> tuple[tuple[Finding, ...], int]:
    """The page of the list that this tab is at, and how many findings the list holds."""
    held = session.held()
    found, total = app.findings.page(
        actor, segment=segment, source_id=source_id, offset=held.finding_page * PAGE, limit=PAGE, **wanted.given()
    )
    if not found and total:
        held.finding_page = (total - 1) // PAGE
        return listed(app, actor, segment, source_id, wanted)
    return found, total


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


def steps(app_ids: Sequence[str], current: str | None, total: int) -> None:
    """Next and previous, with their keys, where one finding is open; and the pages, where there is more than one."""
    if current is not None:
        _neighbours(app_ids, current)
    if total > PAGE:
        _pages(len(app_ids), total)


def _neighbours(app_ids: Sequence[str], current: str) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
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


def _pages(shown: int, total: int) -> None:
    at = session.held().finding_page
    first = at * PAGE + 1
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.caption(f"{figures.count(first)} to {figures.count(first + shown - 1)} of {figures.count(total)}", width="content")
        for name, by, icon, off in (
            ("earlier", -1, "chevron_left", at == 0), ("later", 1, "chevron_right", first + shown > total),
        ):
            st.button(
                f"{name.capitalize()} page", key=session.wkey("findings", "page", name), type="tertiary",
                icon=f":material/{icon}:", disabled=off, on_click=_turn, args=(by,),
            )


@careful
def _turn(by: int) -> None:
    held = session.held()
    held.finding_page = max(0, held.finding_page + by)
    held.finding_id = None
    session.forget(session.FINDING_PICK)
    if "finding" in st.query_params:
        del st.query_params["finding"]
