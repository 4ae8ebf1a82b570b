"""How long something took, where its rows have a day that it began and one that it ended on: a voyage departed and arrived.

Only a table with exactly one date of either kind has a duration of its own; any other is not guessed. The words are put as the
clauses of `elapsed` read them: "days between departed and arrived".
"""

from __future__ import annotations

from dataclasses import replace

from lexsi_ds.knowledge.model import ColumnModel, SemanticModel, TableModel
from lexsi_ds.knowledge.words import of_words, stem
from lexsi_ds.text_to_sql.elapsed_of import related
from lexsi_ds.text_to_sql.items import Item
from lexsi_ds.text_to_sql.senses import Sense

_BEGINS = of_words(
    "start started begin began begun opened open departed departure admitted admission created creation ordered order submitted"
    " submission booked issued borrowed out rented hired joined received placed reported filed requested enrolled entered picked"
)
_ENDS = of_words(
    "end ended finish finished closed close arrived arrival discharged discharge completed completion delivered delivery returned"
    " return resolved resolution decided decision settled settlement left terminated exit fulfilled"
)
_WHOLE = of_words("duration length runtime milliseconds elapsed")
_NOUNS = of_words("duration durations")
_UNITS = of_words("day days week weeks hour hours minute minutes")
_TESTS = of_words("more less at_least at_most")
_FUNCTIONS = of_words("average median minimum maximum large small long short")


def span_of(model: SemanticModel, table: TableModel) -> tuple[ColumnModel, ColumnModel] | None:
    """The day that rows of a table begin and the day that they end; None where that is not plain."""
    columns = model.of_table(table.name)
    if any(_WHOLE & {*c.label.split(), *(w for s in c.synonyms for w in (s,))} for c in columns if c.role == "measure"):
        return None  # a figure of the whole is kept beside the dates
    dated = [c for c in columns if c.role == "time" and not c.masked]
    first = [c for c in dated if _words(c) & _stems(_BEGINS) and not _words(c) & _stems(_ENDS)]
    last = [c for c in dated if _words(c) & _stems(_ENDS) and not _words(c) & _stems(_BEGINS)]
    return (first[0], last[0]) if len(first) == len(last) == 1 else None


def told(items: tuple[Item, ...], model: SemanticModel) -> tuple[Item, ...]:
    """ "average duration of voyages" as the days between the two; "took longer than 30 days", "days to close" likewise."""
    done = _until_done(items, model)
    if done is not None:
        return done
    said, items = items, _length_of_stay(items)
    tables = {s.table for i in items for s in i.of("entity")}
    if items is not said and not tables & {t.name for t in model.tables if "stay" in t.synonyms}:
        tables |= {t.name for t in model.tables if "stay" in t.synonyms}
    spans = {t: found for t in sorted(tables) if (found := span_of(model, model.table(t))) is not None}
    if len(spans) != 1:
        return items
    begin, end = next(iter(spans.values()))
    for n, item in enumerate(items):
        if item.kind == "unknown" and len(item.words) == 1 and item.words[0] in _NOUNS and _is_figure(items, n):
            day = replace(item, kind="grain", words=("days",))
            return _behind((*items[:n], day), items[n + 1 :], item, begin, end)
        took = n >= 3 and len(item.words) == 1 and item.words[0] in _UNITS and items[n - 1].kind == "number"
        if took and items[n - 2].kind in _TESTS and _takes(items, n - 3) and not _has_sides(items, n + 1):
            return _behind(items[: n + 1], items[n + 1 :], item, begin, end)
    return items


def _length_of_stay(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """ "length of stay", "days of stay" as the duration of a stay."""
    for n, item in enumerate(items[:-2]):
        if item.words != ("length",) or item.of("value", "entity") or items[n + 1].kind != "of":
            continue
        stay, noun = items[n + 2], replace(item, kind="unknown", words=("duration",), senses=())
        if stay.words in (("stay",), ("stays",)) and stay.of("entity"):
            return (*items[:n], noun, *items[n + 1 :])
        if stay.kind == "in" and stay.words == ("stay", "in"):  # "length of stay in days": no "stay in York"
            return (*items[:n], noun, replace(stay, words=("in",)), *items[n + 3 :])
    return items


def _until_done(items: tuple[Item, ...], model: SemanticModel) -> tuple[Item, ...] | None:
    """ "average days to close a ticket": from the day that its rows begin to the day that they are closed."""
    for n, item in enumerate(items[:-2]):
        timed = item.words[:1] and (item.words[0] in _UNITS or item.words == ("time",)) and len(item.words) == 1
        if not (timed and items[n + 1].kind == "to" and items[n + 1].words == ("to",) and _is_figure(items, n)):
            continue
        named = {s.table for i in items for s in i.of("entity")}
        pairs = [p for t in model.tables if not named or t.name in named for p in _to_the_end(model, t, items[n + 2].words)]
        if len(pairs) == 1:
            unit = item.words[0] if item.words[0] in _UNITS else "days"
            grain = replace(item, kind="grain", words=(unit,), senses=())
            return _behind((*items[:n], grain), items[n + 3 :], item, *pairs[0])
    return None


def _to_the_end(model: SemanticModel, table: TableModel, verb: tuple[str, ...]) -> list[tuple[ColumnModel, ColumnModel]]:
    """The day that rows of a table begin, and the one of what the verb says, where both are plain."""
    dated = [c for c in model.of_table(table.name) if c.role == "time" and not c.masked]
    done = [c for c in dated if any(related(verb[0], w) for w in c.label.split())]
    begun = [c for c in dated if c not in done and _words(c) & _stems(_BEGINS) and not _words(c) & _stems(_ENDS)]
    return [(begun[0], done[0])] if len(begun) == len(done) == 1 else []


def _behind(
    before: tuple[Item, ...], after: tuple[Item, ...], at: Item, begin: ColumnModel, end: ColumnModel
) -> tuple[Item, ...]:
    unit = after[:2] if len(after) > 1 and after[0].kind == "in" and after[1].words[:1] and after[1].words[0] in _UNITS else ()
    kept = [i for i in after if i not in unit]
    cut = next((k for k, i in enumerate(kept) if i.kind == "in" and k + 1 < len(kept) and kept[k + 1].words[:1] and
                kept[k + 1].words[0] in _UNITS), None)
    if cut is not None:
        unit, kept = tuple(kept[cut : cut + 2]), kept[:cut] + kept[cut + 2 :]

    def made(kind: str, column: ColumnModel | None = None) -> Item:
        senses = (Sense("column", column.table, column.name, label=column.label, role="time"),) if column else ()
        return Item(kind, column.label if column else kind, (kind,), senses, start=at.start, end=at.end)

    return (*before, made("between"), made("sense", begin), made("and"), made("sense", end), *unit, *kept)


def _is_figure(items: tuple[Item, ...], n: int) -> bool:
    before = next((i for i in reversed(items[:n]) if i.kind not in ("stop", "mark", "of")), None)
    return before is not None and before.kind in _FUNCTIONS and not _has_sides(items, n + 1)


def _has_sides(items: tuple[Item, ...], n: int) -> bool:
    return any(i.kind in ("between", "from", "after", "before") for i in items[n : n + 3])


def _takes(items: tuple[Item, ...], n: int) -> bool:
    word = items[n].words[0] if n >= 0 and items[n].words else ""
    return word in ("took", "take", "takes", "taken", "lasted", "last", "lasts", "lasting", "taking", "needed")


def _words(column: ColumnModel) -> frozenset[str]:
    return frozenset(stem(w) for w in column.label.split())


def _stems(words: frozenset[str]) -> frozenset[str]:
    return frozenset(stem(w) for w in words)
