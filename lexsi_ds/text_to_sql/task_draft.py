"""A prediction task as a person may change it before it trains: which values count, which rows are scored, which columns are
used, how rows are held out. Values that go to JSON and back.

Must never: count a value on two sides, or let a task pass as certain whose target nobody declared.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from lexsi_ds.data.handle import Value
from lexsi_ds.errors import BadInput
from lexsi_ds.knowledge.model import ColumnModel, Condition
from lexsi_ds.models.task import Split, TaskKind
from lexsi_ds.text_to_sql.probes import Query
from lexsi_ds.text_to_sql.sqltext import Names, ident

MISSING = ""
"""Stands for rows without a value among the values of a target."""
MOST_VALUES = 30
"""Most different values of a column that are classes."""
MOST_GRADES = 10
"""Most different values of a figure that is taken as grades, each a class of its own."""
Values = tuple[tuple[str, str, int], ...]


class RowsOf(Value):
    """The rows that an outcome of another table is asked of: customers, where the subscription holds it."""

    table: str
    which: Literal["", "last"] = ""
    """Empty: each has one."""


class HorizonAsk(Value):
    """An outcome that events of the days after the cut-off decide: whether there is one, how many, or how much."""

    events: str
    """The table of events."""
    days: int = Field(ge=1, le=3650)
    absent: bool = False
    """Whether it counts when there is none."""
    measure: Literal["any", "count", "sum"] = "any"
    column: str = ""
    """Of a sum: the column of the events."""


class TaskDraft(Value):
    """What is to be predicted of the rows of a table, and what a person changed of it. Empty parts are as declared."""

    question: str = ""
    table: str
    outcome: str = ""
    """Id of a declared outcome; empty when a column was named that is none."""
    column: str
    """The column that holds the target."""
    positive: tuple[str, ...] = ()
    """Values that count as the outcome."""
    negative: tuple[str, ...] = ()
    """Values that count as its absence."""
    score: tuple[str, ...] = ()
    """Values of the rows to score, ``MISSING`` alone for rows without one. Values that train too are scored out of fold."""
    kind: TaskKind | None = None
    """Set where the words say it ("as a number"); else the column decides."""
    above: float | None = None
    """Of a figure: it counts when it is above this."""
    rows_of: RowsOf | None = None
    horizon: HorizonAsk | None = None
    """Set: no column holds the target, and ``column`` is empty."""
    only: tuple[Condition, ...] = ()
    only_text: str = ""
    put_back: tuple[str, ...] = ()
    """``table.column`` of protected or undated columns that a person wants used."""
    taken_out: tuple[str, ...] = ()
    """Names of features that a person wants left out."""
    split: Split = Split()
    top_k: int = 10
    wants_why: bool = True
    evidence: tuple[tuple[str, str], ...] = ()


def kind_of(draft: TaskDraft, column: ColumnModel) -> TaskKind:
    """Whether one of two, one of several words, or a figure is predicted."""
    if draft.kind is not None:
        return draft.kind
    if draft.outcome or draft.above is not None or draft.positive or draft.negative:
        return "binary"
    if column.role == "measure" and column.distinct > MOST_GRADES:
        return "regression"
    return "multiclass" if column.distinct > 2 else "binary"


def target_values(draft: TaskDraft, names: Names, query: Query) -> Values:
    """The values of the target's column with their number of rows, most frequent first; empty for a figure."""
    column = names.model.column(draft.table, draft.column)
    if column is None or column.masked:
        raise BadInput(f"There is no column {draft.column} to predict.", where=draft.table, to_do="Name another.")
    if draft.above is not None or column.distinct > MOST_VALUES:
        return ()
    name = ident(draft.column)
    frame = query(
        f"SELECT CAST({name} AS VARCHAR) AS v, count(*) AS n FROM {ident(draft.table)} GROUP BY 1 ORDER BY n DESC, v"
    )
    found = []
    for row in frame.to_dict("records"):
        value = MISSING if not isinstance(row["v"], str) else row["v"]
        label = "missing" if value == MISSING else names.model.meaning(draft.table, draft.column, value) or value
        found.append((value, label, int(row["n"])))
    return tuple(found)
