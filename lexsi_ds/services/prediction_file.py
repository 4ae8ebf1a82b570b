"""Predictions on disk in a form that pages, sorts and searches a million rows within a blink: one DuckDB file each.

Rows are written in the order of the ranking; a hidden row number breaks ties, a hidden text is what a search reads.
Values reach SQL as parameters and columns only after they were found among the file's own.
Must never: change after it was written, or be opened for writing again.
"""

from __future__ import annotations

import difflib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa

from lexsi_ds.errors import BadInput, NotFound
from lexsi_ds.ids import new_id
from lexsi_ds.models.engine import PREDICTION_COLUMNS
from lexsi_ds.services.csv_text import csv_bytes, quoted

Filters = Mapping[str, Any]
"""Column -> the value its rows must have; None means "missing", a list or tuple "any of these"."""

_OPEN_FILES = 8
_DEEP = 20_000
"""Rows into a list from which its order is kept."""
_KEPT_ORDERS = 3
_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "threads": 2, "memory_limit": "1GB", "autoinstall_known_extensions": False,
}
_RANKED_FIRST = "(segment = 'ranked') DESC, segment"


def write_predictions(source: Path, target: Path) -> str:
    """Write the rows of an Arrow stream file in rank order; returns the entity column, which is the first one.

    Raises BadInput for a file without the prediction columns. The target is there whole or not at all.
    """
    with pa.memory_map(str(source)) as mapped, pa.ipc.open_stream(mapped) as reader:
        rows = reader.read_all()
    names = rows.column_names
    absent = [name for name in PREDICTION_COLUMNS if name not in names]
    if absent:
        raise BadInput(f"This is no predictions file: it lacks {', '.join(absent)}.", where=source.name)
    entity = names[0]
    hidden = [_free("_row", names), _free("_text", names)]
    words = ", ".join(quoted(name) for name in names if name == entity or name not in PREDICTION_COLUMNS)
    temporary = target.with_name(f".{new_id('tmp')}.duckdb")
    try:
        with duckdb.connect(str(temporary), config=_SETTINGS) as db:
            db.register("incoming", rows)
            db.execute(
                f"CREATE TABLE predictions AS SELECT *, row_number() OVER (ORDER BY {_RANKED_FIRST}, rank, "
                f"{quoted(entity)}) - 1 AS {quoted(hidden[0])}, lower(strip_accents(concat_ws(' ', {words}))) "
                f"AS {quoted(hidden[1])} FROM incoming ORDER BY {quoted(hidden[0])}"
            )
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    return entity


class PredictionFile:
    """One written file, open for reading. Safe to share between threads."""

    def __init__(self, path: Path) -> None:
        self._db = duckdb.connect(str(path), read_only=True, config=_SETTINGS)
        described = self._db.execute("DESCRIBE predictions").fetchall()
        shown, (row, text) = described[:-2], described[-2:]
        self.columns: tuple[tuple[str, str], ...] = tuple((name, kind) for name, kind, *_ in shown)
        self._names = ", ".join(quoted(name) for name, _ in self.columns)
        self._row, self._text = quoted(row[0]), quoted(text[0])
        self._counts: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._orders: OrderedDict[tuple[str, str], np.ndarray] = OrderedDict()
        self._lock = threading.Lock()

    def page(
        self, search: str, sort: str, descending: bool, offset: int, limit: int, filters: Filters | None
    ) -> tuple[pd.DataFrame, int]:
        """Rows ``offset`` to ``offset + limit`` in the order asked for, and how many there are in all."""
        where, params = self._where(search, filters)
        total = self._count(where, params)
        ids = self._ids(where, params, self._order(sort, descending), max(0, offset), max(0, limit))
        with self._db.cursor() as db:
            places = "SELECT unnest(?::BIGINT[]) AS id, generate_subscripts(?::BIGINT[], 1) AS place"
            rows = db.execute(
                f"SELECT {self._names} FROM predictions JOIN ({places}) ON {self._row} = id ORDER BY place", [ids, ids]
            ).to_arrow_table()
        return _frame(rows), total

    def csv(self, search: str, filters: Filters | None, folder: Path) -> bytes:
        """All rows, or all that the search and filters leave, in rank order."""
        where, params = self._where(search, filters)
        with self._db.cursor() as db:
            rest = f"FROM predictions {where} ORDER BY {self._row}"
            return csv_bytes(db, self.columns, rest, params, folder)

    def case(self, entity: str, case_id: str) -> dict[str, Any]:
        """The row of one case. Raises NotFound."""
        with self._db.cursor() as db:
            found = db.execute(
                f"SELECT {self._names} FROM predictions WHERE CAST({quoted(entity)} AS VARCHAR) = ? "
                f"ORDER BY {self._row} LIMIT 1", [str(case_id)],
            ).to_arrow_table().to_pylist()  # not fetchone, which wants a package of its own for time zones
        if not found:
            raise NotFound("This case is not among the predictions.", to_do="Choose one from the list.")
        return found[0]

    def close(self) -> None:
        """Close the file once its last reader is done."""
        self._db.close()

    def _ids(self, where: str, params: list[Any], order: str, offset: int, limit: int) -> list[int]:
        """Row numbers of a page. Deep in a list the whole order is kept, since finding it again would take as long."""
        query = f"SELECT {self._row} FROM predictions {where} ORDER BY {order}"
        if offset < _DEEP or (order == self._row and not where):
            with self._db.cursor() as db:
                return [row[0] for row in db.execute(f"{query} LIMIT {limit} OFFSET {offset}", params).fetchall()]
        key = (query, repr(params))
        with self._lock:
            known = self._orders.get(key)
        if known is None:
            with self._db.cursor() as db:
                known = np.asarray(next(iter(db.execute(query, params).fetchnumpy().values())))
            with self._lock:
                self._orders[key] = known
                while len(self._orders) > _KEPT_ORDERS:
                    self._orders.popitem(last=False)
        return known[offset : offset + limit].tolist()

    def _order(self, sort: str, descending: bool) -> str:
        if sort.casefold() == "rank":
            return f"{_RANKED_FIRST}, rank DESC, {self._row}" if descending else self._row
        return f"{quoted(self._known(sort))} {'DESC' if descending else 'ASC'} NULLS LAST, {self._row}"

    def _where(self, search: str, filters: Filters | None) -> tuple[str, list[Any]]:
        parts: list[str] = []
        params: list[Any] = []
        for word in search.split():
            parts.append(f"contains({self._text}, lower(strip_accents(?)))")
            params.append(word)
        for name, value in (filters or {}).items():
            column = quoted(self._known(name))
            if value is None:
                parts.append(f"{column} IS NULL")
            elif isinstance(value, list | tuple | set | frozenset):
                parts.append(f"list_contains(?::VARCHAR[], CAST({column} AS VARCHAR))")
                params.append([_text(each) for each in value])
            else:
                parts.append(f"CAST({column} AS VARCHAR) = ?")
                params.append(_text(value))
        return (f"WHERE {' AND '.join(parts)}" if parts else ""), params

    def _known(self, name: str) -> str:
        for column, _ in self.columns:
            if column.casefold() == name.casefold():
                return column
        near = difflib.get_close_matches(name, [column for column, _ in self.columns], n=1)
        raise BadInput(
            f"The predictions have no column {name[:80]!r}.", where="predictions",
            to_do=f"Did you mean {near[0]}?" if near else "Choose one of the table's columns.",
        )

    def _count(self, where: str, params: Sequence[Any]) -> int:
        key = (where, repr(params))
        with self._lock:
            if key in self._counts:
                return self._counts[key]
        with self._db.cursor() as db:
            row = db.execute(f"SELECT count(*) FROM predictions {where}", list(params)).fetchone()
        with self._lock:
            self._counts[key] = row[0] if row else 0
            if len(self._counts) > 64:
                self._counts.popitem(last=False)
            return row[0] if row else 0


class PredictionFiles:
    """The files opened last, kept open so that a second page is quick."""

    def __init__(self) -> None:
        self._open: OrderedDict[Path, PredictionFile] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, path: Path) -> PredictionFile:
        """The file at this path; it never changes, so an open one is as good as a fresh one."""
        with self._lock:
            found = self._open.pop(path, None) or PredictionFile(path)
            self._open[path] = found
            while len(self._open) > _OPEN_FILES:
                self._open.popitem(last=False)[1].close()
            return found


def _frame(rows: pa.Table) -> pd.DataFrame:
    """Whole numbers stay whole when some are missing."""
    frame = rows.to_pandas(date_as_object=False, integer_object_nulls=False)
    for field in rows.schema:
        if pa.types.is_integer(field.type) and frame[field.name].isna().any():
            frame[field.name] = frame[field.name].astype("Int64")
    return frame


def _free(name: str, taken: Sequence[str]) -> str:
    used = {each.casefold() for each in taken}
    while name in used:
        name += "_"
    return name


def _text(value: Any) -> str:
    """A value as DuckDB writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
