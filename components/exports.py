"""Downloads of whole results: CSV in the way that a spreadsheet's country asks for, Excel with a sheet that says what it
shows, and Parquet.

Bytes are made by a callable when a button is clicked, from ids and paths only; the page does not run again for it. Must
never: leave a row out without saying so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import streamlit as st

from components import figures, session
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.data.sql import SqlResult
from lexsi_ds.data.workbook import MAX_ROWS
from lexsi_ds.ids import new_id
from lexsi_ds.models.card import ModelCard
from lexsi_ds.services.access import Actor
from lexsi_ds.services.exports import CSV_STYLES, MIME, CsvStyle, Export, Format

Write = Callable[[Format, CsvStyle], Export]
LABELS: dict[Format, str] = {"csv": "CSV", "xlsx": "Excel", "parquet": "Parquet"}


def menu(write: Write, *, key: str, name: str, rows: int, note: str = "", type_: Any = "tertiary") -> None:
    """The button that opens into the formats; nothing in it is made before it is opened."""
    box = st.popover(
        "Download", type=type_, icon=":material/download:", key=session.wkey(key, "download"), on_change="rerun"
    )
    if not box.open:
        return
    with box:
        st.caption(f"All {figures.counted(rows, 'row')}.{note}")
        style = st.selectbox(
            "CSV for",
            list(CSV_STYLES),
            key=session.wkey(key, "style"),
            help="What your spreadsheet expects. Excel reads accents right with the mark at the beginning.",
        )
        for file_format, label in LABELS.items():
            too_long = file_format == "xlsx" and rows >= MAX_ROWS
            st.download_button(
                label,
                _bytes(write, file_format, CSV_STYLES[style]),
                file_name=f"{name}.{file_format}",
                mime=MIME[file_format],
                key=session.wkey(key, file_format),
                icon=":material/download:",
                on_click="ignore",
                disabled=too_long,
                help=f"A sheet holds {figures.count(MAX_ROWS)} rows; nothing is cut, so take CSV." if too_long else None,
                width="stretch",
            )


def _bytes(write: Write, file_format: Format, style: CsvStyle) -> Callable[[], bytes]:
    def made() -> bytes:
        export = write(file_format, style)
        try:
            return export.path.read_bytes()
        finally:
            export.path.unlink(missing_ok=True)

    return made


def of_result(app: Application, actor: Actor, handle: DatasetHandle, result: SqlResult, sql: str, *, key: str) -> None:
    """All rows of a query of the editor."""

    def write(file_format: Format, style: CsvStyle) -> Export:
        return app.exports.result(actor, result, handle, sql, file_format, style=style)

    menu(write, key=key, name=f"{figures.slug(handle.name)}_query", rows=result.row_count)


def of_artifact(app: Application, actor: Actor, artifact_id: str, *, rows: int, name: str, key: str) -> None:
    """All rows of a frame that a run made."""

    def write(file_format: Format, style: CsvStyle) -> Export:
        return app.exports.artifact(actor, artifact_id, file_format, style=style)

    menu(write, key=key, name=name, rows=rows)


def of_predictions(
    app: Application, actor: Actor, card: ModelCard, predictions_id: str, *, rows: int, key: str, type_: Any = "secondary",
    search: str = "", filters: dict[str, Any] | None = None,
) -> None:
    """The scored rows of a model that a search and filter leave, in rank order; all of them without."""

    def write(file_format: Format, style: CsvStyle) -> Export:
        return write_predictions(app, actor, card, predictions_id, file_format, style, search, filters)

    narrowed = " Of the search and segment chosen." if search or filters else ""
    menu(write, key=key, name=f"predictions_{figures.slug(card.name)}", rows=rows, note=f"{narrowed} In rank order.", type_=type_)


def write_predictions(
    app: Application, actor: Actor, card: ModelCard, predictions_id: str, file_format: Format, style: CsvStyle,
    search: str = "", filters: dict[str, Any] | None = None,
) -> Export:
    """The predictions as a file; its sheet names the model and the data version they were made from."""
    known = app.models.predictions(actor, predictions_id)
    frame, _ = app.models.page(actor, predictions_id, search=search, filters=filters, limit=known.rows)
    handle = app.scoring.scored_on(actor, card, known)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    path = app.pool.scratch / f"{new_id('res')}.arrow"
    try:
        with pa.OSFile(str(path), "wb") as out, pa.ipc.new_stream(out, table.schema) as stream:
            stream.write_table(table)
        result = SqlResult(path, (), table.num_rows, 0.0)
        title = f"{card.task.title}, {card.name}"
        return app.exports.result(actor, result, handle, "", file_format, title=title, style=style)
    finally:
        path.unlink(missing_ok=True)
