"""The model card: what was trained, on what, how good it is and how sure that is. Written once, never changed.

Intervals are 95% percentile intervals of a bootstrap over rows of the out-of-fold predictions (Efron 1979), fixed seed.
"""

from __future__ import annotations

from lexsi_ds.data.handle import Value
from lexsi_ds.models.task import FeatureDef, LeftOut, TaskSpec


class Interval(Value):
    """A figure with its 95% interval."""

    value: float
    low: float
    high: float


class Metrics(Value):
    """Out-of-fold figures of a binary classifier. Gini = 2 AUC - 1; KS = largest gap of the two score distributions."""

    roc_auc: Interval
    gini: Interval
    ks: Interval
    average_precision: Interval
    brier: Interval
    log_loss: Interval


class Curve(Value):
    """Points of a curve, with a 95% band where one was computed. All four have one length; values in [0, 1]."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


class CalibrationBin(Value):
    """One bin of the calibration curve: mean predicted and observed share, with a Wilson interval, and its row
    count."""

    predicted: float
    observed: float
    low: float
    high: float
    n: int


class Candidate(Value):
    """One model type that was tried on the same folds."""

    model_type: str
    """``XGBoost`` or ``Logistic``."""
    metrics: Metrics
    roc: Curve
    calibration: tuple[CalibrationBin, ...]
    parameters: dict[str, str]
    chosen: bool


class FeatureStats(Value):
    """A feature in the training rows."""

    feature: FeatureDef
    missing: int
    distinct: int


class ModelCard(Value):
    """Everything a person needs to trust or refuse a model."""

    id: str
    name: str
    """Such as ``XGBoost_v1``."""
    created_at: str
    """ISO 8601, UTC."""
    source_id: str
    source_name: str
    snapshot_id: str
    snapshot_number: int
    run_id: str | None
    task: TaskSpec
    model_type: str
    """The chosen candidate's."""
    candidates: tuple[Candidate, ...]
    auc_difference: Interval
    """XGBoost's AUC minus the baseline's, paired bootstrap."""
    why_chosen: str
    features: tuple[FeatureStats, ...]
    left_out: tuple[LeftOut, ...]
    """The task's and what training itself found: constant, duplicate, leaking columns."""
    rows: int
    positives: int
    folds: int
    repeats: int
    seed: int
    warnings: tuple[str, ...]
    """Small data, few positives, no dates: sentences that stand beside the figures."""
    versions: dict[str, str]
    seconds: float
    notes: tuple[str, ...] = ()
    """What training did to the data, in sentences: rows without an outcome, columns ignored, values that could not be
    read."""
    refits: int = 0
    """Bootstrap refits that the bands of its predictions come from."""

    @property
    def chosen(self) -> Candidate:
        """The candidate that predicts."""
        return next(c for c in self.candidates if c.chosen)

    @property
    def baseline(self) -> Candidate:
        """The logistic baseline, which may be the chosen one."""
        return next(c for c in self.candidates if c.model_type == "Logistic")
