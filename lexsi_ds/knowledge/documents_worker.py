"""What a worker of the lane "documents" does: read one file's text and write it beside. See `document_text`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lexsi_ds.knowledge.document_text import read


def extract(args: dict[str, Any], say: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """``path`` and ``name`` of the file, ``out`` for its text (UTF-8), ``most_chars``. Gives kind, title, chars and notes."""
    found = read(Path(args["path"]), args["name"], int(args["most_chars"]))
    Path(args["out"]).write_text(found.text, encoding="utf-8", newline="\n")
    return {"kind": found.kind, "title": found.title, "chars": len(found.text), "notes": list(found.notes)}
