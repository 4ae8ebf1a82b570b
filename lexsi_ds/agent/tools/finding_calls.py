"""What the chat's findings tools share: the reference's tools, called as the run's person, through the door ``chat``.

A call that changes something is previewed and confirmed in one go: the loop lets it through only when the person's own
question asks for it, and what it makes waits for review. Must never: judge a finding where the rules want a person's click.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lexsi_ds.agent.finding_words import table_named
from lexsi_ds.agent.tools.base import ToolResult, refuse
from lexsi_ds.errors import LexsiError

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext
    from lexsi_ds.services.reference import ReferenceTools

Json = dict[str, Any]
VIA = "chat"


def confirmed(call: Callable[[Json], Json], arguments: Json) -> Json:
    """What the confirmed call gave; the preview when nothing can be confirmed. What it raises is raised."""
    preview = call(arguments)
    return call(arguments | {"confirm": True, "confirmationToken": preview["confirmationToken"]})


def told(ctx: AgentContext, do: Callable[[ReferenceTools], Json], said: Callable[[Json], str]) -> ToolResult:
    """The answer as payload and in words; a refusal of the service as the loop wants it."""
    if ctx.reference is None:
        return refuse("There is no place for findings here: ask in a chat of the app.")
    try:
        answer = do(ctx.reference)
    except LexsiError as error:
        return refuse(str(error), code=error.code)
    return ToolResult(ok=True, summary=said(answer), payload=answer)


def dataset_of(name: str, ctx: AgentContext) -> str:
    """A table of the active source by its name before any other dataset of that name."""
    table = table_named(name, ctx)
    return table.dataset_id if table is not None else name


def line(finding: Json) -> str:
    """A finding in a line: its standing, and what its check saw."""
    check = finding.get("lastCheck") or {}
    seen = check.get("observed") or {}
    parts = [finding["review"], finding["verdict"]]
    if check.get("failureCount"):
        parts.append(f"{check['failureCount']} rows break it")
    if seen.get("value") is not None:
        parts.append(f"observed {seen['value']:.6g}" + (f" of {seen['n']:,}" if seen.get("n") is not None else ""))
    if "flag" in finding:
        parts.append(f"flagged: {finding['flag']['reason']}")
    title, statement = str(finding["title"]).rstrip("."), str(finding["statement"])
    return f"- {title} ({', '.join(parts)})" + ("" if statement.rstrip(".") == title else f": {statement}")


def facts(finding: Json) -> Json:
    """The numbers of a finding that an answer may cite."""
    check = finding.get("lastCheck") or {}
    seen = check.get("observed") or {}
    found = {"failureCount": check.get("failureCount"), "rowsChecked": check.get("rowsChecked"), **seen}
    told = {f"said {number}": number for number in _numbers(f"{finding.get('title', '')} {finding.get('statement', '')}")}
    return {name: value for name, value in found.items() if isinstance(value, int | float)} | told


def _numbers(text: str) -> list[float]:
    """The numbers that people wrote into a sentence: whoever repeats the sentence repeats them."""
    return [float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]
