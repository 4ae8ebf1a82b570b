"""What tokens cost. The table is a person's own: prices change, and no price is invented for a model that is not in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Price:
    """Price of a million tokens, in whatever currency the table is kept in."""

    prompt: float
    completion: float

    def of(self, usage: Mapping[str, int]) -> float:
        """What this usage costs."""
        read, written = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
        return (read * self.prompt + written * self.completion) / 1e6


def price_of(table: Mapping[str, Any], model: str) -> Price | None:
    """The price of a model; None when the table does not have it."""
    found = table.get(model)
    if not isinstance(found, Mapping):
        return None
    try:
        return Price(float(found["prompt"]), float(found["completion"]))
    except (KeyError, TypeError, ValueError):
        return None
