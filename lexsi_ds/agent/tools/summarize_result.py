"""The final narrative, from what the run cached: result, predictions, explanations. Only grounded sentences come out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd

from lexsi_ds.agent import narrate
from lexsi_ds.agent.leaving import is_aggregate
from lexsi_ds.agent.prompts import SUMMARIZER_SYSTEM, quote_data
from lexsi_ds.agent.tools.base import FunctionTool, ToolArgs, ToolResult, ToolSpec, refuse
from lexsi_ds.errors import EndpointFailed
from lexsi_ds.facts import Checked, FactValue, check, facts_of
from lexsi_ds.llm.wire import Message

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext

_PREVIEW_ROWS = 15


class SummarizeResultArgs(ToolArgs):
    """The user's question, word for word, and what to cite."""

    question: str
    sql_result_label: str | None = None
    include_xai: bool = True
    notes: str | None = None


def _run(args: SummarizeResultArgs, ctx: AgentContext) -> ToolResult:
    label = args.sql_result_label
    if label is not None and ctx.frame(label) is None:
        return refuse(f"No result is cached under the label {label!r}.")
    facts: dict[str, FactValue] = dict(ctx.cache.get("_facts", {}))
    text = plain_narrative(ctx, facts, label=args.sql_result_label, include_xai=args.include_xai)
    if text is None:
        return refuse("There is nothing to summarize yet: run a query or a prediction first.")
    checked = _model_text(args, ctx, text, facts) if _may_be_told(ctx) else None
    checked = checked or check(text, facts, allow=args.question)
    ctx.cache["_narrative"] = checked.text
    return ToolResult(
        ok=True,
        summary=checked.text[:2000],
        payload={"narrative": checked.text, "facts": facts},
        meta={"removed": list(checked.removed), "facts": {}},
    )


def plain_narrative(
    ctx: AgentContext, facts: dict[str, FactValue], *, label: str | None = None, include_xai: bool = True
) -> str | None:
    """The narrative from templates; adds the facts that it counts itself. None when there is nothing to tell."""
    card, cases = ctx.cache.get("_card"), ctx.cache.get("_cases", []) if include_xai else []
    predictions, shown = ctx.cache.get("last_predictions"), ctx.cache.get("_predictions_meta")
    if isinstance(predictions, pd.DataFrame) and shown is not None and card is not None:
        text = narrate.predictive(predictions, shown, card, cases)
        facts |= {f"count.{n}": n for n in range(len(cases) + 1)}
        return text
    if cases and card is not None:
        facts |= {f"display.{c.case_id}.{k}": v for c in cases for k, v in facts_of("v", dict(c.display)).items()}
        return narrate.explanation(cases, card, ctx.cache.get("last_xai_failures", []))
    frame: pd.DataFrame | None = ctx.frame(label) if label else ctx.cache.get("last_sql_result")
    if frame is None:
        return None
    reading = ctx.cache.get("_last_reading")
    facts |= {"rows": len(frame)}
    return narrate.analytic(frame, reading)


def _may_be_told(ctx: AgentContext) -> bool:
    """Whether what the run found may go to the language model: never a row where only aggregates leave, never a masked column."""
    if ctx.llm is None or ctx.cache.get("_model_failed") or ctx.cache.get("_masked_touched"):
        return False
    sql = str(ctx.cache.get("last_sql") or "")
    rows = any(ctx.cache.get(key) is not None for key in ("last_predictions", "last_xai"))
    return not ctx.aggregates_only or not (rows or not is_aggregate(sql, ctx))


def _model_text(
    args: SummarizeResultArgs, ctx: AgentContext, draft: str, facts: dict[str, FactValue]
) -> Checked | None:
    """The language model's wording of the same, checked; None when it gives nothing that stands."""
    assert ctx.llm is not None
    try:
        material: list[Message] = [{"role": "user", "content": _material(args, ctx, draft)}]
        reply = ctx.llm.complete(SUMMARIZER_SYSTEM, material, purpose="summarize")
    except EndpointFailed:
        return None
    checked = check(reply.text.strip(), facts, allow=args.question)
    return checked if checked.text else None


def _material(args: SummarizeResultArgs, ctx: AgentContext, draft: str) -> str:
    parts = [f"Question: {args.question}", quote_data("a correct but plain draft of the answer", draft)]
    last: Any = ctx.cache.get("_last_observation")
    if last:
        parts.append(quote_data("last result", str(last)[:2000]))
    cases = ctx.cache.get("_cases", []) if args.include_xai else []
    if cases:
        parts.append(quote_data("explanations", json.dumps([c.summary for c in cases[:10]], default=str)[:4000]))
    if args.notes:
        parts.append(quote_data("planner's caveats", args.notes[:1000]))
    return "\n\n".join(parts)


TOOL = FunctionTool(
    ToolSpec(
        name="summarize_result",
        description=(
            "Write the final narrative for the user from the cached SQL result, predictions and explanations, citing their "
            "numbers. Pass the original question verbatim. Its text is the answer to give."
        ),
        args_schema=SummarizeResultArgs,
        returns="The narrative.",
        capabilities=("narration",),
        cost_class="llm",
        requires=("last_sql_result|last_predictions|last_xai",),
    ),
    _run,
)
