"""Puts a decision on a finding before a person, or takes it where the rules let the chat do so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from lexsi_ds.agent.tools.base import FunctionTool, ToolArgs, ToolResult, ToolSpec, refuse
from lexsi_ds.agent.tools.finding_calls import VIA, Json, confirmed, line, told
from lexsi_ds.errors import LexsiError

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext
    from lexsi_ds.services.reference import ReferenceTools

_EACH = 200


class ReviewFindingArgs(ToolArgs):
    """The decision."""

    finding: str = Field(description="The finding's id, or its title.")
    decision: Literal["accept", "reject"] = Field(description="The decision that the user stated.")
    note: str = Field(default="", description="Why, in the user's words.")


def _run(args: ReviewFindingArgs, ctx: AgentContext) -> ToolResult:
    if ctx.reference is None:
        return refuse("There is no place for findings here: ask in a chat of the app.")
    try:
        found = _named(args.finding, ctx, ctx.reference)
    except LexsiError as error:
        return refuse(str(error), code=error.code)
    if len(found) != 1:
        many = "; ".join(f["title"] for f in found[:5])
        return refuse(f"Several findings are called so: {many}. Name one by its id." if found else
                      "There is no such finding in the active data set. Call list_findings.")
    arguments: Json = {
        "dataset": found[0]["datasetId"], "findingId": found[0]["findingId"], "decision": args.decision, "note": args.note
    }
    return told(ctx, lambda tools: confirmed(lambda a: tools.review_finding(ctx.actor, a, via=VIA), arguments), _said)


def _named(name: str, ctx: AgentContext, tools: ReferenceTools) -> list[Json]:
    """Findings of the active source with this id, else this title, else a title that holds it."""
    pages = [
        tools.list_findings(ctx.actor, {"dataset": t.dataset_id, "limit": _EACH, "status": "active"}, via=VIA)
        for t in ctx.dataset.tables
    ]
    every, wanted = [f for page in pages for f in page["findings"]], name.casefold().strip()
    for fits in (
        [f for f in every if f["findingId"] == name], [f for f in every if f["title"].casefold() == wanted],
        [f for f in every if wanted in f["title"].casefold()],
    ):
        if fits:
            return fits
    return []


def _said(answer: Json) -> str:
    if answer.get("queued"):
        return f"{answer['message']}\n{line(answer['finding'])}"
    if "finding" not in answer:
        return str(answer.get("message", "Nothing was decided."))
    return f"Decided.\n{line(answer['finding'])}"


TOOL = FunctionTool(
    ToolSpec(
        name="review_finding",
        description="Accept or reject a finding as the user said. Unless the installation allows otherwise it goes to the queue "
        "of Findings review, where a person decides. Only when the user states the decision.",
        args_schema=ReviewFindingArgs,
        returns="the finding; queued where a person has to decide.",
        capabilities=("findings",),
        budget=5,
    ),
    _run,
)
