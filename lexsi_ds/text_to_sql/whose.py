"""Whose a name is, as it is said beside it: "the copy's branch", "from Hamburg", "to Rotterdam".

Marks items only. A direction counts only where the data has a link that is called by it, as origin and destination are.
"""

from __future__ import annotations

from dataclasses import replace

from lexsi_ds.knowledge.model import SemanticModel
from lexsi_ds.knowledge.words import of_words, split_name, stem
from lexsi_ds.text_to_sql.joins import Route
from lexsi_ds.text_to_sql.tagger import Item

_DIRECTIONS = {
    "from": of_words("from origin source departure departing start starting sender sending pickup outbound seller giver payer"),
    "to": of_words("to destination dest target arrival arriving receiver receiving recipient consignee dropoff payee inbound"),
}
_STEMS = {way: frozenset(stem(w) for w in words) | words for way, words in _DIRECTIONS.items()}


def told(items: tuple[Item, ...], model: SemanticModel) -> tuple[Item, ...]:
    """The items with owners and directions marked on the names that they are said of."""
    return _directed(_owned(items), model)


def in_direction(found: list[Route], way: str) -> list[Route]:
    """The routes that go through a link of a direction."""
    return [r for r in found if any(_goes(h.column, way) for h in r.hops)]


def _owned(items: tuple[Item, ...]) -> tuple[Item, ...]:
    out: list[Item] = []
    for item in items:
        before = out[-1] if out else None
        owns = before is not None and before.text.casefold().endswith(("'s", "’s")) and bool(before.of("entity"))
        if before is not None and owns and item.of("entity") and not {s.table for s in before.of("entity")} & {
            s.table for s in item.of("entity")
        }:
            out[-1] = replace(item, owner=before, start=before.start, text=f"{before.text} {item.text}")
            continue
        out.append(item)
    return tuple(out)


def _directed(items: tuple[Item, ...], model: SemanticModel) -> tuple[Item, ...]:
    out = list(items)
    for n, item in enumerate(items[:-1]):
        at = next((k for k in range(n + 1, len(items)) if items[k].kind not in ("stop", "mark")), None)
        if at is not None and items[at].of("column") and not items[at].of("value") and at + 1 < len(items):
            at += 1  # "to port name Singapore"
        if item.kind not in _DIRECTIONS or at is None or not items[at].of("value"):
            continue
        way = item.kind
        tables = {s.table for s in items[at].of("value")}
        links = [k for k in model.relationships if k.parent in tables]
        if len({(k.child, k.child_column) for k in links}) < 2 or not any(_goes(k.child_column, way) for k in links):
            continue
        out[at] = replace(items[at], toward=way)
        out[n] = replace(item, kind="in")
    return tuple(out)


def _goes(column: str, way: str) -> bool:
    words = split_name(column)
    return any(w in _STEMS[way] or stem(w) in _STEMS[way] for w in words)
