"""What a query must not do with what was said: contradict itself, or leave out a date or a role that was named.

Only refuses. What the words mean is settled elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lexsi_ds.data.handle import Value
from lexsi_ds.text_to_sql.doubt import NotUnderstood
from lexsi_ds.text_to_sql.draft import Draft
from lexsi_ds.text_to_sql.logical import Logical, Predicate, Ref
from lexsi_ds.text_to_sql.tagger import Item


def check(items: tuple[Item, ...], draft: Draft, query: Logical) -> None:
    """Raises NotUnderstood where the query contradicts itself or lacks what was named."""
    _check_tests(query.filters)
    used = set(_columns(query))
    if any(t.test == "days" for t in _all(query.filters)):
        for item in items:
            dates = {(s.table, s.column) for s in item.of("verb", "hint")}
            timed = item.kind == "sense" and all(s.kind == "verb" or (s.kind == "hint" and s.role == "time") for s in item.senses)
            if dates and timed and not dates & used:
                raise NotUnderstood((item.text,), "it names a date that the question as it was read does not use")
    if draft.limit is not None or draft.order or query.outer:
        _check_roles(items, query, used)
    if draft.place is not None and not query.dimensions and not query.measures:
        _check_place(items)


def _check_place(items: tuple[Item, ...]) -> None:
    """ "second cheapest ticket type": a type, and not the tickets at that price."""
    said = [i for i in items if i.kind not in ("stop", "mark")]
    for n, item in enumerate(said[:-2]):
        noun = said[n + 2]
        columns = noun.of("column")
        if item.kind == "place" and columns and not noun.of("entity") and all(s.role in ("category", "text") for s in columns):
            raise NotUnderstood((noun.text,), "the question as it was read does not tell them apart")


def _check_roles(items: tuple[Item, ...], query: Logical, used: set[tuple[str, str]]) -> None:
    """Whom a role names must be told apart by the answer: "top 5 lead researchers"."""
    shown = {d.ref.table for d in (*query.dimensions, *query.columns)}
    for item in items:
        roles = item.of("role")
        if not roles or len(roles) != len(item.senses):
            continue
        links = {tuple(s.value.split(".", 1)) for s in roles if "." in s.value}
        if links and not links & used and not shown & {s.table for s in roles}:
            raise NotUnderstood((item.text,), "the question as it was read does not tell them apart")


def _check_tests(tests: Iterable[Predicate]) -> None:
    """No row can be two things at once, and a year denies nothing about another."""
    tests = list(tests)
    for n, one in enumerate(tests):
        for other in tests[n + 1 :]:
            if one.ref == other.ref and one.sub is None and other.sub is None and _contradict(one, other):
                raise NotUnderstood(tuple(t.text for t in (one, other) if t.text), "no row can be both at once")
    for test in tests:
        for sub in (test.sub, test.than):
            if sub is not None:
                _check_tests(sub.filters)
                _check_denials(sub.filters)


def _contradict(one: Predicate, other: Predicate) -> bool:
    if one.other or other.other or one.than or other.than:
        return False
    kept, also = _allowed(one), _allowed(other)
    if kept is not None and also is not None:
        return not kept & also
    for allowed, test in ((kept, other), (also, one)):
        if allowed is not None and test.test in ("<>", "not in") and allowed <= set(test.values):
            return True
    return False


def _allowed(test: Predicate) -> set[str] | None:
    return set(test.values) if test.test in ("=", "in") and test.values else None


def _check_denials(tests: Iterable[Predicate]) -> None:
    """In one and the same row a year leaves nothing to deny of another: other rows were meant."""
    tests = list(tests)
    held = [t for t in tests if t.test == "days"]
    for test in tests:
        denied = test.test == "any" and test.text.startswith("not ")
        if denied and any(h.ref == test.ref for h in held):
            raise NotUnderstood((test.text,), "it is not clear which rows it is said of")


def _all(tests: Iterable[Predicate]) -> Iterator[Predicate]:
    for test in tests:
        yield test
        yield from _all((*test.any_of, *(test.sub.filters if test.sub else ()), *(test.than.filters if test.than else ())))


def _columns(value: object) -> Iterator[tuple[str, str]]:
    """Every column that a query names."""
    if isinstance(value, Ref):
        yield value.table, value.column
        yield from _columns(value.since)
    elif isinstance(value, Value):
        for name in type(value).model_fields:
            yield from _columns(getattr(value, name))
    elif isinstance(value, tuple | list):
        for one in value:
            yield from _columns(one)
