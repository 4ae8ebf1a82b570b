"""``python -m lexsi_ds serve`` and ``mcp``: the doors for programs. Must never: load the servers for a command that needs none.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import IO, Any

from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.jobs.cancel import Cancel

HandleOf = Callable[[str, Application, Cancel], DatasetHandle]


def add(commands: Any, handle_of: HandleOf) -> None:
    """Add both commands. ``handle_of`` reads a name or path as a data set."""
    serve = commands.add_parser("serve", help="serve the chat API and MCP over HTTP")
    serve.add_argument("--host", help="address to listen on (default: LEXSI_DS_SERVE_HOST, 127.0.0.1); others demand a token")
    serve.add_argument("--port", type=int, help="port, 0 for a free one (default: LEXSI_DS_SERVE_PORT, 8502)")
    serve.add_argument("--dataset", help="make sure that this data is there first: demo, a folder, a file, or a source's id")
    serve.set_defaults(command=partial(_serve, handle_of=handle_of))
    mcp = commands.add_parser("mcp", help="serve MCP over stdin and stdout, for a client that starts this program")
    mcp.add_argument("--write", action="store_true", help="allow tools that change something (default: read and ask only)")
    mcp.add_argument("--dataset", help="make sure that this data is there first: demo, a folder, a file, or a source's id")
    mcp.set_defaults(command=partial(_mcp, handle_of=handle_of))


def _serve(args: argparse.Namespace, app: Application, out: IO[str], cancel: Cancel, handle_of: HandleOf) -> int:
    from lexsi_ds.server.serve import Address, serve

    _prepare(args, app, cancel, handle_of)
    host = args.host if args.host is not None else app.settings.serve_host
    return serve(app, Address(host, args.port if args.port is not None else app.settings.serve_port))


def _mcp(args: argparse.Namespace, app: Application, out: IO[str], cancel: Cancel, handle_of: HandleOf) -> int:
    from lexsi_ds.server.mcp_stdio import serve_stdio

    _prepare(args, app, cancel, handle_of)
    return serve_stdio(app, write=args.write)


def _prepare(args: argparse.Namespace, app: Application, cancel: Cancel, handle_of: HandleOf) -> None:
    if args.dataset:
        app.prefer_source(handle_of(args.dataset, app, cancel).source_id)
