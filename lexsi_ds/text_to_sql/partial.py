"""What of a question was understood when some of it was not: a half-filled query, and columns that may stand in for a word.

It only ever proposes: nothing it makes is run before a person has chosen or finished it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from lexsi_ds.text_to_sql.analytic import glossed
from lexsi_ds.text_to_sql.doubt import Ambiguous, NotUnderstood
from lexsi_ds.text_to_sql.draft import Draft
from lexsi_ds.text_to_sql.lexicon import Lexicon
from lexsi_ds.text_to_sql.parser import parse
from lexsi_ds.text_to_sql.resolver import resolve
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.tagger import Item, tag

MOST_OPTIONS = 6
_FUNCTIONS = frozenset({"average", "sum", "median", "maximum", "minimum"})


def understood(question: str, names: Names, lexicon: Lexicon) -> dict | None:
    """The logical query, as JSON, of the words that were understood; None when they make none."""
    tagged = glossed(tag(question, lexicon, names.handle.today))
    kept = [replace(i, kind="stop") if i.kind == "unknown" else i for i in tagged.items]
    for items in (kept, _without_dangling(kept)):
        draft = parse(tuple(items))
        draft.left = []
        for attempt in (draft, _bare(draft)):
            try:
                return resolve(attempt, names, lexicon.values).query.model_dump(mode="json")
            except (NotUnderstood, Ambiguous):
                continue
    return None


def _without_dangling(items: list[Item]) -> list[Item]:
    """The items without function words that have lost what they stood before: "by", "with" at the end."""
    kept = list(items)
    while kept and kept[-1].kind in ("by", "each", "with", "without", "of", "in", "and", "stop", "mark", "to", "from"):
        kept.pop()
    return kept


def _bare(draft: Draft) -> Draft:
    """Only what is counted or measured, and the groups."""
    return Draft(measures=list(draft.measures), entities=draft.entities[:1], groups=list(draft.groups), pending=list(draft.pending))


@dataclass(frozen=True)
class StandIn:
    """A question with a column's name in the place of the unknown word."""

    text: str
    table: str
    column: str


def stand_ins(question: str, names: Names, lexicon: Lexicon, doubt: NotUnderstood) -> Iterator[tuple[str, StandIn]]:
    """Columns that may be meant by the one unknown word where a column must stand: "by segment", "average exposure"."""
    tagged = glossed(tag(question, lexicon, names.handle.today))
    unknown = [i for i in tagged.items if i.kind == "unknown"]
    if len(unknown) != 1 or not doubt.words or unknown[0].text not in doubt.words or not unknown[0].words[0].isalpha():
        return
    word = unknown[0]
    said = [i for i in tagged.items if i.kind not in ("stop", "mark")]
    at = said.index(word)
    before = said[at - 1] if at else None
    if before is None:
        return
    led = said[at - 2] if at > 1 else None
    grouping = before.kind in ("by", "each") and (led is None or not led.of("verb", "hint", "deal"))
    measuring = before.kind in _FUNCTIONS or (before.kind == "of" and at > 1 and said[at - 2].kind in _FUNCTIONS)
    if not (grouping or measuring):
        return
    tables = {s.table for i in said for s in i.senses if s.table and s.kind in ("entity", "column", "value", "metric", "segment")}
    roles = ("category", "flag") if grouping else ("measure",)
    many = len(names.model.tables) > 1
    for column in names.model.columns:
        if column.role not in roles or column.masked or (tables and column.table not in tables and measuring):
            continue
        noun = names.model.table(column.table).label
        label = f"{noun} {column.label}" if many and noun not in column.label else column.label
        text = question[: word.start] + label + question[word.end :]
        yield word.text, StandIn(text, column.table, column.name)

