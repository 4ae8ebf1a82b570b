"""Preview and confirm: a change is shown with a token first, and made when the same person sends the same call with the token.

A token is bound to the tool, to the set of arguments that were passed, to what they resolved to, to the person and to the state
that was shown; it ends after five minutes. A token that was used is answered with what it gave, and does nothing twice.
Must never: take a token for a right (the caller checks the rights of a confirmed call again), or say which part did not match
in a way that helps to forge one.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal

from lexsi_ds.services.access import Actor
from lexsi_ds.store.confirmed import ConfirmedRows
from lexsi_ds.store.db import Store
from lexsi_ds.store.keys import signing_key

EXPIRES_S = 300
_FORM, _LONGEST = "ct1", 2_000
_AHEAD_S = 30
"""How far the clock of the process that made a token may be ahead."""
_WAIT_S = 10.0
Json = dict[str, Any]
Reason = Literal["malformed", "mismatch", "expired", "state_changed", "in_progress"]
_SAID: dict[Reason, str] = {
    "malformed": "The confirmationToken is missing or is none of ours. Start again from the preview.",
    "mismatch": "The confirmationToken is for another call: use it with the same tool, the same arguments and the same "
    "signed-in user. Start again from the preview.",
    "expired": "The confirmationToken has expired: it is good for five minutes. Start again from the preview.",
    "state_changed": "What the preview showed has changed since. Start again from the preview.",
    "in_progress": "This confirmed call is still being carried out. Send it again in a moment.",
}


class Confirmations:
    """Tokens of one installation; every process of it knows them all."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.time) -> None:
        self._store, self._clock, self._calls = store, clock, ConfirmedRows(store)

    def preview(
        self, actor: Actor, tool: str, arguments: Mapping[str, Any], *, target: str, state: str, proposal: Json
    ) -> Json:
        """The answer of a first call: what will happen, and the token that lets it happen."""
        payload = {
            "b": _digest(_bound(actor, tool, arguments, target)), "s": _digest(state), "t": int(self._clock()),
            "j": secrets.token_hex(12),
        }
        body = _encoded(json.dumps(payload, separators=(",", ":")).encode())
        token = f"{_FORM}.{body}.{_encoded(self._signature(body))}"
        return {"status": "preview", "proposal": proposal, "confirmationToken": token}

    def confirm(
        self, actor: Actor, tool: str, arguments: Mapping[str, Any], token: object, *, target: str, state: str,
        do: Callable[[], Json],
    ) -> Json:
        """The answer of a second call: what ``do`` gave, or why nothing was done. What ``do`` raises is raised."""
        payload = self._read(token)
        if payload is None:
            return _invalid("malformed")
        if not hmac.compare_digest(str(payload["b"]), _digest(_bound(actor, tool, arguments, target))):
            return _invalid("mismatch")
        call_id = str(payload["j"])
        used = self._calls.get(call_id)
        if used is not None and used.result is not None:
            return used.result
        age = self._clock() - float(payload["t"])
        if not -_AHEAD_S <= age <= EXPIRES_S:
            return _invalid("expired")
        if not hmac.compare_digest(str(payload["s"]), _digest(state)):
            return self._of_another(call_id) if used is not None else _invalid("state_changed")
        return self._once(actor, tool, call_id, do)

    def _once(self, actor: Actor, tool: str, call_id: str, do: Callable[[], Json]) -> Json:
        claim = secrets.token_hex(8)
        if self._calls.claim(call_id, tool, actor.id, claim).claim != claim:
            return self._of_another(call_id)
        try:
            result = {"status": "done", **do()}
        except BaseException:
            self._calls.release(call_id, claim)
            raise
        self._calls.finish(call_id, claim, result)
        return result

    def _of_another(self, call_id: str) -> Json:
        """What the same call, being carried out at the same time, gives."""
        until = time.monotonic() + _WAIT_S
        while time.monotonic() < until:
            held = self._calls.get(call_id)
            if held is None:
                return _invalid("state_changed")
            if held.result is not None:
                return held.result
            time.sleep(0.05)
        return _invalid("in_progress")

    def _read(self, token: object) -> Json | None:
        if not isinstance(token, str) or len(token) > _LONGEST:
            return None
        form, _, rest = token.partition(".")
        body, _, signature = rest.partition(".")
        if form != _FORM or not hmac.compare_digest(signature.encode(), _encoded(self._signature(body)).encode()):
            return None
        try:
            payload = json.loads(base64.b64decode(body + "=" * (-len(body) % 4), altchars=b"-_", validate=True))
        except (binascii.Error, ValueError):
            return None
        return payload if isinstance(payload, dict) and {"b", "s", "t", "j"} <= set(payload) else None

    def _signature(self, body: str) -> bytes:
        key = signing_key(self._store, "confirmations")
        return hmac.new(key, f"{_FORM}.{body}".encode(), hashlib.sha256).digest()


def _bound(actor: Actor, tool: str, arguments: Mapping[str, Any], target: str) -> str:
    """All that a token is for. The set of arguments counts: one that is left out is not the same as null."""
    passed = {name: value for name, value in arguments.items() if name not in ("confirm", "confirmationToken")}
    return json.dumps([tool, actor.id, target, passed], sort_keys=True, separators=(",", ":"), default=str)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _invalid(reason: Reason) -> Json:
    return {"status": "confirmation_invalid", "reason": reason, "message": _SAID[reason]}
