"""Real data files, handles and settings for tests of the pool and of SQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

from lexsi_ds.data.handle import DatasetHandle, Table
from lexsi_ds.settings import Settings

LOAN = """
SELECT i AS loan_id, 100 * i AS amount, ['A', 'B', 'C', 'D'][1 + i % 4] AS status, DATE '1998-01-01' + i::INT AS granted,
       (i % 5)::DECIMAL(10, 2) / 2 AS rate, CASE WHEN i % 3 = 0 THEN NULL ELSE 'n' || i END AS note
FROM range(12) t(i)
"""
CLIENT = "SELECT i AS client_id, i % 6 AS loan_id, 'client ' || i AS name FROM range(8) t(i)"


def settings(home: Path, **values: Any) -> Settings:
    return Settings(home=home, _env_file=None, **values)  # type: ignore[call-arg]


def table(folder: Path, name: str, sql: str, dataset_id: str = "ds_1") -> Table:
    """A dataset version: a file that holds ``sql`` as main.data."""
    path = folder / f"{dataset_id}.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute(f"CREATE TABLE data AS {sql}")
        rows = con.execute("SELECT count(*) FROM data").fetchone()
    assert rows is not None
    return Table(name=name, dataset_id=dataset_id, version=1, path=path, rows=rows[0], columns=())


def handle(*tables: Table, snapshot_id: str = "snap_1") -> DatasetHandle:
    return DatasetHandle(source_id="con_1", name="small", kind="files", snapshot_id=snapshot_id, snapshot_number=1,
                         tables=tables)


def bank(folder: Path) -> DatasetHandle:
    """Two tables, one of them with an awkward name."""
    folder.mkdir(parents=True, exist_ok=True)
    return handle(
        table(folder, "loan", LOAN, "ds_loan"),
        table(folder, 'Client "list" é', CLIENT, "ds_client"),
        table(folder, "order", "SELECT 1 AS order_id, 7 AS amount", "ds_order"),
    )
