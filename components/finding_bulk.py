"""Several findings judged together: chosen from the page of the list, each with its own outcome said afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from components import figures, session, tables
from components.problems import careful
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.services.access import Actor
from lexsi_ds.services.finding import Decision, Finding

_TABLE = "findings-bulk-table"


def switch() -> bool:
    """Whether several findings are chosen at once; the switch that says so."""
    return st.toggle("Select several", key="findings-bulk", on_change=_changed)


@careful
def _changed() -> None:
    session.held().bulk_outcomes = ()


def panel(app: Application, actor: Actor, listed: Sequence[Finding]) -> None:
    """The page of the list as a table to choose from, and what is to be done with the chosen ones."""
    frame = pd.DataFrame({"Title": [f.title for f in listed], "How it stands": [f.headline for f in listed]})
    chosen: Any = st.dataframe(
        frame, hide_index=True, key=session.wkey(_TABLE, session.held().bulk_round), on_select="rerun",
        selection_mode="multi-row", height=tables.height(len(frame)), alt="Findings to choose from",
    )
    seen = [(listed[i].id, listed[i].row_version) for i in chosen.selection.rows if i < len(listed)]
    note = st.text_input(
        "Note on the decisions", key="findings-bulk-note", max_chars=500, placeholder="Why, for whoever reads it later"
    )
    with st.container(horizontal=True, gap="small"):
        for decision, label, icon, kind in (
            ("accepted", "Accept", "check", "primary"), ("rejected", "Reject", "close", "secondary"),
        ):
            st.button(
                f"{label} {figures.counted(len(seen), 'finding')}" if seen else label,
                key=session.wkey("findings-bulk", decision), icon=f":material/{icon}:", type=kind,  # type: ignore[arg-type]
                disabled=not seen, on_click=_decide, args=(app, actor, seen, decision, note),
            )
    _outcomes()


@careful
def _decide(app: Application, actor: Actor, seen: list[tuple[str, int]], decision: Decision, note: str) -> None:
    held = session.held()
    held.bulk_outcomes = app.finding_batch.decide(actor, seen, decision, note=note, via="ui")
    held.bulk_round += 1


def _outcomes() -> None:
    made = session.held().bulk_outcomes
    if not made:
        return
    failed = [o for o in made if not o.done]
    st.markdown(
        f":material/done_all: {figures.counted(len(made) - len(failed), 'finding')} decided"
        + (f", **{len(failed)} not**" if failed else "") + "."
    )
    for outcome in failed:
        st.markdown(f":orange-badge[:material/error: Not decided] {plain(outcome.title, 120)}  \n:gray[{plain(outcome.said, 400)}]")
