"""The form of a connector, and the password fields: what is typed there goes to one call and nowhere else.

A password field's key is new after each use, so it is empty again. Must never: keep a secret in the tab's state, or show
one again.
"""

from __future__ import annotations

from typing import Any, get_args

import streamlit as st

from components import session
from components.problems import careful
from lexsi_ds.application import Application
from lexsi_ds.data.connectors.kinds import Kind, kind_of
from lexsi_ds.data.connectors.secrets import PREFIX, WELL_KNOWN
from lexsi_ds.services.access import Actor

WORDS = {
    "host": "Server", "port": "Port", "database": "Database", "user": "Role", "password": "Password", "sslmode": "Encryption",
    "ssl_mode": "Encryption", "bucket": "Bucket", "prefix": "Folder in the bucket", "region": "Region",
    "endpoint": "Endpoint", "use_ssl": "Use TLS", "aws_access_key_id": "Access key id",
    "aws_secret_access_key": "Secret access key", "aws_session_token": "Session token",
}  # fmt: skip


def fields(kind: Kind, number: int) -> None:
    """Every field of a kind; ``number`` is part of the password fields' keys."""
    assert kind.config is not None
    secret = kind.config.secret_fields()
    with st.grid(2, min_column_width=240):
        for name, info in kind.config.model_fields.items():
            with st.container():
                if name in secret:
                    secret_field(name, number, needed=info.is_required())
                else:
                    _open_field(name, info)


def _open_field(name: str, info: Any) -> None:
    key, label, default = session.wkey("connector", name), WORDS.get(name, name), info.default
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


def secret_field(name: str, number: int, *, needed: bool) -> None:
    """A password field; nothing that was typed before is ever in it."""
    st.text_input(
        WORDS.get(name, name),
        type="password",
        key=session.wkey("connector", "secret", name, number),
        max_chars=1000,
        autocomplete="off",
        placeholder="" if needed else "Left out: taken from the environment, if it is set there",
        help=f"Or the name of an environment variable of the server: ${PREFIX}…",
    )


def take_secrets(kind: Kind, number: int) -> dict[str, str]:
    """What was typed into the password fields; they are empty afterwards. ``$NAME`` names an environment variable."""
    assert kind.config is not None
    given: dict[str, str] = {}
    for name in kind.config.secret_fields():
        key = session.wkey("connector", "secret", name, number)
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
    with st.form(session.wkey("unlock", connector_id), border=False):
        st.markdown(":material/lock: The server was started again, so the password is asked for once more.")
        for name in kind.config.secret_fields():
            secret_field(name, number, needed=True)
        st.form_submit_button(
            "Unlock",
            key=session.wkey("unlock", connector_id, "go"),
            on_click=_unlock,
            args=(app, actor, connector_id, kind_name, number),
        )


@careful
def _unlock(app: Application, actor: Actor, connector_id: str, kind_name: str, number: int) -> None:
    typed = take_secrets(kind_of(kind_name), number)
    session.held().unlock_round += 1
    app.connectors.unlock(actor, connector_id, {k: v for k, v in typed.items() if not k.endswith("_env")})
    session.notify("success", "Unlocked, until the server is started again.")
