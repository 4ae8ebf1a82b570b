"""Register an S3 datalake: its files become tables, copied or read in place, and the active data set from then on.

Keys come from the settings when they are left out. Must never: put a key into a summary, a payload or an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, SecretStr

from lexsi_ds.agent.tools.base import SUMMARY_CAP, FunctionTool, ToolArgs, ToolResult, ToolSpec, refuse
from lexsi_ds.data.handle import DatasetHandle

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext

_COLUMNS_SHOWN = 8


class ConnectDatalakeArgs(ToolArgs):
    """Where the files are. The keys are read from the environment when left out; they are not logged."""

    kind: Literal["s3"] = "s3"
    bucket: str
    prefix: str = ""
    region: str = "us-east-1"
    aws_access_key_id: SecretStr | None = None
    aws_secret_access_key: SecretStr | None = None
    files: list[str] = Field(
        min_length=1, description="Parquet, CSV or JSON files under the prefix (text also as .gz); * stands for several."
    )
    endpoint: str | None = Field(default=None, description="host:port of an S3-compatible store; Amazon's when left out.")
    use_ssl: bool = True
    mode: Literal["ingest", "query in place"] = "ingest"


def _run(args: ConnectDatalakeArgs, ctx: AgentContext) -> ToolResult:
    if ctx.connectors is None:
        return refuse(f"No data lake can be connected here. Ask about the data set at hand ({ctx.dataset.name}).")
    config: dict[str, Any] = args.model_dump(include={"bucket", "prefix", "region", "endpoint", "use_ssl"})
    config |= {"aws_access_key_id": args.aws_access_key_id, "aws_secret_access_key": args.aws_secret_access_key}
    connector = ctx.connectors.connect(
        ctx.actor, args.kind, config, in_place=args.mode == "query in place", files=args.files, cancel=ctx.cancel
    )
    try:
        handle = ctx.connectors.ingest_tables(ctx.actor, connector.id, args.files, cancel=ctx.cancel, tell=ctx.tell)
    except BaseException:
        ctx.connectors.delete(ctx.actor, connector.id)
        raise
    ctx.take(handle)
    known = ctx.connectors.platform_id(ctx.actor, connector.id, cancel=ctx.cancel)
    return ToolResult(
        ok=True,
        summary=_observation(handle, args.mode, known.said)[:SUMMARY_CAP],
        payload={
            "connector_id": connector.id,
            "lexsi_connector_id": known.id,
            "mode": args.mode,
            "views": [
                {"name": t.name, "rows": t.rows, "columns": [{"name": c.name, "type": c.type} for c in t.columns]}
                for t in handle.tables
            ],
        },
        meta={"facts": {f"rows.{t.name}": t.rows for t in handle.tables} | {"views": len(handle.tables)}},
    )


def _observation(handle: DatasetHandle, mode: str, known: str) -> str:
    how = "copied" if mode == "ingest" else "read in place"
    lines = [
        f"Connector {handle.source_id} ({known}). It is the active data set now.",
        f"Bound views ({how}):",
    ]
    for table in handle.tables:
        names = ", ".join(c.name for c in table.columns[:_COLUMNS_SHOWN])
        more = f" and {len(table.columns) - _COLUMNS_SHOWN} more" if len(table.columns) > _COLUMNS_SHOWN else ""
        lines.append(f"- {table.name}: {table.rows} rows; {names}{more}")
    return "\n".join(lines)


TOOL = FunctionTool(
    ToolSpec(
        name="connect_datalake",
        description=(
            "Register an S3 datalake and bind one or more Parquet, CSV or JSON files as queryable views named after their stems; "
            "the connector becomes the active data set. Use it when the user wants their own data instead of the data set at hand."
        ),
        args_schema=ConnectDatalakeArgs,
        returns="List of bound view names and the connector id.",
        capabilities=("discovery",),
        cost_class="query",
        produces=("dataset",),
    ),
    _run,
)
