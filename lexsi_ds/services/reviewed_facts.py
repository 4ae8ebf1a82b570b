"""What people have said and reviewed of a source, as a text for every analysis of it: descriptions, accepted findings with who
reviewed them, and the context of the workspace that the person works in.

It goes to the planner quoted as data. Must never: hold a finding that nobody accepted or that is retired, or a data row.
"""

from __future__ import annotations

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import LexsiError
from lexsi_ds.services.access import Actor
from lexsi_ds.services.finding import Finding
from lexsi_ds.services.findings import Findings
from lexsi_ds.services.workspaces import Workspaces
from lexsi_ds.store.db import Store
from lexsi_ds.store.sources import Sources, VersionRecord

_MOST_CHARS, _MOST_CONTEXT = 8_000, 4_000


class ReviewedFacts:
    """Makes the text."""

    def __init__(self, store: Store, findings: Findings, workspaces: Workspaces) -> None:
        self._sources, self._findings, self._workspaces = Sources(store), findings, workspaces

    def text(self, actor: Actor, handle: DatasetHandle) -> str:
        """The text for this person and this source; empty when nothing was said of it."""
        parts = self._sources.parts(handle.source_id, handle.snapshot_id)
        tables = [*(parts.tables if parts is not None else ()), *_newest(self._sources.derived(handle.source_id))]
        lines = [line for table in tables for line in (*_said(table), *self._facts(actor, table))]
        return "\n".join([*_within(lines, _MOST_CHARS), *self._context(actor)])

    def _facts(self, actor: Actor, table: VersionRecord) -> list[str]:
        try:
            found = self._findings.of_dataset(actor, table.dataset_id, review="accepted", status="active")
        except LexsiError:
            return []
        return [f"Reviewed fact on {table.name}: {_fact(finding)}" for finding in found]

    def _context(self, actor: Actor) -> list[str]:
        try:
            active = self._workspaces.active(actor)
        except LexsiError:
            return []
        if active is None or not active.content:
            return []
        return [f"Context of the workspace {active.name}, written by its admins:", active.content[:_MOST_CONTEXT]]


def _fact(finding: Finding) -> str:
    check = finding.last_check
    state = {"holds": "its check holds", "violated": "its check is violated", "error": "its check cannot run"}.get(
        finding.verdict, "no check"
    )
    if finding.band is not None and check is not None and check.observed is not None:
        state += f", observed {finding.band.seen(check.observed)}"
    elif finding.verdict == "violated" and check is not None:
        state += f" by {check.failure_count} rows"
    by = f"accepted by {finding.reviewed_by_name} on {finding.reviewed_at:%Y-%m-%d}" if finding.reviewed_at else "accepted"
    doubt = "" if finding.flag is None else f"; in doubt, to be reviewed again: {finding.flag.message}"
    return f"{finding.statement} ({by}; {state}{doubt})"


def _said(table: VersionRecord) -> list[str]:
    """What people wrote of a dataset and its columns; what was read from files stands in the schema already."""
    lines = [f"Description of {table.name}: {table.description}"] if table.description else []
    names = {str(column["name"]).casefold(): str(column["name"]) for column in table.columns}
    for mark in table.marks:
        if mark.description and mark.column_key in names:
            lines.append(f"Column {table.name}.{names[mark.column_key]}: {mark.description}")
    return lines


def _newest(derived: tuple[VersionRecord, ...]) -> list[VersionRecord]:
    newest: dict[str, VersionRecord] = {}
    for record in derived:
        held = newest.get(record.dataset_id)
        if held is None or record.version > held.version:
            newest[record.dataset_id] = record
    return list(newest.values())


def _within(lines: list[str], most: int) -> list[str]:
    """Whole lines as far as they fit, and how many do not."""
    kept: list[str] = []
    for i, line in enumerate(lines):
        most -= len(line) + 1
        if most < 0:
            return [*kept, f"({len(lines) - i} more are left out for length; describe_dataset and list_findings have them.)"]
        kept.append(line)
    return kept
