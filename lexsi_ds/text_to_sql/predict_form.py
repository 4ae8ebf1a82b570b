"""The written form of a prediction: "predict default FOR EACH loan WHERE status IN (C, D)", "predict the price of each house".

A part that means nothing here stops it; which column is meant is asked, never guessed.
"""

from __future__ import annotations

import re

from lexsi_ds.knowledge.model import ColumnModel, Outcome
from lexsi_ds.knowledge.words import fold, phrase
from lexsi_ds.text_to_sql.doubt import NotUnderstood
from lexsi_ds.text_to_sql.lexicon import Lexicon
from lexsi_ds.text_to_sql.reading import Clarify
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.task_draft import MOST_VALUES, RowsOf, TaskDraft, kind_of
from lexsi_ds.text_to_sql.task_owner import of_table
from lexsi_ds.text_to_sql.task_rows import link_to
from lexsi_ds.text_to_sql.task_where import value_of, with_where

_VERB = r"^\s*(?:please\s+)?(?:predict|estimate|classify)\s+(?:the\s+|whether\s+|if\s+)*(?P<target>.+?)\s+"
_ROWS = r"(?P<entity>.+?)(?:\s+where\s+(?P<where>.+?))?[\s.?!]*$"
_FORMS = tuple(
    re.compile(_VERB + tie + _ROWS, re.IGNORECASE | re.DOTALL)
    for tie in (r"for\s+(?:each|every)\s+", r"(?:for|of)\s+(?:each\s+|every\s+|all\s+|the\s+|our\s+|these\s+|of\s+)*")
)
"""The written form, then the looser ones: "of the houses", "for all customers"."""
_OTHER_FORMS = tuple(
    re.compile(form + r"[\s.?!]*$", re.IGNORECASE | re.DOTALL)
    for form in (
        r"^\s*classify\s+(?:each\s+|every\s+|all\s+|the\s+|our\s+)*(?P<entity>.+?)\s+(?:by|into)\s+(?P<target>.+?)(?P<where>(?!))?",
        r"^\s*(?:which|what)\s+(?P<target>.+?)\s+(?:will|would|should)\s+(?:each|every)\s+(?P<entity>.+?)\s+(?:get|have|receive|be\s+in)"
        r"(?P<where>(?!))?",
    )
)
"""“Classify customers by risk class”, “which risk class will each customer get”."""
_TAIL = re.compile(
    r"(?:\s*[,;.:]\s*|\s+)(?:and\s+)?(?:(?:show|list|give)(?:\s+me|\s+us)?\s+)?(?:(?:the\s+)?(?:top|first)\s+(?P<n>\d{1,3})\b"
    r"(?:\s*,?\s*(?:and|with)?\s*(?P<more>(?:tell\s+(?:me|us)\s+)?why|reasons|explain(?:\s+why)?))?|"
    r"(?:tell\s+(?:me|us)\s+)?(?P<only>why|with\s+reasons))[\s.?!]*$",
    re.IGNORECASE,
)
"""What may stand after a written form: how many are listed, and whether reasons are wanted."""
_AS = re.compile(
    r"^(?P<name>.+?)\s+as\s+(?:an?\s+)?(?:(?P<figure>number|figure|amount|value)|class(?:es)?|categor(?:y|ies)|words?)$",
    re.IGNORECASE,
)
_LAST = re.compile(r"^(?P<name>.+?)\s+of\s+(?:the|their|its)\s+(?:last|latest)\s+(?P<rows>.+)$", re.IGNORECASE)
_LIMIT = re.compile(
    r"^(?P<name>.+?)\s+(?:is\s+)?(?P<test>above|over|greater than|more than|higher than|>)\s*(?P<number>-?[\d,.]+)$", re.IGNORECASE
)
_CLASS = re.compile(r"^(?P<name>.+?)\s*(?:\bin\b|=|\bis\b)\s*(?P<values>.+)$", re.IGNORECASE)


_ESTIMATE = re.compile(r"^(\s*(?:please\s+)?)estimate\b", re.IGNORECASE)


def as_prediction(question: str) -> str:
    """A question that asks for an estimate, asked for as a prediction; every other word stays in its place."""
    return _ESTIMATE.sub(r"\1predict ", question)


def target_column(outcome: Outcome) -> str:
    """The column that holds an outcome."""
    return outcome.target_columns[0] if outcome.target_columns else outcome.positive[0].column


def read(question: str, lexicon: Lexicon, names: Names) -> TaskDraft | Clarify | None:
    """The task that a question in this form states; None for any other question."""
    tail = _TAIL.search(question)
    text = question[: tail.start()] if tail else question
    for form in (*_FORMS, *_OTHER_FORMS):
        match = form.match(text)
        found = _matched(match, question, lexicon, names) if match else None
        if isinstance(found, TaskDraft) and tail:
            why = bool(tail["more"] or tail["only"])
            return found.model_copy(update={"top_k": int(tail["n"] or found.top_k), "wants_why": why})
        if found is not None:
            return found
    return None


def _matched(match: re.Match[str], question: str, lexicon: Lexicon, names: Names) -> TaskDraft | Clarify | None:
    tables = {s.table for s in lexicon.senses(phrase(match["entity"])) if s.kind == "entity"}
    if len(tables) != 1:
        return None  # more words than a noun: read as a plain question
    table, said = tables.pop(), match["target"].strip()
    draft = _said(said, table, lexicon, names) or _of_another(said, table, lexicon, names)
    if draft is None or isinstance(draft, Clarify):
        return draft
    draft = draft.model_copy(update={"question": question, "wants_why": False})
    if match["where"]:
        draft = with_where(draft, match["where"], names)
    named = ((said, f"{draft.table}.{draft.column}"), (match["entity"].strip(), f"rows of {table}"))
    return draft.model_copy(update={"evidence": named})


def _of_another(said: str, table: str, lexicon: Lexicon, names: Names) -> TaskDraft | Clarify | None:
    """A target that a table holds whose rows belong to the ones that are named: "churn of the last subscription"."""
    last = _LAST.match(said)
    found: list[TaskDraft | Clarify] = []
    for other in names.model.tables:
        named = not last or phrase(last["rows"]) in (phrase(other.label), phrase(other.plural))
        if other.name == table or not named or link_to(names.model, other.name, table) is None:
            continue
        draft = _said(last["name"] if last else said, other.name, lexicon, names)
        owned = of_table(other.name, last["name"] if last else said, table, names) if draft else None
        if draft and owned is not None:
            rows = RowsOf(table=table, which="last") if last else owned
            found.append(draft.model_copy(update={"rows_of": rows}) if isinstance(rows, RowsOf) else rows)
    return found[0] if len(found) == 1 else None


def _said(said: str, table: str, lexicon: Lexicon, names: Names) -> TaskDraft | None:
    """The target as it is written: a column or an outcome, with a limit, values, or how it is to be taken."""
    limit, kind = _LIMIT.match(said), _AS.match(said)
    draft = _target(limit["name"] if limit else kind["name"] if kind else said, table, lexicon, names)
    classed = _CLASS.match(said) if draft is None else None
    if classed is not None:
        draft = _target(classed["name"], table, lexicon, names)
    if draft is None:
        return None
    if limit:
        return _limited(draft, limit["number"], names)
    if kind:
        draft = draft.model_copy(update={"outcome": "", "kind": "regression" if kind["figure"] else "multiclass"})
    must_be_target(draft, said, names)
    return draft if classed is None else _classed(draft, classed["values"], names)


def _target(text: str, table: str, lexicon: Lexicon, names: Names) -> TaskDraft | None:
    senses = [s for s in lexicon.senses(phrase(text)) if s.table == table]
    outcomes = {s.value for s in senses if s.kind == "outcome"}
    if len(outcomes) == 1:
        outcome = next(o for o in names.model.outcomes if o.id in outcomes)
        return TaskDraft(table=table, outcome=outcome.id, column=target_column(outcome))
    exact = {c.name for c in names.model.of_table(table) if fold(c.name) == fold(text.strip())}
    columns = exact or {s.column for s in senses if s.kind == "column"}
    if len(columns) != 1:
        return None
    return of_column(names.column(table, columns.pop()), names)


def of_column(column: ColumnModel, names: Names) -> TaskDraft:
    """A task that predicts a column."""
    declared = [o for o in names.model.outcomes if o.table == column.table and target_column(o) == column.name]
    outcome = declared[0].id if len(declared) == 1 else ""
    return TaskDraft(table=column.table, outcome=outcome, column=column.name)


def must_be_target(draft: TaskDraft, said: str, names: Names) -> None:
    """Refuse a target that can be neither told apart nor estimated, and say what would be understood."""
    column = names.column(draft.table, draft.column)
    if draft.outcome:
        return
    if column.masked or column.role in ("key", "link") or column.identifier:
        raise NotUnderstood((said,), f"{column.label} only names rows, so there is nothing to predict")
    if column.role == "time":
        raise NotUnderstood((said,), f"{column.label} is a date, and dates are not predicted; say by when something happens, as in"
                            " “in the next 90 days”")  # fmt: skip
    kind = kind_of(draft, column)
    if kind == "regression" and not _is_number(column, names):
        raise NotUnderstood((said,), f"{column.label} is no number")
    if kind != "regression" and column.distinct > MOST_VALUES:
        raise NotUnderstood((said,), f"{column.label} has {column.distinct:,} different values, too many to tell apart"
                            f"{_or_number(column, names)}")  # fmt: skip
    if kind == "multiclass" and column.distinct == 2:
        raise NotUnderstood((said,), f"{column.label} has two values: predict {column.name} = one of them")
    if column.distinct < 2:
        raise NotUnderstood((said,), f"{column.label} has one value only, so there is nothing to tell apart")


def _is_number(column: ColumnModel, names: Names) -> bool:
    return column.stored == "number_text" or (names.family(column.table, column.name) == "number" and column.role != "flag")


def _or_number(column: ColumnModel, names: Names) -> str:
    noun = names.model.table(column.table).label
    return f"; it can be predicted as a number: “predict {column.label} for each {noun}”" if _is_number(column, names) else ""


def _classed(draft: TaskDraft, text: str, names: Names) -> TaskDraft:
    """The values that count, as they were written: "type = gold"."""
    column = names.column(draft.table, draft.column)
    values = tuple(v.strip().strip("'\"“”") for v in text.strip().strip("()").split(",") if v.strip())
    return draft.model_copy(update={"positive": tuple(value_of(v, column, names) for v in values)})


def _limited(draft: TaskDraft, number: str, names: Names) -> TaskDraft:
    column = names.column(draft.table, draft.column)
    if names.family(draft.table, draft.column) != "number" or column.role in ("key", "link") or column.masked:
        raise NotUnderstood((column.label, number), f"{column.label} is not a figure that could be above {number}")
    try:
        limit = float(number.replace(",", "").rstrip("."))
    except ValueError:
        raise NotUnderstood((number,), "it is not a number") from None
    return draft.model_copy(update={"outcome": "", "above": limit})
