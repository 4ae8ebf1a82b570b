"""A person's Stop: a flag that pulls one trigger. Must never pull it after the work it was armed for has ended."""

from __future__ import annotations

import threading
from collections.abc import Callable

from lexsi_ds.errors import Stopped


class Cancel:
    """Set once, from any thread. While armed, setting it calls the trigger (which kills the worker at work)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flag = threading.Event()
        self._trigger: Callable[[], None] | None = None

    def set(self) -> None:
        """Ask for the stop. The trigger runs under the lock: a disarm waits for it, so a late Stop hits nobody."""
        with self._lock:
            self._flag.set()
            if self._trigger:
                self._trigger()

    @property
    def is_set(self) -> bool:
        """Whether a stop was asked for."""
        return self._flag.is_set()

    def check(self) -> None:
        """Raise ``Stopped`` when a stop was asked for."""
        if self._flag.is_set():
            raise Stopped

    def arm(self, trigger: Callable[[], None]) -> None:
        """Say what a stop must do from now on; raises ``Stopped`` when it was asked for already."""
        with self._lock:
            self.check()
            self._trigger = trigger

    def disarm(self) -> None:
        """Forget the trigger. When this returns, no stop can pull it any more."""
        with self._lock:
            self._trigger = None
