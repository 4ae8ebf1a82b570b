"""Rows of what became of a model's predictions: decisions of people about single cases, and backtests on outcomes.

Both are only ever added to: a later row takes the place of an earlier one and leaves it there.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from lexsi_ds.store import tables as t
from lexsi_ds.store.db import Store
from lexsi_ds.store.records import Record, now

_O, _B = t.case_overrides.c, t.backtests.c


class OverrideRecord(Record):
    """A person's decision about a case, or (``decision`` None) that it was taken back."""

    model_id: str
    case_id: str
    number: int
    decision: str | None
    reason: str
    model_said: dict[str, Any] | None
    """What the model's figure was when the person decided."""
    person: str
    person_name: str
    via: str
    at: datetime


class BacktestRecord(Record):
    """How right predictions turned out to be; ``body`` is the JSON of a `services.model_backtests.Backtest`'s figures."""

    id: str
    model_id: str
    predictions_id: str
    body: dict[str, Any]
    person: str
    person_name: str
    at: datetime


class OutcomeRows:
    """Reads and adds overrides and backtests."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add_override(self, seen: int, values: dict[str, Any]) -> OverrideRecord | None:
        """Add the decision after number ``seen`` (0: the first); None, and nothing written, when there is a later one."""
        row = {**values, "number": seen + 1, "at": now()}
        with self._store.write() as db:
            newest = sa.select(sa.func.max(_O.number)).where(
                _O.model_id == values["model_id"], _O.case_id == values["case_id"]
            )
            if (db.execute(newest).scalar() or 0) != seen:
                return None
            db.execute(sa.insert(t.case_overrides).values(**row))
        return OverrideRecord.model_validate(row)

    def overrides(self, model_id: str, case_id: str) -> tuple[OverrideRecord, ...]:
        """Every decision about a case, oldest first."""
        query = sa.select(t.case_overrides).where(_O.model_id == model_id, _O.case_id == case_id).order_by(_O.number)
        with self._store.read() as db:
            return tuple(OverrideRecord.of(row) for row in db.execute(query))

    def standing(self, model_id: str, case_ids: Sequence[str] | None = None) -> dict[str, OverrideRecord]:
        """The newest decision of each case that has one (of these cases, if given), also where it was taken back."""
        query = sa.select(t.case_overrides).where(_O.model_id == model_id).order_by(_O.case_id, _O.number)
        if case_ids is not None:
            query = query.where(_O.case_id.in_(list(case_ids)))
        with self._store.read() as db:
            return {row.case_id: OverrideRecord.of(row) for row in db.execute(query)}

    def add_backtest(self, record: BacktestRecord) -> None:
        """Add a backtest."""
        with self._store.write() as db:
            db.execute(sa.insert(t.backtests).values(**record.model_dump()))

    def backtests(self, model_id: str) -> tuple[BacktestRecord, ...]:
        """The backtests of a model, newest first."""
        query = sa.select(t.backtests).where(_B.model_id == model_id).order_by(_B.at.desc(), _B.id.desc())
        with self._store.read() as db:
            return tuple(BacktestRecord.of(row) for row in db.execute(query))
