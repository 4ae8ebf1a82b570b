"""The views that a worker can compute, by name, each with its options as they come from JSON.

Must never take a name for an attribute: only what is listed here can be asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import BaseModel

from lexsi_ds.explain.batch import batch
from lexsi_ds.explain.cases import explain_cases, explain_global
from lexsi_ds.explain.counterfactuals import counterfactuals
from lexsi_ds.explain.dependence import dependence
from lexsi_ds.explain.fairness import fairness, protected_columns
from lexsi_ds.explain.importance import importance
from lexsi_ds.explain.interactions import interactions
from lexsi_ds.explain.profiles import profile
from lexsi_ds.explain.ranges import ranges
from lexsi_ds.explain.residuals import residuals
from lexsi_ds.explain.results import Cohort
from lexsi_ds.explain.results_decision import FairnessViews
from lexsi_ds.explain.results_local import Cases, SimilarCases
from lexsi_ds.explain.similar import similar_rows
from lexsi_ds.explain.slices import error_slices
from lexsi_ds.explain.threshold import threshold_view
from lexsi_ds.explain.wanted import Wanted
from lexsi_ds.explain.what_if import what_if
from lexsi_ds.models.bundle import SavedModel

Options = dict[str, Any]
Say = Callable[[dict[str, Any]], None]
View = Callable[[SavedModel, Any, Options, Say], BaseModel]


def _cohort(options: Options) -> Cohort:
    return Cohort.model_validate(options.get("cohort") or {})


def _overall(model: SavedModel, rows: pd.DataFrame, o: Options, say: Say) -> BaseModel:
    say({"text": f"Explaining {len(rows):,} rows"})
    return explain_global(model, rows, o["scale"], o.get("output"), _cohort(o))


def _cases(model: SavedModel, rows: pd.DataFrame, o: Options, say: Say) -> BaseModel:
    return Cases(cases=tuple(explain_cases(model, rows, o["scale"], o.get("output"))))


def _importance(model: SavedModel, rows: pd.DataFrame, o: Options, say: Say) -> BaseModel:
    return importance(model, rows, o["scale"], say, output=o.get("output"), cohort=_cohort(o))


def _interactions(model: SavedModel, rows: pd.DataFrame, o: Options, say: Say) -> BaseModel:
    say({"text": "Looking for features that act together"})
    return interactions(model, rows, output=o.get("output"), cohort=_cohort(o))


def _dependence(model: SavedModel, rows: pd.DataFrame, o: Options, say: Say) -> BaseModel:
    return dependence(model, rows, o["feature"], o["scale"], output=o.get("output"), cohort=_cohort(o))


def _profile(model: SavedModel, rows: pd.DataFrame, o: Options, say: Say) -> BaseModel:
    return profile(model, rows, o["feature"], o["scale"], output=o.get("output"), cohort=_cohort(o))


def _what_if(model: SavedModel, rows: pd.DataFrame, o: Options, say: Say) -> BaseModel:
    return what_if(model, rows, o["changes"], o["scale"], o.get("output"))


def _counterfactuals(model: SavedModel, rows: pd.DataFrame, o: Options, say: Say) -> BaseModel:
    return counterfactuals(
        model, rows, o["actionable"], say, wanted=Wanted.model_validate(o.get("wanted") or {}),
        permitted=o.get("permitted"), count=o["count"], seed=o["seed"], seconds=o["seconds"],
    )  # fmt: skip


def _similar(model: SavedModel, rows: pd.DataFrame, o: Options, say: Say) -> BaseModel:
    return SimilarCases.model_validate({"cases": similar_rows(model, rows, o["k"])})


def _batch(model: SavedModel, rows: pd.DataFrame, o: Options, say: Say) -> BaseModel:
    return batch(model, rows, Path(o["file"]), o["scale"], say, output=o.get("output"), cohort=_cohort(o))


def _threshold(model: SavedModel, rows: pd.DataFrame | None, o: Options, say: Say) -> BaseModel:
    return threshold_view(model, rows, o["cost_false_positive"], o["cost_false_negative"], o.get("chosen"))


def _slices(model: SavedModel, rows: pd.DataFrame | None, o: Options, say: Say) -> BaseModel:
    return error_slices(model, say)


def _fairness(model: SavedModel, rows: pd.DataFrame | None, o: Options, say: Say) -> BaseModel:
    names = o.get("columns")
    kept = protected_columns(model)
    left = {out.name for out in model.card.left_out if out.reason == "protected"} - set(kept)
    chosen = kept if names is None else names
    return FairnessViews(
        protected=tuple(kept),
        columns=tuple(fairness(model, name, o.get("threshold")) for name in chosen if name not in left),
        absent=tuple(name for name in chosen if name in left),
    )


def _residuals(model: SavedModel, rows: pd.DataFrame | None, o: Options, say: Say) -> BaseModel:
    return residuals(model)


def _ranges(model: SavedModel, rows: pd.DataFrame | None, o: Options, say: Say) -> BaseModel:
    return ranges(model)


VIEWS: dict[str, View] = {
    "overall": _overall,
    "cases": _cases,
    "importance": _importance,
    "interactions": _interactions,
    "dependence": _dependence,
    "profile": _profile,
    "what_if": _what_if,
    "counterfactuals": _counterfactuals,
    "similar": _similar,
    "batch": _batch,
    "threshold": _threshold,
    "slices": _slices,
    "fairness": _fairness,
    "residuals": _residuals,
    "ranges": _ranges,
}
