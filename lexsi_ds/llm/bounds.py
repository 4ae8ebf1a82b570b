"""Bounds on a reply of an endpoint: how long it may take as a whole, and how large it may be.

The HTTP client's own timeout is for the wait between two pieces, so a reply that trickles in for ever would never end.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpx2

MAX_BYTES = 4_000_000
_LONGEST_S = 600.0
_END = "lexsi_ds_ends"
_ends: ContextVar[float] = ContextVar("ends", default=math.inf)


class ReplyTooLong(httpx2.ReadError):
    """The reply is larger than any answer can be."""


class _Bounded(httpx2.SyncByteStream):
    def __init__(self, stream: httpx2.SyncByteStream, request: httpx2.Request, ends: float) -> None:
        self._stream, self._request, self._ends = stream, request, ends

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for piece in self._stream:
            size += len(piece)
            if size > MAX_BYTES:
                raise ReplyTooLong("the reply is too long", request=self._request)
            if time.monotonic() > self._ends:
                raise httpx2.ReadTimeout("the reply took too long", request=self._request)
            yield piece

    def close(self) -> None:
        self._stream.close()


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """All requests made inside, with those that are tried again, end within so many seconds."""
    token = _ends.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _ends.reset(token)


def hooks() -> dict[str, list[Callable[[Any], None]]]:
    """Event hooks of an HTTP client that bound each of its replies: as a whole it takes no longer than one piece may."""

    def began(request: httpx2.Request) -> None:
        if time.monotonic() > _ends.get():
            raise httpx2.ReadTimeout("no time is left", request=request)
        longest = request.extensions.get("timeout", {}).get("read") or _LONGEST_S
        request.extensions = {**request.extensions, _END: min(time.monotonic() + longest, _ends.get())}

    def bound(response: httpx2.Response) -> None:
        if isinstance(response.stream, httpx2.SyncByteStream):
            ends = response.request.extensions.get(_END, time.monotonic() + _LONGEST_S)
            response.stream = _Bounded(response.stream, response.request, ends)

    return {"request": [began], "response": [bound]}
