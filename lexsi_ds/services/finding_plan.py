"""What a proposal or an edit of a finding would make, checked but not yet written: for the write itself, and for its preview.

Who may do what to which field is decided here, once. Must never: write anything.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

from lexsi_ds.errors import BadInput, Denied
from lexsi_ds.ids import is_id, new_id
from lexsi_ds.services import finding_band
from lexsi_ds.services.access import Actor, Level, at_least
from lexsi_ds.services.finding import Band, Finding
from lexsi_ds.services.finding_check import FindingCheck
from lexsi_ds.services.finding_text import clean_line, known_columns
from lexsi_ds.store.findings import FindingRecord, FindingRows
from lexsi_ds.store.records import now

MAX_TITLE, MAX_STATEMENT, MAX_DEPENDS = 120, 500, 10


class Keep:
    """Stands for "leave this as it is" where None means "none"."""


KEEP: Final = Keep()


class FindingPlan:
    """Proposals and edits before they are written."""

    def __init__(self, rows: FindingRows, check: FindingCheck) -> None:
        self._rows, self._check = rows, check

    def proposal(
        self, actor: Actor, level: Level, *, dataset_id: str, title: str, statement: str, columns: tuple[str, ...],
        check_sql: str | None, depends_on: tuple[str, ...], band: Band | None, source: str, run_id: str | None,
        source_id: str | None,
    ) -> FindingRecord:
        """The row of a proposal. Raises BadInput, SqlRefused, and Denied for a check without the right to edit."""
        table = self._check.table(dataset_id)
        sql = finding_band.check_sql(band) if band is not None else check_sql
        if (sql or "").strip() and not at_least(level, "edit"):
            raise Denied(
                "A check may be added only by who may edit the data set.", where=table.name, to_do="Propose it without a check."
            )
        at = now()
        record = FindingRecord(
            id=new_id("fnd"), source_id=source_id or self._rows.source_of(dataset_id), dataset_id=dataset_id, run_id=run_id,
            origin=source,
            title=clean_line(title, "title", MAX_TITLE), statement=clean_line(statement, "statement", MAX_STATEMENT),
            columns=known_columns(table, columns), check_sql=self._sql(dataset_id, sql), verdict="unchecked",
            last_check=None, review="pending", status="active", flag=None, version=1, row_version=1,
            created_by=actor.id, created_at=at, updated_by=actor.id, updated_at=at,
            depends_on=self._depends(dataset_id, None, depends_on), band=self._band(dataset_id, band),
        )
        return record.model_copy(update={"proposal_key": _key(record)})

    def edit(
        self, actor: Actor, level: Level, found: Finding, *, title: str | Keep, statement: str | Keep,
        columns: tuple[str, ...] | Keep, check_sql: str | Keep | None, depends_on: tuple[str, ...] | Keep,
        band: Band | Keep | None,
    ) -> dict[str, Any]:
        """The fields that an edit changes, each with its new value; none when it changes nothing.

        Raises Denied: only who may edit the data set may edit a finding, except that the author of a pending one may change
        everything but its check.
        """
        editor = at_least(level, "edit")
        author = found.created_by == actor.id and found.review == "pending" and found.status == "active"
        if not editor and not author:
            raise Denied(
                "Only who may edit the data set may edit this finding.", where=found.title, to_do="Ask the data set's owner."
            )
        values: dict[str, Any] = {}
        if not isinstance(title, Keep):
            values["title"] = clean_line(title, "title", MAX_TITLE)
        if not isinstance(statement, Keep):
            values["statement"] = clean_line(statement, "statement", MAX_STATEMENT)
        if not isinstance(columns, Keep) and tuple(columns) != found.columns:
            values["columns"] = known_columns(self._check.table(found.dataset_id), columns)
        if not isinstance(depends_on, Keep) and tuple(depends_on) != found.depends_on:
            values["depends_on"] = self._depends(found.dataset_id, found, depends_on)
        values |= self._checks(found, check_sql, band)
        changed = {name: value for name, value in values.items() if _now(found, name) != value}
        if {"check_sql", "band"} & set(changed) and not editor:
            raise Denied(
                "The check may be changed only by who may edit the data set.", where=found.title,
                to_do="Leave the check as it is.",
            )
        return changed

    def _checks(self, found: Finding, check_sql: str | Keep | None, band: Band | Keep | None) -> dict[str, Any]:
        if not isinstance(band, Keep) and band is not None:
            made = self._band(found.dataset_id, band)
            return {"band": made, "check_sql": self._sql(found.dataset_id, finding_band.check_sql(band))}
        if isinstance(check_sql, Keep):
            return {} if isinstance(band, Keep) else {"band": None}
        if (check_sql or "").strip() == (found.check_sql or ""):
            return {}
        return {"check_sql": self._sql(found.dataset_id, check_sql), "band": None}

    def _sql(self, dataset_id: str, sql: str | None) -> str | None:
        text = (sql or "").strip()
        if not text:
            return None
        self._check.accept(self._check.table(dataset_id), text)
        return text

    def _band(self, dataset_id: str, band: Band | None) -> dict[str, Any] | None:
        if band is None:
            return None
        self._check.observe(self._check.table(dataset_id), band)
        return band.model_dump(mode="json")

    def _depends(self, dataset_id: str, found: Finding | None, ids: tuple[str, ...]) -> tuple[str, ...]:
        """Dependencies as they may be kept: findings of the same data set, each once, none retired or rejected, no circle."""
        wanted = tuple(dict.fromkeys(ids))
        if len(wanted) > MAX_DEPENDS:
            raise BadInput(f"A finding depends on at most {MAX_DEPENDS} others.", where="dependsOn")
        for finding_id in wanted:
            row = self._rows.get(finding_id) if is_id(finding_id, "fnd") else None
            if row is None or row.dataset_id != dataset_id:
                raise BadInput("There is no such finding of this data set.", where=finding_id[:60], to_do="Look at list_findings.")
            kept = found is not None and finding_id in found.depends_on
            if not kept and (row.status == "retired" or row.review == "rejected"):
                word = "retired" if row.status == "retired" else "rejected"
                raise BadInput(f"A {word} finding cannot be depended on.", where=row.title, to_do="Choose another one.")
        if found is not None and self._rows.would_circle(dataset_id, found.id, wanted):
            raise BadInput("These dependencies go round in a circle.", where=found.title, to_do="Leave one of them out.")
        return wanted


def _now(found: Finding, name: str) -> Any:
    value = getattr(found, name)
    return value.model_dump(mode="json") if isinstance(value, Band) else value


def _key(record: FindingRecord) -> str:
    """What makes two proposals of one person the same, whatever becomes of the finding later."""
    said = [record.title, record.statement, record.columns, record.check_sql, record.depends_on, record.band]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
