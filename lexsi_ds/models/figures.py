"""Figures with their intervals: what a candidate scored out of fold.

Values only. Intervals are 95% percentile intervals of a bootstrap over rows (Efron 1979), fixed seed; from 50,000 rows on
the same intervals in closed form. Must never hold a figure without its interval.
"""

from __future__ import annotations

from lexsi_ds.data.handle import Value


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


class MulticlassMetrics(Value):
    """Out-of-fold figures of a classifier of several words. ``roc_auc``: mean over the classes of one against the rest;
    ``macro_f1``: mean F1 of the classes; ``brier``: sum over the classes."""

    roc_auc: Interval
    accuracy: Interval
    balanced_accuracy: Interval
    macro_f1: Interval
    log_loss: Interval
    brier: Interval


class RegressionMetrics(Value):
    """Out-of-fold figures of a model of an amount. ``rmse``, ``mae`` and ``median_error`` (median absolute) are in units
    of the target."""

    r2: Interval
    rmse: Interval
    mae: Interval
    median_error: Interval


AnyMetrics = Metrics | MulticlassMetrics | RegressionMetrics


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
