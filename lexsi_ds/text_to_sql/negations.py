"""A "not" that was said must be in the query: an answer to the opposite question is the worst there is.

Only refuses. What the words mean is settled elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable

from lexsi_ds.text_to_sql.doubt import NotUnderstood
from lexsi_ds.text_to_sql.logical import Logical, Predicate
from lexsi_ds.text_to_sql.tagger import Item

_WORDS = frozenset({"not", "no", "without", "never", "none"})


def check(items: tuple[Item, ...], query: Logical) -> None:
    """Raises NotUnderstood where a negation was said and nothing in the query is negated."""
    said = [i.text for i in items if i.kind in ("not", "without")]
    tests = [*query.filters, *(h for m in query.measures for h in (*m.hits, *m.known)), *query.after]
    if said and not any(_is_negative(t) for t in _all(tests)) and not query.having:
        raise NotUnderstood(tuple(said), "nothing in the question as it was read is negated")


def _all(tests: Iterable[Predicate]) -> list[Predicate]:
    found: list[Predicate] = []
    for test in tests:
        inner = [*test.any_of, *(test.sub.filters if test.sub else ()), *(test.than.filters if test.than else ())]
        found += [test, *_all(inner)]
    return found


def _is_negative(test: Predicate) -> bool:
    words = set(test.text.casefold().replace(",", " ").split())
    return test.test in ("not exists", "not in", "<>", "is null") or bool(words & _WORDS)
