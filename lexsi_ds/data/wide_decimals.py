"""Parquet's decimals of more than 38 digits, which DuckDB reads as floating point of other values without a word.

Found in the files' own schemas, and then read through Arrow: as DECIMAL where every value fits one, else as text, digit by
digit. Must never: let DuckDB read such a column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from lexsi_ds.data.raw_rows import literal, quoted, scratch_name
from lexsi_ds.errors import BadInput

MOST_DIGITS = 38
_BATCH = 20_000


def wide_columns(con: duckdb.DuckDBPyConnection, files: Sequence[str]) -> list[str]:
    """Names of the columns that hold such decimals, alone or deep inside, in any of these Parquet files (paths or URLs)."""
    listed = ", ".join(literal(file) for file in files)
    rows = con.execute(f"SELECT file_name, name, num_children, precision FROM parquet_schema([{listed}])").fetchall()
    found: dict[str, None] = {}
    file, top, left = None, "", 0
    for name_of_file, name, children, precision in rows:
        if name_of_file != file:  # the root comes first
            file, left = name_of_file, 0
            continue
        if left == 0:
            top, left = str(name), 1
        left += int(children or 0) - 1
        if precision is not None and int(precision) > MOST_DIGITS:
            found[top] = None
    return list(found)


def copy_exactly(con: duckdb.DuckDBPyConnection, path: Path, names: Sequence[str]) -> tuple[str, list[str], list[str]]:
    """A scratch table of the file's rows whose columns are called c0, c1 …; an expression for each, and what is to be said.

    ``names`` is what the columns are called in what is said. Raises BadInput when such decimals are inside lists or objects.
    """
    with pq.ParquetFile(str(path)) as file:
        schema = file.schema_arrow
        wide = [i for i, kind in enumerate(schema.types) if pa.types.is_decimal256(kind)]
        inside = [names[i] for i, kind in enumerate(schema.types) if i not in wide and _holds(kind)]
        if inside:
            raise refused(inside, path.name)
        kinds = [pa.string() if i in wide else kind for i, kind in enumerate(schema.types)]
        told = pa.schema([(f"c{i}", kind) for i, kind in enumerate(kinds)])
        table = scratch_name(con)
        con.register("_wide_rows", pa.RecordBatchReader.from_batches(told, _batches(file, told, wide)))
        try:
            con.execute(f"CREATE TABLE {table} AS SELECT * FROM _wide_rows")
        finally:
            con.unregister("_wide_rows")
    values, notes = [f"c{i}" for i in range(len(kinds))], []
    for i in wide:
        kind: Any = schema.types[i]
        values[i], note = _fitting(con, table, f"c{i}", names[i], kind)
        notes.append(note)
    return table, values, notes


def refused(columns: Sequence[str], where: str) -> BadInput:
    """The error for columns that cannot be read exactly."""
    shown = ", ".join(columns[:5]) + (", …" if len(columns) > 5 else "")
    return BadInput(
        f"Decimals of more than {MOST_DIGITS} digits cannot be read exactly here: {shown[:200]}.", where=where[-120:],
        to_do="Export these columns as text, or with fewer digits.",
    )


def _batches(file: pq.ParquetFile, told: pa.Schema, wide: Sequence[int]) -> Iterator[pa.RecordBatch]:
    for batch in file.iter_batches(batch_size=_BATCH):
        arrays = [_plain(array) if i in wide else array for i, array in enumerate(batch.columns)]
        yield pa.RecordBatch.from_arrays(arrays, schema=told)


def _plain(array: pa.Array) -> pa.Array:
    """Decimals digit by digit, never with an exponent."""
    values: list[Decimal | None] = array.to_pylist()
    return pa.array([None if v is None else format(v, "f") for v in values], type=pa.string())


def _fitting(con: duckdb.DuckDBPyConnection, table: str, column: str, name: str, kind: Any) -> tuple[str, str]:
    """The column as a DECIMAL when all its values fit one of its scale, else as text; and what is to be said."""
    said = f"{name}: declared as decimal({kind.precision},{kind.scale})"
    if 0 <= kind.scale <= MOST_DIGITS:
        number = f"DECIMAL({MOST_DIGITS},{kind.scale})"
        row = con.execute(
            f"SELECT count({column}) - count(TRY_CAST({column} AS {number})) FROM {table}"
        ).fetchone()
        if row is not None and row[0] == 0:
            return f"CAST({column} AS {number})", f"{said}; every value fits {MOST_DIGITS} digits, and came over exactly."
    return column, f"{said}; came over as text, digit by digit, since numbers here hold at most {MOST_DIGITS} digits."


def _holds(kind: pa.DataType) -> bool:
    """Whether such decimals are inside."""
    if pa.types.is_decimal256(kind):
        return True
    if pa.types.is_dictionary(kind):
        return _holds(kind.value_type)
    return any(_holds(kind.field(i).type) for i in range(kind.num_fields)) if pa.types.is_nested(kind) else False


def columns_left(con: duckdb.DuckDBPyConnection, select: str, wide: Sequence[str]) -> list[str]:
    """Those of ``select``'s columns that are among ``wide``, whatever the case, as DuckDB calls them."""
    known = {name.casefold() for name in wide}
    return [row[0] for row in con.execute(f"DESCRIBE {select}").fetchall() if row[0].casefold() in known]


def exclude(columns: Sequence[str]) -> str:
    """What follows ``*`` to leave these out."""
    return f" EXCLUDE ({', '.join(quoted(c) for c in columns)})" if columns else ""
