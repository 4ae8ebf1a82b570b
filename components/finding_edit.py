"""Edit a finding on screen, with what a change would do said before it is saved.

The form carries the row version it was filled from; the service refuses a stale one. A new check is counted on the newest data
before it is kept. Must never: save without a click.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from components import finding_form, problems, session
from components.problems import careful
from components.safe import plain
from components.sql_text import pretty
from lexsi_ds.application import Application
from lexsi_ds.errors import LexsiError
from lexsi_ds.services.access import Actor
from lexsi_ds.services.finding import Band, Finding

_LABELS = {"title": "Title", "statement": "Sentence", "columns": "Columns", "depends_on": "Depends on"}


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
    band = finding.band
    finding_form.set_fields(session.wkey("edit", finding.id), {
        "title": finding.title, "statement": finding.statement, "columns": list(finding.columns),
        "depends": list(finding.depends_on), "kind": "band" if band else "sql" if finding.check_sql else "none",
        "check": pretty(finding.check_sql) if finding.check_sql else "",
        "metric": band.metric_sql if band else "", "low": band.low if band else None, "high": band.high if band else None,
        "strict": bool(band and band.strict), "percent": bool(band and band.percent),
    })


def form(app: Application, actor: Actor, finding: Finding) -> None:
    """The fields, what would change, and Save."""
    key = session.wkey("edit", finding.id)
    try:
        table = app.catalog.table(finding.dataset_id)
    except LexsiError as error:
        st.error(problems.sentence(error), icon=":material/error:")
        st.button("Cancel", key=session.wkey(key, "cancel"), type="tertiary", on_click=_cancel)
        return
    title, statement = finding_form.texts(key)
    columns, depends = finding_form.about(app, actor, key, table, finding.id)
    kind, check, band, whole = finding_form.kind(key), "", None, True
    if kind == "sql":
        check = finding_form.sql_field(key)
    elif kind == "band":
        band = _band(app, key, table, finding)
        whole = band is not None
    changes = changed(finding, title, statement, check, columns=columns, depends=depends, kind=kind, band=band)
    _what_changes(app, actor, finding, table, changes)
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Save",
            key=session.wkey(key, "save"),
            type="primary",
            icon=":material/check:",
            disabled=not changes or not whole,
            on_click=_save,
            args=(app, actor, finding, changes),
        )
        st.button("Cancel", key=session.wkey(key, "cancel"), type="tertiary", on_click=_cancel)


def _band(app: Application, key: str, table: Any, finding: Finding) -> Band | None:
    """A band's own SELECT where there is one, else the figure by point and click."""
    if finding.band is None:
        made = finding_form.metric(key, table)
        return None if made is None else finding_form.band(app, key, table, made[0], percent=made[1])
    sql = st.text_area("The figure: one SELECT that gives value and n", key=session.wkey(key, "metric"), height=120)
    percent = st.checkbox("It is a share, shown in percent", key=session.wkey(key, "percent"))
    return finding_form.band(app, key, table, str(sql or ""), percent=percent)


def changed(
    finding: Finding, title: str, statement: str, check: str, *, columns: tuple[str, ...] = (),
    depends: tuple[str, ...] = (), kind: str = "sql", band: Band | None = None,
) -> dict[str, Any]:
    """The fields that differ from the finding, by the names that the service takes."""
    made: dict[str, Any] = {}
    for name, value in (("title", title), ("statement", statement), ("columns", columns), ("depends_on", depends)):
        if value != getattr(finding, name):
            made[name] = value
    if kind == "band":
        if band is not None and band != finding.band:
            made["band"] = band
    elif kind == "none" or not check:
        if finding.check_sql is not None:
            made["check_sql"] = None
    elif check not in (finding.check_sql, pretty(finding.check_sql) if finding.check_sql else None) or finding.band is not None:
        made["check_sql"] = check
    return made


def _what_changes(app: Application, actor: Actor, finding: Finding, table: Any, changes: dict[str, Any]) -> None:
    if not changes:
        st.caption("Nothing is changed yet.")
        return
    with st.container(border=True, gap="xxsmall"):
        titles = app.findings.titles(actor, {*finding.depends_on, *changes.get("depends_on", ())})
        for name, label in _LABELS.items():
            if name in changes:
                st.text(f"{label} before: {_worded(getattr(finding, name), titles)}")
                st.text(f"{label} after: {_worded(changes[name], titles)}")
        if changes.get("check_sql"):
            before = finding.last_check.failure_count if finding.last_check else None
            finding_form.tried(app, table, changes["check_sql"], before)
        elif "check_sql" in changes:
            st.markdown("Check: taken away. A person vouches for the sentence.")
        if "band" in changes:
            was = finding.band.bounds if finding.band else "no band"
            st.markdown(f"Band: {plain(changes['band'].bounds)} :gray[{plain(was)} before]")
        if set(changes) == {"title"}:
            st.caption("A new title alone leaves the review as it is.")
        else:
            st.caption("It goes back to review, and its check runs once.")


def _worded(value: Any, titles: dict[str, str]) -> str:
    if isinstance(value, tuple):
        return ", ".join(titles.get(str(v), str(v)) for v in value) or "none"
    return str(value)


@careful
def _save(app: Application, actor: Actor, finding: Finding, changes: dict[str, Any]) -> None:
    editing = session.held().editing_finding
    if editing is None or editing[0] != finding.id:
        return
    edited = app.findings.edit(actor, finding.id, editing[1], via="ui", **changes)
    session.held().editing_finding = None
    session.put(session.SEGMENT, edited.segment)
    session.notify("success", f"Saved: {plain(edited.title)}")


@careful
def _cancel() -> None:
    session.held().editing_finding = None
