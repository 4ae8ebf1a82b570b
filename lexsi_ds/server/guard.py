"""What every HTTP request passes first: Host and Origin, then who asks.

A page of another site can make a browser send requests here, and a name that is turned to this address makes them look local;
so only known hosts and origins get in. Must never: let a request through whose Host it cannot read.
"""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import anyio.to_thread
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from lexsi_ds.errors import LexsiError
from lexsi_ds.server.failures import failure, failure_of, response, status_of
from lexsi_ds.server.identity import Identity, bearer_of

log = logging.getLogger(__name__)
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
OPEN_PATHS = frozenset({"/health"})


@dataclass(frozen=True)
class Doors:
    """The names under which the server is reached, and the origins of pages that may call it."""

    hosts: frozenset[str]
    origins: frozenset[str]
    any_address: bool
    """Listening on all addresses: any literal address is a name of this machine (a literal cannot be turned elsewhere)."""

    @classmethod
    def of(cls, bound: str, hosts: Sequence[str], origins: Sequence[str]) -> Doors:
        """For the address that is listened on."""
        known = LOOPBACK_NAMES | {h.strip().casefold() for h in hosts if h.strip()} | {bound.casefold()}
        return cls(
            frozenset(known), frozenset(o.strip().rstrip("/").casefold() for o in origins if o.strip()),
            bound in ("0.0.0.0", "::"),
        )

    def host_fits(self, header: str) -> bool:
        """Whether a Host header names this server."""
        name = _host_name(header)
        return name is not None and (name in self.hosts or (self.any_address and _is_address(name)))

    def origin_fits(self, origin: str, host: str) -> bool:
        """Whether a page of this origin may call: its own pages, and those that are named."""
        if origin.casefold() in self.origins:
            return True
        parts = urlsplit(origin)
        return parts.scheme in ("http", "https") and self.host_fits(parts.netloc) and _same_place(parts.netloc, host)


class Guard:
    """ASGI middleware around everything."""

    def __init__(self, app: ASGIApp, doors: Doors, identity: Identity) -> None:
        self._app, self._doors, self._identity = app, doors, identity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on with ``scope["state"]["actor"]``."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # no websockets here
            return
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if len(headers.getlist("host")) != 1 or not self._doors.host_fits(host):
            body = failure("unknown_host", "This server is not reached under that name.",
                           to_do="Use its address, or name the host in LEXSI_DS_SERVE_HOSTS.")
            await response(421, body)(scope, receive, send)
            return
        if origin is not None and not self._doors.origin_fits(origin, host):
            body = failure("unknown_origin", "Pages of that origin may not call this server.",
                           to_do="Name the origin in LEXSI_DS_SERVE_ORIGINS.")
            await response(403, body)(scope, receive, send)
            return
        if scope["path"] in OPEN_PATHS or await self._known(scope, receive, send, headers):
            await self._app(scope, receive, send)

    async def _known(self, scope: Scope, receive: Receive, send: Send, headers: Headers) -> bool:
        given = headers.getlist("authorization")
        bearer = bearer_of(given[0]) if len(given) == 1 else ("" if given else None)
        try:
            actor = await anyio.to_thread.run_sync(self._identity.actor, bearer)
        except LexsiError as error:
            await response(status_of(error), failure_of(error))(scope, receive, send)
            return False
        if actor is None:
            said = "This needs a token." if bearer is None else "This token is not one of this server, or is no longer valid."
            body = failure("unauthorized", said, to_do="Send Authorization: Bearer with the server's token or an API key.")
            challenge = 'Bearer realm="lexsi-ds"' + ("" if bearer is None else ', error="invalid_token"')
            await response(401, body, www_authenticate=challenge)(scope, receive, send)
            return False
        scope.setdefault("state", {})["actor"] = actor
        if bearer is not None:
            scope["user"] = self._identity.user(bearer, actor)
        return True


def _host_name(header: str) -> str | None:
    """The name of ``name``, ``name:port`` or ``[::1]:port``, in lower case; None for anything else."""
    text = header.strip().casefold()
    if text.startswith("["):
        name, closed, port = text[1:].partition("]")
        port = port.removeprefix(":") if port.startswith(":") else ("" if not port else "no")
        return name if closed and _is_address(name) and (not port or port.isdigit()) else None
    name, _, port = text.partition(":")
    if not name or any(c in name for c in "/@\\?#, \t") or (port and not port.isdigit()):
        return None
    return name


def _same_place(a: str, b: str) -> bool:
    """Whether two hosts are the same with their ports; loopback has several names."""
    (name_a, port_a), (name_b, port_b) = ((_host_name(x), x.rpartition(":")[2]) for x in (a, b))
    return port_a == port_b and (name_a == name_b or {name_a, name_b} <= LOOPBACK_NAMES)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
