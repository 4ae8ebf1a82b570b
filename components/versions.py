"""Versions of a source: what each holds, what relies on it, how two differ, what is stale; old ones can be deleted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from components import figures, session, tables
from components.problems import careful
from components.safe import flat, plain
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.services.access import Actor


def draw(app: Application, actor: Actor, handle: DatasetHandle) -> None:
    """The list, what is stale, and what changed between two."""
    listed = app.versions.list(actor, handle.source_id)
    removable = [v for v in listed if v.removable]
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        tables.card_head("Versions", f"{figures.counted(len(listed), 'version')}, {on_disk(app, actor, handle.source_id)}")
        st.button(
            f"Delete {figures.counted(len(removable), 'old version')}" if removable else "Delete old versions",
            key=session.wkey("versions", handle.source_id, "prune"),
            type="tertiary",
            icon=":material/delete_sweep:",
            disabled=not removable,
            help="Only versions that no model, answer or finding relies on",
            on_click=_ask_prune,
            args=(handle.source_id,),
        )
    if removable and session.held().confirm_prune == handle.source_id:
        _sure(app, actor, handle, removable)
    frame = pd.DataFrame([_row(v) for v in listed])
    tables.show(frame, key=session.wkey("versions", handle.snapshot_id), alt="Versions of the source, newest first")
    _stale(app, actor, handle)
    if len(listed) > 1:
        _compare(app, actor, handle, listed)
    else:
        st.caption("Refresh the source to get a second version; the first one stays readable.")


def _row(version: Any) -> dict[str, Any]:
    return {
        "Version": str(version.number),
        "Read": version.created_at,
        "Data to": version.today.isoformat() if version.today else "",
        "Tables": version.tables,
        "Rows": version.rows,
        "On disk": figures.size(version.bytes),
        "Relied on by": _reliance(version.used_by) or ("newest" if version.newest else "nothing"),
    }


def _reliance(used: Sequence[Any]) -> str:
    kinds: dict[str, int] = {}
    for each in used:
        kinds[each.kind] = kinds.get(each.kind, 0) + 1
    return ", ".join(figures.counted(n, kind) for kind, n in kinds.items())


def on_disk(app: Application, actor: Actor, source_id: str) -> str:
    """All that a source takes: every version, what is derived from it, and uploaded originals that a refresh reads again."""
    said = f"{figures.size(app.versions.disk_used(actor, source_id))} on disk"
    uploaded = app.versions.uploaded(actor, source_id)
    return f"{said}, {figures.size(uploaded)} of it uploaded files" if uploaded else said


def _sure(app: Application, actor: Actor, handle: DatasetHandle, removable: Sequence[Any]) -> None:
    numbers = [str(v.number) for v in reversed(removable)]
    which = f"version {numbers[0]}" if len(numbers) == 1 else f"versions {', '.join(numbers[:-1])} and {numbers[-1]}"
    them = "it" if len(numbers) == 1 else "them"
    with st.container(border=True, gap="xsmall"):
        st.markdown(f"Delete {which} of {plain(handle.name, 60)} for good? Nothing relies on {them}.")
        with st.container(horizontal=True, gap="small"):
            st.button(
                "Delete for good",
                key=session.wkey("versions", handle.source_id, "sure"),
                type="primary",
                on_click=_prune,
                args=(app, actor, handle.source_id),
            )
            st.button(
                "Keep", key=session.wkey("versions", handle.source_id, "keep"), type="tertiary", on_click=_ask_prune, args=(None,)
            )


@careful
def _ask_prune(source_id: str | None) -> None:
    session.held().confirm_prune = source_id


@careful
def _prune(app: Application, actor: Actor, source_id: str) -> None:
    session.held().confirm_prune = None
    freed = app.versions.prune(actor, source_id)
    session.notify("success", f"Old versions are deleted; {figures.size(freed)} are free again.")


def _stale(app: Application, actor: Actor, handle: DatasetHandle) -> None:
    stale = app.versions.stale(actor, handle.source_id)
    if not stale:
        return
    tables.card_head("Made from an older version", figures.counted(len(stale), "thing"))
    rows = [
        {
            "What": s.kind.capitalize(),
            "Name": s.name,
            "Made from": f"version {s.number}" if s.number else "not known",
            "Newest": f"version {s.newest}",
        }
        for s in stale
    ]
    tables.show(pd.DataFrame(rows), key=session.wkey("stale", handle.snapshot_id), alt="What an older version carries")


def _compare(app: Application, actor: Actor, handle: DatasetHandle, listed: Sequence[Any]) -> None:
    numbers = {v.number: v.snapshot_id for v in listed}
    tables.card_head("What changed")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        options = list(numbers)
        older = st.selectbox(
            "Older", options, index=1, width=150, key=session.wkey("versions", handle.source_id, "older"),
            format_func=lambda n: f"Version {n}",
        )  # fmt: skip
        newer = st.selectbox(
            "Newer", options, index=0, width=150, key=session.wkey("versions", handle.source_id, "newer"),
            format_func=lambda n: f"Version {n}",
        )  # fmt: skip
    before = app.catalog.handle(actor, handle.source_id, numbers[older])
    after = app.catalog.handle(actor, handle.source_id, numbers[newer])
    changes = differences(before, after)
    if changes:
        key = session.wkey("changes", before.snapshot_id, after.snapshot_id)
        tables.show(pd.DataFrame(changes), key=key, alt="What changed between the two versions")
    else:
        st.caption("The same tables, columns, types, ranges and row counts.")
    if older != newer:
        _rows(app, actor, before, after)


def _rows(app: Application, actor: Actor, before: DatasetHandle, after: DatasetHandle) -> None:
    """Rows of one table by their key, and figures that moved; computed when a table is chosen."""
    both = [t.name for t in after.tables if before.table(t.name)]
    name = st.selectbox(
        "Compare the rows of",
        both,
        index=None,
        key=session.wkey("versions", after.source_id, "rows"),
        placeholder="Choose a table",
        format_func=lambda n: flat(n, 60),
        width=316,
    )
    if name is None:
        return
    with st.spinner("Comparing rows"):
        found = app.comparisons.compare(actor, after.source_id, name, before.snapshot_id, after.snapshot_id)
    if found.rows is None:
        st.caption("No column is a key in both versions, so rows cannot be told apart.")
    else:
        came, went, moved = (figures.count(n) for n in (found.rows.added, found.rows.removed, found.rows.changed))
        st.markdown(f"By {plain(found.rows.key)}: **{came}** came, **{went}** went, **{moved}** changed.")
    frame = pd.DataFrame([_moved(c) for c in found.columns if _differs(c)])
    if len(frame):
        key = session.wkey("moved", before.snapshot_id, after.snapshot_id, name)
        tables.show(frame, key=key, alt="Missing shares and means that moved", units={"Missing before": "%", "Missing after": "%"})


def _differs(change: Any) -> bool:
    return (change.missing_before, change.mean_before) != (change.missing_after, change.mean_after)


def _moved(change: Any) -> dict[str, Any]:
    def percent(share: float | None) -> float | None:
        return None if share is None else 100 * share

    return {
        "Column": change.name,
        "Missing before": percent(change.missing_before),
        "Missing after": percent(change.missing_after),
        "Mean before": change.mean_before,
        "Mean after": change.mean_after,
    }


def differences(before: DatasetHandle, after: DatasetHandle) -> list[dict[str, str]]:
    """Tables, columns, types, rows and missing shares that differ, a line each."""
    found: list[dict[str, str]] = []

    def say(table: str, what: str, old: str = "", new: str = "") -> None:
        found.append({"Table": table, "What": what, "Before": old, "After": new})

    for table in before.tables:
        if after.table(table.name) is None:
            say(table.name, "Table went")
    for table in after.tables:
        old = before.table(table.name)
        if old is None:
            say(table.name, "Table came", "", figures.counted(table.rows, "row"))
            continue
        if old.rows != table.rows:
            say(table.name, "Rows", figures.count(old.rows), figures.count(table.rows))
        for column in old.columns:
            if table.column(column.name) is None:
                say(table.name, f"Column {column.name} went", column.type)
        for column in table.columns:
            was = old.column(column.name)
            if was is None:
                say(table.name, f"Column {column.name} came", "", column.type)
                continue
            if was.type != column.type:
                say(table.name, f"Type of {column.name}", was.type, column.type)
            if was.nulls != column.nulls:
                say(table.name, f"Missing in {column.name}", figures.count(was.nulls), figures.count(column.nulls))
            if not column.masked and (was.minimum, was.maximum) != (column.minimum, column.maximum):
                say(table.name, f"Range of {column.name}", _span(was), _span(column))
    return found


def _span(column: Any) -> str:
    return f"{plain_value(column.minimum)} to {plain_value(column.maximum)}"


def plain_value(value: str | None) -> str:
    """A smallest or largest value as a cell shows it."""
    return "missing" if value is None else value[:40]
