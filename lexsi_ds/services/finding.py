"""What a finding is: a one-sentence rule about a dataset, with an optional SQL check, and where its review stands.

The check is one SELECT that returns the violating rows: no row means that the rule holds. ``version`` counts changes of
content; ``row_version`` counts every change, and is what a decision must have seen.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal, Self

from pydantic import Field

from lexsi_ds.data.handle import Value
from lexsi_ds.store.findings import FindingRecord

Verdict = Literal["unchecked", "holds", "violated", "error"]
Review = Literal["pending", "accepted", "rejected"]
Decision = Literal["accepted", "rejected"]
Status = Literal["active", "retired"]
Segment = Literal["to_review", "flagged", "accepted", "rejected", "retired"]
FlagReason = Literal[
    "check_violated", "check_error", "schema_changed", "dependency_changed", "dependency_rejected", "dependency_retired",
    "dependency_flagged",
]

SEGMENTS: tuple[Segment, ...] = ("to_review", "flagged", "accepted", "rejected", "retired")


class Observed(Value):
    """What a band's metric was, and of how many rows."""

    value: float | None
    n: int | None = None


class Band(Value):
    """A metric that is to stay between two bounds. ``metric_sql`` is one SELECT that returns one row: ``value``, and ``n``."""

    metric_sql: str
    low: float | None = None
    high: float | None = None
    strict: bool = False
    """Whether a value that is just a bound violates it: "above 50%" rather than "at least 50%"."""
    percent: bool = False
    """Whether the value is a share, to be shown in percent."""

    def shown(self, value: float | None) -> str:
        """The value as people read it."""
        if value is None:
            return "no value"
        return f"{value:.1%}" if self.percent else f"{value:,.0f}" if float(value).is_integer() else f"{value:,.4g}"

    def seen(self, observed: Observed | None) -> str:
        """What was observed, with how many rows it is of."""
        if observed is None:
            return "not observed"
        of = "" if observed.n is None else f" of {observed.n:,}"
        return f"{self.shown(observed.value)}{of}"

    @property
    def bounds(self) -> str:
        """The band in words."""
        low, high = self.shown(self.low), self.shown(self.high)
        if self.low is not None and self.high is not None:
            return f"between {low} and {high}"
        over, under = ("above", "below") if self.strict else ("at least", "at most")
        return f"{over} {low}" if self.low is not None else f"{under} {high}"


class Suggestion(Value):
    """A decision that a program proposes; a person takes it or not."""

    decision: Decision
    note: str
    by: str
    by_name: str
    via: str
    at: datetime


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
    observed: Observed | None = None
    """Of a finding with a band: its metric."""
    types: dict[str, str] = Field(default_factory=dict)
    """Types of the columns that the finding names, as they were."""


class Flag(Value):
    """Why an accepted finding wants another look. It stays until somebody reviews or edits the finding."""

    reason: FlagReason
    message: str
    since: datetime
    before: str = ""
    """How it stood when it was accepted."""
    now: str = ""
    """How it stood when the flag was set."""
    finding_id: str | None = None
    """The finding it depends on that is the cause."""


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
    depends_on: tuple[str, ...] = ()
    """Findings of the same dataset that it takes for granted."""
    band: Band | None = None
    """The metric and its bounds, where the check is made of these."""
    suggested: Suggestion | None = None
    latest_version: int | None = None
    """The newest version of its dataset, as this finding was read."""

    @classmethod
    def of(cls, record: FindingRecord) -> Self:
        """The finding of a stored row."""
        return cls.model_validate(record.model_dump(exclude={"proposal_key"}))

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
        if self.flag is not None and self.flag.reason.startswith("dependency"):
            return ", what it depends on changed"
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
