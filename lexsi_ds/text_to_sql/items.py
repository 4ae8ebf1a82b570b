"""The pieces of a tagged question: a stretch of it and what it is."""

from __future__ import annotations

from dataclasses import dataclass

from lexsi_ds.text_to_sql.dates import Span
from lexsi_ds.text_to_sql.senses import Sense
from lexsi_ds.text_to_sql.tokens import Token


@dataclass(frozen=True)
class Item:
    """A stretch of the question. ``kind`` is a cue's kind, or "sense", "number", "date", "mark", "stop", "unknown"."""

    kind: str
    text: str
    words: tuple[str, ...] = ()
    senses: tuple[Sense, ...] = ()
    value: float | None = None
    span: Span | None = None
    cue: str | None = None
    """Of a sense that is also a function word ("total"): its cue."""
    start: int = 0
    end: int = 0
    article: bool = False
    """Whether "a" or "any" stands before it."""
    theirs: bool = False
    """Whether "its" or "their" stands before it."""
    owner: Item | None = None
    """Whose it is, where that is said before it: "the copy's branch"."""
    toward: str = ""
    """ "from" or "to", where the data tells the two apart."""

    def of(self, *kinds: str) -> tuple[Sense, ...]:
        """Its senses of these kinds."""
        return tuple(s for s in self.senses if s.kind in kinds)


@dataclass(frozen=True)
class Tagged:
    """A tagged question, with the spellings that were repaired."""

    items: tuple[Item, ...]
    repairs: tuple[tuple[str, str], ...] = ()

    @property
    def unknown(self) -> tuple[str, ...]:
        """Words that nothing explains."""
        return tuple(i.text for i in self.items if i.kind == "unknown")


def make_item(
    kind: str,
    tokens: tuple[Token, ...],
    i: int,
    stop: int,
    *,
    senses: tuple[Sense, ...] = (),
    cue: str | None = None,
    value: float | None = None,
    span: Span | None = None,
) -> Item:
    """The item of the tokens from ``i`` to ``stop``."""
    text = " ".join(t.text for t in tokens[i:stop])
    return Item(
        kind,
        text,
        tuple(t.word for t in tokens[i:stop]),
        senses,
        value,
        span,
        cue,
        tokens[i].start,
        tokens[stop - 1].end,
    )
