"""How the columns of a MySQL or MariaDB table come over, and the keys that the database declares.

Decimals of more than 38 digits would become floating point, bits bytes, and dates with a month or day of zero nothing: each is
counted or said on the far side. Must never: let a value become another in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from lexsi_ds.data.connectors.base import Columns
from lexsi_ds.data.dialect import unique_names
from lexsi_ds.data.raw_rows import quoted

Ask = Callable[[str], list[tuple[Any, ...]]]
"""Runs a SELECT on the far side."""
MOST_DIGITS = 38
_TEXT = {"char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set", "json", "inet4", "inet6", "uuid"}
_DATES = {"date", "datetime", "timestamp"}
_SHAPES = {"geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection",
           "geomcollection"}


@dataclass(frozen=True)
class FarColumn:
    """A column as the far side describes it."""

    name: str
    kind: str
    comment: str | None
    precision: int | None
    scale: int | None

    @property
    def decimal(self) -> bool:
        """A decimal that fits: read as text, since the scanner takes one without a fraction for a digit shorter than it is."""
        return self.kind == "decimal" and not self.wide

    @property
    def wide(self) -> bool:
        """A decimal of more digits than DuckDB's."""
        return self.kind == "decimal" and (self.precision or 0) > MOST_DIGITS


@dataclass(frozen=True)
class Oddities:
    """What was counted: dates that DuckDB does not have, and the digits of a wide decimal."""

    zero_dates: int = 0
    whole: int | None = None
    scale: int | None = None

    @property
    def exact(self) -> str | None:
        """The type of DuckDB's that holds every value of a wide decimal."""
        fits = self.whole is not None and self.whole + (self.scale or 0) <= MOST_DIGITS
        return f"DECIMAL({MOST_DIGITS},{self.scale or 0})" if fits else None


def far_columns(ask: Ask, schema: str, table: str) -> list[FarColumn]:
    """Every column of a table, in order."""
    rows = ask(
        "SELECT column_name AS c, data_type AS t, column_comment AS d, numeric_precision AS p, numeric_scale AS s "
        f"FROM information_schema.columns WHERE table_schema = {text_of(schema)} AND table_name = {text_of(table)} "
        "ORDER BY ordinal_position"
    )
    return [
        FarColumn(name, str(kind).lower(), comment or None, None if p is None else int(p), None if s is None else int(s))
        for name, kind, comment, p, s in rows
    ]


def look(ask: Ask, source: str, columns: Sequence[FarColumn]) -> dict[str, Oddities]:
    """Count the oddities of all columns that may have some, in one pass over ``source`` (a quoted name of the far side)."""
    asked = [c for c in columns if c.kind in _DATES or c.wide]
    if not asked:
        return {}
    parts = [f"{part} AS p{3 * i + j}" for i, c in enumerate(asked) for j, part in enumerate(_counts(c))]
    row = [None if value is None else int(value) for value in ask(f"SELECT {', '.join(parts)} FROM {source}")[0]]
    return {c.name: Oddities(row[3 * i] or 0, row[3 * i + 1], row[3 * i + 2]) for i, c in enumerate(asked)}


def copied(
    con: duckdb.DuckDBPyConnection, source: str, columns: Sequence[FarColumn], found: dict[str, Oddities],
    query: Callable[[str], str],
) -> Columns:
    """The SELECT that copies the table, by a ``query`` of the far side; text that came as bytes is text again."""
    names, notes = unique_names([c.name for c in columns])
    far = [f"{_far_value(c, found.get(c.name, Oddities()))} AS c{i}" for i, c in enumerate(columns)]
    relation = query(f"SELECT {', '.join(far)} FROM {source}")
    types = {row[0]: str(row[1]) for row in con.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()}
    parts = []
    for i, (column, new) in enumerate(zip(columns, names, strict=True)):
        about = found.get(column.name, Oddities())
        exact = f"DECIMAL({column.precision},{column.scale or 0})" if column.decimal else about.exact if column.wide else None
        bytes_of_text = types.get(f"c{i}") == "BLOB" and (exact or column.kind in _TEXT or column.kind in _SHAPES)
        value = f"decode(c{i})" if bytes_of_text else f"c{i}"
        parts.append(f"{f'CAST({value} AS {exact})' if exact else value} AS {quoted(new)}")
        notes += _notes(column, about, new)
    comments = {new: c.comment for c, new in zip(columns, names, strict=True) if c.comment}
    return Columns(f"SELECT {', '.join(parts)} FROM {relation}", comments, tuple(notes))


def mysql_keys(ask: Ask, schema: str, table: str) -> dict[str, Any]:
    """``{"primary": [..], "foreign": [{"columns", "table", "to"}]}`` of a table, in the names that columns get here."""
    rows = ask(
        "SELECT constraint_name AS k, column_name AS c, referenced_table_schema AS s, referenced_table_name AS t, "
        "referenced_column_name AS f FROM information_schema.key_column_usage "
        f"WHERE table_schema = {text_of(schema)} AND table_name = {text_of(table)} "
        "AND (constraint_name = 'PRIMARY' OR referenced_table_name IS NOT NULL) ORDER BY constraint_name, ordinal_position"
    )
    own = _renamed(ask, schema, table)
    foreign: dict[str, dict[str, Any]] = {}
    primary = []
    for name, column, there, parent, to in rows:
        if parent is None:
            primary.append(own[column])
            continue
        one = foreign.setdefault(name, {"columns": [], "table": f"{there}.{parent}", "to": [], "_": _renamed(ask, there, parent)})
        one["columns"].append(own[column])
        one["to"].append(one["_"].get(to, to))
    return {"primary": primary, "foreign": [{k: v for k, v in one.items() if k != "_"} for one in foreign.values()]}


def name_of(name: str) -> str:
    """``name`` as an identifier of MySQL."""
    return "`" + name.replace("`", "``") + "`"


def text_of(text: str) -> str:
    """``text`` as a string of MySQL, whatever its mode says of backslashes."""
    return f"CONVERT(X'{text.encode().hex()}' USING utf8mb4)"


def _renamed(ask: Ask, schema: str, table: str) -> dict[str, str]:
    names = [c.name for c in far_columns(ask, schema, table)]
    return dict(zip(names, unique_names(names)[0], strict=True))


def _counts(column: FarColumn) -> tuple[str, str, str]:
    """How many dates with a zero in them, most digits before the point, most behind it."""
    name = name_of(column.name)
    if column.kind in _DATES:
        return f"SUM(MONTH({name}) = 0 OR DAY({name}) = 0)", "NULL", "NULL"
    behind = f"MAX(LENGTH(TRIM(TRAILING '0' FROM SUBSTRING_INDEX({name}, '.', -1))))" if column.scale else f"MAX({name} * 0)"
    return "0", f"MAX(LENGTH(TRUNCATE(ABS({name}), 0)))", behind


def _far_value(column: FarColumn, about: Oddities) -> str:
    name = name_of(column.name)
    if column.decimal or about.exact:
        return f"CAST({name} AS CHAR)"
    if column.kind == "bit" and (column.precision or 1) > 1:
        return f"CAST({name} AS UNSIGNED)"
    return f"ST_AsText({name})" if column.kind in _SHAPES else name


def _notes(column: FarColumn, about: Oddities, new: str) -> list[str]:
    if about.zero_dates:
        n = about.zero_dates
        return [f"{new}: {n:,} date{'s' * (n != 1)} with a month or day of zero became missing values."]
    if column.wide and about.whole is not None and not about.exact:
        return [f"{new}: decimal of {column.precision} digits came over as floating point (15 to 17 digits)."]
    return []
