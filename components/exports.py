"""Downloads of whole results: the choices that a spreadsheet's country asks for, and formats that keep types.

Bytes are made by a callable when the button is clicked, from ids and paths only; the page does not run again for it. Must
never: leave a row out without saying so.
"""

from __future__ import annotations

import io
from typing import Any

import duckdb
import pyarrow.parquet as pq
import streamlit as st

from components import figures, session
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.data.sql import SqlResult
from lexsi_ds.services.access import Actor
from lexsi_ds.services.csv_text import csv_bytes


def of_result(app: Application, actor: Actor, handle: DatasetHandle, result: SqlResult, sql: str, *, key: str) -> None:
    """All rows of a query of the editor."""
    name = f"{figures.slug(handle.name)}_query"

    def csv() -> bytes:
        with duckdb.connect() as con:
            con.register("result", result.arrow())
            columns = [(c.name, c.type) for c in result.columns]
            return csv_bytes(con, columns, "FROM result", [], result.path.parent)

    def parquet() -> bytes:
        out = io.BytesIO()
        pq.write_table(result.arrow(), out)
        return out.getvalue()

    with st.popover("Download", type="tertiary", icon=":material/download:", key=session.wkey(key, "download")):
        _button("CSV", csv, f"{name}.csv", "text/csv", session.wkey(key, "csv"))
        _button("Parquet", parquet, f"{name}.parquet", "application/vnd.apache.parquet", session.wkey(key, "parquet"))


def _button(label: str, data: Any, file_name: str, mime: str, key: str) -> None:
    st.download_button(
        label, data, file_name=file_name, mime=mime, key=key, type="tertiary", icon=":material/download:", on_click="ignore"
    )
