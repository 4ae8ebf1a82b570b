"""Which document tools a run is offered: as often as the settings allow, and none where there is nothing to read.

With both budgets at 0, or with an empty library, a run is planned exactly as if these tools did not exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lexsi_ds.agent.context import AgentContext
from lexsi_ds.agent.tools.base import FunctionTool, Tool
from lexsi_ds.settings import Settings

LIST, READ = "list_documents", "read_document"


def uses_documents(settings: Settings) -> bool:
    """Whether answers use documents at all."""
    return settings.agent_list_calls > 0 or settings.agent_read_calls > 0


def with_budgets(tools: Mapping[str, Tool], ctx: AgentContext, settings: Settings) -> dict[str, Tool]:
    """The tools with the budgets of this installation; the two of documents go where they could do nothing."""
    budgets = {LIST: settings.agent_list_calls, READ: settings.agent_read_calls}
    nothing = ctx.documents is None or not ctx.documents.list(ctx.actor)
    offered: dict[str, Tool] = {}
    for name, tool in tools.items():
        if name not in budgets:
            offered[name] = tool
        elif budgets[name] and not nothing and isinstance(tool, FunctionTool):
            offered[name] = FunctionTool(replace(tool.spec, budget=budgets[name]), tool.function)
    return offered
