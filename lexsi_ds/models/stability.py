"""How stable a ranking is: the model refitted on bootstrap samples of the training rows, and what that does to scores
and ranks.

The bands show what another draw of training rows would have changed; they say nothing of rows unlike the training rows.
A row that trained the model is only judged by the refits that did not draw it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lexsi_ds.models.estimators import MANY_COLUMNS, Estimator, Outcome, Recipe, side_by_side

TOP = 10
BAND = (0.1, 0.9)
MOST_ROWS = 20_000
"""A refit draws at most this many rows; with more training rows the bands are a little too wide, and that is said."""


@dataclass(frozen=True)
class Refits:
    """Bootstrap models and which training rows each drew. Shape of ``drawn`` (n, b), bool."""

    models: tuple[Estimator, ...]
    drawn: np.ndarray


@dataclass(frozen=True)
class Bands:
    """80% bands a row, its share of refits in the top 10, and the top 10's mean overlap. Arrays of shape (n,)."""

    low: np.ndarray
    high: np.ndarray
    rank: np.ndarray
    rank_low: np.ndarray
    rank_high: np.ndarray
    top_share: np.ndarray
    top_overlap: float


def refit_count(rows: int, columns: int) -> int:
    """Refits for this many training rows and encoded columns: 50; 20 past 20,000 rows or 500 columns; 12 past 200,000 rows, where
    their bands are too wide anyway and scoring with each costs more than it tells."""
    if rows > 10 * MOST_ROWS:
        return 12
    return 50 if rows <= MOST_ROWS and columns <= MANY_COLUMNS else 20


def refit(
    how: Recipe,
    x: np.ndarray,
    y: np.ndarray,
    seed: int,
    threads: int,
    done: Callable[[int], None],
    *,
    groups: np.ndarray | None = None,
) -> Refits:
    """Fit on bootstrap samples drawn within each class, so that every sample holds all; whole groups where rows belong
    together. ``x`` (n, p), ``y`` (n,), ``groups`` (n,). Additive curves are refitted in their lighter form."""
    how = how.lighter()
    count = refit_count(*x.shape)
    samples = [_draw(y, np.random.default_rng([seed, 1, b]), how.outcome, groups) for b in range(count)]
    drawn = np.zeros((len(y), count), dtype=bool)
    for b, sample in enumerate(samples):
        drawn[sample, b] = True

    def job(b: int) -> Callable[[], Estimator]:
        return lambda: how.fit(x[samples[b]], y[samples[b]], seed + b)

    return Refits(tuple(side_by_side([job(b) for b in range(count)], threads, done)), drawn)


def bands(score: np.ndarray, refits: np.ndarray, tie: np.ndarray) -> Bands:
    """Bands and ranks inside one segment. ``score`` (n,) probabilities; ``refits`` (b, n) probabilities, NaN where a
    refit drew the row; ``tie`` (n,) breaks ties (smaller first). A band always holds the score itself."""
    n, order = len(score), np.argsort(tie, kind="stable")
    rank = np.empty(n, dtype=np.int64)
    rank[_ranking(score[order])] = np.arange(1, n + 1)
    rank = _back(rank, order)
    ranks = np.stack([_back(_scaled_ranks(row[order]), order) for row in refits])
    low, high = _quantiles(refits, BAND)
    rank_low, rank_high = _quantiles(ranks, BAND)
    share = _share_at_most(ranks, min(TOP, n))
    top = share[rank <= min(TOP, n)]
    return Bands(
        low=np.fmin(low, score),
        high=np.fmax(high, score),
        rank=rank,
        rank_low=np.fmin(np.floor(rank_low), rank).astype(np.int64),
        rank_high=np.fmax(np.ceil(rank_high), rank).astype(np.int64),
        top_share=share,
        top_overlap=float(np.nanmean(top)) if np.isfinite(top).any() else float("nan"),
    )


def _draw(y: np.ndarray, rng: np.random.Generator, outcome: Outcome, groups: np.ndarray | None) -> np.ndarray:
    share = min(1.0, MOST_ROWS / len(y))
    if groups is not None:
        return _draw_groups(y, rng, outcome, groups, share)
    if outcome.kind == "regression":
        return np.sort(rng.choice(len(y), size=max(10, round(len(y) * share)), replace=True))
    parts = []
    for value in range(outcome.classes):
        rows = np.flatnonzero(y == value)
        parts.append(rng.choice(rows, size=max(5, round(len(rows) * share)), replace=True))
    return np.sort(np.concatenate(parts))


def _draw_groups(
    y: np.ndarray, rng: np.random.Generator, outcome: Outcome, groups: np.ndarray, share: float
) -> np.ndarray:
    """Rows of groups drawn with replacement; a few rows of a class that no drawn group has are added."""
    order = np.argsort(groups, kind="stable")
    starts = np.append(np.flatnonzero(np.diff(groups[order], prepend=-1)), len(order))
    count = len(starts) - 1
    drawn = rng.integers(0, count, size=max(2, round(count * share)))
    rows = np.concatenate([order[starts[g] : starts[g + 1]] for g in drawn])
    missing = [] if outcome.kind == "regression" else sorted(set(range(outcome.classes)) - set(y[rows].astype(int)))
    extra = [rng.choice(np.flatnonzero(y == value), size=5) for value in missing]
    return np.sort(np.concatenate([rows, *extra]))


def _ranking(score: np.ndarray) -> np.ndarray:
    """Positions by falling score; NaN last, ties in the order given."""
    return np.argsort(-score, kind="stable")


def _scaled_ranks(score: np.ndarray) -> np.ndarray:
    """Ranks of the rows that have a score, stretched to the whole segment; NaN for the rest."""
    n, usable = len(score), np.isfinite(score)
    m = int(usable.sum())
    ranks = np.full(n, np.nan)
    places = _ranking(score)[:m]
    ranks[places] = 1 + np.arange(m) * ((n - 1) / (m - 1) if m > 1 else 0.0)
    return ranks


def _back(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    result = np.empty_like(values)
    result[order] = values
    return result


def _quantiles(values: np.ndarray, shares: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Quantiles down each column, NaN aside (linear interpolation); one sort for all columns."""
    ordered = np.sort(values, axis=0)
    count = np.isfinite(values).sum(axis=0)
    found = []
    for share in shares:
        place = np.maximum(count - 1, 0) * share
        below = np.floor(place).astype(np.int64)
        above = np.minimum(below + 1, np.maximum(count - 1, 0))
        first = np.take_along_axis(ordered, below[None, :], axis=0)[0]
        second = np.take_along_axis(ordered, above[None, :], axis=0)[0]
        found.append(first + (second - first) * (place - below))
    return found[0], found[1]


def _share_at_most(ranks: np.ndarray, k: int) -> np.ndarray:
    usable = np.isfinite(ranks).sum(axis=0)
    inside = (np.nan_to_num(ranks, nan=np.inf) <= k).sum(axis=0)
    return np.divide(inside, usable, out=np.full(ranks.shape[1], np.nan), where=usable > 0)
