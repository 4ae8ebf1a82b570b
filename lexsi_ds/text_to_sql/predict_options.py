"""A prediction that names a column which is no declared outcome, or nothing at all: what could be meant.

Which column is meant is asked, never guessed.
"""

from __future__ import annotations

from lexsi_ds.knowledge.model import Condition, Outcome
from lexsi_ds.knowledge.words import fold
from lexsi_ds.text_to_sql.doubt import Ambiguous, NotUnderstood
from lexsi_ds.text_to_sql.predict_form import must_be_target, of_column, target_column
from lexsi_ds.text_to_sql.reading import Clarify
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.tagger import Item, Tagged
from lexsi_ds.text_to_sql.task_draft import MOST_GRADES, TaskDraft

_MOST_OPTIONS = 8
_MOST_ROWS = 1000
NO_FORECAST = (
    "figures of days to come are not forecast here; what can be predicted is a column of the rows, or whether, how often or for how"
    " much something happens to each of them in the next N days"
)
_SUMS = frozenset({"number", "count", "total", "sum", "average", "mean", "amount", "volume", "trend"})
"""Words that ask for a figure of many rows, which is no outcome of one."""


def names_column(tagged: Tagged) -> bool:
    """Whether a column is named, so that an outcome which is not cannot be meant."""
    return any(i.of("column") and not i.of("entity", "outcome") for i in tagged.items)


def unnamed(tagged: Tagged, question: str, names: Names, *, asks: bool, forecasts: bool) -> TaskDraft | Clarify | None:
    """A prediction that names a column which is no declared outcome, or none at all: what could be meant."""
    sums = tuple(t for t in tagged.unknown if fold(t) in _SUMS)
    if forecasts or sums:
        words = sums or tagged.unknown or ("forecast",)
        raise NotUnderstood(tuple(words), NO_FORECAST)
    entities = {s.table for i in tagged.items for s in i.of("entity")}
    named = [i for i in tagged.items if i.of("column") and not i.of("entity")]
    places = {(s.table, s.column): i for i in named for s in i.of("column") if not entities or s.table in entities}
    if len(places) > 1:
        item = next(iter(places.values()))
        choices = tuple(f"{names.model.table(t).label} {names.column(t, c).label}" for t, c in places)
        raise Ambiguous(item, choices, f"{item.text} can be several columns")
    if places:
        (table, column), item = next(iter(places.items()))
        draft = of_column(names.column(table, column), names)
        must_be_target(draft, item.text, names)
        return _narrowed(draft, question, tagged, item, names)
    strange = tuple(tagged.unknown)
    if not asks:
        return None
    options = _options(entities, names)
    if not options:
        if len(entities) > 1:
            told = tuple(names.model.table(t).plural for t in sorted(entities))
            raise NotUnderstood(strange or told, "only a column of the rows themselves can be predicted, not another table's")
        where = " or ".join(names.model.table(t).plural for t in sorted(entities)) or "this data"
        raise NotUnderstood(strange or ("the outcome",), f"no column of {where} has classes that could be predicted")
    said = f"“{', '.join(strange)}” names no column here." if strange else "It does not say what to predict."
    return Clarify(question=f"{said} Which column is meant?", options=options)


def _narrowed(draft: TaskDraft, question: str, tagged: Tagged, target: Item, names: Names) -> TaskDraft:
    """A prediction of a column: values of the rows' own columns narrow which rows are listed, other words stop it."""
    only, said, notes, left = [], [], [(target.text, f"{draft.table}.{draft.column}")], []
    top_k, wants_why, label = 10, False, names.column(draft.table, draft.column).label
    items = [i for i in tagged.items if i.kind not in ("stop", "mark")]
    for n, item in enumerate(items):
        beside = [k.kind for k in items[max(0, n - 1) : n + 2] if k is not item]
        own = {(s.column, s.value) for s in item.of("value") if s.table == draft.table and s.column != draft.column}
        if item is target or item.of("entity", "house") or item.kind not in ("sense", "number", "date", "unknown", "why"):
            continue
        if item.kind == "why":
            wants_why = True
        elif item.kind == "sense" and len(own) == 1:
            column, value = own.pop()
            only.append(Condition(table=draft.table, column=column, op="=", values=(value,)))
            said.append(f"{column} = {value}")
            notes.append((item.text, f"only {column} = {value}"))
        elif item.kind == "number" and "plain" in beside and item.value is not None and 1 <= item.value <= _MOST_ROWS:
            top_k = int(item.value)
        elif item.of("column") and any(c.column == s.column for c in only for s in item.of("column")):
            continue
        else:
            left.append(item.text)
    if left:
        raise NotUnderstood(tuple(left), f"that has no part in predicting {label} here")
    more = {"question": question, "wants_why": wants_why, "top_k": top_k, "evidence": tuple(notes), "only": tuple(only)}
    return draft.model_copy(update={**more, "only_text": ", ".join(said)})


def _options(tables: set[str], names: Names) -> tuple[str, ...]:
    """Predictions that would be understood: declared outcomes first, events before the rest, then columns of few values."""
    model = names.model
    wanted = [o for o in model.outcomes if not tables or o.table in tables]
    ranked = sorted(wanted, key=lambda o: (not o.event, _protected(o, names)))
    made = [f"Predict {o.label} for each {model.table(o.table).label}" for o in ranked]
    taken = {(o.table, target_column(o)) for o in wanted}
    for column in model.columns:
        few = column.role in ("category", "flag") and 2 <= column.distinct <= 6 and not (column.masked or column.protected)
        if few and (column.table, column.name) not in taken and (column.table in tables if tables else not made):
            made.append(f"Predict {column.label} for each {model.table(column.table).label}")
    if not made:
        graded = (c for c in model.columns if c.role == "measure" and 2 <= c.distinct <= MOST_GRADES and not c.masked)
        made = [f"Predict {c.label} for each {model.table(c.table).label}" for c in graded if not tables or c.table in tables]
    return tuple(dict.fromkeys(made))[:_MOST_OPTIONS]


def _protected(outcome: Outcome, names: Names) -> bool:
    column = names.model.column(outcome.table, target_column(outcome))
    return bool(column and column.protected)

