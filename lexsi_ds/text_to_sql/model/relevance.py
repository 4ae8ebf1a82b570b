"""How much texts have to do with a question: BM25 over folded singular words. Pure functions of words; knows no data set."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from lexsi_ds.knowledge.model import VerifiedQuestion
from lexsi_ds.knowledge.verified_sql import filled_question, filled_sql
from lexsi_ds.knowledge.words import phrase

LITTLE = frozenset(
    phrase(
        "a an the of in on at by for to and or is are was were be been do does did has have had how many much what which who"
        " when where why our we my me us it its this that these those there per each all any show list give tell find get"
        " please number total with without from as than more less most least not no if can could would i you their"
    )
)
_K1, _B = 1.4, 0.6


class Bm25:
    """Documents as bags of words; a document's words may repeat to weigh more."""

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        self._bags = [Counter(d) for d in documents]
        lengths = [sum(b.values()) for b in self._bags]
        mean = sum(lengths) / max(len(lengths), 1) or 1.0
        self._norm = [_K1 * (1 - _B + _B * n / mean) for n in lengths]
        found = Counter(w for b in self._bags for w in b)
        total = len(self._bags)
        self._weight = {w: math.log(1 + (total - n + 0.5) / (n + 0.5)) for w, n in found.items()}

    def scores(self, words: Sequence[str]) -> list[float]:
        """One score a document, in order; 0 where no word that matters is shared."""
        told = set(words) - LITTLE
        return [
            sum(self._weight[w] * bag[w] * (_K1 + 1) / (bag[w] + norm) for w in told if w in bag)
            for bag, norm in zip(self._bags, self._norm, strict=True)
        ]


def similar_questions(question: str, verified: Sequence[VerifiedQuestion], most: int = 3) -> tuple[VerifiedQuestion, ...]:
    """The verified questions that share most with this one, best first, parameters filled in; none that shares nothing."""
    scores = Bm25([phrase(v.question) for v in verified]).scores(phrase(question))
    ranked = sorted(zip(scores, verified, strict=True), key=lambda p: -p[0])
    return tuple(
        v.model_copy(update={"question": filled_question(v), "sql": filled_sql(v), "parameters": ()}) if v.parameters else v
        for score, v in ranked[:most] if score > 0
    )  # fmt: skip
