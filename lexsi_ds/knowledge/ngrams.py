"""Finds texts by parts of their spelling among very many: which of a million names may "Jhon Smyth" be?

Three-letter pieces of every text point to the texts that hold them, in flat arrays; the best candidates are then compared
letter by letter. Bounded in texts, letters and time. Numbers and codes match only exactly. It keeps no text of a masked column.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexsi_ds.knowledge.words import allowed_edits, distance, fold

MOST_TEXTS = 1_200_000
MOST_LETTERS = 48_000_000
_LONGEST = 60
"""Letters of a text that count; what is longer is prose, not a name."""
_BUCKETS = 1 << 16
_CANDIDATES = 200
_CHUNK = 100_000


class NgramIndex:
    """The pieces of many texts. Made once, read from any thread."""

    def __init__(self, texts: Sequence[str]) -> None:
        kept = [t for t in texts[:MOST_TEXTS] if t]
        folded = [(t.lower() if t.isascii() else fold(t))[:_LONGEST] for t in kept]
        total, cut = 0, len(folded)
        for i, text in enumerate(folded):
            total += len(text) + 2
            if total > MOST_LETTERS:
                cut = i
                break
        self.texts, self._folded = kept[:cut], folded[:cut]
        self.whole = cut == len(texts)
        """Whether every text is in it."""
        self._starts, self._owners = _postings(self._folded)

    def find(self, text: str, most: int = 8) -> list[tuple[str, bool]]:
        """Texts that are spelt like this, best first, each with whether the spelling is the same but for case and accents.

        Of words that are spelt wrongly, only those of five letters and more are mended.
        """
        wanted = " ".join(fold(text).split())[:_LONGEST]
        if not wanted or not self._folded:
            return []
        scored = []
        for i in self._likely(wanted):
            there = self._folded[i]
            if there == wanted:
                scored.append((0, there, i))
            elif (far := _edits(wanted, there)) is not None:
                scored.append((far, there, i))
        return [(self.texts[i], far == 0) for far, _, i in sorted(scored)[:most]]

    def _likely(self, wanted: str) -> list[int]:
        pieces = np.unique(_codes(np.frombuffer(_padded(wanted), dtype=np.uint8)))
        lists = [self._owners[self._starts[c] : self._starts[c + 1]] for c in pieces]
        owners = np.concatenate(lists) if lists else np.empty(0, dtype=np.int32)
        if not len(owners):
            return []
        counts = np.bincount(owners, minlength=len(self._folded))
        least = max(1, len(pieces) // 2 - 4)
        good = np.flatnonzero(counts >= least)
        ranked = good[np.argsort(-counts[good], kind="stable")][:_CANDIDATES]
        return [int(i) for i in ranked]


def _padded(text: str) -> bytes:
    return b"\x01" + text.encode("utf-8", "replace") + b"\x01"


def _codes(letters: np.ndarray) -> np.ndarray:
    """The bucket of every three neighbouring letters."""
    wide = letters.astype(np.uint32)
    return ((wide[:-2] * 40503 + wide[1:-1] * 2654435 + wide[2:] * 97) & (_BUCKETS - 1)).astype(np.uint16)


def _postings(folded: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Where each bucket's texts begin, and the texts of all buckets one after another.

    Of a text every second piece is kept: a query looks for all of its own, so half of them are enough to be found.
    """
    codes, owners = [], []
    for start in range(0, len(folded), _CHUNK):
        parts = [_padded(t) for t in folded[start : start + _CHUNK]]
        letters = np.frombuffer(b"".join(parts), dtype=np.uint8)
        lengths = np.fromiter((len(p) for p in parts), dtype=np.int32, count=len(parts))
        owner = np.repeat(np.arange(start, start + len(parts), dtype=np.int32), lengths)
        first = np.repeat(np.cumsum(lengths) - lengths, lengths)
        kept = (owner[:-2] == owner[2:]) & ((np.arange(len(letters) - 2) - first[:-2]) % 2 == 0)
        codes.append(_codes(letters)[kept])
        owners.append(owner[:-2][kept])
    every = np.concatenate(codes) if codes else np.empty(0, dtype=np.uint16)
    order = np.argsort(every, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(every, minlength=_BUCKETS))]).astype(np.int64)
    return starts, (np.concatenate(owners) if owners else np.empty(0, dtype=np.int32))[order]


def _edits(wanted: str, there: str) -> int | None:
    """Edits between two texts of as many words, when each word may be misspelt that much; None when not."""
    ours, theirs = wanted.split(), there.split()
    if len(ours) != len(theirs):
        return None
    total = 0
    for a, b in zip(ours, theirs, strict=True):
        if a == b:
            continue
        most = min(allowed_edits(a), allowed_edits(b))
        far = distance(a, b, most) if most else 1
        if far > most:
            return None
        total += far
    return total
