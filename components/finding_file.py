"""Findings as a YAML file: download those that are listed, read a file in as proposals with what became of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from components import figures, session
from components.finding_list import Narrowed
from components.problems import careful
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.errors import BadInput
from lexsi_ds.services.access import Actor
from lexsi_ds.services.finding import Segment

_UPLOAD = "findings-file"


def menu(app: Application, actor: Actor, segment: Segment, source_id: str | None, wanted: Narrowed, total: int) -> None:
    """The button that opens into both ways."""
    with st.popover("File", icon=":material/swap_vert:"):
        st.download_button(
            f"Download {figures.counted(total, 'finding')} of this list", _text(app, actor, segment, source_id, wanted),
            file_name="findings.yaml", mime="application/yaml", key="findings-file-download", icon=":material/download:",
            on_click="ignore", disabled=not total, width="stretch",
        )
        st.file_uploader(
            "Read findings from a file", type=["yaml", "yml"], key=session.wkey(_UPLOAD, session.held().finding_uploads),
            help="Each becomes a proposal that waits for a review, whatever the file says.",
        )
        st.button(
            "Propose what the file holds", key="findings-file-read", icon=":material/upload:", on_click=_read,
            args=(app, actor, source_id), width="stretch",
        )
        for outcome in session.held().file_outcomes:
            mark = ":green-badge[:material/check: Read]" if outcome.done else ":orange-badge[:material/error: Not read]"
            st.markdown(f"{mark} {plain(outcome.title, 100)}  \n:gray[{plain(outcome.said, 300)}]")


def _text(
    app: Application, actor: Actor, segment: Segment, source_id: str | None, wanted: Narrowed
) -> Callable[[], bytes]:
    def made() -> bytes:
        found, total = app.findings.page(actor, segment=segment, source_id=source_id, limit=1_000_000, **wanted.given())
        app.audit.downloaded(actor, f"{total} findings", rows=total, snapshot=None)
        return app.finding_batch.to_yaml(actor, found).encode()

    return made


@careful
def _read(app: Application, actor: Actor, source_id: str | None) -> None:
    held = session.held()
    given: Any = session.read(session.wkey(_UPLOAD, held.finding_uploads))
    if given is None:
        raise BadInput("No file was chosen.", to_do="Choose a YAML file first.")
    try:
        text = given.getvalue().decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput("The file is not UTF-8 text.", where=given.name, to_do="Export one and look at its form.") from error
    held.file_outcomes = app.finding_batch.from_yaml(actor, text, within=source_id)
    held.finding_uploads += 1
    read = sum(o.done for o in held.file_outcomes)
    said = f"{read} of {figures.counted(len(held.file_outcomes), 'finding')} read"
    session.notify("info", f"{said}; what became of each stands in File.")
