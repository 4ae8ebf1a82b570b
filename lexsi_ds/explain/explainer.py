"""Explanations of a trained model, each computed in a worker process: one typed method a view.

Must never explain in this process: only a worker can be stopped and can run out of memory alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd
from pydantic import BaseModel

from lexsi_ds.explain.results import Cell, Cohort, Dependence, ImportanceView, Interactions, Profile
from lexsi_ds.explain.results_decision import ErrorSlices, FairnessViews, Residuals, ThresholdView
from lexsi_ds.explain.results_local import Batch, Cases, Counterfactuals, FeatureRanges, SimilarCases, WhatIf
from lexsi_ds.explain.wanted import Wanted
from lexsi_ds.ids import new_id
from lexsi_ds.models.engine import CaseExplanation, GlobalExplanation, ModelRef
from lexsi_ds.models.frames import write_frame
from lexsi_ds.settings import Settings

if TYPE_CHECKING:
    from lexsi_ds.jobs.cancel import Cancel
    from lexsi_ds.jobs.pool import Pool

Tell = Callable[[dict[str, Any]], None]
Rows = pd.DataFrame | Path
"""Rows with the model's features: a frame, or an Arrow file that holds one."""
HANDLER = "lexsi_ds.explain.worker:view"
_V = TypeVar("_V", bound=BaseModel)


class Explainer:
    """Views of models in workers of the lane "explain". All methods raise BadInput, WorkerFailed or Stopped."""

    def __init__(self, pool: Pool, settings: Settings) -> None:
        self._pool, self._folder = pool, settings.home / "tmp"

    def overall(
        self, ref: ModelRef, rows: Rows, *, scale: str = "probability", output: str | None = None,
        cohort: Cohort | None = None, **run: Any,
    ) -> GlobalExplanation:
        """Importance and beeswarm; past 2,000 rows of a stratified sample."""
        return self._ask(GlobalExplanation, "overall", ref, rows, _asked(scale, output, cohort), **run)

    def cases(
        self, ref: ModelRef, rows: Rows, *, scale: str = "probability", output: str | None = None, **run: Any
    ) -> tuple[CaseExplanation, ...]:
        """Each row explained, in order; one that trained the model by the models that did not see it."""
        return self._ask(Cases, "cases", ref, rows, _asked(scale, output), **run).cases

    def importance(
        self, ref: ModelRef, rows: Rows, *, scale: str = "probability", output: str | None = None,
        cohort: Cohort | None = None, **run: Any,
    ) -> ImportanceView:
        """Mean |SHAP value| and what shuffling costs, with intervals and a warning where they disagree."""
        return self._ask(ImportanceView, "importance", ref, rows, _asked(scale, output, cohort), **run)

    def interactions(
        self, ref: ModelRef, rows: Rows, *, output: str | None = None, cohort: Cohort | None = None, **run: Any
    ) -> Interactions:
        """The matrix of SHAP interaction values on the margin and its strongest pairs."""
        return self._ask(Interactions, "interactions", ref, rows, _asked("log-odds", output, cohort), **run)

    def dependence(
        self, ref: ModelRef, rows: Rows, feature: str, *, scale: str = "probability", output: str | None = None,
        cohort: Cohort | None = None, **run: Any,
    ) -> Dependence:
        """A feature's value against its contribution, coloured by its strongest interaction."""
        options = {**_asked(scale, output, cohort), "feature": feature}
        return self._ask(Dependence, "dependence", ref, rows, options, **run)

    def profile(
        self, ref: ModelRef, rows: Rows, feature: str, *, scale: str = "probability", output: str | None = None,
        cohort: Cohort | None = None, **run: Any,
    ) -> Profile:
        """Partial dependence and ICE lines of a feature; by word where it is one."""
        options = {**_asked(scale, output, cohort), "feature": feature}
        return self._ask(Profile, "profile", ref, rows, options, **run)

    def ranges(self, ref: ModelRef, **run: Any) -> FeatureRanges:
        """What training held of each feature: the bounds of a what-if."""
        return self._ask(FeatureRanges, "ranges", ref, None, {}, **run)

    def what_if(
        self, ref: ModelRef, row: Rows, changes: Mapping[str, Cell], *, scale: str = "probability",
        output: str | None = None, **run: Any,
    ) -> WhatIf:
        """The first row with some values changed, and what speaks against it."""
        return self._ask(WhatIf, "what_if", ref, row, {**_asked(scale, output), "changes": dict(changes)}, **run)

    def counterfactuals(
        self, ref: ModelRef, row: Rows, actionable: Sequence[str], *, wanted: Wanted | None = None,
        permitted: Mapping[str, Sequence[Cell]] | None = None, count: int = 4, seed: int = 7, seconds: float = 20.0,
        **run: Any,
    ) -> Counterfactuals:
        """Rows like the first one that the model judges otherwise, each checked with the model."""
        options = {
            "actionable": list(actionable), "wanted": (wanted or Wanted()).model_dump(mode="json"),
            "permitted": {k: list(v) for k, v in permitted.items()} if permitted is not None else None,
            "count": count, "seed": seed, "seconds": seconds,
        }  # fmt: skip
        return self._ask(Counterfactuals, "counterfactuals", ref, row, options, **run)

    def similar(self, ref: ModelRef, rows: Rows, *, k: int = 5, **run: Any) -> SimilarCases:
        """For each row the k nearest training rows with their outcomes."""
        return self._ask(SimilarCases, "similar", ref, rows, {"k": k}, **run)

    def batch(
        self, ref: ModelRef, rows: Rows, file: Path, *, scale: str = "probability", output: str | None = None,
        cohort: Cohort | None = None, **run: Any,
    ) -> Batch:
        """Contributions of every row (of a cohort) into an Arrow file."""
        return self._ask(Batch, "batch", ref, rows, {**_asked(scale, output, cohort), "file": str(file)}, **run)

    def threshold(
        self, ref: ModelRef, rows: Rows | None, cost_false_positive: float, cost_false_negative: float,
        chosen: float | None = None, **run: Any,
    ) -> ThresholdView:
        """Costs, confusion and calibration along the threshold; ``rows`` are those that would be flagged."""
        options = {
            "cost_false_positive": cost_false_positive, "cost_false_negative": cost_false_negative, "chosen": chosen,
        }  # fmt: skip
        return self._ask(ThresholdView, "threshold", ref, rows, options, **run)

    def slices(self, ref: ModelRef, **run: Any) -> ErrorSlices:
        """Parts of the training rows where the model errs more, tested on rows they were not found on."""
        return self._ask(ErrorSlices, "slices", ref, None, {}, **run)

    def fairness(
        self, ref: ModelRef, columns: Sequence[str] | None = None, *, threshold: float | None = None, **run: Any
    ) -> FairnessViews:
        """Figures by group of these columns, else of every protected column kept with the model."""
        options = {"columns": list(columns) if columns is not None else None, "threshold": threshold}
        return self._ask(FairnessViews, "fairness", ref, None, options, **run)

    def residuals(self, ref: ModelRef, **run: Any) -> Residuals:
        """Out-of-fold residuals of a model of an amount."""
        return self._ask(Residuals, "residuals", ref, None, {}, **run)

    def _ask(
        self, kind: type[_V], view: str, ref: ModelRef, rows: Rows | None, options: dict[str, Any], *,
        cancel: Cancel | None = None, tell: Tell | None = None,
    ) -> _V:
        self._folder.mkdir(parents=True, exist_ok=True)
        out, written = self._folder / f"{new_id('xai')}.json", None
        args: dict[str, Any] = {"folder": str(ref.folder), "view": view, "options": options, "out": str(out)}
        try:
            if isinstance(rows, pd.DataFrame):
                written = self._folder / f"{new_id('frm')}.arrow"
                write_frame(rows, written)
            args["rows"] = str(written or rows) if rows is not None else None
            self._pool.run("explain", HANDLER, args, cancel=cancel, tell=tell, cleanup=out, affinity=ref.id)
            return kind.model_validate_json(out.read_bytes())
        finally:
            out.unlink(missing_ok=True)
            if written is not None:
                written.unlink(missing_ok=True)


def _asked(scale: str, output: str | None, cohort: Cohort | None = None) -> dict[str, Any]:
    return {"scale": scale, "output": output, "cohort": cohort.model_dump(mode="json") if cohort is not None else None}
