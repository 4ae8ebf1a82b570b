"""SQL text for names, values and simple tests, by what the semantic model says of a column. DuckDB's dialect.

Every name and every value of a query passes through here, so that none is ever pasted raw.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lexsi_ds.data.handle import DatasetHandle, TypeFamily
from lexsi_ds.knowledge.model import ColumnModel, Condition, SemanticModel

_RESERVED_TEXT = (
    "all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create default"
    " deferrable desc describe distinct do else end except false fetch for foreign from group having in initially"
    " intersect into lambda lateral leading limit not null offset on only or order pivot pivot_longer pivot_wider placing"
    " primary qualify references returning select show some summarize symmetric table then to trailing true union unique"
    " unpivot using variadic when where window with anti asof at authorization binary by collation columns concurrently"
    " cross freeze full generated glob ilike inner is isnull join left like map natural notnull outer overlaps positional"
    " right semi similar struct tablesample try_cast unpack verbose interval values row rows over partition current_date"
    " current_time current_timestamp exists between escape if replace"
)
RESERVED = frozenset(_RESERVED_TEXT.split())
"""DuckDB's reserved words and those that a reader of SQL trips over."""
_PLAIN = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$")


def needs_quotes(name: str) -> bool:
    """Whether an identifier must be quoted."""
    return not _PLAIN.match(name) or name.casefold() in RESERVED


def ident(name: str) -> str:
    """An identifier, quoted only when it must be."""
    return '"' + name.replace('"', '""') + '"' if needs_quotes(name) else name


def number_text(number: float) -> str:
    """A number as SQL writes it: whole numbers without a point."""
    return str(int(number)) if number == int(number) else repr(number)


def text_literal(value: str) -> str:
    """A text as an SQL literal."""
    return "'" + value.replace("'", "''") + "'"


@dataclass(frozen=True)
class Names:
    """The columns of a source as SQL."""

    handle: DatasetHandle
    model: SemanticModel

    def family(self, table: str, column: str) -> TypeFamily:
        """The coarse type of a column as it is stored."""
        found = self.handle.table(table)
        stored = found.column(column) if found else None
        return stored.family if stored else "other"

    def column(self, table: str, column: str) -> ColumnModel:
        """The model of a column that is known to exist."""
        found = self.model.column(table, column)
        if found is None:
            raise KeyError(f"{table}.{column}")
        return found

    def raw(self, alias: str, column: str) -> str:
        """``alias.column``."""
        return f"{ident(alias)}.{ident(column)}"

    def read(self, alias: str, table: str, column: str) -> str:
        """A column in its true type: text that holds numbers or dates is converted, blanks become missing."""
        name, how = self.raw(alias, column), self.column(table, column)
        if how.stored == "number_text":
            return f"TRY_CAST(nullif(trim({name}), '') AS DOUBLE)"
        if how.stored == "date_text" and how.date_format:
            return f"CAST(try_strptime({name}, {text_literal(how.date_format)}) AS DATE)"
        if how.stored == "date_text":
            return f"TRY_CAST({name} AS DATE)"
        return name

    def literal(self, table: str, column: str, value: str) -> str:
        """A value of a column as an SQL literal of its type."""
        family = self.family(table, column)
        if family == "boolean":
            return "TRUE" if value.casefold() in ("true", "yes", "1", "t", "y") else "FALSE"
        if family == "number":
            return value if re.fullmatch(r"-?\d+(\.\d+)?", value) else text_literal(value)
        return text_literal(value)

    def test(self, alias: str, condition: Condition) -> str:
        """A condition as SQL over an alias of its table."""
        name = self.raw(alias, condition.column)
        if condition.op in ("is null", "is not null"):
            return f"{name} {condition.op.upper()}"
        values = [self.literal(condition.table, condition.column, v) for v in condition.values]
        if condition.op == "in" and len(values) > 1:
            return f"{name} IN ({', '.join(values)})"
        return f"{name} {'=' if condition.op == 'in' else condition.op} {values[0]}"

    def tests(self, alias: str, conditions: tuple[Condition, ...]) -> str:
        """All conditions, joined by AND."""
        return " AND ".join(self.test(alias, c) for c in conditions)
