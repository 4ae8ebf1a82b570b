"""What is secret about a connector: kept in this process's memory, or in environment variables that a person names.

The store knows the names only. Must never: write a secret anywhere, or read a variable that may hold something else.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from typing import Any

from pydantic import SecretStr

from lexsi_ds.errors import BadInput
from lexsi_ds.settings import named_variable

PREFIX = "LEXSI_CONNECTOR_"
WELL_KNOWN = frozenset({"PGPASSWORD", "MYSQL_PWD", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"})
_NAME = re.compile(r"^[A-Z][A-Z0-9_]{0,100}$")


class Vault:
    """Secrets that were typed, by connector; gone when the process ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, dict[str, SecretStr]] = {}

    def remember(self, connector_id: str, secrets: Mapping[str, SecretStr]) -> None:
        """Keep these fields for a connector; fields kept before stay."""
        with self._lock:
            self._kept.setdefault(connector_id, {}).update(secrets)

    def forget(self, connector_id: str) -> None:
        """Drop what was kept for a connector."""
        with self._lock:
            self._kept.pop(connector_id, None)

    def secrets(self, connector_id: str, variables: Mapping[str, str | None]) -> dict[str, str]:
        """Values by field, from the named variables and from memory.

        ``variables`` names every field that the connector needs, with None for one that was typed. Raises BadInput for
        one that is not there (any more).
        """
        with self._lock:
            kept = dict(self._kept.get(connector_id, {}))
        found: dict[str, str] = {}
        for field, name in variables.items():
            if field in kept:
                found[field] = kept[field].get_secret_value()
            elif name:
                found[field] = variable(name)
            else:
                raise BadInput(
                    f"The {field.replace('_', ' ')} of this connector is not known any more: it is kept in memory only.",
                    to_do=f"Give it again, or name an environment variable such as {PREFIX}SHOP that holds it.",
                )
        return found


VAULT = Vault()
"""The one of this process."""


def link_of(
    connector_id: str, kind: str, config: Mapping[str, Any], variables: Mapping[str, str | None]
) -> dict[str, Any]:
    """What a worker needs to open a connector; for its private pipe only."""
    return {"kind": kind, "config": dict(config), "secrets": VAULT.secrets(connector_id, variables)}


def check_name(name: str) -> str:
    """The name of a variable that connectors may read. Raises BadInput for another: it could hold anything."""
    if not _NAME.match(name) or not (name.startswith(PREFIX) or name in WELL_KNOWN):
        raise BadInput(
            "Connectors do not read an environment variable of this name.", where=name[:60],
            to_do=f"Name it {PREFIX}… (or {', '.join(sorted(WELL_KNOWN))}).",
        )
    return name


def variable(name: str) -> str:
    """The value of a variable that connectors may read."""
    value = named_variable(check_name(name))
    if not value:
        raise BadInput(f"The environment variable {name} is not set.", to_do="Set it where the server runs, and start it again.")
    return value


def is_set(name: str) -> bool:
    """Whether a variable that connectors may read has a value."""
    return bool(named_variable(check_name(name)))
