"""Lateness: "paid late", "overdue returns", as one date of a row after the date that it was due on.

Must never: take a date for a due date that its own name does not say is one, or choose between two.
"""

from __future__ import annotations

from dataclasses import replace

from lexsi_ds.knowledge.model import ColumnModel, SemanticModel
from lexsi_ds.knowledge.words import of_words
from lexsi_ds.text_to_sql.elapsed_of import related
from lexsi_ds.text_to_sql.items import Item
from lexsi_ds.text_to_sql.senses import Sense

_DUE = of_words("due deadline promised expected scheduled planned required target estimated")
_BEGINS = of_words("start started begin opened created issued ordered order booked checked loaned borrowed invoice departed hired")


def told(items: tuple[Item, ...], model: SemanticModel) -> tuple[Item, ...]:
    """The items with "returned late" as "returned after due"."""
    for n, item in enumerate(items):
        if item.kind != "unknown" or item.words != ("late",):
            continue
        before = next((k for k in range(n - 1, -1, -1) if items[k].kind not in ("stop", "be")), None)
        verb = items[before] if before is not None else None
        pair = _pair(items, model, verb)
        if pair is None:
            return items
        done, due = pair
        said = verb is not None and _says(done, verb)
        start = before if said and before is not None else n
        made = (_date(done, items[start]), Item("after", "late", ("after",), start=item.start, end=item.end), _date(due, item))
        return (*items[:start], *made, *items[n + 1 :])
    return items


def _pair(items: tuple[Item, ...], model: SemanticModel, verb: Item | None) -> tuple[ColumnModel, ColumnModel] | None:
    """What was done and when it was due, of the one table that has both."""
    named = {s.table for i in items for s in i.of("entity")}
    found = []
    for table in model.tables:
        dated = [c for c in model.of_table(table.name) if c.role == "time" and not c.masked]
        due = [c for c in dated if _DUE & set(c.label.split())]
        others = [c for c in dated if c not in due]
        done = [c for c in others if verb is not None and _says(c, verb)]
        done = done or [c for c in others if not _BEGINS & set(c.label.split())]
        if len(due) == len(done) == 1:
            found.append((done[0], due[0]))
    near = [p for p in found if p[0].table in named] or found
    return near[0] if len(near) == 1 else None


def _says(column: ColumnModel, verb: Item) -> bool:
    return any(related(verb.words[-1], w) for w in column.label.split())


def _date(column: ColumnModel, at: Item) -> Item:
    sense = Sense("column", column.table, column.name, label=column.label, role="time")
    return replace(at, kind="sense", senses=(sense,), cue=None)
