"""The form of a connector, and the password fields: what is typed there goes to one call and nowhere else.

A password field's key is new after each use, so it is empty again. Must never: keep a secret in the tab's state, or show
one again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import streamlit as st

from components import connector_checks, session
from components.problems import careful
from lexsi_ds.application import Application
from lexsi_ds.data.connectors.kinds import Kind, kind_of
from lexsi_ds.data.connectors.secrets import PREFIX, WELL_KNOWN
from lexsi_ds.services.access import Actor

WORDS = {
    "host": "Server", "port": "Port", "database": "Database", "user": "User or role", "password": "Password",
    "sslmode": "Encryption", "ssl_mode": "Encryption", "bucket": "Bucket", "prefix": "Folder in the bucket", "region": "Region",
    "endpoint": "Endpoint", "use_ssl": "Use TLS", "aws_access_key_id": "Access key id",
    "aws_secret_access_key": "Secret access key", "aws_session_token": "Session token",
}  # fmt: skip


def fields(kind: Kind, number: int, kept: Mapping[str, Any]) -> None:
    """Every field of a kind; ``number`` is part of the password fields' keys, ``kept`` what was in the open ones last time."""
    assert kind.config is not None
    secret = kind.config.secret_fields()
    switches = [name for name, info in kind.config.model_fields.items() if info.annotation is bool]
    with st.grid(2, min_column_width=240):
        for name, info in kind.config.model_fields.items():
            if name in secret:
                secret_field(name, number, needed=info.is_required())
            elif name not in switches:
                _open_field(name, info, kept.get(name, info.default))
    for name in switches:
        info = kind.config.model_fields[name]
        _open_field(name, info, kept.get(name, info.default))


def _open_field(name: str, info: Any, default: Any) -> None:
    key, label = session.wkey("connector", name), WORDS.get(name, name)
    choices = get_args(info.annotation) if "Literal" in str(info.annotation) else ()
    about = info.description
    if choices:
        st.selectbox(label, choices, index=choices.index(default), key=key, help=about, persist_state="page")
    elif info.annotation is int:
        st.number_input(label, value=int(default), min_value=1, max_value=65535, step=1, key=key, format="%d", persist_state="page")
    elif info.annotation is bool:
        st.checkbox(label, value=bool(default), key=key, persist_state="page")
    else:
        value = default if isinstance(default, str) else ""
        st.text_input(label, value=value, key=key, help=about, max_chars=500, persist_state="page")


def where(config: Any) -> str:
    """Where a connection leads, as an address: user@host:port/database, or bucket/folder at endpoint. It is data, not Markdown."""
    if config.get("bucket"):
        folder = "/".join(str(config[n]) for n in ("bucket", "prefix") if config.get(n))
        return folder + (f" at {config['endpoint']}" if config.get("endpoint") else "")
    if config.get("path"):
        return str(config["path"])
    database = f"/{config['database']}" if config.get("database") else ""
    return f"{config.get('user')}@{config.get('host')}:{config.get('port')}{database}"


def secret_field(name: str, number: int, *, needed: bool, place: str = "") -> None:
    """A password field; nothing that was typed before is ever in it. ``place`` tells several forms of a page apart."""
    st.text_input(
        WORDS.get(name, name),
        type="password",
        key=_secret_key(name, number, place),
        max_chars=1000,
        autocomplete="off",
        placeholder="" if needed else "Left out: taken from the environment, if it is set there",
        help=f"Or the name of an environment variable of the server: ${PREFIX}…",
    )


def _secret_key(name: str, number: int, place: str) -> str:
    return session.wkey("connector", "secret", *([place] if place else []), name, number)


def take_secrets(kind: Kind, number: int, *, place: str = "") -> dict[str, str]:
    """What was typed into the password fields; they are empty afterwards. ``$NAME`` names an environment variable."""
    assert kind.config is not None
    given: dict[str, str] = {}
    for name in kind.config.secret_fields():
        key = _secret_key(name, number, place)
        typed = str(session.read(key) or "")
        session.forget(key)
        if typed.startswith(f"${PREFIX}") or typed[1:] in WELL_KNOWN:
            given[f"{name}_env"] = typed[1:]
        elif typed:
            given[name] = typed
    return given


def unlock_form(app: Application, actor: Actor, connector_id: str, kind_name: str) -> None:
    """Ask again for what was in memory only."""
    kind, number = kind_of(kind_name), session.held().unlock_round
    assert kind.config is not None
    if connector_checks.at_work(app, actor, connector_id):
        return
    needed = [name for name, variable in app.connectors.get(actor, connector_id).variables.items() if variable is None]
    asked = needed or list(kind.config.secret_fields())
    with st.form(session.wkey("unlock", connector_id), border=False):
        what = "password" if asked == ["password"] else "keys" if len(asked) > 1 else "key"
        st.caption(f":material/lock: Secrets are not kept over a restart of the server: give the {what} once more.")
        with st.grid(2, min_column_width=240):
            for name in asked:
                secret_field(name, number, needed=True, place=connector_id)
        st.form_submit_button(
            "Unlock",
            key=session.wkey("unlock", connector_id, "go"),
            on_click=_unlock,
            args=(app, actor, connector_id, kind_name, number),
        )


@careful
def _unlock(app: Application, actor: Actor, connector_id: str, kind_name: str, number: int) -> None:
    typed = {k: v for k, v in take_secrets(kind_of(kind_name), number, place=connector_id).items() if not k.endswith("_env")}
    session.held().unlock_round += 1
    if not typed:
        session.notify("warning", "**Nothing was typed.** Give what is asked for, then unlock.")
        return
    connector_checks.start(
        app, actor, connector_id, "Unlocking", lambda cancel: app.connectors.unlock(actor, connector_id, typed, cancel=cancel),
        "Unlocked, until the server is started again.",
    )
