"""Values and segments as tests of rows. A value that several columns hold is asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexsi_ds.knowledge.model import ColumnModel
from lexsi_ds.knowledge.thesaurus import NO, YES
from lexsi_ds.knowledge.words import fold, singular
from lexsi_ds.text_to_sql.doubt import Ambiguous, NotUnderstood
from lexsi_ds.text_to_sql.draft import FilterAsk
from lexsi_ds.text_to_sql.lexicon import Sense
from lexsi_ds.text_to_sql.logical import Predicate
from lexsi_ds.text_to_sql.tagger import Item

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver


def segment(r: Resolver, ask: FilterAsk) -> list[Predicate]:
    made = []
    for item in ask.items[:1]:
        sense = r.scope.pick(item, item.of("segment"), r.mentioned)
        segment = next(s for s in r.model.segments if s.id == sense.value)
        if segment.table != r.base and segment.table not in r.mentioned:
            raise NotUnderstood(
                (item.text,),
                f"{item.text} is said of {r.model.table(segment.table).plural}, not of {r.model.table(r.base).plural}",
            )
        if len(ask.items) > 1 or (ask.negated and len(segment.conditions) > 1):
            raise NotUnderstood((ask.text,), "it names several groups of rows at once")
        for c in segment.conditions:
            ref = r.scope.ref(c.table, c.column, item, filtering=True)
            test = "not in" if ask.negated else "in"
            made.append(
                Predicate(ref=ref, test=test, values=c.values, text=("not " if ask.negated else "") + segment.label)
            )
        r.note(ask.text, segment.text or segment.label)
    return made


def value(r: Resolver, ask: FilterAsk) -> Predicate:
    first = ask.items[0]
    senses = _of_column(r, first.of("value"), ask.column, ask.text)
    if ask.noun is not None:
        nouns = {s.table for s in ask.noun.of("entity")}
        senses = tuple(s for s in senses if s.table in nouns) or senses
    if ask.by:
        senses = tuple(s for s in senses if s.table != r.base)
        if not senses:
            raise NotUnderstood((ask.text,), f"it is a value of {r.model.table(r.base).plural} themselves, and nothing to group by")
    sense = r.scope.pick(first, senses, r.mentioned)
    values = [sense.value]
    for item in ask.items[1:]:
        same = [s for s in item.of("value") if (s.table, s.column) == (sense.table, sense.column)]
        if not same:
            raise NotUnderstood((item.text,), f"{item.text} is not a value of {sense.column}")
        values.append(same[0].value)
    column = r.names.column(sense.table, sense.column)
    far = r.scope.distance(sense.table)
    named = (
        sense.table in r.mentioned
        or r.model.table(sense.table).label in {singular(w) for w in first.words}
        or bool(first.of("role"))
    )
    if far is not None and far >= 10 and not named:
        raise NotUnderstood(
            (first.text,), f"it is a {column.label}, and {r.model.table(r.base).plural} have none of their own"
        )
    ref = r.scope.ref(sense.table, sense.column, first, of=ask.of, filtering=True)
    values = list(dict.fromkeys(values))
    said = " or ".join(r.model.meaning(sense.table, sense.column, v) or v for v in values)
    if ask.negated and column.role == "flag" and len(column.values) == 2:
        values = [v.value for v in column.values if v.value not in values]
        r.note(ask.text, f"{sense.table}.{sense.column} = {values[0]}")
        return Predicate(ref=ref, test="in", values=tuple(values), text=f"not {said}")
    if ask.negated and not sense.strong:
        _ask_which_no(r, ask, column)
    if column.role == "flag":
        is_yes = values[0] == column.values[0].value
        said = f"{column.label} {'yes' if is_yes else 'no'}" if len(values) == 1 else ""
    r.note(ask.text, f"{sense.table}.{sense.column} {'is not' if ask.negated else '='} {' or '.join(values)}")
    table = r.model.table(sense.table)
    label = table.label if column.name in table.names else column.label
    text = said if column.role == "flag" or said != " or ".join(values) else f"{label} {said}"
    text = f"not {text}" if ask.negated else text
    made = Predicate(ref=ref, test="not in" if ask.negated else "in", values=tuple(values), text=text)
    if ask.negated and ask.strictly and column.nulls:
        missing = Predicate(ref=ref, test="is null")
        return Predicate(ref=ref, test="any", any_of=(made.model_copy(update={"text": ""}), missing), text=text)
    return made


def _ask_which_no(r: Resolver, ask: FilterAsk, column: ColumnModel) -> None:
    """ "without online security": those who said no, or also those to whom it does not apply?"""
    others = [
        h.value
        for _, hits in r.values.entries()
        for h in hits
        if (h.table, h.column, h.exact) == (column.table, column.name, True)
    ]
    plain = sorted({v for v in others if fold(v) in NO})
    rest = sorted({v for v in others if fold(v) not in NO | YES})
    if len(plain) == 1 and rest and ask.whole is not None:
        first = f"with {column.label} {plain[0]}"
        raise Ambiguous(
            ask.whole,
            (first, f"{first} or {' or '.join(rest)}"),
            f"{column.label} has the values {', '.join([*plain, *rest])} beside yes",
        )


def _of_column(r: Resolver, senses: tuple[Sense, ...], column: Item | None, text: str) -> tuple[Sense, ...]:
    """Values of the column that was named beside them."""
    if column is None:
        return senses
    named = {(s.table, s.column) for s in column.of("column", "hint")}
    kept = tuple(s for s in senses if (s.table, s.column) in named)
    if not kept:
        raise NotUnderstood((text,), f"{column.text} has no such value")
    return kept
