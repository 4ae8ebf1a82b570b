"""What a far side's errors mean in a person's words. Must never: repeat a value, a statement or a secret."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lexsi_ds.errors import BadInput, LexsiError, WorkerFailed

_STATEMENT = re.compile(r'(?s)\b(query|COPY) ".*": ')
"""The far side's statement, which the scanners repeat; its words say nothing about what went wrong."""
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
_MEMORY = ("out of memory", "bad_alloc", "failed to allocate", "could not allocate")
_DISK = ("no space left", "disk full", "file too large")


@dataclass(frozen=True)
class Told:
    """An error known by its words (a pattern, whatever the case)."""

    pattern: str
    what: str
    to_do: str


def told(text: str, known: Sequence[Told], *, where: str) -> LexsiError:
    """The error of a (scrubbed) text; one that is not known keeps its first line without anything quoted."""
    text = _STATEMENT.sub(r"\1: ", text)
    lower = text.lower()
    if any(words in lower for words in _MEMORY):
        return WorkerFailed("memory", "The import needed more memory than one worker may use.", to_do="Take fewer tables.")
    if any(words in lower for words in _DISK):
        return WorkerFailed("disk", "There is not enough disk space for this.", to_do="Free some space and try again.")
    for each in known:
        if re.search(each.pattern, lower):
            return BadInput(each.what, where=where, to_do=each.to_do)
    line = next((x.strip() for x in text.splitlines() if x.strip()), "")
    said = _QUOTED.sub("…", re.sub(r"^([A-Z][\w ]* Error: )+", "", line)).partition(": ERROR:")
    short = (said[2] or said[0]).strip()[:160]
    return BadInput(f"The source answered with an error: {short}", where=where, to_do="Look there for what is wrong.")
