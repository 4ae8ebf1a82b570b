"""The export worker's task: a whole result, from its Arrow file to CSV, Parquet or an Excel workbook.

Runs in a worker process, a batch of rows at a time. Must never: leave a row or a cell's end out (it is an error instead), or
write a text where a spreadsheet would take it for a formula.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from lexsi_ds.data.workbook import write_workbook
from lexsi_ds.errors import BadInput

Say = Callable[[dict[str, Any]], None]
_FORMULA = r"^[=+\-@\t\r\n\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_STARTS_FORMULA = "=+-@\t\r\n＝＋－＠"
_PLAIN = ("DATE", "TIME", "BOOLEAN", "UUID", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT",
          "UINTEGER", "UBIGINT", "UHUGEINT")


def export(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Write ``out`` from the Arrow stream ``arrow``.

    ``args``: ``format`` (csv, parquet, xlsx), ``style`` (delimiter, decimal, bom; for csv), ``about`` (pairs of texts for the
    second sheet of a workbook). Returns ``rows`` and ``bytes``. Raises BadInput for what the format cannot hold.
    """
    out, rows = Path(args["out"]), 0
    with pa.memory_map(args["arrow"]) as mapped, pa.ipc.open_stream(mapped) as reader:
        match args["format"]:
            case "xlsx":
                rows = write_workbook(reader, out, [(str(a), str(b)) for a, b in args["about"]], say)
            case "csv":
                rows = _write_csv(reader, out, **args["style"])
            case "parquet":
                rows = _copy(reader, out, lambda name, _: name, "FORMAT parquet, COMPRESSION zstd")
            case kind:
                raise BadInput(f"Results cannot be written as {kind}.", to_do="Choose csv, parquet or xlsx.")
    return {"rows": rows, "bytes": out.stat().st_size}


def _write_csv(reader: pa.RecordBatchReader, out: Path, *, delimiter: str, decimal: str, bom: bool) -> int:
    body = out.with_name(out.name + ".body") if bom else out
    options = f"FORMAT csv, HEADER true, DELIMITER {_literal(delimiter)}"
    rows = _copy(reader, body, lambda name, kind: _cell(name, kind, decimal), options, safe_header=True)
    if bom:
        with out.open("wb") as target, body.open("rb") as source:
            target.write(b"\xef\xbb\xbf")
            shutil.copyfileobj(source, target, 1 << 20)
        body.unlink()
    return rows


def _copy(
    reader: pa.RecordBatchReader, out: Path, cell: Callable[[str, str], str], options: str, *, safe_header: bool = False
) -> int:
    """COPY all rows; columns go by place, since a result may have a name twice."""
    names = unique(reader.schema.names)
    with duckdb.connect(config={"autoinstall_known_extensions": False, "autoload_known_extensions": False}) as db:
        db.register("rows", _renamed(reader))
        kinds = [row[1] for row in db.execute("DESCRIBE rows").fetchall()]
        heads = [_safe_header(name) if safe_header else name for name in names]
        cells = ", ".join(f"{cell(f'c{i}', kind)} AS {_quoted(heads[i])}" for i, kind in enumerate(kinds))
        copied = db.execute(f"COPY (SELECT {cells} FROM rows) TO {_literal(str(out))} ({options})").fetchone()
    return int(copied[0]) if copied else 0


def _renamed(reader: pa.RecordBatchReader) -> pa.RecordBatchReader:
    schema = pa.schema([field.with_name(f"c{i}") for i, field in enumerate(reader.schema)])

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in reader:
            yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _cell(name: str, kind: str, decimal: str) -> str:
    """A cell as CSV holds it: numbers whole and with the wanted decimal mark, NaN as missing, texts that start no formula."""
    text = f"CAST({name} AS VARCHAR)"
    if kind in ("FLOAT", "DOUBLE") or (kind.startswith("DECIMAL") and not kind.endswith("]")):
        number = text if decimal == "." else f"replace({text}, '.', {_literal(decimal)})"
        return f"CASE WHEN isnan({name}) THEN NULL ELSE {number} END" if kind in ("FLOAT", "DOUBLE") else number
    if kind.startswith(_PLAIN) and not kind.endswith("]"):
        return name
    risky = f"regexp_matches({text}, '{_FORMULA}') AND NOT regexp_matches({text}, '{_NUMBER}')"
    return f"CASE WHEN {risky} THEN '''' || {text} ELSE {text} END"


def unique(names: list[str]) -> list[str]:
    """Names without repetition, whatever the case: ``n``, ``n (2)``."""
    seen: set[str] = set()
    made = []
    for name in names:
        fresh, n = name or "column", 2
        while fresh.casefold() in seen:
            fresh, n = f"{name or 'column'} ({n})", n + 1
        seen.add(fresh.casefold())
        made.append(fresh)
    return made


def _safe_header(name: str) -> str:
    return "'" + name if name[:1] and name[0] in _STARTS_FORMULA else name


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
