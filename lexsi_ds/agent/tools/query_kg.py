"""Explore the business knowledge graph: which column an ambiguous word means, which joins are right, which metrics exist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from lexsi_ds.agent.tools.base import FunctionTool, ToolArgs, ToolResult, ToolSpec

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext

_OUTLINE = 25
"""Most labels of one section in an outline."""


class QueryKgArgs(ToolArgs):
    """One of three modes: nothing (outline), ``search`` or ``section``, ``node``."""

    section: Literal["concepts", "disambigs", "metrics", "join_paths", "tables"] | None = None
    search: str | None = Field(default=None, description="The user's question verbatim, not keywords taken from it.")
    node: str | None = None
    top_k: int = Field(default=8, ge=1, le=50)


def _run(args: QueryKgArgs, ctx: AgentContext) -> ToolResult:
    graph = ctx.knowledge.graph
    if args.node:
        hits, mode = [graph.node(args.node)], "node"
    elif args.search:
        hits, mode = graph.search(args.search, args.top_k, question=ctx.cache.get("question")), "search"
    elif args.section:
        hits, mode = graph.section(args.section), "section"
    else:
        outline = "\n".join(_outline_line(section, labels) for section, labels in graph.outline().items())
        return ToolResult(ok=True, summary=outline, payload={"mode": "outline", "hits": [], "text": outline})
    lines = [f"- [{h.section}] {h.label}: {h.text}" for h in hits] or ["Nothing in the knowledge graph matches."]
    return ToolResult(ok=True, summary="\n".join(lines), payload={"mode": mode, "hits": [h.model_dump() for h in hits]})


def _outline_line(section: str, labels: list[str]) -> str:
    more = f", and {len(labels) - _OUTLINE} more" if len(labels) > _OUTLINE else ""
    return f"{section} ({len(labels)}): {', '.join(labels[:_OUTLINE]) or 'none'}{more}"


TOOL = FunctionTool(
    ToolSpec(
        name="query_kg",
        description=(
            "Explore the business knowledge graph of the active data set. It knows which column to pick when wording is "
            "ambiguous, which join paths are correct and which business metrics exist. No arguments: outline of all "
            "sections. search=: top matches for a free text; pass the user's question verbatim, since trigger phrases such as "
            "'lives in' carry the signal. section=: a whole section. node=: one node by label or id. Call it before writing "
            "SQL on any ambiguous noun."
        ),
        args_schema=QueryKgArgs,
        returns="Matching nodes, one a line.",
        capabilities=("discovery", "semantics"),
        parallel_safe=True,
    ),
    _run,
)
