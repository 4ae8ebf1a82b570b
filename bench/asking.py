"""Asks the product a question, through the chat path or the command line's, and says what came of it in one value.

The benches judge only what this holds: events and stored artifacts, as a screen would read them. It decides nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from lexsi_ds.agent.loop import AgentLoop, RunLimits
from lexsi_ds.agent.report import plain
from lexsi_ds.agent.results import MemorySink
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.ids import new_id
from lexsi_ds.store.conversations import Conversations

TIMEOUT_S = 300.0
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Made:
    """One artifact: which tool made it, what it says of itself, and its content."""

    tool: str
    meta: dict[str, Any]
    content: Callable[[], Any]
    """A pandas frame, or the JSON value."""


@dataclass(frozen=True)
class Call:
    """One tool call and what it answered."""

    tool: str
    ok: bool
    summary: str


@dataclass(frozen=True)
class Told:
    """What the product did with a question."""

    question: str
    run_id: str
    events: Sequence[Mapping[str, Any]]
    made: tuple[Made, ...]
    seconds: float
    timed_out: bool = False

    @property
    def done(self) -> Mapping[str, Any]:
        """The last event; an interrupted run has one made up for it."""
        last = self.events[-1] if self.events else {}
        return last if last.get("type") == "done" else {"state": "interrupted", "answer": None}

    @property
    def state(self) -> str:
        """How the run ended."""
        return str(self.done["state"])

    @property
    def text(self) -> str:
        """All that a person reads at the end: answer, reading, caveats, what went wrong."""
        done, errors = self.done, [e["message"] for e in self.events if e["type"] == "error"]
        parts = [done.get("answer"), done.get("reading"), *done.get("caveats", ()), *errors]
        return "\n".join(str(p) for p in parts if p)

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every tool call that returned, in order."""
        return tuple(Call(e["name"], e["ok"], e["summary"]) for e in self.events if e["type"] == "tool_result")

    @property
    def rows(self) -> list[Row] | None:
        """The rows of the last query that ran; None without one."""
        frames = [m for m in self.made if m.tool == "run_sql"]
        return cells(frames[-1].content()) if frames else None

    @property
    def sql(self) -> str | None:
        """The last query that ran."""
        return next((str(m.meta.get("sql")) for m in reversed(self.made) if m.tool == "run_sql"), None)

    @property
    def tokens(self) -> int:
        """Tokens that a model read and wrote; 0 offline."""
        usage = self.done.get("usage") or {}
        return sum(int(n) for name, n in usage.items() if name.endswith("_tokens"))

    def last(self, tool: str, **meta: Any) -> Made | None:
        """The last artifact of a tool whose meta has these values."""
        fits = (m for m in reversed(self.made) if m.tool == tool and all(m.meta.get(k) == v for k, v in meta.items()))
        return next(fits, None)


def cells(frame: pd.DataFrame) -> list[Row]:
    """Rows of plain cells."""
    return [tuple(plain(v) for v in row) for row in frame.itertuples(index=False, name=None)]


@dataclass
class Chat:
    """One conversation of the app on one source: its questions are follow-ups of each other."""

    app: Application
    source_id: str
    conversation_id: str = field(init=False)

    def __post_init__(self) -> None:
        self.conversation_id = self.app.chats.new(self.app.person(), self.source_id)

    def fork(self) -> Chat:
        """A new conversation that remembers what this one does, so that two questions can follow the same one."""
        copy, kept = Chat(self.app, self.source_id), Conversations(self.app.store)
        record = kept.get(self.conversation_id, self.app.person().id)
        if record is not None and record.memory is not None:
            kept.remember(copy.conversation_id, record.memory)
        return copy

    def ask(self, question: str, timeout_s: float = TIMEOUT_S) -> Told:
        """Ask, wait for the end, and read what was stored."""
        app, actor, started = self.app, self.app.person(), time.perf_counter()
        run_id = app.chats.ask(actor, self.conversation_id, question, self.source_id)
        events: list[dict[str, Any]] = []
        late = False
        while not (events and events[-1]["type"] == "done"):
            left = timeout_s - (time.perf_counter() - started)
            if left <= 0:
                app.chats.stop(actor, run_id)
                late = True
                break
            events += app.chats.events(actor, run_id, after=len(events), wait=min(left, 5.0))
        seconds = time.perf_counter() - started
        made = tuple(
            Made(str(a.meta.get("tool")), a.meta, a.frame if a.kind == "frame" else a.json)
            for a in app.artifacts.of_run(actor, run_id)
        )
        return Told(question, run_id, events, made, seconds, late)


def ask_once(app: Application, handle: DatasetHandle, question: str, folder: Path, *, hints: str = "") -> Told:
    """One question outside a conversation, with the person's own context: the command line's path."""
    run_id = new_id("run")
    ctx = app.answering.context(handle, run_id, folder / run_id, hints=hints)
    sink = MemorySink()
    return _streamed(app.answering.loop(ctx, sink), question, ctx, sink)


def play(app: Application, handle: DatasetHandle, question: str, planner: Any, folder: Path) -> Told:
    """The product's loop, rules and tools with another planner."""
    run_id = new_id("run")
    ctx = app.answering.context(handle, run_id, folder / run_id)
    sink = MemorySink()
    return _streamed(AgentLoop(planner, limits=RunLimits(), sink=sink), question, ctx, sink)


def _streamed(loop: AgentLoop, question: str, ctx: Any, sink: MemorySink) -> Told:
    started = time.perf_counter()
    events = [e.model_dump(mode="json") for e in loop.stream(question, ctx)]
    seconds = time.perf_counter() - started
    made = tuple(Made(str(meta.get("tool")), meta, _content(body)) for body, meta in sink.kept.values())
    return Told(question, ctx.run_id, events, made, seconds)


def _content(body: Any) -> Callable[[], Any]:
    def read() -> Any:
        if not isinstance(body, Path):
            return body
        with pa.memory_map(str(body)) as source:
            return pa.ipc.open_stream(source).read_all().to_pandas()

    return read
