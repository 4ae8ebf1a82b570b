"""The chosen model type trained on the earlier rows and measured on the later ones, beside the random folds.

Random folds let a model learn from rows of the same days it is measured on; this does not, and it is said even when it
hurts. Must never cut one moment in two.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from lexsi_ds.models.assessment import OutOfTime
from lexsi_ds.models.estimators import Recipe, recipe
from lexsi_ds.models.figures import RegressionMetrics
from lexsi_ds.models.measuring import measured, predicted
from lexsi_ds.models.task import TaskSpec

LATER = 0.25
"""Share of the rows that are later ones, or a little more where days cannot be parted."""
MIN_LATER, MIN_CLASS, MIN_DATED = 30, 5, 0.8


def cut(moments: np.ndarray) -> np.datetime64 | None:
    """The first moment of the later rows; None when dates are missing or too few to part the rows."""
    dated = ~pd.isna(moments)
    if dated.mean() < MIN_DATED or len(np.unique(moments[dated])) < 4:
        return None
    ordered = np.sort(moments[dated])
    first = ordered[int(len(ordered) * (1 - LATER))]
    later = ordered >= first
    if later.mean() > 2 * LATER:
        after = ordered[ordered > first]
        first = after[0] if len(after) else first
        later = ordered >= first
    return first if MIN_LATER <= later.sum() < len(ordered) - MIN_LATER else None


def out_of_time(
    how: Recipe,
    x: np.ndarray,
    y: np.ndarray,
    margin: np.ndarray,
    moments: np.ndarray,
    task: TaskSpec,
    seed: int,
    calibrated: Callable[[np.ndarray], np.ndarray] | None = None,
) -> OutOfTime | str:
    """Train on the rows before the cut, measure on those after; the reason in words where that cannot be done.
    ``margin`` are the out-of-fold margins of the same rows."""
    first = cut(moments)
    if first is None:
        return f"{task.moment_column} does not part the rows into earlier and later ones: no out-of-time validation."
    later = ~pd.isna(moments) & (moments >= first)
    earlier = ~pd.isna(moments) & ~later
    if not _learnable(y[earlier], y[later], task):
        return f"The rows from {_day(first)} on hold too few outcomes of each kind: no out-of-time validation."
    own = recipe(how.model_type, int(earlier.sum()), how.flagged, how.outcome)
    model = own.fit(x[earlier], y[earlier], seed)
    told = calibrated or (lambda values: predicted(how.outcome, values))
    found = measured(how.outcome, y[later], told(model.margin(x[later])), seed)
    beside = measured(how.outcome, y[later], told(margin[later]), seed)
    difference = found.minus(beside)
    name = "R2" if how.outcome.kind == "regression" else "ROC AUC"
    main = found.metrics.r2 if isinstance(found.metrics, RegressionMetrics) else found.metrics.roc_auc
    sentence = (
        f"Out of time: trained on {int(earlier.sum()):,} rows before {_day(first)}, its {name} on the "
        f"{int(later.sum()):,} later ones is {main.value:.3f} ({main.low:.3f} to {main.high:.3f}); random folds say "
        f"{beside.main:.3f} of the same rows{_verdict(difference.low, difference.high, difference.value)}."
    )
    return OutOfTime(
        column=task.moment_column or "", first=_day(first), last=_day(moments[later].max()), trained=int(earlier.sum()),
        tested=int(later.sum()), metrics=found.metrics, difference=difference.value, sentence=sentence,
    )  # fmt: skip


def _verdict(low: float, high: float, value: float) -> str:
    if high < 0:
        return f", {-value:.3f} more than it keeps over time"
    if low > 0:
        return ", which is less"
    return "; the difference is within the noise"


def _learnable(earlier: np.ndarray, later: np.ndarray, task: TaskSpec) -> bool:
    if task.kind == "regression":
        return len(np.unique(earlier)) > 1 and len(np.unique(later)) > 1
    classes = max(len(task.classes), 2)
    before = np.bincount(earlier.astype(int), minlength=classes)
    after = np.bincount(later.astype(int), minlength=classes)
    return bool(before.min() >= MIN_CLASS and after.min() >= (MIN_CLASS if classes == 2 else 1))


def _day(moment: np.datetime64) -> str:
    return str(pd.Timestamp(moment).date())
