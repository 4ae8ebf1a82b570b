"""Which rows are held out together: at random within each outcome, whole groups, or one stretch of time after the other.

Folds depend on the rows in canonical order, their outcomes, groups and the seed alone. Must never part the rows of one
group or of one moment.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, StratifiedKFold

from lexsi_ds.errors import BadInput, ModelRefused
from lexsi_ds.models.estimators import MANY_COLUMNS, Outcome
from lexsi_ds.models.task import Split

_FEW_GROUPS = 5_000
_QUANTILES = 10
BINARY = Outcome()


@dataclass(frozen=True)
class Folds:
    """Which fold holds each row out, a column a repeat. Shape of ``of`` (n, repeats), int8."""

    count: int
    of: np.ndarray

    @property
    def repeats(self) -> int:
        """How often all rows are held out once."""
        return self.of.shape[1]

    def model(self, repeat: int, fold: int) -> int:
        """Position of the model that did not see this fold."""
        return repeat * self.count + fold

    def first(self, repeats: int) -> Folds:
        """The first so many repeats of these."""
        return Folds(self.count, self.of[:, :repeats])


def make_folds(
    y: np.ndarray,
    columns: int,
    seed: int,
    split: Split | None = None,
    moments: np.ndarray | None = None,
    *,
    outcome: Outcome = BINARY,
    groups: np.ndarray | None = None,
) -> Folds:
    """Five stratified folds; five times under 2,000 rows and 501 encoded columns, once for more; three folds from
    100,000 rows on. ``split`` may ask for another number, or for stretches of time: then ``moments`` (n,) orders the rows
    and each fold is one stretch, so that no model saw the time it is measured on. ``groups`` (n,) keeps rows together."""
    asked = split or Split()
    repeats = 5 if len(y) < 2_000 and columns <= MANY_COLUMNS else 1
    count = asked.folds or (5 if len(y) < 100_000 else 3)
    smallest = len(y) if outcome.kind == "regression" else int(np.bincount(y.astype(int)).min())
    if not 2 <= count <= min(20, smallest):
        raise BadInput(
            f"{count} folds cannot be made: the rarer outcome has {smallest:,} rows.", where="task",
            to_do="Choose a number between 2 and the rows of the rarer outcome, 20 at most.",
        )  # fmt: skip
    if asked.by == "time":
        return Folds(count, _stretches(y, moments, count, outcome))
    strata = _strata(y, outcome)
    of = np.zeros((len(y), repeats), dtype=np.int8)
    for repeat in range(repeats):
        for fold, held_out in enumerate(_held_out(strata, groups, count, seed + repeat)):
            of[held_out, repeat] = fold
    if groups is not None:
        _need_both(y, of, count, outcome)
    return Folds(count, of)


def _strata(y: np.ndarray, outcome: Outcome) -> np.ndarray:
    """Outcomes; tenths of an amount, so that every fold has its range."""
    if outcome.kind != "regression":
        return y.astype(int)
    edges = np.unique(np.quantile(y, np.linspace(0, 1, _QUANTILES + 1)[1:-1]))
    strata = np.searchsorted(edges, y, side="right")
    return strata if np.bincount(strata)[np.unique(strata)].min() >= 20 else np.zeros(len(y), dtype=int)


def _held_out(strata: np.ndarray, groups: np.ndarray | None, count: int, seed: int) -> list[np.ndarray]:
    empty = np.zeros(len(strata))
    if groups is None:
        found = StratifiedKFold(n_splits=count, shuffle=True, random_state=seed).split(empty, strata)
        return [test for _, test in found]
    distinct = len(np.unique(groups))
    if distinct < count:
        raise ModelRefused(
            f"The rows fall into {distinct} groups; {count} folds need at least {count}.",
            to_do="Widen the rows, or take another column as the group.",
        )
    if distinct <= _FEW_GROUPS:
        splitter = StratifiedGroupKFold(n_splits=count, shuffle=True, random_state=seed)
        return [test for _, test in splitter.split(empty, strata, groups)]
    return [test for _, test in GroupKFold(n_splits=count, shuffle=True, random_state=seed).split(empty, None, groups)]


def _need_both(y: np.ndarray, of: np.ndarray, count: int, outcome: Outcome) -> None:
    if outcome.kind == "regression":
        return
    whole = len(np.unique(y))
    for repeat in range(of.shape[1]):
        for fold in range(count):
            held_out = of[:, repeat] == fold
            if not held_out.any() or len(np.unique(y[~held_out])) < whole:
                raise ModelRefused(
                    "The groups cannot be split so that every part holds each outcome.",
                    to_do="Widen the rows, or take another column as the group.",
                )


def _stretches(y: np.ndarray, moments: np.ndarray | None, count: int, outcome: Outcome) -> np.ndarray:
    """One repeat of folds that follow each other in time; a moment is never cut in two."""
    if moments is None or pd.isna(moments).any():
        raise BadInput("Some rows have no date, so they cannot be split by time.", where="task",
                       to_do="Hold rows out at random.")  # fmt: skip
    order = np.argsort(moments, kind="stable")
    of = np.zeros(len(y), dtype=np.int8)
    of[order] = np.arange(len(y)) * count // len(y)
    moment = np.unique(moments, return_inverse=True)[1]
    first = np.full(int(moment.max()) + 1, count, dtype=np.int8)
    np.minimum.at(first, moment, of)
    of = first[moment]
    for fold in range(count):
        rest = y[of != fold]
        learnable = len(rest) > 0 and (outcome.kind == "regression" or len(np.unique(rest)) == len(np.unique(y)))
        if not (of == fold).any() or not learnable:
            raise BadInput(f"The dates do not make {count} stretches that can be learned from.", where="task",
                           to_do="Choose fewer folds, or hold rows out at random.")  # fmt: skip
    return of[:, None]
