"""What the catalog's tools share: they ask the service as the run's person, and say refusals as the loop wants them.

Must never: put more of a long list into a summary than fits; the rest is in the payload and behind the cursor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lexsi_ds.agent.tools.base import SUMMARY_CAP, ToolResult, refuse
from lexsi_ds.errors import Ambiguous, LexsiError

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext
    from lexsi_ds.services.datasets import Datasets

Json = dict[str, Any]
_ROOM = SUMMARY_CAP - 200


def asked(ctx: AgentContext, ask: Callable[[Datasets], Json], told: Callable[[Json], list[str]]) -> ToolResult:
    """The service's answer as payload, its lines as summary."""
    if ctx.datasets is None:
        return refuse("There is no catalog here: only the active data set can be read. Use inspect_data.")
    try:
        answer = ask(ctx.datasets)
    except Ambiguous as error:
        return refuse(str(error), code=error.code, candidates=list(error.candidates))
    except LexsiError as error:
        return refuse(str(error), code=error.code)
    return ToolResult(ok=True, summary=fitted(told(answer)), payload=answer)


def fitted(lines: list[str]) -> str:
    """As many whole lines as fit, and how many there are beyond."""
    kept, room = [], _ROOM
    for i, line in enumerate(lines):
        short = line if len(line) <= 400 else line[:399] + "…"
        if len(short) + 1 > room:
            return "\n".join([*kept, f"({len(lines) - i} more lines are left out here.)"])
        kept.append(short)
        room -= len(short) + 1
    return "\n".join(kept)


def counted(answer: Json, what: str) -> str:
    """The first line of a list: how many of how many, and how to go on."""
    more = f" More: cursor={answer['nextCursor']}" if answer.get("nextCursor") else ""
    return f"{answer['count']} of {answer['total']} {what}.{more}"


def plain(value: Any) -> str:
    """A value in a line: numbers short."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
