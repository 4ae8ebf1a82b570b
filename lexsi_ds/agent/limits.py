"""Where a run ends whatever the planner wants, and how far it has come."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from lexsi_ds.llm.prices import Price


@dataclass(frozen=True)
class RunLimits:
    """The most that one run may use. Reaching one ends it with ``limit_reached`` and what is known by then."""

    max_steps: int = 12
    """Planner decisions; then one final answer is asked for."""
    max_failures: int = 3
    """Refused or failed calls in a row that end the run."""
    max_tool_calls: int = 40
    """Calls of tools, refused ones too."""
    max_tokens: int = 400_000
    """Tokens that the endpoint reads and writes."""
    max_seconds: float = 3_600
    """Seconds from the start; what is at work then is stopped."""
    max_cost: float | None = None
    """Cost by the price table; no limit without a price."""


@dataclass
class Meter:
    """What a run has used since this was made."""

    limits: RunLimits
    price: Price | None = None
    started: float = field(default_factory=time.monotonic)

    def reached(self, calls: int, usage: Mapping[str, int]) -> str | None:
        """The limit that is reached, in words; None while all is well."""
        limits = self.limits
        tokens = usage.get("prompt_tokens", 0) + usage.get("completion_tokens", 0)
        if calls >= limits.max_tool_calls:
            return f"{limits.max_tool_calls} tool calls (LEXSI_DS_MAX_TOOL_CALLS)"
        if tokens >= limits.max_tokens:
            return f"{limits.max_tokens:,} tokens (LEXSI_DS_MAX_TOKENS)"
        if self.seconds >= limits.max_seconds:
            return self.time_words
        cost = self.cost(usage)
        if limits.max_cost is not None and cost is not None and cost >= limits.max_cost:
            return f"a cost of {limits.max_cost:g} (LEXSI_DS_MAX_COST)"
        return None

    @property
    def time_words(self) -> str:
        """The limit of time in words."""
        return f"{self.limits.max_seconds:g} seconds (LEXSI_DS_MAX_SECONDS)"

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    def cost(self, usage: Mapping[str, int]) -> float | None:
        """What the tokens cost; None without a price or without tokens."""
        return round(self.price.of(usage), 6) if self.price is not None and usage.get("requests") else None
