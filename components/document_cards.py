"""Documents under an answer: what was read, and the passages it stands on. Letters only, never Markdown."""

from __future__ import annotations

from typing import Any

import streamlit as st

from components import figures, tables
from components.payloads import passages


def cards(bodies: list[dict[str, Any]]) -> None:
    """Each document that was read, with the passages that share words with the question."""
    for body in bodies:
        with st.container(border=True, gap="small"):
            tables.card_head(f"{body['source']}/{body['path']}", f"document, {figures.count(body['chars'])} characters")
            passages(body)
