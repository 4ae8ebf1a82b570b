"""The planner that asks a language model for one JSON decision a step, as the tool reference describes.

A malformed reply gets one precise message about what is wrong, at most twice a step; what the model cannot see (payloads,
masked values, secrets) is never in a message, since only summaries are.
"""

from __future__ import annotations

import json
from typing import Any

from lexsi_ds.agent.decisions import Answer, CallTool, Decision, PlanState, Step
from lexsi_ds.agent.prompts import FORCE_FINAL, planner_system, quote_data
from lexsi_ds.errors import EndpointFailed
from lexsi_ds.llm.client import LLMClient, Message

MAX_REPAIRS = 2
_FULL_OBSERVATIONS = 6
"""The last observations are shown whole; older ones by their first lines."""


class LLMPlanner:
    """Single JSON decision a step."""

    def __init__(self, llm: LLMClient) -> None:
        self._llm = llm
        self.name = llm.model

    @property
    def usage(self) -> dict[str, int]:
        """Tokens of the whole run are counted by the client."""
        return {}

    def decide(self, state: PlanState) -> Decision:
        """Ask the model; repair a malformed reply at most ``MAX_REPAIRS`` times, then EndpointFailed."""
        system = planner_system(state.dataset_summary, state.tools, state.context)
        messages = _messages(state)
        problem = ""
        for _ in range(MAX_REPAIRS + 1):
            reply = self._llm.complete(system, messages)
            try:
                return parse_decision(reply.text, final_only=state.force_final)
            except ValueError as error:
                problem = str(error)
                messages = [
                    *messages,
                    {"role": "assistant", "content": reply.text[:2000]},
                    {"role": "user", "content": problem},
                ]
        raise EndpointFailed(
            f"The language model gave no usable decision: {problem}",
            where=self.name,
            to_do="Try again, or choose another model.",
        )


def parse_decision(text: str, *, final_only: bool = False) -> Decision:
    """The decision in a reply; prose or a fence around the one JSON object is let pass. ValueError says what to mend."""
    body = _object_in(text)
    if body is None:
        raise ValueError("Your reply held no JSON object. Reply with a single JSON object and nothing else.")
    thought = str(body.get("thought", ""))
    final = body.get("final_answer")
    if final is not None:
        if not isinstance(final, str) or not final.strip():
            raise ValueError('"final_answer" must be a text that is not empty.')
        return Answer(final.strip())
    if final_only:
        raise ValueError('No step is left: reply with {"thought": "...", "final_answer": "..."}.')
    tool, args = body.get("tool"), body.get("args", {})
    if not isinstance(tool, str) or not tool:
        raise ValueError('The object needs "tool" (a tool\'s name) with "args", or "final_answer".')
    if not isinstance(args, dict):
        raise ValueError('"args" must be a JSON object.')
    return CallTool(tool, args, thought)


def _object_in(text: str) -> dict[str, Any] | None:
    decoder = json.JSONDecoder()
    start = text.find("{")
    while start != -1:
        try:
            body, _ = decoder.raw_decode(text, start)
        except ValueError:
            start = text.find("{", start + 1)
            continue
        if isinstance(body, dict):
            return body
        start = text.find("{", start + 1)
    return None


def _messages(state: PlanState) -> list[Message]:
    messages: list[Message] = [{"role": "user", "content": f"Question: {state.question}"}]
    old = len(state.steps) - _FULL_OBSERVATIONS
    for i, step in enumerate(state.steps):
        call = {"thought": step.thought, "tool": step.tool, "args": step.args}
        messages.append({"role": "assistant", "content": json.dumps(call, default=str)[:4000]})
        messages.append({"role": "user", "content": _observation(step, short=i < old)})
    if state.force_final:
        messages.append({"role": "user", "content": FORCE_FINAL})
    return messages


def _observation(step: Step, *, short: bool) -> str:
    head = "refused" if step.refused else "ok" if step.ok else "failed"
    text = step.summary if not short or len(step.summary) <= 300 else step.summary[:300] + " … (older observation, cut)"
    return f"Observation of {step.tool} ({head}):\n" + quote_data(step.tool, text)
