"""Names of files in a bucket: what they may hold, what they say of a file's kind, and the table that they become.

Must never: let a name carry parameters; they could point the request, and the key, elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Literal

from lexsi_ds.data.raw_rows import literal
from lexsi_ds.data.sniff import table_name
from lexsi_ds.errors import BadInput

BucketFormat = Literal["parquet", "csv", "json"]
PARQUET = (".parquet", ".pq", ".parq")
TEXT = (".csv", ".tsv", ".tab", ".txt")
JSON = (".json", ".jsonl", ".ndjson")
PACKED = ".gz"
READABLE = "Parquet, CSV and JSON"


def check_key(key: str, *, globs: bool) -> None:
    """Raises BadInput for a key with signs that mean something to a request, or that leads out of its folder."""
    signs = "?#\\\n\r\t\0" + ("" if globs else "*[]{}")
    if any(sign in key for sign in signs) or "://" in key or ".." in key.split("/"):
        raise BadInput("Names of files in a bucket cannot hold ? # \\ or ..", where=key[:80], to_do="Use * for several files.")
    if globs and not key:
        raise BadInput("A file's name is empty.", to_do="Name a file, such as sales.parquet.")


def has_glob(key: str) -> bool:
    """Whether a name stands for several files."""
    return any(sign in key for sign in "*[")


def is_unsafe(url: str) -> bool:
    """Whether DuckDB would take a listed file's own name for a pattern or for parameters."""
    return any(sign in url for sign in "?*[#")


def format_of(key: str) -> BucketFormat:
    """What kind of file a name says; text and JSON may be packed. Raises BadInput for another."""
    suffix = suffix_of(key)
    if suffix in PARQUET and not key.lower().endswith(PACKED):
        return "parquet"
    if suffix in TEXT:
        return "csv"
    if suffix in JSON:
        return "json"
    raise BadInput(
        f"Only {READABLE} files of a bucket can be read.", where=key[:120],
        to_do=f"Name files that end in {', '.join((*PARQUET, *TEXT, *JSON))}; text and JSON also with {PACKED}. "
        "A pattern needs its ending too, such as *.parquet.",
    )


def suffix_of(key: str) -> str:
    """The ending that says the kind, below a packed file's own."""
    path = PurePosixPath(key.lower())
    return PurePosixPath(path.stem).suffix if path.suffix == PACKED else path.suffix


def stem_name(key: str, taken: set[str]) -> str:
    """The name of the view: the file's stem; of a pattern, its letters, or the folder that holds it."""
    path = PurePosixPath(key)
    stem = PurePosixPath(path.stem).stem if path.suffix.lower() == PACKED else path.stem
    words = re.sub(r"[*\[\]]+", "_", stem).strip("_-. ")
    if not words:
        words = next((part for part in reversed(path.parts[:-1]) if not has_glob(part)), "files")
    return table_name(words, taken)


def url_list(files: Sequence[str]) -> str:
    """Files as a list of DuckDB's."""
    return f"[{', '.join(literal(file) for file in files)}]"
