"""Ways from a table to another that meet at most one row, so that no join ever multiplies what is counted.

Links to a parent, declared role paths (an account's owner) and one-to-one links back. Anything else is no way.
"""

from __future__ import annotations

from dataclasses import dataclass

from lexsi_ds.knowledge.model import Condition, Relationship, RolePath, SemanticModel

_FARTHEST = 5


@dataclass(frozen=True)
class Hop:
    """One join of a route."""

    table: str
    column: str
    to_table: str
    to_column: str
    conditions: tuple[Condition, ...] = ()
    back: bool = False
    """Goes from a parent to its only child: rows without one are lost, so only a filter may use it."""
    via: str = ""
    """The relationship or role path it belongs to."""


@dataclass(frozen=True)
class Route:
    """A way from a table to another."""

    hops: tuple[Hop, ...]
    said: tuple[str, ...] = ()
    """What a reading must state: roles that were chosen."""

    @property
    def back(self) -> bool:
        """Whether any hop may lose rows."""
        return any(h.back for h in self.hops)

    def uses(self, via: str) -> bool:
        """Whether it goes through this relationship or role path."""
        return any(h.via == via for h in self.hops)


def routes(model: SemanticModel, start: str, end: str) -> list[Route]:
    """Every route from ``start`` to ``end`` that visits no table twice, shortest first."""
    if start == end:
        return [Route(())]
    found: list[Route] = []
    queue: list[tuple[str, Route, frozenset[str]]] = [(start, Route(()), frozenset({start}))]
    while queue:
        here, route, seen = queue.pop(0)
        for hops, said in _steps(model, here):
            target = hops[-1].to_table
            touched = {h.to_table for h in hops}
            if touched & seen or len(route.hops) + len(hops) > _FARTHEST:
                continue
            longer = Route((*route.hops, *hops), (*route.said, *said))
            if target == end:
                found.append(longer)
            else:
                queue.append((target, longer, seen | touched))
    return sorted(found, key=lambda r: (r.back, len(r.hops)))


def _steps(model: SemanticModel, here: str) -> list[tuple[tuple[Hop, ...], tuple[str, ...]]]:
    steps: list[tuple[tuple[Hop, ...], tuple[str, ...]]] = []
    for link in model.relationships:
        if link.child == here:
            steps.append((_up(link), (link.role,) if link.role else ()))
        elif link.parent == here and link.one_to_one:
            steps.append((_back(link), ()))
    steps += [
        (_along(path), (path.said,) if path.said else ()) for path in model.paths if path.start == here and path.default
    ]
    return steps


def _up(link: Relationship) -> tuple[Hop, ...]:
    return (Hop(link.child, link.child_column, link.parent, link.parent_column, via=via_of(link)),)


def _back(link: Relationship) -> tuple[Hop, ...]:
    return (Hop(link.parent, link.parent_column, link.child, link.child_column, back=True, via=via_of(link)),)


def _along(path: RolePath) -> tuple[Hop, ...]:
    return tuple(
        Hop(
            s.table,
            s.column,
            s.to_table,
            s.to_column,
            tuple(c for c in path.conditions if c.table == s.to_table),
            via=path.name,
        )
        for s in path.steps
    )


def via_of(link: Relationship) -> str:
    """The name by which a route remembers a relationship."""
    return f"{link.child}.{link.child_column}"
