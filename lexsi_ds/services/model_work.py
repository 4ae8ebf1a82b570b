"""Long work on models in the background, for a page: train, score an uploaded file, measure outcomes. Each is a task with
progress that can be stopped, and its result outlives the page.

Must never: keep an upload that nothing reads from once its work is over.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.jobs.background import Background, Task
from lexsi_ds.models.card import ModelCard
from lexsi_ds.services.access import Actor
from lexsi_ds.services.model_backtests import Backtest, Backtests, OutcomeFile
from lexsi_ds.services.model_scoring import FileScore, Scoring
from lexsi_ds.services.model_training import Training, TrainRequest
from lexsi_ds.services.uploads import Uploads


class ModelWork:
    """Starts tasks. The rights are checked before a task starts and again by the service that does the work."""

    def __init__(
        self, background: Background, training: Training, scoring: Scoring, backtests: Backtests, uploads: Uploads
    ) -> None:
        self._background, self._training, self._scoring = background, training, scoring
        self._backtests, self._uploads = backtests, uploads

    def train(self, actor: Actor, handle: DatasetHandle, request: TrainRequest) -> Task:
        """Train on a table; the result is the card."""
        actor.need("models:write")

        def work(cancel: Any, tell: Any) -> ModelCard:
            return self._training.train(actor, handle, request, cancel=cancel, tell=tell)

        return self._background.start("train", f"Training on {handle.name}", work, owner=actor.id)

    def score(
        self, actor: Actor, model_id: str, path: Path, *, table: str | None = None, fill_missing: bool = False
    ) -> Task:
        """Score an uploaded file (it lies in a folder of ``Uploads.open``); the result is a `FileScore`."""
        actor.need("models:write")

        def work(cancel: Any, tell: Any) -> FileScore:
            try:
                return self._scoring.file(
                    actor, model_id, path, table=table, fill_missing=fill_missing, cancel=cancel, tell=tell
                )
            finally:
                self._uploads.release(path.parent)

        return self._background.start("score", f"Scoring {path.name}", work, owner=actor.id)

    def backtest(
        self, actor: Actor, model_id: str, *, file: OutcomeFile | None = None, predictions_id: str | None = None
    ) -> Task:
        """Measure predictions on an uploaded file of outcomes, or on the newest data; the result is a `Backtest`."""
        actor.need("models:write")

        def work(cancel: Any, tell: Any) -> Backtest:
            try:
                return self._backtests.run(
                    actor, model_id, file=file, predictions_id=predictions_id, cancel=cancel, tell=tell
                )
            finally:
                if file is not None:
                    self._uploads.release(file.path.parent)

        return self._background.start("backtest", "Measuring how right it was", work, owner=actor.id)
