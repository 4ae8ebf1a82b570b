"""Text and JSON files of a bucket: copied to this machine, then read as files of this machine are.

Must never: keep a copy after the import, or read past the limits that hold for a packed file of this machine.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb

from lexsi_ds.data.archives import gunzip
from lexsi_ds.data.connectors.bucket_names import PACKED, BucketFormat
from lexsi_ds.data.json_files import read_json
from lexsi_ds.data.loaded import Limits, Loaded
from lexsi_ds.data.raw_rows import literal
from lexsi_ds.data.readers import read_parquet, read_text
from lexsi_ds.data.wide_decimals import refused, wide_columns

_WHOLE_MB = 256
"""A file up to this size is copied byte by byte; a larger one line by line, which wants UTF-8."""
_READERS = {"csv": read_text, "json": read_json}


def read_texts(
    con: duckdb.DuckDBPyConnection, files: Sequence[str], kind: BucketFormat, name: str, scratch: Path, limits: Limits,
    options: Mapping[str, Any],
) -> Loaded:
    """One table of these files; several become one by column names."""
    read = _READERS[kind]
    rest = [_copied(con, file, scratch, number) for number, file in enumerate(files)]
    parts: list[Loaded] = []
    if kind == "csv":
        parts = [read(con, rest[0], name, _fresh(scratch), limits, {})]
        if len(rest) > 1 and parts[0].options.get("header") and _same_header(rest):
            _append(rest[0], rest[1:])
            parts = [read(con, rest[0], name, _fresh(scratch), limits, {})]
            rest = rest[:1]
        rest = rest[1:]
    parts += [read(con, copy, name, _fresh(scratch), limits, {}) for copy in rest]
    said = {**parts[0].options, **options}
    if len(parts) == 1:
        return replace(parts[0], options=said, columns=(), suggestions=())
    rejects = " UNION ALL ".join(f"(SELECT * FROM ({part.rejects}))" for part in parts if part.rejects)
    return Loaded(
        name, " UNION ALL BY NAME ".join(f"({part.select})" for part in parts), said,
        tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        rejected=sum(part.rejected for part in parts), rejects=rejects or None,
    )


def read_wide(
    con: duckdb.DuckDBPyConnection, files: Sequence[str], name: str, scratch: Path, limits: Limits, options: Mapping[str, Any]
) -> Loaded:
    """One table of Parquet files that hold decimals of more than 38 digits, each copied and read exactly."""
    listed = ", ".join(literal(file) for file in files)
    large = con.execute(f"SELECT filename FROM read_blob([{listed}]) WHERE size > {_WHOLE_MB * 2**20} LIMIT 1").fetchone()
    if large is not None:
        raise refused(wide_columns(con, files), str(large[0]))
    parts = [read_parquet(con, _copied(con, file, scratch, number), name, limits) for number, file in enumerate(files)]
    notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
    select = " UNION ALL BY NAME ".join(f"({part.select})" for part in parts) if len(parts) > 1 else parts[0].select
    return Loaded(name, select, dict(options), notes)


def _copied(con: duckdb.DuckDBPyConnection, file: str, scratch: Path, number: int) -> Path:
    """A copy of a file of the bucket, unpacked, under its own name."""
    local = _fresh(scratch) / (re.sub(r"[^\w.\- ]+", "_", file.rsplit("/", 1)[-1])[-100:] or f"file{number}.csv")
    packed = local.suffix.lower() == PACKED
    size = con.execute(f"SELECT size FROM read_blob({literal(file)})").fetchone()
    if size is not None and size[0] <= _WHOLE_MB * 2**20:
        raw = local.with_name("raw")  # by an ending of .gz DuckDB would pack it once more
        con.execute(f"COPY (SELECT content FROM read_blob({literal(file)})) TO {literal(str(raw))} (FORMAT blob)")
        raw.rename(local)
        return gunzip(local, local.parent) if packed else local
    local = local.with_suffix("") if packed else local  # DuckDB unpacks it on the way
    con.execute(
        f"""COPY (SELECT line FROM read_csv({literal(file)}, columns = {{'line': 'VARCHAR'}}, delim = '\x01', quote = '',
            escape = '', header = false, auto_detect = false, max_line_size = 20000000))
            TO {literal(str(local))} (FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\x01')"""
    )
    return local


def _fresh(scratch: Path) -> Path:
    """A folder of its own."""
    return Path(tempfile.mkdtemp(prefix="s3-", dir=scratch))


def _same_header(copies: Sequence[Path]) -> bool:
    """Whether all files begin with the same line, and it is short enough to be one of column names."""
    first = set()
    for copy in copies:
        with copy.open("rb") as file:
            first.add(file.readline(1 << 20))
    return len(first) == 1 and next(iter(first)).endswith(b"\n")


def _append(whole: Path, others: Sequence[Path]) -> None:
    """Add the lines of other files below those of the first, each without its header."""
    with whole.open("r+b") as target:
        for other in others:
            target.seek(-1, os.SEEK_END)
            if target.read(1) != b"\n":
                target.write(b"\n")
            with other.open("rb") as source:
                source.readline()
                shutil.copyfileobj(source, target)
