"""The candidates on the same folds, each as often as the plan says; one that is far behind after one round stops there.

Must never stop the baseline, XGBoost or what was asked for, and never stop one without saying so on the card.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexsi_ds.models.card import NotTried
from lexsi_ds.models.estimators import ModelType, baseline
from lexsi_ds.models.folds import Folds
from lexsi_ds.models.measuring import main_figure, predicted
from lexsi_ds.models.plan import Entry, Plan
from lexsi_ds.models.validation import OutOfFold, joined, out_of_fold

OVERRUN = 3
"""Times the budget after which, by the clock, no further candidate is begun."""
FAR_BEHIND = 0.03
"""Main figure that four more rounds will not make up for."""
Say = Callable[[dict[str, Any]], None]


class Steps:
    """Counts fits over all stages of one training and tells them."""

    def __init__(self, say: Say, total: int) -> None:
        self._say, self._total, self._done = say, total, 0

    def after(self, text: str) -> Callable[[int], None]:
        """A callback that takes the number of fits done in a stage; each stage begins where the one before ended."""
        start = self._done

        def done(number: int) -> None:
            self._done = start + number
            self.show(text)

        return done

    def skip(self, fits: int) -> None:
        """Fits that will not be done."""
        self._total -= fits

    def show(self, text: str) -> None:
        """Tell how far it is."""
        self._say({"done": self._done, "total": self._total, "text": text})


@dataclass(frozen=True)
class Work:
    """How the fits are done."""

    threads: int
    seed: int
    budget_s: float
    steps: Steps


def validate(
    x: np.ndarray, y: np.ndarray, folds: Folds, plan: Plan, asked: ModelType | None, work: Work
) -> tuple[dict[ModelType, OutOfFold], tuple[NotTried, ...]]:
    """Out-of-fold margins of every candidate, and those that the clock left no time for. ``x`` (n, p), ``y`` (n,)."""
    tried: dict[ModelType, OutOfFold] = {}
    dropped: list[NotTried] = []
    began, best = time.perf_counter(), -np.inf
    for entry in plan.entries:
        if len(tried) >= 2 and time.perf_counter() - began > OVERRUN * work.budget_s:
            work.steps.skip(entry.repeats * folds.count)
            late = f"Comparing had taken more than {OVERRUN} times its budget of {work.budget_s:g} s already."
            dropped.append(NotTried(model_type=entry.model_type, reason=late))
            continue
        always = entry.model_type in (baseline(entry.recipe.outcome.kind), "XGBoost", asked)
        found = _rounds(x, y, folds, entry, work, None if always else best)
        tried[entry.model_type] = found
        best = max(best, main_figure(entry.recipe.outcome, y, predicted(entry.recipe.outcome, found.margin)))
    return tried, tuple(dropped)


def _rounds(x: np.ndarray, y: np.ndarray, folds: Folds, entry: Entry, work: Work, best: float | None) -> OutOfFold:
    how = entry.recipe
    text = f"Validating {entry.model_type} on {folds.count} folds"
    if best is None or entry.repeats == 1:
        return out_of_fold(how, x, y, folds.first(entry.repeats), work.seed, work.threads, work.steps.after(text))
    first = out_of_fold(how, x, y, folds.first(1), work.seed, work.threads, work.steps.after(text))
    if main_figure(how.outcome, y, predicted(how.outcome, first.margin)) < best - FAR_BEHIND:
        work.steps.skip((entry.repeats - 1) * folds.count)
        return first
    others = Folds(folds.count, folds.of[:, 1 : entry.repeats])
    return joined(first, out_of_fold(how, x, y, others, work.seed, work.threads, work.steps.after(text)))
