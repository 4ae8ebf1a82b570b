"""What one question may cost when a language model writes SQL for it, and how much of that is used up."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

_LETTERS_A_TOKEN = 3.2
"""SQL and identifiers take more tokens than prose does."""


@dataclass(frozen=True)
class Budget:
    """The most that is spent on one question."""

    candidates: int = 3
    """Drafts that are asked for; fewer when they agree early."""
    repairs: int = 2
    """Times that one draft is sent back with what is wrong with it."""
    tokens: int = 40_000
    """Tokens read and written by the endpoint."""
    seconds: float = 120
    schema_tokens: int = 3_000
    """Size of the description of tables that a prompt holds."""
    temperature: float = 0.6
    """Of the second draft on; the first is written at 0."""
    reply_tokens: int = 900
    """Longest reply."""
    sql_seconds: float = 20
    """Longest time that a draft may run."""


def tokens_of(text: str) -> int:
    """About how many tokens a text is."""
    return int(len(text) / _LETTERS_A_TOKEN) + 1


@dataclass
class Spending:
    """What has been used of a budget since this was made."""

    budget: Budget
    tokens: int = 0
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def left_s(self) -> float:
        """Seconds that are left."""
        return self.budget.seconds - self.seconds

    def affords(self, prompt: str) -> bool:
        """Whether one more reply to this prompt fits, in time and tokens."""
        return self.left_s > 0 and self.tokens + tokens_of(prompt) + self.budget.reply_tokens <= self.budget.tokens
