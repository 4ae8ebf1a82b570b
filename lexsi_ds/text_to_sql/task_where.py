"""The WHERE of a written prediction: which rows are scored, as tests of their own columns or values of the target.

A test that means nothing here stops it.
"""

from __future__ import annotations

import re

from lexsi_ds.knowledge.model import ColumnModel, Condition, Op
from lexsi_ds.knowledge.thesaurus import NO, YES
from lexsi_ds.knowledge.words import fold
from lexsi_ds.text_to_sql.doubt import NotUnderstood
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.task_draft import MISSING, TaskDraft, kind_of

_TEST = re.compile(
    r"^(?P<name>.+?)\s*(?:(?P<null>\bis\s+(?P<no>not\s+)?(?:null|missing|empty|known|unknown))"
    r"|(?P<op>\bin\b|<=|>=|<>|!=|=|<|>|\bis\b)\s*(?P<values>.+))$",
    re.IGNORECASE | re.DOTALL,
)


def with_where(draft: TaskDraft, text: str, names: Names) -> TaskDraft:
    """Which rows are scored: values of the target, or tests of the rows' own columns."""
    only, said = [], []
    for part in _split(text):
        condition = _condition(part, draft.table, names)
        if condition.column == draft.column and draft.above is None and not _limits(condition, draft, names):
            if condition.op != "is not null":
                draft = draft.model_copy(update={"score": _scored(condition, part)})
        else:
            only.append(condition)
            said.append(part.strip())
    return draft.model_copy(update={"only": tuple(only), "only_text": ", ".join(said)})


def _limits(condition: Condition, draft: TaskDraft, names: Names) -> bool:
    """Whether a test of the target narrows the rows to score by its figure: "where price > 500000"."""
    of = kind_of(draft, names.column(draft.table, draft.column))
    return of == "regression" and condition.op not in ("is null", "is not null")


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
    return Condition(table=table, column=column.name, op=op, values=tuple(value_of(v, column, names) for v in values))


def _column(text: str, table: str, names: Names) -> ColumnModel:
    wanted = fold(text.strip())
    for column in names.model.of_table(table):
        if wanted in (fold(column.name), fold(column.label)) and not column.masked:
            return column
    raise NotUnderstood((text.strip(),), f"{names.model.table(table).plural} have no column of that name")


def value_of(text: str, column: ColumnModel, names: Names) -> str:
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
