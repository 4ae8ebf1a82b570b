"""What a person built or edited instead of writing it: a query from the builder, a task from its card, SQL of their own.

A run that is given one of these reads no words; it goes the same way as a typed question from there on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from lexsi_ds.data.handle import Value
from lexsi_ds.errors import BadInput
from lexsi_ds.text_to_sql.reading import Predictive
from lexsi_ds.text_to_sql.task_draft import TaskDraft

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext


class GivenQuery(Value):
    """A logical query, as JSON."""

    kind: Literal["query"] = "query"
    logical: dict[str, Any]


class GivenTask(Value):
    """A prediction task that a person has seen and approved."""

    kind: Literal["task"] = "task"
    draft: TaskDraft


class GivenSql(Value):
    """SQL that a person wrote or edited; it goes through the guard like any other."""

    kind: Literal["sql"] = "sql"
    sql: str = Field(max_length=20_000)


AnyGiven = GivenQuery | GivenTask | GivenSql
Given = Annotated[AnyGiven, Field(discriminator="kind")]
_ADAPTER: TypeAdapter[AnyGiven] = TypeAdapter(Given)


def given_of(body: dict[str, Any] | None) -> AnyGiven | None:
    """What was given, from JSON. Raises BadInput for anything else."""
    if body is None:
        return None
    try:
        return _ADAPTER.validate_python(body)
    except ValidationError as error:
        first = error.errors()[0]
        what = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise BadInput(f"What was given cannot be read: {what[:200]}.", where="chat", to_do="Build it anew.") from error


def waits(reading: Predictive, ctx: AgentContext) -> bool:
    """Whether a person is to see this task before it trains: they asked to, or it is doubtful, and they have not yet."""
    if isinstance(ctx.given, GivenTask) or ctx.review == "never":
        return False
    return ctx.review == "always" or bool(reading.doubts)


def task_lines(reading: Predictive) -> list[tuple[str, str]]:
    """The task card in words: what a line is about, and what it says."""
    task, named = reading.task, [f.label for f in reading.task.features]
    cutoff = (
        f"only what was known before {task.cutoff_column} of each {task.entity_label}" if task.cutoff_column
        else f"none: {task.entity_table or 'the table'} has no dates"
    )  # fmt: skip
    scored = "out of fold, by models that did not see the row" if task.out_of_fold else "by the model"
    left: dict[str, list[str]] = {}
    for out in task.left_out:
        left.setdefault(out.reason.replace("_", " "), []).append(f"{out.table}.{out.name}" if out.table else out.name)
    held = "stretches of time" if task.split.by == "time" else "at random, each with its share of the outcome"
    folds = f", {task.split.folds} folds" if task.split.folds else ""
    lines = [
        ("Task", task.statement or task.title),
        ("Target", f"{task.target_label}: {task.positive_meaning}"),
        ("For each", f"{task.entity_label}, by {task.entity_table}.{task.entity_column}"),
        ("Learned from", task.known_meaning),
        ("Scored", f"{task.unknown_meaning}, {scored}"),
        ("Cut-off", cutoff),
        ("Held out", held + folds),
        ("Columns used", f"{len(named)}: {', '.join(named)}"),
        *((f"Left out, {reason}", ", ".join(names)) for reason, names in left.items()),
        *(("Changed", text) for text in task.edits),
        *(("Look at this", text) for text in reading.doubts),
    ]
    return [(title, text) for title, text in lines if text]
