"""By what a query groups: a column, a table's rows by their names, a date by its grain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexsi_ds.knowledge.model import ColumnModel
from lexsi_ds.text_to_sql import bosses, day_tests, ranking, tops
from lexsi_ds.text_to_sql.doubt import NotUnderstood
from lexsi_ds.text_to_sql.draft import GroupAsk
from lexsi_ds.text_to_sql.logical import Dimension, Ref
from lexsi_ds.text_to_sql.tagger import Item
from lexsi_ds.text_to_sql.wording import slug

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver

_MOST_GROUPS = 60
"""Most different figures that are grouped by as they are."""
_MOST_YEARS = 300
"""Most different years kept as numbers."""


def settle_groups(r: Resolver) -> list[Dimension]:
    asks = [*ranking.ranked_groups(r), *r.draft.groups]
    asks += _listed_values(r, asks)
    if r.draft.window in ("change", "growth", "moving") and r.draft.window_grain and not any(a.grain for a in asks):
        asks.append(GroupAsk(None, r.draft.window_grain, text=r.draft.window_text))
    if r.draft.trend and not any(a.grain for a in asks):
        asks.append(GroupAsk(None, "year", text=r.draft.trend))
    which = r.draft.which
    ranked = tops.inner_groups(r)
    if ranked:
        made = _all_groups(r, asks)
        r.per = tuple(d.name for d in made)
        return [*made, *(d for d in _all_groups(r, ranked) if all(d.ref != m.ref for m in made))]
    if which is not None and _which_groups(r):
        asks.insert(0, GroupAsk(which, text=which.text))
    elif not r.draft.measures and not r.draft.groups and r.draft.having and r.draft.columns:
        asks.insert(0, GroupAsk(r.draft.columns.pop(0)))
    elif not r.draft.measures and not r.draft.groups and any(h.fn != "count" for h in r.draft.having) and r.draft.entities:
        subject = next((e for e in r.draft.entities if {s.table for s in e.of("entity")} != {r.base}), None)
        if subject is not None:
            r.draft.entities.remove(subject)
            asks.insert(0, GroupAsk(subject, text=subject.text))
    return _all_groups(r, asks)


def _all_groups(r: Resolver, asks: list[GroupAsk]) -> list[Dimension]:
    made: list[Dimension] = []
    for ask in asks:
        new = [d for d in _group(r, ask) if all(d.ref != m.ref or d.grain != m.grain for m in made)]
        if ask.within:
            r.share_within = (*r.share_within, *(d.name for d in new))
        made += new
    return made


def _listed_values(r: Resolver, asks: list[GroupAsk]) -> list[GroupAsk]:
    """ "list the regions": the different values of a column, each once."""
    draft = r.draft
    alone = (
        draft.lists
        and len(draft.columns) == 1
        and not (asks or draft.measures or draft.entities or draft.filters or draft.order)
    )
    if not alone or draft.which is not None or draft.share or draft.pending:
        return []
    columns = [r.names.column(s.table, s.column) for s in draft.columns[0].of("column")]
    if any(c.role not in ("category", "flag") for c in columns):
        return []
    return [GroupAsk(draft.columns.pop(), text="")]


def _which_groups(r: Resolver) -> bool:
    """Whether "which X" groups by X rather than listing rows of X."""
    which = r.draft.which
    if which is None:
        return False
    entity = which.of("entity")
    return not (entity and {s.table for s in entity} == {r.base}) or bool(r.draft.measures and not entity)


def _group(r: Resolver, ask: GroupAsk) -> list[Dimension]:
    if ask.times:
        raise NotUnderstood((ask.text,), "it is not clear what is divided by it")
    if ask.target is None:
        return [_time_dimension(r, ask)]
    if ask.bands or ask.step is not None:
        return [_banded(r, ask, ask.target)]
    if ask.grain is not None:
        column, ref = r.column_of(ask.target, ask.of)
        if day_tests.is_year_number(column):
            return [_year_dimension(r, ask, column, ref)]
        r.note(ask.text or ask.target.text, f"{ask.grain} of {column.table}.{column.name}")
        return [Dimension(ref=ref, name=slug(ask.grain), label=f"{ask.grain} of {column.label}", grain=ask.grain)]
    entity = ask.target.of("entity")
    if ask.target.of("boss") and not (entity or ask.target.of("column")):
        return bosses.dimensions(r, ask.target, grouping=True)
    if not entity and ask.target.of("role") and not ask.target.of("column"):
        return _entity_dimensions(r, ask.target, ask.target)
    if entity and not (ask.target.of("column") and any(s.table == r.base for s in ask.target.of("column"))):
        return _entity_dimensions(r, ask.target, ask.of)
    if not ask.target.of("column", "verb"):
        raise NotUnderstood((ask.target.text,), f"{ask.target.text} is nothing to group by")
    column, ref = r.column_of(ask.target, ask.of)
    r.note(ask.target.text, f"{column.table}.{column.name}")
    if column.role in ("key",) or (column.identifier and column.role == "text"):
        raise NotUnderstood((ask.target.text,), f"{column.label} is different on every row")
    rows = r.model.table(column.table).rows
    years = day_tests.is_year_number(column) and column.distinct <= _MOST_YEARS
    if column.role == "measure" and not years and (column.distinct > _MOST_GROUPS or (rows > 4 and column.distinct > rows / 2)):
        raise NotUnderstood(
            (ask.target.text,), f"{column.label} has {column.distinct:,} different values, too many to group by"
        )
    return [Dimension(ref=ref, name=slug(column.label), label=column.label)]


def _banded(r: Resolver, ask: GroupAsk, target: Item) -> Dimension:
    column, ref = r.column_of(target, ask.of)
    if column.role != "measure":
        raise NotUnderstood((target.text,), f"{column.label} is not a figure that ranges can be made of")
    if ask.step is not None:
        width = int(ask.step) if ask.step == int(ask.step) else ask.step
        r.note(ask.text, f"{column.table}.{column.name} in steps of {width}")
        return Dimension(ref=ref, name=slug(f"{column.label} from"), label=f"{column.label} in steps of {width}", step=ask.step)
    r.note(ask.text, f"ranges of {column.table}.{column.name}")
    return Dimension(ref=ref, name=slug(f"{column.label} band"), label=f"{column.label} band", bands=ask.bands)


def _entity_dimensions(r: Resolver, item: Item, of: Item | None) -> list[Dimension]:
    table = r.model.table(r.entity_table(item))
    shown = [n for n in table.names if r.model.column(table.name, n)]
    columns = [r.names.column(table.name, n) for n in shown]
    unique = len(columns) == 1 and columns[0].distinct == table.rows
    wanted = columns if unique or not table.key else [r.names.column(table.name, table.key), *columns]
    figures = r.draft.ratio is not None or bool(r.draft.columns) or any(m.target is not None for m in r.draft.measures)
    if not wanted or (table.name == r.base and not figures):  # "loans by loan" counts to one; "amount by loan" is a list
        raise NotUnderstood((item.text,), f"there is nothing to tell one {table.label} from another")
    r.note(item.text, " and ".join(f"{table.name}.{c.name}" for c in wanted))
    made = []
    for column in wanted:
        ref = r.scope.ref(table.name, column.name, item, of=of)
        name = slug(table.label if unique else column.label)
        made.append(Dimension(ref=ref, name=name, label=table.label if unique else column.label))
    return made


def _time_dimension(r: Resolver, ask: GroupAsk) -> Dimension:
    dated = [f.column for f in r.draft.filters if f.kind == "days" and f.column is not None]
    year = day_tests.only_year(r)
    if year is not None:
        column = (year, r.scope.own(year.name))
    elif len({d.text for d in dated}) == 1 and not r.draft.verbs:
        column = r.column_of(dated[0])
    else:
        column = day_tests.time_column(r, ask.text)
    if column[0].role != "time" and not day_tests.is_year_number(column[0]):
        column = day_tests.time_column(r, ask.text)
    if day_tests.is_year_number(column[0]):
        return _year_dimension(r, ask, *column)
    r.note(ask.text, f"{ask.grain} of {column[0].table}.{column[0].name}")
    return Dimension(
        ref=column[1], name=slug(ask.grain or "day"), label=f"{ask.grain} of {column[0].label}", grain=ask.grain
    )


def _year_dimension(r: Resolver, ask: GroupAsk, column: ColumnModel, ref: Ref) -> Dimension:
    """Years kept as numbers, each or by tens; they have no months."""
    if ask.grain not in ("year", "decade"):
        raise NotUnderstood((ask.text,), f"{column.label} holds years only")
    r.note(ask.text, f"{ask.grain} of {column.table}.{column.name}")
    step = 10 if ask.grain == "decade" else None
    return Dimension(ref=ref, name=ask.grain, label=f"decade of {column.label}" if step else column.label, step=step)
