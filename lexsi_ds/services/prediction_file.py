"""Predictions on disk in a form that pages, sorts and searches a million rows within a blink.

A page of the ranking is a slice of a mapped file. Another order is sorted once and stored beside it; a search or filter is
one scan whose hits are kept. So a page costs the same whether there are a thousand rows or a million.
Values reach SQL as parameters and columns only after they were found among the file's own.
Must never: change a row after it was written, or show fewer rows than there are.
"""

from __future__ import annotations

import difflib
import threading
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa

from lexsi_ds.errors import BadInput, NotFound
from lexsi_ds.ids import new_id
from lexsi_ds.services.csv_text import csv_bytes, quoted
from lexsi_ds.services.prediction_write import KEYS, RANKED_FIRST, ROWS, SETTINGS, convert

Filters = Mapping[str, Any]
"""Column -> the value its rows must have; None means "missing", a list or tuple "any of these"."""

_OPEN_FILES = 8
_KEPT = 6
"""Results of searches, and orders of searched rows, that are kept in memory: 4 MB each for a million rows."""


class _Batches:
    """An Arrow file, mapped: a row is found without reading the ones before it."""

    def __init__(self, path: Path) -> None:
        reader = pa.ipc.open_file(pa.memory_map(str(path)))
        self.schema = reader.schema
        self._batches = [reader.get_batch(i) for i in range(reader.num_record_batches)]
        self._starts = np.cumsum([0, *(batch.num_rows for batch in self._batches)])

    def __len__(self) -> int:
        return int(self._starts[-1])

    def table(self) -> pa.Table:
        """All of it, still on disk."""
        return pa.Table.from_batches(self._batches, self.schema)

    def slice(self, start: int, stop: int) -> list[pa.RecordBatch]:
        """Rows ``start`` to ``stop``."""
        parts = []
        while start < stop:
            place = int(np.searchsorted(self._starts, start, side="right")) - 1
            end = min(stop, int(self._starts[place + 1]))
            parts.append(self._batches[place].slice(start - int(self._starts[place]), end - start))
            start = end
        return parts

    def take(self, rows: np.ndarray) -> pa.Table:
        """These rows, in this order."""
        if len(rows) > 2_000:
            return self.table().take(pa.array(rows))
        cuts = np.flatnonzero(np.diff(rows) != 1) + 1
        runs = np.split(rows, cuts) if len(rows) else []
        parts = [part for run in runs for part in self.slice(int(run[0]), int(run[-1]) + 1)]
        return pa.Table.from_batches(parts, self.schema)

    def value(self, column: str, row: int) -> Any:
        """One cell."""
        return self.slice(row, row + 1)[0].column(column)[0].as_py()


class PredictionFile:
    """One written folder, open for reading. Safe to share between threads.

    ``threshold``, where a method takes one, is the probability from which ``prediction`` reads 1 instead of 0.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._rows, self._keys = _Batches(folder / ROWS), _Batches(folder / KEYS)
        self._table = self._rows.table()
        self._row, self._text = (quoted(name) for name in self._rows.schema.names[-2:])
        with self._open() as db:
            described = db.execute("DESCRIBE predictions").fetchall()
        self.columns: tuple[tuple[str, str], ...] = tuple((name, kind) for name, kind, *_ in described[:-2])
        self._names = [name for name, _ in self.columns]
        self._hits: OrderedDict[tuple[str, str], np.ndarray] = OrderedDict()
        self._lock = threading.Lock()

    def page(
        self, search: str, sort: str, descending: bool, offset: int, limit: int, filters: Filters | None,
        threshold: float | None = None,
    ) -> tuple[pd.DataFrame, int]:
        """Rows ``offset`` to ``offset + limit`` in the order asked for, and how many there are in all."""
        hits = self._found(search, filters, threshold)
        total = len(self._rows) if hits is None else len(hits)
        start = min(max(0, offset), total)
        stop = min(start + max(0, limit), total)
        if sort.casefold() == "rank" and not descending:
            rows = np.arange(start, stop) if hits is None else hits[start:stop]
        else:
            name = "rank" if sort.casefold() == "rank" else self._known(sort)
            rows = self._ordered(name, descending, hits, self._key(search, filters, threshold), threshold)[start:stop]
        return self._frame(np.asarray(rows, dtype=np.int64), threshold), total

    def csv(self, search: str, filters: Filters | None, folder: Path, threshold: float | None = None) -> bytes:
        """All rows, or all that the search and filters leave, in rank order."""
        where, params = self._where(search, filters, threshold)
        inside = ", ".join(f"{self._cell(name, threshold)} AS {quoted(name)}" for name in self._names)
        rest = f"FROM (SELECT {inside}, {self._row} AS row_in_order FROM predictions {where}) ORDER BY row_in_order"
        with self._open() as db:
            return csv_bytes(db, self.columns, rest, params, folder)

    def case(self, case_id: str, threshold: float | None = None) -> dict[str, Any]:
        """The row of one case. Raises NotFound."""
        place = bisect_left(range(len(self._keys)), case_id, key=lambda i: self._keys.value("key", i))
        if place == len(self._keys) or self._keys.value("key", place) != case_id or not case_id:
            raise NotFound("This case is not among the predictions.", to_do="Choose one from the list.")
        row = int(self._keys.value("row", place))
        found = self._rows.take(np.array([row])).select(self._names).to_pylist()[0]
        if threshold is not None and found.get("probability") is not None:
            found["prediction"] = int(found["probability"] >= threshold)
        return found

    def _open(self) -> duckdb.DuckDBPyConnection:
        db = duckdb.connect(":memory:", config=SETTINGS)
        db.register("predictions", self._table)
        return db

    def _frame(self, rows: np.ndarray, threshold: float | None) -> pd.DataFrame:
        frame = _frame(self._rows.take(rows).select(self._names))
        if threshold is not None and len(frame):
            known = frame["probability"].notna()
            frame["prediction"] = (frame["probability"] >= threshold).astype("int64").where(known)
        return frame

    def _found(self, search: str, filters: Filters | None, threshold: float | None) -> np.ndarray | None:
        """Rows that the search and filters leave, in rank order; None when that is all of them."""
        where, params = self._where(search, filters, threshold)
        if not where:
            return None
        return self._kept((where, repr(params)), lambda: self._ids(f"{where} ORDER BY {self._row}", params))

    def _ordered(
        self, name: str, descending: bool, hits: np.ndarray | None, key: str, threshold: float | None
    ) -> np.ndarray:
        """All rows, or those that were found, in the order of a column."""
        if name == "prediction" and threshold is not None:
            order = self._kept((f"prediction {descending}", repr(threshold)), lambda: self._sorted(name, descending, threshold))
        else:
            order = self._stored(name, descending)
        if hits is None:
            return order

        def kept() -> np.ndarray:
            wanted = np.zeros(len(self._rows), dtype=bool)
            wanted[hits] = True
            return order[wanted[order]]

        return self._kept((f"{name} {descending}", key), kept)

    def _stored(self, name: str, descending: bool) -> np.ndarray:
        """The order of a column from its own file, which the first who asks for it writes."""
        number = "rank" if name == "rank" else str(self._names.index(name))
        path = self._folder / f"order-{number}-{'desc' if descending else 'asc'}.npy"
        if not path.exists():
            temporary = path.with_name(f".{new_id('tmp')}.npy")
            np.save(temporary, self._sorted(name, descending, None))
            temporary.replace(path)
        return np.load(path, mmap_mode="r")

    def _sorted(self, name: str, descending: bool, threshold: float | None) -> np.ndarray:
        if name == "rank":  # descending: ascending is how the rows lie
            return self._ids(f"ORDER BY {RANKED_FIRST}, rank DESC, {self._row}", [])
        way = "DESC" if descending else "ASC"
        return self._ids(f"ORDER BY {self._cell(name, threshold)} {way} NULLS LAST, {self._row}", [])

    def _ids(self, rest: str, params: list[Any]) -> np.ndarray:
        kind = np.int32 if len(self._rows) < 2**31 else np.int64
        with self._open() as db:
            found = db.execute(f"SELECT {self._row} AS id FROM predictions {rest}", params).fetchnumpy()["id"]
        return np.asarray(found, dtype=kind)

    def _kept(self, key: tuple[str, str], make: Any) -> np.ndarray:
        with self._lock:
            known = self._hits.get(key)
            if known is not None:
                self._hits.move_to_end(key)
                return known
        made = make()
        with self._lock:
            self._hits[key] = made
            while len(self._hits) > _KEPT:
                self._hits.popitem(last=False)
        return made

    def _key(self, search: str, filters: Filters | None, threshold: float | None) -> str:
        return repr(self._where(search, filters, threshold))

    def _cell(self, name: str, threshold: float | None) -> str:
        if name == "prediction" and threshold is not None:
            return f"CAST(probability >= {float(threshold)!r}::DOUBLE AS BIGINT)"
        return quoted(name)

    def _where(self, search: str, filters: Filters | None, threshold: float | None) -> tuple[str, list[Any]]:
        parts: list[str] = []
        params: list[Any] = []
        for word in search.split():
            parts.append(f"contains({self._text}, lower(strip_accents(?)))")
            params.append(word)
        for name, value in (filters or {}).items():
            column = self._cell(self._known(name), threshold)
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
        for column in self._names:
            if column.casefold() == name.casefold():
                return column
        near = difflib.get_close_matches(name, self._names, n=1)
        raise BadInput(
            f"The predictions have no column {name[:80]!r}.", where="predictions",
            to_do=f"Did you mean {near[0]}?" if near else "Choose one of the table's columns.",
        )


class PredictionFiles:
    """The files opened last, kept open so that a second page is quick."""

    def __init__(self) -> None:
        self._open: OrderedDict[Path, PredictionFile] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, path: Path) -> PredictionFile:
        """The predictions at this path; their rows never change, so an open one is as good as a fresh one."""
        with self._lock:
            found = self._open.pop(path, None) or PredictionFile(_folder(path))
            self._open[path] = found
            while len(self._open) > _OPEN_FILES:
                self._open.popitem(last=False)
            return found


def beside(path: Path) -> Path:
    """The folder that stands in for a file of the earlier form; the path itself for one of today's."""
    return path.with_suffix("") if path.suffix == ".duckdb" else path


def _folder(path: Path) -> Path:
    folder = beside(path)
    if not folder.is_dir():
        try:
            convert(path, folder)
        except OSError:  # another process was first
            if not folder.is_dir():
                raise
    return folder


def _frame(rows: pa.Table) -> pd.DataFrame:
    """Whole numbers stay whole when some are missing."""
    frame = rows.to_pandas(date_as_object=False, integer_object_nulls=False)
    for field in rows.schema:
        if pa.types.is_integer(field.type) and frame[field.name].isna().any():
            frame[field.name] = frame[field.name].astype("Int64")
    return frame


def _text(value: Any) -> str:
    """A value as DuckDB writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
