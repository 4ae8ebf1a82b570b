"""A new finding by hand: which data set, the sentence, its check; what it would say now is shown before it is proposed."""

from __future__ import annotations

from typing import Any

import streamlit as st

from components import finding_form, session, tables
from components.problems import careful
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.services.access import Actor

_KEY = "finding-new"


def button() -> None:
    """Opens the form."""
    st.button("New finding", key="finding-new-open", icon=":material/add:", on_click=_open)


@careful
def _open() -> None:
    session.held().new_finding = True
    finding_form.set_fields(_KEY, {"kind": "sql"})


def form(app: Application, actor: Actor, handle: DatasetHandle) -> None:
    """The fields, what the check says now, and Propose."""
    with st.container(border=True, gap="small"):
        tables.card_head("New finding", "a sentence about a data set, with a check that says when it stops being true")
        names = {t.dataset_id: t for t in (*handle.tables, *app.catalog.derived(actor, handle.source_id))}
        chosen = st.selectbox(
            "Data set", list(names), key=session.wkey(_KEY, "dataset"), format_func=lambda i: names[i].name[:80]
        )
        table = names[chosen]
        key = session.wkey(_KEY, chosen)
        title, statement = finding_form.texts(_KEY)
        columns, depends = finding_form.about(app, actor, key, table)
        kind = finding_form.kind(_KEY)
        fields: dict[str, Any] = {"columns": columns, "depends_on": depends}
        whole = bool(title and statement)
        if kind == "sql":
            fields["check_sql"] = finding_form.sql_field(_KEY)
            whole = whole and bool(fields["check_sql"]) and finding_form.tried(app, table, fields["check_sql"])
        elif kind == "band":
            made = finding_form.metric(key, table)
            fields["band"] = None if made is None else finding_form.band(app, key, table, made[0], percent=made[1])
            whole = whole and fields["band"] is not None
        with st.container(horizontal=True, gap="small"):
            st.button(
                "Propose", key="finding-new-save", type="primary", icon=":material/lightbulb:", disabled=not whole,
                on_click=_save, args=(app, actor, handle.source_id, chosen, title, statement, fields),
                help=None if whole else "It needs a title, a sentence and a whole check.",
            )
            st.button("Cancel", key="finding-new-cancel", type="tertiary", on_click=_close)


@careful
def _save(
    app: Application, actor: Actor, source_id: str, dataset_id: str, title: str, statement: str, fields: dict[str, Any]
) -> None:
    made = app.findings.propose(
        actor, dataset_id=dataset_id, title=title, statement=statement, source_id=source_id, via="ui", **fields
    )
    held = session.held()
    held.new_finding, held.finding_page, held.finding_id = False, 0, made.id
    session.forget(*(session.wkey(_KEY, name) for name in ("title", "statement", "check")))
    session.put(session.SEGMENT, made.segment)
    session.put(session.FINDING_PICK, made.id)
    session.notify("success", f"Proposed: {plain(made.title)}")


@careful
def _close() -> None:
    session.held().new_finding = False
