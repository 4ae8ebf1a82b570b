"""What is said beside the figures agrees with the interval that stands there."""

from __future__ import annotations

import pytest

from lexsi_ds.models.card import Candidate, Comparison, Curve, Interval, Metrics
from lexsi_ds.models.caveats import figure_warnings
from lexsi_ds.models.selection import Choice


def candidate(model_type: str, chosen: bool) -> Candidate:
    good = Interval(value=0.85, low=0.84, high=0.86)
    metrics = Metrics(roc_auc=good, gini=good, ks=good, average_precision=good, brier=good, log_loss=good)
    return Candidate(
        model_type=model_type, metrics=metrics, roc=Curve(x=(), y=()), calibration=(), parameters={}, chosen=chosen
    )


def said(difference: Interval) -> str:
    beside = Comparison(chosen="XGBoost", other="Logistic", difference=difference, beyond_noise=False)
    choice = Choice("XGBoost", "", (candidate("XGBoost", True), candidate("Logistic", False)), difference, (beside,))
    return " ".join(figure_warnings(choice))


@pytest.mark.parametrize(
    ("low", "value", "high", "words"),
    [
        (-0.01, 0.02, 0.05, "it is not shown to be better than the logistic baseline"),
        (0.001, 0.004, 0.007, "better than the logistic baseline by so little (+0.004)"),
        (0.01, 0.03, 0.05, ""),
    ],
)
def test_a_model_that_was_asked_for_is_compared_as_its_interval_says(
    low: float, value: float, high: float, words: str
) -> None:
    sentence = said(Interval(value=value, low=low, high=high))
    assert words in sentence and ("was asked for" in sentence) == bool(words)
