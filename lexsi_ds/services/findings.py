"""Findings: propose, check, decide, edit, retire. Who decides names the row they saw; if it moved on, it is a Conflict.

Checks run outside of any transaction, then their result is written to the row they were made for.
Must never: write a second decision for one click, tab or process; let a check result land on a text it did not check.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.errors import BadInput, Conflict, Denied
from lexsi_ds.services.access import Actor
from lexsi_ds.services.finding import Band, Check, Decision, Finding, Suggestion
from lexsi_ds.services.finding_check import Lookup
from lexsi_ds.services.finding_flags import changed_columns, flag_after
from lexsi_ds.services.finding_plan import KEEP as KEEP
from lexsi_ds.services.finding_plan import FindingPlan, Keep
from lexsi_ds.services.finding_reads import FindingReads
from lexsi_ds.services.finding_text import clean_note
from lexsi_ds.services.review_rules import ReviewRules
from lexsi_ds.services.sharing import Levels, checked
from lexsi_ds.store.db import Store
from lexsi_ds.store.findings import Change, FindingRecord, Wanted, restored
from lexsi_ds.store.records import now

_DONE: dict[str, str] = {
    "accepted": "accepted it", "rejected": "rejected it", "edited": "edited it", "retitled": "gave it another title",
    "retired": "retired it", "restored": "restored it", "undone": "took the decision back",
    "checked": "ran its check again", "flagged": "changed what it depends on", "suggested": "suggested a decision",
}
_NO_DECISIONS = ("checked", "flagged", "suggested")


class Findings(FindingReads):
    """Every read and write of findings. All methods raise Denied without the right, NotFound for an unknown id."""

    def __init__(
        self, store: Store, catalog_lookup: Lookup, sql: SqlRunner, levels: Levels,
        rules: Callable[[], ReviewRules] = ReviewRules,
    ) -> None:
        super().__init__(store, catalog_lookup, sql, levels)
        self._plan, self._rules = FindingPlan(self._rows, self._check), rules

    def planned(
        self, actor: Actor, *, dataset_id: str, title: str, statement: str, columns: tuple[str, ...] = (),
        check_sql: str | None = None, depends_on: tuple[str, ...] = (), band: Band | None = None, source: str = "user",
        run_id: str | None = None, source_id: str | None = None,
    ) -> Finding:
        """The finding that ``propose`` would add, not written and not checked. Raises what ``propose`` raises."""
        actor.need("findings:write")
        level = self._level(actor, dataset_id, "read")
        return Finding.of(self._plan.proposal(
            actor, level, dataset_id=dataset_id, title=title, statement=statement, columns=columns, check_sql=check_sql,
            depends_on=depends_on, band=band, source=source, run_id=run_id, source_id=source_id,
        ))

    def propose(
        self, actor: Actor, *, dataset_id: str, title: str, statement: str, columns: tuple[str, ...] = (),
        check_sql: str | None = None, depends_on: tuple[str, ...] = (), band: Band | None = None, source: str = "user",
        run_id: str | None = None, source_id: str | None = None, via: str | None = None,
    ) -> Finding:
        """Add a pending finding; its check has run once. Proposing the same again gives the first one back.

        Raises BadInput for a text that is empty or too long, an unknown column or dependency, SqlRefused for a check that can
        never run, Denied for a check by who may not edit the data set. A check that fails otherwise is kept with verdict ``error``.
        """
        actor.need("findings:write")
        level = self._level(actor, dataset_id, "read")
        record = self._plan.proposal(
            actor, level, dataset_id=dataset_id, title=title, statement=statement, columns=columns, check_sql=check_sql,
            depends_on=depends_on, band=band, source=source, run_id=run_id, source_id=source_id,
        )
        same = self._rows.same(record)
        if same is not None:
            return Finding.of(same)
        checked = self._checked(record)
        return Finding.of(self._rows.insert(record.model_copy(update=checked), _change(actor, "proposed", via or source)))

    def decide(
        self, actor: Actor, finding_id: str, version: int, decision: Decision, *, note: str = "", via: str = "ui"
    ) -> Finding:
        """Accept or reject the finding whose ``row_version`` was seen. Raises Conflict when it has moved on since.

        The same decision sent again by the same person is answered with the stored finding and writes nothing. Raises Denied
        where the rules ask for another reviewer than the author, or for a person's own click.
        """
        found, note = self._judged(actor, finding_id), clean_note(note)
        rules = self._rules()
        if rules.queues(via):
            raise Denied("A decision of a program waits for a person here.", where=found.title, to_do="Open Findings review.")
        if rules.other_reviewer and found.created_by == actor.id:
            raise Denied("The author of a finding may not judge it here.", where=found.title, to_do="Ask somebody else.")
        if found.row_version != version:
            return self._repeated(actor, found, version, decision)
        if found.status == "retired":
            raise BadInput("A retired finding cannot be decided.", where=found.title, to_do="Restore it first.")
        if found.review == decision and found.flag is None and note in ("", found.review_note):
            return found
        values = {
            "review": decision, "flag": None, "reviewed_by": actor.id, "reviewed_by_name": actor.name,
            "reviewed_at": now(), "review_note": note, "reviewed_version": found.version, "reviewed_via": via,
            "reviewed_check": _json(found.last_check), "suggested": None,
        }
        changed = self._rows.change(finding_id, version, values, _change(actor, decision, via, note))
        if changed is None:
            return self._repeated(actor, self._get(actor, finding_id), version, decision)
        return Finding.of(changed)

    def suggest(
        self, actor: Actor, finding_id: str, version: int, decision: Decision, *, note: str = "", via: str
    ) -> Finding:
        """Put a decision into the queue, for a person to take or not; the review stays as it is."""
        found = self._judged(actor, finding_id)
        if found.row_version != version:
            raise self._conflict(found)
        if found.status == "retired":
            raise BadInput("A retired finding cannot be decided.", where=found.title, to_do="Restore it first.")
        made = Suggestion(decision=decision, note=clean_note(note), by=actor.id, by_name=actor.name, via=via, at=now())
        return self._write(actor, finding_id, version, {"suggested": made.model_dump(mode="json")}, "suggested", via)

    def need_propose(self, actor: Actor, dataset_id: str, *, with_check: bool) -> None:
        """Raise Denied unless this person may propose here: reading suffices, a check needs the right to edit."""
        actor.need("findings:write")
        self._level(actor, dataset_id, "edit" if with_check else "read")

    def need_edit(self, actor: Actor, found: Finding) -> None:
        """Raise Denied unless this person may edit it at all: who may edit the data set, or its author."""
        actor.need("findings:write")
        if found.created_by != actor.id:
            self._level(actor, found.dataset_id, "edit")

    def need_review(self, actor: Actor, found: Finding) -> None:
        """Raise Denied unless this person may accept or reject it."""
        actor.need("findings:review")
        self._level(actor, found.dataset_id, "edit")

    def queues(self, via: str) -> bool:
        """Whether decisions through this door wait for a person."""
        return self._rules().queues(via)

    def undo(self, actor: Actor, finding_id: str, version: int, *, via: str = "ui") -> Finding:
        """Take the last decision back, as a new step of the history. Raises BadInput when there is none."""
        self._judged(actor, finding_id)
        found = self._seen(actor, finding_id, version)
        steps = [step for step in self._rows.history(finding_id) if step.action not in _NO_DECISIONS]
        if steps[-1].action not in ("accepted", "rejected"):
            raise BadInput("There is no decision to take back.", where="finding")
        values = restored(steps[-1].before)
        if values.get("review", found.review) != "accepted":
            values["flag"] = None
        return self._write(actor, finding_id, version, values, "undone", via)

    def planned_edit(
        self, actor: Actor, finding_id: str, *, title: str | Keep = KEEP, statement: str | Keep = KEEP,
        columns: tuple[str, ...] | Keep = KEEP, check_sql: str | Keep | None = KEEP,
        depends_on: tuple[str, ...] | Keep = KEEP, band: Band | Keep | None = KEEP,
    ) -> tuple[Finding, dict[str, Any]]:
        """The finding as it is and the fields that ``edit`` would change, with their new values; nothing is written."""
        actor.need("findings:write")
        found = self._get(actor, finding_id)
        level = self._level(actor, found.dataset_id, "read")
        return found, self._plan.edit(
            actor, level, found, title=title, statement=statement, columns=columns, check_sql=check_sql,
            depends_on=depends_on, band=band,
        )

    def edit(
        self, actor: Actor, finding_id: str, version: int, *, title: str | Keep = KEEP, statement: str | Keep = KEEP,
        columns: tuple[str, ...] | Keep = KEEP, check_sql: str | Keep | None = KEEP,
        depends_on: tuple[str, ...] | Keep = KEEP, band: Band | Keep | None = KEEP, via: str = "ui",
    ) -> Finding:
        """Change what is given. Anything but the title sends it back to review and runs the check once."""
        found, values = self.planned_edit(
            actor, finding_id, title=title, statement=statement, columns=columns, check_sql=check_sql,
            depends_on=depends_on, band=band,
        )
        if found.row_version != version:
            raise self._conflict(found)
        if not values:
            return found
        values["version"] = found.version + 1
        if set(values) == {"title", "version"}:
            if found.reviewed_version is not None:
                values["reviewed_version"] = found.version + 1
            return self._write(actor, finding_id, version, values, "retitled", via)
        draft = FindingRecord.model_validate({**found.model_dump(mode="json"), **values})
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
        found = self._get(actor, finding_id)
        self._level(actor, found.dataset_id, "edit")
        if found.check_sql is None:
            raise BadInput("This finding has no check.", where=found.title, to_do="Edit it and add one.")
        check = self._check.run(found.dataset_id, found.check_sql, found.columns, found.version, found.band)
        return self._keep(actor, found, check, via)

    def recheck(self, actor: Actor, dataset_id: str, *, via: str = "refresh") -> tuple[Finding, ...]:
        """Run the checks of every accepted finding of a dataset, as after an import of new data; one without a check is
        flagged when a column it names is gone."""
        rows = self._rows.list(Wanted(dataset_id=dataset_id, review="accepted", status="active"))
        with_check = tuple(self.run_check(actor, r.id, via=via) for r in rows if r.check_sql is not None)
        for row in rows:
            found = Finding.of(row)
            if found.check_sql is None and flag_after(found, None, self._changed(found)) != found.flag:
                self._keep(actor, found, None, via)
        return with_check

    def _keep(self, actor: Actor, found: Finding, check: Check | None, via: str) -> Finding:
        """Write what a look at the data found, whatever else happened to the row meanwhile."""
        first = found.version
        for _ in range(20):
            flag = flag_after(found, check, self._changed(found))
            values: dict[str, Any] = {"flag": _json(flag)}
            if check is not None:
                values |= {"verdict": check.outcome, "last_check": _json(check)}
            changed = self._rows.change(found.id, found.row_version, values, _change(actor, "checked", via))
            if changed is not None:
                return Finding.of(changed)
            found = self._get(actor, found.id)
            if found.version != first:
                return found  # edited meanwhile: the edit ran a check of its own text
        raise Conflict("The finding kept changing while its check ran.", where=found.title, to_do="Try again.")

    def _changed(self, found: Finding) -> tuple[str, ...]:
        before = found.reviewed_check.types if found.reviewed_check is not None else {}
        return changed_columns(before, self._check.types(found.dataset_id, found.columns))

    def _judged(self, actor: Actor, finding_id: str) -> Finding:
        actor.need("findings:review")
        found = self._get(actor, finding_id)
        checked(self._levels.of_dataset(actor, found.dataset_id), "edit", found.title)
        return found

    def _seen(self, actor: Actor, finding_id: str, version: int) -> Finding:
        found = self._get(actor, finding_id)
        if found.row_version != version:
            raise self._conflict(found)
        return found

    def _write(
        self, actor: Actor, finding_id: str, version: int, values: dict[str, Any], action: str, via: str
    ) -> Finding:
        note = str((values.get("suggested") or {}).get("note", ""))
        changed = self._rows.change(finding_id, version, values, _change(actor, action, via, note))
        if changed is None:
            raise self._conflict(self._get(actor, finding_id))
        return Finding.of(changed)

    def _set_status(self, actor: Actor, finding_id: str, version: int, status: str, via: str) -> Finding:
        actor.need("findings:write")
        found = self._seen(actor, finding_id, version)
        self._level(actor, found.dataset_id, "edit")
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

    def _checked(self, record: FindingRecord) -> dict[str, Any]:
        if record.check_sql is None:
            return {"verdict": "unchecked", "last_check": None}
        band = Band.model_validate(record.band) if record.band is not None else None
        check = self._check.run(record.dataset_id, record.check_sql, record.columns, record.version, band)
        return {"verdict": check.outcome, "last_check": _json(check)}


_REVIEW_OF_NONE: dict[str, Any] = {
    "review": "pending", "flag": None, "reviewed_by": None, "reviewed_by_name": None, "reviewed_at": None,
    "review_note": "", "reviewed_version": None, "reviewed_via": None, "reviewed_check": None, "suggested": None,
}


def _change(actor: Actor, action: str, via: str, note: str = "") -> Change:
    return Change(person=actor.id, person_name=actor.name, action=action, via=via, note=note)


def _json(value: Any | None) -> dict[str, Any] | None:
    return None if value is None else value.model_dump(mode="json")
