"""What the findings and workspace tools take, as the tools reference names it. Unknown arguments are refused.

Which arguments were passed counts: a field that is left out stays as it is, one that is null or empty is taken away.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from lexsi_ds.errors import BadInput

_DATASET = "The dataset: its id (ds_…), its source table as schema.table, or its name."
_FINDING = "The finding's id (fnd_…) from list_findings."
_CHECK = (
    "One SELECT that returns the rows that violate the statement, from the table called dataset; no row means that it holds. "
    "No LIMIT."
)


class ToolArguments(BaseModel):
    """Base of arguments, camelCase outside."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, frozen=True, str_max_length=24_000)

    def passed(self) -> dict[str, Any]:
        """The arguments that were passed, as they were, without those of the confirmation."""
        return self.model_dump(
            mode="json", by_alias=True, exclude_unset=True, exclude={"confirm", "confirmation_token"}
        )

    def has(self, name: str) -> bool:
        """Whether it was passed."""
        return name in self.model_fields_set


class Confirmed(ToolArguments):
    """Arguments of a call that runs in two steps."""

    confirm: bool = Field(default=False, description="True only in the second call, after the person approved the proposal.")
    confirmation_token: str | None = Field(default=None, max_length=2_000, description="The token of the preview.")


class ListFindings(ToolArguments):
    """Arguments of list_findings."""

    dataset: str = Field(min_length=1, max_length=400, description=_DATASET)
    review: Literal["pending", "accepted", "rejected"] | None = Field(default=None, description="Only in this review state.")
    status: Literal["active", "retired"] | None = Field(default=None, description="Only active ones, or only retired ones.")
    flagged: bool | None = Field(default=None, description="Only those that need re-review, or only those that do not.")
    verdict: Literal["unchecked", "holds", "violated", "error"] | None = Field(default=None, description="Only of this verdict.")
    column: str | None = Field(default=None, max_length=400, description="Only those about this column.")
    limit: int | None = Field(default=None, ge=1, le=200, description="Most findings of this page; 50 by default.")
    cursor: str | None = Field(default=None, max_length=2_000, description="nextCursor of the page before.")


class ProposeFinding(Confirmed):
    """Arguments of propose_finding."""

    dataset: str = Field(min_length=1, max_length=400, description=_DATASET)
    title: str = Field(min_length=1, max_length=400, description="A short name, at most 120 characters.")
    statement: str = Field(min_length=1, max_length=2_000, description="The rule in one sentence, at most 500 characters.")
    columns: tuple[str, ...] = Field(default=(), max_length=200, description="Columns that the rule is about.")
    check_sql: str | None = Field(default=None, description=_CHECK + " Needs edit access.")
    depends_on: tuple[str, ...] = Field(default=(), max_length=50, description="Findings of the same dataset that it rests on.")


class UpdateFinding(Confirmed):
    """Arguments of update_finding."""

    dataset: str = Field(min_length=1, max_length=400, description=_DATASET)
    finding_id: str = Field(min_length=1, max_length=100, description=_FINDING)
    title: str | None = Field(default=None, max_length=400)
    statement: str | None = Field(default=None, max_length=2_000)
    columns: tuple[str, ...] | None = Field(default=None, max_length=200)
    check_sql: str | None = Field(default=None, description=_CHECK + " Null takes it away.")
    depends_on: tuple[str, ...] | None = Field(default=None, max_length=50)


class ReviewFinding(Confirmed):
    """Arguments of review_finding."""

    dataset: str = Field(min_length=1, max_length=400, description=_DATASET)
    finding_id: str = Field(min_length=1, max_length=100, description=_FINDING)
    decision: Literal["accept", "reject"] = Field(description="The decision of the signed-in user.")
    note: str = Field(default="", max_length=4_000, description="Why, for whoever reads it later.")


class UpdateDatasetContext(Confirmed):
    """Arguments of update_dataset_context."""

    dataset: str = Field(min_length=1, max_length=400, description=_DATASET)
    dataset_context: str | None = Field(default=None, description="The dataset's description; empty takes it away.")
    column_descriptions: dict[str, str | None] | None = Field(
        default=None, max_length=500, description="Descriptions by column; empty takes one away."
    )


class OfWorkspace(ToolArguments):
    """Arguments of get_workspace_context."""

    workspace_id: str = Field(min_length=1, max_length=100, description="The workspace's id (ws_…) from list_workspaces.")


class UpdateWorkspaceContext(Confirmed):
    """Arguments of update_workspace_context."""

    workspace_id: str = Field(min_length=1, max_length=100, description="The workspace's id (ws_…) from list_workspaces.")
    content: str = Field(description="The whole new text, as Markdown; it replaces the current one.")


class ListWorkspaces(ToolArguments):
    """Arguments of list_workspaces."""

    limit: int | None = Field(default=None, ge=1, le=200, description="Most workspaces of this page; 50 by default.")
    cursor: str | None = Field(default=None, max_length=2_000, description="nextCursor of the page before.")


Made = TypeVar("Made", bound=ToolArguments)


def read(kind: type[Made], arguments: Mapping[str, Any]) -> Made:
    """The arguments, read. Raises BadInput that names what is wrong; a value that was sent is never repeated."""
    try:
        return kind.model_validate(dict(arguments))
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(str(p) for p in e['loc'])[:80]}: {e['msg']}" for e in error.errors()[:5])
        raise BadInput(f"These arguments cannot be used. {wrong}.", where="arguments", to_do="Mend them and call again.") from None
