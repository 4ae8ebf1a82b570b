"""The fields of a finding on screen, for a new one and for an edit: texts, columns, what it depends on, and its check.

A check is SQL that returns violating rows, or a metric that stays in a band; either is tried on the newest data before it is saved.
Must never: save anything.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from components import figures, problems, session
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.data.handle import Table
from lexsi_ds.errors import LexsiError
from lexsi_ds.services import finding_band
from lexsi_ds.services.access import Actor
from lexsi_ds.services.finding import Band
from lexsi_ds.services.finding_band import Condition, Metric

KINDS = {"sql": "Rows that violate it", "band": "A figure in a band", "none": "No check"}
_FIGURES = {
    "share": "Share of rows", "average": "Average", "median": "Median", "sum": "Sum", "count": "Number of rows",
}
_FILTERS = 2


def texts(key: str) -> tuple[str, str]:
    """Title and sentence."""
    title = st.text_input("Title", key=session.wkey(key, "title"), max_chars=120, placeholder="A short name")
    statement = st.text_area(
        "Sentence", key=session.wkey(key, "statement"), max_chars=500, height=90,
        placeholder="The rule in one sentence: every sale has a price above zero.",
    )
    return str(title or "").strip(), str(statement or "").strip()


def about(
    app: Application, actor: Actor, key: str, table: Table, own_id: str | None = None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Columns it is about, and the findings that it depends on."""
    left, right = st.columns(2, gap="small")
    with left:
        names = [c.name for c in table.columns]
        names += [c for c in session.read(session.wkey(key, "columns")) or () if c not in names]  # gone from the data since
        columns = st.multiselect(
            "Columns it is about", names, key=session.wkey(key, "columns"), placeholder="None"
        )
    with right:
        found = app.findings.of_dataset(actor, table.dataset_id, status="active", limit=200)
        kept = set(session.read(session.wkey(key, "depends")) or ())
        titles = {f.id: f.title for f in found if f.id != own_id and (f.review != "rejected" or f.id in kept)}
        titles |= app.findings.titles(actor, [i for i in kept if i not in titles])
        depends = st.multiselect(
            "Depends on", list(titles), key=session.wkey(key, "depends"), placeholder="Nothing",
            format_func=lambda i: str(titles.get(i) or i)[:80],
            help="When one of these changes, breaks or is rejected, this finding is flagged.",
        )
    return tuple(columns), tuple(depends)


def kind(key: str) -> str:
    """Which kind of check."""
    return str(
        st.segmented_control(
            "Check", list(KINDS), key=session.wkey(key, "kind"), format_func=lambda k: KINDS[k], required=True
        )
        or "sql"
    )


def sql_field(key: str) -> str:
    """The check as SQL."""
    check = st.text_area(
        "One SELECT that returns the rows that violate the sentence; the table is called dataset",
        key=session.wkey(key, "check"), height=150, placeholder="SELECT * FROM dataset WHERE price <= 0",
    )
    return str(check or "").strip()


def tried(app: Application, table: Table, sql: str, before: int | None = None) -> bool:
    """How many rows violate a check on the newest data; only their number is read. False when it cannot run."""
    was = f" :gray[{figures.counted(before, 'row')} before]" if before is not None else ""
    try:
        result = app.sql.run_on_table(table, f"SELECT count(*) AS n FROM (\n{sql.rstrip(';')}\n) AS v")
        rows = int(result.frame()["n"].iloc[0])
        result.path.unlink(missing_ok=True)
    except LexsiError as error:
        st.error(problems.sentence(error), icon=":material/error:")
        return False
    st.markdown(f"Check: **{figures.counted(rows, 'row')}** would violate it now.{was}")
    return True


def bounds(key: str) -> tuple[float | None, float | None, bool]:
    """The band."""
    low_at, high_at, how = st.columns([1, 1, 1.4], gap="small", vertical_alignment="bottom")
    low = low_at.number_input("From", value=None, key=session.wkey(key, "low"), format="%g", placeholder="No lower bound")
    high = high_at.number_input("To", value=None, key=session.wkey(key, "high"), format="%g", placeholder="No upper bound")
    strict = how.checkbox(
        "The bound itself violates it", key=session.wkey(key, "strict"), help="Above 50% rather than at least 50%."
    )
    return low, high, strict


def metric(key: str, table: Table) -> tuple[str, bool] | None:
    """A figure by point and click, as its SELECT and whether it is a share; None until it is whole."""
    names = [c.name for c in table.columns]
    left, middle, right = st.columns(3, gap="small")
    figure = left.selectbox("Figure", list(_FIGURES), key=session.wkey(key, "figure"), format_func=lambda f: _FIGURES[f])
    column = value = None
    if figure == "share":
        column = middle.selectbox("where", names, index=None, key=session.wkey(key, "of"), placeholder="Column")
        value = right.text_input("is", key=session.wkey(key, "is"), placeholder="Value")
    elif figure != "count":
        column = middle.selectbox("of", names, index=None, key=session.wkey(key, "of"), placeholder="Column")
    where = _conditions(key, names)
    if figure != "count" and (column is None or (figure == "share" and not value)):
        return None
    share = Condition(column=str(column), value=str(value)) if figure == "share" else None
    made = Metric(aggregate=figure, column=column, share_of=share, where=where)  # type: ignore[arg-type]
    try:
        return finding_band.metric_sql(table, made), figure == "share"
    except LexsiError as error:
        st.error(problems.sentence(error), icon=":material/error:")
        return None


def _conditions(key: str, names: list[str]) -> tuple[Condition, ...]:
    found = []
    for i in range(_FILTERS):
        left, right = st.columns(2, gap="small")
        label = "Among rows where" if i == 0 else "and"
        column = left.selectbox(label, names, index=None, key=session.wkey(key, "where", i), placeholder="All rows")
        value = right.text_input("is", key=session.wkey(key, "where-is", i), disabled=column is None, placeholder="Value")
        if column is None:
            break
        if value:
            found.append(Condition(column=str(column), value=str(value)))
    return tuple(found)


def band(app: Application, key: str, table: Table, sql: str, *, percent: bool) -> Band | None:
    """The bounds of a figure, with what it is now; None until it is whole."""
    low, high, strict = bounds(key)
    try:
        now = app.findings.observe(table, sql)
    except LexsiError as error:
        st.error(problems.sentence(error), icon=":material/error:")
        return None
    shown = Band(metric_sql=sql, percent=percent)
    st.markdown(f"Observed now: **{plain(shown.seen(now))}**")
    if low is None and high is None:
        st.caption("Set a bound." + (" A share is between 0 and 1." if percent else ""))
        return None
    try:
        made = finding_band.band_of(sql, low, high, strict=strict, percent=percent)
    except LexsiError as error:
        st.error(problems.sentence(error), icon=":material/error:")
        return None
    st.caption(f"It holds while the figure is {plain(made.bounds)}.")
    return made


def set_fields(key: str, values: dict[str, Any]) -> None:
    """Fill the fields, before they are drawn."""
    for name, value in values.items():
        session.put(session.wkey(key, name), value)
