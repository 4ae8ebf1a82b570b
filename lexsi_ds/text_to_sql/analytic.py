"""A question answered by one query: tag, draft, settle, write, word. With the caveats that the numbers need beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Literal

import pandas as pd

from lexsi_ds.text_to_sql import (
    counts_per,
    elapsed,
    faithful,
    fanout,
    followup,
    lateness,
    negations,
    orders,
    spans,
    turns,
    units,
    whose,
)
from lexsi_ds.text_to_sql.amounts import main_measure
from lexsi_ds.text_to_sql.caveats import caveats_of
from lexsi_ds.text_to_sql.doubt import NotUnderstood
from lexsi_ds.text_to_sql.lexicon import Lexicon
from lexsi_ds.text_to_sql.logical import Logical, Measure, Predicate
from lexsi_ds.text_to_sql.parser import parse
from lexsi_ds.text_to_sql.reading import Analytic, Evidence
from lexsi_ds.text_to_sql.resolver import Settled, resolve
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.tagger import Item, Tagged, tag
from lexsi_ds.text_to_sql.units import currency, is_measured
from lexsi_ds.text_to_sql.wording import reading_of
from lexsi_ds.text_to_sql.writer import write


def analytic(
    question: str, names: Names, lexicon: Lexicon, query: Callable[[str], pd.DataFrame], previous: Analytic | None
) -> Analytic:
    """The query that answers a question. Raises NotUnderstood or Ambiguous."""
    tagged = tag(question, lexicon, names.handle.today)
    told = lateness.told(spans.told(whose.told(tagged.items, names.model), names.model), names.model)
    tagged = glossed(replace(tagged, items=units.told_of_numbers(elapsed.soften(told))))
    if previous is not None:
        tagged = replace(tagged, items=turns.in_place(tagged.items))
        settled = orders.reordered(tagged.items, names, lexicon.values, previous)
        if settled is not None:
            return answer_of(settled, names, query, tagged.repairs)
    unknown = _strange(tagged)
    if unknown:
        raise NotUnderstood(unknown, "no table, column, value or known word matches")
    draft = parse(tagged.items)
    if draft.left:
        raise NotUnderstood(tuple(draft.left), "it does not fit into the question as it was read")
    pointing = previous is not None and followup.points_back(tagged.items)
    if previous is not None and followup.is_followup(draft, _said(tagged), pointing=pointing):
        try:
            settled = followup.settle(draft, names, lexicon.values, previous, _said(tagged))
        except NotUnderstood:
            if pointing or not any(m.target is not None for m in draft.measures):
                raise
            settled = resolve(parse(tagged.items), names, lexicon.values)  # by itself it says what is asked for
    else:
        settled = resolve(draft, names, lexicon.values)
        counts_per.check_none(draft, settled.query, names, query)
    fanout.check(settled.query, names.model)
    negations.check(tagged.items, settled.query)
    faithful.check(tagged.items, draft, settled.query)
    counts_per.check_fewest(settled.query, names, query)
    return answer_of(settled, names, query, tagged.repairs)


def _said(tagged: Tagged) -> tuple[Item, ...]:
    return tuple(i for i in tagged.items if i.kind not in ("stop", "mark"))


_NOISE = frozenset(["level", "levels", "type", "types", "category", "categories", "kind", "kinds", "rating", "ratings", "score"])
"""Nouns that add nothing behind a column's name: education level."""
_SORTS = frozenset(["class", "tier", "type", "kind", "category", "member", "members"])
"""Nouns that add nothing behind a value or the name of rows: business class, crew member."""


def glossed(tagged: Tagged) -> Tagged:
    """Words that the question itself explains need no other explanation: "shared, i.e. with a disponent"."""
    items = list(tagged.items)
    for n, item in enumerate(items):
        if item.kind == "called":
            k = n + 1
            while k < len(items) and items[k].kind in ("unknown", "mark" if items[k].text == "-" else "unknown") and k < n + 4:
                items[k] = replace(items[k], kind="name")
                k += 1
        if item.kind == "unknown" and item.text.isdigit():
            items[n] = replace(item, kind="number", value=float(item.text))  # a number in quotes is one
        if n == 0 and item.kind == "unknown" and item.words == ("now",):
            items[n] = replace(item, kind="stop")
        noise = item.kind == "unknown" and item.words and item.words[0] in _NOISE and n > 0
        if noise and items[n - 1].kind == "sense" and items[n - 1].of("column"):
            items[n] = replace(item, kind="stop")
        sort = item.kind == "unknown" and item.words and item.words[0] in _SORTS and n > 0
        if sort and items[n - 1].kind == "sense" and items[n - 1].of("value", "entity"):
            items[n] = replace(item, kind="stop")
        if item.kind != "gloss":
            continue
        before = n - 1
        said = next((k for k in range(n - 1, -1, -1) if items[k].kind not in ("mark", "be")), None)
        if said is not None and items[said].of("value", "segment") and not items[said].of("entity"):
            items[said] = replace(items[said], kind="stop")
        while before >= 0 and items[before].kind in ("mark", "be", "unknown", "stop"):
            if items[before].kind == "unknown":
                items[before] = replace(items[before], kind="stop")
            before -= 1
        items[n] = replace(item, kind="which" if any(i.kind == "share" for i in items[:n]) else "with")
    return replace(tagged, items=tuple(items))


def _strange(tagged: Tagged) -> tuple[str, ...]:
    after_number = {i.text for n, i in enumerate(tagged.items) if n and tagged.items[n - 1].kind == "number"}
    known = {w for w in tagged.unknown if w.casefold() in ("percent", "pct") or is_measured(w)}
    known |= {w for w in tagged.unknown if currency(w) and (w in after_number or w.casefold() in ("czk", "kc", "crowns", "crown"))}
    return tuple(w for w in tagged.unknown if w not in known)


def _count_column(measures: tuple[Measure, ...], main: Measure | None) -> str | None:
    """The column that holds n: a rate's own, else the count of rows beside another measure."""
    if main is None or main.fn == "count":
        return None
    if main.rows_name:
        return main.rows_name
    return next((m.name for m in measures if m.fn == "count" and not m.hits), None)


def answer_of(
    settled: Settled, names: Names, query: Callable[[str], pd.DataFrame], spellings: tuple[tuple[str, str], ...] = ()
) -> Analytic:
    """A settled query as an answer: SQL, reading, caveats, chart. Whoever settles a query ends here."""
    logical = settled.query
    main = main_measure(list(logical.measures)) if logical.measures else None
    outer = logical.outer[-1] if logical.outer else None
    repairs = tuple(Evidence(words=a, became=f"{b} (spelling)") for a, b in spellings if a != b)
    spelt = tuple(f"\u201c{a}\u201d was read as \u201c{b}\u201d." for a, b in spellings if a != b)
    logical, caveats, more = caveats_of(settled, names, query)
    return Analytic(
        sql=write(logical, names),
        reading=reading_of(logical, names.model, settled.said),
        evidence=(*settled.evidence, *repairs),
        value_column=outer.name if outer else main.name if main else None,
        count_column=None if outer else _count_column(logical.measures, main),
        value_label=outer.label if outer else main.label if main else None,
        unit=("%" if outer.fn == "share" else None) if outer else main.unit if main else None,
        group_columns=() if outer else tuple(d.name for d in logical.dimensions),
        chart=_chart(logical),
        ordered=settled.ordered,
        string_filters=_strings(logical, names),
        caveats=(*spelt, *caveats, *fanout.caveats(logical, names.model)),
        suggestions=more,
        tables=tuple(dict.fromkeys((logical.table, *(j.table for j in logical.joins)))),
        logical=logical.model_dump(mode="json"),
    )


def _chart(logical: Logical) -> Literal["bar", "line", "none"]:
    if not logical.measures or not logical.dimensions or logical.outer:
        return "none"
    return "line" if logical.dimensions[0].grain in ("year", "quarter", "month", "week", "day") else "bar"


def _all_tests(tests: Iterable[Predicate]) -> Iterator[Predicate]:
    """Tests with those inside them."""
    for test in tests:
        if test.test not in ("any", "exists", "not exists") and test.sub is None:
            yield test
        inner = (*test.any_of, *(test.sub.filters if test.sub else ()), *(test.than.filters if test.than else ()))
        yield from _all_tests(inner)


def _strings(logical: Logical, names: Names) -> tuple[tuple[str, str, str], ...]:
    tests = list(_all_tests([*logical.filters, *(p for m in logical.measures for p in (*m.hits, *m.known))]))
    return tuple(
        dict.fromkeys(
            (p.ref.table, p.ref.column, v)
            for p in tests
            if p.test in ("=", "<>", "in", "not in") and names.family(p.ref.table, p.ref.column) == "text"
            for v in p.values
        )
    )
