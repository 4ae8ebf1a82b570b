"""What people read of findings: one, lists by page, counts, history, the rows that break one.

A finding of a dataset that a person cannot see is not there. Must never: load every finding for a page of them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection
from datetime import datetime
from pathlib import Path

import duckdb
import pandas as pd

from lexsi_ds.data.handle import Table
from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.errors import BadInput, NotFound
from lexsi_ds.ids import is_id
from lexsi_ds.services.access import Actor, Level, at_least
from lexsi_ds.services.csv_text import csv_bytes
from lexsi_ds.services.finding import SEGMENTS, Band, Finding, Observed, Review, Segment, Status, Verdict
from lexsi_ds.services.finding_check import FindingCheck, Lookup
from lexsi_ds.services.finding_flags import spread
from lexsi_ds.services.sharing import Levels, checked
from lexsi_ds.store.db import Store
from lexsi_ds.store.findings import FindingRows, HistoryRecord, Wanted


class FindingReads:
    """Reads findings. All methods raise Denied without the right, NotFound for an unknown or invisible id."""

    def __init__(self, store: Store, catalog_lookup: Lookup, sql: SqlRunner, levels: Levels) -> None:
        self._rows, self._check = FindingRows(store, spread), FindingCheck(catalog_lookup, sql)
        self._levels = levels

    def get(self, actor: Actor, finding_id: str) -> Finding:
        """One finding."""
        actor.need("findings:read")
        return self._get(actor, finding_id)

    def list(
        self, actor: Actor, *, segment: Segment | None = None, source_id: str | None = None, search: str | None = None
    ) -> tuple[Finding, ...]:
        """Findings, newest first: of one segment, of one source, holding each word of ``search``, as far as given."""
        actor.need("findings:read")
        wanted = self._wanted(actor, Wanted(segment=segment, source_id=source_id, words=_words(search)))
        return tuple(map(Finding.of, self._rows.list(wanted)))

    def page(
        self, actor: Actor, *, segment: Segment | None = None, source_id: str | None = None, dataset_id: str | None = None,
        search: str | None = None, verdict: Verdict | None = None, column: str | None = None, offset: int = 0,
        limit: int = 25,
    ) -> tuple[tuple[Finding, ...], int]:
        """One page, newest first, and how many there are in all."""
        actor.need("findings:read")
        wanted = self._wanted(actor, Wanted(
            segment=segment, source_id=source_id, dataset_id=dataset_id, words=_words(search), verdict=verdict, column=column,
        ))
        found = self._rows.list(wanted, offset=max(0, offset), limit=limit)
        return tuple(map(Finding.of, found)), self._rows.count(wanted)

    def place(self, actor: Actor, finding: Finding, source_id: str | None = None) -> int:
        """How many findings stand before this one in the list of its segment."""
        actor.need("findings:read")
        wanted = self._wanted(actor, Wanted(segment=finding.segment, source_id=source_id))
        return self._rows.count(wanted, newer_than=(finding.created_at, finding.id))

    def of_dataset(
        self, actor: Actor, dataset_id: str, *, review: Review | None = None, status: Status | None = None,
        verdict: Verdict | None = None, flagged: bool | None = None, column: str | None = None,
        after: tuple[datetime, str] | None = None, limit: int | None = None,
    ) -> tuple[Finding, ...]:
        """The findings of a dataset, newest first: all of them, or those that follow ``after``."""
        actor.need("findings:read")
        self._level(actor, dataset_id, "showcase")
        wanted = Wanted(
            dataset_id=dataset_id, review=review, status=status, verdict=verdict, flagged=flagged, column=column
        )
        return tuple(map(Finding.of, self._rows.list(wanted, after=after, limit=limit)))

    def count_of_dataset(
        self, actor: Actor, dataset_id: str, *, review: Review | None = None, status: Status | None = None,
        verdict: Verdict | None = None, flagged: bool | None = None, column: str | None = None,
    ) -> int:
        """How many ``of_dataset`` has in all."""
        actor.need("findings:read")
        self._level(actor, dataset_id, "showcase")
        return self._rows.count(Wanted(
            dataset_id=dataset_id, review=review, status=status, verdict=verdict, flagged=flagged, column=column
        ))

    def counts(
        self, actor: Actor, source_id: str | None = None, *, dataset_id: str | None = None, search: str | None = None,
        verdict: Verdict | None = None, column: str | None = None,
    ) -> dict[Segment, int]:
        """How many findings stand in each segment, none left out."""
        actor.need("findings:read")
        counted = self._rows.counts(self._wanted(actor, Wanted(
            source_id=source_id, dataset_id=dataset_id, words=_words(search), verdict=verdict, column=column
        )))
        return {segment: counted.get(segment, 0) for segment in SEGMENTS}

    def history(self, actor: Actor, finding_id: str) -> tuple[HistoryRecord, ...]:
        """Every step it took, oldest first."""
        actor.need("findings:read")
        return self._rows.history(self._get(actor, finding_id).id)

    def titles(self, actor: Actor, ids: Collection[str]) -> dict[str, str]:
        """The titles of these findings, as far as the person can see them."""
        actor.need("findings:read")
        visible = self._levels.visible(actor)
        found = {i: self._rows.get(i) for i in ids}
        return {
            i: row.title for i, row in found.items() if row is not None and (visible is None or row.dataset_id in visible)
        }

    def depending(self, actor: Actor, finding_id: str) -> tuple[Finding, ...]:
        """The findings that depend on it."""
        actor.need("findings:read")
        found = self._get(actor, finding_id)
        return tuple(map(Finding.of, self._rows.depending(finding_id, found.dataset_id)))

    def failing_rows(self, actor: Actor, finding_id: str, n: int = 20) -> pd.DataFrame:
        """Some of the rows that break it (``last_check.failure_count`` says of how many), masked columns masked."""
        found, sql = self._of_rows(actor, finding_id)
        return self._check.sample(found.dataset_id, sql, n)

    def violating_rows(self, actor: Actor, finding_id: str) -> pd.DataFrame:
        """Every row that breaks it, masked columns masked: for a download."""
        found, sql = self._of_rows(actor, finding_id)
        return self._check.violating(found.dataset_id, sql)

    def violating_csv(self, actor: Actor, finding_id: str) -> tuple[bytes, int]:
        """Every row that breaks it as CSV that no spreadsheet reads as formulas, and how many rows they are."""
        rows = self.violating_rows(actor, finding_id)
        with duckdb.connect() as db, tempfile.TemporaryDirectory() as folder:
            db.register("violating", rows)
            columns = [(name, kind) for name, kind, *_ in db.execute("DESCRIBE violating").fetchall()]
            return csv_bytes(db, columns, "FROM violating", (), Path(folder)), len(rows)

    def observe(self, table: Table, metric_sql: str) -> Observed:
        """What a figure is now. Raises BadInput unless its SELECT gives one row with ``value``, and SqlRefused, SqlFailed."""
        return self._check.observe(table, Band(metric_sql=metric_sql))

    def may_edit(self, actor: Actor, finding: Finding) -> bool:
        """Whether this person may change the finding's check and judge it."""
        return actor.may("findings:write") and at_least(self._levels.of_dataset(actor, finding.dataset_id), "edit")

    def _of_rows(self, actor: Actor, finding_id: str) -> tuple[Finding, str]:
        actor.need("findings:read")
        actor.need("datasets:read")
        found = self._get(actor, finding_id)
        self._level(actor, found.dataset_id, "read")
        if found.check_sql is None:
            raise BadInput("This finding has no check.", where=found.title)
        return found, found.check_sql

    def _get(self, actor: Actor, finding_id: str) -> Finding:
        record = self._rows.get(finding_id) if is_id(finding_id, "fnd") else None
        if record is None or self._levels.of_dataset(actor, record.dataset_id) is None:
            raise NotFound("There is no such finding.", to_do="Open it from the list.")
        return Finding.of(record)

    def _level(self, actor: Actor, dataset_id: str, wanted: Level) -> Level:
        if not is_id(dataset_id, "ds"):
            raise NotFound("There is no such data set.", to_do="Choose one from the list.")
        return checked(self._levels.of_dataset(actor, dataset_id), wanted, dataset_id)

    def _wanted(self, actor: Actor, wanted: Wanted) -> Wanted:
        return wanted.model_copy(update={"datasets": self._levels.visible(actor)})


def _words(search: str | None) -> tuple[str, ...]:
    return tuple((search or "").casefold().split())
