"""An answer while a model writes it: whole sentences whose every number is a fact, as they come.

Text before a tool call looks like an answer until the call comes; whoever draws it begins anew at the next ``thinking`` or
``tool``. Must never: hand out half a sentence, or one that the finished answer would not hold.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from lexsi_ds.facts import Checked, whole_sentences

_FINAL = re.compile(r'"final_answer"\s*:\s*"((?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])*)("?)')
_JSON_BEGINS = ("{", "`")


class AnswerStream:
    """Takes the pieces of one reply after the other."""

    def __init__(
        self, say: Callable[[str], None], check: Callable[[str], Checked], restart: Callable[[], None], wanted: Callable[[], bool]
    ) -> None:
        """``say`` gets what may be shown, ``restart`` is called when it was shown in vain, ``wanted`` says whether words of the
        model will be the answer at all."""
        self._say, self._check, self._restart, self._wanted = say, check, restart, wanted
        self._native, self._text, self.shown = False, "", ""

    def begin(self, *, native: bool) -> None:
        """A new decision of the model; what was shown of an earlier one is no answer."""
        self._native, self._text, self.shown = native, "", ""

    def again(self) -> None:
        """The reply is asked for anew, from its beginning."""
        if self.shown:
            self._restart()
        self._text, self.shown = "", ""

    def take(self, piece: str) -> None:
        """A piece of the reply's text."""
        self._text += piece
        if not self._wanted() or not any(end in piece for end in ".!?\n \"'*)"):
            return
        grown = self._check(whole_sentences(self._prose())).text
        if len(grown) > len(self.shown) and grown.startswith(self.shown):
            new, self.shown = grown[len(self.shown) :], grown
            self._say(new)

    def rest(self, answer: str) -> str:
        """What is still to be said of the finished answer; all of it, begun anew, where it is not what was shown."""
        if answer.startswith(self.shown):
            return answer[len(self.shown) :]
        self.again()
        return answer

    def _prose(self) -> str:
        """The part of the reply that is meant for the person, as far as it came."""
        if (final := _FINAL.search(self._text)) is not None:
            words = json.loads(f'"{final[1]}"', strict=False)
            return words.encode("utf-8", "ignore").decode() + ("\n" if final[2] else "")
        plain = self._native and not self._text.lstrip().startswith(_JSON_BEGINS)
        return self._text.lstrip() if plain else ""
