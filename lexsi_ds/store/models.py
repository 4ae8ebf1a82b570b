"""Rows of trained models (their card, and where their files lie) and of the predictions they made."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from lexsi_ds.store import tables as t
from lexsi_ds.store.db import Store
from lexsi_ds.store.model_registry import enter
from lexsi_ds.store.records import Record, now


class ModelRecord(Record):
    """A model. ``folder`` is relative to the home; ``card`` is the JSON of a `models.card.ModelCard`."""

    id: str
    owner: str
    source_id: str
    snapshot_id: str
    run_id: str | None
    name: str
    folder: str
    card: dict[str, Any]
    created_at: datetime


class PredictionsRecord(Record):
    """The scores of one predict frame. ``path`` is relative to the home."""

    id: str
    model_id: str
    run_id: str | None
    snapshot_id: str
    path: str
    rows: int
    ranked: int
    top_overlap: float
    """Mean share of the top 10 that a bootstrap model keeps."""
    entity_column: str
    created_at: datetime
    about: dict[str, Any] | None = None
    """What was scored and what scoring said of it; None for predictions of before this was kept."""


class ModelRows:
    """Reads and writes models and predictions."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def insert(
        self, model_id: str, owner: str, folder: str, run_id: str | None, card: dict[str, Any], *, owner_name: str = "",
        via: str = "ui",
    ) -> ModelRecord:
        """Add a model under the next free number of its name (``XGBoost_v3``), which its stored card then carries; it
        enters the registry as a draft."""
        row = {"id": model_id, "owner": owner, "folder": folder, "run_id": run_id, "created_at": now()}
        row |= {"source_id": card["source_id"], "snapshot_id": card["snapshot_id"]}
        with self._store.write() as db:
            taken = db.execute(sa.select(t.models.c.name).where(t.models.c.source_id == card["source_id"])).scalars()
            name = _next_name(card["name"], set(taken))
            row |= {"name": name, "card": {**card, "name": name, "run_id": run_id or card.get("run_id")}}
            db.execute(sa.insert(t.models).values(**row))
            enter(db, model_id, owner, owner_name or owner, via)
        return ModelRecord.model_validate(row)

    def get(self, model_id: str, person: str) -> ModelRecord | None:
        """The model, where this person owns it or was asked to review it; else None."""
        with self._store.read() as db:
            row = db.execute(sa.select(t.models).where(t.models.c.id == model_id, _seen_by(person))).first()
        return None if row is None else ModelRecord.of(row)

    def list(self, person: str, source_id: str | None = None, limit: int | None = None) -> tuple[ModelRecord, ...]:
        """The models that this person owns or was asked to review, newest first; of one source if given."""
        query = sa.select(t.models).where(_seen_by(person))
        if source_id is not None:
            query = query.where(t.models.c.source_id == source_id)
        with self._store.read() as db:
            rows = db.execute(query.order_by(t.models.c.created_at.desc(), t.models.c.id.desc()).limit(limit)).all()
        return tuple(ModelRecord.of(row) for row in rows)

    def delete(self, model_id: str, owner: str) -> list[str] | None:
        """Delete the owner's model and its predictions; returns the paths of their files, or None when it is not there."""
        with self._store.write() as db:
            match = sa.and_(t.models.c.id == model_id, t.models.c.owner == owner)
            folder = db.execute(sa.select(t.models.c.folder).where(match)).scalar()
            if folder is None:
                return None
            scored = t.predictions.c.model_id == model_id
            paths = list(db.execute(sa.select(t.predictions.c.path).where(scored)).scalars())
            db.execute(sa.delete(t.predictions).where(scored))
            for table in (t.model_history, t.model_registry, t.case_overrides, t.backtests):
                db.execute(sa.delete(table).where(table.c.model_id == model_id))
            db.execute(sa.delete(t.models).where(match))
        return [folder, *paths]

    def insert_predictions(self, record: PredictionsRecord) -> None:
        """Add predictions; their file is complete by now."""
        with self._store.write() as db:
            db.execute(sa.insert(t.predictions).values(**record.model_dump()))

    def predictions(self, predictions_id: str, person: str) -> PredictionsRecord | None:
        """Predictions of a model that this person sees, or None."""
        return next(iter(self._predictions(t.predictions.c.id == predictions_id, person, 1)), None)

    def latest_predictions(self, model_id: str, person: str) -> PredictionsRecord | None:
        """The newest predictions of a model that this person sees, or None."""
        return next(iter(self._predictions(t.predictions.c.model_id == model_id, person, 1)), None)

    def all_predictions(self, model_id: str, person: str) -> tuple[PredictionsRecord, ...]:
        """Every predictions of a model that this person sees, newest first."""
        return self._predictions(t.predictions.c.model_id == model_id, person, None)

    def paths(self) -> set[str]:
        """The paths of all predictions there are, whoever owns them: what a sweep must leave."""
        with self._store.read() as db:
            return set(db.execute(sa.select(t.predictions.c.path)).scalars())

    def folders(self) -> set[str]:
        """The folders of all models there are."""
        with self._store.read() as db:
            return set(db.execute(sa.select(t.models.c.folder)).scalars())

    def _predictions(
        self, condition: sa.ColumnElement[bool], person: str, limit: int | None
    ) -> tuple[PredictionsRecord, ...]:
        query = sa.select(t.predictions).join(t.models).where(condition, _seen_by(person))
        newest = query.order_by(t.predictions.c.created_at.desc(), t.predictions.c.id.desc()).limit(limit)
        with self._store.read() as db:
            return tuple(PredictionsRecord.of(row) for row in db.execute(newest))


def _seen_by(person: str) -> sa.ColumnElement[bool]:
    asked = sa.select(t.model_registry.c.model_id).where(t.model_registry.c.reviewer == person)
    return sa.or_(t.models.c.owner == person, t.models.c.id.in_(asked))


def _next_name(name: str, taken: set[str]) -> str:
    """The name with the next number after those taken: ``XGBoost_v1``, ``XGBoost_v2``."""
    stem = re.sub(r"_v\d+$", "", name)
    numbers = [int(found[1]) for each in taken if (found := re.fullmatch(re.escape(stem) + r"_v(\d+)", each))]
    return f"{stem}_v{max(numbers, default=0) + 1}"
