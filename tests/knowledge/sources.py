"""Real DuckDB files and handles for tests that need no catalog: each table in a data.duckdb of its own, read through views."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from lexsi_ds.data.handle import Column, DatasetHandle, Table
from lexsi_ds.data.marks import Facts, guess_marks

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the shared example data is not beside the repository")


@dataclass
class Source:
    """A handle and a way to query it; ``asked`` records the SQL that ran."""

    handle: DatasetHandle
    con: duckdb.DuckDBPyConnection
    asked: list[str] = field(default_factory=list)

    def query(self, sql: str) -> pd.DataFrame:
        self.asked.append(sql)
        return self.con.execute(sql).df()

    def rows(self, sql: str) -> list[tuple]:
        return self.con.execute(sql).fetchall()


def make_source(folder: Path, tables: dict[str, str], *, kind: str = "files", name: str = "test") -> Source:
    """A source whose tables are the results of these SELECTs."""
    con = duckdb.connect()
    made, today = [], None
    for i, (table, select) in enumerate(tables.items()):
        path = folder / f"t{i}" / "data.duckdb"
        path.parent.mkdir(parents=True, exist_ok=True)
        with duckdb.connect(str(path)) as writer:
            writer.execute(f"CREATE TABLE data AS {select}")
            columns, rows = _columns(writer)
        con.execute(f"ATTACH '{path}' AS d{i} (READ_ONLY)")
        con.execute(f"CREATE VIEW {_quoted(table)} AS SELECT * FROM d{i}.main.data")
        made.append(Table(name=table, dataset_id=f"ds_{i}", version=1, path=path, rows=rows, columns=tuple(columns)))
        dates = [c.maximum[:10] for c in columns if c.family == "date" and c.maximum]
        today = max([*dates, today or ""]) or None
    handle = DatasetHandle(
        source_id="con_test",
        name=name,
        kind=kind,
        snapshot_id="snap_test",
        snapshot_number=1,
        tables=tuple(made),  # type: ignore[arg-type]
        today=date.fromisoformat(today) if today else None,
    )
    return Source(handle, con)


def _columns(con: duckdb.DuckDBPyConnection) -> tuple[list[Column], int]:
    rows = con.execute("SELECT count(*) FROM data").fetchall()[0][0]
    columns = []
    for name, kind, *_ in con.execute("DESCRIBE data").fetchall():
        q = _quoted(name)
        nulls, distinct, low, high = con.execute(
            f"SELECT count(*) - count({q}), count(DISTINCT {q}), CAST(min({q}) AS VARCHAR), CAST(max({q}) AS VARCHAR) FROM data"
        ).fetchall()[0]
        column = Column(name=name, type=kind, nulls=nulls, distinct=distinct)
        if column.family in ("number", "date"):
            column = column.model_copy(update={"minimum": low, "maximum": high})
        sample = [
            str(v)
            for (v,) in con.execute(
                f"SELECT DISTINCT {q} FROM data WHERE {q} IS NOT NULL ORDER BY 1 LIMIT 40"
            ).fetchall()
        ]
        marks = guess_marks(
            Facts(name, column.family, rows, nulls, distinct, tuple(sample) if column.family == "text" else ())
        )
        column = column.model_copy(update=vars(marks))
        columns.append(column)
    return columns, rows


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _day(column: str) -> str:
    """SQL that reads Berka's 930705 as a date; no year of it is after 1999."""
    return f"CAST(strptime('19' || substr(CAST({column} AS VARCHAR), 1, 6), '%Y%m%d') AS DATE)"


def berka_tables(folder: Path = DATA / "berka") -> dict[str, str]:
    """SELECTs that read the raw files the way an import does: dates, sexes and missing marks settled."""

    def raw(name: str) -> str:
        return f"read_csv('{folder / name}.asc', delim=';', quote='\"', header=true, nullstr=['?'], all_varchar=true)"

    month = "CAST(substr(birth_number, 3, 2) AS INTEGER)"
    sex = f"CASE WHEN {month} > 50 THEN 'F' ELSE 'M' END"
    return {
        "account": f"SELECT CAST(account_id AS BIGINT) AS account_id, CAST(district_id AS BIGINT) AS district_id, frequency,"
        f" {_day('date')} AS date FROM {raw('account')}",
        "card": f"SELECT CAST(card_id AS BIGINT) AS card_id, CAST(disp_id AS BIGINT) AS disp_id, type, {_day('issued')} AS issued"
        f" FROM {raw('card')}",
        "client": f"SELECT CAST(client_id AS BIGINT) AS client_id, birth_number, {sex} AS gender,"
        f" CAST(strptime('19' || substr(birth_number, 1, 2) || lpad(CAST(CASE WHEN {month} > 50 THEN {month} - 50 ELSE {month}"
        f" END AS VARCHAR), 2, '0') || substr(birth_number, 5, 2), '%Y%m%d') AS DATE) AS birth_date,"
        f" CAST(district_id AS BIGINT) AS district_id FROM {raw('client')}",
        "disp": f"SELECT CAST(disp_id AS BIGINT) AS disp_id, CAST(client_id AS BIGINT) AS client_id,"
        f" CAST(account_id AS BIGINT) AS account_id, type FROM {raw('disp')}",
        "district": "SELECT CAST(A1 AS BIGINT) AS district_id, A2, A3, "
        + ", ".join(f"CAST(A{i} AS {'DOUBLE' if i in (10, 12, 13) else 'BIGINT'}) AS A{i}" for i in range(4, 17))
        + f" FROM {raw('district')}",
        "loan": f"SELECT CAST(loan_id AS BIGINT) AS loan_id, CAST(account_id AS BIGINT) AS account_id, {_day('date')} AS date,"
        f" CAST(amount AS BIGINT) AS amount, CAST(duration AS BIGINT) AS duration, CAST(payments AS DOUBLE) AS payments, status"
        f" FROM {raw('loan')}",
        "order": f"SELECT CAST(order_id AS BIGINT) AS order_id, CAST(account_id AS BIGINT) AS account_id, bank_to, account_to,"
        f" CAST(amount AS DOUBLE) AS amount, nullif(trim(k_symbol), '') AS k_symbol FROM {raw('order')}",
        "trans": f"SELECT CAST(trans_id AS BIGINT) AS trans_id, CAST(account_id AS BIGINT) AS account_id, {_day('date')} AS date,"
        " type,"
        f" nullif(trim(operation), '') AS operation, CAST(amount AS DOUBLE) AS amount, CAST(balance AS DOUBLE) AS balance,"
        f" nullif(trim(k_symbol), '') AS k_symbol, nullif(trim(bank), '') AS bank, nullif(trim(account), '') AS account"
        f" FROM {raw('trans_part')}",
    }


def csv_table(file: str, *, text: bool = False) -> str:
    """A SELECT over one of the example CSV files; ``text`` keeps yes/no columns as text."""
    sniff = ", auto_type_candidates=['BIGINT', 'DOUBLE', 'DATE', 'TIMESTAMP', 'VARCHAR']" if text else ""
    return f"SELECT * FROM read_csv('{DATA / 'files' / file}'{sniff})"


Query = Callable[[str], pd.DataFrame]
