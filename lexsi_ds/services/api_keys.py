"""API keys: shown once, kept as a digest, with scopes that narrow what the person's role allows.

Must never: keep or log a key, tell why one does not fit, or let a key make keys.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from datetime import timedelta

from lexsi_ds.data.handle import Value
from lexsi_ds.errors import BadInput, Denied, NotFound
from lexsi_ds.ids import new_id
from lexsi_ds.services.access import SCOPES, Actor, Scope, rights_of_key, scopes_of
from lexsi_ds.services.finding_text import clean_line
from lexsi_ds.services.people import People
from lexsi_ds.store.api_keys import ApiKeyRecord, ApiKeyRows
from lexsi_ds.store.db import Store
from lexsi_ds.store.people import PeopleRows
from lexsi_ds.store.records import now

_PREFIX = "lx_"
_SECRET = re.compile(r"lx_([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_LONGEST_NAME, _MOST_DAYS = 80, 3_650


class ApiKey(Value):
    """A key as a person may see it again."""

    id: str
    person: str
    person_name: str
    name: str
    tail: str
    scopes: tuple[Scope, ...]
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None

    @property
    def ended(self) -> bool:
        """Whether it opens nothing any more."""
        return self.revoked_at is not None or (self.expires_at is not None and self.expires_at <= now().isoformat())


class ApiKeys:
    """Makes, checks and ends API keys."""

    def __init__(self, store: Store) -> None:
        self._rows, self._people, self._named = ApiKeyRows(store), People(store), PeopleRows(store)

    def create(
        self, actor: Actor, name: str, scopes: Iterable[Scope], days: int | None = 90, *, person: str | None = None
    ) -> tuple[ApiKey, str]:
        """A key for oneself (an admin: for another person), and its secret, which is never shown again.

        ``days`` until it ends; None for a key without an end.
        """
        if actor.key:
            raise Denied("A key cannot make keys.", where="API keys", to_do="Make it on the page, in the settings.")
        wanted = tuple(s for s in SCOPES if s in set(scopes))
        if not wanted or len(wanted) != len(set(scopes)):
            raise BadInput("A key needs at least one scope.", where="scopes", to_do=f"Choose from {', '.join(SCOPES)}.")
        if days is not None and not 1 <= days <= _MOST_DAYS:
            raise BadInput(f"A key lasts from 1 to {_MOST_DAYS:,} days.", where="days")
        owner, owner_name = actor.id, actor.name
        if person is not None and person != actor.id:
            actor.need("people:manage")
            found = self._named.get(person)
            if found is None or self._people.role(person) is None:
                raise NotFound("There is no such person.", where=person[:60], to_do="Look at the list.")
            owner, owner_name = found.id, found.name
        elif not set(wanted) <= set(scopes_of(actor)):
            raise Denied("A key cannot do more than you may.", where="scopes", to_do="Leave a scope out.")
        key_id, secret = new_id("key"), secrets.token_urlsafe(32)
        whole = f"{_PREFIX}{key_id.removeprefix('key_')}_{secret}"
        record = ApiKeyRecord(
            id=key_id, person=owner, person_name=owner_name, name=clean_line(name, "name", _LONGEST_NAME),
            digest=_digest(whole), tail=whole[-4:], scopes=wanted, created_at=now(),
            expires_at=None if days is None else now() + timedelta(days=days),
        )
        self._rows.insert(record)
        return _shown(record), whole

    def actor(self, secret: str) -> Actor | None:
        """Who comes with this key; None when it does not fit, has ended, or its person is gone."""
        form = _SECRET.fullmatch(secret) if isinstance(secret, str) and len(secret) < 200 else None
        record = self._rows.get(f"key_{form[1]}") if form is not None else None
        fits = hmac.compare_digest(_digest(secret if form is not None else ""), record.digest if record else _digest("-"))
        if record is None or not fits or record.revoked_at is not None:
            return None
        role = self._people.role(record.person)
        if role is None or (record.expires_at is not None and record.expires_at <= now()):
            return None
        self._rows.used(record)
        scopes: list[Scope] = [s for s in SCOPES if s in record.scopes]
        return Actor(record.person, record.person_name, rights_of_key(role, scopes), record.id)

    def list(self, actor: Actor, *, everyone: bool = False) -> tuple[ApiKey, ...]:
        """One's own keys, or with the right to it everyone's; the newest first."""
        if actor.key:
            raise Denied("A key cannot list keys.", where="API keys")
        if everyone:
            actor.need("people:manage")
        return tuple(map(_shown, self._rows.list(None if everyone else actor.id)))

    def revoke(self, actor: Actor, key_id: str) -> None:
        """End a key at once: one's own, or with the right to it anyone's."""
        if actor.key:
            raise Denied("A key cannot end keys.", where="API keys")
        record = self._rows.get(key_id)
        if record is None or (record.person != actor.id and not actor.may("people:manage")):
            raise NotFound("There is no such key.", where=key_id[:60], to_do="Look at the list.")
        self._rows.revoke(key_id)


def _digest(secret: str) -> str:
    """A plain hash is enough: the secret is 256 random bits, so there is nothing to guess."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _shown(record: ApiKeyRecord) -> ApiKey:
    def iso(at: object) -> str | None:
        return at.isoformat() if hasattr(at, "isoformat") else None  # type: ignore[attr-defined]

    return ApiKey.model_validate({
        **record.model_dump(include={"id", "person", "person_name", "name", "tail", "scopes"}),
        **{name: iso(getattr(record, name)) for name in ("created_at", "expires_at", "revoked_at", "last_used_at")},
    })
