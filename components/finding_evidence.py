"""The evidence of a finding on screen: rows that violate it, its SQL, what it is about and rests on, its history.

Must never: send more than a sample of rows to the browser, or draw a finding's text as anything but text.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from components import figures, finding_history, session, tables
from components.problems import careful
from components.safe import plain
from components.sql_text import show_sql
from lexsi_ds.application import Application
from lexsi_ds.errors import LexsiError
from lexsi_ds.services.access import Actor
from lexsi_ds.services.finding import Finding


def go(finding_id: str | None) -> None:
    """Open a finding, here and in the address."""
    session.held().finding_id = finding_id
    if finding_id:
        session.put(session.FINDING_PICK, finding_id)
        st.query_params["finding"] = finding_id


@careful
def check_again(app: Application, actor: Actor, finding_id: str) -> None:
    """Run the check on the latest data."""
    app.findings.run_check(actor, finding_id)


def _failing_rows(app: Application, actor: Actor, finding: Finding, failures: int) -> None:
    try:
        rows = app.findings.failing_rows(actor, finding.id, 20)
    except LexsiError as error:
        st.caption(f"{figures.count(failures)} rows violate it; they could not be shown: {plain(error.what)}")
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.caption(tables.count_line(len(rows), failures), width="content")
        tables.csv_button(
            "Download all", "violating_rows.csv", _violating(app, actor, finding),
            session.wkey("finding", finding.id, "download"),
        )
    tables.show(rows, key=session.wkey("finding", finding.id, "rows"), alt="Rows that violate the finding")


def evidence(app: Application, actor: Actor, finding: Finding) -> None:
    with st.container(border=True, gap="small"):
        tables.card_head("What the check found")
        failures = finding.last_check.failure_count if finding.last_check else None
        if finding.band is not None and finding.last_check is not None:
            band = finding.band
            seen = plain(band.seen(finding.last_check.observed))
            st.markdown(f"Observed **{seen}** :gray[the band is {plain(band.bounds)}]")
        if finding.verdict == "error" and finding.last_check:
            st.text(finding.last_check.error or "The check did not run.")
        elif failures and finding.band is None:
            _failing_rows(app, actor, finding, failures)
        elif finding.band is None:
            st.caption("No row violates it." if finding.check_sql else "This finding has no check: a person vouches for it.")
        if finding.check_sql:
            st.caption("The check: one SELECT that returns the rows that violate the sentence; none means it holds.")
            show_sql(finding.check_sql)
            st.button(
                "Run the check again",
                key=session.wkey("finding", finding.id, "check"),
                type="tertiary",
                icon=":material/refresh:",
                on_click=check_again,
                args=(app, actor, finding.id),
            )
    _about(app, actor, finding)
    with st.container(border=True, gap="small"):
        tables.card_head("History")
        finding_history.draw(app, actor, finding)


def _about(app: Application, actor: Actor, finding: Finding) -> None:
    """Columns, and what it depends on or what depends on it, each one click away."""
    below = app.findings.depending(actor, finding.id)
    if not (finding.columns or finding.depends_on or below):
        return
    with st.container(border=True, gap="small"):
        tables.card_head("What it is about")
        if finding.columns:
            st.caption("Columns: " + ", ".join(plain(c) for c in finding.columns))
        titles = app.findings.titles(actor, finding.depends_on)
        for label, linked in (
            ("Depends on", [(i, titles.get(i, "A finding that is not there")) for i in finding.depends_on]),
            ("What depends on it", [(f.id, f.title) for f in below]),
        ):
            if linked:
                st.caption(label)
            for other, title in linked:
                st.button(
                    plain(title, 100), key=session.wkey("finding", finding.id, label, other), type="tertiary",
                    icon=":material/arrow_forward:", on_click=follow, args=(app, actor, other),
                )


@careful
def follow(app: Application, actor: Actor, finding_id: str) -> None:
    """Open another finding, in the segment it stands in."""
    found = app.findings.get(actor, finding_id)
    session.held().follow_link = True
    go(found.id)


def _violating(app: Application, actor: Actor, finding: Finding) -> Callable[[], bytes]:
    def made() -> bytes:
        text, rows = app.findings.violating_csv(actor, finding.id)
        version = f"{finding.dataset_id} version {finding.latest_version}"
        app.audit.downloaded(actor, f"rows that violate {finding.id}", rows=rows, snapshot=version)
        return text

    return made
