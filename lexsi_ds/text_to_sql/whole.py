"""The last look at a query: every name has its part, groups with a condition, rows that are done things.

Nothing that was named may be dropped: what has no part here stops the question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexsi_ds.knowledge.words import of_words
from lexsi_ds.text_to_sql import conditions, units
from lexsi_ds.text_to_sql.bases import entity_table
from lexsi_ds.text_to_sql.doubt import NotUnderstood
from lexsi_ds.text_to_sql.draft import HavingAsk, MeasureAsk
from lexsi_ds.text_to_sql.logical import Dimension, Having, Measure, Predicate
from lexsi_ds.text_to_sql.measuring import measures_of
from lexsi_ds.text_to_sql.tagger import Item

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver


def check_nouns(r: Resolver, dimensions: list[Dimension]) -> None:
    """Every table and role that was named must be the one counted, one grouped by, or one that each row points to."""
    joined = {r.base, *(j.table for j in r.scope.joins), *(d.ref.table for d in dimensions)}
    for item in (*r.draft.entities, *r.draft.roles):
        if item.of("role") and not item.of("entity"):
            conditions.owner_role(r, item)
            continue
        table = r.entity_table(item)
        far = r.scope.distance(table)
        if table not in joined and far is not None and far < 10 and not _beside_base(r, item):
            raise NotUnderstood((item.text,), "it is named, and nothing in the question says what it is for")
        if table not in joined and (far is None or far >= 10):
            raise NotUnderstood(
                (item.text,),
                f"one {r.model.table(r.base).label} can have many {r.model.table(table).plural}",
            )
        r.note(item.text, r.model.table(table).plural)
    _check_owners(r, joined)
    for item in r.draft.verbs:
        r.note(item.text, "a date")
    if r.draft.ids and r.draft.measures:
        raise NotUnderstood(tuple(r.draft.ids), "an id is shown for rows, not for figures")


def _check_owners(r: Resolver, joined: set[str]) -> None:
    """ "number of employees on projects of Berlin": whose rows are counted restricts them, or it was not understood."""
    for ask in r.draft.measures:
        if ask.fn != "count" or ask.of is None or not ask.of.of("entity") or ask.of.of("column", "value"):
            continue
        table = entity_table(r, ask.of)
        far = r.scope.distance(table)
        if table not in joined and (far is None or far >= _BACK):
            base = r.model.table(r.base)
            raise NotUnderstood((ask.of.text,), f"one {base.label} can have many {r.model.table(table).plural}")


_BACK = 10
"""The distance of tables that are only reached against the direction of a link."""
_NEVER_ADDED = of_words("year latitude longitude temperature humidity percent percentage ratio rate")


_SORTS = of_words("type class category group kind level status state flag label amount")
"""What a column is of its rows' sort: the different ones of it are not the things themselves."""


def check_sums(r: Resolver) -> None:
    """Years, rates and the prices of one piece add up to nothing; the total that is meant is another figure."""
    for ask in r.draft.measures:
        _check_sort(r, ask)
        if ask.fn != "sum" or ask.target is None or ask.target.of("metric", "entity"):
            continue
        columns = [r.names.column(s.table, s.column) for s in ask.target.of("column")]
        levels = [c for c in columns if not (c.described or c.additive) and set(c.label.split()) & _NEVER_ADDED]
        pieces = [c for c in columns if not c.described and c.label == "unit price" and "unit" not in ask.target.text.casefold()]
        if columns and len(levels) + len(pieces) == len(columns):
            raise NotUnderstood((ask.cue, ask.target.text), f"a sum of {columns[0].label} says nothing")


def _check_sort(r: Resolver, ask: MeasureAsk) -> None:
    """ "how many properties": a property type is no property."""
    if ask.fn != "count" or ask.target is None or ask.target.of("entity", "role") or not ask.target.of("column"):
        return
    labels = [r.names.column(s.table, s.column).label.split() for s in ask.target.of("column") if not s.strong]
    short = [words for words in labels if words[-1] in _SORTS and words[-1] not in ask.target.text.casefold()]
    if short and len(short) == len(ask.target.of("column")):
        raise NotUnderstood((ask.target.text,), f"{' '.join(short[0])} is what sort they are, and they are not counted by it")


def check_leftovers(r: Resolver, measures: list[Measure], dimensions: list[Dimension]) -> None:
    """What was asked for beside a figure and has no part in it."""
    draft = r.draft
    if measures and draft.columns:
        raise NotUnderstood(tuple(i.text for i in draft.columns), "it has no part in the figure that is asked for")
    if measures and draft.which is not None and not any(draft.which.text == e.words for e in r.evidence):
        raise NotUnderstood((draft.which.text,), "it is what is counted, so there is nothing to choose among")
    if measures and not dimensions and any(o.target is not None for o in draft.order):
        raise NotUnderstood(
            tuple(o.target.text for o in draft.order if o.target), "there are no groups to put in an order"
        )


def _beside_base(r: Resolver, item: Item) -> bool:
    """Whether rows are named only to say whose the counted ones are: "loans of clients", "with an account"."""
    draft = r.draft
    later = [m.target for m in draft.measures if m.target is not None]
    counted = [
        e for e in (*draft.entities, *later) if e is not item and r.base in {s.table for s in e.of("entity")}
    ]
    return bool(counted) and bool(draft.filters or draft.groups or draft.order or draft.share)


def done_things(r: Resolver) -> list[Predicate]:
    """ "sold cars": those with a date of sale, where not every row has one."""
    made = []
    for item in r.draft.verbs:
        senses = [s for s in item.of("verb") if s.table == r.base]
        column = r.model.column(r.base, senses[0].column) if len(senses) == 1 else None
        if column is not None and column.role == "time" and column.nulls:
            made.append(
                Predicate(ref=r.scope.own(column.name), test="is not null", text=f"with a {column.label}")
            )
    return made


def named_groups(r: Resolver, dimensions: list[Dimension]) -> list[Predicate]:
    """Rows without a value are no group that could come first."""
    made: list[Predicate] = []
    for d in dimensions:
        step = next((s for s in r.scope.joins if s.alias == d.ref.alias), None)
        link = r.model.column(step.left.table, step.left.column) if step is not None else None
        if step is not None and link is not None and link.nulls and all(p.ref != step.left for p in made):
            made.append(Predicate(ref=step.left, test="is not null"))
            r.scope.said.append(f"rows without a {r.model.table(step.table).label} left out")
            continue
        column = r.model.column(d.ref.table, d.ref.column)
        if column is not None and column.nulls and not d.bands:
            made.append(Predicate(ref=d.ref, test="is not null"))
            r.scope.said.append(f"rows without a {column.label} left out")
    return made


def conditions_on_groups(r: Resolver, dimensions: list[Dimension]) -> list[Having]:
    """The draft's conditions on groups."""
    made = []
    for ask in r.draft.having:
        if not dimensions:
            raise NotUnderstood((ask.text,), "a condition on a group needs something to group by")
        measures = measures_of(r, MeasureAsk(ask.fn, ask.target))
        if ask.fn == "count" and measures[0].fn != "count":
            raise NotUnderstood((ask.text,), f"{ask.target.text} are not what is counted here")
        scaled = ask.number * _scale(r, ask, measures[0])
        number = int(scaled) if scaled == int(scaled) else scaled
        made.append(Having(measure=measures[0], test=ask.test, value=str(number)))  # type: ignore[arg-type]
        r.note(ask.text, f"{measures[0].label} {ask.test} {number}")
    return made


def names_group(r: Resolver, item: Item) -> bool:
    """Whether a name is one that the draft groups by."""
    wanted = {(s.kind, s.table, s.column) for s in item.senses}
    return any(
        g.target and wanted & {(s.kind, s.table, s.column) for s in g.target.senses} for g in r.draft.groups
    )


def _scale(r: Resolver, ask: HavingAsk, measure: Measure) -> float:
    """From the unit that was said to the figure's."""
    if ask.unit is None:
        return 1.0
    found = units.factor(ask.unit.text, measure.unit or "")
    if found is None:
        raise NotUnderstood((ask.unit.text,), f"the unit of {measure.label} is not known")
    return found
