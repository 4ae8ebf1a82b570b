"""MCP over stdin and stdout, for a client that starts this program: one person, who may read unless ``--write`` says more.

Must never: let anything but the protocol reach stdout; what prints goes to stderr, C libraries too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import anyio
from mcp.server.stdio import stdio_server

from lexsi_ds.application import Application
from lexsi_ds.server.binding import Binding
from lexsi_ds.server.toolbox import TOOLS
from lexsi_ds.server.web import program_version
from lexsi_ds.services.access import Actor, Right

READING: frozenset[Right] = frozenset({"datasets:read", "models:read", "findings:read", "chats:read", "chats:write"})


def serve_stdio(app: Application, *, write: bool) -> int:
    """Serve until stdin closes."""
    person = app.person()
    actor = person if write else replace(person, rights=person.rights & READING)
    anyio.run(_serve, app, actor)
    return 0


async def _serve(app: Application, actor: Actor) -> None:
    def actor_of(_: Any) -> Actor:
        return actor

    server = Binding(app, TOOLS, actor_of).server(program_version())
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
