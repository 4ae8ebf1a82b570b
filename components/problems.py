"""What a person sees when something goes wrong: what, why, what to do, and a short id that the log knows.

``guarded`` wraps a page's body, ``careful`` a callback. Neither catches the end of a script (a rerun, a stop, a closed tab):
those do not derive from Exception. Must never show a traceback or the text of an unknown error.
"""

from __future__ import annotations

import functools
import logging
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec

import streamlit as st

from components import session
from components.safe import plain
from lexsi_ds.errors import Conflict, LexsiError, Stopped

log = logging.getLogger("lexsi_ds.page")
P = ParamSpec("P")


def sentence(error: LexsiError) -> str:
    """A known error as safe Markdown: what, where, what to do."""
    place = f" :gray[{plain(error.where)}]" if error.where else ""
    what = plain(error.what, 600)
    return f"**{what}**{place}" + (f"  \n{plain(error.to_do, 600)}" if error.to_do else "")


def log_id(error: BaseException, place: str) -> str:
    """Log an error with its traceback; the short id is what the person reads out."""
    short = secrets.token_hex(2)
    log.error("page error %s in %s", short, place, exc_info=error)
    return short


def unknown(place: str, short: str) -> str:
    """What is said of a bug."""
    return f"**{place} could not be drawn.** Something unexpected happened; nothing was lost. Reload the page. Log id {short}."


@contextmanager
def guarded(place: str) -> Iterator[None]:
    """Draw a part of a page; an error in it becomes a message in its place and the rest of the page stands."""
    try:
        yield
    except Stopped:
        st.info("Stopped.", icon=":material/stop_circle:")
    except LexsiError as error:
        st.error(sentence(error), icon=":material/error:")
    except Exception as error:
        st.error(unknown(place, log_id(error, place)), icon=":material/error:")


def careful(callback: Callable[P, None]) -> Callable[P, None]:
    """A callback whose errors become a notice on the page that is drawn next."""

    @functools.wraps(callback)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            callback(*args, **kwargs)
        except Conflict as error:
            session.notify("warning", sentence(error))
        except LexsiError as error:
            session.notify("error", sentence(error))
        except Exception as error:
            session.notify("error", unknown("That", log_id(error, callback.__qualname__)))

    return wrapped


def draw_notices() -> None:
    """Show the messages that callbacks left: good news in passing, so that nothing moves; trouble in place, so that it stays."""
    icons = {"success": "check_circle", "info": "info", "warning": "warning", "error": "error"}
    for notice in session.take_notices():
        icon = f":material/{icons[notice.kind]}:"
        if notice.kind in ("success", "info"):
            st.toast(notice.text, icon=icon)
        else:
            (st.error if notice.kind == "error" else st.warning)(notice.text, icon=icon)
