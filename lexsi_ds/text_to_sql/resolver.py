"""From a draft to a logical query: which table is counted, which column each name means, how the rest is joined.

Abstains by raising when a name has no meaning here, and asks by raising when it has two. It never drops a part of the draft.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from lexsi_ds.knowledge.model import ColumnModel, Metric
from lexsi_ds.knowledge.values import ValueIndex
from lexsi_ds.text_to_sql import (
    bases,
    combined,
    conditions,
    counts_per,
    deals,
    elapsed_of,
    firsts,
    ordering,
    ranking,
    scales,
    shaping,
    subqueries,
    tops,
    whens,
    whole,
    windows_of,
)
from lexsi_ds.text_to_sql.doubt import NotUnderstood
from lexsi_ds.text_to_sql.draft import Draft, FilterAsk
from lexsi_ds.text_to_sql.grouping import settle_groups
from lexsi_ds.text_to_sql.logical import Dimension, Having, Logical, Measure, Order, Predicate, Ref
from lexsi_ds.text_to_sql.measuring import count_rows, settle_measures
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
    """The query of one draft while it is being settled; its rooms work on it by name."""

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
        self.mentioned = frozenset(s.table for item in bases.nouns(self) for s in item.of("entity"))
        forced = deals.settle_deals(draft, names) or elapsed_of.base_of(draft, names) or combined.base_of(draft)
        self.count_inner: tuple[FilterAsk, ...] = ()
        """What was said of the rows that are counted for each row."""
        if draft.count_per is not None:
            forced = self.entity_table(draft.count_per.each)
        self.mentioned |= frozenset(s.table for item in bases.nouns(self) for s in item.of("entity"))
        self.base = base or forced or bases.base_of(self)
        if base is None and forced is None:
            self.base = deals.below(self.base, draft, names) or self.base
        self.scope = Scope(self.model, self.base, taken)
        shaping.count_belongings(self)
        deals.gather(self)
        whens.settle(self)
        shaping.asked_of_the_end(self)
        shaping.per_itself(self)
        shaping.not_per_one(self)
        counts_per.move_filters(self)
        scales.settle(self)
        self.period: Ref | None = None
        """The date that is grouped by, and so the one that days restrict when none is named."""
        self.only_value = False
        """Whether the value at a place is asked for, and not whose it is."""
        self.share_within: tuple[str, ...] = ()
        """Names of the result inside which shares are taken."""
        self.per: tuple[str, ...] = ()
        """Names of the result inside which an order counts."""

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

    def entity_table(self, item: Item) -> str:
        """The table whose rows a noun means."""
        return bases.entity_table(self, item)

    def column_table(self, item: Item) -> str:
        """The table whose column a name means."""
        return bases.column_table(self, item)

    def run(self) -> Settled:
        rows_per_group = tops.rows_per_group(self)
        dimensions = settle_groups(self)
        self.period = next((d.ref for d in dimensions if d.grain), None)
        filters, hits = conditions.settle(self, self.draft.filters)
        measures = [] if rows_per_group else settle_measures(self, dimensions, hits)
        filters += whole.done_things(self)
        filters, after = windows_of.periods_after(self, filters, dimensions)
        order, limit, ties, columns = self._order(measures, dimensions)
        if (
            self.draft.limit_noun is not None
            and whole.names_group(self, self.draft.limit_noun)
            and (rows_per_group or self.per)
        ):
            raise NotUnderstood(
                (self.draft.limit_noun.text,), "the first of each group and only some groups are asked for at once"
            )
        if rows_per_group:
            self.per = tuple(d.name for d in dimensions)
            columns = [*dimensions, *(c for c in columns if all(c.ref != d.ref for d in dimensions))]
            dimensions = []
        whole.check_nouns(self, dimensions)
        having = tuple(whole.conditions_on_groups(self, dimensions))
        if measures and having and not dimensions:
            raise NotUnderstood(
                tuple(h.text for h in self.draft.having), "a condition on a count needs something to group by"
            )
        whole.check_leftovers(self, measures, dimensions)
        whole.check_sums(self)
        if self.draft.order and (limit is not None or ties or self.per or self.draft.place):
            filters += whole.named_groups(self, dimensions)
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
        query = firsts.outside(self, query)
        asked = bool(self.draft.order)
        if self.related:
            self.scope.said.append("what goes together, not what causes what")
        return Settled(
            query, self.scope.said, self.evidence, self.metric, ordered=asked, trend=self.draft.trend is not None
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

    def conditions_on_groups(self, dimensions: list[Dimension]) -> list[Having]:
        """The draft's conditions on groups."""
        return whole.conditions_on_groups(self, dimensions)

    def count_rows(self) -> Measure:
        """The count of the counted table's rows."""
        return count_rows(self)

    def _order(
        self, measures: list[Measure], dimensions: list[Dimension]
    ) -> tuple[list[Order], int | None, bool, list[Dimension]]:
        if measures:
            return (*order_groups(self, measures, dimensions), [])
        return order_rows(self)


def _once(tests: list[Predicate]) -> list[Predicate]:
    return [t for i, t in enumerate(tests) if t not in tests[:i]]
