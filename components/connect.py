"""Connect data on screen: the ways in, an import at work, the list of sources, and the tables of the active one.

Uploaded bytes are written to disk in pieces and then dropped: the uploader gets a new key. Must never: read a file here, or
believe a file's name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import streamlit as st

from components import figures, session
from components.frame import progress_of
from components.problems import careful
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.data.sniff import path_kind
from lexsi_ds.jobs.background import Task
from lexsi_ds.services.access import Actor

CHUNK = 1 << 20
LATER = (
    ("Database", ":material/storage:", "PostgreSQL and MySQL"),
    ("Bucket", ":material/cloud:", "S3 and the like"),
    ("Lexsi", ":material/hub:", "A Lexsi workspace"),
)
EXTENSIONS = ["csv", "tsv", "txt", "parquet", "sqlite", "sqlite3", "db"]


def tiles(frame_app: Application, actor: Actor, task: Task | None) -> None:
    """The ways in: what works now, and what does not yet, said as such."""
    busy = task is not None and task.state == "running"
    with st.grid(3, min_column_width=260):
        with st.container(border=True, gap="small", height="stretch"):
            st.markdown(":material/account_balance: **Demo bank**")
            st.markdown(":gray[Eight tables of a synthetic bank: accounts, loans, cards, a million transactions.]")
            st.space("stretch")
            st.button(
                "Use the demo bank",
                key="connect-demo",
                disabled=busy,
                on_click=_demo,
                args=(frame_app, actor),
                width="stretch",
            )
        with st.container(border=True, gap="small", height="stretch"):
            st.markdown(":material/upload_file: **Upload files**")
            _uploader(frame_app, actor, busy)
        with st.container(border=True, gap="small", height="stretch"):
            st.markdown(":material/folder_open: **Folder of this machine**")
            _folder(frame_app, actor, busy)
    st.caption("Not available yet: " + ", ".join(f"{icon} {name} ({what})" for name, icon, what in LATER) + ".")


def _uploader(app: Application, actor: Actor, busy: bool) -> None:
    key = session.wkey("connect", "upload", session.held().upload_round)
    files = st.file_uploader(
        "CSV, TSV, TXT, Parquet or SQLite",
        type=EXTENSIONS,
        accept_multiple_files=True,
        key=key,
        disabled=busy,
        help="Several files become tables of one source.",
    )
    st.text_input(
        "Name of the source",
        key=session.UPLOAD_NAME,
        placeholder="Taken from the first file",
        max_chars=80,
        persist_state="page",
    )
    st.button(
        "Load files",
        type="primary",
        key="connect-load",
        disabled=busy or not files,
        on_click=_load,
        args=(app, actor, key),
        width="stretch",
    )


@careful
def _load(app: Application, actor: Actor, key: str) -> None:
    files: Sequence[Any] = session.read(key) or []
    if not files:
        return
    folder = app.upload_folder()
    paths = [write_upload(folder, file) for file in files]
    name = str(session.read(session.UPLOAD_NAME) or "").strip() or PurePosixPath(paths[0].name).stem
    session.held().upload_round += 1
    session.held().import_task_id = app.start_import(
        actor, path_kind(paths[0]) if len(paths) == 1 else "files", name, paths
    ).id


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


def _folder(app: Application, actor: Actor, busy: bool) -> None:
    st.text_input(
        "Folder path",
        key=session.FOLDER_PATH,
        placeholder="/data/berka",
        persist_state="page",
        help="A folder with the PKDD'99 files (.asc) or with CSV and Parquet files, or one file.",
    )
    st.text_input(
        "Name of the source",
        key=session.FOLDER_NAME,
        placeholder="Taken from the folder",
        max_chars=80,
        persist_state="page",
    )
    st.space("stretch")
    st.button(
        "Load folder",
        key="connect-folder-load",
        disabled=busy,
        on_click=_load_folder,
        args=(app, actor),
        width="stretch",
    )


@careful
def _load_folder(app: Application, actor: Actor) -> None:
    text = str(session.read(session.FOLDER_PATH) or "").strip()
    if not text:
        session.notify("warning", "**No folder was named.** Write the path of a folder or file of this machine.")
        return
    path = Path(text).expanduser()
    kind = path_kind(path)
    name = str(session.read(session.FOLDER_NAME) or "").strip() or path.stem or path.name
    session.held().import_task_id = app.start_import(actor, kind, name, [path]).id


@careful
def _demo(app: Application, actor: Actor) -> None:
    session.held().import_task_id = app.start_import(actor, "demo", "Demo bank", []).id


def import_state(app: Application, actor: Actor) -> Task | None:
    """The import of this tab. A failure stays until the next import; a success is said in passing, the list shows it."""
    task_id = session.held().import_task_id
    task = app.background.get(task_id) if task_id else None
    if task is None:
        return None
    if task.state == "running":
        _importing(app, actor, task.id)
    elif task.state == "done":
        handle: DatasetHandle = task.result
        size = f"{figures.counted(len(handle.tables), 'table')}, {figures.counted(handle.rows, 'row')}"
        st.toast(f"**{plain(handle.name)} is loaded and active**: {size}.", icon=":material/check_circle:")
        session.held().import_task_id = None
        session.forget_source()
    elif task.state == "stopped":
        st.info("The import was cancelled; nothing of it was kept.", icon=":material/stop_circle:")
    else:
        st.error(f"**Nothing was imported.** {plain(task.error or '', 900)}", icon=":material/error:")
    return task


@st.fragment(run_every=0.5)
def _importing(app: Application, actor: Actor, task_id: str) -> None:
    task = app.background.get(task_id)
    if task is None or task.state != "running":
        st.rerun()
    with st.container(border=True, gap="small"):
        progress_of(app, actor, task, "import")
