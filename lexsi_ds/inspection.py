"""What ``python -m lexsi_ds inspect`` says of a source: its tables and columns, what was set aside, and what was noticed.

Must never: keep to itself that something of a file is not in a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lexsi_ds.data.handle import Column, DatasetHandle, Table


def as_json(handle: DatasetHandle, notes: Sequence[str]) -> dict[str, Any]:
    """One JSON object."""
    tables = [
        {
            "name": t.name,
            "rows": t.rows,
            "rejected": t.rejected,
            "flagged": t.flagged,
            "columns": [c.model_dump(mode="json") | {"family": c.family} for c in t.columns],
        }
        for t in handle.tables
    ]
    return {
        "schema_version": 1,
        "name": handle.name,
        "kind": handle.kind,
        "today": str(handle.today) if handle.today else None,
        "synthetic": handle.synthetic,
        "tables": tables,
        "notes": list(notes),
    }


def as_lines(handle: DatasetHandle, notes: Sequence[str]) -> list[str]:
    """Lines for a person's eyes."""
    until = f", data to {handle.today}" if handle.today else ""
    lines = [f"{handle.name}: {_counted(len(handle.tables), 'table')}, {_counted(handle.rows, 'row')}{until}"]
    for table in handle.tables:
        lines += ["", f"{table.name} ({_counted(table.rows, 'row')})", *_set_aside(table)]
        lines += [_column(c) for c in table.columns]
    if notes:
        lines += ["", "What was noticed while reading:", *(f"  {note}" for note in notes)]
    return lines


def _set_aside(table: Table) -> list[str]:
    said = []
    if n := table.rejected:
        said.append(f"  ! {_counted(n, 'line')} did not fit and {'is' if n == 1 else 'are'} not in the table")
    if n := table.flagged:
        said.append(f"  ! {n:,} {'line or cell was' if n == 1 else 'lines or cells were'} read with missing values")
    return said


def _column(c: Column) -> str:
    marks = ", ".join(m for m in ("protected", "identifier", "masked") if getattr(c, m))
    missing = f"  {c.nulls:,} missing" if c.nulls else ""
    return f"  {c.name}  {c.type}{missing}" + (f"  [{marks}]" if marks else "")


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
