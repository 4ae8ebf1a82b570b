"""The errors a person may see. Each says what happened, where, and what to do; none carries a secret or a data row.

Anything that is not one of these is a bug: the door that catches it shows a short id and logs the rest.
"""

from __future__ import annotations

from typing import Literal

WorkerEnd = Literal["memory", "cpu", "timeout", "crash", "error", "disk"]


class LexsiError(Exception):
    """Base of what may be shown: ``what`` happened, ``where``, and what ``to_do`` about it."""

    code = "error"
    """What a program goes by, such as ``not_found``."""

    def __init__(self, what: str, *, where: str = "", to_do: str = "") -> None:
        super().__init__(what)
        self.what, self.where, self.to_do = what, where, to_do

    def __str__(self) -> str:
        place = f" ({self.where})" if self.where else ""
        return f"{self.what}{place}" + (f" {self.to_do}" if self.to_do else "")


class BadInput(LexsiError):
    """A file, argument or question that cannot be used as it is."""

    code = "bad_input"


class Ambiguous(BadInput):
    """A name that fits several things. ``candidates`` are their ids; none of them is picked."""

    code = "ambiguous_dataset"

    def __init__(self, what: str, *, where: str = "", to_do: str = "", candidates: tuple[str, ...] = ()) -> None:
        super().__init__(what, where=where, to_do=to_do)
        self.candidates = candidates


class InvalidCursor(BadInput):
    """A cursor that was not handed out for this list, these filters and this person."""

    code = "invalid_cursor"


class NotFound(LexsiError):
    """It does not exist, or this person may not see it: the two are told alike."""

    code = "not_found"


class Denied(LexsiError):
    """The person may see it but not do this to it."""

    code = "denied"


class Conflict(LexsiError):
    """Somebody else changed it since it was read; nothing was written."""

    code = "conflict"


class Busy(LexsiError):
    """Another run of the same conversation is still at work."""


class SqlRefused(LexsiError):
    """The guard does not let this SQL run; running it again will not help."""


class SqlFailed(LexsiError):
    """DuckDB could not bind or run it; the message names the nearest known names."""


class WorkerFailed(LexsiError):
    """A worker process ended or gave up. ``kind`` says how: out of memory, out of CPU time, past the clock, crashed."""

    def __init__(self, kind: WorkerEnd, what: str, *, where: str = "", to_do: str = "") -> None:
        super().__init__(what, where=where, to_do=to_do)
        self.kind: WorkerEnd = kind


class ModelRefused(LexsiError):
    """The data cannot carry this model: one class, too few rows, no feature left."""


class EndpointFailed(LexsiError):
    """The language model's endpoint did not give a usable reply."""


class PlatformFailed(LexsiError):
    """The Lexsi platform, or the SDK in front of it, did not do what was asked; ``where`` names the operation."""

    code = "platform_failed"


class StoreFailed(LexsiError):
    """The store cannot be read or written now: full, read-only, held by another process, not answering."""

    code = "store_failed"


class Stopped(Exception):
    """A person pressed Stop. Never caught to go on."""
