"""The planner that asks a language model: native tool calls where the endpoint makes them, else one JSON decision a step.

A malformed reply gets one precise message about what is wrong; three malformed ones in a row end the planning. What the model
cannot see (payloads, masked values, secrets) is never in a message, since only observations are.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from lexsi_ds.agent.decisions import Answer, AskUser, CallTool, CallTools, Decision, PlanState, Step
from lexsi_ds.agent.prompts import ASK_USER, FORCE_FINAL, FORCE_FINAL_NATIVE, native_offers, planner_system, quote_data
from lexsi_ds.errors import EndpointFailed
from lexsi_ds.llm.gathering import OnText
from lexsi_ds.llm.wire import Message, Reply, ToolOffer

MAX_REPAIRS = 2
WHOLE = 12_000
"""Most characters of the last observations together; each is shown whole as long as they fit."""
_BEFORE, _OLDER, _ARGS = 1_200, 240, 300
"""Characters of the observations before, of older ones, and of the arguments of older calls."""


_NEVER_CUT = ("read_document",)
"""A document is read whole or not at all; its budget and its longest length bound it."""


class PlannerLLM(Protocol):
    """What a planner needs of a client."""

    model: str

    def complete(
        self, system: str, messages: list[Message], *, tools: tuple[ToolOffer, ...] = (), purpose: str = "",
        on_text: OnText | None = None, on_again: Callable[[], None] | None = None,
    ) -> Reply:
        """One reply."""
        ...


@dataclass(frozen=True)
class Prompt:
    """What leaves for the endpoint at one step."""

    system: str
    messages: list[Message]
    tools: tuple[ToolOffer, ...]

    @property
    def text(self) -> str:
        """All of it as one text, for counting."""
        offers = [o.as_json() for o in self.tools]
        return self.system + json.dumps(self.messages, ensure_ascii=False) + (json.dumps(offers) if offers else "")


class LLMPlanner:
    """One decision a step."""

    def __init__(self, llm: PlannerLLM, *, native: bool | Callable[[], bool] = False) -> None:
        """``native`` may be found out at the first step."""
        self._llm, self._finds = llm, native
        self.name = llm.model

    @cached_property
    def _native(self) -> bool:
        return self._finds() if callable(self._finds) else self._finds

    @property
    def usage(self) -> dict[str, int]:
        """Tokens of the whole run are counted by the client."""
        return {}

    def decide(self, state: PlanState) -> Decision:
        """Ask the model; repair a malformed reply at most ``MAX_REPAIRS`` times, then EndpointFailed."""
        prompt = self.prompt(state)
        messages, problem, listener = prompt.messages, "", state.listener
        if listener is not None:
            listener.begin(native=self._native)
        heard = (None, None) if listener is None else (listener.take, listener.again)
        for _ in range(MAX_REPAIRS + 1):
            reply = self._llm.complete(
                prompt.system, messages, tools=prompt.tools, purpose="plan", on_text=heard[0], on_again=heard[1]
            )
            try:
                return self._decision(reply, state)
            except ValueError as error:
                problem = str(error)
                if listener is not None:
                    listener.again()
                said = reply.text[:2000] or json.dumps([c.as_json()["function"] for c in reply.calls])[:2000]
                wrong: list[Message] = [{"role": "assistant", "content": said}, {"role": "user", "content": problem}]
                messages = [*messages, *wrong]
        raise EndpointFailed(
            f"The language model gave no usable decision: {problem}",
            where=self.name,
            to_do="Try again, or choose another model.",
        )

    def prompt(self, state: PlanState) -> Prompt:
        """What the model is asked at this step. Its size is bounded whatever the data, however long the run."""
        native = self._native
        system = planner_system(state.dataset_summary, state.tools, state.context, native=native, reviewed=state.reviewed)
        offers = native_offers(state.tools) if native and not state.force_final else ()
        return Prompt(system, _messages(state, native=native), offers)

    def _decision(self, reply: Reply, state: PlanState) -> Decision:
        if reply.calls and not state.force_final:
            return _called(reply)
        if self._native and _object_in(reply.text) is None:
            text = reply.text.strip()
            if not text:
                raise ValueError("Your reply was empty. Call a tool, or reply with the answer as plain text.")
            if reply.cut:
                raise ValueError("Your reply was cut off at its longest length. Answer in a few sentences.")
            return Answer(text)
        return parse_decision(reply.text, final_only=state.force_final, cut=reply.cut)


def _called(reply: Reply) -> Decision:
    """Native calls as a decision. ValueError says what is wrong with one."""
    calls = []
    for use in reply.calls:
        if not use.name:
            raise ValueError("A tool call held no name. Call a tool by its name.")
        args = use.args()
        if use.name == ASK_USER:
            return _asked(args)
        calls.append(CallTool(use.name, args, reply.text.strip()[:500]))
    return calls[0] if len(calls) == 1 else CallTools(tuple(calls))


def _asked(args: dict[str, Any]) -> AskUser:
    question, options = args.get("question"), args.get("options")
    if not isinstance(question, str) or not question.strip():
        raise ValueError('ask_user needs a "question" that is a text.')
    if not isinstance(options, list) or not 2 <= len(options) <= 8 or not all(isinstance(o, str) and o.strip() for o in options):
        raise ValueError('ask_user needs "options": a list of 2 to 5 short texts to choose from.')
    return AskUser(question.strip()[:500], tuple(dict.fromkeys(o.strip()[:200] for o in options)))


def parse_decision(text: str, *, final_only: bool = False, cut: bool = False) -> Decision:
    """The decision in a reply; prose or a fence around the one JSON object is let pass. ValueError says what to mend."""
    body = _object_in(text)
    if body is None:
        if cut:
            raise ValueError("Your reply was cut off at its longest length. Reply with one short JSON object and nothing else.")
        if not text.strip():
            raise ValueError("Your reply was empty. Reply with a single JSON object and nothing else.")
        raise ValueError("Your reply held no JSON object. Reply with a single JSON object and nothing else.")
    thought = str(body.get("thought", ""))
    final = body.get("final_answer")
    if final is not None:
        if not isinstance(final, str) or not final.strip():
            raise ValueError('"final_answer" must be a text that is not empty.')
        return Answer(final.strip())
    if final_only:
        raise ValueError('No step is left: reply with {"thought": "...", "final_answer": "..."}.')
    tool, args = body.get("tool", body.get("name")), body.get("args", body.get("arguments", {}))
    if not isinstance(tool, str) or not tool:
        raise ValueError('The object needs "tool" (a tool\'s name) with "args", or "final_answer".')
    if not isinstance(args, dict):
        raise ValueError('"args" must be a JSON object.')
    return _asked(args) if tool == ASK_USER else CallTool(tool, args, thought)


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


def _messages(state: PlanState, *, native: bool) -> list[Message]:
    messages: list[Message] = [{"role": "user", "content": f"Question: {state.question}"}]
    shown = _sizes(state.steps)
    for i, (step, size) in enumerate(zip(state.steps, shown, strict=True)):
        messages += _native_step(step, i, size) if native and step.tool != "final_answer" else _json_step(step, size)
    for asked, answer in state.answered:
        messages.append({"role": "assistant", "content": f"I asked the user: {asked}"})
        messages.append({"role": "user", "content": f"The user answered: {answer}\nGo on with the question."})
    if state.force_final:
        messages.append({"role": "user", "content": FORCE_FINAL_NATIVE if native else FORCE_FINAL})
    return messages


def _sizes(steps: list[Step]) -> list[int]:
    """How many characters of each step's observation are shown: all of the last decision's, few of older ones."""
    batches = sorted({s.batch for s in steps})
    last, before = (batches[-1] if batches else 0), (batches[-2] if len(batches) > 1 else -1)
    each = WHOLE // max(1, sum(1 for s in steps if s.batch == last))
    sizes = {last: each, before: _BEFORE}
    return [max(len(s.summary), _OLDER) if s.tool in _NEVER_CUT else sizes.get(s.batch, _OLDER) for s in steps]


def _json_step(step: Step, size: int) -> list[Message]:
    call = {"thought": _short(step.thought, _ARGS), "tool": step.tool, "args": _args(step, size)}
    made: Message = {"role": "assistant", "content": json.dumps(call, default=str)}
    return [made, {"role": "user", "content": _observation(step, size)}]


def _native_step(step: Step, place: int, size: int) -> list[Message]:
    call_id = f"call_{place}"
    function = {"name": step.tool, "arguments": json.dumps(_args(step, size), default=str)}
    return [
        {
            "role": "assistant",
            "content": _short(step.thought, _ARGS) or None,
            "tool_calls": [{"id": call_id, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": call_id, "content": _observation(step, size)},
    ]


def _args(step: Step, size: int) -> dict[str, Any]:
    """The arguments of a call; long ones of older calls by their beginning."""
    if size > _BEFORE:
        return {k: _short(v, 4_000) if isinstance(v, str) else v for k, v in step.args.items()}
    return {k: _short(v if isinstance(v, str) else json.dumps(v, default=str), _ARGS) for k, v in step.args.items()}


def _observation(step: Step, size: int) -> str:
    head = "refused" if step.refused else "ok" if step.ok else "failed"
    text = step.summary if len(step.summary) <= size else step.summary[:size] + " … (older observation, cut)"
    return f"Observation of {step.tool} ({head}):\n" + quote_data(step.tool, text)


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[:longest] + "…"
