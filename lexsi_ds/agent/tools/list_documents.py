"""Say which documents the library holds, so that a planner can choose the one to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from lexsi_ds.agent.tools.base import FunctionTool, ToolArgs, ToolResult, ToolSpec, refuse

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext
    from lexsi_ds.services.documents import DocumentHit
    from lexsi_ds.store.documents import DocumentRecord

_CAP = 8_000


class ListDocumentsArgs(ToolArgs):
    """Nothing, or words to put the fitting ones first."""

    search: str | None = Field(default=None, description="Words of the question: documents that hold them come first.")


def _run(args: ListDocumentsArgs, ctx: AgentContext) -> ToolResult:
    if ctx.documents is None:
        return refuse("There is no library of documents here.")
    every = ctx.documents.list(ctx.actor)
    hits = ctx.documents.search(ctx.actor, args.search, 20) if args.search else ()
    best = {h.document.id: h for h in reversed(hits)}  # the best passage of each
    order = [h.document.id for h in hits]
    listed = sorted(every, key=lambda d: order.index(d.id) if d.id in order else len(order))
    payload = {"documents": [_told(d, best.get(d.id)) for d in listed], "search": args.search}
    return ToolResult(ok=True, summary=_summary(listed, best), payload=payload)


def _told(document: DocumentRecord, hit: DocumentHit | None) -> dict[str, object]:
    return {
        "source": document.shelf, "path": document.path, "title": document.title, "kind": document.kind, "chars": document.chars,
        "passage": hit.passage[:300] if hit else "",
    }  # fmt: skip


def _summary(listed: list[DocumentRecord], best: dict[str, DocumentHit]) -> str:
    """One document a line; how many do not fit is said."""
    if not listed:
        return "The library holds no documents."
    lines, left = [f"{len(listed)} documents. Read one with read_document(source, path)."], _CAP - 200
    for i, d in enumerate(listed):
        title = f": {d.title}" if d.title else ""
        words = " ".join(best[d.id].passage.split())[:120] if d.id in best else ""
        line = f"- source={d.shelf!r} path={d.path!r} ({d.kind}, {d.chars:,} characters){title}" + (f" … {words}" if words else "")
        if len(line) + 1 > left:
            lines.append(f"{len(listed) - i} more: give search= to see the fitting ones first.")
            break
        lines.append(line)
        left -= len(line) + 1
    return "\n".join(lines)


TOOL = FunctionTool(
    ToolSpec(
        name="list_documents",
        description=(
            "List the documents of the library (handbooks, data dictionaries, policies, files that people added) with source, "
            "path, kind and size. Use it when the question is about something that may be written down rather than stored in a "
            "table. search= puts documents that hold the question's words first."
        ),
        args_schema=ListDocumentsArgs,
        returns="One document a line: source, path, kind, characters, title.",
        capabilities=("documents", "discovery"),
        summary_cap=_CAP,
        parallel_safe=True,
        budget=1,
    ),
    _run,
)
