"""Waiting for an endpoint without being held by it: a Stop or a deadline ends the wait at once, and the connection with it.

A socket that is read cannot be woken by the one who waits, so the reading happens in a thread of its own.
"""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, TypeVar

T = TypeVar("T")
Stop = Callable[[], None]
"""Raises ``Stopped`` when a person pressed Stop."""
_LOOK_S = 0.03


class Line:
    """The connection that a request is on, so that whoever waits can hang up."""

    def __init__(self) -> None:
        self._response: Any = None
        self.hung_up = threading.Event()

    def take(self, response: Any) -> None:
        """This response is being read now."""
        self._response = response
        if self.hung_up.is_set():
            self.hang_up()

    def hang_up(self) -> None:
        """End the connection; the endpoint stops writing then."""
        self.hung_up.set()
        stream: Any = getattr(self._response, "extensions", {}).get("network_stream")
        with contextlib.suppress(Exception):
            stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)


def waited(work: Callable[[Line], T], stop: Stop | None, seconds: float) -> T:
    """What ``work`` gives or raises. TimeoutError after so many seconds; what ``stop`` raises as soon as it does."""
    box: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()
    line, ends = Line(), time.monotonic() + seconds

    def go() -> None:
        try:
            box.put((work(line), None))
        except BaseException as error:
            box.put((None, error))

    threading.Thread(target=copy_context().run, args=(go,), name="endpoint", daemon=True).start()
    while True:
        try:
            found, error = box.get(timeout=_LOOK_S)
        except queue.Empty:
            try:
                if stop is not None:
                    stop()
                if time.monotonic() > ends:
                    raise TimeoutError
            except BaseException:
                line.hang_up()
                raise
            continue
        if error is not None:
            raise error
        return found  # pyright: ignore[reportReturnType]


def slept(seconds: float, stop: Stop | None) -> None:
    """Wait between two tries, with an ear for Stop."""
    ends = time.monotonic() + seconds
    while (left := ends - time.monotonic()) > 0:
        if stop is not None:
            stop()
        time.sleep(min(left, _LOOK_S))
