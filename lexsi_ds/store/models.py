"""Rows of trained models (their card, and where their files lie) and of the predictions they made."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from lexsi_ds.store import tables as t
from lexsi_ds.store.db import Store
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


class ModelRows:
    """Reads and writes models and predictions."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def insert(self, model_id: str, owner: str, folder: str, run_id: str | None, card: dict[str, Any]) -> ModelRecord:
        """Add a model under the next free number of its name (``XGBoost_v3``), which its stored card then carries."""
        row = {"id": model_id, "owner": owner, "folder": folder, "run_id": run_id, "created_at": now()}
        row |= {"source_id": card["source_id"], "snapshot_id": card["snapshot_id"]}
        with self._store.write() as db:
            taken = db.execute(sa.select(t.models.c.name).where(t.models.c.source_id == card["source_id"])).scalars()
            name = _next_name(card["name"], set(taken))
            row |= {"name": name, "card": {**card, "name": name, "run_id": run_id or card.get("run_id")}}
            db.execute(sa.insert(t.models).values(**row))
        return ModelRecord.model_validate(row)

    def get(self, model_id: str, owner: str) -> ModelRecord | None:
        """The owner's model, or None."""
        with self._store.read() as db:
            row = db.execute(sa.select(t.models).where(t.models.c.id == model_id, t.models.c.owner == owner)).first()
        return None if row is None else ModelRecord.of(row)

    def list(self, owner: str, source_id: str | None = None, limit: int | None = None) -> tuple[ModelRecord, ...]:
        """The owner's models, newest first; of one source if given, at most ``limit``."""
        query = sa.select(t.models).where(t.models.c.owner == owner)
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
            db.execute(sa.delete(t.models).where(match))
        return [folder, *paths]

    def insert_predictions(self, record: PredictionsRecord) -> None:
        """Add predictions; their file is complete by now."""
        with self._store.write() as db:
            db.execute(sa.insert(t.predictions).values(**record.model_dump()))

    def predictions(self, predictions_id: str, owner: str) -> PredictionsRecord | None:
        """Predictions of one of the owner's models, or None."""
        return self._first_predictions(t.predictions.c.id == predictions_id, owner)

    def latest_predictions(self, model_id: str, owner: str) -> PredictionsRecord | None:
        """The newest predictions of the owner's model, or None."""
        return self._first_predictions(t.predictions.c.model_id == model_id, owner)

    def _first_predictions(self, condition: sa.ColumnElement[bool], owner: str) -> PredictionsRecord | None:
        query = sa.select(t.predictions).join(t.models).where(condition, t.models.c.owner == owner)
        newest = query.order_by(t.predictions.c.created_at.desc(), t.predictions.c.id.desc()).limit(1)
        with self._store.read() as db:
            row = db.execute(newest).first()
        return None if row is None else PredictionsRecord.of(row)


def _next_name(name: str, taken: set[str]) -> str:
    """The name with the next number after those taken: ``XGBoost_v1``, ``XGBoost_v2``."""
    stem = re.sub(r"_v\d+$", "", name)
    numbers = [int(found[1]) for each in taken if (found := re.fullmatch(re.escape(stem) + r"_v(\d+)", each))]
    return f"{stem}_v{max(numbers, default=0) + 1}"
