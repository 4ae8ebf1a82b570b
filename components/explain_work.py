"""Views of a model that a worker computes while the page stands: started once a key, drawn as a skeleton until they are there.

A view that is kept on disk is back within a blink, so most draws never show the skeleton. What was computed stays in
memory for the reruns that follow. Must never: compute in the page's thread, or hold the page for longer than PATIENCE.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from components import figures, session
from components.problems import careful, log_id, sentence, unknown
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.errors import LexsiError, Stopped
from lexsi_ds.jobs.background import Background, Task
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.services.access import Actor

V = TypeVar("V")
Work = Callable[..., V]
"""Takes ``cancel`` and ``tell``."""
Key = tuple[object, ...]
PATIENCE = 0.3
"""Seconds that a draw waits at least for a view before it shows the skeleton: those on disk are there by then."""
KEPT = 96
_SAID_AFTER = 1.0
_CANCEL_AFTER = 3.0


@dataclass
class Asked:
    """A view that was asked for, and what came of it."""

    key: Key
    task: Task | None = None
    value: Any = None
    error: Exception | None = None
    over: threading.Event = field(default_factory=threading.Event)
    began: float = field(default_factory=time.monotonic)


class Board:
    """What was asked of one application, by key. Thread-safe; one worker call a key at a time."""

    def __init__(self, long: Background) -> None:
        self._short, self._long = Background(keep=8), long
        self._asked: OrderedDict[Key, Asked] = OrderedDict()
        self._lock = threading.Lock()

    def ask(self, key: Key, label: str, work: Work[Any], owner: str, *, listed: bool = False) -> Asked:
        """The view of this key, started when nobody has. ``listed``: it stands among the running jobs of the sidebar."""
        with self._lock:
            known = self._asked.get(key)
            if known is not None:
                self._asked.move_to_end(key)
                return known
            asked = self._asked[key] = Asked(key)
            for old in [k for k, a in self._asked.items() if a.over.is_set()][: max(0, len(self._asked) - KEPT)]:
                del self._asked[old]
            asked.task = (self._long if listed else self._short).start(
                "explain", label, partial(_carry_out, asked, work), owner=owner
            )
            return asked

    def find(self, key: Key) -> Asked | None:
        """What was asked under this key, without asking."""
        with self._lock:
            return self._asked.get(key)

    def again(self, key: Key) -> None:
        """Forget what came of it, so that the next draw asks anew."""
        with self._lock:
            self._asked.pop(key, None)


def _carry_out(asked: Asked, work: Work[Any], cancel: Cancel, tell: Callable[[dict[str, Any]], None]) -> None:
    try:
        asked.value = work(cancel=cancel, tell=tell)
    except Exception as error:
        asked.error = error
        raise
    finally:
        asked.over.set()


_boards: weakref.WeakKeyDictionary[Any, Board] = weakref.WeakKeyDictionary()
_making = threading.Lock()


def board(app: Application) -> Board:
    """The board of this application."""
    with _making:
        if app not in _boards:
            _boards[app] = Board(app.background)
        return _boards[app]


def view(
    app: Application, actor: Actor, key: Key, label: str, work: Work[V], *, height: int, listed: bool = False,
    patience: float = 0.0,
) -> V | None:  # fmt: skip
    """The view when it is there; else its skeleton, its progress or its failure are drawn and None comes back."""
    asked = board(app).ask(key, label, work, actor.id, listed=listed)
    asked.over.wait(max(PATIENCE, patience))
    if not asked.over.is_set():
        _wait(asked, height)
        return None
    if asked.error is None:
        return asked.value
    _failed(app, asked, label)
    return None


def _wait(asked: Asked, height: int) -> None:
    """The skeleton until the view is there; redraws the page once then. Made anew a draw, since its key differs."""

    @st.fragment(run_every=0.5)
    def waiting() -> None:
        if asked.over.is_set():
            st.rerun()
        past, task = time.monotonic() - asked.began, asked.task
        if past < _SAID_AFTER or task is None:
            st.skeleton(height=height)
        elif past < _CANCEL_AFTER:
            st.caption(f":material/hourglass_empty: {plain(task.text or task.label, 90)}, {figures.seconds(past)}")
            st.skeleton(height=max(40, height - 40))
        else:
            far = figures.progress(task) or figures.seconds(past)
            st.progress(task.share, text=f"{plain(task.text or task.label, 90)}  \n:gray[{plain(far)}]")
            st.button(
                "Cancel", icon=":material/stop_circle:", type="tertiary", on_click=_stop, args=(asked,),
                key=session.wkey("explain", "stop", task.id),
            )  # fmt: skip
            st.skeleton(height=max(40, height - 110))

    waiting()


def _failed(app: Application, asked: Asked, label: str) -> None:
    error = asked.error
    if isinstance(error, Stopped):
        st.info(f"{plain(label)}: stopped.", icon=":material/stop_circle:")
    elif isinstance(error, LexsiError):
        st.error(sentence(error), icon=":material/error:")
    elif error is not None:
        st.error(unknown(label, log_id(error, label)), icon=":material/error:")
    st.button(
        "Try again", icon=":material/refresh:", type="tertiary", on_click=_again, args=(app, asked.key),
        key=session.wkey("explain", "again", *asked.key[1:]),
    )  # fmt: skip


@careful
def _stop(asked: Asked) -> None:
    if asked.task:
        asked.task.cancel.set()


@careful
def _again(app: Application, key: Key) -> None:
    board(app).again(key)
