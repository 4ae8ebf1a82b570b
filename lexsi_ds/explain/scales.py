"""The scales contributions are shown on: the margin as the model adds it up, and probability points.

Probability points are the margin's SHAP values rescaled so that they add up exactly; they are not Shapley values of the
probability itself, and every view says so. Must never change a sum: base + contributions = prediction on each scale.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lexsi_ds.errors import BadInput
from lexsi_ds.models.estimators import probability

PROBABILITY, LOG_ODDS, VALUE = "probability", "log-odds", "value"
RESCALED = "SHAP values of the log-odds, rescaled to probability points so that they add up"
_NO_DISTANCE = 1e-9
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)
Link = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Scaled:
    """Values on a scale: base value (n,) + sum of contributions (n, features) = prediction (n,)."""

    base: np.ndarray
    contributions: np.ndarray
    prediction: np.ndarray


def check_scale(scale: str, kind: str) -> str:
    """The scale to use for a model of this kind; an amount has one only. Raises BadInput for an unknown one."""
    if scale not in (PROBABILITY, LOG_ODDS, VALUE):
        raise BadInput(f'There is no scale "{scale}".', to_do='Use "probability" or "log-odds".')
    if kind == "regression":
        return VALUE
    return PROBABILITY if scale == VALUE else scale


def to_scale(base: np.ndarray, values: np.ndarray, scale: str, link: Link = probability) -> Scaled:
    """SHAP values of one margin on ``log-odds`` or ``value`` as they are, or on ``probability``: each row times
    (p - p0) / (z - z0).

    The rescaling keeps order and signs. Where the margin meets its base, the slope of the link there takes the
    quotient's place. ``link`` turns margins into probabilities (the logistic function, or a calibrated one).
    """
    margin = base + values.sum(axis=1)
    if scale in (LOG_ODDS, VALUE):
        return Scaled(base, values, margin)
    if scale != PROBABILITY:
        raise BadInput(f'There is no scale "{scale}".', to_do='Use "probability" or "log-odds".')
    low, high, distance = link(base), link(margin), margin - base
    near = np.abs(distance) < _NO_DISTANCE
    tangent = (link(base + 1e-4) - link(base - 1e-4)) / 2e-4
    slope = np.where(near, tangent, (high - low) / np.where(near, 1.0, distance))
    return Scaled(low, values * slope[:, None], high)


def classes_to_scale(
    base: np.ndarray, values: np.ndarray, output: np.ndarray, scale: str, link: Link | None = None
) -> Scaled:
    """The same for one of several classes a row. ``base`` (n, k), ``values`` (n, f, k), ``output`` (n,) a class each.

    A class's probability moves with the margins of all classes, so each margin's SHAP values are weighted with the mean
    slope of that probability along the straight way from the base margins to the row's (integrated gradients, Sundararajan
    et al. 2017). It adds up exactly; for two classes it is the rescaling of ``to_scale``.
    """
    rows = np.arange(len(base))
    whole = base + values.sum(axis=1)
    if scale == LOG_ODDS:
        return Scaled(base[rows, output], values[rows, :, output], whole[rows, output])
    slopes = np.zeros_like(base)
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        shares = softmax(base + (node + 1) / 2 * (whole - base))
        mine = shares[rows, output]
        slope = -mine[:, None] * shares
        slope[rows, output] += mine
        slopes += weight / 2 * slope
    parts = np.einsum("nfk,nk->nf", values, slopes)
    shares = link or softmax
    low, high = shares(base)[rows, output], shares(whole)[rows, output]
    return Scaled(low, _settle(parts, high - low), high)


def softmax(margins: np.ndarray) -> np.ndarray:
    """Class margins (n, k) to probabilities."""
    raised = np.exp(margins - margins.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def _settle(parts: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Close the gap that numerical integration leaves (far below 1e-6; more where class probabilities are
    calibrated), in proportion to the parts' sizes."""
    gap = total - parts.sum(axis=1)
    sizes = np.abs(parts)
    whole = sizes.sum(axis=1)
    share = np.where(whole[:, None] > 0, sizes / np.maximum(whole, 1e-300)[:, None], 0.0)
    return parts + gap[:, None] * share
