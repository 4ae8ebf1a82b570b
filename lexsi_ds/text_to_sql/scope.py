"""The tables of one query while it is being settled: which is counted, which are joined, by which route and in which role.

Never joins a way that multiplies rows, and never picks between two routes without saying so.
"""

from __future__ import annotations

from lexsi_ds.knowledge.model import SemanticModel
from lexsi_ds.text_to_sql import whose
from lexsi_ds.text_to_sql.doubt import Ambiguous, NotUnderstood
from lexsi_ds.text_to_sql.joins import Hop, Route, routes
from lexsi_ds.text_to_sql.lexicon import Sense
from lexsi_ds.text_to_sql.logical import JoinStep, Ref
from lexsi_ds.text_to_sql.tagger import Item


class Scope:
    """Joins from one base table, made as columns are asked for."""

    def __init__(self, model: SemanticModel, base: str, taken: set[str] | None = None) -> None:
        self.model, self.base = model, base
        self.taken = taken if taken is not None else set()
        """Names in use in the whole query, whichever part took them first; shared with the queries inside this one."""
        self.joins: list[JoinStep] = []
        self._adopted = False
        self.said: list[str] = []
        self.alias = self.fresh(base)
        self._aliases: dict[tuple[str, ...], str] = {(): self.alias}

    def own(self, column: str) -> Ref:
        """A column of the counted table."""
        return Ref(alias=self.alias, table=self.base, column=column)

    def adopt(self, joins: tuple[JoinStep, ...]) -> None:
        """Take over the joins of an earlier query; a new way to the same table gets an alias of its own."""
        self.joins = list(joins)
        self._adopted = bool(joins)
        self.taken.update(j.alias for j in joins)

    def distance(self, table: str) -> int | None:
        """How far a table is, in joins; ways back count more; None when there is no way."""
        found = routes(self.model, self.base, table)
        return min((len(r.hops) + 10 * r.back for r in found), default=None)

    def ref(self, table: str, column: str, item: Item, *, of: Item | None = None, filtering: bool = False) -> Ref:
        """A column, with the joins that reach it; ``of`` names the role it is wanted in."""
        if table == self.base:
            return self.own(column)
        route = self._route(table, item, of, filtering=filtering)
        return Ref(alias=self._join(route, inner=filtering and route.back), table=table, column=column)

    def _route(self, table: str, item: Item, of: Item | None, *, filtering: bool) -> Route:
        found = [r for r in routes(self.model, self.base, table) if filtering or not r.back]
        if not found:
            noun = self.model.table(table).label
            raise NotUnderstood(
                (item.text,), f"no way leads from one {self.model.table(self.base).label} to one {noun}"
            )
        several = len(routes(self.model, self.base, table)) > 1
        of = of or item.owner
        if item.toward and (directed := whose.in_direction(found, item.toward)):
            found = directed
        elif of is not None:
            found = self._in_role(found, of, item)
        elif self._adopted:
            found = [r for r in found if self._is_there(r)] or found
        nearest = [r for r in found if len(r.hops) + 10 * r.back == len(found[0].hops) + 10 * found[0].back]
        if len(nearest) > 1:
            owners = [self.model.table(r.hops[-1].table).label for r in nearest]
            choices = tuple(f"{owner}'s {item.text}" for owner in owners)
            if len(set(choices)) < len(choices):  # one owner has two of them: the links' own names tell them apart
                choices = tuple(f"{r.said[-1].rpartition(chr(39) + 's ')[2]} {item.text}" if r.said else item.text for r in nearest)
            raise Ambiguous(item, choices, f"it can be the {' or the '.join(choices)}")
        route = nearest[0]
        if (several or any(h.conditions for h in route.hops)) and route.said:
            told = route.said[-1]
            if told not in self.said:
                self.said.append(told)
        return route

    def _in_role(self, found: list[Route], of: Item, item: Item) -> list[Route]:
        """Routes that pass through what the column was said to belong to."""
        wanted: set[str] = set()
        tables: set[str] = set()
        for sense in of.of("role"):
            wanted.add(sense.value)
        for sense in of.of("entity"):
            tables.add(sense.table)
        kept = [r for r in found if any(r.uses(w) for w in wanted) or any(_leaves(r, t) for t in tables)]
        if not kept and found and found[0].hops and found[0].hops[-1].to_table in tables:
            return found
        if self.base in tables:
            kept = kept or [r for r in found if len(r.hops) == 1] or found
        if not kept:
            raise NotUnderstood((of.text, item.text), f"{item.text} does not belong to {of.text} here")
        return kept

    def _is_there(self, route: Route) -> bool:
        """Whether an earlier query already goes this way."""
        alias = self.alias
        for hop in route.hops:
            found = self._existing(Ref(alias=alias, table=hop.table, column=hop.column), hop)
            if found is None:
                return False
            alias = found
        return True

    def join(self, hops: tuple[Hop, ...]) -> str:
        """The alias of the table that these hops lead to."""
        return self._join(Route(hops), inner=True)

    def _join(self, route: Route, *, inner: bool) -> str:
        taken: tuple[str, ...] = ()
        alias = self.alias
        for hop in route.hops:
            taken = (*taken, f"{hop.table}.{hop.column}>{hop.to_table}.{hop.to_column}:{hop.via}")
            if taken not in self._aliases:
                left = Ref(alias=alias, table=hop.table, column=hop.column)
                self._aliases[taken] = self._existing(left, hop) or self._new(left, hop, inner=inner)
            alias = self._aliases[taken]
        return alias

    def _existing(self, left: Ref, hop: Hop) -> str | None:
        """The alias of a join that an earlier query already makes."""
        same = (left, hop.to_table, hop.to_column, hop.conditions)
        return next((j.alias for j in self.joins if (j.left, j.table, j.column, j.conditions) == same), None)

    def _new(self, left: Ref, hop: Hop, *, inner: bool) -> str:
        name = self.fresh(hop.to_table)
        step = JoinStep(
            alias=name, table=hop.to_table, left=left, column=hop.to_column, conditions=hop.conditions, inner=inner
        )
        self.joins.append(step)
        return name

    def fresh(self, table: str) -> str:
        """A name for one more use of a table."""
        name, n = table, 2
        while name in self.taken:
            name, n = f"{table}_{n}", n + 1
        self.taken.add(name)
        return name

    def pick(self, item: Item, senses: tuple[Sense, ...], mentioned: frozenset[str]) -> Sense:
        """Which of several meanings: of the base, of a table that was named, or the nearest; two that tie are asked about."""
        best: list[tuple[tuple[int, int], Sense]] = []
        for sense in senses:
            far = self.distance(sense.table)
            if far is not None:
                best.append(((0 if far == 0 else 1 if sense.table in mentioned else 2, far), sense))
        if not best:
            base = self.model.table(self.base)
            raise NotUnderstood((item.text,), f"{item.text} is not known of {base.plural}")
        least = min(rank for rank, _ in best)
        # Far away, nearer is no reason: an artist and an album of one name are both meant as well as not.
        doubtful = least[0] == 2 and any(s.kind == "value" for _, s in best)
        tied = [s for rank, s in best if rank == least or (doubtful and rank[0] == 2 and rank[1] < 10)]
        if len({(s.table, s.column, s.value) for s in tied}) > 1:
            choices = [_said(self.model, s) for s in tied]
            alike = {c for c in choices if choices.count(c) > 1}
            told = (f"{self.model.table(s.table).label} {c}" if c in alike else c for s, c in zip(tied, choices, strict=True))
            raise Ambiguous(item, tuple(told), f"{item.text} can mean several things")
        return tied[0]


def _leaves(route: Route, table: str) -> bool:
    """Whether the last step of a route starts from this table."""
    return bool(route.hops) and route.hops[-1].table == table


def _said(model: SemanticModel, sense: Sense) -> str:
    """A meaning in words that name it alone."""
    if sense.kind == "value":
        column = model.column(sense.table, sense.column)
        label = column.label if column else sense.column
        noun = model.table(sense.table).label
        named = sense.column in model.table(sense.table).names and noun not in label
        return f"{noun} {label} {sense.value}" if named else f"{label} {sense.value}"
    table = model.table(sense.table)
    return sense.label if table.label in sense.label else f"{table.label} {sense.label}"
