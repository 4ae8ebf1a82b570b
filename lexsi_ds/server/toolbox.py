"""Every tool of the MCP server, in the order in which clients list them."""

from __future__ import annotations

from lexsi_ds.server import analysis_tools, catalog_tools, findings_tools
from lexsi_ds.server.tool import ServerTool

TOOLS: tuple[ServerTool, ...] = (*catalog_tools.TOOLS, *findings_tools.TOOLS, *analysis_tools.TOOLS)
