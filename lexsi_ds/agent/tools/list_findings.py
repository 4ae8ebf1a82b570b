"""Findings of a dataset, or of all tables of the active source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from lexsi_ds.agent.tools.base import FunctionTool, ToolArgs, ToolResult, ToolSpec
from lexsi_ds.agent.tools.catalog_reading import fitted
from lexsi_ds.agent.tools.finding_calls import VIA, Json, dataset_of, facts, line, told

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext
    from lexsi_ds.services.reference import ReferenceTools

_EACH = 50


class ListFindingsArgs(ToolArgs):
    """Which findings."""

    dataset: str | None = Field(default=None, description="Its name or id; left out: every table of the active data set.")
    review: Literal["pending", "accepted", "rejected"] | None = Field(default=None, description="Only in this state of review.")
    flagged: bool | None = Field(default=None, description="Only those that need another look.")


def _run(args: ListFindingsArgs, ctx: AgentContext) -> ToolResult:
    names = [args.dataset] if args.dataset else [t.dataset_id for t in ctx.dataset.tables]
    wanted = {name: value for name, value in (("review", args.review), ("flagged", args.flagged)) if value is not None}

    def ask(tools: ReferenceTools) -> Json:
        pages = [
            tools.list_findings(ctx.actor, {"dataset": dataset_of(n, ctx), "limit": _EACH, **wanted}, via=VIA) for n in names
        ]
        return {"findings": [f for page in pages for f in page["findings"]], "total": sum(page["total"] for page in pages)}

    result = told(ctx, ask, lambda a: fitted([_counted(a, args), *map(line, a["findings"])]))
    if result.ok:
        each = enumerate(result.payload["findings"], 1)
        told_of = {f"finding {number} {name}": value for number, f in each for name, value in facts(f).items()}
        result.meta["facts"] = {"findings": result.payload["total"], "shown": len(result.payload["findings"])} | told_of
    return result


def _counted(answer: Json, args: ListFindingsArgs) -> str:
    kinds = " ".join(k for k in (args.review or "", "flagged" if args.flagged else "") if k)
    shown, total = len(answer["findings"]), answer["total"]
    kind = f"{kinds} finding" if kinds else "finding"
    if not total:
        return f"There is no {kind}" + (f" on {args.dataset}." if args.dataset else " here.")
    return f"{total:,} {kind}{'' if total == 1 else 's'}" + (":" if shown == total else f", of which {shown} are shown:")


TOOL = FunctionTool(
    ToolSpec(
        name="list_findings",
        description="Findings: one-sentence rules about a data set that people keep and review, with their state of review and "
        "what their check saw. Use it when the user asks about findings.",
        args_schema=ListFindingsArgs,
        returns="findings: title, statement, review, verdict, failureCount, observed value with n, flag.",
        capabilities=("discovery", "findings"),
        parallel_safe=True,
    ),
    _run,
)
