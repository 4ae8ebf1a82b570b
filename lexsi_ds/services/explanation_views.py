"""The views of one model over its rows and of decisions with it, each computed once for its rows and arguments.

Global views take a cohort: case ids (a lasso on a chart) or conditions. Must never compute in this process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import duckdb
import pyarrow as pa
from pydantic import BaseModel

from lexsi_ds.errors import NotFound
from lexsi_ds.explain.explainer import Explainer
from lexsi_ds.explain.results import Cell, Cohort, Dependence, ImportanceView, Interactions, Profile
from lexsi_ds.explain.results_decision import ErrorSlices, FairnessViews, Residuals, ThresholdView
from lexsi_ds.explain.results_local import Counterfactuals, FeatureRanges, WhatIf
from lexsi_ds.explain.wanted import Wanted
from lexsi_ds.ids import new_id
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.engine import GlobalExplanation, ModelRef
from lexsi_ds.services.csv_text import csv_bytes
from lexsi_ds.services.explanation_cache import ExplanationCache
from lexsi_ds.services.explanation_rows import ExplanationRows

if TYPE_CHECKING:
    import pandas as pd

_V = TypeVar("_V", bound=BaseModel)


class ExplanationViews:
    """Views of one model. ``which`` is "scored" or "training"; by default the rows scored last, where there are any.

    All methods take ``cancel`` and ``tell`` and raise BadInput, WorkerFailed or Stopped.
    """

    def __init__(
        self, explainer: Explainer, cache: ExplanationCache, ref: ModelRef, card: ModelCard, rows: ExplanationRows
    ) -> None:
        self._explainer, self._cache, self._ref, self._card, self._rows = explainer, cache, ref, card, rows

    def overall(
        self, *, scale: str = "probability", output: str | None = None, cohort: Cohort | None = None, which: str = "",
        **run: Any,
    ) -> GlobalExplanation:
        """Importance and beeswarm; past 2,000 rows of a stratified sample."""
        path = self._rows.path(which)
        return self._kept(
            GlobalExplanation, "overall", _asked(scale, output, cohort), which,
            lambda: self._explainer.overall(self._ref, path, scale=scale, output=output, cohort=cohort, **run),
        )  # fmt: skip

    def importance(
        self, *, scale: str = "probability", output: str | None = None, cohort: Cohort | None = None, which: str = "",
        **run: Any,
    ) -> ImportanceView:
        """Mean |SHAP value| and what shuffling costs, with intervals and a warning where they disagree."""
        path = self._rows.path(which)
        return self._kept(
            ImportanceView, "importance", _asked(scale, output, cohort), which,
            lambda: self._explainer.importance(self._ref, path, scale=scale, output=output, cohort=cohort, **run),
        )  # fmt: skip

    def interactions(
        self, *, output: str | None = None, cohort: Cohort | None = None, which: str = "", **run: Any
    ) -> Interactions:
        """The matrix of SHAP interaction values and its strongest pairs."""
        path = self._rows.path(which)
        return self._kept(
            Interactions, "interactions", _asked("", output, cohort), which,
            lambda: self._explainer.interactions(self._ref, path, output=output, cohort=cohort, **run),
        )  # fmt: skip

    def dependence(
        self, feature: str, *, scale: str = "probability", output: str | None = None, cohort: Cohort | None = None,
        which: str = "", **run: Any,
    ) -> Dependence:
        """A feature's value against its contribution, coloured by its strongest interaction."""
        path = self._rows.path(which)
        return self._kept(
            Dependence, "dependence", {**_asked(scale, output, cohort), "feature": feature}, which,
            lambda: self._explainer.dependence(
                self._ref, path, feature, scale=scale, output=output, cohort=cohort, **run
            ),
        )  # fmt: skip

    def profile(
        self, feature: str, *, scale: str = "probability", output: str | None = None, cohort: Cohort | None = None,
        which: str = "", **run: Any,
    ) -> Profile:
        """Partial dependence and ICE lines of a feature; by word where it is one."""
        path = self._rows.path(which)
        return self._kept(
            Profile, "profile", {**_asked(scale, output, cohort), "feature": feature}, which,
            lambda: self._explainer.profile(self._ref, path, feature, scale=scale, output=output, cohort=cohort, **run),
        )  # fmt: skip

    def ranges(self, **run: Any) -> FeatureRanges:
        """What training held of each feature: the bounds of a what-if form."""
        return self._kept(FeatureRanges, "ranges", {}, "training", lambda: self._explainer.ranges(self._ref, **run))

    def what_if(
        self, case_id: str, changes: Mapping[str, Cell], *, scale: str = "probability", output: str | None = None,
        **run: Any,
    ) -> WhatIf:
        """A case with some values changed, and what speaks against it."""
        row = self._row(case_id)
        arguments = {"case": case_id, "changes": dict(changes), "scale": scale, "output": output}
        return self._kept(
            WhatIf, "what_if", arguments, "",
            lambda: self._explainer.what_if(self._ref, row, changes, scale=scale, output=output, **run),
        )  # fmt: skip

    def counterfactuals(
        self, case_id: str, actionable: Sequence[str], *, wanted: Wanted | None = None,
        permitted: Mapping[str, Sequence[Cell]] | None = None, count: int = 4, seed: int = 7, seconds: float = 20.0,
        **run: Any,
    ) -> Counterfactuals:
        """Rows like a case that the model judges otherwise; a search that the clock ended is not kept."""
        row, goal = self._row(case_id), wanted or Wanted()
        arguments = {
            "case": case_id, "actionable": list(actionable), "wanted": goal.model_dump(mode="json"), "count": count,
            "permitted": {k: list(v) for k, v in permitted.items()} if permitted else None, "seed": seed,
        }  # fmt: skip
        path = self._cache.path(self._ref.id, "counterfactuals", arguments, self._rows.fingerprint())
        kept = self._cache.read(path, Counterfactuals)
        if kept is not None:
            return kept
        found = self._explainer.counterfactuals(
            self._ref, row, actionable, wanted=goal, permitted=permitted, count=count, seed=seed, seconds=seconds, **run
        )
        if not found.stopped:
            self._cache.put(path, found)
        return found

    def threshold(
        self, cost_false_positive: float, cost_false_negative: float, chosen: float | None = None, **run: Any
    ) -> ThresholdView:
        """Costs, confusion and calibration along the threshold, and which scored rows would be flagged."""
        arguments = {"costs": [cost_false_positive, cost_false_negative], "chosen": chosen}
        return self._kept(
            ThresholdView, "threshold", arguments, "",
            lambda: self._explainer.threshold(
                self._ref, self._rows.scored(), cost_false_positive, cost_false_negative, chosen, **run
            ),
        )  # fmt: skip

    def slices(self, **run: Any) -> ErrorSlices:
        """Parts of the training rows where the model errs more."""
        return self._kept(ErrorSlices, "slices", {}, "training", lambda: self._explainer.slices(self._ref, **run))

    def fairness(
        self, columns: Sequence[str] | None = None, *, threshold: float | None = None, **run: Any
    ) -> FairnessViews:
        """Figures by group of these columns, else of every protected column kept with the model."""
        arguments = {"columns": list(columns) if columns is not None else None, "threshold": threshold}
        return self._kept(
            FairnessViews, "fairness", arguments, "training",
            lambda: self._explainer.fairness(self._ref, columns, threshold=threshold, **run),
        )  # fmt: skip

    def residuals(self, **run: Any) -> Residuals:
        """Out-of-fold residuals of a model of an amount."""
        return self._kept(Residuals, "residuals", {}, "training", lambda: self._explainer.residuals(self._ref, **run))

    def contributions_csv(
        self, *, scale: str = "probability", output: str | None = None, cohort: Cohort | None = None, which: str = "",
        **run: Any,
    ) -> bytes:
        """Contributions of every row (of a cohort) as CSV: points as decimal marks, no cell that starts a formula."""
        folder = self._cache.of(self._ref.id)
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{new_id('csv')}.arrow"
        try:
            self._explainer.batch(
                self._ref, self._rows.path(which), file, scale=scale, output=output, cohort=cohort, **run
            )
            return _csv(file, folder)
        finally:
            file.unlink(missing_ok=True)

    def _row(self, case_id: str) -> pd.DataFrame:
        found = self._rows.find([case_id])
        if case_id not in found:
            raise NotFound(
                "This model neither trained on that case nor scored it.", where=case_id[:60],
                to_do="Choose a case of the list.",
            )  # fmt: skip
        return found[case_id]

    def _kept(
        self, kind: type[_V], view: str, arguments: dict[str, Any], which: str, compute: Callable[[], _V]
    ) -> _V:
        return self._cache.get(self._ref.id, view, arguments, self._rows.fingerprint(which), kind, compute)


def _asked(scale: str, output: str | None, cohort: Cohort | None) -> dict[str, Any]:
    return {"scale": scale, "output": output, "cohort": cohort.model_dump(mode="json") if cohort is not None else None}


def _csv(file: Path, folder: Path) -> bytes:
    with pa.memory_map(str(file)) as source, duckdb.connect() as connection:
        table = pa.ipc.open_stream(source).read_all()
        connection.register("contributions", table)
        columns = [(str(n), str(t)) for n, t, *_ in connection.execute("DESCRIBE contributions").fetchall()]
        return csv_bytes(connection, columns, "FROM contributions", [], folder)
