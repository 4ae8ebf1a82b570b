"""Findings: propose, check, decide, edit, retire. Who decides names the row they saw; if it moved on, it is a Conflict.

Checks run outside of any transaction, then their result is written to the row they were made for.
Must never: write a second decision for one click, tab or process; let a check result land on a text it did not check.
"""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from lexsi_ds.data.handle import Table
from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.errors import BadInput, Conflict, NotFound
from lexsi_ds.ids import is_id, new_id
from lexsi_ds.services.access import Actor
from lexsi_ds.services.finding import SEGMENTS, Check, Decision, Finding, Segment, flag_after
from lexsi_ds.services.finding_check import FindingCheck, Lookup
from lexsi_ds.services.finding_text import clean_line, clean_note, known_columns
from lexsi_ds.store.db import Store
from lexsi_ds.store.findings import Change, FindingRecord, FindingRows, HistoryRecord, restored
from lexsi_ds.store.records import now

MAX_TITLE, MAX_STATEMENT = 120, 500
_DONE: dict[str, str] = {
    "accepted": "accepted it", "rejected": "rejected it", "edited": "edited it", "retitled": "gave it another title",
    "retired": "retired it", "restored": "restored it", "undone": "took the decision back",
    "checked": "ran its check again",
}


class Keep:
    """Stands for "leave this as it is" where None means "none"."""


KEEP: Final = Keep()


class Findings:
    """Every read and write of findings. All methods raise Denied without the right, NotFound for an unknown id."""

    def __init__(self, store: Store, catalog_lookup: Lookup, sql: SqlRunner) -> None:
        self._rows, self._check = FindingRows(store), FindingCheck(catalog_lookup, sql)

    def propose(
        self, actor: Actor, *, dataset_id: str, title: str, statement: str, columns: tuple[str, ...] = (),
        check_sql: str | None = None, source: str = "user", run_id: str | None = None, source_id: str | None = None,
    ) -> Finding:
        """Add a pending finding; its check has run once. Proposing the same again gives the first one back.

        Raises BadInput for a text that is empty or too long or an unknown column, SqlRefused for a check that can never
        run. A check that fails otherwise is kept with verdict ``error``.
        """
        actor.need("findings:write")
        table = self._table(dataset_id)
        at = now()
        record = FindingRecord(
            id=new_id("fnd"), source_id=source_id, dataset_id=dataset_id, run_id=run_id, origin=source,
            title=clean_line(title, "title", MAX_TITLE), statement=clean_line(statement, "statement", MAX_STATEMENT),
            columns=known_columns(table, columns), check_sql=self._accepted_sql(table, check_sql), verdict="unchecked",
            last_check=None, review="pending", status="active", flag=None, version=1, row_version=1,
            created_by=actor.id, created_at=at, updated_by=actor.id, updated_at=at,
        )
        same = self._rows.same(record)
        if same is not None:
            return Finding.of(same)
        checked = self._checked(record)
        return Finding.of(self._rows.insert(record.model_copy(update=checked), _change(actor, "proposed", source)))

    def decide(
        self, actor: Actor, finding_id: str, version: int, decision: Decision, *, note: str = "", via: str = "ui"
    ) -> Finding:
        """Accept or reject the finding whose ``row_version`` was seen. Raises Conflict when it has moved on since.

        The same decision sent again by the same person is answered with the stored finding and writes nothing.
        """
        actor.need("findings:review")
        found, note = self._get(finding_id), clean_note(note)
        if found.row_version != version:
            return self._repeated(actor, found, version, decision)
        if found.status == "retired":
            raise BadInput("A retired finding cannot be decided.", where=found.title, to_do="Restore it first.")
        if found.review == decision and found.flag is None and note in ("", found.review_note):
            return found
        values = {
            "review": decision, "flag": None, "reviewed_by": actor.id, "reviewed_by_name": actor.name,
            "reviewed_at": now(), "review_note": note, "reviewed_version": found.version, "reviewed_via": via,
            "reviewed_check": _json(found.last_check),
        }
        changed = self._rows.change(finding_id, version, values, _change(actor, decision, via, note))
        if changed is None:
            return self._repeated(actor, self._get(finding_id), version, decision)
        return Finding.of(changed)

    def undo(self, actor: Actor, finding_id: str, version: int, *, via: str = "ui") -> Finding:
        """Take the last decision back, as a new step of the history. Raises BadInput when there is none."""
        actor.need("findings:review")
        found = self._seen(finding_id, version)
        steps = [step for step in self._rows.history(finding_id) if step.action != "checked"]
        if steps[-1].action not in ("accepted", "rejected"):
            raise BadInput("There is no decision to take back.", where="finding")
        values = restored(steps[-1].before)
        if values.get("review", found.review) != "accepted":
            values["flag"] = None
        return self._write(actor, finding_id, version, values, "undone", via)

    def edit(
        self, actor: Actor, finding_id: str, version: int, *, title: str | Keep = KEEP, statement: str | Keep = KEEP,
        columns: tuple[str, ...] | Keep = KEEP, check_sql: str | Keep | None = KEEP, via: str = "ui",
    ) -> Finding:
        """Change what is given. Anything but the title sends it back to review and runs the check once."""
        actor.need("findings:write")
        found = self._seen(finding_id, version)
        values = self._edited(found, title, statement, columns, check_sql)
        if not values:
            return found
        values["version"] = found.version + 1
        if set(values) == {"title", "version"}:
            if found.reviewed_version is not None:
                values["reviewed_version"] = found.version + 1
            return self._write(actor, finding_id, version, values, "retitled", via)
        draft = FindingRecord.model_validate({**found.model_dump(), **values})
        values |= {**_REVIEW_OF_NONE, **self._checked(draft)}
        return self._write(actor, finding_id, version, values, "edited", via)

    def retire(self, actor: Actor, finding_id: str, version: int, *, via: str = "ui") -> Finding:
        """Set it aside: it is listed under "retired" and checked no more."""
        return self._set_status(actor, finding_id, version, "retired", via)

    def restore(self, actor: Actor, finding_id: str, version: int, *, via: str = "ui") -> Finding:
        """Bring a retired finding back with the review it had."""
        return self._set_status(actor, finding_id, version, "active", via)

    def run_check(self, actor: Actor, finding_id: str, *, via: str = "ui") -> Finding:
        """Run its check on the latest data and keep the result; an accepted finding that broke is flagged."""
        actor.need("findings:write")
        found = self._get(finding_id)
        if found.check_sql is None:
            raise BadInput("This finding has no check.", where=found.title, to_do="Edit it and add one.")
        check = self._check.run(found.dataset_id, found.check_sql, found.columns, found.version)
        missing = self._check.missing(found.dataset_id, found.columns)
        for _ in range(20):
            values = {
                "verdict": check.outcome, "last_check": _json(check), "flag": _json(flag_after(found, check, missing))
            }
            changed = self._rows.change(finding_id, found.row_version, values, _change(actor, "checked", via))
            if changed is not None:
                return Finding.of(changed)
            found = self._get(finding_id)
            if found.version != check.finding_version:
                return found  # edited meanwhile: the edit ran a check of its own text
        raise Conflict("The finding kept changing while its check ran.", where=found.title, to_do="Try again.")

    def recheck(self, actor: Actor, dataset_id: str, *, via: str = "refresh") -> tuple[Finding, ...]:
        """Run the checks of every accepted finding of a dataset, as after an import of new data."""
        rows = [r for r in self._rows.list(dataset_id=dataset_id) if r.review == "accepted" and r.status == "active"]
        return tuple(self.run_check(actor, r.id, via=via) for r in rows if r.check_sql is not None)

    def get(self, actor: Actor, finding_id: str) -> Finding:
        """One finding."""
        actor.need("findings:read")
        return self._get(finding_id)

    def list(
        self, actor: Actor, *, segment: Segment | None = None, source_id: str | None = None, search: str | None = None
    ) -> tuple[Finding, ...]:
        """Findings, newest first: of one segment, of one source, holding each word of ``search``, as far as given."""
        actor.need("findings:read")
        words = (search or "").casefold().split()
        found = map(Finding.of, self._rows.list(segment=segment, source_id=source_id))
        return tuple(f for f in found if all(word in _searched(f) for word in words))

    def of_dataset(self, actor: Actor, dataset_id: str) -> tuple[Finding, ...]:
        """Every finding of a dataset, newest first."""
        actor.need("findings:read")
        return tuple(map(Finding.of, self._rows.list(dataset_id=dataset_id)))

    def counts(self, actor: Actor, source_id: str | None = None) -> dict[Segment, int]:
        """How many findings stand in each segment, none left out."""
        actor.need("findings:read")
        counted = self._rows.counts(source_id)
        return {segment: counted.get(segment, 0) for segment in SEGMENTS}

    def history(self, actor: Actor, finding_id: str) -> tuple[HistoryRecord, ...]:
        """Every step it took, oldest first."""
        actor.need("findings:read")
        return self._rows.history(self._get(finding_id).id)

    def failing_rows(self, actor: Actor, finding_id: str, n: int = 20) -> pd.DataFrame:
        """Some of the rows that break it (``last_check.failure_count`` says of how many), masked columns masked."""
        actor.need("findings:read")
        actor.need("datasets:read")
        found = self._get(finding_id)
        if found.check_sql is None:
            raise BadInput("This finding has no check.", where=found.title)
        return self._check.sample(found.dataset_id, found.check_sql, n)

    def _get(self, finding_id: str) -> Finding:
        record = self._rows.get(finding_id) if is_id(finding_id, "fnd") else None
        if record is None:
            raise NotFound("There is no such finding.", to_do="Open it from the list.")
        return Finding.of(record)

    def _seen(self, finding_id: str, version: int) -> Finding:
        found = self._get(finding_id)
        if found.row_version != version:
            raise self._conflict(found)
        return found

    def _table(self, dataset_id: str) -> Table:
        if not is_id(dataset_id, "ds"):
            raise NotFound("There is no such data set.", to_do="Choose one from the list.")
        return self._check.table(dataset_id)

    def _write(
        self, actor: Actor, finding_id: str, version: int, values: dict[str, Any], action: str, via: str
    ) -> Finding:
        changed = self._rows.change(finding_id, version, values, _change(actor, action, via))
        if changed is None:
            raise self._conflict(self._get(finding_id))
        return Finding.of(changed)

    def _set_status(self, actor: Actor, finding_id: str, version: int, status: str, via: str) -> Finding:
        actor.need("findings:write")
        found = self._seen(finding_id, version)
        if found.status == status:
            return found
        action = "retired" if status == "retired" else "restored"
        return self._write(actor, finding_id, version, {"status": status}, action, via)

    def _repeated(self, actor: Actor, found: Finding, version: int, decision: Decision) -> Finding:
        """The finding, if this very decision is what moved it on; else the Conflict."""
        moved = next((s for s in self._rows.history(found.id) if s.row_version == version + 1), None)
        mine = moved is not None and (moved.person, moved.action) == (actor.id, decision)
        if mine and found.review == decision and found.status == "active":
            return found
        raise self._conflict(found)

    def _conflict(self, found: Finding) -> Conflict:
        steps = self._rows.history(found.id)
        last = next((s for s in reversed(steps) if s.action != "checked"), steps[-1])
        last = steps[-1] if last.action == "proposed" else last
        did = _DONE.get(last.action, "changed it")
        what = f"{last.person_name} {did} at {last.at:%Y-%m-%d %H:%M} UTC; nothing was changed now."
        return Conflict(what, where=found.title, to_do="Look at it as it is now, then decide.")

    def _edited(
        self, found: Finding, title: str | Keep, statement: str | Keep, columns: tuple[str, ...] | Keep,
        check_sql: str | Keep | None,
    ) -> dict[str, Any]:
        values: dict[str, Any] = {}
        if not isinstance(title, Keep):
            values["title"] = clean_line(title, "title", MAX_TITLE)
        if not isinstance(statement, Keep):
            values["statement"] = clean_line(statement, "statement", MAX_STATEMENT)
        if not isinstance(columns, Keep) and tuple(columns) != found.columns:
            values["columns"] = known_columns(self._check.table(found.dataset_id), columns)
        if not isinstance(check_sql, Keep) and (check_sql or "").strip() != (found.check_sql or ""):
            values["check_sql"] = self._accepted_sql(self._check.table(found.dataset_id), check_sql)
        return {name: value for name, value in values.items() if getattr(found, name) != value}

    def _accepted_sql(self, table: Table, sql: str | None) -> str | None:
        text = (sql or "").strip()
        if not text:
            return None
        self._check.accept(table, text)
        return text

    def _checked(self, record: FindingRecord) -> dict[str, Any]:
        if record.check_sql is None:
            return {"verdict": "unchecked", "last_check": None}
        check = self._check.run(record.dataset_id, record.check_sql, record.columns, record.version)
        return {"verdict": check.outcome, "last_check": _json(check)}


_REVIEW_OF_NONE: dict[str, Any] = {
    "review": "pending", "flag": None, "reviewed_by": None, "reviewed_by_name": None, "reviewed_at": None,
    "review_note": "", "reviewed_version": None, "reviewed_via": None, "reviewed_check": None,
}


def _change(actor: Actor, action: str, via: str, note: str = "") -> Change:
    return Change(person=actor.id, person_name=actor.name, action=action, via=via, note=note)


def _json(value: Check | Any | None) -> dict[str, Any] | None:
    return None if value is None else value.model_dump(mode="json")


def _searched(finding: Finding) -> str:
    return " ".join((finding.title, finding.statement, *finding.columns)).casefold()
