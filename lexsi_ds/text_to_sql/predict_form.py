"""The written form of a prediction, "predict default FOR EACH loan WHERE status IN (C, D)", and predictions of a column that
is declared as no outcome.

A part that means nothing here stops it; which column is meant is asked, never guessed.
"""

from __future__ import annotations

import re

from lexsi_ds.knowledge.model import ColumnModel, Condition, Op, Outcome
from lexsi_ds.knowledge.thesaurus import NO, YES
from lexsi_ds.knowledge.words import fold, phrase
from lexsi_ds.text_to_sql.doubt import Ambiguous, NotUnderstood
from lexsi_ds.text_to_sql.lexicon import Lexicon
from lexsi_ds.text_to_sql.reading import Clarify
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.tagger import Tagged
from lexsi_ds.text_to_sql.task_draft import MISSING, MOST_VALUES, TaskDraft

_FORM = re.compile(
    r"^\s*(?:please\s+)?predict\s+(?:the\s+|whether\s+|if\s+)*(?P<target>.+?)\s+for\s+(?:each|every)\s+(?P<entity>.+?)"
    r"(?:\s+where\s+(?P<where>.+?))?[\s.?!]*$",
    re.IGNORECASE | re.DOTALL,
)
_LIMIT = re.compile(
    r"^(?P<name>.+?)\s+(?:is\s+)?(?P<test>above|over|greater than|more than|higher than|>)\s*(?P<number>-?[\d,.]+)$", re.IGNORECASE
)
_CLASS = re.compile(r"^(?P<name>.+?)\s*(?:\bin\b|=|\bis\b)\s*(?P<values>.+)$", re.IGNORECASE)
_TEST = re.compile(
    r"^(?P<name>.+?)\s*(?:(?P<null>\bis\s+(?P<no>not\s+)?(?:null|missing|empty|known|unknown))"
    r"|(?P<op>\bin\b|<=|>=|<>|!=|=|<|>|\bis\b)\s*(?P<values>.+))$",
    re.IGNORECASE | re.DOTALL,
)
_MOST_OPTIONS = 8
_MOST_GRADES = 10
"""Most different values of a figure that is taken as grades, each of which may count."""


def target_column(outcome: Outcome) -> str:
    """The column that holds an outcome."""
    return outcome.target_columns[0] if outcome.target_columns else outcome.positive[0].column


def read(question: str, lexicon: Lexicon, names: Names) -> TaskDraft | None:
    """The task that a question in this form states; None for any other question."""
    match = _FORM.match(question)
    if match is None:
        return None
    tables = {s.table for s in lexicon.senses(phrase(match["entity"])) if s.kind == "entity"}
    if len(tables) != 1:
        return None  # more words than a noun: read as a plain question
    table = tables.pop()
    said = match["target"].strip()
    limit = _LIMIT.match(said)
    draft = _target(limit["name"] if limit else said, table, lexicon, names)
    classed = _CLASS.match(said) if draft is None else None
    if classed is not None:
        draft = _target(classed["name"], table, lexicon, names)
    if draft is None:
        return None
    draft = draft.model_copy(update={"question": question, "wants_why": False})
    if limit:
        draft = _limited(draft, limit["number"], names)
    else:
        _must_be_classes(draft, said, names)
    if classed is not None:
        draft = _classed(draft, classed["values"], names)
    if match["where"]:
        draft = _where(draft, match["where"], names)
    named = ((match["target"].strip(), f"{table}.{draft.column}"), (match["entity"].strip(), f"rows of {table}"))
    return draft.model_copy(update={"evidence": named})


def _target(text: str, table: str, lexicon: Lexicon, names: Names) -> TaskDraft | None:
    senses = [s for s in lexicon.senses(phrase(text)) if s.table == table]
    outcomes = {s.value for s in senses if s.kind == "outcome"}
    if len(outcomes) == 1:
        outcome = next(o for o in names.model.outcomes if o.id in outcomes)
        return TaskDraft(table=table, outcome=outcome.id, column=target_column(outcome))
    columns = {s.column for s in senses if s.kind == "column"}
    columns |= {c.name for c in names.model.of_table(table) if fold(c.name) == fold(text.strip())}
    if len(columns) != 1:
        return None
    return _of_column(names.column(table, columns.pop()), names)


def _of_column(column: ColumnModel, names: Names) -> TaskDraft:
    declared = [o for o in names.model.outcomes if o.table == column.table and target_column(o) == column.name]
    outcome = declared[0].id if len(declared) == 1 else ""
    return TaskDraft(table=column.table, outcome=outcome, column=column.name)


def _must_be_classes(draft: TaskDraft, said: str, names: Names) -> None:
    """Refuse a target that has no classes, and say what would be understood."""
    column, noun = names.column(draft.table, draft.column), names.model.table(draft.table).label
    if draft.outcome:
        return
    if column.masked or column.role in ("key", "link") or column.identifier:
        raise NotUnderstood((said,), f"{column.label} only names rows, so there is nothing to predict")
    if column.role == "time":
        raise NotUnderstood((said,), f"{column.label} is a date, and only yes/no outcomes can be trained now")
    if column.distinct > MOST_VALUES or (column.role == "measure" and column.distinct > _MOST_GRADES):
        figure = column.role == "measure"
        if figure:
            how = f"predict {column.label} above {_middle(column, names)} for each {noun}"
            raise NotUnderstood((said,), f"{column.label} is an amount, and only yes/no outcomes can be trained now;"
                                f" say from where on it counts, as in “{how}”")  # fmt: skip
        raise NotUnderstood((said,), f"{column.label} has {column.distinct:,} different values, too many to tell into yes and no")
    if column.distinct < 2:
        raise NotUnderstood((said,), f"{column.label} has one value only, so there is nothing to tell apart")


def _middle(column: ColumnModel, names: Names) -> str:
    """A limit between the least and the greatest value, as an example."""
    found = names.handle.table(column.table)
    stored = found.column(column.name) if found else None
    try:
        low, high = float((stored and stored.minimum) or ""), float((stored and stored.maximum) or "")
    except ValueError:
        return "100"
    middle = float(f"{(low + high) / 2:.2g}")
    return str(int(middle)) if middle == int(middle) else str(middle)


def _classed(draft: TaskDraft, text: str, names: Names) -> TaskDraft:
    """The values that count, as they were written: "type = gold"."""
    column = names.column(draft.table, draft.column)
    values = tuple(v.strip().strip("'\"“”") for v in text.strip().strip("()").split(",") if v.strip())
    return draft.model_copy(update={"positive": tuple(_value(v, column, names) for v in values)})


def _limited(draft: TaskDraft, number: str, names: Names) -> TaskDraft:
    column = names.column(draft.table, draft.column)
    if names.family(draft.table, draft.column) != "number" or column.role in ("key", "link") or column.masked:
        raise NotUnderstood((column.label, number), f"{column.label} is not a figure that could be above {number}")
    try:
        limit = float(number.replace(",", "").rstrip("."))
    except ValueError:
        raise NotUnderstood((number,), "it is not a number") from None
    return draft.model_copy(update={"outcome": "", "above": limit})


# -- where ----------------------------------------------------------------------------------------------------------------
def _where(draft: TaskDraft, text: str, names: Names) -> TaskDraft:
    """Which rows are scored: values of the target, or tests of the rows' own columns."""
    only, said = [], []
    for part in _split(text):
        condition = _condition(part, draft.table, names)
        if condition.column == draft.column and draft.above is None:
            draft = draft.model_copy(update={"score": _scored(condition, part)})
        else:
            only.append(condition)
            said.append(part.strip())
    return draft.model_copy(update={"only": tuple(only), "only_text": ", ".join(said)})


def _split(text: str) -> list[str]:
    """The tests between the ANDs that stand outside of brackets."""
    parts, depth, start = [], 0, 0
    for match in re.finditer(r"[()]|\band\b", text, re.IGNORECASE):
        if match[0] in "()":
            depth += 1 if match[0] == "(" else -1
        elif depth == 0:
            parts.append(text[start : match.start()])
            start = match.end()
    return [*parts, text[start:]]


def _condition(part: str, table: str, names: Names) -> Condition:
    match = _TEST.match(part.strip())
    if match is None:
        raise NotUnderstood((part.strip(),), "it is no test of a column, such as status in (C, D)")
    column = _column(match["name"], table, names)
    if match["null"]:
        is_missing = ("missing" in match["null"].casefold() or "null" in match["null"].casefold()
                      or "empty" in match["null"].casefold() or "unknown" in match["null"].casefold())  # fmt: skip
        op: Op = "is null" if is_missing != bool(match["no"]) else "is not null"
        return Condition(table=table, column=column.name, op=op)
    values = tuple(v.strip().strip("'\"“”") for v in match["values"].strip().strip("()").split(",") if v.strip())
    said = match["op"].casefold()
    op = "in" if said == "in" else "=" if said == "is" else "<>" if said == "!=" else said  # type: ignore[assignment]
    if not values or (op != "in" and len(values) > 1):
        raise NotUnderstood((part.strip(),), "it needs one value, or several in brackets after IN")
    return Condition(table=table, column=column.name, op=op, values=tuple(_value(v, column, names) for v in values))


def _column(text: str, table: str, names: Names) -> ColumnModel:
    wanted = fold(text.strip())
    for column in names.model.of_table(table):
        if wanted in (fold(column.name), fold(column.label)) and not column.masked:
            return column
    raise NotUnderstood((text.strip(),), f"{names.model.table(table).plural} have no column of that name")


def _value(text: str, column: ColumnModel, names: Names) -> str:
    """A value as it is stored."""
    if column.role != "flag" and names.family(column.table, column.name) == "number":
        try:
            number = float(text)
        except ValueError:
            raise NotUnderstood((text,), f"{column.label} is a number") from None
        return str(int(number)) if number == int(number) else repr(number)
    if column.role == "flag" and len(column.values) == 2 and fold(text) in YES | NO:
        return column.values[0 if fold(text) in YES else 1].value
    meant = {fold(m.value): m.value for m in column.values} | {fold(m.label): m.value for m in column.values}
    return meant.get(fold(text), text)


def _scored(condition: Condition, part: str) -> tuple[str, ...]:
    if condition.op == "is null":
        return (MISSING,)
    if condition.op in ("=", "in"):
        return condition.values
    raise NotUnderstood((part.strip(),), "of the outcome itself it must name the values to score")


# -- no outcome is named --------------------------------------------------------------------------------------------------
_SUMS = frozenset({"number", "count", "total", "sum", "average", "mean", "amount", "volume", "trend"})
"""Words that ask for a figure of many rows, which is no outcome of one."""


def unnamed(tagged: Tagged, question: str, names: Names, *, asks: bool, forecasts: bool) -> TaskDraft | Clarify | None:
    """A prediction that names a column which is no declared outcome, or none at all: what could be meant."""
    sums = tuple(t for t in tagged.unknown if fold(t) in _SUMS)
    if forecasts or sums:
        words = sums or tagged.unknown or ("forecast",)
        raise NotUnderstood(tuple(words), "figures are not forecast here; what can be predicted is a yes/no outcome of rows")
    entities = {s.table for i in tagged.items for s in i.of("entity")}
    named = [i for i in tagged.items if i.of("column") and not i.of("entity")]
    places = {(s.table, s.column): i for i in named for s in i.of("column") if not entities or s.table in entities}
    if len(places) > 1:
        item = next(iter(places.values()))
        choices = tuple(f"{names.model.table(t).label} {names.column(t, c).label}" for t, c in places)
        raise Ambiguous(item, choices, f"{item.text} can be several columns")
    others = tuple(i.text for i in tagged.items if i.kind in ("sense", "number") and i not in named and not i.of("entity", "house"))
    if places:
        (table, column), item = next(iter(places.items()))
        draft = _of_column(names.column(table, column), names)
        _must_be_classes(draft, item.text, names)
        if others:
            raise NotUnderstood(others, f"that has no part in predicting {names.column(table, column).label} here")
        note = ((item.text, f"{table}.{column}"),)
        return draft.model_copy(update={"question": question, "wants_why": False, "evidence": note})
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
        graded = (c for c in model.columns if c.role == "measure" and 2 <= c.distinct <= _MOST_GRADES and not c.masked)
        made = [f"Predict {c.label} for each {model.table(c.table).label}" for c in graded if not tables or c.table in tables]
    return tuple(dict.fromkeys(made))[:_MOST_OPTIONS]


def _protected(outcome: Outcome, names: Names) -> bool:
    column = names.model.column(outcome.table, target_column(outcome))
    return bool(column and column.protected)

