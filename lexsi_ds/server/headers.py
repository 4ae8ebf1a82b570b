"""Security headers on every answer of the app, and what a browser may load and run there.

Streamlit's page holds inline scripts of its own; each is let in by the digest of what the page at hand holds, never by a word for
all. Must never: allow another host.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
HEADERS: Mapping[str, str] = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}


def digests(page: str) -> tuple[str, ...]:
    """The sources of a policy that let in the inline scripts of this page."""
    found = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in _INLINE.findall(page))
    return tuple(f"'sha256-{digest}'" for digest in found)


def policy(page: str, scripts: Iterable[str] = ()) -> str:
    """The content-security policy for an app whose first page is this; ``scripts`` are further sources that it needs.

    Styles may be inline (the framework writes them), scripts may not; nothing comes from, goes to, or frames another host.
    """
    rules = {
        "default-src": "'self'",
        "script-src": " ".join(("'self'", *digests(page), *scripts)),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "media-src": "'self' data: blob:",
        "connect-src": "'self'",
        "worker-src": "'self' blob:",
        "frame-src": "'self'",
        "frame-ancestors": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "object-src": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


class SecurityHeaders:
    """ASGI middleware that adds them to every answer, also to those of a failure."""

    def __init__(self, app: ASGIApp, content_policy: str) -> None:
        self._app = app
        self._headers = {"content-security-policy": content_policy, **HEADERS}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and dress what comes back."""

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers[name] = value
            await send(message)

        await self._app(scope, receive, dressed)
