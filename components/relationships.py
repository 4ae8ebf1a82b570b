"""Relationships of a source: the diagram, and a list in which each is confirmed, rejected or added."""

from __future__ import annotations

from typing import Any

import streamlit as st

from components import figures, session, tables
from components.problems import careful
from components.safe import flat, plain
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.services.access import Actor
from lexsi_ds.services.relations import diagram

STATES = {
    "found": ":gray-badge[:material/search: Found]",
    "suggested": ":yellow-badge[:material/help: Only suggested]",
    "confirmed": ":green-badge[:material/check: Confirmed]",
    "rejected": ":gray-badge[:material/close: Rejected]",
}
MOST = 60


def draw(app: Application, actor: Actor, handle: DatasetHandle) -> None:
    """The diagram and the list. Looked for once a version, so the first look may take a moment."""
    if len(handle.tables) < 2:
        st.info("A source of one table has no relationships.", icon=":material/info:")
        return
    with st.spinner("Looking for keys and relationships"):
        found = app.relations.of(actor, handle.source_id)
    shown = [r for r in found.relations if r.state != "rejected"]
    st.mermaid_chart(
        diagram(found, handle),
        alt=f"{figures.counted(len(handle.tables), 'table')} and {figures.counted(len(shown), 'relationship')}",
    )
    st.caption("Solid lines are used by joins; dotted ones are suggestions until they are confirmed.")
    if any(t.live is not None for t in handle.tables):
        st.caption(
            "Tables in place are tried on their first 20,000 rows; those of more than a million rows only as declared there."
        )
    if found.failed:
        st.warning(f"Only declared relationships are shown: {plain(found.failed, 300)}", icon=":material/warning:")
    tables.card_head("Relationships", figures.counted(len(found.relations), "relationship"))
    for relation in found.relations[:MOST]:
        _line(app, actor, handle.source_id, relation)
    if len(found.relations) > MOST:
        st.caption(f"Showing {MOST} of {figures.count(len(found.relations))}.")
    for composite in found.composites[:MOST]:
        _together(composite)
    _add(app, actor, handle)


def _line(app: Application, actor: Actor, source_id: str, relation: Any) -> None:
    key = session.wkey("relation", source_id, *relation.ends)
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small"):
        ends = (
            f"**{plain(relation.child, 40)}** {plain(relation.child_column, 40)} :material/arrow_right_alt: "
            f"**{plain(relation.parent, 40)}** {plain(relation.parent_column, 40)}"
        )
        st.markdown(f"{ends} {STATES[relation.state]}  \n:gray[{_evidence(relation)}]", width="stretch")
        if relation.state != "confirmed" and relation.origin != "declared":
            _choice(app, actor, source_id, relation.ends, "confirm", "Confirm", "check", key)
        if relation.state != "rejected":
            _choice(app, actor, source_id, relation.ends, "reject", "Reject", "close", key)
        if relation.state in ("confirmed", "rejected"):
            _choice(app, actor, source_id, relation.ends, "forget", "Undo", "undo", key)


def _together(composite: Any) -> None:
    """A foreign key of several columns: known, and no join of a question takes it."""
    own, there = (", ".join(plain(c, 40) for c in columns) for columns in (composite.child_columns, composite.parent_columns))
    with st.container(border=True):
        st.markdown(
            f"**{plain(composite.child, 40)}** {own} :material/arrow_right_alt: **{plain(composite.parent, 40)}** {there} "
            ":gray-badge[:material/key: Several columns]  \n:gray[declared by the database; questions join by one column, so this "
            "one is for the SQL editor]"
        )


def _evidence(relation: Any) -> str:
    origin = {"declared": "declared by the database", "found": "found", "added": "added by hand"}[relation.origin]
    score = f", score {figures.number(relation.score)}" if relation.origin != "declared" else ""
    if not relation.tried:
        return f"{origin}{score}"
    share = f"{100 * relation.inclusion:.1f}% of {figures.counted(relation.tried, 'value')} are keys there"
    missing = f", {figures.count(relation.missing)} are not" if relation.missing else ""
    return f"{origin}{score}; {share}{missing}" + ("; one to one" if relation.one_to_one else "")


def _choice(
    app: Application, actor: Actor, source_id: str, ends: Any, action: str, label: str, icon: str, key: str
) -> None:
    st.button(
        label,
        key=session.wkey(key, action),
        type="tertiary",
        icon=f":material/{icon}:",
        on_click=_choose,
        args=(app, actor, source_id, ends, action),
    )


@careful
def _choose(app: Application, actor: Actor, source_id: str, ends: Any, action: str) -> None:
    {"confirm": app.relations.confirm, "reject": app.relations.reject, "forget": app.relations.forget}[action](
        actor, source_id, ends
    )


def _add(app: Application, actor: Actor, handle: DatasetHandle) -> None:
    with st.popover("Add a relationship", type="tertiary", icon=":material/add:", key="relation-add"):
        picked = []
        for side, words in (("child", "Rows of"), ("parent", "point to")):
            key = session.wkey("relation", handle.source_id, side)
            name = st.selectbox(
                words, [t.name for t in handle.tables], key=key, format_func=lambda n: flat(n, 60)
            )
            table = handle.table(name) if name else None
            column = st.selectbox(
                f"{words} column",
                [c.name for c in table.columns] if table else [],
                key=session.wkey(key, name, "column"),
                format_func=lambda n: flat(n, 60),
                label_visibility="collapsed",
            )
            picked += [name, column]
        st.button(
            "Add",
            key="relation-add-go",
            type="primary",
            disabled=not all(picked),
            on_click=_add_it,
            args=(app, actor, handle.source_id, tuple(picked)),
        )


@careful
def _add_it(app: Application, actor: Actor, source_id: str, ends: Any) -> None:
    app.relations.add(actor, source_id, ends)
    session.notify("success", f"Added: {plain(ends[0])} points to {plain(ends[2])}.")
