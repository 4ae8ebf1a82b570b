"""How an MCP client reaches this installation: configuration to copy, for both doors. Must never: hold a key.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import streamlit as st

from lexsi_ds.application import Application
from lexsi_ds.services.access import Actor

PLACEHOLDER = "lx_YOUR_KEY"
_ROOT = Path(__file__).resolve().parent.parent


def stdio(app: Application) -> dict[str, Any]:
    """For a client on this machine that starts the server itself."""
    return {"mcpServers": {"lexsi-ds": {
        "command": sys.executable, "args": ["-m", "lexsi_ds", "mcp"], "cwd": str(_ROOT),
        "env": {"LEXSI_DS_HOME": str(app.settings.home)},
    }}}


def http(app: Application) -> dict[str, Any]:
    """For a client of the server that ``python -m lexsi_ds serve`` runs."""
    url = f"http://{app.settings.serve_host}:{app.settings.serve_port}/mcp"
    return {"mcpServers": {"lexsi-ds": {"url": url, "headers": {"Authorization": f"Bearer {PLACEHOLDER}"}}}}


def draw(app: Application, actor: Actor) -> None:
    """Both, with what each needs."""
    st.markdown("**A client on this machine** :gray[starts the server itself and acts as you; it reads and asks only]")
    st.code(json.dumps(stdio(app), indent=2), language="json", wrap_lines=True)
    st.caption('Add "--write" to args to let it change things. Changes are previewed, then confirmed.')
    st.markdown("**A client over HTTP** :gray[needs `python -m lexsi_ds serve` to run, and a key]")
    st.code(json.dumps(http(app), indent=2), language="json", wrap_lines=True)
    st.caption(f"Put a key in the place of {PLACEHOLDER}: the tab API keys makes one and shows it once.")
