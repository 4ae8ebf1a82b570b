"""The catalog: a card for each source with its size, age and health; open it, use it, refresh it, delete it after a second look."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from components import figures, session, versions
from components.frame import activate
from components.problems import careful
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.errors import LexsiError, NotFound
from lexsi_ds.services.access import Actor

KINDS: dict[str, tuple[str, str]] = {
    "demo": ("Demo bank", ":material/account_balance:"),
    "pkdd": ("PKDD files", ":material/folder:"),
    "files": ("Files", ":material/description:"),
    "sqlite": ("SQLite file", ":material/database:"),
    "derived": ("Derived", ":material/function:"),
    "s3": ("Bucket", ":material/cloud:"),
    "postgres": ("PostgreSQL", ":material/storage:"),
    "mysql": ("MySQL or MariaDB", ":material/storage:"),
}
FAR = ("s3", "postgres", "mysql")
"""Kinds that a connector reaches."""
PARAMETER = "source"
DISK = (
    "All versions that are kept, what was derived from them, and uploaded originals. Each table of a version is a database file of "
    "its own, which takes about half a megabyte even when it has few rows."
)


def opened(app: Application, actor: Actor, active: str | None) -> str | None:
    """The source whose tabs are shown: the one of the address, else the one this tab opened, else the active one."""
    for wanted in (st.query_params.get(PARAMETER), session.held().opened_source):
        if wanted:
            with contextlib.suppress(NotFound):
                app.catalog.handle(actor, wanted)
                return wanted
    return active


def cards(
    app: Application, actor: Actor, active: str | None, shown: str | None, open_below: Callable[[str], None] | None
) -> None:
    """A card for each source, newest first; ``open_below`` draws what the opened one holds."""
    listed = app.catalog.sources(actor)
    if not listed:
        st.caption("Nothing is here yet.")
        return
    for group in grouped([s.id for s in listed], shown if open_below else None):
        infos = [s for s in listed if s.id in group]
        if open_below and group == [shown]:
            with st.container(border=True, gap="xsmall"):
                _card(app, actor, infos[0], active, shown)
                st.space("small")
                open_below(infos[0].id)
        else:
            with st.grid(2, min_column_width=400):
                for source in infos:
                    with st.container(border=True, gap="xsmall", height="stretch"):
                        _card(app, actor, source, active, shown)
    _undeleted(app, actor)


def grouped(ids: Sequence[str], shown: str | None) -> list[list[str]]:
    """The cards in their order, the opened one by itself: what it holds comes right under it, at the page's full width."""
    if shown is None or shown not in ids:
        return [list(ids)]
    at = ids.index(shown)
    return [group for group in (list(ids[:at]), [shown], list(ids[at + 1 :])) if group]


def _card(app: Application, actor: Actor, source: Any, active: str | None, shown: str | None) -> None:
    label, icon = KINDS.get(source.kind, (source.kind, ":material/dataset:"))
    state = " :green-badge[:material/check: Active]" if source.id == active else ""
    synthetic = " :gray-badge[Synthetic]" if source.synthetic else ""
    st.markdown(f"{icon} **{plain(source.name, 60)}**{state}{synthetic}")
    st.markdown(f":gray[{source_line(source, label)}]")
    st.markdown(f":gray[{age_line(source)}]")
    if size := disk_line(app, actor, source):
        st.markdown(f":gray[{plain(size)}]", help=DISK)
    if health := _health(app, actor, source):
        st.markdown(" ".join(health))
    st.space("stretch")
    if session.held().confirm_delete == source.id:
        _sure(app, actor, source)
    else:
        _buttons(app, actor, source, active, shown)


def _buttons(app: Application, actor: Actor, source: Any, active: str | None, shown: str | None) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.button(
            "Open",
            key=session.wkey("source", source.id, "open"),
            disabled=source.id == shown,
            on_click=_open,
            args=(source.id,),
        )
        st.button(
            "Use",
            key=session.wkey("source", source.id, "use"),
            type="tertiary",
            disabled=source.id == active,
            help="Chat, models and findings are about the source in use",
            on_click=_use,
            args=(app, actor, source.id),
        )
        if source.kind != "demo":
            st.button(
                "Refresh",
                key=session.wkey("source", source.id, "refresh"),
                type="tertiary",
                icon=":material/refresh:",
                help="Read it again from where it came; the old version stays",
                on_click=_refresh,
                args=(app, actor, source.id, source.name, source.kind),
            )
        st.button(
            "",
            key=session.wkey("source", source.id, "delete"),
            type="tertiary",
            icon=":material/delete:",
            help="Delete this source",
            on_click=_ask_delete,
            args=(source.id,),
        )


def _sure(app: Application, actor: Actor, source: Any) -> None:
    st.caption(f"Delete {plain(source.name, 60)} with all its versions? What relies on it stops this.")
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Delete for good",
            key=session.wkey("source", source.id, "sure"),
            type="primary",
            on_click=_delete,
            args=(app, actor, source.id, source.kind),
        )
        st.button(
            "Keep", key=session.wkey("source", source.id, "keep"), type="tertiary", on_click=_ask_delete, args=(None,)
        )


def source_line(source: Any, label: str) -> str:
    """What it is and how much of it there is: tables and rows of its newest version."""
    parts = [label, figures.counted(source.tables, "table"), figures.counted(source.rows, "row")]
    return ", ".join(parts if _is_here(source) else [*parts, "read in place"])


def disk_line(app: Application, actor: Actor, source: Any) -> str:
    """All that it takes on this disk; "" where its tables stay at their source."""
    return versions.on_disk(app, actor, source.id) if _is_here(source) else ""


def _is_here(source: Any) -> bool:
    return bool(source.bytes) or source.kind not in FAR


def age_line(source: Any) -> str:
    """Its version, when that was read, and how far its data goes."""
    until = f", data to {source.today.isoformat()}" if source.today else ""
    return f"Version {source.snapshot_number}, read {figures.ago(source.updated_at)}{until}"


def _health(app: Application, actor: Actor, source: Any) -> list[str]:
    """Badges for what wants a look: rejected rows, notes, and what an older version still carries."""
    found = []
    with contextlib.suppress(LexsiError):
        rejected = sum(app.catalog.rejected(actor, source.id, name)[0] for name in source.table_names[:20])
        if rejected:
            found.append(f":yellow-badge[:material/warning: {figures.counted(rejected, 'entry')} did not fit]")
        if notes := len(app.catalog.notes(actor, source.id)):
            found.append(f":gray-badge[:material/fact_check: {figures.counted(notes, 'note')}]")
        if source.snapshot_number > 1 and (stale := len(app.versions.stale(actor, source.id))):
            found.append(f":yellow-badge[:material/history: {figures.count(stale)} made from an older version]")
    return found


def _undeleted(app: Application, actor: Actor) -> None:
    """Sources whose deletion did not end: said, with a way on."""
    for body in app.datasets.list_data_connectors(actor, limit=100)["connectors"]:
        if body.get("deleteStatus") != "delete_failed":
            continue
        with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{plain(body['displayName'])}** :gray[{plain(body['deleteError'], 200)}]", width="stretch")
            st.button(
                "Delete again",
                key=session.wkey("source", body["id"], "again"),
                on_click=_delete,
                args=(app, actor, body["id"], body["kind"]),
            )


@careful
def _open(source_id: str) -> None:
    session.held().opened_source = source_id
    session.forget(session.PREVIEW_TABLE)
    st.query_params[PARAMETER] = source_id


@careful
def _use(app: Application, actor: Actor, source_id: str) -> None:
    activate(app, actor, source_id)
    session.held().opened_source = source_id
    st.query_params[PARAMETER] = source_id


@careful
def _refresh(app: Application, actor: Actor, source_id: str, name: str, kind: str) -> None:
    start(app, actor, f"Reading {name} again", refresher(app, actor, source_id, kind), key=f"refresh:{source_id}")


def refresher(app: Application, actor: Actor, source_id: str, kind: str) -> Callable[[Any, Any], Any]:
    """The work of a refresh: files are read again, tables of a connector are copied again."""

    def work(cancel: Any, tell: Any) -> Any:
        if kind in FAR:
            handle = app.connectors.refresh(actor, source_id, cancel=cancel, tell=tell)
            app.versions.recheck(actor, handle)
            return handle
        return app.versions.refresh(actor, source_id, cancel=cancel, tell=tell).handle

    return work


def start(app: Application, actor: Actor, label: str, work: Callable[[Any, Any], Any], *, key: str | None = None) -> None:
    """Begin an import or a refresh; the page shows how far it is, with a cancel."""
    session.held().import_task_id = app.background.start("import", label, work, owner=actor.id, key=key).id


@careful
def _ask_delete(source_id: str | None) -> None:
    session.held().confirm_delete = source_id


@careful
def _delete(app: Application, actor: Actor, source_id: str, kind: str) -> None:
    session.held().confirm_delete = None
    if kind in FAR:
        app.connectors.delete(actor, source_id)
    else:
        app.catalog.delete(actor, source_id)
    if st.query_params.get(PARAMETER) == source_id:
        del st.query_params[PARAMETER]
    session.held().opened_source = None
    session.forget_source()
    session.notify("info", "The source is deleted, with all its versions.")
