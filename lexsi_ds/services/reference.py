"""The findings and workspace tools of the tools reference: JSON in, JSON out, the same behind MCP and the chat.

Tools that change something run in two calls: a preview, then the confirmed call. The rights are checked in both. Must never: take
a token for consent where the rules want a person's own click, or pick one of several datasets of a name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from lexsi_ds.errors import BadInput, LexsiError, NotFound
from lexsi_ds.services.access import Actor
from lexsi_ds.services.audit import Audit
from lexsi_ds.services.confirmations import Confirmations
from lexsi_ds.services.cursors import Cursors, page_size
from lexsi_ds.services.dataset_json import page
from lexsi_ds.services.datasets import Datasets
from lexsi_ds.services.finding import Band, Decision, Finding
from lexsi_ds.services.findings import KEEP, Findings
from lexsi_ds.services.reference_arguments import (
    Confirmed,
    ListFindings,
    ListWorkspaces,
    OfWorkspace,
    ProposeFinding,
    ReviewFinding,
    UpdateDatasetContext,
    UpdateFinding,
    UpdateWorkspaceContext,
    read,
)
from lexsi_ds.services.reference_json import Json, dependencies_json, finding_json
from lexsi_ds.services.workspaces import Workspaces, checked_content
from lexsi_ds.store.datasets import UNSET

Arguments = Mapping[str, Any]
_DECISIONS: dict[str, Decision] = {"accept": "accepted", "reject": "rejected"}
_QUEUED = "It waits in Findings review: a person has to take the decision there."


class ReferenceTools:
    """The tools. All raise LexsiError for what is wrong, not there or not allowed."""

    def __init__(
        self, findings: Findings, datasets: Datasets, workspaces: Workspaces, confirmations: Confirmations, cursors: Cursors,
        audit: Audit,
    ) -> None:
        self._findings, self._datasets, self._workspaces = findings, datasets, workspaces
        self._confirmations, self._cursors, self._audit = confirmations, cursors, audit

    # -- findings --------------------------------------------------------------------------------------------------

    def list_findings(self, actor: Actor, arguments: Arguments, *, via: str = "") -> Json:
        """A dataset's findings, newest first; in every review state, retired ones included, unless filters say otherwise."""
        args = read(ListFindings, arguments)
        dataset_id = self._dataset(actor, args.dataset)
        size, wanted = page_size(args.limit), args.model_dump(include={"review", "status", "flagged", "verdict", "column"})
        bound = {**wanted, "dataset": dataset_id}
        begin = self._cursors.after(actor, "list_findings", bound, args.cursor)
        after = None if begin is None else (datetime.fromisoformat(begin[0]), begin[1])
        found = self._findings.of_dataset(actor, dataset_id, **wanted, after=after, limit=size + 1)
        total, last = self._findings.count_of_dataset(actor, dataset_id, **wanted), found[:size][-1:]
        more = len(found) > size
        cursor = (
            self._cursors.next(actor, "list_findings", bound, (last[0].created_at.isoformat(), last[0].id)) if more else None
        )
        return {"datasetId": dataset_id} | page("findings", [finding_json(f) for f in found[:size]], total, cursor)

    def propose_finding(
        self, actor: Actor, arguments: Arguments, *, via: str, band: Band | None = None, run_id: str | None = None
    ) -> Json:
        """Save a new finding as pending. ``band`` is the metric that its check was made of, ``run_id`` the run that found it."""
        args = read(ProposeFinding, arguments)
        dataset_id, source_id = self._place(actor, args.dataset)
        fields: Json = {
            "dataset_id": dataset_id, "title": args.title, "statement": args.statement, "columns": args.columns,
            "check_sql": args.check_sql, "depends_on": args.depends_on, "source": "agent", "source_id": source_id,
            "band": band, "run_id": run_id,
        }
        self._findings.need_propose(actor, dataset_id, with_check=bool((args.check_sql or "").strip()))

        def proposal() -> Json:
            planned = self._findings.planned(actor, **fields)
            return {"datasetId": dataset_id, "finding": self._as_saved(actor, planned), "review": "pending"}

        def do() -> Json:
            made = self._findings.propose(actor, **fields, via=via)
            return {"created": True, "datasetId": dataset_id, "finding": finding_json(made)}

        return self._two_steps(actor, "propose_finding", args, via, dataset_id, "", proposal, do)

    def update_finding(self, actor: Actor, arguments: Arguments, *, via: str) -> Json:
        """Edit an existing finding; only what is passed changes."""
        args = read(UpdateFinding, arguments)
        dataset_id = self._dataset(actor, args.dataset)
        found = self._finding(actor, dataset_id, args.finding_id)
        fields = _given(args)

        def proposal() -> Json:
            _, changes = self._findings.planned_edit(actor, found.id, **fields)
            shown = {said: self._change(actor, found, name, changes[name]) for name, said in _NAMES.items() if name in changes}
            whole: Json = {
                "datasetId": dataset_id, "findingId": found.id, "changes": shown, "review": found.review,
                "version": found.version,
            }
            if not shown:
                return whole | {"message": "Nothing would change."}
            back = set(shown) != {"title"} and found.review != "pending"
            return whole | ({"message": f"It goes from {found.review} back to pending."} if back else {})

        def do() -> Json:
            edited = self._findings.edit(actor, found.id, found.row_version, **fields, via=via)
            return {"updated": True, "datasetId": dataset_id, "finding": finding_json(edited)}

        self._findings.need_edit(actor, found)
        return self._two_steps(actor, "update_finding", args, via, f"{dataset_id}/{found.id}", _state(found), proposal, do)

    def review_finding(self, actor: Actor, arguments: Arguments, *, via: str) -> Json:
        """Accept or reject a finding, as the signed-in user; or put that into the queue where the rules want a click."""
        args = read(ReviewFinding, arguments)
        dataset_id = self._dataset(actor, args.dataset)
        found, decision = self._finding(actor, dataset_id, args.finding_id), _DECISIONS[args.decision]
        queued = self._findings.queues(via)

        def proposal() -> Json:
            if found.status == "retired":
                raise BadInput("A retired finding cannot be decided.", where=found.title, to_do="Restore it first.")
            said: Json = {
                "datasetId": dataset_id, "decision": args.decision, "note": args.note,
                "finding": {
                    "findingId": found.id, "title": found.title, "statement": found.statement, "columns": list(found.columns),
                    "checkSql": found.check_sql, "verdict": found.verdict, "review": found.review, "version": found.version,
                    "standing": found.headline,
                },
            }
            return said | ({"queued": True, "message": _QUEUED} if queued else {})

        def do() -> Json:
            if queued:
                kept = self._findings.suggest(actor, found.id, found.row_version, decision, note=args.note, via=via)
                said: Json = {"reviewed": False, "queued": True, "message": _QUEUED}
            else:
                kept = self._findings.decide(actor, found.id, found.row_version, decision, note=args.note, via=via)
                said = {"reviewed": True}
            return said | {"datasetId": dataset_id, "finding": finding_json(kept)}

        self._findings.need_review(actor, found)
        return self._two_steps(actor, "review_finding", args, via, f"{dataset_id}/{found.id}", _state(found), proposal, do)

    # -- texts -----------------------------------------------------------------------------------------------------

    def update_dataset_context(self, actor: Actor, arguments: Arguments, *, via: str) -> Json:
        """Edit a dataset's description, its column descriptions, or both."""
        args = read(UpdateDatasetContext, arguments)
        if not args.has("dataset_context") and not args.column_descriptions:
            raise BadInput("Nothing is to be edited.", where="arguments", to_do="Send datasetContext, columnDescriptions or both.")
        dataset_id = self._dataset(actor, args.dataset)
        text = args.dataset_context if args.has("dataset_context") else UNSET
        columns = args.column_descriptions or {}
        planned = self._datasets.planned_texts(actor, dataset_id, text=text, columns=columns)
        current = repr([planned.get("datasetContext", {}).get("current"),
                        sorted((n, c["current"]) for n, c in planned.get("columnDescriptions", {}).items())])

        def do() -> Json:
            written = self._datasets.describe(actor, dataset_id, text=text, columns=columns)
            return {"updated": True, **written}

        return self._two_steps(
            actor, "update_dataset_context", args, via, dataset_id, current, lambda: {"datasetId": dataset_id, **planned}, do
        )

    def list_workspaces(self, actor: Actor, arguments: Arguments, *, via: str = "") -> Json:
        """The workspaces that the person is a member of."""
        args = read(ListWorkspaces, arguments)
        found = sorted(self._workspaces.list(actor), key=lambda w: (w.name, w.id), reverse=True)
        shown, after = self._cursors.page(
            actor, "list_workspaces", {}, found, lambda w: (w.name, w.id), args.limit, args.cursor
        )
        items = [{"workspaceId": w.id, "name": w.name, "role": w.role, "hasContext": bool(w.content)} for w in shown]
        return page("workspaces", items, len(found), after)

    def get_workspace_context(self, actor: Actor, arguments: Arguments, *, via: str = "") -> Json:
        """A workspace's AI context; what was read is what an update may then replace."""
        found = self._workspaces.get(actor, read(OfWorkspace, arguments).workspace_id)
        self._workspaces.remember_read(actor, found)
        return {"workspaceId": found.id, "content": found.content, "updatedBy": found.updated_by, "updatedAt": found.updated_at}

    def update_workspace_context(self, actor: Actor, arguments: Arguments, *, via: str) -> Json:
        """Replace a workspace's AI context, unless somebody else saved it after this person read it."""
        args = read(UpdateWorkspaceContext, arguments)
        found = self._workspaces.need_context_admin(actor, args.workspace_id)
        content = checked_content(args.content)

        def proposal() -> Json:
            seen = self._workspaces.read_version(actor, found.id)
            if found.content and seen != found.version:
                raise self._workspaces.conflict(found)
            return {"workspaceId": found.id, "current": found.content, "proposed": content}

        def do() -> Json:
            written = self._workspaces.write_context(actor, found.id, content, found.version)
            self._workspaces.remember_read(actor, written)
            return {
                "updated": True, "workspaceId": written.id, "updatedBy": written.updated_by, "updatedAt": written.updated_at,
            }

        answer = self._two_steps(
            actor, "update_workspace_context", args, via, found.id, str(found.version), proposal, do
        )
        if answer.get("reason") == "state_changed":
            raise self._workspaces.conflict(found)
        return answer

    # -- inside ----------------------------------------------------------------------------------------------------

    def _two_steps(
        self, actor: Actor, tool: str, args: Confirmed, via: str, target: str, state: str, proposal: Callable[[], Json],
        do: Callable[[], Json],
    ) -> Json:
        if not args.confirm:
            return self._confirmations.preview(
                actor, tool, args.passed(), target=target, state=state, proposal=proposal()
            )
        try:
            answer = self._confirmations.confirm(
                actor, tool, args.passed(), args.confirmation_token, target=target, state=state, do=do
            )
        except LexsiError as error:
            self._audit.note(actor, tool, target, via=via, outcome=error.code)
            raise
        outcome = "queued" if answer.get("queued") else answer.get("reason") or str(answer["status"])
        self._audit.note(actor, tool, target, via=via, outcome=str(outcome))
        return answer

    def _place(self, actor: Actor, dataset: str) -> tuple[str, str]:
        row, source = self._datasets.resolve(actor, dataset)
        return row.id, source.id

    def _dataset(self, actor: Actor, dataset: str) -> str:
        return self._place(actor, dataset)[0]

    def _finding(self, actor: Actor, dataset_id: str, finding_id: str) -> Finding:
        found = self._findings.get(actor, finding_id)
        if found.dataset_id != dataset_id:
            raise NotFound("There is no such finding.", to_do="Open it from the list.")
        return found

    def _as_saved(self, actor: Actor, planned: Finding) -> Json:
        titles = self._findings.titles(actor, planned.depends_on)
        return {
            "title": planned.title, "statement": planned.statement, "columns": list(planned.columns),
            "checkSql": planned.check_sql, "dependsOn": dependencies_json(planned.depends_on, titles),
        }

    def _change(self, actor: Actor, found: Finding, name: str, proposed: Any) -> Json:
        current = getattr(found, name)
        if name != "depends_on":
            return {"current": _plain(current), "proposed": _plain(proposed)}
        titles = self._findings.titles(actor, {*current, *proposed})
        return {"current": dependencies_json(current, titles), "proposed": dependencies_json(proposed, titles)}


_NAMES = {
    "title": "title", "statement": "statement", "columns": "columns", "check_sql": "checkSql", "depends_on": "dependsOn",
}


def _given(args: UpdateFinding) -> dict[str, Any]:
    """The fields that were passed. A title or a statement cannot be taken away; a list or a check can."""
    for name in ("title", "statement"):
        if args.has(name) and getattr(args, name) is None:
            raise BadInput(f"The {name} cannot be taken away.", where=name, to_do="Leave it out, or send a text.")
    empty: dict[str, Any] = {"columns": (), "depends_on": ()}
    given = {name: getattr(args, name) if args.has(name) else KEEP for name in _NAMES}
    return {name: empty[name] if value is None and name in empty else value for name, value in given.items()}


def _state(found: Finding) -> str:
    """What a preview showed of a finding: if any of it changes, the token is good for nothing."""
    check = found.last_check
    failing = None if check is None else check.failure_count
    flag = None if found.flag is None else found.flag.reason
    return repr((found.version, found.review, found.status, found.verdict, failing, flag))


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


