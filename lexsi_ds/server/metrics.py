"""`/metrics` for Prometheus, and the cap on browser tabs: what an operator of the app sees and sets.

Must never: answer a request that came through a proxy unless that was set; count by anything that a person typed.
"""

from __future__ import annotations

import ipaddress
from typing import Literal

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lexsi_ds.jobs import measures

Reach = Literal["off", "loopback", "all"]
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
_STREAM = "/_stcore/stream"
FULL = (
    "<!doctype html><html lang=en><title>Lexsi DS is full</title><main><h1>Lexsi DS is full</h1>"
    "<p>{count} tabs are open here, as many as this server takes. Nothing of yours is lost: close a tab that you do not need, "
    "or try again in a minute.</p></main></html>"
)


class Metrics:
    """ASGI middleware that counts, and answers `/metrics` to whom it may."""

    def __init__(self, app: ASGIApp, reach: Reach) -> None:
        self._app = app
        self._reach: Reach = reach

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the answer of every request by its status."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["path"] == "/metrics":
            await figures(scope, self._reach)(scope, receive, send)
            return

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                measures.REQUESTS.labels(str(message["status"])).inc()
            await send(message)

        await self._app(scope, receive, counted)


def figures(scope: Scope, reach: Reach) -> Response:
    """The figures, or the answer of an address where there is nothing."""
    if reach == "off" or (reach == "loopback" and not _here(scope)):
        return PlainTextResponse("There is nothing at this address.\n", 404)
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST, headers={"cache-control": "no-store"})


def _here(scope: Scope) -> bool:
    """Whether the request comes from this machine itself, not through a proxy on it."""
    headers, client = Headers(scope=scope), scope.get("client")
    if client is None or any(name in headers for name in _FORWARDED):
        return False
    try:
        return ipaddress.ip_address(client[0]).is_loopback
    except ValueError:
        return False


class SessionCap:
    """ASGI middleware: at most ``most`` browser tabs at once; a further one is told so in words instead of waiting forever."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app, self._most, self._open = app, most, 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the stream of each tab while it is open."""
        if scope["type"] == "websocket" and scope["path"].endswith(_STREAM):
            if self._open >= self._most:
                measures.REFUSED.labels("sessions").inc()
                await send({"type": "websocket.close", "code": 1013, "reason": "full"})
                return
            await self._streamed(scope, receive, send)
        elif scope["type"] == "http" and self._open >= self._most and _asks_for_page(scope):
            measures.REFUSED.labels("sessions").inc()
            page = FULL.format(count=self._open)
            await Response(page, 503, {"retry-after": "60", "cache-control": "no-store"}, "text/html")(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _streamed(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._open += 1
        measures.SESSIONS.set(self._open)
        try:
            await self._app(scope, receive, send)
        finally:
            self._open -= 1
            measures.SESSIONS.set(self._open)


def _asks_for_page(scope: Scope) -> bool:
    """Whether a person opens a page, which would then ask for a stream."""
    return scope["method"] == "GET" and "text/html" in Headers(scope=scope).get("accept", "")
