"""The words of a verdict, and the table that counts them. What counts as wrong is a wrong answer given, never a missing one."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bench.asking import Told

Outcome = Literal["right", "wrong", "abstained", "asked", "failed"]
Reason = Literal[
    "", "wrong_result", "wrong_task", "wrong_text", "wrong_tool_sequence", "abstained", "asked_back", "sql_error", "timeout",
    "crashed", "should_have_abstained",
]  # fmt: skip
OUTCOMES: tuple[Outcome, ...] = ("right", "wrong", "abstained", "asked", "failed")
DISCOVERY = frozenset({
    "inspect_data", "query_kg", "sample_values", "get_columns", "describe_dataset", "list_datasets", "list_data_connectors",
    "compare_schemas",
})  # fmt: skip
"""Tools that only look: they may run beside the ones that a question needs."""


@dataclass(frozen=True)
class Verdict:
    """How one question ended, why, and in which words."""

    outcome: Outcome
    reason: Reason = ""
    detail: str = ""


@dataclass(frozen=True)
class Judged:
    """A question with its verdict and what it took."""

    id: str
    kind: str
    question: str
    verdict: Verdict
    tools: tuple[str, ...] = ()
    tools_fit: bool | None = None
    """Whether the expected tools ran in order; None where nothing is expected."""
    seconds: float = 0.0
    tokens: int = 0
    signature: str = ""
    """What must be the same on a second run."""


def no_answer(told: Told) -> Verdict | None:
    """The verdict on a run that gave no answer; None when it gave one."""
    if told.timed_out or told.state in ("limit_reached", "stopped"):
        return Verdict("failed", "timeout", told.text)
    if told.state in ("cannot_answer", "refused"):
        return Verdict("abstained", "abstained", told.text)
    if told.state == "needs_clarification":
        return Verdict("asked", "asked_back", told.text)
    if told.state != "answered":
        broke = told.calls[-1].tool if told.calls and not told.calls[-1].ok else ""
        return Verdict("failed", "sql_error" if broke in ("run_sql", "text_to_sql") else "crashed", told.text)
    return None


def tools_fit(expected: Sequence[str], ran: Sequence[str]) -> bool:
    """Whether exactly the expected tools ran, in order: one that ends with ``?`` may be left out, and so may what only looks."""
    named = {t.rstrip("?") for t in expected}
    left = [t for t in ran if t in named or t not in DISCOVERY]
    for tool in expected:
        if left[:1] == [tool.rstrip("?")]:
            left.pop(0)
        elif not tool.endswith("?"):
            return False
    return not left


def says(pattern: str | None, told: Told) -> bool:
    """Whether what a person reads matches; no pattern matches all."""
    return pattern is None or re.search(pattern, told.text) is not None


def table(judged: Sequence[Judged]) -> str:
    """Counts by kind, tool sequences, seconds and tokens; then the rates that matter."""
    width = max((len(j.kind) for j in judged), default=4) + 2
    head = (*OUTCOMES, "tools", "median ms", "p95 ms", "tokens")
    lines = [f"{'kind':{width}}" + "".join(f"{n:>11}" for n in head)]
    for kind in dict.fromkeys(j.kind for j in judged):
        lines.append(f"{kind:{width}}" + _row([j for j in judged if j.kind == kind]))
    lines += [f"{'all':{width}}" + _row(judged), "", rates(judged)]
    if reasons := Counter(j.verdict.reason for j in judged if j.verdict.reason):
        lines.append("reasons: " + ", ".join(f"{name} {n}" for name, n in reasons.most_common()))
    return "\n".join(lines)


def rates(judged: Sequence[Judged]) -> str:
    """Accuracy, wrong answers and abstentions as shares of all questions."""
    total, counts = max(len(judged), 1), Counter(j.verdict.outcome for j in judged)
    shares = ", ".join(f"{name} {counts[name] / total:.1%}" for name in OUTCOMES)
    return f"{len(judged)} questions: {shares}"


def _row(judged: Sequence[Judged]) -> str:
    counts = Counter(j.verdict.outcome for j in judged)
    fits = [j.tools_fit for j in judged if j.tools_fit is not None]
    seconds = sorted(j.seconds for j in judged) or [0.0]
    cells = [
        *(str(counts[n]) for n in OUTCOMES), f"{sum(fits)}/{len(fits)}", f"{statistics.median(seconds) * 1000:.0f}",
        f"{seconds[min(len(seconds) - 1, int(0.95 * len(seconds)))] * 1000:.0f}", str(sum(j.tokens for j in judged)),
    ]  # fmt: skip
    return "".join(f"{c:>11}" for c in cells)
