"""Digits that their source itself calls text: strings of JSON, ``TEXT`` of SQLite, cells of a workbook formatted as text.

Some are codes, some are numbers that a program wrote in quotes. Must never: turn into numbers what may be codes, or keep a
column from being numbers without saying so and how to change it.
"""

from __future__ import annotations

from lexsi_ds.data.column_words import is_key, is_year
from lexsi_ds.data.evidence import Forms, Hints

_LEAST_LENGTH = 3


def why_declared_text(raw: str, name: str, f: Forms, hints: Hints) -> str:
    """Why whole numbers of a column that its source calls text stay text; empty when they are taken for numbers."""
    if raw not in hints.texts or not f.all("digits"):
        return ""
    if is_key(name):
        return "its source holds it as text, and its name is that of a code"
    if is_year(name):
        return ""
    if f.n["shortest"] == f.n["longest"] >= _LEAST_LENGTH:
        return f"its source holds it as text, and all values have {f.n['longest']} digits, as codes do"
    return "its source holds it as text, and other columns as numbers" if hints.tells else ""
