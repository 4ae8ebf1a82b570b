"""Everything that is served over HTTP, as one ASGI app: health, the chat API, MCP; all behind the guard.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from importlib.metadata import PackageNotFoundError, version

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from lexsi_ds.application import Application
from lexsi_ds.server.chat_api import ChatApi
from lexsi_ds.server.clients import Clients
from lexsi_ds.server.failures import failure, response
from lexsi_ds.server.guard import Doors, Guard
from lexsi_ds.server.identity import Identity
from lexsi_ds.server.mcp_http import McpOverHttp
from lexsi_ds.server.metrics import Metrics


def program_version() -> str:
    """The installed version; the one of this checkout where nothing is installed."""
    try:
        return version("lexsi-ds")
    except PackageNotFoundError:
        return "0.1.0"


def web_app(app: Application, identity: Identity, doors: Doors) -> ASGIApp:
    """The server, ready for uvicorn."""
    clients = Clients(app.settings.detached_run_s, app.settings.serve_max_runs)
    mcp = McpOverHttp(app, program_version())

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        app.warm()
        async with mcp.running(), anyio.create_task_group() as tasks:
            tasks.start_soon(clients.watch, lambda run_id: run_id in app.runs.live())
            yield
            tasks.cancel_scope.cancel()

    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok", "version": program_version()}, headers={"cache-control": "no-store"})

    routes = [Route("/health", health, methods=["GET"]), *ChatApi(app, clients).routes(), mcp.route()]
    served = Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: _refused, 500: _broken})
    return Guard(Metrics(served, app.settings.metrics), doors, identity)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        return response(405, failure("wrong_method", f"{request.method} is not for this address.", to_do=f"Use {allowed}."),
                        allow=allowed)
    body = failure("no_such_address", "There is nothing at this address.", to_do="docs/chat_api.md lists what there is.")
    return response(error.status_code, body)


async def _broken(_: Request, __: Exception) -> Response:
    return response(500, failure("internal", "Something went wrong.", to_do="The server's log has the details."))
