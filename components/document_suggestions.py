"""What documents say of the columns and codes of a source, as a list to take or to set aside. Nothing holds before it is taken."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from components import figures, session, tables
from components.problems import careful
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.services.access import Actor
from lexsi_ds.services.document_suggestions import Suggestion


def draw(app: Application, actor: Actor, handle: DatasetHandle) -> None:
    """The suggestions that wait for a person on this source."""
    waiting = app.document_suggestions.list(actor, handle.source_id)
    with st.container(border=True, gap="small"):
        note = f"{figures.counted(len(waiting), 'suggestion')} for {handle.name}" if waiting else ""
        tables.card_head("What they say of this source", note)
        if not waiting:
            st.caption(
                "Nothing that the semantic model does not say already. A dictionary is read where it names a column: a table with "
                "the heads Column and Meaning, or lines such as loan.status: A = paid, B = not paid."
            )
            _again(app, actor, handle.source_id)
            return
        picked = _list(waiting, handle)
        chosen = [waiting[i].id for i in picked if i < len(waiting)]
        said = f"{len(chosen)} selected" if chosen else "all"
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.button(
                f"Accept {said}", type="primary", icon=":material/check:", key="suggestions-accept", on_click=_accept,
                args=(app, actor, handle.source_id, chosen or [s.id for s in waiting]),
            )  # fmt: skip
            st.button(
                "Set aside", icon=":material/close:", key="suggestions-aside", disabled=not chosen, on_click=_aside,
                args=(app, actor, handle.source_id, chosen), help="Select the ones that do not fit this source.",
            )  # fmt: skip
            _again(app, actor, handle.source_id)
        st.caption("Accepted ones become a new version of the semantic model and count from the next question on.")


def _list(waiting: Sequence[Suggestion], handle: DatasetHandle) -> Sequence[int]:
    frame = pd.DataFrame(
        [{"About": s.place, "The document says": s.text, "Now": s.before, "Document": s.document.path} for s in waiting]
    )
    key = session.wkey("suggestions", handle.source_id, hash(tuple(s.id for s in waiting)))
    picked = st.dataframe(
        frame, key=key, hide_index=True, on_select="rerun", selection_mode="multi-row", height=tables.height(len(frame)),
        alt="What documents say of columns and codes",
        column_config={
            "About": st.column_config.TextColumn(width=150), "The document says": st.column_config.TextColumn(width=310),
            "Now": st.column_config.TextColumn(width=170), "Document": st.column_config.TextColumn(width=110),
        },
    )  # fmt: skip
    return picked["selection"]["rows"]


def _again(app: Application, actor: Actor, source_id: str) -> None:
    aside = app.document_suggestions.aside(actor, source_id)
    if aside:
        st.button(
            f"Offer {aside} set aside again", type="tertiary", icon=":material/undo:", key="suggestions-again", on_click=_offer,
            args=(app, actor, source_id),
        )  # fmt: skip


@careful
def _accept(app: Application, actor: Actor, source_id: str, ids: Sequence[str]) -> None:
    version = app.document_suggestions.accept(actor, source_id, ids)
    session.notify("success", f"Saved as version {version} of the semantic model.")


@careful
def _aside(app: Application, actor: Actor, source_id: str, ids: Sequence[str]) -> None:
    app.document_suggestions.set_aside(actor, source_id, ids)


@careful
def _offer(app: Application, actor: Actor, source_id: str) -> None:
    app.document_suggestions.offer_again(actor, source_id)
