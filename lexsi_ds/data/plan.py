"""How a table is going to be read: every guess as a value that can be shown, changed, stored and used.

A plan is made from a bounded part of a file. What a person sets wins over what is found (``chosen``); the rest is found
again at the import, from the whole file. Must never: hold a connection, or read anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from lexsi_ds.data.handle import Value

Format = Literal["text", "json", "excel", "parquet", "sqlite", "duckdb"]
ColumnType = Literal["text", "integer", "decimal", "date", "timestamp", "time", "boolean", "other"]

_FORMAT_NAMES = {
    "json": "JSON", "excel": "Excel", "parquet": "Parquet", "sqlite": "SQLite", "duckdb": "DuckDB", "text": "text",
}  # fmt: skip
_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe", " ": "space", ":": "colon"}
_THOUSANDS = {",": "comma", ".": "point", " ": "space", "'": "apostrophe"}
_ORDERS = {"dmy": "day first", "mdy": "month first"}
FILE_FIELDS = (
    "delimiter", "quote", "escape", "encoding", "decimal", "thousands", "header", "header_lines", "skip", "date_order",
    "missing", "keep_empty_rows", "keep_below", "cuts",
)  # fmt: skip
_COLUMN_FIELDS = ("name", "type", "date_order", "missing", "include", "trim", "protected", "masked", "identifier")


class Suggestion(Value):
    """Something that a person may want to set: shown, never applied by itself."""

    kind: Literal["missing", "date_order", "decimal", "type", "trim"]
    column: str
    values: tuple[str, ...] = ()
    """Codes to take for missing, or the choices there are (``dmy``, ``mdy``)."""
    count: int = 0
    """Cells that it is about."""
    said: str


class ColumnPlan(Value):
    """A column as it will be. ``position`` is its place in the file, from 0."""

    position: int
    name: str
    type: ColumnType
    sql_type: str = "VARCHAR"
    decimal: str | None = None
    thousands: str | None = None
    date_order: Literal["dmy", "mdy"] | None = None
    missing: tuple[str, ...] = ()
    """Codes of this column that become missing, beside blanks."""
    include: bool = True
    trim: bool = False
    """Whether blanks around the texts of this column go."""
    protected: bool = False
    masked: bool = False
    identifier: bool = False
    notes: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()
    """Fields that a person set."""


class ReadPlan(Value):
    """How one table is read. ``path`` is the file; ``member`` the file in a zip, the sheet or the table in it."""

    path: Path
    member: str | None = None
    table: str
    format: Format
    delimiter: str | None = None
    quote: str | None = None
    escape: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    header: bool = True
    header_lines: tuple[int, ...] = ()
    """Lines (rows of a sheet) that hold the column names, from 1."""
    skip: int = 0
    """Lines before the first one that counts."""
    date_order: Literal["dmy", "mdy"] | None = None
    missing: tuple[str, ...] = ()
    """Codes that become missing in every column, set by a person."""
    keep_empty_rows: bool = False
    cuts: tuple[int, ...] = ()
    """For columns of fixed width: the characters at which they begin, from 1."""
    keep_below: bool = False
    """Whether notes and a total under the table are rows of it."""
    columns: tuple[ColumnPlan, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    notes: tuple[str, ...] = ()
    rejected: int = 0
    """Lines of the part that was read that do not fit."""
    flagged: int = 0
    """Cells of it that do not fit a chosen type, and lines that were filled up with missing cells."""
    partial: bool = False
    """Whether only the beginning of the file was read."""
    error: str | None = None
    """Why this file cannot be read; then there are no columns."""
    chosen: tuple[str, ...] = ()
    """Fields that a person set."""

    @property
    def key(self) -> str:
        """What tells this table from the others of an import, wherever its file lies."""
        return table_key(self.path.name, self.member)

    @property
    def said(self) -> str:
        """The guesses as one line, such as ``semicolon, cp1252, decimal comma, header on line 6``."""
        if self.error:
            return self.error
        parts = [] if self.format == "text" else [_FORMAT_NAMES[self.format]]
        if self.delimiter is not None:
            parts.append(_DELIMITERS.get(self.delimiter, f"delimiter {self.delimiter!r}"))
        if self.cuts:
            parts.append("columns of fixed width")
        if self.encoding is not None:
            parts.append("utf-8 with BOM" if self.encoding == "utf-8-sig" else self.encoding)
        if self.quote == "'":
            parts.append("quotes '")
        if self.decimal == ",":
            parts.append("decimal comma")
        if self.thousands:
            parts.append(f"thousands {_THOUSANDS.get(self.thousands, self.thousands)}")
        if self.date_order:
            parts.append(_ORDERS[self.date_order])
        if self.format in ("text", "excel"):
            parts.append(self._header_said())
        if self.missing:
            parts.append(f"{', '.join(self.missing)} missing")
        return ", ".join(parts)

    def _header_said(self) -> str:
        word = "row" if self.format == "excel" else "line"
        if not self.header_lines:
            return "no header" if not self.header else f"header on {word} 1"
        first, last = self.header_lines[0], self.header_lines[-1]
        return f"header on {word} {first}" if first == last else f"header on {word}s {first} to {last}"

    def change(self, **fields: Any) -> ReadPlan:
        """This plan with fields of the whole file set by a person. Raises ValueError for a field that cannot be set."""
        if wrong := set(fields) - set(FILE_FIELDS):
            raise ValueError(f"cannot be set: {', '.join(sorted(wrong))}")
        return self._with(fields | {"chosen": tuple(dict.fromkeys([*self.chosen, *fields]))})

    def change_column(self, position: int, **fields: Any) -> ReadPlan:
        """This plan with fields of one column set by a person."""
        if wrong := set(fields) - set(_COLUMN_FIELDS):
            raise ValueError(f"cannot be set: {', '.join(sorted(wrong))}")
        columns = [
            ColumnPlan.model_validate(
                c.model_dump() | fields | {"chosen": tuple(dict.fromkeys([*c.chosen, *fields]))}
            )
            if c.position == position
            else c
            for c in self.columns
        ]
        return self._with({"columns": tuple(columns)})

    def take(self, suggestion: Suggestion) -> ReadPlan:
        """This plan with a suggestion applied to its column, where there is no choice: codes for missing, and blanks to trim."""
        column = next((c for c in self.columns if c.name == suggestion.column), None)
        if suggestion.kind == "trim" and column is not None:
            return self.change_column(column.position, trim=True)
        if suggestion.kind != "missing" or column is None:
            return self
        codes = tuple(dict.fromkeys([*column.missing, *suggestion.values]))
        return self.change_column(column.position, missing=codes)

    def choices(self) -> dict[str, Any]:
        """Only what a person set: the options of the reader."""
        made = {name: getattr(self, name) for name in self.chosen}
        columns = {
            str(c.position): {name: getattr(c, name) for name in c.chosen} for c in self.columns if c.chosen
        }
        return made | ({"columns": columns} if columns else {})

    def _with(self, fields: Mapping[str, Any]) -> ReadPlan:
        return ReadPlan.model_validate(self.model_dump() | dict(fields))


class Preview(Value):
    """The first rows as a plan reads them, and the plan again with what was found under it."""

    plan: ReadPlan
    columns: tuple[str, ...] = Field(default=())
    rows: tuple[tuple[Any, ...], ...] = Field(default=())
    rejected: tuple[tuple[int | None, str, str], ...] = Field(default=())
    """Line, reason and text of the first lines that do not fit."""


def table_key(file: str, member: str | None) -> str:
    """Name of a table within an import."""
    return f"{file}!{member}" if member else file


def plan_options(plans: Sequence[ReadPlan]) -> dict[str, Any]:
    """Options for an import that reads by these plans."""
    return {"plans": {p.key: made for p in plans if (made := p.model_dump(mode="json", include=set(_kept(p))))}}


def _kept(plan: ReadPlan) -> list[str]:
    return ["chosen", *plan.chosen, *(["columns"] if any(c.chosen for c in plan.columns) else [])]


def options_for(options: Mapping[str, Any], file: str, member: str | None) -> dict[str, Any]:
    """The reader's options for one table: those for all files, then what a person set in its plan."""
    general = {k: v for k, v in options.items() if k != "plans"}
    plans = options.get("plans") or {}
    found = plans.get(table_key(file, member)) or {}
    own = {name: found[name] for name in found.get("chosen", ()) if name in found}
    columns = {
        str(c["position"]): {name: c[name] for name in c.get("chosen", ())}
        for c in found.get("columns", ())
        if c.get("chosen")
    }
    return general | own | ({"columns": columns} if columns else {})
