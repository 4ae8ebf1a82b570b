"""What a reader found, as the plan that is shown: of the file, and of each column.

Must never: read anything, or lose what a person chose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lexsi_ds.data.evidence import Hints
from lexsi_ds.data.infer import Typed
from lexsi_ds.data.loaded import Loaded
from lexsi_ds.data.marks import Marks
from lexsi_ds.data.plan import FILE_FIELDS, ColumnPlan, ColumnType, ReadPlan

_TYPES: dict[str, ColumnType] = {
    "VARCHAR": "text", "BIGINT": "integer", "DOUBLE": "decimal", "DATE": "date", "TIMESTAMP": "timestamp",
    "TIME": "time", "BOOLEAN": "boolean", "INTEGER": "integer", "SMALLINT": "integer", "FLOAT": "decimal", "HUGEINT": "integer",
}  # fmt: skip


def plan_of(loaded: Loaded, path: Path, member: str | None, options: Mapping[str, Any]) -> ReadPlan:
    """What was found, as a plan; ``options`` are what a person had set before."""
    known = {k: v for k, v in loaded.options.items() if (k in FILE_FIELDS or k == "format") and v is not None}
    chosen = tuple(k for k in options if k in FILE_FIELDS)
    given = {k: options[k] for k in chosen}
    if not known.get("format"):
        known["format"] = "text"
    return ReadPlan(
        **(known | given), path=path, member=member, table=loaded.name, columns=loaded.columns, notes=loaded.notes,
        suggestions=loaded.suggestions, rejected=loaded.rejected, flagged=loaded.flagged, chosen=chosen,
    )  # fmt: skip


def chosen_marks(plans: Sequence[ColumnPlan], options: Mapping[str, Any]) -> dict[str, Marks] | None:
    """Marks that a person set, by column name."""
    made: dict[str, Marks] = {}
    for plan in plans:
        given = (options.get("columns") or {}).get(str(plan.position), {})
        if {"protected", "masked", "identifier"} & set(given):
            made[plan.name] = Marks(
                bool(given.get("protected")), bool(given.get("identifier")), bool(given.get("masked"))
            )
    return made or None


def column_type(sql_type: str) -> ColumnType:
    """The plain word for a DuckDB type."""
    decimal = sql_type.startswith("DECIMAL") and not sql_type.endswith("]")
    return _TYPES.get(sql_type, "decimal" if decimal else "other")


def column_plan(t: Typed, hints: Hints) -> ColumnPlan:
    """A column of a text file as it was found."""
    d = t.decision
    given = hints.columns.get(t.column.raw, {})
    style = d.style if d is not None and t.type in ("DOUBLE", "BIGINT") else None
    return ColumnPlan(
        position=int(t.column.raw[1:]), name=t.column.name, type=column_type(t.type), sql_type=t.type,
        decimal=style.decimal if style is not None and t.type == "DOUBLE" else None,
        thousands=(style.thousands or None) if style is not None else None,
        date_order="mdy" if d is not None and d.date_order == "mdy" else "dmy" if d is not None and d.date_order else None,
        missing=t.missing, notes=t.notes, chosen=tuple(given),
        **{k: v for k, v in given.items() if k in ("protected", "masked", "identifier", "include", "trim")},
    )  # fmt: skip


def file_facts(plans: Sequence[ColumnPlan]) -> dict[str, Any]:
    """Decimal mark, thousands mark and date order of the file, where its columns agree."""
    made: dict[str, Any] = {}
    for name in ("decimal", "thousands", "date_order"):
        found = {getattr(p, name) for p in plans} - {None}
        if len(found) == 1:
            made[name] = found.pop()
    return made
