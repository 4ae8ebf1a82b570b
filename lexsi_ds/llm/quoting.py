"""Untrusted text in a prompt: always a marked block, which it cannot close itself."""

from __future__ import annotations


def quote_data(title: str, text: str) -> str:
    """Untrusted text as a marked block; a closing mark inside it is broken up."""
    safe = text.replace("</data", "<\\/data").replace("<data", "<\\data")
    return f'<data of="{title}">\n{safe}\n</data>'
