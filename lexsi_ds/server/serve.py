"""``python -m lexsi_ds serve``: the web app on an address. Loopback by default; any other address demands a token.
"""

from __future__ import annotations

import logging
import signal
import socket
import sys
from dataclasses import dataclass
from ipaddress import ip_address

import uvicorn
from starlette.types import ASGIApp

from lexsi_ds.application import Application
from lexsi_ds.errors import BadInput
from lexsi_ds.server.guard import LOOPBACK_NAMES, Doors
from lexsi_ds.server.identity import Identity
from lexsi_ds.server.web import web_app

log = logging.getLogger(__name__)
_DRAIN_S = 3


@dataclass(frozen=True)
class Address:
    """Where to listen."""

    host: str
    port: int

    @property
    def loopback(self) -> bool:
        """Whether only this machine reaches it."""
        if self.host.casefold() in LOOPBACK_NAMES:
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def url(self) -> str:
        """As a browser writes it."""
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"


def serve(app: Application, address: Address) -> int:
    """Serve until a signal ends it. Raises BadInput for an address that cannot be taken or must not be open."""
    settings = app.settings
    if not address.loopback and settings.serve_token is None and not _has_keys(app):
        raise BadInput(
            f"Others can reach {address.host}, so requests need a token.", where="--host",
            to_do="Set LEXSI_DS_SERVE_TOKEN to a random text of at least 24 characters, make an API key in the app, or leave the "
            "address at 127.0.0.1.",
        )
    listening = _listen(address)
    taken = Address(address.host, listening.getsockname()[1])
    identity = identity_of(app, taken)
    doors = Doors.of(taken.host, settings.serve_hosts.split(","), settings.serve_origins.split(","))
    signal.signal(signal.SIGTERM, lambda *_: None)  # uvicorn drains first, then raises it again
    signal.signal(signal.SIGINT, lambda *_: None)
    sys.stderr.write(f"Serving the chat API (/api/chat) and MCP (/mcp) on {taken.url}. Ctrl+C ends it.\n")
    with listening:
        uvicorn.Server(config_of(web_app(app, identity, doors))).run(sockets=[listening])
    return 0


def config_of(app: ASGIApp) -> uvicorn.Config:
    """How it is served. h11 takes the spaces around a header's value off, as the protocol wants; the quicker parser does not."""
    return uvicorn.Config(
        app, http="h11", ws="none", lifespan="on", log_config=None, access_log=False, server_header=False, proxy_headers=False,
        timeout_graceful_shutdown=_DRAIN_S,
    )


def identity_of(app: Application, address: Address) -> Identity:
    """Who may come in at this address."""
    token = app.settings.serve_token
    return Identity(app.person(), token, app.api_keys.actor, f"{address.url}/mcp", token is not None or not address.loopback)


def _has_keys(app: Application) -> bool:
    """Whether there is an API key that opens something."""
    return any(not key.ended for key in app.api_keys.list(app.person(), everyone=True))


def _listen(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        return socket.create_server((address.host, address.port), family=family, backlog=128)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BadInput(f"{address.host}:{address.port} cannot be listened on ({reason}).", where="--host, --port",
                       to_do="Choose another port, or end what holds it.") from error
