"""Takes secrets out of a text: given ones in every spelling, and whatever looks like one.

The last wall before a log or a screen. Must never: be the only one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

GONE = "…"
_SHAPES = (
    re.compile(r"(?i)\b(password|passwd|pwd|secret|token|session_token|key_id|sslpassword)\s*[=:]\s*('(?:[^'\\]|\\.|'')*'|\"[^\"]*\"|\S+)"),
    re.compile(r"(?i)((?:x-amz-|aws)[\w-]*(?:signature|credential|token|accesskeyid)[\w-]*)=[^&\s\"']+"),
    re.compile(r"(?i)\b(signature|credential|authorization)\s*[=:]\s*\S[^\n]*"),
)
_USER_INFO = re.compile(r"(?i)([a-z][a-z0-9+.-]*://)[^/\s@]+@")
_AWS_KEY = re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{12,}\b")
_SHORTEST = 3


def scrub(text: str, secrets: Iterable[str] = ()) -> str:
    """``text`` without ``secrets`` and without what looks like one."""
    for secret in sorted({s for s in secrets if len(s) >= _SHORTEST}, key=len, reverse=True):
        for form in (secret, secret.replace("'", "''"), secret.replace("'", "\\'"), quote(secret, safe=""), quote_plus(secret)):
            text = text.replace(form, GONE)
    text = _USER_INFO.sub(rf"\1{GONE}@", text)
    for shape in _SHAPES:
        text = shape.sub(rf"\1={GONE}", text)
    return _AWS_KEY.sub(GONE, text)
