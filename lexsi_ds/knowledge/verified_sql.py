"""A verified question with its parameters filled in: the only place where a value becomes part of its SQL.

A value is checked for its kind and written as a literal, so it can never be more than one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

from lexsi_ds.errors import BadInput
from lexsi_ds.knowledge.model import Parameter, VerifiedQuestion

_NAMED = re.compile(r"\{(\w{1,30})\}")
_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d{1,12})?")


def filled_sql(verified: VerifiedQuestion, values: Mapping[str, str] | None = None) -> str:
    """The SQL with these values, else those it was checked with. BadInput for a value that is not of its kind."""
    known = {p.name: literal(p, (values or {}).get(p.name, p.value)) for p in verified.parameters}
    return _NAMED.sub(lambda m: known.get(m[1], m[0]), verified.sql)


def filled_question(verified: VerifiedQuestion, values: Mapping[str, str] | None = None) -> str:
    """The words with these values, else those it was checked with."""
    known = {p.name: (values or {}).get(p.name, p.value) for p in verified.parameters}
    return _NAMED.sub(lambda m: known.get(m[1], m[0]), verified.question)


def literal(parameter: Parameter, text: str) -> str:
    """A value as an SQL literal."""
    if parameter.kind == "text":
        return "'" + text.replace("'", "''") + "'"
    if parameter.kind == "number" and _NUMBER.fullmatch(text):
        return text
    if parameter.kind == "date":
        try:
            return f"'{date.fromisoformat(text).isoformat()}'"
        except ValueError:
            pass
    raise BadInput(f"{text[:40]!r} is no {parameter.kind}.", where=parameter.name, to_do="Write it as 12, 12.5 or 1998-12-31.")
