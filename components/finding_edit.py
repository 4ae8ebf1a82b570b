"""Edit a finding on screen: title, sentence and check, with what a change would do said before it is saved.

The form carries the row version it was filled from; the service refuses a stale one. A new check is counted on the newest data
before it is kept. Must never: save without a click.
"""

from __future__ import annotations

import streamlit as st

from components import figures, problems, session
from components.problems import careful
from components.safe import plain
from components.sql_text import pretty
from lexsi_ds.application import Application
from lexsi_ds.errors import LexsiError
from lexsi_ds.services.access import Actor
from lexsi_ds.services.finding import Finding

FIELDS = ("title", "statement", "check")


def is_open(finding: Finding) -> bool:
    """Whether this finding is being edited in this tab."""
    editing = session.held().editing_finding
    return editing is not None and editing[0] == finding.id


def button(finding: Finding) -> None:
    """Opens the form."""
    st.button(
        "Edit",
        key=session.wkey("finding", finding.id, "edit"),
        type="tertiary",
        icon=":material/edit:",
        shortcut="e",
        disabled=finding.status == "retired",
        on_click=_begin,
        args=(finding,),
    )


@careful
def _begin(finding: Finding) -> None:
    session.held().editing_finding = (finding.id, finding.row_version)
    values = (finding.title, finding.statement, pretty(finding.check_sql) if finding.check_sql else "")
    for name, value in zip(FIELDS, values, strict=True):
        session.put(session.wkey("edit", finding.id, name), value)


def form(app: Application, actor: Actor, finding: Finding) -> None:
    """The three fields, what would change, and Save."""
    title = st.text_input("Title", key=session.wkey("edit", finding.id, "title"), max_chars=120)
    statement = st.text_area("Sentence", key=session.wkey("edit", finding.id, "statement"), max_chars=500, height=90)
    check = st.text_area(
        "Check, one SELECT that returns the rows that violate the sentence; the table is called dataset",
        key=session.wkey("edit", finding.id, "check"),
        height=150,
    )
    changes = changed(finding, str(title or ""), str(statement or ""), str(check or ""))
    _what_changes(app, finding, changes)
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Save",
            key=session.wkey("edit", finding.id, "save"),
            type="primary",
            icon=":material/check:",
            disabled=not changes,
            on_click=_save,
            args=(app, actor, finding),
        )
        st.button("Cancel", key=session.wkey("edit", finding.id, "cancel"), type="tertiary", on_click=_cancel)


def changed(finding: Finding, title: str, statement: str, check: str) -> dict[str, str | None]:
    """The fields that differ from the finding, by the names that the service takes."""
    made: dict[str, str | None] = {}
    if title.strip() != finding.title:
        made["title"] = title.strip()
    if statement.strip() != finding.statement:
        made["statement"] = statement.strip()
    same = ("", finding.check_sql or "", pretty(finding.check_sql) if finding.check_sql else "")
    if check.strip() not in same[1:]:
        made["check_sql"] = check.strip() or None
    return made


def _what_changes(app: Application, finding: Finding, changes: dict[str, str | None]) -> None:
    if not changes:
        st.caption("Nothing is changed yet.")
        return
    with st.container(border=True, gap="xxsmall"):
        for name, label in (("title", "Title"), ("statement", "Sentence")):
            if name in changes:
                st.text(f"{label} before: {getattr(finding, name)}")
                st.text(f"{label} after: {changes[name]}")
        if "check_sql" in changes:
            _tried(app, finding, changes["check_sql"])
        if set(changes) == {"title"}:
            st.caption("A new title alone leaves the review as it is.")
        else:
            st.caption("It goes back to review, and its check runs once.")


def _tried(app: Application, finding: Finding, sql: str | None) -> None:
    """How many rows violate the new check on the newest data; only their number is read."""
    if sql is None:
        st.markdown("Check: taken away. A person vouches for the sentence.")
        return
    before = finding.last_check.failure_count if finding.last_check else None
    was = f" :gray[{figures.counted(before, 'row')} before]" if before is not None else ""
    try:
        result = app.sql.run_on_table(app.catalog.table(finding.dataset_id), sql)
        result.path.unlink(missing_ok=True)
        st.markdown(f"Check: **{figures.counted(result.row_count, 'row')}** would violate it now.{was}")
    except LexsiError as error:
        st.error(problems.sentence(error), icon=":material/error:")


@careful
def _save(app: Application, actor: Actor, finding: Finding) -> None:
    editing = session.held().editing_finding
    if editing is None or editing[0] != finding.id:
        return
    texts = [str(session.read(session.wkey("edit", finding.id, name)) or "") for name in FIELDS]
    changes = changed(finding, *texts)
    edited = app.findings.edit(actor, finding.id, editing[1], via="ui", **changes)  # type: ignore[arg-type]
    session.held().editing_finding = None
    session.put(session.SEGMENT, edited.segment)
    session.notify("success", f"Saved: {plain(edited.title)}")


@careful
def _cancel() -> None:
    session.held().editing_finding = None
