"""The card of a training: what was trained, on what, how good it is, and every caveat.

Must never leave out a warning because the figures are good.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
import sklearn
import xgboost as xgb

from lexsi_ds import __version__
from lexsi_ds.models.beside import Beside
from lexsi_ds.models.card import ClassCount, FeatureStats, ModelCard, NotTried
from lexsi_ds.models.caveats import data_warnings, figure_warnings
from lexsi_ds.models.folds import Folds
from lexsi_ds.models.screen import Screened
from lexsi_ds.models.selection import Choice
from lexsi_ds.models.task import TaskSpec
from lexsi_ds.models.training_rows import Rows


@dataclass(frozen=True)
class Origin:
    """Where a training comes from; it goes onto the card as it is."""

    model_id: str
    source_id: str = ""
    source_name: str = ""
    snapshot_id: str = ""
    snapshot_number: int = 0
    run_id: str | None = None
    version: int = 1


@dataclass(frozen=True)
class Trained:
    """What a training came to."""

    task: TaskSpec
    rows: Rows
    screened: Screened
    columns: int
    choice: Choice
    folds: Folds
    not_tried: tuple[NotTried, ...]
    refits: int
    beside: Beside


def write_card(trained: Trained, origin: Origin, seed: int, seconds: float) -> ModelCard:
    """The card of the chosen candidate, with the others beside it."""
    task, rows, choice, beside = trained.task, trained.rows, trained.choice, trained.beside
    candidates = tuple(beside.candidate if c.chosen else c for c in choice.candidates)
    warnings = (
        *data_warnings(task, rows.y, trained.columns),
        *figure_warnings(choice),
        *trained.screened.warnings,
        *beside.warnings,
    )
    return ModelCard(
        id=origin.model_id,
        name=f"{choice.model_type}_v{origin.version}",
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        source_id=origin.source_id,
        source_name=origin.source_name,
        snapshot_id=origin.snapshot_id,
        snapshot_number=origin.snapshot_number,
        run_id=origin.run_id,
        task=task,
        model_type=choice.model_type,
        candidates=candidates,
        auc_difference=choice.auc_difference,
        why_chosen=choice.why,
        features=tuple(feature_stats(f, trained.screened.columns[f.name]) for f in trained.screened.features),
        left_out=(*task.left_out, *trained.screened.left_out),
        rows=len(rows.y),
        positives=int(rows.y.sum()) if task.kind == "binary" else 0,
        folds=trained.folds.count,
        repeats=trained.folds.repeats,
        seed=seed,
        warnings=warnings,
        notes=(*rows.notes, *trained.screened.notes, *beside.notes),
        refits=trained.refits,
        versions=_versions(),
        seconds=round(seconds, 3),
        comparisons=choice.comparisons,
        not_tried=trained.not_tried,
        class_counts=_class_counts(task, rows.y),
        out_of_time=beside.later,
        comparability=beside.comparability,
        calibration=beside.change,
        conformal=beside.conformal,
        credit=beside.credit,
        importance=beside.importance,
        groups=rows.group_count,
    )


def _class_counts(task: TaskSpec, y: np.ndarray) -> tuple[ClassCount, ...]:
    if task.kind != "multiclass":
        return ()
    counts = np.bincount(y.astype(int), minlength=len(task.classes))
    return tuple(ClassCount(name=name, rows=int(counts[i])) for i, name in enumerate(task.classes))


def feature_stats(feature: Any, values: np.ndarray) -> FeatureStats:
    """What a feature holds in the training rows."""
    missing = np.array([v is None for v in values]) if feature.kind == "categorical" else np.isnan(values)
    return FeatureStats(feature=feature, missing=int(missing.sum()), distinct=len(pd.unique(values[~missing])))


def _versions() -> dict[str, str]:
    return {
        "lexsi-ds": __version__,
        "xgboost": xgb.__version__,
        "lightgbm": version("lightgbm"),
        "interpret-core": version("interpret-core"),
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "pandas": version("pandas"),
        "python": platform.python_version(),
    }
