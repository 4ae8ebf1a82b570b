"""Keys and relationships of tables as values: what a database declares, what was found, what a person made of it.

Nothing here looks at data. Must never: hold a value of a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from lexsi_ds.data.handle import Table, Value

Origin = Literal["declared", "found", "added"]
State = Literal["found", "suggested", "confirmed", "rejected"]


class ForeignKey(Value):
    """A foreign key that a database declares, of one column or several, in the names of the handle's tables."""

    columns: tuple[str, ...]
    table: str
    to: tuple[str, ...]


class Declared(Value):
    """What a database says of a table."""

    primary: tuple[str, ...] = ()
    foreign: tuple[ForeignKey, ...] = ()


class Composite(Value):
    """A foreign key of several columns together, as its database declares it. It is shown; joins take one column."""

    child: str
    child_columns: tuple[str, ...]
    parent: str
    parent_columns: tuple[str, ...]


class Key(Value):
    """The column (or columns) that tell the rows of a table apart."""

    table: str
    columns: tuple[str, ...]
    origin: Origin
    score: float
    """1 when declared or plainly named; less the less the name says."""


class Relation(Value):
    """Rows of ``child`` point to rows of ``parent``. Shares are 0 to 1; ``state`` is what a person made of it."""

    child: str
    child_column: str
    parent: str
    parent_column: str
    origin: Origin = "found"
    state: State = "found"
    score: float = 0.0
    name_score: float = 0.0
    inclusion: float = 0.0
    """Share of the child's distinct values that the parent has."""
    tried: int = 0
    """Distinct values that were tried."""
    missing: int = 0
    """Of them, those that the parent does not have."""
    coverage: float = 0.0
    """Share of the parent's values that the child uses."""
    one_to_one: bool = False
    """No two rows of the child point to one row of the parent."""
    to_key: bool = False
    """No value of the parent's column repeats, so that a join meets at most one row."""

    @property
    def ends(self) -> tuple[str, str, str, str]:
        """What tells it apart from others."""
        return self.child, self.child_column, self.parent, self.parent_column

    @property
    def usable(self) -> bool:
        """Whether joins may use it."""
        return self.state in ("found", "confirmed")


def composites(tables: Sequence[Table], declared: Mapping[str, Declared]) -> tuple[Composite, ...]:
    """The declared foreign keys of several columns, where all their columns are here."""
    named = {table.name: table for table in tables}
    found = []
    for table in tables:
        for foreign in declared.get(table.name, Declared()).foreign:
            parent = named.get(foreign.table)
            if parent is None or not len(foreign.columns) == len(foreign.to) > 1:
                continue
            if all(table.column(name) for name in foreign.columns) and all(parent.column(name) for name in foreign.to):
                found.append(Composite(
                    child=table.name, child_columns=foreign.columns, parent=parent.name, parent_columns=foreign.to,
                ))
    return tuple(found)
