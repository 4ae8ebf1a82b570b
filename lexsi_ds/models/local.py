"""The engine that needs no network: frames go to a worker process as Arrow files, answers come back as JSON and Arrow
files.

Must never train, score or explain in this process: only a worker can be stopped and can run out of memory alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import NotFound
from lexsi_ds.ids import new_id
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.engine import CaseExplanation, GlobalExplanation, ModelRef, Predictions, origin_of
from lexsi_ds.models.frames import on_disk
from lexsi_ds.models.task import TaskSpec
from lexsi_ds.settings import Settings

if TYPE_CHECKING:
    from lexsi_ds.jobs.cancel import Cancel
    from lexsi_ds.jobs.pool import Pool

Tell = Callable[[dict[str, Any]], None]


class LocalEngine:
    """Trains, scores and explains in this machine's workers. Models lie in ``home/models``, scores in
    ``home/predictions``."""

    def __init__(self, pool: Pool, settings: Settings) -> None:
        self._pool, self._settings = pool, settings
        self._models = settings.home / "models"
        self._predictions = settings.home / "predictions"

    def train(
        self,
        frame: pd.DataFrame,
        task: TaskSpec,
        *,
        model_type: str | None = None,
        handle: DatasetHandle | None = None,
        run_id: str | None = None,
        version: int = 1,
        to_score: pd.DataFrame | None = None,
        cancel: Cancel | None = None,
        tell: Tell | None = None,
    ) -> tuple[ModelRef, ModelCard]:
        """Train on the context frame (one row of it a row of the entity). ``handle`` and ``run_id`` go onto the
        card; ``to_score``, the rows that the model is for, are compared with those it learns from."""
        self._models.mkdir(parents=True, exist_ok=True)
        model_id = new_id("mdl")
        folder = self._models / model_id
        origin = origin_of(handle, model_id, run_id, version)
        with ExitStack() as files:
            rows = files.enter_context(on_disk(self._settings.home, to_score)) if to_score is not None else None
            args = {
                "frame": str(files.enter_context(on_disk(self._settings.home, frame))),
                "to_score": str(rows) if rows is not None else None,
                "budget_s": self._settings.train_budget_s,
                "task": task.model_dump(mode="json"),
                "model_type": model_type,
                "origin": origin,
                "folder": str(folder),
                "temporary": f"{folder}.tmp",
                "threads": self._settings.threads,
            }
            answer = self._run("lexsi_ds.models.worker:train", args, cancel, tell, cleanup=folder)
        return ModelRef(id=model_id, folder=folder), ModelCard.model_validate(answer["card"])

    def predict(
        self,
        ref: ModelRef,
        frame: pd.DataFrame,
        *,
        out: Path | None = None,
        threshold: float | None = None,
        cancel: Cancel | None = None,
        tell: Tell | None = None,
    ) -> Predictions:
        """Score every row; the Arrow file goes to ``out`` or to a new file under ``home/predictions``. ``threshold`` is
        the probability from which on ``prediction`` is 1; the card's when left out."""
        self._predictions.mkdir(parents=True, exist_ok=True)
        path = out or self._predictions / f"{new_id('prd')}.arrow"
        with on_disk(self._settings.home, frame) as source:
            args = {
                "folder": str(ref.folder),
                "frame": str(source),
                "out": str(path),
                "threshold": threshold,
                "threads": self._settings.threads,
            }
            answer = self._run("lexsi_ds.models.worker:predict", args, cancel, tell, cleanup=path)
        return Predictions(path=path, **{**answer, "notes": tuple(answer["notes"])})

    def explain(
        self,
        ref: ModelRef,
        rows: pd.DataFrame,
        *,
        scale: str = "probability",
        cancel: Cancel | None = None,
        tell: Tell | None = None,
    ) -> list[CaseExplanation]:
        """Explain each row, in order."""
        answer = self._explain("explain_cases", ref, rows, {"scale": scale}, cancel, tell)
        return [CaseExplanation.model_validate(case) for case in answer["cases"]]

    def explain_global(
        self,
        ref: ModelRef,
        frame: pd.DataFrame,
        *,
        scale: str = "probability",
        cancel: Cancel | None = None,
        tell: Tell | None = None,
    ) -> GlobalExplanation:
        """Importance and beeswarm over a frame; at most 2,000 of its rows, drawn with a fixed seed."""
        return GlobalExplanation.model_validate(
            self._explain("explain_global", ref, frame, {"scale": scale}, cancel, tell)
        )

    def similar(
        self, ref: ModelRef, rows: pd.DataFrame, *, k: int = 5, cancel: Cancel | None = None, tell: Tell | None = None
    ) -> list[list[dict[str, Any]]]:
        """For each row the k nearest training rows other than itself."""
        return self._explain("similar_cases", ref, rows, {"k": k}, cancel, tell)["similar"]

    def open(self, model_id: str) -> ModelRef:
        """The model of this id; NotFound when its folder is gone."""
        folder = self._models / model_id
        if Path(model_id).name != model_id or not (folder / "card.json").is_file():
            raise NotFound("This model is not there any more.", where=model_id, to_do="Train it again.")
        return ModelRef(id=model_id, folder=folder)

    def _explain(
        self,
        handler: str,
        ref: ModelRef,
        rows: pd.DataFrame,
        more: dict[str, Any],
        cancel: Cancel | None,
        tell: Tell | None,
    ) -> dict[str, Any]:
        out = self._predictions.parent / "tmp" / f"{new_id('xai')}.json"
        with on_disk(self._settings.home, rows) as path:
            args = {"folder": str(ref.folder), "rows": str(path), "out": str(out), **more}
            try:
                self._pool.run(
                    "explain", f"lexsi_ds.explain.worker:{handler}", args, cancel=cancel, tell=tell, cleanup=out, affinity=ref.id
                )
                return json.loads(out.read_text(encoding="utf-8"))
            finally:
                out.unlink(missing_ok=True)

    def _run(
        self, do: str, args: dict[str, Any], cancel: Cancel | None, tell: Tell | None, *, cleanup: Path
    ) -> dict[str, Any]:
        return self._pool.run("ml", do, args, cancel=cancel, tell=tell, cleanup=cleanup)
