"""MCP over streamable HTTP at ``/mcp``, in both eras of the protocol. The guard around it has found out who asks.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.routing import Route

from lexsi_ds.application import Application
from lexsi_ds.server.binding import Binding
from lexsi_ds.server.toolbox import TOOLS
from lexsi_ds.services.access import Actor

PATH = "/mcp"
MOST_BODY = 4 * 2**20
_SESSIONS, _IDLE_S = 200, 30 * 60.0


class McpOverHttp:
    """The route, and what must run while it is served."""

    def __init__(self, app: Application, version: str) -> None:
        server = Binding(app, TOOLS, actor_of).server(version)
        self._manager = StreamableHTTPSessionManager(
            server, max_request_body_size=MOST_BODY, max_sessions=_SESSIONS, session_idle_timeout=_IDLE_S
        )

    def running(self) -> AbstractAsyncContextManager[None]:
        """Entered once, around the whole time of serving."""
        return self._manager.run()

    def route(self) -> Route:
        """Where it is served."""
        return Route(PATH, StreamableHTTPASGIApp(self._manager))


def actor_of(ctx: Any) -> Actor:
    """Who sent this request, as the guard found. Each request counts for itself, also within a session."""
    return ctx.request.state.actor
