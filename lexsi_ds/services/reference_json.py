"""The shapes of what the findings tools answer, with the field names of the tools reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lexsi_ds.services.dataset_json import moment
from lexsi_ds.services.finding import Check, Finding

Json = dict[str, Any]


def finding_json(finding: Finding) -> Json:
    """A finding of list_findings, and as the other tools give it back."""
    shown: Json = {
        "findingId": finding.id, "datasetId": finding.dataset_id, "title": finding.title, "statement": finding.statement,
        "columns": list(finding.columns), "checkSql": finding.check_sql, "verdict": finding.verdict,
        "lastCheck": check_json(finding.last_check), "review": finding.review, "status": finding.status,
        "dependsOn": list(finding.depends_on), "version": finding.version, "source": finding.origin,
        "createdBy": finding.created_by, "createdAt": moment(finding.created_at), "updatedAt": moment(finding.updated_at),
    }
    if finding.flag is not None:
        flag = finding.flag
        shown["flag"] = {"reason": flag.reason, "message": flag.message, "since": moment(flag.since)}
        shown["flag"] |= {"before": flag.before, "now": flag.now} if flag.before or flag.now else {}
    if finding.reviewed_at is not None:
        shown |= {
            "reviewedBy": finding.reviewed_by_name, "reviewedAt": moment(finding.reviewed_at),
            "reviewedVia": finding.reviewed_via, "reviewNote": finding.review_note,
        }
    if finding.suggested is not None:
        shown["suggested"] = {"decision": finding.suggested.decision, "via": finding.suggested.via}
    return shown


def check_json(check: Check | None) -> Json | None:
    """A check that ran; ``failureCount`` is absent when it did not."""
    if check is None:
        return None
    shown: Json = {
        "ranAt": moment(check.ran_at), "outcome": check.outcome, "datasetVersion": check.dataset_version,
        "findingVersion": check.finding_version, "failureCount": check.failure_count, "rowsChecked": check.rows_checked,
        "durationMs": round(check.seconds * 1000), "error": check.error, "vacuous": check.vacuous or None,
        "observed": None if check.observed is None else check.observed.model_dump(),
    }
    return {name: value for name, value in shown.items() if value is not None}


def dependencies_json(ids: tuple[str, ...], titles: Mapping[str, str]) -> list[Json]:
    """Dependencies with their titles, for a preview."""
    return [{"findingId": i, "title": titles.get(i, "")} for i in ids]
