"""Keeps a sentence as a pending finding, with a check where it states a band that is understood."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from lexsi_ds.agent.finding_words import band_in, table_named, table_of
from lexsi_ds.agent.tools.base import FunctionTool, ToolArgs, ToolResult, ToolSpec, refuse
from lexsi_ds.agent.tools.finding_calls import VIA, Json, confirmed, dataset_of, facts, line, told
from lexsi_ds.agent.tools.text_to_sql import read_alone
from lexsi_ds.services.finding_band import check_sql

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext

_TITLE = 80


class ProposeFindingArgs(ToolArgs):
    """The finding."""

    statement: str = Field(description="The rule in one sentence, as the user said it.")
    dataset: str | None = Field(default=None, description="The table or data set it is about; left out: the one it speaks of.")
    title: str | None = Field(default=None, description="A short name.")
    columns: tuple[str, ...] = Field(default=(), description="Columns that the rule is about.")
    check_sql: str | None = Field(
        default=None, description="One SELECT on `dataset` that returns the rows that break the rule. Left out for a figure that "
        "stays in a band (\"the default rate stays between 5% and 8%\"): that check is made here.",
    )


def _run(args: ProposeFindingArgs, ctx: AgentContext) -> ToolResult:
    draft = None
    if args.check_sql is None:
        draft = band_in(args.statement, ctx, lambda question: read_alone(question, ctx))
        if draft is not None and args.dataset and table_named(args.dataset, ctx) not in (None, draft.table):
            draft = None
    table = table_named(args.dataset, ctx) if args.dataset else draft.table if draft else table_of(args.statement, ctx)
    if table is None and not args.dataset:
        names = ", ".join(t.name for t in ctx.dataset.tables)
        return refuse(f"It is not clear which table this is about: {names}. Say \u201csave as a finding on TABLE: …\u201d.")
    arguments: Json = {
        "dataset": table.dataset_id if table is not None else dataset_of(args.dataset or "", ctx), "statement": args.statement,
        "title": args.title or _short(args.statement), "columns": list(args.columns),
    }
    check = args.check_sql or (check_sql(draft.band) if draft is not None else None)
    if check is not None:
        arguments["checkSql"] = check
    result = told(
        ctx,
        lambda tools: confirmed(
            lambda a: tools.propose_finding(
                ctx.actor, a, via=VIA, band=draft.band if draft is not None else None, run_id=ctx.run_id
            ), arguments,
        ),
        lambda answer: _said(answer, checked=check is not None),
    )
    if result.ok and "finding" in result.payload:
        result.meta["facts"] = facts(result.payload["finding"])
    return result


def _said(answer: Json, *, checked: bool) -> str:
    if "finding" not in answer:
        return str(answer.get("message", "Nothing was kept."))
    tail = "" if checked else " It has no check: say a figure and its bounds, or write one on Findings review."
    return f"Kept as a pending finding; a person reviews it.{tail}\n{line(answer['finding'])}"


def _short(statement: str) -> str:
    text = " ".join(statement.split()).rstrip(".")
    return text if len(text) <= _TITLE else text[: _TITLE - 1].rsplit(" ", 1)[0] + "…"


TOOL = FunctionTool(
    ToolSpec(
        name="propose_finding",
        description="Keep a sentence as a finding that waits for review. Only when the user asks to save, record or propose one.",
        args_schema=ProposeFindingArgs,
        returns="the saved finding: review pending, and the verdict of its check with failureCount or observed value and n.",
        capabilities=("findings",),
        cost_class="query",
        budget=5,
    ),
    _run,
)
