"""Columns of a table: type, missing share, how values are spread; marks, meanings and the target can be changed here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from components import figures, session, tables
from components.problems import careful
from components.safe import flat
from lexsi_ds.application import Application
from lexsi_ds.data.handle import Column, Table
from lexsi_ds.errors import LexsiError
from lexsi_ds.services.access import Actor
from lexsi_ds.services.column_shapes import ColumnShapes

MARKS = ("protected", "masked", "identifier")
NO_TARGET = "None"


def draw(app: Application, actor: Actor, table: Table) -> None:
    """Everything about the columns of one table."""
    tables.card_head(table.name, f"{figures.counted(table.rows, 'row')}, version {table.version}")
    row, _ = app.datasets.resolve(actor, table.dataset_id)
    _texts(app, actor, table, row.target_column)
    height = min(14 * tables.ROW, tables.ROW * (len(table.columns) + 1) + 4)
    slot = st.skeleton(height=height)
    with slot:
        _editor(app, actor, table, _shapes(app, table), height)
    st.caption(
        "Marks and meanings can be changed; a change counts from the next question on. Bars: from smallest to largest, "
        "or the most frequent values."
    )


def _shapes(app: Application, table: Table) -> dict[str, list[int]]:
    """Counts for the bars; a table that cannot be queried just now has none."""
    if table.live is not None:
        return {}  # not scanned at its source for a picture
    try:
        return ColumnShapes(app.settings.home, app.sql).of(table)
    except LexsiError:
        return {}


def _texts(app: Application, actor: Actor, table: Table, target: str | None) -> None:
    key = session.wkey("about", table.dataset_id, table.version)
    left, right = st.columns([2.6, 1], gap="small")
    with left:
        st.text_input(
            "What a row is",
            value=table.comment or "",
            key=key,
            max_chars=4000,
            placeholder="One line that says what a row of this table stands for",
            on_change=_describe,
            args=(app, actor, table, key),
        )
    with right:
        choices = [NO_TARGET, *(c.name for c in table.columns if not c.masked)]
        pick = session.wkey("target", table.dataset_id, table.version)
        st.selectbox(
            "Column to predict",
            choices,
            index=choices.index(target) if target in choices else 0,
            key=pick,
            format_func=lambda n: flat(n, 60),
            on_change=_set_target,
            args=(app, actor, table, pick),
        )


@careful
def _describe(app: Application, actor: Actor, table: Table, key: str) -> None:
    app.datasets.describe(actor, table.dataset_id, text=str(session.read(key) or ""))


@careful
def _set_target(app: Application, actor: Actor, table: Table, key: str) -> None:
    chosen = session.read(key)
    app.datasets.set_target(actor, table.dataset_id, None if chosen == NO_TARGET else chosen)


def _editor(app: Application, actor: Actor, table: Table, shapes: Mapping[str, list[int]], height: int) -> None:
    key = session.wkey("marks", table.dataset_id, table.version)
    frame = pd.DataFrame([_row(c, table.rows, shapes.get(c.name)) for c in table.columns])
    fixed = [c for c in frame.columns if c.casefold() not in (*MARKS, "meaning")]
    st.data_editor(
        frame,
        key=key,
        hide_index=True,
        disabled=fixed,
        num_rows="fixed",
        height=height,
        on_change=_edited,
        args=(app, actor, table, key),
        alt=f"Columns of {flat(table.name)}",
        column_config={
            "Column": st.column_config.TextColumn("Column", width=120),
            "Type": st.column_config.TextColumn("Type", width=78),
            "Values": st.column_config.BarChartColumn("Values", width=90, color="gray", y_min=0),
            "Missing": st.column_config.NumberColumn("Missing", format="%.1f%%", width=65),
            "Distinct": st.column_config.NumberColumn("Distinct", format="localized", width=75),
            "Meaning": st.column_config.TextColumn("Meaning", width=220, max_chars=500),
            "Min": st.column_config.TextColumn("Min", width=90),
            "Max": st.column_config.TextColumn("Max", width=90),
            "Protected": _mark("Protected", "Left out of models, kept for fairness tests."),
            "Masked": _mark("Masked", "Identifies a person: never shown to a planner, hidden on screen."),
            "Identifier": _mark("Identifier", "Names a row; never a feature."),
        },
    )


def _mark(name: str, meaning: str) -> Any:
    return st.column_config.CheckboxColumn(name, help=meaning, width=95)


def _row(column: Column, rows: int, shape: list[int] | None) -> dict[str, Any]:
    def shown(value: str | None) -> str:
        return "masked" if column.masked else value or ""

    return {
        "Column": column.name,
        "Type": column.type,
        "Values": shape,
        "Missing": 100 * column.nulls / rows if rows else 0.0,
        "Distinct": column.distinct,
        "Protected": column.protected,
        "Masked": column.masked,
        "Identifier": column.identifier,
        "Meaning": column.comment or "",
        "Min": shown(column.minimum),
        "Max": shown(column.maximum),
    }


@careful
def _edited(app: Application, actor: Actor, table: Table, key: str) -> None:
    apply_edits(app, actor, table, (session.read(key) or {}).get("edited_rows", {}))


def apply_edits(app: Application, actor: Actor, table: Table, edited: Mapping[int, Mapping[str, Any]]) -> None:
    """Keep what was ticked and written: row number of the columns table -> what was changed there."""
    said: dict[str, str | None] = {}
    for position, changes in edited.items():
        column = table.columns[int(position)]
        for name, wanted in changes.items():
            mark = name.casefold()
            if mark in MARKS and getattr(column, mark) != wanted:
                given = {each: wanted if each == mark else None for each in MARKS}
                app.catalog.mark_column(actor, table.dataset_id, column.name, **given)
            elif mark == "meaning" and (wanted or "") != (column.comment or ""):
                said[column.name] = wanted or None
    if said:
        app.datasets.describe(actor, table.dataset_id, columns=said)
