"""Everything known of one dataset: texts, components, accepted findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from lexsi_ds.agent.tools.base import FunctionTool, ToolArgs, ToolResult, ToolSpec
from lexsi_ds.agent.tools.catalog_reading import Json, asked

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext


class DescribeDatasetArgs(ToolArgs):
    """Which one."""

    dataset: str = Field(description="Its id, schema.table, or exact name; tables of the active data set come first.")


def _run(args: DescribeDatasetArgs, ctx: AgentContext) -> ToolResult:
    within = ctx.dataset.source_id
    return asked(ctx, lambda d: d.describe_dataset(ctx.actor, args.dataset, within=within), _lines)


def _lines(answer: Json) -> list[str]:
    components = ", ".join(answer["semanticLayer"]["availableComponents"])
    lines = [
        f"{answer['name']} ({answer['id']}): {answer['rowCount']} rows, {answer['columnCount']} columns, version "
        f"{answer['latestVersion']}, target {answer['targetColumn'] or 'not set'}. Components: {components}."
    ]
    if answer["datasetContext"]:
        lines.append(f"Description: {answer['datasetContext']}")
    if "findingsError" in answer:
        lines.append(f"Findings: {answer['findingsError']}")
    lines += [_finding(finding) for finding in answer.get("findings", ())]
    return lines + [f"- {name}: {text}" for name, text in answer["featureContexts"].items()]


def _finding(finding: Json) -> str:
    failing = f", {finding['failureCount']} rows break it" if finding.get("failureCount") else ""
    flag = f", to be reviewed again ({finding['flagReason']})" if "flagReason" in finding else ""
    return f"Finding: {finding['statement']} (check: {finding['verdict']}{failing}{flag})"


TOOL = FunctionTool(
    ToolSpec(
        name="describe_dataset",
        description="Full metadata of one data set: description, column descriptions, target column, available components, and "
        "the accepted findings (rules a person reviewed).",
        args_schema=DescribeDatasetArgs,
        returns="The data set's fields, semanticLayer (availableComponents, manifest.components), findings or findingsError.",
        capabilities=("discovery", "findings"),
        parallel_safe=True,
    ),
    _run,
)
