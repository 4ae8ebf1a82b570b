"""Writes predictions in the form that `prediction_file` reads: one folder with the rows in rank order and an index of ids.

``rows.arrow`` holds the rows ranked, in batches of one size, with two hidden columns behind the data's: the row's number and
the text that a search reads. ``keys.arrow`` holds each entity id as text, sorted, with its row.
Must never: leave half a folder under its final name.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pyarrow as pa

from lexsi_ds.errors import BadInput
from lexsi_ds.ids import new_id
from lexsi_ds.models.engine import PREDICTION_COLUMNS
from lexsi_ds.services.csv_text import quoted

BATCH = 4_096
ROWS, KEYS = "rows.arrow", "keys.arrow"
RANKED_FIRST = "(segment = 'ranked') DESC, segment"
SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "threads": 2, "memory_limit": "1GB", "autoinstall_known_extensions": False,
}
_OWN = (*PREDICTION_COLUMNS, "prediction_low", "prediction_high")


def write_predictions(source: Path, target: Path) -> str:
    """Write the rows of an Arrow stream file into the folder ``target``; returns the entity column, which is the first one.

    Raises BadInput for a file without the prediction columns.
    """
    with pa.memory_map(str(source)) as mapped, pa.ipc.open_stream(mapped) as reader:
        rows = reader.read_all()
    names = rows.column_names
    absent = [name for name in PREDICTION_COLUMNS if name not in names]
    if absent:
        raise BadInput(f"This is no predictions file: it lacks {', '.join(absent)}.", where=source.name)
    entity = names[0]
    hidden = [_free("_row", names), _free("_text", names)]
    cells = ", ".join(_plain(field) for field in rows.schema)
    words = ", ".join(quoted(name) for name in names if name == entity or not _made_here(name))
    with duckdb.connect(":memory:", config=SETTINGS) as db:
        db.register("incoming", rows)
        _write(
            db, target, entity, hidden[0],
            f"SELECT *, row_number() OVER (ORDER BY {RANKED_FIRST}, rank, {quoted(entity)}) - 1 AS {quoted(hidden[0])}, "
            f"lower(strip_accents(concat_ws(' ', {words}))) AS {quoted(hidden[1])} FROM (SELECT {cells} FROM incoming) "
            f"ORDER BY {quoted(hidden[0])}",
        )
    return entity


def convert(old: Path, target: Path) -> None:
    """Write a file of the earlier form (one DuckDB file, in rank order, the hidden columns last) into ``target``."""
    with duckdb.connect(str(old), read_only=True, config=SETTINGS) as db:
        names = [row[0] for row in db.execute("DESCRIBE predictions").fetchall()]
        _write(db, target, names[0], names[-2], f"SELECT * FROM predictions ORDER BY {quoted(names[-2])}")


def _write(db: duckdb.DuckDBPyConnection, target: Path, entity: str, row: str, query: str) -> None:
    temporary = target.with_name(f".{new_id('tmp')}")
    temporary.mkdir()
    try:
        _stream(db, query, temporary / ROWS)
        with pa.memory_map(str(temporary / ROWS)) as mapped:
            db.register("written", pa.ipc.open_file(mapped).read_all())
            keys = f'SELECT coalesce(CAST({quoted(entity)} AS VARCHAR), \'\') AS "key", {quoted(row)} AS "row" FROM written'
            _stream(db, f'{keys} ORDER BY "key", "row"', temporary / KEYS)
            db.unregister("written")
        temporary.replace(target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _stream(db: duckdb.DuckDBPyConnection, query: str, path: Path) -> None:
    reader = db.execute(query).to_arrow_reader(BATCH)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)


def _made_here(name: str) -> bool:
    return name in _OWN or name.startswith("p: ")


def _plain(field: pa.Field) -> str:
    """Words that came as a dictionary become plain text: a file of batches cannot change its dictionary."""
    name = quoted(field.name)
    return f"CAST({name} AS VARCHAR) AS {name}" if pa.types.is_dictionary(field.type) else name


def _free(name: str, taken: Sequence[str]) -> str:
    used = {each.casefold() for each in taken}
    while name in used:
        name += "_"
    return name
