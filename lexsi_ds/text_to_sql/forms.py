"""The forms that questions take, with examples made for one source from its semantic model alone. Each example is read before it
is shown, so that what is shown is understood.

It knows no data set. A form that this source has nothing for is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pandas as pd

from lexsi_ds.data.handle import Value
from lexsi_ds.errors import LexsiError
from lexsi_ds.knowledge.model import ColumnModel, SemanticModel, TableModel
from lexsi_ds.knowledge.values import ValueIndex
from lexsi_ds.text_to_sql.analytic import analytic
from lexsi_ds.text_to_sql.asks import prediction
from lexsi_ds.text_to_sql.doubt import Ambiguous, NotUnderstood
from lexsi_ds.text_to_sql.lexicon import Lexicon
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.task_draft import TaskDraft

_EACH = 2
"""Examples of a form."""
_TRIES = 8
"""Most candidates of a form that are read."""
Understood = Callable[[str], bool]


class Form(Value):
    """A way of asking: its name, its pattern in words, and examples that this source understands."""

    title: str
    pattern: str
    examples: tuple[str, ...]


def forms(model: SemanticModel, values: ValueIndex, understood: Understood) -> tuple[Form, ...]:
    """The forms with examples, in the order of docs/questions.md. ``understood`` reads a question."""
    words = _Words(model, values)
    made = []
    for title, pattern, candidates in _FORMS:
        kept: list[str] = []
        for n, text in enumerate(candidates(words)):
            if n == _TRIES or len(kept) == _EACH:
                break
            line = " ".join(text.split())
            line = line[:1].upper() + line[1:]
            if line not in kept and understood(line):
                kept.append(line)
        if kept:
            made.append(Form(title=title, pattern=pattern, examples=tuple(kept)))
    return tuple(made)


def reads(text: str, names: Names, lexicon: Lexicon, query: Callable[[str], pd.DataFrame]) -> bool:
    """Whether a question is understood: as one query, or as a prediction of something declared."""
    try:
        asked = prediction(text, lexicon, names, forced=False)
        if asked is not None:
            return isinstance(asked, TaskDraft) and bool(asked.outcome)
        analytic(text, names, lexicon, query, None)
    except (NotUnderstood, Ambiguous, LexsiError):
        return False
    return True


@dataclass
class _Words:
    """Names of a source, those worth an example first."""

    model: SemanticModel
    values: ValueIndex

    def tables(self) -> list[TableModel]:
        """Tables, those that say most first."""
        told = {o.table for o in self.model.outcomes} | {m.table for m in self.model.metrics}
        usable = [t for t in self.model.tables if not t.bridge and t.rows]
        return sorted(usable, key=lambda t: (t.name not in told, not t.size, -t.rows))

    def columns(self, table: TableModel, *roles: str, most: int = 10**9) -> list[ColumnModel]:
        """Columns of a table in these roles."""
        found = self.model.of_table(table.name)
        return [c for c in found if c.role in roles and not (c.masked or c.identifier or c.protected) and 1 < c.distinct <= most]

    def measured(self) -> Iterator[tuple[TableModel, str]]:
        """Tables with the name of a figure of theirs: "loan amount"."""
        for table in self.tables():
            found = self.columns(table, "measure")
            for column in sorted(found, key=lambda c: (c.name != table.size, not c.additive))[:2]:
                yield table, column.label

    def grouped(self) -> Iterator[tuple[TableModel, str]]:
        """Tables with a column to group by."""
        for table in self.tables():
            found = self.columns(table, "category", "flag", most=40)
            for column in sorted(found, key=lambda c: c.role == "flag")[:2]:
                yield table, column.label

    def valued(self) -> Iterator[tuple[TableModel, ColumnModel, str]]:
        """Tables with a value of one of their columns."""
        first: dict[tuple[str, str], str] = {}
        for _, hits in self.values.entries():
            for hit in hits:
                if hit.exact and hit.value.strip():
                    first.setdefault((hit.table, hit.column), hit.value)
        for table in self.tables():
            for column in self.columns(table, "category", most=200):
                if (table.name, column.name) in first:
                    yield table, column, first[table.name, column.name]

    def dated(self) -> Iterator[TableModel]:
        """Tables whose rows have a date."""
        return (t for t in self.tables() if t.time is not None)


def _counts(w: _Words) -> Iterator[str]:
    for table in w.tables()[:3]:
        yield f"how many {table.plural} are there?"


def _figures(w: _Words) -> Iterator[str]:
    events = {o.label for o in w.model.outcomes if o.event}
    protected = {(c.table, c.name) for c in w.model.columns if c.protected}
    fit = [m for m in w.model.metrics if not any((c.table, c.column) in protected for c in m.conditions)]
    for metric in sorted(fit, key=lambda m: not any(e in m.label for e in events))[:1]:
        yield metric.label
    for _, label in w.measured():
        yield f"average {label}"
        yield f"highest {label}"


def _groups(w: _Words) -> Iterator[str]:
    figures = {t.name: label for t, label in reversed(list(w.measured()))}
    for table, group in w.grouped():
        if table.name in figures:
            yield f"average {figures[table.name]} by {group}"
        yield f"{table.plural} by {group}"


def _periods(w: _Words) -> Iterator[str]:
    for table in w.dated():
        yield f"{table.plural} by year"
        yield f"{table.plural} by month"


def _filters(w: _Words) -> Iterator[str]:
    for table, column, value in w.valued():
        yield f"how many {table.plural} with {column.label} {value}?"


def _tops(w: _Words) -> Iterator[str]:
    for table, label in w.measured():
        yield f"10 {table.plural} with the highest {label}"
    for table, group in w.grouped():
        yield f"which {group} has the most {table.plural}?"


def _shares(w: _Words) -> Iterator[str]:
    for table, column, value in w.valued():
        yield f"what percentage of {table.plural} have {column.label} {value}?"
    for table, label in w.measured():
        for _, group in (g for g in w.grouped() if g[0] is table):
            yield f"share of total {label} by {group}"


def _sizes(w: _Words) -> Iterator[str]:
    for table, group in w.grouped():
        yield f"{group} with more than {max(1, table.rows // 20)} {table.plural}"
        yield f"{table.plural} by {group} with at least {max(1, table.rows // 20)} {table.plural}"


def _without(w: _Words) -> Iterator[str]:
    for link in w.model.relationships:
        parent, child = w.model.table(link.parent), w.model.table(link.child)
        if not (parent.bridge or child.bridge) and parent.key:
            yield f"how many {parent.plural} have no {child.plural}?"


def _changes(w: _Words) -> Iterator[str]:
    for table in w.dated():
        yield f"growth of {table.plural} by year"
        yield f"running total of {table.plural} by month"


def _lists(w: _Words) -> Iterator[str]:
    for table, column, value in w.valued():
        yield f"list {table.plural} with {column.label} {value}"


def _predictions(w: _Words) -> Iterator[str]:
    for outcome in sorted(w.model.outcomes, key=lambda o: not o.event):
        table = w.model.table(outcome.table)
        yield f"predict {outcome.label} for each {table.label}"
        if outcome.event:
            yield f"which {table.plural} are likely to {outcome.label}?"


_FORMS: tuple[tuple[str, str, Callable[[_Words], Iterator[str]]], ...] = (
    ("Count", "how many ROWS, how many different COLUMN", _counts),
    ("Work out", "total, average, median, lowest or highest COLUMN; a figure with a name", _figures),
    ("Group", "… by COLUMN, per COLUMN, by COLUMN and COLUMN", _groups),
    ("Over time", "… by year, quarter, month, week, day", _periods),
    ("Filter", "… with COLUMN VALUE, not VALUE, above N, between N and N, in 1997, before 1950", _filters),
    ("First and last", "top N …, N ROWS with the highest COLUMN, which COLUMN has the most ROWS", _tops),
    ("Shares", "what percentage of ROWS …, share of COLUMN by COLUMN", _shares),
    ("Changes", "growth of … by year, running total of … by month", _changes),
    ("Groups of a size", "COLUMN with more than N ROWS, … with at least N ROWS", _sizes),
    ("Rows without others", "ROWS without ROWS, ROWS that have no ROWS", _without),
    ("List", "list ROWS with …", _lists),
    ("Predict", "predict OUTCOME for each ROW where COLUMN in (A, B); which ROWS are likely to OUTCOME", _predictions),
)
