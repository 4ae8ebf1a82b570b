"""Who is behind a request: the bearer of the server's token, of an API key, or the one local person where nothing is demanded.

A token is one that this installation handed out, for this server: whatever else looks like one is refused, also where no
token is needed. Must never: log a token, compare one in a way that takes time by its content, or pass one on.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from pydantic import SecretStr

from lexsi_ds.errors import BadInput
from lexsi_ds.services.access import Actor

SHORTEST_TOKEN = 24
KeyActor = Callable[[str], Actor | None]
"""The person of an API key, None for what is no valid one."""


@dataclass(frozen=True)
class Identity:
    """Decides who a bearer is. Without a token and on loopback, ``anyone`` is the local person."""

    local: Actor
    token: SecretStr | None
    of_key: KeyActor | None
    resource: str
    """The address of this server, which tokens are for."""
    demanded: bool
    """Whether a request without a token is refused."""

    def __post_init__(self) -> None:
        """Refuse a token that can be guessed."""
        if self.token is not None and len(self.token.get_secret_value()) < SHORTEST_TOKEN:
            raise BadInput(
                f"The token of LEXSI_DS_SERVE_TOKEN has fewer than {SHORTEST_TOKEN} characters.",
                to_do="Make one: python -c 'import secrets; print(secrets.token_urlsafe(32))'",
            )

    def actor(self, bearer: str | None) -> Actor | None:
        """The person, None where the token is missing or wrong."""
        if bearer is None:
            return None if self.demanded else self.local
        if self.token is not None and _equal(bearer, self.token.get_secret_value()):
            return self.local
        return self.of_key(bearer) if self.of_key is not None else None

    def user(self, bearer: str, actor: Actor) -> AuthenticatedUser:
        """The person as the MCP package knows one: a session belongs to the credential that opened it."""
        mark = hashlib.sha256(bearer.encode()).hexdigest()[:32]
        return AuthenticatedUser(AccessToken(
            token="", client_id=mark, scopes=sorted(actor.rights), subject=actor.id, resource=self.resource
        ))


def bearer_of(header: str | None) -> str | None:
    """The token of an Authorization header; "" for a header that holds none, which no token equals."""
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    return token.strip() if scheme.casefold() == "bearer" else ""


def _equal(a: str, b: str) -> bool:
    digests = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in (a, b)]
    return hmac.compare_digest(*digests)
