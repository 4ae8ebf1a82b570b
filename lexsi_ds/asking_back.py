"""A question back at the command line: its options, numbered, and the answer of a person at the terminal or of ``--answer``.

Must never: wait for somebody where nobody is at a terminal.
"""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Iterable, Sequence
from typing import IO

from lexsi_ds.errors import BadInput, Stopped

MOST = 8
"""Most questions back in one go."""


class Answers:
    """What is answered to the questions back of one question: first what was given beforehand, then what a person types."""

    def __init__(self, given: Iterable[str], *, person: bool) -> None:
        self._given, self._person, self._asked = list(given), person, 0
        self.used: list[str] = []

    def next(self, options: Sequence[str]) -> str | None:
        """The answer, an option's number made the option; None when there is none. Raises BadInput, Stopped."""
        self._asked += 1
        if self._asked > MOST:
            return None
        if self._given:
            said = self._given.pop(0)
        elif self._person and sys.stdin.isatty() and sys.stderr.isatty():
            said = _typed()
        else:
            return None
        answer = _meant(said, options)
        if answer:
            self.used.append(answer)
        return answer or None


def show(options: Sequence[str], out: IO[str]) -> None:
    """The options, numbered."""
    for number, option in enumerate(options, 1):
        print(f"  {number}. {option}", file=out)


def how_to_answer(question: str, dataset: str, used: Sequence[str], out: IO[str]) -> None:
    """The command that answers."""
    before = [part for answer in used for part in ("--answer", answer)]
    command = shlex.join(["python", "-m", "lexsi_ds", "ask", question, "--dataset", dataset, *before])
    print(f"To answer, give an option's number, or your own words:\n  {command} --answer 1", file=out)


def _typed() -> str:
    """A line of the terminal; Ctrl-C ends the command, an empty line or the end of input answers nothing."""
    sys.stderr.write("Your answer (a number, or your own words; empty to leave it): ")
    sys.stderr.flush()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return sys.stdin.readline()
    except KeyboardInterrupt:
        raise Stopped from None
    finally:
        signal.signal(signal.SIGINT, before)


def _meant(said: str, options: Sequence[str]) -> str:
    text = said.strip()
    if not text.isdecimal() or not options:
        return text
    if not 1 <= int(text) <= len(options):
        raise BadInput(f"There are {len(options)} options.", where=f"--answer {text[:20]}", to_do="Give the number of one, from 1.")
    return options[int(text) - 1]
