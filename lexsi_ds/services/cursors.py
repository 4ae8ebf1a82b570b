"""Signed cursors of lists: where the next page begins, bound to the list, its filters and the person.

A cursor is opaque and has no expiry: it holds the last item's sort key, so items added or deleted meanwhile neither repeat nor
hide others. Must never: accept one that was changed, or made for another list, other filters or another person.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from lexsi_ds.errors import BadInput, InvalidCursor
from lexsi_ds.services.access import Actor
from lexsi_ds.store.db import Store
from lexsi_ds.store.keys import signing_key

DEFAULT_LIMIT, MAX_LIMIT = 50, 200
_SIGNATURE = 16
Key = tuple[str, str]
Item = TypeVar("Item")


class Cursors:
    """Pages of lists, by the installation's key."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def page(
        self, actor: Actor, tool: str, filters: Mapping[str, Any], items: Sequence[Item], key: Callable[[Item], Key],
        limit: int | None, cursor: str | None, *, ascending: bool = False,
    ) -> tuple[list[Item], str | None]:
        """One page of ``items`` (all that are visible, in the order of ``key``), and the cursor of the next.

        Raises BadInput for a limit outside of 1 to 200, InvalidCursor for a cursor of elsewhere.
        """
        size, bound = page_size(limit), _bound(actor, tool, filters)
        after = self._read(cursor, bound) if cursor else None
        left = [item for item in items if after is None or (key(item) > after if ascending else key(item) < after)]
        page = left[:size]
        return page, self._write(key(page[-1]), bound) if len(left) > size else None

    def after(self, actor: Actor, tool: str, filters: Mapping[str, Any], cursor: str | None) -> Key | None:
        """Where a page begins, of a list that the store pages itself; None for its start. Raises InvalidCursor."""
        return self._read(cursor, _bound(actor, tool, filters)) if cursor else None

    def next(self, actor: Actor, tool: str, filters: Mapping[str, Any], last: Key) -> str:
        """The cursor of the page that follows the item with this key."""
        return self._write(last, _bound(actor, tool, filters))

    def _write(self, position: Key, bound: bytes) -> str:
        body = json.dumps(position, separators=(",", ":")).encode()
        return _text(self._signature(body, bound) + body)

    def _read(self, cursor: str, bound: bytes) -> Key:
        try:
            raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
            signature, body = raw[:_SIGNATURE], raw[_SIGNATURE:]
            if _text(raw) != cursor:
                raise ValueError("another spelling of the same bytes")
            if hmac.compare_digest(signature, self._signature(body, bound)):
                first, second = json.loads(body)
                return str(first), str(second)
        except (binascii.Error, ValueError):
            pass
        raise InvalidCursor(
            "This cursor does not belong to this list.", where="cursor", to_do="Begin again without a cursor."
        )

    def _signature(self, body: bytes, bound: bytes) -> bytes:
        key = signing_key(self._store, "cursors")
        return hmac.new(key, bound + b"\0" + body, hashlib.sha256).digest()[:_SIGNATURE]


def page_size(limit: int | None) -> int:
    """The items of a page. Raises BadInput for a limit outside of 1 to 200."""
    size = DEFAULT_LIMIT if limit is None else limit
    if not 1 <= size <= MAX_LIMIT:
        raise BadInput(f"A page has 1 to {MAX_LIMIT} items.", where="limit", to_do="Ask for fewer, then go on.")
    return size


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _bound(actor: Actor, tool: str, filters: Mapping[str, Any]) -> bytes:
    given = {name: value for name, value in filters.items() if value is not None}
    return json.dumps([tool, actor.id, given], sort_keys=True, default=str).encode()
