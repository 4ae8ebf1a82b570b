"""Explore the business knowledge graph: which column an ambiguous word means, which joins are right, which metrics exist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from lexsi_ds.agent.tools.base import SUMMARY_CAP, FunctionTool, ToolArgs, ToolResult, ToolSpec

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext
    from lexsi_ds.knowledge.graph import KgHit

_OUTLINE = 25
"""Most labels of one section in an outline."""
_LINE = 700
"""Most letters of one node in a list; ``node=`` gives it whole."""


class QueryKgArgs(ToolArgs):
    """One of three modes: nothing (outline), ``search`` or ``section`` (both: the search inside that section), ``node``."""

    section: Literal["concepts", "disambigs", "metrics", "join_paths", "tables"] | None = None
    search: str | None = Field(default=None, description="The user's question verbatim, not keywords taken from it.")
    node: str | None = Field(default=None, description="A node's label or full id, such as disambigs:customer.")
    top_k: int = Field(default=8, ge=1, le=50)


def _run(args: QueryKgArgs, ctx: AgentContext) -> ToolResult:
    graph = ctx.knowledge.graph
    if args.node:
        hit = graph.node(args.node)
        return ToolResult(ok=True, summary=graph.record(hit.id), payload={"mode": "node", "hits": [hit.model_dump()]})
    if args.search:
        question = ctx.cache.get("question")
        found = graph.search(args.search, args.top_k, question=question, section=args.section)
        broadened = graph.is_weak(args.search) and bool(question) and question != args.search
        note = "(Few words matched; widened by the run's question.)" if broadened and found else ""
        return _listing("search", found, note)
    if args.section:
        return _listing("section", graph.section(args.section), "")
    outline = "\n".join(_outline_line(section, labels) for section, labels in graph.outline().items())
    return ToolResult(ok=True, summary=outline, payload={"mode": "outline", "hits": [], "text": outline})


def _listing(mode: str, hits: list[KgHit], note: str) -> ToolResult:
    """One node a line; what does not fit is named, never cut through."""
    lines, left = ([note] if note else []), SUMMARY_CAP - len(note) - 160
    shown = 0
    for hit in hits:
        line = f"- [{hit.section}] {hit.label}: {hit.text}"
        line = line if len(line) <= _LINE else f"{line[: _LINE - 20]} ... (node={hit.id})"
        if len(line) + 1 > left:
            break
        lines.append(line)
        left -= len(line) + 1
        shown += 1
    if shown < len(hits):
        more = ", ".join(h.label for h in hits[shown : shown + 6])
        lines.append(f"{len(hits) - shown} more, each with node=: {more}"[:150])
    if not hits:
        lines.append("Nothing in the knowledge graph matches.")
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
            "'lives in' carry the signal. section=: a whole section. node=: one node's full record by label or id. Call it "
            "before writing SQL on any ambiguous noun."
        ),
        args_schema=QueryKgArgs,
        returns="Matching nodes, one a line.",
        capabilities=("discovery", "semantics"),
        parallel_safe=True,
    ),
    _run,
)
