"""Numbers that a run may cite, and the check of prose against them. A sentence with a number that is in no fact goes.

Must never change a number or a word: it keeps a sentence whole or takes it out whole, and says which it took.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

FactValue = float | int | str
Facts = Mapping[str, FactValue]

_DATE = re.compile(r"(?<![\w-])(\d{4})-(\d{2})(?:-(\d{2}))?(?![\d-])")
_NUMBER = re.compile(
    r"(?<![\w.])(?P<sign>[-−+±]\s?)?(?P<digits>\d{1,3}(?:[,'’\u202f\u2009\u00a0 ]\d{3})+(?!\d)|\d+)(?P<fraction>\.\d+)?"
    r"(?P<exponent>[eE][-+]?\d+)?\s?(?P<scale>%|‰|percentage points?|percent|points?|k\b|thousand\b|m\b|million\b|bn\b|billion\b)?",
)
_SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "bn": 1e9, "billion": 1e9}
_PERCENTS = ("%", "percent", "point", "points", "percentage point", "percentage points")
_COUNT = re.compile(r"(?:^|[.\]])(?:row_count|rows|ranked|apart|n|top_k|distinct|tables|views)(?:$|\.)")
"""Names of facts that count things."""
_SENTENCE_END = re.compile(r"(?<=[.!?])(?:\s+)(?=[^\s\d%]|\d{2,})")


@dataclass(frozen=True)
class Mention:
    """A number as it stands in prose."""

    text: str
    value: float
    decimals: int
    scale: str


@dataclass(frozen=True)
class Checked:
    """Prose with only grounded sentences left, and what was taken out."""

    text: str
    removed: tuple[str, ...]


def mentions(text: str) -> list[Mention]:
    """The numbers of a text, dates left aside; words such as "two" are no numbers here."""
    found = []
    for match in _NUMBER.finditer(_DATE.sub(" ", text)):
        digits = re.sub(r"[,'’\s]", "", match["digits"])
        value = float(digits + (match["fraction"] or "") + (match["exponent"] or ""))
        sign = (match["sign"] or "").strip()
        scale = (match["scale"] or "").lower()
        found.append(
            Mention(match[0].strip(), -value if sign in ("-", "−") else value, len(match["fraction"] or ".") - 1, scale)
        )
    return found


_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_WORTH = {w: i for i, w in enumerate(_SMALL.split())} | {w: 10 * i for i, w in enumerate(_TENS.split(), 2)}
_ONE = "|".join(sorted(_WORTH, key=len, reverse=True))
_WORDED = re.compile(
    rf"\b(?P<words>(?:{_ONE})(?:[- ](?:{_ONE}))?)\s(?P<scale>percent|percentage points?|hundred|thousand|million|billion)\b",
    re.IGNORECASE,
)


def worded(text: str) -> list[Mention]:
    """Numbers written as words with a unit behind them ("ninety-nine percent", "two thousand"); bare words are no numbers."""
    found = []
    for match in _WORDED.finditer(text):
        value = float(sum(_WORTH[w] for w in re.split(r"[- ]", match["words"].lower())))
        scale = match["scale"].lower()
        value, scale = (value * 100, "") if scale == "hundred" else (value, scale)
        found.append(Mention(match[0], value, 0, scale))
    return found


def dates(text: str) -> list[str]:
    """ISO dates and months of a text."""
    return [match[0] for match in _DATE.finditer(text)]


def check(text: str, facts: Facts, *, allow: str = "") -> Checked:
    """Keep the sentences whose every number and date is in ``facts`` (or in ``allow``, such as the question itself)."""
    known = _Known(facts, allow)
    kept_lines, removed = [], []
    for line in text.split("\n"):
        sentences = _SENTENCE_END.split(line)
        kept = [s for s in sentences if known.grounds(s)]
        removed += [s.strip() for s in sentences if not known.grounds(s)]
        if kept or not line.strip():
            kept_lines.append(" ".join(kept))
    return Checked("\n".join(kept_lines).strip(), tuple(removed))


def whole_sentences(text: str) -> str:
    """The beginning of a growing text that holds only whole sentences, as `check` takes them apart."""
    last = max((m.start() for m in _SENTENCE_END.finditer(text)), default=0)
    return text[: max(last, text.rfind("\n") + 1)]


_LIST_FACTS = 1_000
"""Most elements of one list that become facts."""


def facts_of(name: str, value: Any) -> dict[str, FactValue]:
    """A value as facts: numbers and dates as they are, lists and dicts one fact an element."""
    if value is None or isinstance(value, bool):
        return {}
    if getattr(value, "ndim", 0):  # an array, as a list column comes
        value = value[:_LIST_FACTS].tolist()
    if isinstance(value, Mapping):
        return {k: v for key, item in value.items() for k, v in facts_of(f"{name}.{key}", item).items()}
    if isinstance(value, (list, tuple)):
        return {k: v for i, item in enumerate(value[:_LIST_FACTS]) for k, v in facts_of(f"{name}[{i}]", item).items()}
    if isinstance(value, (datetime, date)):
        return {name: value.isoformat()[:10]}
    if isinstance(value, Decimal):
        return {name: float(value)}
    if hasattr(value, "item") and not isinstance(value, str):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {}
    return {name: value} if isinstance(value, (int, float, str)) else {name: str(value)}


class _Known:
    def __init__(self, facts: Facts, allow: str) -> None:
        self._values: list[float] = [float(v) for v in facts.values() if isinstance(v, (int, float))]
        self._counts = {float(v) for k, v in facts.items() if isinstance(v, (int, float)) and _COUNT.search(k)}
        self._others = {float(v) for k, v in facts.items() if isinstance(v, (int, float)) and not _COUNT.search(k)}
        texts = [v for v in facts.values() if isinstance(v, str)]
        self._dates = {d for t in [*texts, allow] for d in dates(t)}
        self._values += [m.value for t in [*texts, allow] for m in mentions(t)]
        self._values += [float(part) for d in self._dates for part in d.split("-")]
        self._words = set(_tokens([*texts, allow]))

    def grounds(self, sentence: str) -> bool:
        """Whether every number and date of the sentence is known, those written as words with a unit too."""
        if any(not self._has(m) for m in worded(sentence)):
            return False
        if any(d not in self._dates and not any(k.startswith(d) for k in self._dates) for d in dates(sentence)):
            return False
        return all(self._has(m) for m in mentions(sentence))

    def _has(self, mention: Mention) -> bool:
        if mention.text in self._words:
            return True
        values = self._values
        if mention.scale in _PERCENTS:  # a count of rows is no share of them
            values = [v for v in values if v not in self._counts or v in self._others]
        return any(_same(mention, value) for value in values)


def _same(mention: Mention, fact: float) -> bool:
    """Whether a printed number is this fact, rounded as it was printed. Signs may be dropped in prose ("fell by 3")."""
    targets = [fact, abs(fact)]
    if mention.scale in _PERCENTS:
        targets += [fact * 100, abs(fact) * 100]
    elif mention.scale == "‰":
        targets += [fact * 1000]
    elif mention.scale in _SCALES:
        targets = [fact / _SCALES[mention.scale], abs(fact) / _SCALES[mention.scale]]
    half = 0.5 * 10.0**-mention.decimals * (1 + 1e-9)
    return (
        any(abs(mention.value - target) <= half for target in targets)
        if mention.decimals or mention.scale
        else any(
            math.isclose(mention.value, t, abs_tol=1e-9) or (abs(t) >= 100 and mention.value == round(t))
            for t in targets
        )
    )


def _tokens(texts: Iterable[str]) -> list[str]:
    return [token for text in texts for token in re.findall(r"[\w.\-−%]+", text)]
