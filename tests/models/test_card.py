"""Cards of older models still load, and the new parts go to JSON and back."""

from __future__ import annotations

from typing import Any

from lexsi_ds.models.card import (
    Candidate,
    Comparability,
    Interval,
    Metrics,
    ModelCard,
    MulticlassMetrics,
    OutOfTime,
    RegressionMetrics,
)
from lexsi_ds.models.engine import PREDICTION_COLUMNS, prediction_columns
from tests.models.frames_for_tests import loan_task, loans

HALF = {"value": 0.5, "low": 0.4, "high": 0.6}
NEW = {
    "comparisons", "not_tried", "class_counts", "out_of_time", "comparability", "calibration", "threshold", "conformal",
    "credit", "importance", "groups",
}  # fmt: skip


def old_card() -> dict[str, Any]:
    """A card as the first version wrote it."""
    figures = dict.fromkeys(Metrics.model_fields, HALF)
    curve = {"x": [0.0, 1.0], "y": [0.0, 1.0], "low": [], "high": []}
    candidate = {"metrics": figures, "roc": curve, "calibration": [], "parameters": {}}
    task = loan_task(loans(20)).model_dump(mode="json")
    for name in ("classes", "group_column", "time_column", "score_column"):
        task.pop(name)
    return {
        "id": "mdl_1", "name": "XGBoost_v1", "created_at": "2026-01-01T00:00:00+00:00", "source_id": "", "source_name": "",
        "snapshot_id": "", "snapshot_number": 0, "run_id": None, "task": task, "model_type": "XGBoost",
        "candidates": [
            {**candidate, "model_type": "XGBoost", "chosen": True}, {**candidate, "model_type": "Logistic", "chosen": False},
        ],
        "auc_difference": HALF, "why_chosen": "It was asked for.", "features": [], "left_out": [], "rows": 20, "positives": 5,
        "folds": 5, "repeats": 5, "seed": 7, "warnings": [], "versions": {}, "seconds": 1.0, "notes": [], "refits": 50,
    }  # fmt: skip


def test_a_card_of_the_first_version_loads_with_nothing_claimed() -> None:
    card = ModelCard.model_validate(old_card())
    assert set(card.model_dump()) - set(old_card()) >= NEW
    assert (card.calibration_method, card.threshold.value, card.headlines) == ("none", 0.5, ())
    assert isinstance(card.chosen.metrics, Metrics)
    assert card.task.kind == "binary"
    assert ModelCard.model_validate_json(card.model_dump_json()) == card


def test_figures_of_each_kind_come_back_as_what_they_were() -> None:
    half = Interval(value=0.5, low=0.4, high=0.6)
    for kind, name in ((MulticlassMetrics, "ROC AUC"), (RegressionMetrics, "R2")):
        metrics = kind(**dict.fromkeys(kind.model_fields, half))
        candidate = Candidate(model_type="EBM", metrics=metrics, parameters={}, chosen=True)
        again = Candidate.model_validate_json(candidate.model_dump_json())
        assert again == candidate
        assert type(again.metrics) is kind
        assert (again.main, again.main_name) == (half, name)


def test_headlines_put_the_rows_to_score_before_the_later_rows() -> None:
    half = Interval(value=0.5, low=0.4, high=0.6)
    compared = Comparability(known=10, scored=5, auc=half, sentences=("Rows differ.",))
    metrics = RegressionMetrics(r2=half, rmse=half, mae=half, median_error=half)
    later = OutOfTime(column="day", first="2020-01-01", last="2020-02-01", trained=8, tested=2, metrics=metrics,
                      difference=0.0, sentence="Later rows are as good.")  # fmt: skip
    card = ModelCard.model_validate(old_card()).model_copy(update={"comparability": compared, "out_of_time": later})
    assert card.headlines == ("Rows differ.", "Later rows are as good.")


def test_prediction_columns_follow_the_kind_of_outcome() -> None:
    assert prediction_columns("binary") == PREDICTION_COLUMNS
    assert prediction_columns("multiclass", ("a", "b"))[-2:] == ("p: a", "p: b")
    assert prediction_columns("regression")[-2:] == ("prediction_low", "prediction_high")
