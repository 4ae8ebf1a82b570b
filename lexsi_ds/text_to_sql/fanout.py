"""The guard against figures that are taken more than once: a figure of a parent over the rows of its children.

Refuses a question, and warns of what was built. A total or an average of a parent's column over child rows counts a parent once
for each child, wherever the figure stands: shown, in a difference or a ratio, in a condition on groups, in a query inside.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lexsi_ds.knowledge.model import SemanticModel
from lexsi_ds.text_to_sql.doubt import NotUnderstood
from lexsi_ds.text_to_sql.logical import JoinStep, Logical, Measure, Predicate, Ref, Sub

_MULTIPLIED = frozenset({"sum", "average", "median", "deviation", "quantile"})
"""Functions that a row taken twice changes; an end of an order stays what it is."""


def caveats(query: Logical, model: SemanticModel) -> tuple[str, ...]:
    """What must be said where such a figure was put together by point and click."""
    try:
        check(query, model)
    except NotUnderstood as doubt:
        return (f"{doubt.words[0]}: {doubt.reason}, and counts once for each of them.",)
    return ()


def check(query: Logical, model: SemanticModel) -> None:
    """Raises NotUnderstood where a figure would count a row of another table more than once."""
    tests = [*query.filters, *query.after]
    for measure in _all_measures([*query.measures, *(h.measure for h in query.having)]):
        tests += [*measure.hits, *measure.known]
        if measure.sub is not None:
            _check_sub(measure.sub, model)
        elif measure.fn in _MULTIPLIED and measure.ref is not None:
            _check_ref(measure.fn, measure.ref, query.table, query.joins, model)
    for sub in _subs(tests):
        _check_sub(sub, model)


def _check_sub(sub: Sub, model: SemanticModel) -> None:
    if sub.fn in _MULTIPLIED and sub.ref is not None:
        _check_ref(sub.fn, sub.ref, sub.table, sub.joins, model)


def _check_ref(fn: str, ref: Ref, base: str, joins: tuple[JoinStep, ...], model: SemanticModel) -> None:
    if ref.table == base or not _shared(ref.alias, joins, model):
        return
    column, owner, rows = model.column(ref.table, ref.column), model.table(ref.table), model.table(base)
    label = column.label if column is not None else ref.column
    raise NotUnderstood((label,), f"it is known per {owner.label}, and one {owner.label} stands behind many {rows.plural}")


def _shared(alias: str, joins: tuple[JoinStep, ...], model: SemanticModel) -> bool:
    """Whether two rows of the base can meet the same row there: any step on the way is not one to one."""
    steps = {j.alias: j for j in joins}
    while (step := steps.get(alias)) is not None:
        if not _one_to_one(step, model):
            return True
        alias = step.left.alias
    return False


def _one_to_one(step: JoinStep, model: SemanticModel) -> bool:
    """Whether the rows joined have one partner each, also where a role leaves one of several."""
    left = model.column(step.left.table, step.left.column)
    table = model.table(step.left.table)
    unique = left is not None and left.distinct > 0 and left.distinct == table.rows - left.nulls
    return unique or step.left.column == table.key


def _all_measures(measures: Iterable[Measure]) -> Iterator[Measure]:
    for measure in measures:
        yield measure
        yield from _all_measures(measure.parts)


def _subs(tests: Iterable[Predicate]) -> Iterator[Sub]:
    for test in tests:
        for sub in (test.sub, test.than):
            if sub is not None:
                yield sub
                yield from _subs(sub.filters)
        yield from _subs(test.any_of)
