"""How the columns of a PostgreSQL table come over: what the scanner would get wrong without a word is looked at first.

The scanner reads numeric without a precision as floating point, NaN as 0, endless dates as days of the years 1 and 9999, and
domains as text. One statement of ours counts these on the far side; where there are any, the rows are read by a query that
says them right. Must never: let one of them become another value in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from lexsi_ds.data.connectors.base import Columns
from lexsi_ds.data.dialect import unique_names
from lexsi_ds.data.far_days import WORDS
from lexsi_ds.data.raw_rows import literal, quoted
from lexsi_ds.errors import BadInput

Ask = Callable[[str], list[tuple[Any, ...]]]
"""Runs a SELECT on the far side."""
MOST_SCALE = 12
"""Digits behind the point up to which numeric without a precision stays exact; longer ones come from divisions."""
MOST_DIGITS = 38
_DATED = ("date", "timestamp", "timestamptz")
_ODD_ARRAYS = ("_numeric", "_date", "_timestamp", "_timestamptz")
_ABOUT = """
WITH RECURSIVE base AS (
  SELECT a.attnum, a.atttypid AS t, a.atttypmod AS m, a.attndims AS dims, 0 AS depth
    FROM pg_catalog.pg_attribute a WHERE a.attrelid = {oid} AND a.attnum > 0 AND NOT a.attisdropped
  UNION ALL
  SELECT b.attnum, t.typbasetype, CASE WHEN b.m = -1 THEN t.typtypmod ELSE b.m END, greatest(b.dims, t.typndims), b.depth + 1
    FROM base b JOIN pg_catalog.pg_type t ON t.oid = b.t WHERE t.typtype = 'd')
SELECT a.attname AS c, col_description(a.attrelid, a.attnum) AS d, t.typname AS t, base.m AS m, base.dims AS n, base.depth AS depth
FROM base JOIN pg_catalog.pg_type t ON t.oid = base.t AND t.typtype <> 'd'
JOIN pg_catalog.pg_attribute a ON a.attrelid = {oid} AND a.attnum = base.attnum ORDER BY a.attnum
"""


@dataclass(frozen=True)
class FarColumn:
    """A column as the far side describes it."""

    name: str
    comment: str | None
    kind: str
    """PostgreSQL's own name of its type; of a domain, of the type below."""
    typmod: int
    dims: int
    domain: bool

    @property
    def loose(self) -> bool:
        """A number that no DECIMAL of DuckDB is declared for: no precision, or more than 38 digits."""
        return self.kind == "money" or (self.kind == "numeric" and (self.typmod < 0 or self.precision > MOST_DIGITS))

    @property
    def precision(self) -> int:
        """Digits of a numeric that has a precision."""
        return (self.typmod - 4) >> 16

    @property
    def number(self) -> str:
        """The column as a number of the far side."""
        return f"{quoted(self.name)}::numeric" if self.kind == "money" else quoted(self.name)


@dataclass(frozen=True)
class Oddities:
    """What was counted of a column: values that DuckDB's type cannot hold, and the digits of a loose number."""

    odd: int = 0
    whole: int | None = None
    scale: int | None = None

    @property
    def mostly_far(self) -> bool:
        """Of days: whether more than half have an end and cannot be said here (``whole`` is 1); then all are kept as text."""
        return self.scale is None and self.whole == 1

    @property
    def exact(self) -> str | None:
        """The far side's type that holds every finite value exactly; None when there is none, or no value."""
        if self.whole is None or self.scale is None or self.scale > MOST_SCALE or self.whole + self.scale > MOST_DIGITS:
            return None
        if not self.scale and self.whole <= 18:
            return "bigint"
        return f"numeric({18 if self.whole + self.scale <= 16 else MOST_DIGITS},{self.scale})"


def far_columns(ask: Ask, oid: int) -> list[FarColumn]:
    """Every column of a table, in order."""
    return [
        FarColumn(name, comment or None, kind, int(typmod), int(dims), int(depth) > 0)
        for name, comment, kind, typmod, dims, depth in ask(_ABOUT.format(oid=int(oid)))
    ]


def look(ask: Ask, source: str, columns: Sequence[FarColumn], version: int) -> dict[str, Oddities]:
    """Count the oddities of all columns that may have some, in one pass over ``source`` (a quoted name of the far side)."""
    parts: list[str] = []
    asked: list[FarColumn] = []
    for column in columns:
        if column.loose or column.kind == "numeric" or column.kind in _DATED or column.kind in _ODD_ARRAYS:
            parts += [f"{part} AS p{len(parts) + i}" for i, part in enumerate(_counts(column, version))]
            asked.append(column)
    if not parts:
        return {}
    row = ask(f"SELECT {', '.join(parts)} FROM {source}")[0]
    return {
        column.name: Oddities(int(row[3 * i] or 0), _whole(row[3 * i + 1]), _whole(row[3 * i + 2]))
        for i, column in enumerate(asked)
    }


def copied(
    con: duckdb.DuckDBPyConnection, attached: str, source: str, columns: Sequence[FarColumn], found: dict[str, Oddities],
    query: Callable[[str], str], *, twin: bool = False,
) -> Columns:
    """The SELECT that copies the table: by the scanner where it reads every value right, else by ``query`` of the far side.

    DuckDB's names know no case: of columns whose names differ by case alone it would read the first for all of them, and
    of such tables (``twin``) any one. Those are asked for by ``query``, which says them as they are.
    """
    names, notes = unique_names([c.name for c in columns])
    types = {} if twin else scanned_types(con, attached, columns)
    domains = _domain_types(con, source, columns, query)
    by_query = twin or has_twins(c.name for c in columns) or any(each.odd or each.exact for each in found.values())
    parts, far = [], []
    for i, (column, new) in enumerate(zip(columns, names, strict=True)):
        about = found.get(column.name, Oddities())
        value = f"c{i}" if by_query else quoted(column.name)
        far.append(f"{_far_value(column, about)} AS c{i}")
        parts.append(f"{_near_value(value, column, about, types, domains, by_query=by_query)} AS {quoted(new)}")
        notes += _notes(column, about, new)
    relation = query(f"SELECT {', '.join(far)} FROM {source}") if by_query else attached
    comments = {new: c.comment for c, new in zip(columns, names, strict=True) if c.comment}
    return Columns(f"SELECT {', '.join(parts)} FROM {relation}", comments, tuple(notes))


def has_twins(names: Iterable[str]) -> bool:
    """Whether two names differ by case alone."""
    folded = [name.casefold() for name in names]
    return len(set(folded)) < len(folded)


def scanned_types(con: duckdb.DuckDBPyConnection, attached: str, columns: Sequence[FarColumn]) -> dict[str, str]:
    """DuckDB's types of the columns by the far side's names; by place, since the scanner renames those that differ by case."""
    return {c.name: kind for c, (_, kind) in zip(columns, _scanned(con, attached, columns), strict=True)}


def in_place_columns(
    con: duckdb.DuckDBPyConnection, attached: str, columns: Sequence[FarColumn], casts: Mapping[str, str], left_out: Sequence[str]
) -> list[list[str | None]]:
    """``[name at the scanner, name here, type to cast to or None]`` of each column of a view, named as a copy would name it."""
    names = unique_names([c.name for c in columns])[0]
    scanned = _scanned(con, attached, columns)
    return [
        [there, new, casts.get(c.name)] for c, new, (there, _) in zip(columns, names, scanned, strict=True)
        if c.name not in left_out
    ]


def _scanned(con: duckdb.DuckDBPyConnection, attached: str, columns: Sequence[FarColumn]) -> list[tuple[str, str]]:
    """Name and type of each column as the scanner has them, in order."""
    rows = [(str(row[0]), str(row[1])) for row in con.execute(f"DESCRIBE SELECT * FROM {attached}").fetchall()]
    if len(rows) != len(columns):
        raise BadInput("The columns of a table changed while it was looked at.", where=attached[-120:], to_do="Try again.")
    return rows


def in_place(
    con: duckdb.DuckDBPyConnection, source: str, columns: Sequence[FarColumn], found: dict[str, Oddities],
    query: Callable[[str], str],
) -> tuple[dict[str, str], list[str], list[str]]:
    """For a view on the scanner: types to cast domains to, columns that it would read wrong and that are left out, and notes."""
    left_out = [c.name for c in columns if found.get(c.name, Oddities()).odd]
    notes = [f"{name}: left out in place, since it holds {_odd_word(c)}; ingest the table to have it."
             for c in columns if (name := c.name) in left_out]
    loose = [c.name for c in columns if c.kind == "numeric" and c.loose and c.name not in left_out]
    if loose:
        notes.append(f"Floating point in place (15 to 17 digits), numeric without a precision there: {', '.join(loose[:8])}.")
    casts = {c.name: "VARCHAR" for c in columns if c.kind == "timetz"}
    return casts | _domain_types(con, source, columns, query), left_out, notes


def _counts(column: FarColumn, version: int) -> tuple[str, str, str]:
    """How many odd values, most digits before the point, most behind it."""
    name = quoted(column.name)
    if column.kind in _DATED:
        finite = f"count(*) FILTER (WHERE {_is_far(name)} AND isfinite({name}))"
        return f"count(*) FILTER (WHERE {_is_far(name)})", f"CASE WHEN 2 * {finite} > count({name}) THEN 1 END", "NULL::int"
    if column.kind in _ODD_ARRAYS[1:]:
        return f"count(*) FILTER (WHERE EXISTS (SELECT 1 FROM unnest({name}) e WHERE {_is_far('e')}))", "NULL::int", "NULL::int"
    if column.kind in _ODD_ARRAYS:
        words = "'NaN', 'Infinity', '-Infinity'"
        return f"count(*) FILTER (WHERE {name}::text[] && ARRAY[{words}])", "NULL::int", "NULL::int"
    if not column.loose:
        return f"count(*) FILTER (WHERE {name} = 'NaN')", "NULL::int", "NULL::int"
    number = column.number
    scale = "min_scale" if version >= 130000 else "scale"
    odd = f"{number}::text ~ '[NI]'"
    digits = f"CASE WHEN trunc({number}) = 0 THEN 0 ELSE length(trunc(abs({number}))::text) END"
    return (
        f"count(*) FILTER (WHERE {odd})", f"max({digits}) FILTER (WHERE NOT {odd})",
        f"max({scale}({number})) FILTER (WHERE NOT {odd})",
    )


def _is_far(value: str) -> str:
    """Whether a day is one that cannot be said here."""
    return f"(NOT isfinite({value}) OR {value} < '0001-01-01 00:00:00+00' OR {value} >= '10000-01-01 00:00:00+00')"


def _far_value(column: FarColumn, about: Oddities) -> str:
    """The value as the far side shall say it."""
    name = quoted(column.name)
    if column.loose:
        finite = f"CASE WHEN {column.number}::text ~ '[NI]' THEN NULL ELSE {column.number} END" if about.odd else column.number
        return f"({finite})::{about.exact or 'float8'}"
    if column.kind == "numeric" and about.odd:
        return f"NULLIF({name}, 'NaN')"
    if column.kind in _DATED and about.odd:
        return f"{name}::text" if about.mostly_far else f"CASE WHEN NOT {_is_far(name)} THEN {name} END"
    if column.kind in _ODD_ARRAYS and about.odd:
        return f"array_to_json({name})::text"
    if column.kind.startswith("_") and column.dims > 1:
        return f"array_to_json({name})::text"
    return name


def _near_value(
    value: str, column: FarColumn, about: Oddities, types: dict[str, str], domains: dict[str, str], *, by_query: bool
) -> str:
    """The value as DuckDB takes it from there."""
    described = types.get(column.name, "VARCHAR")
    if column.kind == "timetz":  # what reads the rows knows no offset of a time
        return f"CAST({value} AS VARCHAR)"
    if column.kind == "inet":  # the far side's text of a lone address carries its mask
        mask = f"CASE WHEN contains({value}, ':') THEN '/128' ELSE '/32' END"
        return f"CASE WHEN suffix({value}, {mask}) THEN split_part({value}, '/', 1) ELSE {value} END"
    if by_query and described.startswith("ENUM"):
        return f"CAST({value} AS {described})"
    if by_query and column.kind.startswith("_") and column.dims > 1 and not about.odd:
        return f"CAST(CAST({value} AS JSON) AS {described})"
    if not by_query and column.name in domains:
        return f"CAST({value} AS {domains[column.name]})"
    return value


def _domain_types(
    con: duckdb.DuckDBPyConnection, source: str, columns: Sequence[FarColumn], query: Callable[[str], str]
) -> dict[str, str]:
    """DuckDB's types of domains, which the scanner takes for texts."""
    domains = [c for c in columns if c.domain and not c.kind.startswith("_")]
    if not domains:
        return {}
    asked = ", ".join(f"{quoted(c.name)} AS c{i}" for i, c in enumerate(domains))
    rows = con.execute(f"DESCRIBE SELECT * FROM {query(f'SELECT {asked} FROM {source} LIMIT 0')}").fetchall()
    return {c.name: str(row[1]) for c, row in zip(domains, rows, strict=True) if str(row[1]) != "VARCHAR"}


def _notes(column: FarColumn, about: Oddities, new: str) -> list[str]:
    notes = []
    if about.odd and column.kind in _ODD_ARRAYS:
        notes.append(f"{new}: came over as JSON text, since {about.odd:,} of its lists hold values that are not finite.")
    elif about.mostly_far and column.kind in _DATED:
        notes.append(f"{new}: kept as text, since most of its days are {WORDS} ({about.odd:,}).")
    elif about.odd:
        notes.append(f"{new}: {about.odd:,} value{'s' * (about.odd != 1)} ({_odd_word(column)}) became missing values.")
    if column.loose and about.whole is not None and about.exact is None:
        notes.append(
            f"{new}: numeric without a precision came over as floating point (15 to 17 digits); it has up to {about.whole} digits "
            f"before the point and {about.scale} behind it."
        )
    if column.kind == "_numeric" and not about.odd:
        notes.append(f"{new}: the numbers in its lists came over as floating point (15 to 17 digits).")
    return notes


def _odd_word(column: FarColumn) -> str:
    return f"days {WORDS}" if column.kind in _DATED or column.kind in _ODD_ARRAYS[1:] else "NaN or infinite"


def _whole(value: Any) -> int | None:
    return None if value is None else int(value)


def far_query(source: str, sql: str) -> str:
    """DuckDB's table function for a SELECT on the far side."""
    return f"postgres_query({literal(source)}, {literal(sql)})"
