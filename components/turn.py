"""A turn of a conversation as the screen needs it: events folded into steps, words and a state. Pure; draws nothing.

Live and replayed turns are the same fold, so a turn looks the same after a reload. Must never: drop an event silently, or
read anything that is not in the events.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from components import figures
from lexsi_ds.agent.events import RunState

CONTEXT_LABELS = frozenset({"context_df", "predict_df"})
"""Labels of frames that feed a model: shown in their step, not as an answer."""


@dataclass
class Step:
    """One tool call: what was asked of it and what came back."""

    call_id: str
    name: str
    argument: str = ""
    args: dict[str, Any] = field(default_factory=dict)
    ok: bool | None = None
    """None while it is at work."""
    summary: str = ""
    seconds: float | None = None
    artifact_ids: list[str] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)
    done: float = 0.0
    total: float = 0.0
    text: str = ""

    @property
    def about(self) -> str:
        """What its line says it is about: the label of a query's rows, else the argument."""
        return str(self.args.get("label") or self.argument)

    @property
    def share(self) -> float:
        """Progress from 0 to 1; 0 while the total is not known."""
        return min(self.done / self.total, 1.0) if self.total else 0.0


@dataclass
class TurnView:
    """What has been heard of a run so far."""

    run_id: str
    question: str
    seq: int = 0
    steps: list[Step] = field(default_factory=list)
    thinking: str = ""
    text: str = ""
    """The answer as it was streamed."""
    answer: str | None = None
    asked: str | None = None
    options: list[str] = field(default_factory=list)
    learns: list[dict[str, str]] = field(default_factory=list)
    """What choosing an option teaches, in the options' order."""
    problems: list[str] = field(default_factory=list)
    state: RunState | None = None
    reading: str | None = None
    caveats: list[str] = field(default_factory=list)
    suggestions: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    offer: dict[str, Any] | None = None
    """What can be finished by point and click."""
    given: dict[str, Any] | None = None
    """What the run was given instead of words."""
    view: dict[str, Any] | None = None
    """How a person wants its result drawn."""
    usage: dict[str, int] = field(default_factory=dict)
    cost: float | None = None
    """What the model's tokens cost, where the person's price table says."""
    started: float = 0.0
    ended: float = 0.0

    @property
    def over(self) -> bool:
        """Whether the last event was heard."""
        return self.state is not None

    @property
    def narrative(self) -> str:
        """The words of the answer, final or as far as they came."""
        return self.answer if self.answer is not None else self.text

    def step(self, call_id: str) -> Step | None:
        """The step of a call; None when its start was not heard."""
        return next((s for s in self.steps if s.call_id == call_id), None)

    def feed(self, events: Iterable[Mapping[str, Any]]) -> list[str]:
        """Take events in order; the call ids of the steps that changed. Events seen before are skipped."""
        changed: list[str] = []
        for event in events:
            seq = int(event.get("seq") or 0)
            if seq and seq <= self.seq:
                continue
            self.seq = max(self.seq, seq)
            self.started = self.started or float(event.get("ts") or 0)
            self.ended = max(self.ended, float(event.get("ts") or 0))
            call_id = self._take(event)
            if call_id and call_id not in changed:
                changed.append(call_id)
        return changed

    def _take(self, event: Mapping[str, Any]) -> str | None:
        match event.get("type"):
            case "thinking":
                self.thinking, self.text = str(event.get("text") or ""), ""
            case "delta":
                self.text += str(event.get("text") or "")
            case "ask":
                self.asked, self.options = (
                    str(event.get("question") or ""),
                    [str(o) for o in event.get("options") or []],
                )
                self.learns = [dict(each) for each in event.get("learns") or []]
            case "error":
                self.problems.append(str(event.get("message") or ""))
            case "tool":
                self.text = ""  # what was written before a call was no answer
                self.steps.append(
                    Step(
                        str(event["call_id"]),
                        str(event["name"]),
                        str(event.get("argument") or ""),
                        dict(event.get("args") or {}),
                    )
                )
                return self.steps[-1].call_id
            case "progress" | "tool_result":
                return self._take_of_step(event)
            case "done":
                self._finish(event)
        return None

    def _take_of_step(self, event: Mapping[str, Any]) -> str | None:
        step = self.step(str(event.get("call_id")))
        if step is None:
            return None
        if event["type"] == "progress":
            step.done, step.total = float(event.get("done") or 0), float(event.get("total") or 0)
            step.text = str(event.get("text") or "")
        else:
            step.ok, step.summary = bool(event.get("ok")), str(event.get("summary") or "")
            step.artifact_ids, step.meta = list(event.get("artifact_ids") or []), dict(event.get("meta") or {})
            step.seconds = step.meta.get("seconds")
        return step.call_id

    def _finish(self, event: Mapping[str, Any]) -> None:
        self.state = event["state"]
        self.answer, self.reading = event.get("answer"), event.get("reading")
        self.caveats, self.suggestions = list(event.get("caveats") or []), list(event.get("suggestions") or [])
        self.offer = event.get("offer")
        self.removed, self.usage = list(event.get("removed") or []), dict(event.get("usage") or {})
        self.cost = event.get("cost")

    @property
    def line(self) -> str:
        """The compact line: "10 steps, 3.2 s, 1,204 tokens"."""
        parts = [figures.counted(len(self.steps), "step")]
        if self.ended > self.started:
            parts.append(figures.seconds(self.ended - self.started))
        tokens = sum(
            v for k, v in self.usage.items() if k.endswith("tokens") and k != "total_tokens"
        ) or self.usage.get("total_tokens", 0)
        if tokens:
            parts.append(f"{figures.count(tokens)} tokens")
        if self.cost is not None:
            parts.append(f"cost {self.cost:.4f}")
        return ", ".join(parts)

    def last(self, name: str, *, ok: bool = True) -> Step | None:
        """The last step of this tool that succeeded (or, with ``ok=False``, that failed)."""
        return next((s for s in reversed(self.steps) if s.name == name and s.ok is ok), None)

    @property
    def answer_query(self) -> Step | None:
        """The query whose rows are the answer: the last that does not feed a model."""
        if self.last("predict"):
            return None
        queries = [s for s in self.steps if s.name == "run_sql" and s.ok and s.args.get("label") not in CONTEXT_LABELS]
        return queries[-1] if queries else None


def fold(run_id: str, question: str, events: Iterable[Mapping[str, Any]]) -> TurnView:
    """The whole turn from its events."""
    view = TurnView(run_id, question)
    view.feed(events)
    return view
