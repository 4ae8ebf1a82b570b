"""DuckDB's errors in a person's words: what is wrong, and the nearest names there are.

Must never show a file path, an internal name or a value out of the data.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection

import duckdb

from lexsi_ds.errors import LexsiError, SqlFailed, WorkerFailed

INTERNAL_PREFIX = "_lexsi_"
"""Attached files have names that start so; no message shows them."""

_MISSING = re.compile(
    r'(?:Referenced (?:column|table) "(?P<a>[^"]+)" not found|Table with name (?P<b>.+?) does not exist'
    r'|column named "(?P<c>[^"]+)"|with name (?P<d>\S+) does not exist'
    r'|does not have a column (?:named )?"(?P<e>[^"]+)")'
)
_CANDIDATES = re.compile(r'(?:Candidate bindings: |Did you mean )((?:"[^"]+"(?:, )?)+)')
_TEXT_VALUE = re.compile(r"(?:string |value |input )?'.*?'|\"[^\"]*\"(?= to )", re.DOTALL)
_PATH = re.compile(r"(?:[A-Za-z]:\\|/)[^\s'\"]*/[^\s'\"]*")
_MEMORY = ("out of memory", "bad alloc", "bad_alloc", "could not allocate", "failed to allocate", "allocate memory")


def readable(error: duckdb.Error, known: Collection[str]) -> LexsiError:
    """The error to raise instead; ``known`` are the names of tables and columns that a person may have meant."""
    text = str(error)
    if isinstance(error, duckdb.OutOfMemoryException) or any(words in text.lower() for words in _MEMORY):
        return WorkerFailed("memory", "The query needed more memory than one query may use.",
                            to_do="Select fewer columns, filter earlier, or aggregate before joining.")
    if "no space left" in text.lower() or "file too large" in text.lower():
        return WorkerFailed("disk", "The query needed more disk space than one query may use.",
                            to_do="Filter earlier, or aggregate before joining.")
    if isinstance(error, duckdb.IOException | duckdb.PermissionException):
        return SqlFailed("The query asked for something outside its data.",
                         to_do="Only the tables of the active source can be read.")
    what = _first_paragraph(text)
    if isinstance(error, duckdb.ConversionException | duckdb.InvalidInputException | duckdb.OutOfRangeException):
        return SqlFailed(_TEXT_VALUE.sub("a value", what), to_do=_value_advice(error))
    return SqlFailed(_without_paths(what), to_do=_did_you_mean(text, known))


def _first_paragraph(text: str) -> str:
    head = re.split(r"\n\s*\n|\nLINE \d+:|\n\s*Candidate|\nDid you mean|\n\tCandidate", text, maxsplit=1)[0]
    head = re.sub(r"^[A-Z][A-Za-z ]* Error: ", "", " ".join(head.split()))
    return head[:400]


def _without_paths(text: str) -> str:
    return _PATH.sub("…", text).replace(INTERNAL_PREFIX, "")


def _value_advice(error: duckdb.Error) -> str:
    if isinstance(error, duckdb.ConversionException):
        return "Use try_cast to get NULL where a value does not have that form."
    return ""


def _did_you_mean(text: str, known: Collection[str]) -> str:
    names = _nearest(text, known)
    return f"Did you mean {' or '.join(names)}?" if names else ""


def _nearest(text: str, known: Collection[str]) -> list[str]:
    """Up to three known names near the missing one; DuckDB's own candidates count where they are known names too."""
    found = _MISSING.search(text)
    missing = next((group for group in found.groups() if group), "") if found else ""
    by_fold = {name.casefold(): name for name in known}
    near = difflib.get_close_matches(missing.strip('"').casefold(), by_fold, n=3, cutoff=0.6) if missing else []
    theirs = _CANDIDATES.search(text)
    for candidate in re.findall(r'"([^"]+)"', theirs.group(1)) if theirs else ():
        last = candidate.rsplit(".", 1)[-1].casefold()
        if last in by_fold and last not in near:
            near.append(last)
    return [f'"{by_fold[name]}"' for name in near[:3]]
