"""What a person filled in of a connector: checked, and its secrets told apart from what may be kept.

Must never: read a variable that connectors may not read, or repeat a secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import SecretStr

from lexsi_ds.data.connectors.base import ConnectorConfig
from lexsi_ds.data.connectors.kinds import Kind
from lexsi_ds.data.connectors.secrets import check_name, is_set, variable

_OF_VARIABLE = "_env"


def checked_form(kind: Kind, config: Mapping[str, Any]) -> tuple[ConnectorConfig, dict[str, SecretStr], dict[str, str | None]]:
    """The checked config, the secrets that were typed, and for each secret the variable that holds it (None: typed)."""
    assert kind.config is not None
    fields = kind.config.secret_fields()
    values = {k: v for k, v in config.items() if not (k.endswith(_OF_VARIABLE) and k.removesuffix(_OF_VARIABLE) in fields)}
    typed: dict[str, SecretStr] = {}
    variables: dict[str, str | None] = {}
    for field in fields:
        given, named = values.get(field), config.get(f"{field}{_OF_VARIABLE}")
        if given:
            typed[field] = given if isinstance(given, SecretStr) else SecretStr(str(given))
            variables[field] = None
        elif named:
            variables[field] = check_name(str(named))
            values[field] = variable(str(named))
        else:
            values.pop(field, None)
    if not variables:  # keys of the installation go together, or not at all
        for field, name in kind.defaults:
            if is_set(name):
                variables[field] = name
                values[field] = variable(name)
    return kind.config.checked(values), typed, variables


def name_of(name: str | None, kind: Kind, config: ConnectorConfig) -> str:
    """The source's name: the one given, else what it is and where."""
    public = config.public()
    own = public.get("bucket") or public.get("database") or public.get("path") or public.get("host")
    return " ".join((name or f"{kind.short or kind.label}: {own}").split())[:120]
