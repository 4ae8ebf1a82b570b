"""What the findings page and list_findings ask of 10,000 findings: counts, a first and a deep page, a search, filters, one card.

Run: python -m bench.findings_page. Prints the median and the slowest of repeated calls through the services, in milliseconds.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

FINDINGS = int(os.environ.get("BENCH_FINDINGS", "10000"))
ROUNDS = int(os.environ.get("BENCH_FINDINGS_ROUNDS", "20"))
WITHIN_MS = 300.0


def _fill(app: Any, dataset_id: str, source_id: str) -> str:
    """Findings of every state, written as rows: their checks are not what is measured."""
    import sqlalchemy as sa

    from lexsi_ds.ids import new_id
    from lexsi_ds.store import tables as t
    from lexsi_ds.store.records import now

    rows = []
    for i in range(FINDINGS):
        title, statement = f"Rule {i} on amounts", f"Every amount of group {i % 97} stays above {i}."
        rows.append({
            "id": new_id("fnd"), "source_id": source_id, "dataset_id": dataset_id, "origin": "user", "title": title,
            "statement": statement, "columns": ["a"] if i % 3 else [], "check_sql": "SELECT * FROM dataset WHERE a < 0",
            "verdict": ("holds", "violated", "error", "unchecked")[i % 4], "review": ("pending", "accepted", "rejected")[i % 3],
            "status": "retired" if i % 11 == 0 else "active", "version": 1, "row_version": 1, "created_by": "local",
            "created_at": now(), "updated_by": "local", "updated_at": now(), "review_note": "",
            "searched": f"{title} {statement}".casefold(),
        })
    with app.store.write() as db:
        db.execute(sa.insert(t.findings), rows)
    return str(rows[FINDINGS // 2]["id"])


def measured() -> dict[str, tuple[float, float]]:
    """Median and slowest call in milliseconds, by what is asked."""
    from lexsi_ds.application import Application
    from lexsi_ds.services.access import LOCAL
    from lexsi_ds.settings import Settings

    with tempfile.TemporaryDirectory(prefix="lexsi-findings-") as name:
        home = Path(name)
        app = Application(Settings(home=home / "home", sql_workers=1))
        (home / "t.csv").write_text("a\n1\n")
        handle = app.catalog.import_source(LOCAL, "files", "t", [home / "t.csv"])
        dataset, source = handle.tables[0].dataset_id, handle.source_id
        one = _fill(app, dataset, source)
        first = app.reference.list_findings(LOCAL, {"dataset": dataset, "limit": 200})
        asked: dict[str, Callable[[], Any]] = {
            "counts": lambda: app.findings.counts(LOCAL, source),
            "first page": lambda: app.findings.page(LOCAL, segment="to_review", source_id=source),
            "deep page": lambda: app.findings.page(LOCAL, segment="to_review", source_id=source, offset=2_500),
            "search": lambda: app.findings.page(LOCAL, segment="to_review", source_id=source, search="group 42"),
            "filter": lambda: app.findings.page(LOCAL, source_id=source, verdict="violated", column="a"),
            "one finding": lambda: (app.findings.get(LOCAL, one), app.findings.depending(LOCAL, one)),
            "list_findings": lambda: app.reference.list_findings(LOCAL, {"dataset": dataset}),
            "list_findings, 200 from the second page": lambda: app.reference.list_findings(
                LOCAL, {"dataset": dataset, "limit": 200, "cursor": first["nextCursor"]}
            ),
        }
        found = {label: _timed(call) for label, call in asked.items()}
        app.close()
        return found


def _timed(call: Callable[[], Any]) -> tuple[float, float]:
    call()
    took = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        call()
        took.append(1000 * (time.perf_counter() - began))
    return statistics.median(took), max(took)


def main() -> int:
    """Print the figures; 1 when a median is above the goal."""
    print(f"{FINDINGS:,} findings, {ROUNDS} calls each, milliseconds of server time")
    found = measured()
    for label, (median, slowest) in found.items():
        print(f"{label:42} median {median:7.1f}   slowest {slowest:7.1f}")
    return int(any(median > WITHIN_MS for median, _ in found.values()))


if __name__ == "__main__":
    raise SystemExit(main())
