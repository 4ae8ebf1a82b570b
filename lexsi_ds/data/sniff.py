"""What kind of data lies at a path, and which files of a folder are tables.

Looks at names and first bytes only. Must never: follow a path out of a folder, or open a database.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lexsi_ds.data.bank_schema import TABLES
from lexsi_ds.data.text_file import read_head, refuse_binary
from lexsi_ds.errors import BadInput

FileKind = Literal["text", "json", "excel", "parquet", "sqlite", "duckdb", "zip", "compressed"]
PathKind = Literal["files", "sqlite", "pkdd"]

TEXT_SUFFIXES = (".csv", ".tsv", ".tab", ".txt", ".asc", ".dat", ".prn")
JSON_SUFFIXES = (".json", ".jsonl", ".ndjson", ".geojson")
EXCEL_SUFFIXES = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods")
DUCKDB_SUFFIXES = (".duckdb", ".ddb")
_PARQUET_SUFFIXES = (".parquet", ".pq", ".parq")
_SQLITE_SUFFIXES = (".sqlite", ".sqlite3", ".db", ".db3")
COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst", ".zstd")
_ARCHIVE_SUFFIXES = (".zip", *COMPRESSED_SUFFIXES)
_COMPRESSED_MAGIC = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")
SUFFIXES = (
    TEXT_SUFFIXES + JSON_SUFFIXES + EXCEL_SUFFIXES + _PARQUET_SUFFIXES + _SQLITE_SUFFIXES + DUCKDB_SUFFIXES
    + _ARCHIVE_SUFFIXES
)  # fmt: skip
READABLE = "CSV, TSV, TXT, JSON, Excel, Parquet, SQLite, DuckDB or zip"
_SQLITE_MAGIC, _PARQUET_MAGIC, _ZIP_MAGIC = b"SQLite format 3\x00", b"PAR1", b"PK\x03\x04"
_OLE_MAGIC, _DUCKDB_MAGIC = b"\xd0\xcf\x11\xe0", b"DUCK"
_NAMED = (
    (_PARQUET_SUFFIXES, "Parquet"), (_SQLITE_SUFFIXES, "SQLite or DuckDB"), (DUCKDB_SUFFIXES, "DuckDB"), (EXCEL_SUFFIXES, "Excel"),
    ((".zip",), "zip"), (COMPRESSED_SUFFIXES, "compressed"),
)  # fmt: skip
_LEAST_BANK_TABLES = 3
_UNSAFE = re.compile(r"[^\w]+")


@dataclass(frozen=True)
class Found:
    """Files to read, and names of files that were passed over."""

    files: tuple[Path, ...]
    ignored: tuple[str, ...] = ()


def path_kind(path: Path) -> PathKind:
    """Which importer a path wants. Raises BadInput when there is nothing to read."""
    if path.is_dir():
        return "pkdd" if is_bank_folder(path) else "files"
    return "sqlite" if file_kind(path) == "sqlite" else "files"


def paths_kind(paths: Sequence[Path]) -> PathKind:
    """Which importer several paths want together: uploads of the bank's ``.asc`` files are the bank."""
    if len(paths) == 1:
        return path_kind(paths[0])
    raw = all(p.suffix.lower() == ".asc" for p in paths)
    return "pkdd" if raw and len(bank_files(paths)) >= _LEAST_BANK_TABLES else "files"


def is_bank_folder(folder: Path) -> bool:
    """Whether a folder holds several of the bank's tables as text files."""
    return len(bank_files([folder])) >= _LEAST_BANK_TABLES


def bank_files(paths: Sequence[Path]) -> dict[str, Path]:
    """The bank's tables among files, and files of folders. A name of the table's and ``_part`` counts as the table."""
    files = [file for path in paths for file in (sorted(path.iterdir()) if path.is_dir() else [path])]
    texts = [p for p in files if p.is_file() and p.suffix.lower() in TEXT_SUFFIXES]
    found: dict[str, Path] = {}
    for table in TABLES:
        whole = [p for p in texts if p.stem.casefold() == table.name]
        part = [p for p in texts if p.stem.casefold().startswith(f"{table.name}_part")]
        if whole or part:
            found[table.name] = (whole or part)[0]
    return found


def file_kind(path: Path) -> FileKind:
    """Kind of one file, by its first bytes rather than its name. Raises BadInput for what cannot be read."""
    if not path.exists():
        raise BadInput("There is no such file or folder.", where=str(path), to_do="Check the path.")
    if not path.is_file():
        raise BadInput("This is not a file.", where=str(path), to_do=f"Choose a {READABLE} file.")
    head = read_head(path)
    if not head:
        raise BadInput("This file is empty.", where=path.name, to_do="Choose a file with at least column names in it.")
    suffix = path.suffix.lower()
    if suffix in TEXT_SUFFIXES:
        return "text"
    if suffix in JSON_SUFFIXES:
        return "json"
    known = _by_magic(head, suffix)
    if known is not None:
        return known
    if suffix in EXCEL_SUFFIXES:
        return _called_a_workbook(path, head)
    for suffixes, named in _NAMED:
        if suffix in suffixes:
            raise BadInput(f"This is not a {named} file.", where=path.name, to_do="Check that it was written completely.")
    if suffix in ("", ".data", ".log"):
        refuse_binary(path, head)
        return "text"
    raise BadInput(f"Files of type {suffix} cannot be read.", where=path.name, to_do=f"Choose a {READABLE} file.")


def _called_a_workbook(path: Path, head: bytes) -> FileKind:
    """Text under the name of a workbook, as many programs export it; a web page is refused with what to do."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:200].lower()
    if start.startswith((b"<", b"mime-version")):
        raise BadInput(
            "This is a web page or XML under the name of a workbook.", where=path.name,
            to_do="Open it in a spreadsheet program and save it as xlsx or CSV.",
        )  # fmt: skip
    if b"\n" not in head or head.startswith((_ZIP_MAGIC, _OLE_MAGIC)):
        raise BadInput("This is not an Excel file.", where=path.name, to_do="Check that it was written completely.")
    refuse_binary(path, head)
    return "text"


def _by_magic(head: bytes, suffix: str) -> FileKind | None:
    """Kind by the first bytes; a zip is a workbook when its name says so."""
    if head.startswith(_SQLITE_MAGIC):
        return "sqlite"
    if head.startswith(_PARQUET_MAGIC):
        return "parquet"
    if head[8:12] == _DUCKDB_MAGIC:
        return "duckdb"
    if head.startswith(_ZIP_MAGIC) or (head.startswith(b"PK\x05\x06") and suffix == ".zip"):
        return "excel" if suffix in EXCEL_SUFFIXES else "zip" if suffix in (".zip", "") else None
    if head.startswith(_COMPRESSED_MAGIC) and suffix in (*COMPRESSED_SUFFIXES, ""):
        return "compressed"
    return "excel" if head.startswith(_OLE_MAGIC) and suffix in EXCEL_SUFFIXES else None


def find_files(paths: Sequence[Path]) -> Found:
    """The files that ``paths`` name; of a folder, those directly in it that can be read. In order of name."""
    files: list[Path] = []
    ignored: list[str] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(p for p in path.iterdir() if not p.name.startswith("."))
            fit = [p for p in inside if p.is_file() and not p.is_symlink() and p.suffix.lower() in SUFFIXES]
            files += fit
            ignored += [p.name for p in inside if p not in fit]
        else:
            files.append(path)
    if not files:
        where = ", ".join(p.name for p in paths)
        raise BadInput("There is no table in this folder.", where=where, to_do=f"Choose a folder with {READABLE} files.")
    return Found(tuple(files), tuple(ignored))


def table_name(stem: str, taken: set[str]) -> str:
    """A readable identifier from a file's name, unlike those ``taken`` (case folded); adds itself to them."""
    name = _UNSAFE.sub("_", stem).strip("_").lower()[:60].strip("_") or "table"
    if name[0].isdigit():
        name = f"t_{name}"
    return free_name(name, taken)


def free_name(name: str, taken: set[str]) -> str:
    """``name``, or ``name_2`` and so on when it is taken; adds itself to ``taken``."""
    found, number = name, 2
    while found.casefold() in taken:
        found, number = f"{name}_{number}", number + 1
    taken.add(found.casefold())
    return found
