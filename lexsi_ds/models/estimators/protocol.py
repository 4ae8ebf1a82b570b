"""The one face of a fitted model, and what every fit shares: margins as probabilities, and independent fits side by side.

Must never know a library.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from lexsi_ds.models.task import ModelType, TaskKind

SIMPLICITY: tuple[ModelType, ...] = ("Logistic", "Linear", "EBM", "XGBoost", "LightGBM", "TabICL", "TabPFN")
"""From the simplest to read to the hardest: one weight a feature, one curve a feature, trees, a network. Where two are
as good, the earlier one predicts."""
MANY_COLUMNS = 500
"""Encoded columns past which everything is fitted less often: a fit takes seconds there."""
T = TypeVar("T")


@dataclass(frozen=True)
class Outcome:
    """What is predicted: its kind, and how many classes there are (2 when binary, 0 for an amount)."""

    kind: TaskKind = "binary"
    classes: int = 2


class Estimator(Protocol):
    """A fitted model. ``x`` is an encoded matrix, shape (n, p), NaN where missing."""

    def margin(self, x: np.ndarray) -> np.ndarray:
        """Log-odds of the positive outcome or the amount, shape (n,); one margin a class, shape (n, K)."""
        ...

    def contributions(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Base value, shaped as the margin, and SHAP values on the margin, (n, p) or (n, p, K); they add up to it."""
        ...

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        ...


def probability(margin: np.ndarray) -> np.ndarray:
    """Log-odds to probability, without overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * margin))


def softmax(margin: np.ndarray) -> np.ndarray:
    """Margins (n, K) to probabilities that add up to 1 a row."""
    shifted = np.exp(margin - margin.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def side_by_side(jobs: Sequence[Callable[[], T]], threads: int, done: Callable[[int], None]) -> list[T]:
    """Run independent jobs on this many threads; results in the order of the jobs, so that nothing depends on
    timing."""
    results = []
    with threadpool_limits(1), ThreadPoolExecutor(max_workers=max(1, threads)) as pool:
        for number, result in enumerate(pool.map(lambda job: job(), jobs), start=1):
            results.append(result)
            done(number)
    return results
