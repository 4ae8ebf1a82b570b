"""The library of documents on Connect data: add files, search them, read one, delete it, and take what it says of this source.

A document's text is a stranger's: it is drawn letter by letter, in pages, never as Markdown. Must never: read a file here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from components import document_suggestions, figures, session, tables
from components.connect import drop_upload, upload_limit, write_upload
from components.frame import progress_of
from components.problems import careful, guarded
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import LexsiError
from lexsi_ds.jobs.background import Task
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.services.access import Actor
from lexsi_ds.services.documents import SHELF
from lexsi_ds.store.documents import DocumentRecord

ICONS = {
    "markdown": "Markdown", "text": "Text", "json": "JSON", "csv": "CSV", "pdf": "PDF", "word": "Word", "html": "HTML",
}  # fmt: skip
PAGE = 20_000
"""Characters of a document that are sent to the browser at once."""
_SHELF, _SEARCH = "documents-shelf", "documents-search"


def draw(app: Application, actor: Actor, handle: DatasetHandle) -> None:
    """The library, and below it what it suggests for this source."""
    every = app.documents.list(actor)
    st.caption(
        "Handbooks, data dictionaries, policies. One library for all sources of your workspace: answers may read a document and "
        "name it, and what a dictionary says of this source's columns is offered below."
    )
    _adding(app, actor, every)
    if every:
        _library(app, actor, every)
        with guarded("The suggestions"):
            document_suggestions.draw(app, actor, handle)


def _adding(app: Application, actor: Actor, every: Sequence[DocumentRecord]) -> None:
    task = app.background.get(session.held().documents_task or "")
    if task is not None and task.state == "running":
        with st.container(border=True):
            _reading(app, actor, task.id)
        return
    if task is not None:
        _read(task)
    with st.container(border=True, gap="small"):
        tables.card_head("Add documents", "Markdown, text, JSON, CSV, PDF, Word (.docx), HTML")
        files, shelf = st.columns([2.4, 1], gap="medium", vertical_alignment="bottom")
        key = session.wkey("documents", "upload", session.held().documents_uploads)
        with files:
            most = min(app.settings.document_mb, upload_limit())
            chosen = st.file_uploader(
                f"Files, {most} MB each", accept_multiple_files=True, key=key, max_upload_size=most,
                help="Only their text is kept, whole. Scans need text recognition first. Nothing in a file is run or fetched.",
            )  # fmt: skip
        with shelf:
            shelves = list(dict.fromkeys([SHELF, *(d.shelf for d in every)]))
            st.selectbox(
                "Shelf", shelves, key=_SHELF, accept_new_options=True,
                help="A word to tell apart what belongs together. A document is named shelf/file.",
            )  # fmt: skip
            st.button(
                "Add to the library", type="primary", key="documents-add", disabled=not chosen, width="stretch",
                on_click=_add, args=(app, actor, key),
            )  # fmt: skip


@careful
def _add(app: Application, actor: Actor, key: str) -> None:
    files: Sequence[Any] = session.read(key) or []
    if not files:
        return
    folder, shelf, named = app.uploads.open(), str(session.read(_SHELF) or SHELF), []
    for file in files:
        named.append((write_upload(folder, file), str(file.name)))
        drop_upload(file)
    session.held().documents_uploads += 1
    task = app.background.start(
        "documents", f"Reading {figures.counted(len(named), 'document')}",
        lambda cancel, tell: _add_all(app, actor, folder, shelf, named, cancel, tell), owner=actor.id,
    )  # fmt: skip
    session.held().documents_task = task.id


def _add_all(
    app: Application, actor: Actor, folder: Path, shelf: str, named: Sequence[tuple[Path, str]], cancel: Cancel, tell: Any
) -> list[tuple[str, str, str]]:
    """Name of each file, what became of it, and what is wrong with it; one bad file keeps no other out."""
    told: list[tuple[str, str, str]] = []
    try:
        for i, (path, name) in enumerate(named):
            cancel.check()
            tell({"done": i, "total": len(named), "text": name})
            try:
                told.append((name, app.documents.add(actor, path, name, shelf=shelf, cancel=cancel).became, ""))
            except LexsiError as error:
                told.append((name, "refused", str(error)))
    finally:
        app.uploads.release(folder)
    return told


@st.fragment(run_every=0.5)
def _reading(app: Application, actor: Actor, task_id: str) -> None:
    task = app.background.get(task_id)
    if task is None or task.state != "running":
        st.rerun()
    progress_of(app, actor, task, "documents")


def _read(task: Task) -> None:
    """What the last upload came to; what was refused stays until the next one."""
    if task.state == "stopped":
        st.info("Stopped. What was read before is in the library.", icon=":material/stop_circle:")
    elif task.state == "failed":
        st.error(f"**Nothing was added.** {plain(task.error or '', 900)}", icon=":material/error:")
    refused = [(name, why) for name, became, why in task.result or () if became == "refused"]
    for name, why in refused:
        st.error(f"**{plain(name, 80)} was not added.** {plain(why, 600)}", icon=":material/error:")
    same = [name for name, became, _ in task.result or () if became == "same"]
    if same:
        st.info(f"Unchanged and left as it was: {plain(', '.join(same), 300)}.", icon=":material/info:")


def _library(app: Application, actor: Actor, every: Sequence[DocumentRecord]) -> None:
    wanted = st.text_input(
        "Search the documents", key=_SEARCH, placeholder="Search the documents", label_visibility="collapsed",
        icon=":material/search:",
    )  # fmt: skip
    if wanted.strip():
        _found(app, actor, wanted)
    frame = pd.DataFrame(
        [
            {
                "Document": d.path, "Shelf": d.shelf, "Title": d.title, "Kind": ICONS.get(d.kind, d.kind), "Characters": d.chars,
                "Added": figures.ago(d.added_at), "Notes": " ".join(d.notes),
            }
            for d in every
        ]
    )  # fmt: skip
    if not any(frame["Notes"]):
        frame = frame.drop(columns="Notes")
    picked = st.dataframe(
        frame, key=session.wkey("documents", "list", hash(tuple(d.id for d in every))), hide_index=True, on_select="rerun",
        selection_mode="single-row", height=tables.height(len(frame)), alt="Documents of the library",
        column_config={"Characters": st.column_config.NumberColumn(format="localized")},
    )  # fmt: skip
    rows = picked["selection"]["rows"]
    if rows and rows[0] < len(every):
        with guarded("The document"):
            _document(app, actor, every[rows[0]])
    else:
        st.caption(f"{figures.counted(len(every), 'document')}. Select one to read it.")


def _found(app: Application, actor: Actor, wanted: str) -> None:
    hits = app.documents.search(actor, wanted, 6)
    with st.container(border=True, gap="small"):
        tables.card_head("Passages", f"{len(hits)} that share words with the search, best first")
        for hit in hits:
            st.markdown(f"**{plain(hit.document.path, 80)}** :gray[{plain(hit.document.shelf, 60)}]")
            st.text(_short(hit.passage, 420))
        if not hits:
            st.caption("No document has these words.")


def _short(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _document(app: Application, actor: Actor, document: DocumentRecord) -> None:
    """One document, a page of letters at a time."""
    text = app.documents.text(actor, document.id)
    parts = max(1, -(-len(text) // PAGE))
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            size = f"{figures.count(document.chars)} characters, added {figures.ago(document.added_at)}"
            tables.card_head(document.name, f"{ICONS.get(document.kind, document.kind)}, {size}")
            _delete(app, actor, document)
        for note in document.notes:
            st.caption(f":material/warning: {plain(note, 300)}")
        part = 1
        if parts > 1:
            part = st.pagination(parts, key=session.wkey("documents", document.id, "part")) or 1
            st.caption(f"Part {part} of {parts}; the library holds it whole.")
        shown = text[(part - 1) * PAGE : part * PAGE]
        st.code(shown, language=None, wrap_lines=True, height=420 if shown.count("\n") > 14 or len(shown) > 1500 else "content")


def _delete(app: Application, actor: Actor, document: DocumentRecord) -> None:
    with st.popover("Delete", type="tertiary", icon=":material/delete:", key=session.wkey("documents", document.id, "delete")):
        st.markdown("Its text is removed for good. What was accepted from it stays.")
        st.button(
            "Delete this document", key=session.wkey("documents", document.id, "sure"), icon=":material/delete:",
            on_click=_deleted, args=(app, actor, document.id, document.path),
        )  # fmt: skip


@careful
def _deleted(app: Application, actor: Actor, document_id: str, path: str) -> None:
    app.documents.delete(actor, document_id)
    session.notify("success", f"{plain(path, 80)} is deleted.")
