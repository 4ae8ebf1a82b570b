"""Questions for an event within days: "which customers will order in the next 90 days", "predict no orders in the next 3 months for
each customer". A word without a part in it stops it.
"""

from __future__ import annotations

import re

from lexsi_ds.knowledge.model import Condition
from lexsi_ds.knowledge.thesaurus import PEOPLE
from lexsi_ds.text_to_sql.cues import PREDICT_CUES, STRONG, WEAK
from lexsi_ds.text_to_sql.doubt import NotUnderstood
from lexsi_ds.text_to_sql.lexicon import Lexicon
from lexsi_ds.text_to_sql.predict_options import NO_FORECAST
from lexsi_ds.text_to_sql.reading import Clarify
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.tagger import Item, tag
from lexsi_ds.text_to_sql.task_draft import HorizonAsk, TaskDraft
from lexsi_ds.text_to_sql.task_horizon import events_of
from lexsi_ds.text_to_sql.task_where import with_where

_UNITS = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "quarter": 90, "year": 365}
_NUMBERS = {"one": 1, "a": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "nine": 9, "ten": 10, "twelve": 12}
_SPAN = re.compile(
    r"\b(?:(?:(?:in|within|over|during|for)\s+)?(?:the\s+)?(?:next|coming|following|upcoming)|within)\s+"
    r"(?:(?P<n>\d{1,4}|" + "|".join(_NUMBERS) + r")\s+)?"
    r"(?P<unit>days?|weeks?|fortnights?|months?|quarters?|years?)\b(?P<of>['’]s?)?",
    re.IGNORECASE,
)
_WHERE = re.compile(r"\s+where\s+(?P<where>.+?)[\s.?!]*$", re.IGNORECASE | re.DOTALL)
_AHEAD = re.compile(r"^\s*(?:please\s+)?(?:predict|forecast|estimate|project)\b", re.IGNORECASE)
_NOT = frozenset({"not", "no", "never", "without", "won't", "stop", "cease", "none", "n't", "any longer"})
_AROUND_TEXT = (
    "again place places make makes making another new any anything at least more once something a an do does get gets buy have"
    " having take takes use uses longer ever still one whether if who"
)
_AROUND = frozenset(_AROUND_TEXT.split())
_COUNTED = re.compile(r"\bhow\s+many\b|\bnumber\s+of\b|\bcount\s+of\b", re.IGNORECASE)
_SUMMED = re.compile(r"\bhow\s+much\b|\btotal\b|\bsum\s+of\b|\bspend\w*\b", re.IGNORECASE)
_MEASURING = frozenset(
    {"number", "count", "total", "sum", "amount", "much", "many", "of", "spend", "spends", "spending", "money"}
)
_BUYING = frozenset({"buy", "buys", "buying", "purchase", "purchases", "shop", "spend", "order", "reorder", "repurchase"})
_BOUGHT = frozenset({"order", "purchase", "sale", "invoice", "transaction", "booking", "receipt", "basket"})


def read(question: str, lexicon: Lexicon, names: Names) -> TaskDraft | Clarify | None:
    """The task of a question for an event within days; None for any other question. Raises when it cannot be one."""
    span = _SPAN.search(question)
    if span is None:
        return None
    if span["of"]:
        if _AHEAD.match(question):
            raise NotUnderstood((span[0].strip(),), NO_FORECAST)
        return None
    where = _WHERE.search(question, span.end())
    rest = question[: span.start()] + " " + question[span.end() : where.start() if where else len(question)]
    tagged = tag(rest, lexicon, names.handle.today, PREDICT_CUES)
    items = tuple(i for i in tagged.items if i.kind not in ("stop", "mark"))
    if not any(i.kind in (STRONG, WEAK) or (i.cue in (STRONG, WEAK)) for i in items):
        if _AHEAD.match(question):
            raise NotUnderstood((span[0].strip(),), NO_FORECAST)
        return None
    pairs = _pairs(items, rest, names)
    if not pairs:
        _refuse(question, span, items, names)
        return None
    if len(pairs) > 1:
        said = f"in the next {_days(span)} days for each"
        model = names.model
        options = tuple(f"Predict {model.table(v).plural} {said} {model.table(e).label}" for e, v in pairs)
        return Clarify(question="Which events are meant?", options=options)
    (entity, events), *_ = pairs
    ask = HorizonAsk(events=events, days=_days(span))
    draft = TaskDraft(table=entity, column="", question=question, horizon=ask, wants_why=False)
    draft = _with_words(_measured(draft, rest, items, names), items, span, names)
    return with_where(draft, where["where"], names) if where else draft


def _days(span: re.Match[str]) -> int:
    number = (span["n"] or "1").casefold()
    many = int(number) if number.isdigit() else _NUMBERS[number]
    return many * next(d for unit, d in _UNITS.items() if span["unit"].casefold().startswith(unit))


def _pairs(items: tuple[Item, ...], text: str, names: Names) -> list[tuple[str, str]]:
    """(rows, events): tables that are named, or meant by who and by buying, where the second are dated events of the first."""
    named = list(dict.fromkeys(s.table for i in items for s in i.of("entity")))
    words = set(re.findall(r"[a-z']+", text.casefold()))
    found = []
    for entity in names.model.tables:
        if entity.name not in named and not (words & {"who", "whom"} and {entity.label, *entity.synonyms} & PEOPLE):
            continue
        tables = [h.table for h in events_of(names, entity.name)]
        said = [t for t in tables if t.name in named and t.name != entity.name]
        if not said and words & _BUYING:
            said = [t for t in tables if {t.label.split()[-1], *t.synonyms} & _BOUGHT]
        found += [(entity.name, t.name) for t in said]
    direct = [(e, v) for e, v in found if e in named]
    return direct or found


def _refuse(question: str, span: re.Match[str], items: tuple[Item, ...], names: Names) -> None:
    """Say why no outcome within days can be learned here, where one is asked for."""
    outcomes = {s.value for i in items for s in i.of("outcome")}
    for outcome in names.model.outcomes:
        if outcome.id in outcomes:
            noun = names.model.table(outcome.table).label
            raise NotUnderstood(
                (span[0].strip(),),
                f"nothing here says when {outcome.label} happens, only that it did; what can be had is “predict {outcome.label} for"
                f" each {noun}”",
            )
    if _AHEAD.match(question):
        raise NotUnderstood((span[0].strip(),), NO_FORECAST)


def _measured(draft: TaskDraft, text: str, items: tuple[Item, ...], names: Names) -> TaskDraft:
    """How many or how much, where the words ask for a figure of the events and not whether there is one."""
    ask = draft.horizon
    if ask is None or not (_COUNTED.search(text) or _SUMMED.search(text) or _amounts(items, ask, names)):
        return draft
    if _COUNTED.search(text):
        return draft.model_copy(update={"horizon": ask.model_copy(update={"measure": "count"})})
    named = _amounts(items, ask, names)
    events, own = names.model.table(ask.events), [c for c in names.model.of_table(ask.events) if c.additive and not c.masked]
    found = named or [c.name for c in own if c.name == events.size] or [c.name for c in own]
    if len(set(found)) != 1:
        raise NotUnderstood(("total",), f"which figure of {events.plural} is meant is not said, or it is none that adds up")
    return draft.model_copy(update={"horizon": ask.model_copy(update={"measure": "sum", "column": found[0]})})


def _amounts(items: tuple[Item, ...], ask: HorizonAsk, names: Names) -> list[str]:
    """Columns of the events that are named and add up."""
    senses = (s for i in items for s in i.of("column") if s.table == ask.events)
    return list(dict.fromkeys(s.column for s in senses if names.column(s.table, s.column).additive))


def _with_words(draft: TaskDraft, items: tuple[Item, ...], span: re.Match[str], names: Names) -> TaskDraft:
    """Every other word in its part: how many are listed, why, which rows, whether it counts when nothing happens."""
    ask, events = draft.horizon, names.model.table(draft.horizon.events if draft.horizon else draft.table)
    notes, only, said, left = [], [], [], []
    absent, why, top_k = False, False, 10
    for n, item in enumerate(items):
        beside = [k.kind for k in items[max(0, n - 2) : n + 2] if k is not item]
        own = {(s.column, s.value) for s in item.of("value") if s.table == draft.table}
        absent = absent or bool(set(item.words) & _NOT)
        if item.of("entity", "house", "deal") or item.kind in (STRONG, WEAK, "plain"):
            continue
        if set(item.words) <= _NOT | _AROUND | _BUYING | (_MEASURING if ask and ask.measure != "any" else set()):
            continue
        if ask and ask.measure == "sum" and any((s.table, s.column) == (ask.events, ask.column) for s in item.of("column")):
            continue
        if item.kind == "why":
            why = True
        elif item.kind == "number" and ("plain" in beside or STRONG in beside) and item.value and 1 <= item.value <= 1000:
            top_k = int(item.value)
        elif item.kind == "sense" and len(own) == 1:
            column, value = own.pop()
            only.append(Condition(table=draft.table, column=column, op="=", values=(value,)))
            said.append(f"{column} = {value}")
            notes.append((item.text, f"only {column} = {value}"))
        elif not (item.of("column") and any(c.column == s.column for c in only for s in item.of("column"))):
            left.append(item.text)
    if left or ask is None:
        raise NotUnderstood(tuple(left), f"that has no part in predicting {events.plural} here")
    notes.insert(0, (span[0].strip(), f"{ask.days} days from the cut-off"))
    notes.insert(0, (events.plural, f"{'no row' if absent else 'at least one row'} of {events.name}"))
    if absent and ask.measure != "any":
        raise NotUnderstood(("not",), "a number or a total cannot be asked for and denied at once")
    changes = {"horizon": ask.model_copy(update={"absent": absent}), "only": tuple(only), "only_text": ", ".join(said)}
    return draft.model_copy(update={**changes, "top_k": top_k, "wants_why": why, "evidence": tuple(notes)})
