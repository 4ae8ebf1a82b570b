"""The function words of a question, read once from ``cues.yaml``: what asks for a count, a grouping, a filter, a prediction.

Analytic and predictive questions have tables of their own: "will" and "risk" mean nothing in a count.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BOOK: dict[str, Any] = yaml.load(Path(__file__).with_name("cues.yaml").read_text(encoding="utf-8"), Loader=_LOADER)

Phrases = dict[tuple[str, ...], str]


def _phrases(entries: dict[str, list[str]]) -> Phrases:
    return {tuple(text.split()): kind for kind, texts in entries.items() for text in texts}


CUES: Phrases = _phrases(_BOOK["analytic"])
"""Every cue of a counting question by its words."""
PREDICT_CUES: Phrases = _phrases(_BOOK["predict"])
"""Every cue of a prediction question by its words."""
STRONG, WEAK = "strong", "weak"
LONGEST_CUE = max(len(words) for words in (*CUES, *PREDICT_CUES))
CUE_WORDS = frozenset(
    w for words, kind in CUES.items() for w in words if w.isalpha() and len(w) > 4 and kind != "polite"
)
"""Words of cues that a misspelling may mean."""
MISSPELT: dict[str, str] = _BOOK["misspelt"]
"""Short words of grammar as they are often misspelt: too short for repair by distance."""
STOP_WORDS = frozenset(_BOOK["stop"])
PREDICT_WORDS = frozenset(w for words in PREDICT_CUES for w in words if w.isalpha() and len(w) > 4)
"""Words of a prediction's cues that a misspelling may mean."""
NEVER_STOP = frozenset(
    {"not", "no", "without", "except", "never", "than", "more", "less", "each", "last", "next", "every"}
)
EXPLAIN_LEADS: tuple[str, ...] = tuple(_BOOK["explain"]["lead"])
EXPLAIN_WORDS = frozenset(_BOOK["explain"]["around"])
NEXT_WORDS = frozenset(_BOOK["next"])

GRAINS = {
    "year": "year", "yearly": "year", "annually": "year", "annual": "year", "years": "year", "calendar": "year",
    "month": "month", "monthly": "month", "months": "month", "quarter": "quarter", "quarterly": "quarter", "quarters": "quarter",
    "decade": "decade", "decades": "decade", "week": "week", "weekly": "week", "weeks": "week", "day": "day", "daily": "day",
    "days": "day", "weekday": "weekday",
}  # fmt: skip
