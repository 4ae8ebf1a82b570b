"""A look at files of a bucket before they are copied: which ones a pattern stands for, and how the first of them is read.

Must never: copy more of a file than a look at one of this machine reads, or keep it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from lexsi_ds.data.archives import decompress
from lexsi_ds.data.connectors.base import SourceTable
from lexsi_ds.data.connectors.bucket_names import PACKED
from lexsi_ds.data.found_plan import column_type, plan_of
from lexsi_ds.data.json_files import read_json
from lexsi_ds.data.loaded import Limits, Loaded
from lexsi_ds.data.raw_rows import literal
from lexsi_ds.data.readers import read_text
from lexsi_ds.data.reading import HEAD_BYTES, HEAD_ROWS

_SHOWN = 50
_WHOLE = 64 << 20
_TOO_LARGE = "Larger than 64 MB: how it is read is found at the import."


def looked(con: duckdb.DuckDBPyConnection, table: SourceTable, limits: Limits) -> dict[str, Any]:
    """``table``, ``count``, the first ``files`` ({name, bytes}); of the first ``said``, ``columns`` ({name, type}), ``notes``."""
    files: list[str] = table.extra["files"]
    sizes = _sizes(con, files[:_SHOWN])
    made: dict[str, Any] = {
        "table": table.table, "count": len(files), "files": [{"name": f, "bytes": sizes.get(f)} for f in files[:_SHOWN]],
        "said": "", "columns": [], "notes": [],
    }  # fmt: skip
    if table.extra["format"] == "parquet":
        described = con.execute(f"DESCRIBE SELECT * FROM read_parquet({literal(files[0])})").fetchall()
        return made | {"said": "Parquet", "columns": [{"name": row[0], "type": column_type(row[1])} for row in described]}
    if (sizes.get(files[0]) or 0) > _WHOLE:
        return made | {"notes": [_TOO_LARGE]}
    with tempfile.TemporaryDirectory(prefix="look-") as folder:
        scratch = Path(folder)
        copy = _head(con, files[0], scratch)
        found = _read(con, copy, table.extra["format"], scratch, limits)
        plan = plan_of(found, copy, None, {})
    columns = [{"name": c.name, "type": c.type} for c in plan.columns]
    return made | {"said": plan.said, "columns": columns, "notes": list(plan.notes)}


def _sizes(con: duckdb.DuckDBPyConnection, files: Sequence[str]) -> dict[str, int]:
    listed = ", ".join(literal(file) for file in files)
    return dict(con.execute(f"SELECT filename, size FROM read_blob([{listed}])").fetchall())


def _head(con: duckdb.DuckDBPyConnection, file: str, scratch: Path) -> Path:
    """The beginning of a file, as whole lines, unpacked."""
    row = con.execute(f"SELECT content FROM read_blob({literal(file)})").fetchone()
    name = Path(file.rsplit("/", 1)[-1])
    copy = scratch / f"head{''.join(name.suffixes[-2:]) if name.suffix == PACKED else name.suffix}"
    copy.write_bytes(row[0] if row else b"")
    if name.suffix.lower() == PACKED:
        copy = decompress(copy, scratch, head=HEAD_BYTES)
    if copy.suffix.lower() != ".json":
        head = copy.read_bytes()[:HEAD_BYTES]
        copy.write_bytes(head[: head.rfind(b"\n") + 1] or head if len(head) == HEAD_BYTES else head)
    return copy


def _read(con: duckdb.DuckDBPyConnection, copy: Path, kind: str, scratch: Path, limits: Limits) -> Loaded:
    inner = Path(tempfile.mkdtemp(dir=scratch))
    if kind == "json":
        return read_json(con, copy, "look", inner, limits, {}, most=HEAD_ROWS)
    return read_text(con, copy, "look", inner, limits, {})
