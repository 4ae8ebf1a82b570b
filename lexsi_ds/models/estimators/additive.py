"""Explainable boosting machine (Nori et al. 2019, interpret): one curve a column and a few surfaces of two.

Fitted by interpret, then kept as plain arrays (cuts, scores, intercept) and evaluated here: the same figures as the
library's, without its objects. Every column is taken as a number, since words are encoded before.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lexsi_ds.models.estimators.protocol import Outcome


@dataclass(frozen=True)
class Term:
    """One curve or surface: its columns, their cuts, and a score a bin (the first bin of a column is "missing")."""

    columns: tuple[int, ...]
    cuts: tuple[np.ndarray, ...]
    scores: np.ndarray

    def values(self, x: np.ndarray) -> np.ndarray:
        """The term's part of each row's margin. Shape (n,) or (n, K)."""
        places = tuple(_bins(x[:, column], cuts) for column, cuts in zip(self.columns, self.cuts, strict=True))
        return self.scores[places]


@dataclass(frozen=True)
class Additive:
    """The sum of an intercept and its terms; exact to read, and its own explanation."""

    terms: tuple[Term, ...]
    intercept: np.ndarray
    """Shape (1,), or (K,) of several classes."""

    def margin(self, x: np.ndarray) -> np.ndarray:
        """Log-odds, one margin a class, or the amount."""
        several = len(self.intercept) > 1
        total = np.tile(self.intercept, (len(x), 1)) if several else np.full(len(x), self.intercept[0])
        for term in self.terms:
            total += term.values(x)
        return total

    def contributions(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Each term's part, which is exact; a surface is shared in halves by its two columns (as SHAP does). Terms are
        centred on the training rows, so the base is the intercept."""
        several = len(self.intercept) > 1
        shape = (len(x), x.shape[1], len(self.intercept)) if several else (len(x), x.shape[1])
        parts = np.zeros(shape)
        for term in self.terms:
            values = term.values(x) / len(term.columns)
            for column in term.columns:
                parts[:, column] += values
        base = np.tile(self.intercept, (len(x), 1)) if several else np.full(len(x), self.intercept[0])
        return base, parts

    def save(self, path: Path) -> None:
        """Write intercept, cuts and scores as JSON; floats keep all their digits."""
        terms = [
            {"columns": list(t.columns), "cuts": [c.tolist() for c in t.cuts], "scores": t.scores.tolist()}
            for t in self.terms
        ]
        document = {"kind": "ebm", "intercept": self.intercept.tolist(), "terms": terms}
        path.write_text(json.dumps(document), encoding="utf-8")


def parameters(outcome: Outcome, rows: int) -> dict[str, Any]:
    """One bag and curves alone for few rows; two bags and five surfaces from 2,000 rows on (none of several classes,
    where the library has none)."""
    few = rows < 2_000
    return {
        "outer_bags": 1 if few else 2,
        "interactions": 0 if few or outcome.kind == "multiclass" else 5,
        "max_bins": 32 if few else 256,
        "learning_rate": 0.1 if few else 0.04,
        "max_rounds": 300 if few else 4_000,
        "min_samples_leaf": 8 if few else 4,
    }


def fit(x: np.ndarray, y: np.ndarray, settings: Mapping[str, Any], outcome: Outcome, seed: int) -> Additive:
    """Fit with interpret on one thread and keep its arrays."""
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    kind: Any = ExplainableBoostingRegressor if outcome.kind == "regression" else ExplainableBoostingClassifier
    machine = kind(feature_types=["continuous"] * x.shape[1], n_jobs=1, random_state=seed, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine.fit(x, y if outcome.kind == "regression" else y.astype(int))
    terms = []
    for columns, scores in zip(machine.term_features_, machine.term_scores_, strict=True):
        cuts = tuple(_cuts(machine.bins_[column], len(columns)) for column in columns)
        terms.append(Term(tuple(int(c) for c in columns), cuts, np.asarray(scores, dtype=float)))
    intercept = np.atleast_1d(np.asarray(machine.intercept_, dtype=float))
    return Additive(tuple(terms), intercept)


def load(path: Path) -> Additive:
    """Read back what ``save`` wrote."""
    document = json.loads(path.read_text(encoding="utf-8"))
    terms = tuple(
        Term(
            tuple(t["columns"]),
            tuple(np.array(c, dtype=float) for c in t["cuts"]),
            np.array(t["scores"], dtype=float),
        )
        for t in document["terms"]
    )
    return Additive(terms, np.array(document["intercept"], dtype=float))


def _cuts(levels: Any, size: int) -> np.ndarray:
    """The library keeps cuts by term size, the last serving all larger terms."""
    return np.asarray(levels[min(size, len(levels)) - 1], dtype=float)


def _bins(values: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    places = np.searchsorted(cuts, values, side="right") + 1
    return np.where(np.isnan(values), 0, places)
