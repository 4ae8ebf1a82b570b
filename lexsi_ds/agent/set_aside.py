"""What an answer must say of lines that are not in its tables: they were set aside when the files were read.

Must never: say it of a table that the answer does not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lexsi_ds.data.handle import DatasetHandle, Table
from lexsi_ds.data.mentioned import tables_of

_NAMED = 4


def set_aside(handle: DatasetHandle, cache: Mapping[str, Any]) -> list[str]:
    """A caveat for each table behind an answer of whose file something could not be taken as it stood."""
    tables = {table.name: table for sql in _queries(cache) for table in tables_of(handle, sql)}
    odd = [said for table in tables.values() for said in _said(table)]
    return odd if len(odd) <= _NAMED else [*odd[:_NAMED], f"The same holds for {len(odd) - _NAMED} more of its tables."]


def _queries(cache: Mapping[str, Any]) -> list[str]:
    stated = cache.get("_predictive")
    task = getattr(stated, "task", None)
    found = [cache.get("last_sql"), getattr(task, "context_sql", None), getattr(task, "predict_sql", None)]
    return [str(sql) for sql in found if sql]


def _said(table: Table) -> list[str]:
    said = []
    if n := table.rejected:
        is_, they = ("1 line of its file is", "it") if n == 1 else (f"{n:,} lines of its file are", "they")
        said.append(f"{table.name}: {is_} not in the table, because {they} did not fit its columns.")
    if n := table.flagged:
        is_ = "1 line or cell was" if n == 1 else f"{n:,} lines or cells were"
        said.append(f"{table.name}: {is_} read with missing values, because what stood there did not fit.")
    return said
