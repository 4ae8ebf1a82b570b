"""From a draft to a logical query: which table is counted, which column each name means, how the rest is joined.

Abstains by raising when a name has no meaning here, and asks by raising when it has two. It never drops a part of the draft.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lexsi_ds.knowledge.model import ColumnModel, Metric
from lexsi_ds.knowledge.values import ValueIndex
from lexsi_ds.text_to_sql import conditions, ranking
from lexsi_ds.text_to_sql.doubt import Ambiguous, NotUnderstood
from lexsi_ds.text_to_sql.draft import Draft, GroupAsk, MeasureAsk
from lexsi_ds.text_to_sql.lexicon import Sense
from lexsi_ds.text_to_sql.logical import Dimension, Having, Logical, Measure, Order, Predicate, Ref
from lexsi_ds.text_to_sql.reading import Evidence
from lexsi_ds.text_to_sql.scope import Scope
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.tagger import Item
from lexsi_ds.text_to_sql.wording import measure_label, slug


_MOST_GROUPS = 60
"""Most different figures that are grouped by as they are."""


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
    return _Resolver(draft, names, values).run()


def resolver_on(draft: Draft, names: Names, values: ValueIndex, before: Logical) -> _Resolver:
    """A resolver that works on the table and the joins of an earlier query."""
    work = _Resolver(draft, names, values, base=before.table)
    work.scope.adopt(before.joins)
    return work


class _Resolver:
    def __init__(self, draft: Draft, names: Names, values: ValueIndex, base: str | None = None) -> None:
        self.draft, self.names, self.model, self.values = draft, names, names.model, values
        ranking.rank_by(draft, names)
        self.evidence: list[Evidence] = []
        self.metric: Metric | None = None
        self.role_tests: list[Predicate] = []
        """Tests that a role adds: only owners."""
        self.mentioned = frozenset(s.table for item in self._nouns() for s in item.of("entity"))
        self.base = base or self._base()
        self.scope = Scope(self.model, self.base)

    def _nouns(self) -> list[Item]:
        draft = self.draft
        groups = [g.target for g in draft.groups if g.target] + [g.of for g in draft.groups if g.of]
        counted = [m.target for m in draft.measures if m.target] + [h.target for h in draft.having] + [m.of for m in draft.measures if m.of]
        return [*draft.entities, *groups, *counted, *([draft.which] if draft.which else []),
                *[o.target for o in draft.order if o.target]]

    # -- which table is counted ------------------------------------------------------------------------------------------
    def _base(self) -> str:
        for find in (self._base_of_measures, self._base_of_order, self._base_of_having, self._base_of_nouns, self._base_of_filters):
            found = find()
            if found is not None:
                return found
        raise NotUnderstood(tuple(i.text for i in self.draft.columns) or ("the question",), "it does not say what to count or list")

    def _base_of_measures(self) -> str | None:
        for ask in self.draft.measures:
            if ask.target is None:
                continue
            if ask.target.of("metric"):
                return ask.target.of("metric")[0].table
            if ask.fn == "count" and ask.target.of("entity", "role") and not ask.distinct:
                return self._entity(ask.target)
        for ask in self.draft.measures:
            if ask.target is not None and ask.target.of("column", "entity"):
                return self._column_table(ask.target)
        return None

    def _base_of_order(self) -> str | None:
        """"which district has the most accounts" counts accounts; "the largest loans" lists loans."""
        for ask in self.draft.order:
            if ask.target is None:
                continue
            if ask.target.of("metric"):
                return ask.target.of("metric")[0].table
            if ask.fn == "count" and ask.target.of("entity"):
                return self._entity(ask.target)
            if ask.fn is not None and ask.target.of("column"):
                return self._column_table(ask.target)
        return None

    def _base_of_having(self) -> str | None:
        grouped = bool(self.draft.groups or self.draft.which or self.draft.columns)
        counted = [h for h in self.draft.having if h.fn == "count"]
        return self._entity(counted[0].target) if counted and grouped else None

    def _base_of_nouns(self) -> str | None:
        for item in (*self.draft.entities, *([self.draft.which] if self.draft.which else []),
                     *[o.target for o in self.draft.order if o.target and o.target.of("entity")]):
            if item.of("entity"):
                return self._entity(item)
        for item in (*self.draft.columns, *[o.target for o in self.draft.order if o.target]):
            if item.of("column"):
                return self._column_table(item)
        return self._entity(self.draft.roles[0]) if self.draft.roles else None

    def _base_of_filters(self) -> str | None:
        tables = {s.table for f in self.draft.filters for i in f.items[:1] for s in i.of("value", "segment")}
        return next(iter(tables)) if len(tables) == 1 else None

    def _entity(self, item: Item) -> str:
        senses = item.of("entity") or item.of("role")
        tables = sorted({s.table for s in senses})
        if len(tables) > 1:
            raise Ambiguous(item, tuple(self.model.table(t).plural for t in tables), f"{item.text} can mean several tables")
        return tables[0]

    def _column_table(self, item: Item) -> str:
        senses = item.of("column") or item.of("entity")
        tables = {s.table for s in senses}
        if len(tables) == 1:
            return tables.pop()
        named = [t for t in tables if t in self.mentioned]
        if len(named) == 1:
            return named[0]
        choices = tuple(self._full_name(s) for s in senses if not named or s.table in named)
        raise Ambiguous(item, choices, f"{item.text} exists in several tables")

    def _full_name(self, sense: Sense) -> str:
        noun = self.model.table(sense.table).label
        return sense.label if noun in sense.label else f"{noun} {sense.label}"

    # -- the whole -------------------------------------------------------------------------------------------------------
    def run(self) -> Settled:
        dimensions = self.settle_groups()
        filters, hits = conditions.settle(self, self.draft.filters)
        measures = self._measures(dimensions, hits)
        order, limit, ties, columns = self._order(measures, dimensions)
        self._check_nouns(dimensions)
        having = tuple(self._having(dimensions))
        if measures and having and not dimensions:
            raise NotUnderstood(tuple(h.text for h in self.draft.having), "a condition on a count needs something to group by")
        query = Logical(
            table=self.base, joins=tuple(self.scope.joins), measures=tuple(measures), dimensions=tuple(dimensions),
            columns=() if measures else tuple(columns), filters=(*filters, *_once(self.role_tests)), having=having, order=tuple(order), limit=limit, ties=ties,
        )
        asked = bool(self.draft.order)
        return Settled(query, self.scope.said, self.evidence, self.metric, ordered=asked, trend=self.draft.trend is not None)

    def note(self, words: str, became: str) -> None:
        """Record what some words became."""
        self.evidence.append(Evidence(words=words, became=became))

    def column_of(self, item: Item, of: Item | None = None, *, filtering: bool = False) -> tuple[ColumnModel, Ref]:
        """The column that a name means, and how it is reached."""
        sense = self.scope.pick(item, item.of("column", "verb"), self.mentioned)
        column = self.names.column(sense.table, sense.column)
        if column.masked:
            raise NotUnderstood((item.text,), f"{column.label} is masked: its values are not shown")
        return column, self.scope.ref(sense.table, sense.column, item, of=of, filtering=filtering)

    # -- groups ----------------------------------------------------------------------------------------------------------
    def settle_groups(self) -> list[Dimension]:
        asks = [*ranking.ranked_groups(self), *self.draft.groups]
        which = self.draft.which
        if which is not None and self._which_groups():
            asks.insert(0, GroupAsk(which, text=which.text))
        elif not self.draft.measures and not self.draft.groups and self.draft.having and self.draft.columns:
            asks.insert(0, GroupAsk(self.draft.columns.pop(0)))
        made: list[Dimension] = []
        for ask in asks:
            made += [d for d in self._group(ask) if all(d.ref != m.ref or d.grain != m.grain for m in made)]
        return made

    def _which_groups(self) -> bool:
        """Whether "which X" groups by X rather than listing rows of X."""
        which = self.draft.which
        if which is None:
            return False
        entity = which.of("entity")
        return not (entity and {s.table for s in entity} == {self.base}) or bool(
            self.draft.measures and not entity
        )

    def _group(self, ask: GroupAsk) -> list[Dimension]:
        if ask.target is None:
            return [self._time_dimension(ask)]
        if ask.grain is not None:
            column, ref = self.column_of(ask.target, ask.of)
            self.note(ask.text or ask.target.text, f"{ask.grain} of {column.table}.{column.name}")
            return [Dimension(ref=ref, name=slug(ask.grain), label=f"{ask.grain} of {column.label}", grain=ask.grain)]
        entity = ask.target.of("entity")
        if entity and not (ask.target.of("column") and any(s.table == self.base for s in ask.target.of("column"))):
            return self._entity_dimensions(ask.target, ask.of)
        if not ask.target.of("column", "verb"):
            raise NotUnderstood((ask.target.text,), f"{ask.target.text} is nothing to group by")
        column, ref = self.column_of(ask.target, ask.of)
        self.note(ask.target.text, f"{column.table}.{column.name}")
        if column.role in ("key",) or (column.identifier and column.role == "text"):
            raise NotUnderstood((ask.target.text,), f"{column.label} is different on every row")
        if column.role == "measure" and column.distinct > _MOST_GROUPS:
            raise NotUnderstood((ask.target.text,), f"{column.label} has {column.distinct:,} different values, too many to group by")
        return [Dimension(ref=ref, name=slug(column.label), label=column.label)]

    def _entity_dimensions(self, item: Item, of: Item | None) -> list[Dimension]:
        table = self.model.table(self._entity(item))
        shown = [n for n in table.names if self.model.column(table.name, n)]
        columns = [self.names.column(table.name, n) for n in shown]
        unique = len(columns) == 1 and columns[0].distinct == table.rows
        wanted = columns if unique or not table.key else [self.names.column(table.name, table.key), *columns]
        if not wanted or table.name == self.base:
            raise NotUnderstood((item.text,), f"there is nothing to tell one {table.label} from another")
        self.note(item.text, " and ".join(f"{table.name}.{c.name}" for c in wanted))
        made = []
        for column in wanted:
            ref = self.scope.ref(table.name, column.name, item, of=of)
            name = slug(table.label if unique else column.label)
            made.append(Dimension(ref=ref, name=name, label=table.label if unique else column.label))
        return made

    def _time_dimension(self, ask: GroupAsk) -> Dimension:
        column = conditions.time_column(self, ask.text)
        self.note(ask.text, f"{ask.grain} of {column[0].table}.{column[0].name}")
        return Dimension(ref=column[1], name=slug(ask.grain or "day"), label=f"{ask.grain} of {column[0].label}", grain=ask.grain)

    # -- measures --------------------------------------------------------------------------------------------------------
    def _measures(self, dimensions: list[Dimension], hits: list[Predicate]) -> list[Measure]:
        draft = self.draft
        made: list[Measure] = []
        if draft.share:
            made.append(self._share(hits))
        for ask in (*draft.measures, *self._pending()):
            made += self._measure(ask)
        made += self._extreme(dimensions, made)
        for order in draft.order:
            if order.target is not None and (order.target.of("metric") or (order.fn and dimensions)):
                fn = order.fn or "rate"
                made += [m for m in self._measure(MeasureAsk(fn, order.target)) if all(m.name != k.name for k in made)]
        plain_list = draft.lists or draft.which is not None
        if not made and dimensions:
            made += self._group_default(dimensions)
        if not made and not plain_list and not draft.order and draft.columns and not dimensions:
            raise NotUnderstood(tuple(i.text for i in draft.columns), "it does not say what to do with it: total, average, highest")
        if dimensions and made and all(m.fn not in ("count", "rate", "count_distinct") for m in made):
            made.insert(0, self._count())
        return _unlike(made)

    def _extreme(self, dimensions: list[Dimension], made: list[Measure]) -> list[Measure]:
        """"the highest balance" is a figure; "the client with the highest balance" and "top 5" are rows."""
        draft = self.draft
        rows = dimensions or made or draft.limit is not None or draft.which is not None
        orders = [o for o in draft.order if o.target is not None and o.fn is None and o.target.of("column")]
        if rows or not orders or any(e.start < o.target.start for e in draft.entities for o in orders if o.target):
            return []
        draft.order = [o for o in draft.order if o not in orders]
        found: list[Measure] = []
        for order in orders:
            if order.target is not None:
                found += self._measure(MeasureAsk("maximum" if order.descending else "minimum", order.target))
        return found

    def _group_default(self, dimensions: list[Dimension]) -> list[Measure]:
        """"loans by status" counts; "which region has more than 500 accounts" too; a bare column says too little."""
        if self.draft.columns:
            raise NotUnderstood(tuple(i.text for i in self.draft.columns), "it does not say what to do with it: total, average, highest")
        return [self._count()]

    def _pending(self) -> list[MeasureAsk]:
        """Functions said before or after their target: "women who travel, count", "revenue, in total"."""
        asks = []
        for fn in self.draft.pending:
            if fn == "count":
                asks.append(MeasureAsk("count", None))
            elif len(self.draft.columns) == 1 and self.draft.columns:
                asks.append(MeasureAsk(fn, self.draft.columns.pop()))  # type: ignore[arg-type]
            elif fn == "sum" and self.draft.measures:
                continue
            else:
                raise NotUnderstood((fn,), f"it does not say of what to take the {fn}")
        return asks

    def _count(self) -> Measure:
        table = self.model.table(self.base)
        return Measure(fn="count", name=slug(table.plural), label=f"number of {table.plural}")

    def _measure(self, ask: MeasureAsk) -> list[Measure]:
        target = ask.target
        if target is None:
            self.note("count", f"count(*) of {self.base}")
            return [self._count()]
        if target.of("metric"):
            return [self._of_metric(next(m for m in self.model.metrics if m.id == target.of("metric")[0].value), target)]
        if ask.fn == "count":
            return [self._counted(ask, target)]
        if target.of("entity") and not target.of("column"):
            return [self._of_entity(ask, target)]
        column, ref = self.column_of(target, ask.of)
        return [self._of_column(ask, target, column, ref)]

    def _counted(self, ask: MeasureAsk, target: Item) -> Measure:
        if target.of("entity", "role") and self._entity(target) == self.base:
            if target.of("role"):
                conditions.owner_role(self, target)
            self.note(f"{ask.cue} {target.text}".strip(), f"count(*) of {self.base}")
            return self._count()
        if target.of("entity"):
            table = self.model.table(self._entity(target))
            if table.key is None:
                raise NotUnderstood((target.text,), f"nothing tells one {table.label} from another")
            ref = self.scope.ref(table.name, table.key, target, of=ask.of)
            self.note(target.text, f"count of different {table.name}.{table.key}")
            return Measure(fn="count_distinct", name=slug(f"different {table.plural}"), label=f"number of different {table.plural}", ref=ref)
        column, ref = self.column_of(target, ask.of)
        if column.role not in ("category", "text", "link", "key"):
            raise NotUnderstood((target.text,), f"{column.label} is a figure, not something to count")
        self.note(target.text, f"count of different {column.table}.{column.name}")
        label = f"number of different values of {column.label}"
        return Measure(fn="count_distinct", name=slug(f"different {column.label}"), label=label, ref=ref)

    def _of_entity(self, ask: MeasureAsk, target: Item) -> Measure:
        """"total loans": the number or the amount? Asked, unless the table has no measure that could be meant."""
        table = self.model.table(self._entity(target))
        if ask.fn != "sum":
            raise NotUnderstood((ask.cue, target.text), f"it does not say of which figure of {table.plural}")
        if table.size is None:
            self.note(f"{ask.cue} {target.text}", f"count(*) of {table.name}")
            return self._count()
        size = self.names.column(table.name, table.size)
        said = size.label if table.label in size.label else f"{table.label} {size.label}"
        raise Ambiguous(target, (f"number of {table.plural}", said), f"total {target.text} can be their number or their amount")

    def _of_column(self, ask: MeasureAsk, target: Item, column: ColumnModel, ref: Ref) -> Measure:
        family = self.names.family(column.table, column.name)
        numeric = family == "number" or column.stored == "number_text"
        ends = ask.fn in ("minimum", "maximum")
        if not (numeric or (ends and column.role == "time")) or column.role in ("key", "link"):
            raise NotUnderstood((ask.cue or ask.fn, target.text), f"{column.label} is not a figure to take the {ask.fn} of")
        self.note(f"{ask.cue} {target.text}".strip(), f"{ask.fn} of {column.table}.{column.name}")
        label = measure_label(ask.fn, column.label)
        return Measure(fn=ask.fn, name=slug(label), label=label, ref=ref, unit=column.unit)

    def _of_metric(self, metric: Metric, item: Item) -> Measure:
        self.note(item.text, metric.text or metric.label)
        if metric.kind != "rate" and metric.column:
            ref = self.scope.ref(metric.table, metric.column, item)
            fn = "sum" if metric.kind == "sum" else "average"
            return Measure(fn=fn, name=slug(metric.label), label=metric.label, ref=ref, unit=metric.unit)
        self.metric = metric
        hits = tuple(self._predicate_of(c.table, c.column, c.values, item) for c in metric.conditions)
        table = self.model.table(metric.table)
        nulls = [h.ref for h in hits if (c := self.model.column(h.ref.table, h.ref.column)) and c.nulls]
        known = tuple(Predicate(ref=r, test="is not null") for r in nulls)
        return Measure(fn="rate", name=slug(metric.label), label=metric.label, hits=hits, known=known, unit=metric.unit,
                       hits_name=slug(metric.hits), rows_name=slug(table.plural))

    def _predicate_of(self, table: str, column: str, values: tuple[str, ...], item: Item) -> Predicate:
        return Predicate(ref=self.scope.ref(table, column, item), test="in", values=values)

    def _share(self, hits: list[Predicate]) -> Measure:
        if not hits:
            raise NotUnderstood(("percentage",), "it does not say which rows the percentage counts")
        table = self.model.table(self.base)
        text = ", ".join(h.text for h in hits)
        known = tuple(Predicate(ref=h.ref, test="is not null") for h in hits
                      if (c := self.model.column(h.ref.table, h.ref.column)) and c.nulls)
        return Measure(fn="rate", name="percentage", label=f"percentage of {table.plural}: {text}", hits=tuple(hits), known=known, unit="%",
                       hits_name=slug(f"{table.plural} counted"), rows_name=slug(table.plural))

    # -- having, order, lists --------------------------------------------------------------------------------------------
    def _having(self, dimensions: list[Dimension]) -> list[Having]:
        made = []
        for ask in self.draft.having:
            if not dimensions:
                raise NotUnderstood((ask.text,), "a condition on a group needs something to group by")
            measures = self._measure(MeasureAsk(ask.fn, ask.target))
            if ask.fn == "count" and measures[0].fn != "count":
                raise NotUnderstood((ask.text,), f"{ask.target.text} are not what is counted here")
            number = int(ask.number) if ask.number == int(ask.number) else ask.number
            made.append(Having(measure=measures[0], test=ask.test, value=str(number)))  # type: ignore[arg-type]
            self.note(ask.text, f"{measures[0].label} {ask.test} {number}")
        return made

    def _order(
        self, measures: list[Measure], dimensions: list[Dimension]
    ) -> tuple[list[Order], int | None, bool, list[Dimension]]:
        from lexsi_ds.text_to_sql.ordering import order_groups, order_rows  # noqa: PLC0415

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
            table = self._entity(item)
            far = self.scope.distance(table)
            if table not in joined and (far is None or far >= 10):
                raise NotUnderstood((item.text,), f"one {self.model.table(self.base).label} can have many {self.model.table(table).plural}")
            self.note(item.text, self.model.table(table).plural)
        for item in self.draft.verbs:
            self.note(item.text, "a date")


def _once(tests: list[Predicate]) -> list[Predicate]:
    return [t for i, t in enumerate(tests) if t not in tests[:i]]


def _unlike(measures: list[Measure]) -> list[Measure]:
    seen: dict[str, Measure] = {}
    for measure in measures:
        seen.setdefault(measure.name, measure)
    return list(seen.values())

