"""The first step of Connect data: the ways in, what is not available yet, and an import at work.

Uploaded bytes are written to disk in pieces and then dropped: the uploader gets a new key. Must never: read a file here, or
believe a file's name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from components import connector_wizard, figures, session, wizard, wizard_check
from components.connector_state import ConnectorWizard, begin
from components.frame import progress_of
from components.problems import careful
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.jobs.background import Task
from lexsi_ds.services.access import Actor

CHUNK = 1 << 20
TILES = {
    "postgres": (":material/storage:", "Tables of a database, copied here or read in place."),
    "mysql": (":material/storage:", "Tables of a server or of one database, copied here."),
    "s3": (":material/cloud:", "Parquet, CSV and JSON files of a bucket, copied here or read in place."),
}


def ways(app: Application, actor: Actor, task: Task | None) -> None:
    """The step that this tab is at."""
    busy = task is not None and task.state == "running"
    state = session.held().wizard
    if isinstance(state, wizard.FileWizard):
        with st.container(border=True, gap="small"):
            if state.loading:
                wizard_check.name_and_load(app, actor, state, busy=busy)
            else:
                wizard_check.draw(app, actor, state)
    elif isinstance(state, ConnectorWizard):
        with st.container(border=True, gap="small"):
            connector_wizard.draw(app, actor, state, busy=busy)
    else:
        _tiles(app, actor, busy)


def _tiles(app: Application, actor: Actor, busy: bool) -> None:
    wizard.steps(1)
    with st.grid(3, min_column_width=260):
        with st.container(border=True, gap="small", height="stretch"):
            st.markdown(":material/upload_file: **Files**")
            _uploader(app, actor)
        with st.container(border=True, gap="small", height="stretch"):
            st.markdown(":material/folder_open: **Folder of this machine**")
            _folder(app, actor)
        with st.container(border=True, gap="small", height="stretch"):
            st.markdown(":material/account_balance: **Demo bank**")
            st.markdown(":gray[Eight tables of a synthetic bank: accounts, loans, cards, a million transactions.]")
            st.space("stretch")
            st.button(
                "Use the demo bank",
                key="connect-demo",
                disabled=busy,
                on_click=_demo,
                args=(app, actor),
                width="stretch",
            )
        for kind in app.connectors.kinds():
            if kind.available and kind.name in TILES:
                _far_tile(kind)
    later = [kind.label for kind in app.connectors.kinds() if not kind.available]
    if later:
        st.caption(f"Not available yet: {', '.join(plain(name) for name in later)}.")


def _far_tile(kind: Any) -> None:
    icon, text = TILES[kind.name]
    with st.container(border=True, gap="small", height="stretch"):
        st.markdown(f"{icon} **{plain(kind.label)}**")
        st.markdown(f":gray[{text}]")
        st.space("stretch")
        st.button(
            f"Connect {'a bucket' if kind.name == 's3' else 'a database'}",
            key=session.wkey("connect", kind.name),
            on_click=begin,
            args=(kind.name,),
            width="stretch",
        )


def _uploader(app: Application, actor: Actor) -> None:
    key = session.wkey("connect", "upload", session.held().upload_round)
    files = st.file_uploader(
        "CSV, JSON, Parquet, Excel, SQLite, DuckDB or zip",
        accept_multiple_files=True,
        key=key,
        help="Several files become tables of one source. Nothing is imported before you have seen how it was read.",
    )
    st.button(
        "Check how they are read",
        type="primary",
        key="connect-load",
        disabled=not files,
        on_click=_uploaded,
        args=(app, actor, key),
        width="stretch",
    )


def upload_limit() -> int:
    """Megabytes that one uploaded file may have."""
    return int(st.get_option("server.maxUploadSize"))


@careful
def _uploaded(app: Application, actor: Actor, key: str) -> None:
    files: Sequence[Any] = session.read(key) or []
    if not files:
        return
    folder = app.uploads.open()
    paths = []
    for file in files:
        paths.append(write_upload(folder, file))
        drop_upload(file)
    session.held().upload_round += 1
    wizard.begin(app, actor, paths, PurePosixPath(paths[0].name).stem, uploaded=folder)


def write_upload(folder: Path, file: Any) -> Path:
    """Write an upload below ``folder`` in pieces, under a harmless form of its name; a name twice gets a number."""
    name = (
        re.sub(r"[^\w.\- ]+", "_", PurePosixPath(str(file.name).replace("\\", "/")).name).strip(". ")[-120:] or "file"
    )
    path, n = folder / name, 1
    while path.exists():
        n += 1
        path = folder / f"{Path(name).stem}_{n}{Path(name).suffix}"
    file.seek(0)
    with path.open("wb") as out:
        while piece := file.read(CHUNK):
            out.write(piece)
    return path


def drop_upload(file: Any) -> None:
    """Free the memory of an upload that is on disk now; Streamlit would hold it until the tab is closed."""
    context = get_script_run_ctx()
    remove = getattr(context.uploaded_file_mgr, "remove_file", None) if context else None
    if context and remove:
        remove(session_id=context.session_id, file_id=file.file_id)


def _folder(app: Application, actor: Actor) -> None:
    st.markdown(f":gray[Read where they are, of any size. The way for files above {figures.count(upload_limit())} MB.]")
    st.text_input(
        "Path of a folder or a file",
        key=session.FOLDER_PATH,
        placeholder="/data/sales",
        persist_state="page",
        help="An upload passes through the memory of the server, a file of a folder does not. A refresh reads the folder again and "
        "finds new files.",
    )
    st.space("stretch")
    st.button("Check how it is read", key="connect-folder-load", on_click=_looked, args=(app, actor), width="stretch")


@careful
def _looked(app: Application, actor: Actor) -> None:
    text = str(session.read(session.FOLDER_PATH) or "").strip()
    if not text:
        session.notify("warning", "**No folder was named.** Write the path of a folder or file of this machine.")
        return
    path = Path(text).expanduser()
    wizard.begin(app, actor, [path], path.stem or path.name)


@careful
def _demo(app: Application, actor: Actor) -> None:
    session.held().import_task_id = app.start_import(actor, "demo", "Demo bank", []).id


def import_state(app: Application, actor: Actor) -> Task | None:
    """The import of this tab. A failure stays until it is dismissed or the next import; a success is said in passing."""
    task_id = session.held().import_task_id
    task = app.background.get(task_id) if task_id else None
    if task is None:
        return None
    if task.state == "running":
        _importing(app, actor, task.id)
    elif task.state == "done":
        handle: DatasetHandle = task.result
        size = f"{figures.counted(len(handle.tables), 'table')}, {figures.counted(handle.rows, 'row')}"
        again = handle.snapshot_number > 1
        said = f"read again, version {handle.snapshot_number}" if again else "loaded and active"
        st.toast(f"**{plain(handle.name)} is {said}**: {size}.", icon=":material/check_circle:")
        session.held().import_task_id = None
        session.forget_source()
    elif task.state == "stopped":
        st.info("The import was cancelled; nothing of it was kept.", icon=":material/stop_circle:")
        _dismissal()
    else:
        st.error(f"**Nothing was imported.** {plain(task.error or '', 900)}", icon=":material/error:")
        _dismissal()
    return task


def _dismissal() -> None:
    st.button("Dismiss", key="import-dismiss", icon=":material/close:", type="tertiary", on_click=_dismiss)


@careful
def _dismiss() -> None:
    session.held().import_task_id = None


@st.fragment(run_every=0.5)
def _importing(app: Application, actor: Actor, task_id: str) -> None:
    task = app.background.get(task_id)
    if task is None or task.state != "running":
        st.rerun()
    with st.container(border=True, gap="small"):
        progress_of(app, actor, task, "import")
