"""Models and their predictions: registered once with a card, found by id or name, paged and exported from disk.

Must never: hand out a model or a prediction of somebody else, or a row fewer than were scored.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import ValidationError

from lexsi_ds.data.handle import DatasetHandle, Value
from lexsi_ds.errors import Denied, NotFound
from lexsi_ds.ids import is_id, new_id
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.engine import ModelRef, Predictions
from lexsi_ds.models.frames import entity_keys, read_frame
from lexsi_ds.services.access import Actor
from lexsi_ds.services.home_files import HomeFiles
from lexsi_ds.services.prediction_file import Filters, PredictionFile, PredictionFiles, beside
from lexsi_ds.services.prediction_sweep import sweep_predictions
from lexsi_ds.services.prediction_write import write_predictions
from lexsi_ds.store.db import Store
from lexsi_ds.store.model_registry import RegistryRows
from lexsi_ds.store.models import ModelRecord, ModelRows, PredictionsRecord
from lexsi_ds.store.records import now

log = logging.getLogger(__name__)


class PredictionSet(Value):
    """The scores that one model gave one frame."""

    id: str
    model_id: str
    run_id: str | None
    snapshot_id: str
    rows: int
    ranked: int
    top_overlap: float
    """Mean share of the top 10 that a bootstrap model keeps."""
    entity_column: str
    columns: tuple[str, ...]
    created_at: datetime
    about: dict[str, Any] | None = None
    """What was scored and what scoring said of it, where that was kept."""


class Models:
    """Every read and write of models. All methods raise Denied without the right, NotFound for an unknown id."""

    def __init__(self, store: Store, home: Path) -> None:
        self._rows, self._files, self._open = ModelRows(store), HomeFiles(home), PredictionFiles()
        self._registry, self._store = RegistryRows(store), store

    def sweep(self) -> int:
        """Remove prediction files that nothing names any more; returns how many went."""
        return sweep_predictions(self._files.folder("predictions"), self._files, self._rows, self._store)

    def register(
        self, actor: Actor, ref: ModelRef, card: ModelCard, run_id: str | None, handle: DatasetHandle | None = None, *,
        via: str = "ui",
    ) -> ModelCard:
        """Keep a trained model under the next free number of its name, as a draft; returns the card as it is kept.

        ``handle`` is the snapshot it was trained on; without it the card must say so itself.
        """
        actor.need("models:write")
        if handle is not None:
            card = card.model_copy(update={
                "source_id": handle.source_id, "source_name": handle.name, "snapshot_id": handle.snapshot_id,
                "snapshot_number": handle.snapshot_number,
            })
        folder = self._files.text_of(ref.folder)
        body = card.model_dump(mode="json")
        return _card(self._rows.insert(ref.id, actor.id, folder, run_id, body, owner_name=actor.name, via=via))

    def list(self, actor: Actor, source_id: str | None = None) -> tuple[ModelCard, ...]:
        """The cards of this person's models, newest first; of one source if given."""
        actor.need("models:read")
        return tuple(card for card in map(_readable, self._rows.list(actor.id, source_id)) if card is not None)

    def get(self, actor: Actor, model_id: str) -> ModelCard:
        """The card of a model."""
        return _card(self._record(actor, model_id))

    def ref(self, actor: Actor, model_id: str) -> ModelRef:
        """Where the model lies, for an engine. Raises NotFound when its files are gone."""
        record = self._record(actor, model_id)
        return ModelRef(id=record.id, folder=self._files.path_of(record.folder, "model"))

    def find(self, actor: Actor, id_or_name: str) -> tuple[ModelRef, ModelCard] | None:
        """The model of this id, or the newest of this name; None when there is none that can be used."""
        actor.need("models:read")
        for record in self._rows.list(actor.id):
            if id_or_name in (record.id, record.name):
                try:
                    return self.ref(actor, record.id), _card(record)
                except NotFound:
                    continue
        return None

    def latest(self, actor: Actor, source_id: str) -> ModelCard | None:
        """The card of the newest model of a source, or None."""
        actor.need("models:read")
        return next((_card(record) for record in self._rows.list(actor.id, source_id, limit=1)), None)

    def delete(self, actor: Actor, model_id: str) -> None:
        """Delete a model with its predictions and their files, so that nothing of theirs keeps its data any more."""
        actor.need("models:write")
        record = self._owned(actor, model_id)
        for kept in self._rows.delete(record.id, actor.id) or ():
            with contextlib.suppress(NotFound):
                path = self._files.path_of(kept, "model")
                shutil.rmtree(beside(path), ignore_errors=True)
                path.unlink(missing_ok=True)

    def training_rows(self, actor: Actor, model_id: str, case_ids: Sequence[str]) -> dict[str, pd.DataFrame]:
        """The rows that trained the model for those of these cases that it knows: one row each, entity and features."""
        ref, card = self.ref(actor, model_id), self.get(actor, model_id)
        rows = read_frame(ref.folder / "oof.arrow")
        keys = list(entity_keys(rows.loc[:, card.task.entity_column]))
        wanted = [card.task.entity_column, *(stats.feature.name for stats in card.features), *card.task.display_columns]
        kept = rows[[name for name in dict.fromkeys(wanted) if name in rows.columns]]
        places = {key: place for place, key in enumerate(keys)}
        return {case: kept.iloc[[places[case]]] for case in map(str, case_ids) if case in places}

    def save_predictions(
        self, actor: Actor, model_id: str, predictions: Predictions, run_id: str | None, snapshot_id: str,
        about: dict[str, Any] | None = None,
    ) -> str:
        """Keep the scores of a frame, all rows of it; returns their id. ``about`` says what was scored, as JSON."""
        actor.need("models:write")
        record = self._record(actor, model_id)
        predictions_id = new_id("pred")
        path = self._files.folder("predictions") / predictions_id
        entity = write_predictions(predictions.path, path)
        self._rows.insert_predictions(PredictionsRecord(
            id=predictions_id, model_id=record.id, run_id=run_id, snapshot_id=snapshot_id,
            path=self._files.text_of(path), rows=predictions.rows, ranked=predictions.ranked,
            top_overlap=predictions.top_overlap, entity_column=entity, created_at=now(), about=about,
        ))
        return predictions_id

    def predictions(self, actor: Actor, predictions_id: str) -> PredictionSet:
        """What is known of predictions."""
        return self._described(self._predictions(actor, predictions_id))

    def all_predictions(self, actor: Actor, model_id: str) -> tuple[PredictionSet, ...]:
        """Every predictions of a model whose file is there, newest first."""
        found = []
        for record in self._rows.all_predictions(self._record(actor, model_id).id, actor.id):
            with contextlib.suppress(NotFound):
                found.append(self._described(record))
        return tuple(found)

    def latest_predictions(self, actor: Actor, model_id: str) -> PredictionSet | None:
        """The newest predictions of a model, or None."""
        record = self._rows.latest_predictions(self._record(actor, model_id).id, actor.id)
        return None if record is None else self._described(record)

    def page(
        self, actor: Actor, predictions_id: str, *, search: str = "", sort: str = "rank", descending: bool = False,
        offset: int = 0, limit: int = 50, filters: Filters | None = None,
    ) -> tuple[pd.DataFrame, int]:
        """One page of predictions and the number of rows there are in all.

        ``search`` finds rows that hold each of its words in the entity or a display column, whatever case and accents.
        Any column sorts, equal values in rank order. ``prediction`` goes by the threshold that was saved with the model.
        Raises BadInput for a column that is not there.
        """
        record = self._predictions(actor, predictions_id)
        threshold = self._threshold(record.model_id)
        return self._file(record).page(search, sort, descending, offset, limit, filters, threshold)

    def predictions_csv(
        self, actor: Actor, predictions_id: str, *, search: str = "", filters: Filters | None = None
    ) -> bytes:
        """All predictions (or all that the search and filters leave) as CSV, in rank order, safe for a spreadsheet."""
        record = self._predictions(actor, predictions_id)
        return self._file(record).csv(search, filters, self._files.folder("tmp"), self._threshold(record.model_id))

    def case(self, actor: Actor, predictions_id: str, case_id: str) -> dict[str, Any]:
        """The predictions row of one case."""
        record = self._predictions(actor, predictions_id)
        return self._file(record).case(case_id, self._threshold(record.model_id))

    def _record(self, actor: Actor, model_id: str) -> ModelRecord:
        actor.need("models:read")
        record = self._rows.get(model_id, actor.id) if is_id(model_id, "mdl") else None
        if record is None:
            raise NotFound("There is no such model.", to_do="Choose one from the list.")
        return record

    def _owned(self, actor: Actor, model_id: str) -> ModelRecord:
        record = self._record(actor, model_id)
        if record.owner != actor.id:
            raise Denied("Only the owner may do this to a model.", where=record.name, to_do="Ask its owner.")
        return record

    def _threshold(self, model_id: str) -> float | None:
        found = self._registry.get(model_id)
        return None if found is None or found.threshold is None else float(found.threshold["value"])

    def _predictions(self, actor: Actor, predictions_id: str) -> PredictionsRecord:
        actor.need("models:read")
        record = self._rows.predictions(predictions_id, actor.id) if is_id(predictions_id, "pred") else None
        if record is None:
            raise NotFound("There are no such predictions.", to_do="Choose a model from the list.")
        return record

    def _file(self, record: PredictionsRecord) -> PredictionFile:
        return self._open.open(self._files.path_of(record.path, "prediction"))

    def _described(self, record: PredictionsRecord) -> PredictionSet:
        names = tuple(name for name, _ in self._file(record).columns)
        return PredictionSet(**record.model_dump(exclude={"path"}), columns=names)


def _readable(record: ModelRecord) -> ModelCard | None:
    """The card; None, and a line in the log, for one that another version wrote: it must not hide the others."""
    try:
        return _card(record)
    except ValidationError as error:
        log.warning("the card of %s cannot be read: %s", record.id, error.errors()[0]["type"])
        return None


def _card(record: ModelRecord) -> ModelCard:
    return ModelCard.model_validate(record.card)
