"""Why a question is not answered as it stands: words that nothing explains, or words with two good meanings.

Raised inside the parser's rooms and turned into readings by `interpret`; no one else sees them.
"""

from __future__ import annotations

from lexsi_ds.text_to_sql.tagger import Item


class NotUnderstood(Exception):
    """Words that matter and mean nothing here."""

    def __init__(self, words: tuple[str, ...], reason: str) -> None:
        super().__init__(reason)
        self.words, self.reason = words, reason


class Ambiguous(Exception):
    """Words with several good meanings. ``choices`` are what to write in the place of ``item``."""

    def __init__(self, item: Item, choices: tuple[str, ...], why: str) -> None:
        super().__init__(why)
        self.item, self.choices, self.why = item, choices, why
