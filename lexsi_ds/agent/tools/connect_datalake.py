"""Register an S3 datalake. Answers "not configured" until a data lake connector is set up; it never pretends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from lexsi_ds.agent.tools.base import FunctionTool, ToolArgs, ToolResult, ToolSpec, refuse

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext


class ConnectDatalakeArgs(ToolArgs):
    """Where the files are. The keys are read from the environment when left out; they are not logged."""

    kind: Literal["s3"] = "s3"
    bucket: str
    prefix: str = ""
    region: str = "us-east-1"
    aws_access_key_id: str | None = Field(default=None, repr=False)
    aws_secret_access_key: str | None = Field(default=None, repr=False)
    files: list[str]


def _run(args: ConnectDatalakeArgs, ctx: AgentContext) -> ToolResult:
    return refuse(
        "A data lake is not configured in this installation. Import the files on the page Connect data, or ask about "
        f"the data set at hand ({ctx.dataset.name})."
    )


TOOL = FunctionTool(
    ToolSpec(
        name="connect_datalake",
        description=(
            "Register an S3 datalake and bind one or more files as queryable views; the connector becomes the active data "
            "set. Use it when the user wants their own data instead of the data set at hand."
        ),
        args_schema=ConnectDatalakeArgs,
        returns="List of bound view names and the connector id.",
        capabilities=("discovery",),
        cost_class="query",
        produces=("dataset",),
    ),
    _run,
)
