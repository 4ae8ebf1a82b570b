"""The text area of the SQL editor with names offered while one types: a component whose markup, look and script lie beside it.

The script is fixed text, loads nothing and knows only the names that it is given. Must never: decide what may run; the text
that comes back is a stranger's.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from streamlit.components.v2 import component

from components import session, sql_words
from lexsi_ds.data.handle import DatasetHandle

_ASSETS = Path(__file__).parent / "assets"
_box = component(
    "lexsi_sql_box",
    html=(_ASSETS / "sql_box.html").read_text(encoding="utf-8"),
    css=(_ASSETS / "sql_box.css").read_text(encoding="utf-8"),
    js=(_ASSETS / "sql_box.js").read_text(encoding="utf-8"),
)
LONGEST = 20_000


def draw(
    handle: DatasetHandle, text: str, *, key: str, on_text: Callable[..., None], on_run: Callable[..., None]
) -> None:
    """The editor with ``text`` in it. ``on_text`` is called when a changed text is left, ``on_run`` when it is to run."""
    _box(
        key=key,
        data={"source": handle.source_id, "text": text, "words": sql_words.words(handle)},
        on_text_change=on_text,
        on_run_change=on_run,
        height="content",
    )


def given(key: str, part: str) -> str:
    """What the script sent, for a callback: "text" or "run"; "" for anything that is no text."""
    state: Any = session.read(key) or {}
    sent = state.get(part)
    return sent[:LONGEST] if isinstance(sent, str) else ""
