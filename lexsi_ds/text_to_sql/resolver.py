"""From a draft to a logical query: which table is counted, which column each name means, how the rest is joined.

Abstains by raising when a name has no meaning here, and asks by raising when it has two. It never drops a part of the draft.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from lexsi_ds.knowledge.model import ColumnModel, Metric
from lexsi_ds.knowledge.values import ValueIndex
from lexsi_ds.text_to_sql import (
    conditions,
    counts_per,
    deals,
    ordering,
    ranking,
    subqueries,
    tops,
    units,
    whens,
    windows_of,
)
from lexsi_ds.text_to_sql.doubt import Ambiguous, NotUnderstood
from lexsi_ds.text_to_sql.draft import Draft, FilterAsk, HavingAsk, MeasureAsk
from lexsi_ds.text_to_sql.grouping import settle_groups
from lexsi_ds.text_to_sql.joins import routes
from lexsi_ds.text_to_sql.lexicon import Sense
from lexsi_ds.text_to_sql.logical import Dimension, Having, Logical, Measure, Order, Predicate, Ref
from lexsi_ds.text_to_sql.measuring import count_rows, measures_of, settle_measures
from lexsi_ds.text_to_sql.ordering import order_groups, order_rows
from lexsi_ds.text_to_sql.reading import Evidence
from lexsi_ds.text_to_sql.scope import Scope
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.tagger import Item


@dataclass
class Settled:
    """A logical query with what must be said about it."""

    query: Logical
    said: list[str] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    metric: Metric | None = None
    ordered: bool = False
    trend: bool = False


def resolve(draft: Draft, names: Names, values: ValueIndex) -> Settled:
    """Settle a draft."""
    return Resolver(draft, names, values).run()


def resolver_on(draft: Draft, names: Names, values: ValueIndex, before: Logical) -> Resolver:
    """A resolver that works on the table and the joins of an earlier query."""
    work = Resolver(draft, names, values, base=before.table)
    work.scope.adopt(before.joins)
    work.scope.taken.update(_inner_names([*before.filters, *(p for m in before.measures for p in (*m.hits, *m.known))]))
    return work


def _inner_names(tests: Iterable[Predicate]) -> Iterator[str]:
    """The names that queries inside these tests use."""
    for test in tests:
        for sub in (test.sub, test.than):
            if sub is not None:
                yield sub.alias
                yield from (j.alias for j in sub.joins)
                yield from _inner_names(sub.filters)
        yield from _inner_names(test.any_of)


class Resolver:
    def __init__(
        self, draft: Draft, names: Names, values: ValueIndex, base: str | None = None, taken: set[str] | None = None
    ) -> None:
        self.draft, self.names, self.model, self.values = draft, names, names.model, values
        self.related = draft.relation is not None
        ranking.relate(draft, names)
        ranking.rank_by(draft, names)
        ranking.at_the_end(draft, names)
        ordering.show_beside(draft, names)
        self.evidence: list[Evidence] = []
        self.metric: Metric | None = None
        self.role_tests: list[Predicate] = []
        """Tests that a role adds: only owners."""
        self.mentioned = frozenset(s.table for item in self._nouns() for s in item.of("entity"))
        forced = deals.settle_deals(draft, names)
        self.count_inner: tuple[FilterAsk, ...] = ()
        """What was said of the rows that are counted for each row."""
        if draft.count_per is not None:
            forced = self.entity_table(draft.count_per.each)
        self.mentioned |= frozenset(s.table for item in self._nouns() for s in item.of("entity"))
        self.base = base or forced or self._base()
        if base is None and forced is None:
            self.base = deals.below(self.base, draft, names) or self.base
        self.scope = Scope(self.model, self.base, taken)
        self._count_belongings()
        deals.gather(self)
        whens.settle(self)
        self._asked_of_the_end()
        self._per_itself()
        self._not_per_one()
        counts_per.move_filters(self)
        self.period: Ref | None = None
        """The date that is grouped by, and so the one that days restrict when none is named."""
        self.only_value = False
        """Whether the value at a place is asked for, and not whose it is."""
        self.share_within: tuple[str, ...] = ()
        """Names of the result inside which shares are taken."""
        self.per: tuple[str, ...] = ()
        """Names of the result inside which an order counts."""

    def _count_belongings(self) -> None:
        """ "accounts with at least two cards": a condition on each account's own cards, not on a group."""
        draft = self.draft
        for ask in list(draft.having):
            if ask.fn != "count" or not ask.target.of("entity") or ask.target.of("column"):
                continue
            table = self.entity_table(ask.target)
            if table != self.base and self.scope.distance(table) is None:
                draft.having.remove(ask)
                draft.filters.append(
                    FilterAsk("exists", (ask.target,), test=ask.test, numbers=(ask.number,), text=ask.text)
                )

    def _asked_of_the_end(self) -> None:
        """ "in which region was the smallest loan given": something of the one row at the end."""
        draft = self.draft
        aims = [o.target for o in draft.order if o.target is not None and o.fn is None]
        if (
            draft.which is None
            or draft.which.of("entity")
            or not draft.which.of("column")
            or draft.measures
            or draft.groups
        ):
            return
        if (
            len(aims) == 1
            and aims[0].of("entity")
            and not aims[0].of("column")
            and self.entity_table(aims[0]) == self.base
        ):
            draft.columns.append(draft.which)
            draft.which = None
            draft.rows = True

    def _per_itself(self) -> None:
        """ "average price per house", "across all sales": each row by itself, so nothing is grouped."""
        draft = self.draft
        levels = [m for m in draft.measures if m.fn in ("average", "median", "minimum", "maximum")]
        for ask in list(draft.groups):
            own = ask.target is not None and ask.target.of("entity") and not ask.target.of("column")
            if own and ask.target is not None and levels and self.entity_table(ask.target) == self.base:
                draft.groups.remove(ask)
                draft.entities.append(ask.target)

    def _not_per_one(self) -> None:
        """ "average hours per employee": of the rows, or of each one's sum? Not the same where one has many."""
        draft = self.draft
        averaged = any(m.fn in ("average", "median") for m in draft.measures)
        for ask in draft.groups:
            columns = (
                [self.names.column(s.table, s.column) for s in ask.target.of("column")]
                if ask.target is not None
                else []
            )
            rows = self.model.table(self.base).rows
            if (
                ask.per
                and averaged
                and columns
                and ask.target is not None
                and all(c.table == self.base and c.role != "time" and c.distinct > max(60, rows // 10) for c in columns)
            ):
                raise NotUnderstood(
                    (f"per {ask.target.text}",),
                    f"several rows can be of one {ask.target.text}: it can be their average or what they add up to",
                )
            entity = ask.per and ask.target is not None and ask.target.of("entity") and not ask.target.of("column")
            if (
                entity
                and ask.target is not None
                and self.entity_table(ask.target) != self.base
                and any(m.fn in ("average", "median") for m in draft.measures)
            ):
                noun = self.model.table(self.base).plural
                raise NotUnderstood(
                    (f"per {ask.target.text}",),
                    f"it can be the average of the {noun} of each, or the average of what each has in all",
                )

    def inside(self, draft: Draft, table: str) -> Resolver:
        """A resolver for a query inside this one, over rows of ``table``."""
        return Resolver(draft, self.names, self.values, base=table, taken=self.scope.taken)

    @staticmethod
    def is_group(item: Item) -> bool:
        """Whether a name is something to group by rather than a figure."""
        return any(s.role in ("category", "flag", "text", "link") for s in item.of("column"))

    def filters(self) -> list[Predicate]:
        """The tests of the draft and of the roles that they bring."""
        made, _ = conditions.settle(self, self.draft.filters)
        return [*made, *_once(self.role_tests)]

    def belonging(self, ask: FilterAsk) -> list[Predicate]:
        """A test of the rows that belong to each row."""
        return subqueries.exists(self, ask)

    def settle_one(self, ask: FilterAsk) -> list[Predicate]:
        """One test by itself."""
        made, _ = conditions.settle(self, [ask])
        return made

    def _nouns(self) -> list[Item]:
        draft = self.draft
        groups = [g.target for g in draft.groups if g.target] + [g.of for g in draft.groups if g.of]
        counted = (
            [m.target for m in draft.measures if m.target]
            + [h.target for h in draft.having]
            + [m.of for m in draft.measures if m.of]
        )
        keys = [i for f in draft.filters if f.kind == "key" for i in f.items]
        return [
            *keys,
            *draft.entities,
            *groups,
            *counted,
            *([draft.which] if draft.which else []),
            *[o.target for o in draft.order if o.target],
        ]

    # -- which table is counted ------------------------------------------------------------------------------------------
    def _base(self) -> str:
        for find in (
            self._base_of_measures,
            self._base_of_order,
            self._base_of_having,
            self._base_of_counted,
            self._base_of_nouns,
            self._base_of_filters,
            self._base_of_groups,
        ):
            found = find()
            if found is not None:
                return found
        raise NotUnderstood(tuple(i.text for i in self.draft.columns), "it does not say what to count or list")

    def _base_of_measures(self) -> str | None:
        for ask in self.draft.measures:
            if ask.target is None:
                continue
            if ask.target.of("metric"):
                return self._metric_table(ask.target)
            if ask.fn == "count" and ask.target.of("entity", "role") and not ask.distinct:
                return self.entity_table(ask.target)
        for ask in self.draft.measures:
            if ask.target is not None and ask.target.of("column", "entity"):
                return self.column_table(ask.target)
        return None

    def _base_of_order(self) -> str | None:
        """ "which district has the most accounts" counts accounts; "the largest loans" lists loans."""
        for ask in self.draft.order:
            if ask.target is None:
                continue
            if ask.target.of("metric"):
                return self._metric_table(ask.target)
            if ask.fn == "count" and ask.target.of("entity"):
                return self.entity_table(ask.target)
            if ask.target.of("verb") and ask.fn == "sum":
                return ask.target.of("verb")[0].table
            if ask.fn is not None and ask.target.of("column"):
                return self.column_table(ask.target)
        return None

    def _base_of_having(self) -> str | None:
        grouped = bool(self.draft.groups or self.draft.which or self.draft.columns)
        counted = [h for h in self.draft.having if h.fn == "count"]
        summed = [h for h in self.draft.having if h.fn != "count" and h.target.of("column")]
        if summed and not self.draft.measures:
            return self.column_table(summed[0].target)
        return self.entity_table(counted[0].target) if counted and grouped else None

    def _base_of_counted(self) -> str | None:
        """ "how many running loans": the table of what is counted by a value."""
        counted = self.draft.counted
        tables = (
            {s.table for s in counted.of("value", "segment")} if counted is not None and self.draft.pending else set()
        )
        if counted is not None and any(0 <= e.start - counted.end <= 2 for e in self.draft.entities):
            return None
        return next(iter(tables)) if len(tables) == 1 else None

    def _base_of_nouns(self) -> str | None:
        for item in (
            *self.draft.entities,
            *([self.draft.which] if self.draft.which else []),
            *[o.target for o in self.draft.order if o.target and o.target.of("entity")],
        ):
            if item.of("entity"):
                return self.entity_table(item)
        which = [self.draft.which] if self.draft.which else []
        for item in (*self.draft.columns, *which, *[o.target for o in self.draft.order if o.target]):
            if item.of("column"):
                return self.column_table(item)
        return self.entity_table(self.draft.roles[0]) if self.draft.roles else None

    def _base_of_filters(self) -> str | None:
        counted = self.draft.counted
        if counted is not None and len({s.table for s in counted.of("value", "segment")}) == 1:
            return counted.of("value", "segment")[0].table
        plain = [f for f in self.draft.filters if not f.owned and f.kind != "exists"] or self.draft.filters
        tables = {s.table for f in plain for i in f.items[:1] for s in i.of("value", "segment")}
        if not tables:
            tables = {s.table for f in plain if f.kind == "key" for i in f.items for s in i.of("entity")}
        if not tables:
            tables = {s.table for f in self.draft.filters if f.column for s in f.column.of("column", "verb", "hint")}
        return next(iter(tables)) if len(tables) == 1 else None

    def _metric_table(self, item: Item) -> str:
        """The table of a named figure; of several, the one with the fewest rows that everything else named can be told by."""
        tables = {s.table for s in item.of("metric")} | {s.table for s in item.of("column")}
        wanted = {frozenset(s.table for s in i.senses if s.table) for i in self._told_by(item)}
        ranked = sorted(tables, key=lambda t: (self.model.table(t).rows, t))
        for table in ranked:
            near = {t.name for t in self.model.tables if any(not w.back for w in routes(self.model, table, t.name))}
            if all(not w or w & near for w in wanted):
                return table
        return ranked[-1]

    def _told_by(self, item: Item) -> list[Item]:
        """Everything named beside a figure."""
        values = [i for f in self.draft.filters for i in f.items if f.kind != "exists"]
        return [i for i in (*self._nouns(), *self.draft.columns, *self.draft.roles, *values) if i != item]

    def _base_of_groups(self) -> str | None:
        """ "share of each status within each region": rows of the first group's own table."""
        draft = self.draft
        if not (draft.share_each or draft.pending == ["count"]) or not draft.groups or draft.groups[0].target is None:
            return None
        tables = {s.table for s in draft.groups[0].target.of("column")}
        return tables.pop() if len(tables) == 1 else None

    def entity_table(self, item: Item) -> str:
        people = {p.name for p in self.model.paths}
        senses = item.of("entity") or tuple(s for s in item.of("role") if s.value in people) or item.of("role")
        if not senses:
            raise NotUnderstood((item.text,), "it names no rows")
        tables = sorted({s.table for s in senses if s.strong}) or sorted({s.table for s in senses})
        if len(tables) > 1:
            raise Ambiguous(
                item, tuple(self.model.table(t).plural for t in tables), f"{item.text} can mean several tables"
            )
        return tables[0]

    def column_table(self, item: Item) -> str:
        senses = item.of("column") or item.of("entity")
        tables = {s.table for s in senses}
        if len(tables) == 1:
            return tables.pop()
        valued = {s.table for f in self.draft.filters for i in f.items for s in i.of("value", "segment")}
        named = [t for t in tables if t in self.mentioned] or [t for t in tables if t in valued]
        if len(named) == 1:
            return named[0]
        choices = tuple(self._full_name(s) for s in senses if not named or s.table in named)
        raise Ambiguous(item, choices, f"{item.text} exists in several tables")

    def _full_name(self, sense: Sense) -> str:
        noun = self.model.table(sense.table).label
        return sense.label if noun in sense.label else f"{noun} {sense.label}"

    # -- the whole -------------------------------------------------------------------------------------------------------
    def run(self) -> Settled:
        rows_per_group = tops.rows_per_group(self)
        dimensions = settle_groups(self)
        self.period = next((d.ref for d in dimensions if d.grain), None)
        filters, hits = conditions.settle(self, self.draft.filters)
        measures = [] if rows_per_group else settle_measures(self, dimensions, hits)
        filters += self._done()
        filters, after = windows_of.periods_after(self, filters, dimensions)
        order, limit, ties, columns = self._order(measures, dimensions)
        if (
            self.draft.limit_noun is not None
            and self._names_group(self.draft.limit_noun)
            and (rows_per_group or self.per)
        ):
            raise NotUnderstood(
                (self.draft.limit_noun.text,), "the first of each group and only some groups are asked for at once"
            )
        if rows_per_group:
            self.per = tuple(d.name for d in dimensions)
            columns = [*dimensions, *(c for c in columns if all(c.ref != d.ref for d in dimensions))]
            dimensions = []
        self._check_nouns(dimensions)
        having = tuple(self._having(dimensions))
        if measures and having and not dimensions:
            raise NotUnderstood(
                tuple(h.text for h in self.draft.having), "a condition on a count needs something to group by"
            )
        self._check_leftovers(measures, dimensions)
        if self.draft.order and (limit is not None or ties or self.per or self.draft.place):
            filters += self._named_groups(dimensions)
        query = Logical(
            table=self.base,
            joins=tuple(self.scope.joins),
            measures=tuple(measures),
            dimensions=tuple(dimensions),
            columns=() if measures else tuple(columns),
            filters=(*filters, *_once(self.role_tests)),
            having=having,
            order=tuple(order),
            limit=limit,
            ties=ties,
            per=self.per,
            place=self.draft.place,
            distinct=self.only_value,
            after=tuple(after),
        )
        asked = bool(self.draft.order)
        if self.related:
            self.scope.said.append("what goes together, not what causes what")
        return Settled(
            query, self.scope.said, self.evidence, self.metric, ordered=asked, trend=self.draft.trend is not None
        )

    def _done(self) -> list[Predicate]:
        """ "sold cars": those with a date of sale, where not every row has one."""
        made = []
        for item in self.draft.verbs:
            senses = [s for s in item.of("verb") if s.table == self.base]
            column = self.model.column(self.base, senses[0].column) if len(senses) == 1 else None
            if column is not None and column.role == "time" and column.nulls:
                made.append(
                    Predicate(ref=self.scope.own(column.name), test="is not null", text=f"with a {column.label}")
                )
        return made

    def _named_groups(self, dimensions: list[Dimension]) -> list[Predicate]:
        """Rows without a value are no group that could come first."""
        made = []
        for d in dimensions:
            column = self.model.column(d.ref.table, d.ref.column)
            if column is not None and column.nulls and not d.bands:
                made.append(Predicate(ref=d.ref, test="is not null"))
                self.scope.said.append(f"rows without a {column.label} left out")
        return made

    def _check_leftovers(self, measures: list[Measure], dimensions: list[Dimension]) -> None:
        """What was asked for beside a figure and has no part in it."""
        draft = self.draft
        if measures and draft.columns:
            raise NotUnderstood(tuple(i.text for i in draft.columns), "it has no part in the figure that is asked for")
        if measures and draft.which is not None and not any(draft.which.text == e.words for e in self.evidence):
            raise NotUnderstood((draft.which.text,), "it is what is counted, so there is nothing to choose among")
        if measures and not dimensions and any(o.target is not None for o in draft.order):
            raise NotUnderstood(
                tuple(o.target.text for o in draft.order if o.target), "there are no groups to put in an order"
            )

    def note(self, words: str, became: str) -> None:
        """Record what some words became."""
        self.evidence.append(Evidence(words=words, became=became))

    def column_of(self, item: Item, of: Item | None = None, *, filtering: bool = False) -> tuple[ColumnModel, Ref]:
        """The column that a name means, and how it is reached."""
        senses = item.of("column", "verb") or item.of("hint")
        if of is not None:
            tables = {s.table for s in of.of("entity", "role")}
            if of.article and of.of("entity") and self.base not in tables and all(s.table == self.base for s in senses):
                raise NotUnderstood(
                    (of.text,), f"it is not clear what {item.text} of one {of.text} is: one has many or none"
                )
            senses = tuple(s for s in senses if s.table in tables) or senses
        sense = self.scope.pick(item, senses, self.mentioned)
        column = self.names.column(sense.table, sense.column)
        if column.masked:
            raise NotUnderstood((item.text,), f"{column.label} is masked: its values are not shown")
        return column, self.scope.ref(sense.table, sense.column, item, of=of, filtering=filtering)

    # -- having, order, lists --------------------------------------------------------------------------------------------
    def _beside_base(self, item: Item) -> bool:
        """Whether rows are named only to say whose the counted ones are: "loans of clients", "with an account"."""
        draft = self.draft
        later = [m.target for m in draft.measures if m.target is not None]
        counted = [
            e for e in (*draft.entities, *later) if e is not item and self.base in {s.table for s in e.of("entity")}
        ]
        return bool(counted) and bool(draft.filters or draft.groups or draft.order or draft.share)

    def conditions_on_groups(self, dimensions: list[Dimension]) -> list[Having]:
        """The draft's conditions on groups."""
        return self._having(dimensions)

    def count_rows(self) -> Measure:
        """The count of the counted table's rows."""
        return count_rows(self)

    def _having(self, dimensions: list[Dimension]) -> list[Having]:
        made = []
        for ask in self.draft.having:
            if not dimensions:
                raise NotUnderstood((ask.text,), "a condition on a group needs something to group by")
            measures = measures_of(self, MeasureAsk(ask.fn, ask.target))
            if ask.fn == "count" and measures[0].fn != "count":
                raise NotUnderstood((ask.text,), f"{ask.target.text} are not what is counted here")
            scaled = ask.number * self._scale(ask, measures[0])
            number = int(scaled) if scaled == int(scaled) else scaled
            made.append(Having(measure=measures[0], test=ask.test, value=str(number)))  # type: ignore[arg-type]
            self.note(ask.text, f"{measures[0].label} {ask.test} {number}")
        return made

    def _names_group(self, item: Item) -> bool:
        wanted = {(s.kind, s.table, s.column) for s in item.senses}
        return any(
            g.target and wanted & {(s.kind, s.table, s.column) for s in g.target.senses} for g in self.draft.groups
        )

    def _scale(self, ask: HavingAsk, measure: Measure) -> float:
        """From the unit that was said to the figure's."""
        if ask.unit is None:
            return 1.0
        found = units.factor(ask.unit.text, measure.unit or "")
        if found is None:
            raise NotUnderstood((ask.unit.text,), f"the unit of {measure.label} is not known")
        return found

    def _order(
        self, measures: list[Measure], dimensions: list[Dimension]
    ) -> tuple[list[Order], int | None, bool, list[Dimension]]:
        if measures:
            return (*order_groups(self, measures, dimensions), [])
        return order_rows(self)

    def _check_nouns(self, dimensions: list[Dimension]) -> None:
        """Every table and role that was named must be the one counted, one grouped by, or one that each row points to."""
        joined = {self.base, *(j.table for j in self.scope.joins), *(d.ref.table for d in dimensions)}
        for item in (*self.draft.entities, *self.draft.roles):
            if item.of("role") and not item.of("entity"):
                conditions.owner_role(self, item)
                continue
            table = self.entity_table(item)
            far = self.scope.distance(table)
            if table not in joined and far is not None and far < 10 and not self._beside_base(item):
                raise NotUnderstood((item.text,), "it is named, and nothing in the question says what it is for")
            if table not in joined and (far is None or far >= 10):
                raise NotUnderstood(
                    (item.text,),
                    f"one {self.model.table(self.base).label} can have many {self.model.table(table).plural}",
                )
            self.note(item.text, self.model.table(table).plural)
        for item in self.draft.verbs:
            self.note(item.text, "a date")
        if self.draft.ids and self.draft.measures:
            raise NotUnderstood(tuple(self.draft.ids), "an id is shown for rows, not for figures")


def _once(tests: list[Predicate]) -> list[Predicate]:
    return [t for i, t in enumerate(tests) if t not in tests[:i]]
