"""Secrets taken out of texts: a key never stands in a log, an error, a ledger or on a screen."""

from __future__ import annotations

import re
from collections.abc import Iterable

GONE = "(hidden)"
_LIKE_KEYS = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|key)-[\w-]{8,}|\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*|(?<=[Bb]earer )\S+|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without the secrets, and without what looks like a key, a token or a password in an address."""
    for secret in sorted({s for s in secrets if len(s) >= 4}, key=len, reverse=True):
        text = text.replace(secret, GONE)
    return _LIKE_KEYS.sub(GONE, text)
