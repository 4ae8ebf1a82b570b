"""Preview the distinct values of a column, before SQL filters on one of them. Masked columns are never shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pydantic import Field, field_validator

from lexsi_ds.agent.tools.base import FunctionTool, ToolArgs, ToolResult, ToolSpec, refuse
from lexsi_ds.facts import facts_of

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext


_MOST = 100


class SampleValuesArgs(ToolArgs):
    """Which column, and how many values."""

    table: str
    column: str
    k: int = Field(default=20, ge=1, le=_MOST, description="How many; more than 100 are cut to 100.")
    order_by_freq: bool = True

    @field_validator("k", mode="before")
    @classmethod
    def _at_most(cls, k: Any) -> Any:
        """The cap is a cap, not a refusal: the summary says how many there are."""
        return min(k, _MOST) if isinstance(k, int) else k


def _run(args: SampleValuesArgs, ctx: AgentContext) -> ToolResult:
    table = ctx.dataset.table(args.table)
    if table is None:
        return refuse(f"No table named {args.table!r}. Tables: {', '.join(t.name for t in ctx.dataset.tables)}.")
    column = table.column(args.column)
    if column is None:
        return refuse(
            f"No column named {args.column!r} in {table.name}. Columns: {', '.join(c.name for c in table.columns)}."
        )
    if column.masked:
        return refuse(f"{table.name}.{column.name} identifies persons and is masked; its values are not shown.")
    # The names are the data set's own by now, not the caller's; quoting keeps odd ones whole.
    name, source = _quote_ident(column.name), _quote_ident(table.name)
    order = f"n DESC, {name}" if args.order_by_freq else name
    frame = ctx.query(
        f"SELECT {name} AS value, count(*) AS n FROM {source} WHERE {name} IS NOT NULL GROUP BY ALL ORDER BY {order} LIMIT {args.k}"
    )
    values = [{"value": str(v), "count": int(n)} for v, n in zip(frame.iloc[:, 0], frame["n"], strict=True)]
    meant = {v["value"]: ctx.knowledge.model.meaning(table.name, column.name, v["value"]) for v in values}
    listing = ", ".join(_line(v, meant[v["value"]]) for v in values)
    return ToolResult(
        ok=True,
        summary=f"{table.name}.{column.name}: {column.distinct} distinct values; {len(values)} shown: {listing}",
        payload={"table": table.name, "column": column.name, "values": values, "distinct": column.distinct},
        meta={"facts": facts_of("value", values) | {"distinct": column.distinct}},
    )


def _quote_ident(name: str) -> str:
    if re.search(r"[\x00-\x1f]", name):
        raise ValueError("an identifier holds control characters")
    return '"' + name.replace('"', '""') + '"'


def _line(value: dict[str, Any], meaning: str | None) -> str:
    """A value, what it stands for where that is written down, and how often it comes."""
    means = f" = {_shorten(meaning)}" if meaning and meaning != value["value"] else ""
    return f"{_shorten(value['value'])!r}{means} ({value['count']})"


def _shorten(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


TOOL = FunctionTool(
    ToolSpec(
        name="sample_values",
        description=(
            "Preview the distinct values of a column, most common first. Use it before writing WHERE col = 'value' on any "
            "string column whose values are not already known: spellings and codes differ from the words people use."
        ),
        args_schema=SampleValuesArgs,
        returns="Distinct values with counts.",
        capabilities=("retrieval",),
        cost_class="query",
        parallel_safe=True,
    ),
    _run,
)
