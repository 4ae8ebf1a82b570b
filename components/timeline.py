"""The steps of a turn: live as they happen, or folded away behind one line. The same labels and payloads in both.

A replayed timeline reads a step's payload only when it is opened, so a long conversation stays cheap to draw.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import streamlit as st

from components import figures, payloads, problems, session
from components.payloads import ArtifactLike
from components.safe import plain, safe_md
from components.turn import Step, TurnView

SUMMARY_LINES = 4
"""Lines of what the planner was told that a step shows; the payload below has it all."""
LABEL_S = 0.6
"""How long the label of a running turn names a step at least, in seconds."""
Artifacts = Callable[[str], ArtifactLike]
"""Reads an artifact by id, for one person."""


def label(step: Step) -> str:
    """What a step's line says: "Calling run_sql…" while it works, then its name, argument and time."""
    argument = plain(step.about, 80)
    if step.ok is None:
        progress = f" {round(100 * step.share)}%" if step.total else ""
        words = plain(step.text, 60) or argument
        return f":shimmer[Calling {plain(step.name)}…]{progress}" + (f" :gray[{words}]" if words else "")
    seconds = figures.seconds(step.seconds) if step.seconds is not None else ""
    detail = ", ".join(part for part in (argument, seconds) if part)
    failed = "" if step.ok else " :red[did not work]"
    return f"{plain(step.name)}{failed}" + (f" :gray[{detail}]" if detail else "")


def _summary(step: Step) -> None:
    """What the planner was told. Always drawn: a step without content cannot be opened."""
    lines = step.summary.strip().splitlines() or ["No summary."]
    text = "\n".join(line[:160] for line in lines[:SUMMARY_LINES])
    st.text(text + (f"\n… {len(lines) - SUMMARY_LINES} more lines" if len(lines) > SUMMARY_LINES else ""))


def _body(step: Step, run_id: str, artifacts: Artifacts) -> None:
    for artifact_id in step.artifact_ids:
        with problems.guarded("This step"):
            payloads.draw(step.name, artifacts(artifact_id), payloads.payload_key(run_id, step.call_id, artifact_id))
    if step.ok is None and step.total:
        st.progress(step.share)


@st.fragment
def replay(view: TurnView, artifacts: Artifacts) -> None:
    """The folded timeline of a turn that is over; opening it redraws nothing else."""
    if not view.steps:
        return
    outer = st.expander(view.line, type="compact", on_change="rerun", key=session.wkey("steps", view.run_id))
    if not outer.open:
        return
    with outer:
        for step in view.steps:
            state = ":material/check_circle:" if step.ok else ":material/error:"
            inner = st.expander(
                label(step),
                type="step",
                icon=state,
                on_change="rerun",
                key=session.wkey("step", view.run_id, step.call_id),
            )
            with inner:
                _summary(step)
                if inner.open:
                    _body(step, view.run_id, artifacts)


class LiveTurn:
    """Draws a run while it goes: one compact status that holds a step a tool, and the words below it."""

    def __init__(self, view: TurnView, artifacts: Artifacts) -> None:
        self.view, self._artifacts = view, artifacts
        self._seen: dict[str, float] = {}
        self._label = self._doing()
        self._outer = st.status(self._label, type="compact", expanded=True)
        self._words = st.empty()
        self._steps: dict[str, Any] = {}
        self._shown = ""

    def feed(self, batch: list[dict[str, Any]]) -> None:
        """Take events and draw what changed, each thing once."""
        for call_id in self.view.feed(batch):
            step = self.view.step(call_id)
            if step:
                self._draw(step)
        if not self.view.over and self._doing() != self._label:
            self._label = self._doing()
            self._outer.update(label=self._label, expanded=True)
        if self.view.narrative != self._shown:
            self._shown = self.view.narrative
            self._words.markdown(safe_md(self._shown))

    def _doing(self) -> str:
        running = next((s for s in reversed(self.view.steps) if s.ok is None or self._just_called(s)), None)
        if running:
            return f":shimmer[{plain(f'Calling {running.name}…')}]"
        words = self.view.thinking or "Thinking…"
        return f":shimmer[{plain(words, 120)}]"

    def _just_called(self, step: Step) -> bool:
        """Whether a quick step was only just seen: its label stays long enough to be read."""
        return time.monotonic() - self._seen.setdefault(step.call_id, time.monotonic()) < LABEL_S

    def _draw(self, step: Step) -> None:
        status = self._steps.get(step.call_id)
        if status is None:
            # Not `with`: leaving a status marks it as complete.
            status = self._steps[step.call_id] = self._outer.status(label(step), type="step", state="running")
        if step.ok is None:
            status.update(label=label(step))
            return
        status.update(label=label(step), state="complete" if step.ok else "error")
        with status.container():
            _summary(step)
            _body(step, self.view.run_id, self._artifacts)
