"""Asks the items, one conversation each, and hands them to the judge. Turns that were asked already are not asked anew."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench.asking import Chat, Told, ask_once, play
from bench.pkdd.items import Item, bank, load
from bench.pkdd.judging import Judge
from bench.pkdd.scripted import ScriptedPlanner
from bench.verdict import Judged, Verdict, tools_fit
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle

_Asked = tuple[Chat, tuple[Told, ...]]


class Runner:
    """One pass over the items on one application."""

    def __init__(self, app: Application, folder: Path) -> None:
        self._app, self._folder = app, folder
        self._handle: DatasetHandle = app.catalog.ensure_demo(app.person())
        self._judge = Judge(bank(), self._found)
        self._asked: dict[tuple[str, ...], _Asked] = {}
        self._handle_warm()

    def run(self, items: Sequence[Item]) -> Iterator[Judged]:
        """Each item with its verdict, as it is known."""
        self._asked.clear()
        self._prepare(items)
        for item in items:
            yield self._one(item)

    def _handle_warm(self) -> None:
        self._app.knowledge(self._handle)
        self._app.sql.frame(self._handle, "SELECT 1")

    def _prepare(self, items: Sequence[Item]) -> None:
        """A question for an explanation alone needs a model that is there: the first turn of another one trains it."""
        turns = next((i.asked for i in load() if i.expect == "explain" and len(i.asked) > 1), None)
        if turns is not None and any(i.expect == "explain" for i in items):
            self._turns(turns[:1])

    def _one(self, item: Item) -> Judged:
        try:
            with self._library(item.documents):
                told = self._told(item)
            verdict = self._judge(item, told)
        except Exception as error:  # a crash of the product is a result of the bench, not its end
            return Judged(item.id, item.kind, item.asked[-1], Verdict("failed", "crashed", f"{type(error).__name__}: {error}"))
        ran = tuple(c.tool for c in told[-1].calls)
        expected = item.expected_tools(told[-1].state)
        fits = None if expected is None or verdict.outcome != "right" else tools_fit(expected, ran)
        if fits is False:
            verdict = Verdict("right", "wrong_tool_sequence", f"ran {', '.join(ran) or 'nothing'}")
        seconds, tokens = told[-1].seconds, sum(t.tokens for t in told)
        return Judged(item.id, item.kind, " > ".join(item.asked), verdict, ran, fits, seconds, tokens, _signature(told[-1]))

    @contextlib.contextmanager
    def _library(self, texts: Mapping[str, str]) -> Iterator[None]:
        """These documents and no others, while an item is asked."""
        actor, kept = self._app.person(), []
        try:
            for name, text in texts.items():
                path = self._folder / "document.tmp"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
                kept.append(self._app.documents.add(actor, path, name).document.id)
            yield
        finally:
            for document_id in kept:
                self._app.documents.delete(actor, document_id)

    def _told(self, item: Item) -> tuple[Told, ...]:
        if item.calls:
            return (play(self._app, self._handle, item.asked[-1], ScriptedPlanner(item.calls), self._folder),)
        if item.context:
            return (ask_once(self._app, self._handle, item.asked[-1], self._folder, hints=item.context),)
        return self._turns(item.asked)[1]

    def _turns(self, turns: tuple[str, ...]) -> _Asked:
        """The turns in one conversation; a beginning that was asked already is taken up by a copy of its conversation."""
        if turns not in self._asked:
            if len(turns) == 1:
                chat, before = Chat(self._app, self._handle.source_id), ()
            else:
                first, before = self._turns(turns[:-1])
                chat = first.fork()
            self._asked[turns] = (chat, (*before, chat.ask(turns[-1])))
        return self._asked[turns]

    def _found(self, told: Told) -> str | None:
        """Proposes what the run found; the verdict of its check."""
        actor = self._app.person()
        draft = self._app.draft_finding(actor, told.run_id, self._handle.source_id)
        return self._app.propose_finding(actor, draft).verdict if draft is not None else None


def _signature(told: Told) -> str:
    """What a second run must give again: the end, the words without the number of a log line, the tools and the rows."""
    body = [told.state, re.sub(r"Log id \w+", "", told.text), [(c.tool, c.ok) for c in told.calls], told.rows]
    return json.dumps(body, default=str, sort_keys=True)
