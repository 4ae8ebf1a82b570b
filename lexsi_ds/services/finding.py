"""What a finding is: a one-sentence rule about a dataset, with an optional SQL check, and where its review stands.

The check is one SELECT that returns the violating rows: no row means that the rule holds. ``version`` counts changes of
content; ``row_version`` counts every change, and is what a decision must have seen.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal, Self

from lexsi_ds.data.handle import Value
from lexsi_ds.store.findings import FindingRecord

Verdict = Literal["unchecked", "holds", "violated", "error"]
Review = Literal["pending", "accepted", "rejected"]
Decision = Literal["accepted", "rejected"]
Status = Literal["active", "retired"]
Segment = Literal["to_review", "flagged", "accepted", "rejected", "retired"]
FlagReason = Literal["check_violated", "check_error", "schema_changed"]

SEGMENTS: tuple[Segment, ...] = ("to_review", "flagged", "accepted", "rejected", "retired")


class Check(Value):
    """One run of a check."""

    ran_at: datetime
    outcome: Literal["holds", "violated", "error"]
    finding_version: int
    dataset_version: int | None
    """None when the dataset was not there any more."""
    failure_count: int | None = None
    """Violating rows, counted in full; None when the check did not run."""
    rows_checked: int | None = None
    vacuous: bool = False
    """It holds only because the dataset has no rows, or a column it is about has no values."""
    seconds: float = 0.0
    error: str | None = None


class Flag(Value):
    """Why an accepted finding wants another look. It stays until somebody reviews or edits the finding."""

    reason: FlagReason
    message: str
    since: datetime


class Finding(Value):
    """A finding as it stands."""

    id: str
    source_id: str | None
    dataset_id: str
    run_id: str | None
    origin: str
    """``user``, ``agent`` or ``surprise:<id>``."""
    title: str
    statement: str
    columns: tuple[str, ...]
    check_sql: str | None
    verdict: Verdict
    last_check: Check | None
    review: Review
    status: Status
    flag: Flag | None
    version: int
    row_version: int
    created_by: str
    created_at: datetime
    updated_by: str
    updated_at: datetime
    reviewed_by: str | None
    reviewed_by_name: str | None
    reviewed_at: datetime | None
    review_note: str
    reviewed_version: int | None
    reviewed_via: str | None
    reviewed_check: Check | None
    """The check that the reviewer saw."""
    latest_version: int | None = None
    """The newest version of its dataset, as this finding was read."""

    @classmethod
    def of(cls, record: FindingRecord) -> Self:
        """The finding of a stored row."""
        return cls.model_validate(record.model_dump())

    @property
    def segment(self) -> Segment:
        """The one list it stands in."""
        if self.status == "retired":
            return "retired"
        if self.review == "pending":
            return "to_review"
        if self.review == "rejected":
            return "rejected"
        return "accepted" if self.flag is None else "flagged"

    @property
    def stale(self) -> bool:
        """Whether its check last ran on an older version of the data than there is now."""
        ran = None if self.last_check is None else self.last_check.dataset_version
        return ran is not None and self.latest_version is not None and ran < self.latest_version

    @property
    def headline(self) -> str:
        """The one line that says how it stands."""
        if self.status == "retired":
            return "Retired"
        if self.review == "rejected":
            return "Rejected"
        if self.review == "pending":
            return "To review" + {
                "unchecked": "",
                "holds": f", check holds{self._on_nothing}",
                "violated": f", check violated by {self._failures}",
                "error": ", check cannot run",
            }[self.verdict]
        return f"Accepted{self._since_accepted}"

    @property
    def _since_accepted(self) -> str:
        if self.verdict == "error":
            return ", check cannot run"
        if self.flag is not None and self.flag.reason == "check_violated":
            return ", now broken" if self.verdict == "violated" else ", was broken and holds again"
        if self.flag is not None and self.flag.reason == "schema_changed":
            return ", its columns changed"
        if self.flag is not None:
            return ", check could not run for a while"
        return {
            "unchecked": "", "holds": f", holds{self._on_nothing}", "violated": f", violated by {self._failures}"
        }[self.verdict]

    @property
    def _on_nothing(self) -> str:
        return " (nothing to check)" if self.last_check is not None and self.last_check.vacuous else ""

    @property
    def _failures(self) -> str:
        count = 0 if self.last_check is None or self.last_check.failure_count is None else self.last_check.failure_count
        return "1 row" if count == 1 else f"{count:,} rows"


def flag_after(finding: Finding, check: Check, missing: tuple[str, ...]) -> Flag | None:
    """The flag once ``check`` has run; ``missing`` are columns of the finding that its dataset no longer has."""
    if finding.flag is not None or finding.review != "accepted" or finding.status != "active":
        return finding.flag
    seen = finding.reviewed_check
    if missing and check.outcome != "violated":
        return _flag("schema_changed", f"The data set no longer has: {', '.join(missing)}.", check)
    if check.outcome == "error":
        was_error = seen is not None and seen.outcome == "error"
        return None if was_error else _flag("check_error", f"The check cannot run: {check.error}", check)
    if check.outcome == "violated":
        accepted = (seen.failure_count or 0) if seen is not None and seen.outcome == "violated" else 0
        now = check.failure_count or 0
        if now > accepted:
            return _flag("check_violated", f"{now:,} rows break it; {accepted:,} did when it was accepted.", check)
    return None


def _flag(reason: FlagReason, message: str, check: Check) -> Flag:
    return Flag(reason=reason, message=message, since=check.ran_at)
