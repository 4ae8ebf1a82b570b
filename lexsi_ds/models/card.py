"""The model card: what was trained, on what, how good it is and how sure that is. Written once, never changed.

The figures are in ``figures``, what else is said of a model in ``assessment``; both are read from here too.
"""

from __future__ import annotations

from lexsi_ds.data.handle import Value
from lexsi_ds.models.assessment import (
    CalibrationChange,
    Challenger,
    Comparability,
    Conformal,
    Credit,
    Decile,
    Importance,
    OutOfTime,
    ScoreBand,
    ShiftDriver,
    Threshold,
    UnfinishedCohort,
)
from lexsi_ds.models.figures import (
    AnyMetrics,
    CalibrationBin,
    Curve,
    Interval,
    Metrics,
    MulticlassMetrics,
    RegressionMetrics,
)
from lexsi_ds.models.task import FeatureDef, LeftOut, TaskSpec

__all__ = [
    "AnyMetrics",
    "CalibrationBin",
    "CalibrationChange",
    "Candidate",
    "Challenger",
    "ClassCount",
    "Comparability",
    "Comparison",
    "Conformal",
    "Credit",
    "Curve",
    "Decile",
    "FeatureStats",
    "Importance",
    "Interval",
    "Metrics",
    "ModelCard",
    "MulticlassMetrics",
    "NotTried",
    "OutOfTime",
    "RegressionMetrics",
    "ScoreBand",
    "ShiftDriver",
    "Threshold",
    "UnfinishedCohort",
]


class Candidate(Value):
    """One model type that was tried on the same folds."""

    model_type: str
    """One of ``models.task.MODEL_TYPES`` in the local engine."""
    metrics: AnyMetrics
    roc: Curve = Curve(x=(), y=())
    """Empty unless the outcome is binary."""
    calibration: tuple[CalibrationBin, ...] = ()
    """Empty unless the outcome is binary."""
    parameters: dict[str, str]
    chosen: bool
    repeats: int = 0
    """Times all rows were held out once for it; 0: as the card says."""

    @property
    def main(self) -> Interval:
        """The figure that candidates are compared by: ROC AUC, or R2 of a regression."""
        return self.metrics.r2 if isinstance(self.metrics, RegressionMetrics) else self.metrics.roc_auc

    @property
    def main_name(self) -> str:
        """What that figure is called."""
        return "R2" if isinstance(self.metrics, RegressionMetrics) else "ROC AUC"


class NotTried(Value):
    """A model type that was not compared, and why: its package or weights are missing, or the time budget was spent."""

    model_type: str
    reason: str


class Comparison(Value):
    """The chosen candidate beside another on the same rows: main figure of the chosen minus the other's, paired."""

    chosen: str
    other: str
    difference: Interval
    beyond_noise: bool
    """The interval does not hold 0 and the difference is large enough to matter."""


class FeatureStats(Value):
    """A feature in the training rows."""

    feature: FeatureDef
    missing: int
    distinct: int


class ClassCount(Value):
    """One class of the outcome and how many training rows have it."""

    name: str
    rows: int


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
    """Main figure (ROC AUC; R2 of a regression) of the strongest candidate beside the baseline minus the baseline's,
    paired bootstrap."""
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
    comparisons: tuple[Comparison, ...] = ()
    not_tried: tuple[NotTried, ...] = ()
    class_counts: tuple[ClassCount, ...] = ()
    """Rows of each class of a multiclass outcome; ``positives`` is 0 there."""
    out_of_time: OutOfTime | None = None
    comparability: Comparability | None = None
    calibration: CalibrationChange = CalibrationChange()
    threshold: Threshold = Threshold()
    conformal: Conformal | None = None
    credit: Credit | None = None
    importance: tuple[Importance, ...] = ()
    engine: str = "local"
    """Where it was trained and scores: ``local``, this machine's workers; ``lexsi``, the Lexsi platform."""
    groups: int = 0
    """Distinct values of the task's group column; 0 when rows stand for themselves."""

    @property
    def calibration_method(self) -> str:
        """``none``, ``platt`` or ``isotonic``."""
        return self.calibration.method

    @property
    def chosen(self) -> Candidate:
        """The candidate that predicts."""
        return next(c for c in self.candidates if c.chosen)

    @property
    def baseline(self) -> Candidate:
        """The logistic or linear baseline, which may be the chosen one; the chosen one where no baseline was tried."""
        return next((c for c in self.candidates if c.model_type in ("Logistic", "Linear")), self.chosen)

    @property
    def headlines(self) -> tuple[str, ...]:
        """What stands beside the figures before all else: known against scored rows, and out of time."""
        compared = self.comparability.sentences if self.comparability else ()
        return (*compared, *((self.out_of_time.sentence,) if self.out_of_time else ()))
