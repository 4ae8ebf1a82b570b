"""When an accepted finding wants another look, and why: its check broke, its columns changed, or what it depends on did.

A flag is set once and stays until somebody reviews or edits the finding. Must never: replace a flag, or flag what nobody accepted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from lexsi_ds.services.finding import Check, Finding, Flag, FlagReason
from lexsi_ds.store.findings import FindingRecord
from lexsi_ds.store.records import now

_CONTENT = ("statement", "columns", "check_sql", "depends_on")


def flag_after(finding: Finding, check: Check | None, changed: Sequence[str], at: datetime | None = None) -> Flag | None:
    """The flag once ``check`` has run; ``changed`` says in words which of its columns are gone or of another type."""
    if finding.flag is not None or finding.review != "accepted" or finding.status != "active":
        return finding.flag
    since = check.ran_at if check is not None else at or now()
    if changed and (check is None or check.outcome != "violated"):
        return Flag(reason="schema_changed", message=f"The data set changed: {'; '.join(changed)}.", since=since)
    if check is None:
        return None
    seen = finding.reviewed_check
    if check.outcome == "error":
        if seen is not None and seen.outcome == "error":
            return None
        return Flag(
            reason="check_error", message=f"The check cannot run: {check.error}", since=since,
            before=outcome_text(finding, seen), now="It cannot run.",
        )
    if check.outcome == "violated" and _worse(seen, check):
        return Flag(
            reason="check_violated", message=_broken(finding, seen, check), since=since,
            before=outcome_text(finding, seen), now=outcome_text(finding, check),
        )
    return None


def outcome_text(finding: Finding, check: Check | None) -> str:
    """A check's outcome on one line, for a comparison side by side."""
    if check is None:
        return "It had not run."
    if check.outcome == "error":
        return "It could not run."
    version = f" on version {check.dataset_version}" if check.dataset_version is not None else ""
    if finding.band is not None and check.observed is not None:
        return f"{finding.band.seen(check.observed)}{version}"
    return f"{_rows(check.failure_count or 0)} broke it{version}"


def changed_columns(before: Mapping[str, str], types: Mapping[str, str | None]) -> tuple[str, ...]:
    """What became of columns: ``types`` has each name with its type now, None where it is gone."""
    said = []
    for name, kind in types.items():
        if kind is None:
            said.append(f"it no longer has {name}")
        elif name in before and before[name] != kind:
            said.append(f"{name} was {before[name]} and is {kind}")
    return tuple(said)


def spread(before: FindingRecord, after: FindingRecord) -> dict[str, Any] | None:
    """The flag that a change puts on the accepted findings that depend on the changed one; None when it puts none."""
    reason, did = _cause(before, after)
    if reason is None:
        return None
    message = f"It depends on \u201c{after.title}\u201d, which {did}."
    flag = Flag(reason=reason, message=message, since=now(), finding_id=after.id)
    return flag.model_dump(mode="json")


def _cause(before: FindingRecord, after: FindingRecord) -> tuple[FlagReason | None, str]:
    if after.status == "retired" and before.status != "retired":
        return "dependency_retired", "was retired"
    if any(getattr(before, name) != getattr(after, name) for name in _CONTENT):
        return "dependency_changed", "was changed"
    if after.review == "rejected" and before.review != "rejected":
        return "dependency_rejected", "was rejected"
    if after.flag is not None and before.flag is None and after.review == "accepted":
        return "dependency_flagged", "wants another look itself"
    return None, ""


def _worse(seen: Check | None, check: Check) -> bool:
    before = (seen.failure_count or 0) if seen is not None and seen.outcome == "violated" else 0
    return (check.failure_count or 0) > before


def _broken(finding: Finding, seen: Check | None, check: Check) -> str:
    if finding.band is not None and check.observed is not None:
        band = finding.band
        was = band.seen(seen.observed if seen is not None else None)
        return f"It is {band.seen(check.observed)} now, and was {was} when it was accepted; the band is {band.bounds}."
    accepted = (seen.failure_count or 0) if seen is not None and seen.outcome == "violated" else 0
    count = check.failure_count or 0
    return f"{_rows(count)} {'breaks' if count == 1 else 'break'} it; {accepted:,} did when it was accepted."


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"
