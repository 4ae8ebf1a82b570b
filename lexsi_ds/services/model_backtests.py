"""Backtests: when outcomes of predicted rows arrive, how right the predictions were, against what the card promised.

Outcomes come from a file or from a newer snapshot of the model's source. Each backtest is kept with the model.
Must never: judge a model by rows that it trained on where there are others, or call noise a change.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lexsi_ds.data.handle import DatasetHandle, Value
from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.errors import BadInput, NotFound
from lexsi_ds.ids import new_id
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.pool import Pool, Tell
from lexsi_ds.models.card import Interval, ModelCard
from lexsi_ds.models.frames import as_numbers, column, entity_keys, write_frame
from lexsi_ds.models.targets import outcome
from lexsi_ds.services.access import Actor
from lexsi_ds.services.catalog import Catalog
from lexsi_ds.services.model_training import table_of
from lexsi_ds.services.models import Models, PredictionSet
from lexsi_ds.services.outcome_figures import MIN_ROWS, Held, main_of
from lexsi_ds.services.outcome_reading import of_source, of_table
from lexsi_ds.services.outcome_worker import positions
from lexsi_ds.store.db import Store
from lexsi_ds.store.model_outcomes import BacktestRecord, OutcomeRows
from lexsi_ds.store.model_registry import RegistryRows
from lexsi_ds.store.records import now

_BACKTEST = "lexsi_ds.services.outcome_worker:backtest"


class OutcomeFile(Value):
    """Where a file says what became of each row. Everything may be left out where it is spelled as in training."""

    path: Path
    table: str | None = None
    outcome: str | None = None
    positive: str | None = None
    """The value of ``outcome`` that counts, of a yes/no outcome in words."""
    time: str | None = None


class Backtest(Value):
    """How right predictions were."""

    id: str
    model_id: str
    predictions_id: str
    source: str
    """The file or the snapshot that the outcomes are from."""
    predicted_rows: int
    without_outcome: int
    """Predicted rows whose outcome is still open."""
    not_predicted: int
    """Rows with an outcome that were not among the predictions."""
    trained: bool
    """The rows trained the model, so that models which did not see them scored them; no others had an outcome."""
    main_name: str
    promised: Interval
    held: Held
    threshold: float
    notes: tuple[str, ...]
    sentence: str
    person_name: str = ""
    at: datetime


class Backtests:
    """Runs and keeps backtests. Raises Denied without the right, NotFound for an unknown model, BadInput for outcomes that
    fit no predicted row."""

    def __init__(self, store: Store, models: Models, catalog: Catalog, sql: SqlRunner, pool: Pool, home: Path) -> None:
        self._rows, self._registry, self._models = OutcomeRows(store), RegistryRows(store), models
        self._catalog, self._sql, self._pool, self._tmp = catalog, sql, pool, home / "tmp"

    def list(self, actor: Actor, model_id: str) -> tuple[Backtest, ...]:
        """The backtests of a model, newest first."""
        self._models.get(actor, model_id)
        return tuple(_read(record) for record in self._rows.backtests(model_id))

    def run(
        self, actor: Actor, model_id: str, *, file: OutcomeFile | None = None, snapshot_id: str | None = None,
        predictions_id: str | None = None, cancel: Cancel | None = None, tell: Tell | None = None,
    ) -> Backtest:
        """Measure predictions (the newest by default) on outcomes of a file, else of a snapshot of the model's source (the
        newest by default)."""
        actor.need("models:write")
        card = self._models.get(actor, model_id)
        scored = self._scored(actor, model_id, predictions_id)
        handle = self._handle(actor, card, file, snapshot_id, cancel, tell)
        outcomes = self._outcomes(handle, card, file, cancel)
        source = handle.name if file is not None else f"{handle.name}, version {handle.snapshot_number}"
        rows, counted, notes = _matched(outcomes, self._predicted(actor, scored), card, scored)
        found = self._measure(actor, card, rows, cancel, tell)
        threshold = self._threshold(card)
        main = card.chosen.main
        body: dict[str, Any] = {
            **counted, "source": source, "main_name": card.chosen.main_name, "promised": main.model_dump(),
            "held": found.model_dump(mode="json"), "threshold": threshold, "notes": notes,
            "sentence": _sentence(card, found, main),
        }
        record = BacktestRecord(id=new_id("bkt"), model_id=card.id, predictions_id=scored.id, body=body, person=actor.id,
                                person_name=actor.name, at=now())
        self._rows.add_backtest(record)
        return _read(record)

    def _scored(self, actor: Actor, model_id: str, predictions_id: str | None) -> PredictionSet:
        found = self._models.latest_predictions(actor, model_id) if predictions_id is None else \
            self._models.predictions(actor, predictions_id)
        if found is None or found.model_id != model_id:
            raise NotFound("This model has predicted nothing yet.", to_do="Score rows with it first.")
        return found

    def _handle(
        self, actor: Actor, card: ModelCard, file: OutcomeFile | None, snapshot_id: str | None, cancel: Cancel | None,
        tell: Tell | None,
    ) -> DatasetHandle:
        if file is not None:
            return self._catalog.throwaway(file.path, actor=actor, cancel=cancel, tell=tell)
        return self._catalog.handle(actor, card.source_id, snapshot_id)

    def _outcomes(
        self, handle: DatasetHandle, card: ModelCard, file: OutcomeFile | None, cancel: Cancel | None
    ) -> pd.DataFrame:
        if file is None:
            return of_source(self._sql, handle, card, cancel=cancel)
        table = table_of(handle, file.table)
        return of_table(self._sql, handle, table, card, outcome=file.outcome, positive=file.positive, time=file.time, cancel=cancel)

    def _predicted(self, actor: Actor, scored: PredictionSet) -> pd.DataFrame:
        frame, _ = self._models.page(actor, scored.id, limit=scored.rows)
        return frame

    def _threshold(self, card: ModelCard) -> float:
        saved = self._registry.get(card.id)
        return float(saved.threshold["value"]) if saved is not None and saved.threshold else card.threshold.value

    def _measure(
        self, actor: Actor, card: ModelCard, rows: pd.DataFrame, cancel: Cancel | None, tell: Tell | None
    ) -> Held:
        ref = self._models.ref(actor, card.id)
        self._tmp.mkdir(parents=True, exist_ok=True)
        path = self._tmp / f"{new_id('frm')}.arrow"
        try:
            write_frame(rows, path)
            args = {"folder": str(ref.folder), "rows": str(path), "threshold": self._threshold(card)}
            return Held.model_validate(self._pool.run("ml", _BACKTEST, args, cancel=cancel, tell=tell, cleanup=path))
        finally:
            path.unlink(missing_ok=True)


def _matched(
    outcomes: pd.DataFrame, predicted: pd.DataFrame, card: ModelCard, scored: PredictionSet
) -> tuple[pd.DataFrame, dict[str, Any], list[str]]:
    """Predicted rows with their outcome (column ``outcome`` as a number), the counts, and what is to be said."""
    read: Any = pd.DataFrame({"key": entity_keys(column(outcomes, "key")), "outcome": _numbers(column(outcomes, "outcome"), card)})
    if "moment" in outcomes.columns:
        read["moment"] = column(outcomes, "moment").to_numpy()
    read = read[read["outcome"].notna() & (read["key"] != "")]
    notes = []
    twice = int(read["key"].duplicated(keep=False).sum())
    if twice:
        read = read[~read["key"].duplicated(keep=False)]
        notes.append(f"{twice:,} rows of outcomes repeat an id and do not count.")
    rows: Any = predicted.assign(key=entity_keys(column(predicted, scored.entity_column)))
    rows = rows.drop(columns=[c for c in ("outcome", "moment") if c in rows.columns]).merge(read, on="key", how="inner")
    counts = {
        "predicted_rows": len(predicted), "without_outcome": len(predicted) - int(rows["key"].nunique()),
        "not_predicted": len(read) - int(rows["key"].nunique()), "trained": False,
    }
    if rows.empty:
        raise BadInput(
            "None of the predicted rows has an outcome there.", where=card.name,
            to_do=f"Check that {scored.entity_column} names rows as the predictions do, or wait for outcomes.",
        )
    fresh = rows[rows["scored"] != "out_of_fold"]
    if 0 < len(fresh) < len(rows) and len(fresh) >= MIN_ROWS:
        notes.append(f"{len(rows) - len(fresh):,} rows with an outcome trained the model and do not count.")
        rows = fresh
    elif len(fresh) < len(rows):
        counts["trained"] = True
        notes.append("Rows that trained the model are among them; models that did not see them had scored them.")
    return rows, counts, notes


def _numbers(values: pd.Series, card: ModelCard) -> np.ndarray:
    if card.task.kind == "multiclass":
        return positions(values, card.task.classes)
    if card.task.kind == "regression":
        return as_numbers(values)[0]
    return outcome(values, card.task)


def _sentence(card: ModelCard, found: Held, promised: Interval) -> str:
    """The finding in words, with the noise of both figures taken into account."""
    n = f"{found.rows:,} rows with an outcome"
    if found.metrics is None:
        return f"There are {n}, which is not enough to judge by: {found.why_not}"
    main, name = main_of(found.metrics), card.chosen.main_name
    noise = float(np.hypot(main.high - main.low, promised.high - promised.low) / 2)
    gap = main.value - promised.value
    verdict = "as good as promised, within the noise" if abs(gap) <= noise else (
        "worse than promised by more than the noise" if gap < 0 else "better than promised by more than the noise"
    )
    said = (f"On {n} its {name} is {main.value:.3f} ({main.low:.3f} to {main.high:.3f}) against {promised.value:.3f} "
            f"({promised.low:.3f} to {promised.high:.3f}) on the card: {verdict}.")
    return f"{said} {_level(card, found)}"


def _level(card: ModelCard, found: Held) -> str:
    inside = found.observed_low <= found.predicted <= found.observed_high
    if card.task.kind == "regression":
        coverage = "" if found.coverage is None else f" {found.coverage:.0%} of the amounts lay in their interval."
        return f"Predicted {found.predicted:,.4g} on average, {found.observed:,.4g} came.{coverage}"
    what = "its first choices" if card.task.kind == "multiclass" else card.task.target_label
    came = f"{found.observed:.1%} ({found.observed_low:.1%} to {found.observed_high:.1%})"
    verdict = "which fits" if inside else "more than it said" if found.observed > found.predicted else "less than it said"
    return f"It said {found.predicted:.1%} for {what}; {came} came true, {verdict}."


def _read(record: BacktestRecord) -> Backtest:
    return Backtest.model_validate({
        "id": record.id, "model_id": record.model_id, "predictions_id": record.predictions_id, "person_name": record.person_name,
        "at": record.at, **record.body,
    })
