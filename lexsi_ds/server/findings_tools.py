"""The reference's tools for findings, texts and workspaces. Changes run in two calls: a preview, then the confirmed call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from pydantic import Field

from lexsi_ds.server.tool import Answer, Call, Json, Paged, ServerTool
from lexsi_ds.services import reference_arguments as takes
from lexsi_ds.services.reference import ReferenceTools

_TWO_CALLS = (
    " Runs in two calls: the first changes nothing and returns a proposal and a confirmationToken; show the proposal to the "
    "person, and only if they approve send the same arguments again with confirm: true and the token. It ends after five minutes."
)
Status = Literal["preview", "done", "confirmation_invalid"]


class Found(Answer):
    """A finding."""

    finding_id: str
    dataset_id: str
    title: str
    statement: str
    columns: list[str]
    check_sql: str | None
    verdict: str
    last_check: dict[str, Any] | None
    review: str
    status: str
    depends_on: list[str]
    version: int
    flag: dict[str, Any] | None = None


class Findings(Paged):
    """Answer of list_findings."""

    dataset_id: str
    findings: list[Found]


class TwoCalls(Answer):
    """Answer of a call that runs in two: status says which of its parts are there."""

    status: Status
    proposal: dict[str, Any] | None = Field(default=None, description="What will happen, of status preview.")
    confirmation_token: str | None = Field(default=None, description="For the second call, of status preview.")
    message: str | None = None
    reason: str | None = Field(default=None, description="Why the token does not do, of status confirmation_invalid.")


class FindingChanged(TwoCalls):
    """Answer of the tools that change a finding."""

    dataset_id: str | None = None
    finding: Found | None = None
    created: bool | None = None
    updated: bool | None = None
    reviewed: bool | None = None
    queued: bool | None = Field(default=None, description="The decision waits for a person's own click in Findings review.")


class TextsChanged(TwoCalls):
    """Answer of update_dataset_context."""

    updated: bool | None = None
    dataset_id: str | None = None
    dataset_context: str | None = None
    feature_contexts: dict[str, str] | None = None


class Workspace(Answer):
    """A workspace of the list."""

    workspace_id: str
    name: str
    role: str | None


class Workspaces(Paged):
    """Answer of list_workspaces."""

    workspaces: list[Workspace]


class WorkspaceContext(Answer):
    """Answer of get_workspace_context."""

    workspace_id: str
    content: str
    updated_by: str | None
    updated_at: str | None


class WorkspaceChanged(TwoCalls):
    """Answer of update_workspace_context."""

    updated: bool | None = None
    workspace_id: str | None = None
    updated_by: str | None = None
    updated_at: str | None = None


def _by(method: Callable[..., Json]) -> Callable[[Call], Json]:
    """A tool of the reference: the arguments as they were passed, since which were counts."""

    def run(call: Call) -> Json:
        return method(call.app.reference, call.actor, call.given, via=call.via)

    return run


TOOLS = (
    ServerTool(
        "list_findings", "List findings",
        "List a dataset's findings, newest first. Without filters it returns those of every review state, retired ones included.",
        takes.ListFindings, Findings, ("datasets:read", "findings:read"), _by(ReferenceTools.list_findings),
    ),
    ServerTool(
        "propose_finding", "Propose a finding",
        "Save a new finding, a one-sentence rule about a dataset with an optional SQL check, as pending. It is no context until a "
        "person accepts it. Adding checkSql needs edit access; the check runs once." + _TWO_CALLS,
        takes.ProposeFinding, FindingChanged, ("datasets:write", "findings:write"), _by(ReferenceTools.propose_finding),
        reads_only=False,
    ),
    ServerTool(
        "update_finding", "Update a finding",
        "Edit a finding; only the fields that are passed change. Changing the statement, columns, check or dependencies sends it "
        "back to pending and runs a new check once; changing only the title keeps the review." + _TWO_CALLS,
        takes.UpdateFinding, FindingChanged, ("datasets:write", "findings:write"), _by(ReferenceTools.update_finding),
        reads_only=False, destroys=True,
    ),
    ServerTool(
        "review_finding", "Review a finding",
        "Accept or reject a finding. The signed-in user is recorded as the reviewer, so confirm only when that person has read it "
        "and made the decision themselves. Where the rules want a person's own click, the decision waits in the app." + _TWO_CALLS,
        takes.ReviewFinding, FindingChanged, ("datasets:write", "findings:review"), _by(ReferenceTools.review_finding),
        reads_only=False, destroys=True,
    ),
    ServerTool(
        "update_dataset_context", "Describe a dataset",
        "Edit a dataset's description, its column descriptions, or both. Every analysis of the dataset sees these." + _TWO_CALLS,
        takes.UpdateDatasetContext, TextsChanged, ("datasets:write",), _by(ReferenceTools.update_dataset_context),
        reads_only=False, destroys=True,
    ),
    ServerTool(
        "list_workspaces", "List workspaces", "List the workspaces that the caller is a member of.",
        takes.ListWorkspaces, Workspaces, ("datasets:read",), _by(ReferenceTools.list_workspaces),
    ),
    ServerTool(
        "get_workspace_context", "Get a workspace's context",
        "Read a workspace's AI context: the note that its admins write for analysis, such as KPI definitions and conventions. "
        "content is empty where none has been written.",
        takes.OfWorkspace, WorkspaceContext, ("datasets:read",), _by(ReferenceTools.get_workspace_context),
    ),
    ServerTool(
        "update_workspace_context", "Update a workspace's context",
        "Replace a workspace's AI context. If somebody else saved it after it was read, it is refused and nothing is overwritten: "
        "read it again and apply the edit again." + _TWO_CALLS,
        takes.UpdateWorkspaceContext, WorkspaceChanged, ("datasets:read", "sharing:write"),
        _by(ReferenceTools.update_workspace_context), reads_only=False, destroys=True,
    ),
)
