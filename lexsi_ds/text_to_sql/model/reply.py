"""A reply of a language model taken apart: the SQL in it, the line that says what it measures, or that it declines.

Nothing here is believed: the SQL goes to the guard and the line is only shown, and not when it holds a number of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE = re.compile(r"```[ \t]*(?:sql|duckdb)?[ \t]*\n?(.*?)(?:```|\Z)", re.S | re.I)
_STARTS = re.compile(r"(?is)^\s*(?:(?:with|select|from|pivot)\b|\()")
_BARE = re.compile(r"(?ims)^\s*((?:with|select)\b.*)\Z")
_READING = re.compile(r"(?im)^\W*reading\W*:\W*(.+)$")
_NONE = re.compile(r"(?im)^\W*none\b\W*(.*)$")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_LONGEST_LINE = 200


@dataclass(frozen=True)
class Wrote:
    """What a reply says."""

    sql: str = ""
    says: str = ""
    """One line about what the SQL measures, in the model's words."""
    declined: str | None = None
    """Why the tables cannot answer, when the reply says so; may be empty."""


def taken_apart(text: str) -> Wrote:
    """The parts of a reply. Neither SQL nor a refusal: all parts are empty."""
    sql = _sql_in(text)
    if not sql:
        found = _NONE.search(text)
        return Wrote(declined=_line(found[1])) if found else Wrote()
    said = _READING.search(text)
    return Wrote(sql, _line(said[1]) if said else "")


def honest_line(says: str, question: str, sql: str) -> str:
    """The model's line, or nothing where it holds a number that neither the question nor the SQL has."""
    known = set(_NUMBER.findall(question)) | set(_NUMBER.findall(sql))
    return says if set(_NUMBER.findall(says)) <= known else ""


def _sql_in(text: str) -> str:
    blocks = [m[1].strip() for m in _FENCE.finditer(text)]
    for block in blocks:
        if _STARTS.match(block):
            return block
    if blocks:
        return ""
    bare = _BARE.search(text)
    return bare[1].strip() if bare else ""


def _line(text: str) -> str:
    flat = " ".join(re.sub(r"[`*_<>\[\]]", "", text).split())
    return flat if len(flat) <= _LONGEST_LINE else flat[: _LONGEST_LINE - 1] + "…"
