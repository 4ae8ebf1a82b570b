"""The engine that the settings choose: trains where they say, and scores and explains each model where it lives.

Must never send a row to the platform unless the settings ask for it, also for a model that was trained there before.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import BadInput, LexsiError
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.engine import CaseExplanation, GlobalExplanation, ModelRef, Predictions
from lexsi_ds.models.lexsi.engine import LexsiEngine
from lexsi_ds.models.lexsi.folder import is_platform_model
from lexsi_ds.models.local import LocalEngine, Tell
from lexsi_ds.models.task import TaskSpec
from lexsi_ds.settings import Settings

if TYPE_CHECKING:
    from lexsi_ds.jobs.cancel import Cancel
    from lexsi_ds.jobs.pool import Pool

log = logging.getLogger(__name__)


class ChosenEngine(LocalEngine):
    """The local engine, and the platform's where it is chosen. Raises BadInput at once when that cannot be used."""

    def __init__(self, pool: Pool, settings: Settings, masked_of: Callable[[str], frozenset[str]] | None = None) -> None:
        super().__init__(pool, settings)
        self.name = settings.engine
        self.platform: LexsiEngine | None = LexsiEngine(pool, settings) if settings.engine == "lexsi" else None
        if self.platform is not None and masked_of is not None:
            self.platform.masked_of = masked_of

    def check_soon(self) -> None:
        """Look in the background whether the SDK fits, and log what does not; the first call would say it too."""
        if self.platform is not None:
            threading.Thread(target=self._check, daemon=True, name="lexsi-check").start()

    def _check(self) -> None:
        assert self.platform is not None
        try:
            log.info("Lexsi engine: lexsi-sdk %s fits", self.platform.check())
        except LexsiError as error:
            log.error("Lexsi engine: %s", error)

    def train(
        self,
        frame: pd.DataFrame,
        task: TaskSpec,
        *,
        model_type: str | None = None,
        compute_type: str | None = None,
        xai_method: Sequence[str] = (),
        handle: DatasetHandle | None = None,
        run_id: str | None = None,
        version: int = 1,
        to_score: pd.DataFrame | None = None,
        cancel: Cancel | None = None,
        tell: Tell | None = None,
    ) -> tuple[ModelRef, ModelCard]:
        """Train with the chosen engine. ``compute_type`` and ``xai_method`` are for the platform."""
        if self.platform is not None:
            return self.platform.train(
                frame, task, model_type=model_type, compute_type=compute_type, xai_method=xai_method, handle=handle,
                run_id=run_id, version=version, to_score=to_score, cancel=cancel, tell=tell,
            )  # fmt: skip
        return super().train(
            frame, task, model_type=model_type, handle=handle, run_id=run_id, version=version, to_score=to_score, cancel=cancel,
            tell=tell,
        )  # fmt: skip

    def predict(
        self,
        ref: ModelRef,
        frame: pd.DataFrame,
        *,
        compute_type: str | None = None,
        out: Path | None = None,
        threshold: float | None = None,
        cancel: Cancel | None = None,
        tell: Tell | None = None,
    ) -> Predictions:
        """Score every row where the model lives."""
        home = self._home_of(ref)
        if home is not None:
            return home.predict(ref, frame, compute_type=compute_type, threshold=threshold, out=out, cancel=cancel, tell=tell)
        return super().predict(ref, frame, out=out, threshold=threshold, cancel=cancel, tell=tell)

    def explain(
        self,
        ref: ModelRef,
        rows: pd.DataFrame,
        *,
        scale: str = "probability",
        cancel: Cancel | None = None,
        tell: Tell | None = None,
        **local: Any,
    ) -> list[CaseExplanation]:
        """Explain each row where the model lives."""
        home = self._home_of(ref)
        if home is not None:
            return home.explain(ref, rows, scale=scale, cancel=cancel, tell=tell)
        return super().explain(ref, rows, scale=scale, cancel=cancel, tell=tell, **local)

    def explain_global(
        self,
        ref: ModelRef,
        frame: pd.DataFrame,
        *,
        scale: str = "probability",
        cancel: Cancel | None = None,
        tell: Tell | None = None,
        **local: Any,
    ) -> GlobalExplanation:
        """Importance where the model lives."""
        home = self._home_of(ref)
        if home is not None:
            return home.explain_global(ref, frame, scale=scale, cancel=cancel, tell=tell)
        return super().explain_global(ref, frame, scale=scale, cancel=cancel, tell=tell, **local)

    def similar(
        self, ref: ModelRef, rows: pd.DataFrame, *, k: int = 5, cancel: Cancel | None = None, tell: Tell | None = None
    ) -> list[list[dict[str, Any]]]:
        """Similar training rows where the model lives."""
        home = self._home_of(ref)
        if home is not None:
            return home.similar(ref, rows, k=k, cancel=cancel, tell=tell)
        return super().similar(ref, rows, k=k, cancel=cancel, tell=tell)

    def _home_of(self, ref: ModelRef) -> LexsiEngine | None:
        """The platform's engine for a model of the platform, None for a local one."""
        if not is_platform_model(ref.folder):
            return None
        if self.platform is None:
            raise BadInput(
                "This model lives on the Lexsi platform, which is not switched on: rows would have to be sent there.",
                where=ref.id, to_do="Set LEXSI_DS_ENGINE=lexsi, or train a local model.",
            )  # fmt: skip
        return self.platform
