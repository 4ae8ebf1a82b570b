"""Known rows beside the rows to score: whether what was learnt on the one can be used on the other, in headline sentences.

A model that tells the two apart (adversarial validation) says how different they are, single columns say in what, and
periods say whose outcomes are still open. Must never look at outcomes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lexsi_ds.models.assessment import Comparability, ShiftDriver, UnfinishedCohort
from lexsi_ds.models.encode import Encoding
from lexsi_ds.models.estimators import Outcome, probability, recipe
from lexsi_ds.models.figures import Interval
from lexsi_ds.models.folds import make_folds
from lexsi_ds.models.measuring import measured
from lexsi_ds.models.strength import filled_strength, strength
from lexsi_ds.models.task import FeatureDef, TaskSpec
from lexsi_ds.models.validation import out_of_fold

MOST_ROWS, MIN_ROWS = 5_000, 20
ALIKE, APART = 0.6, 0.8
"""ROC AUC of telling the two apart: up to the one they are alike, from the other on they have little in common."""
_DRIVERS, _DRIVER_AUC = 5, 0.6
_OPEN = 0.5
_GRANTED = {"loan", "credit", "mortgage", "policy", "lease", "card"}


@dataclass(frozen=True)
class Side:
    """The rows of one side: features as they are read, and their moments (n,) where dated."""

    columns: Mapping[str, np.ndarray]
    moments: np.ndarray | None

    @property
    def rows(self) -> int:
        """How many."""
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def drawn(self, seed: int) -> Mapping[str, np.ndarray]:
        """At most ``MOST_ROWS`` of them, drawn with a fixed seed."""
        if self.rows <= MOST_ROWS:
            return self.columns
        here = np.sort(np.random.default_rng([seed, self.rows]).choice(self.rows, MOST_ROWS, replace=False))
        return {name: values[here] for name, values in self.columns.items()}


def compare(
    known: Side, scored: Side, features: tuple[FeatureDef, ...], encoding: Encoding, task: TaskSpec, seed: int
) -> Comparability | None:
    """Compare the two sides; None when one of them has too few rows to say anything."""
    if min(known.rows, scored.rows) < MIN_ROWS:
        return None
    one, other = known.drawn(seed), scored.drawn(seed)
    columns = {f.name: np.concatenate([one[f.name], other[f.name]]) for f in features}
    size = len(next(iter(one.values())))
    side = np.r_[np.zeros(size), np.ones(len(next(iter(columns.values()))) - size)]
    auc = _apart(encoding.matrix(columns), side, seed)
    drivers = _drivers(features, columns, side) if auc.low > 0.5 else ()
    open_periods = unfinished(known.moments, scored.moments)
    sentences = _sentences(auc, drivers, open_periods, task, known.rows, scored.rows)
    return Comparability(
        known=known.rows, scored=scored.rows, auc=auc, drivers=drivers, unfinished=open_periods, sentences=sentences
    )


def granted_only(task: TaskSpec) -> str | None:
    """What no figure can show where rows are what somebody granted: those that were refused are not there."""
    if task.entity_label.casefold() not in _GRANTED:
        return None
    noun = task.entity_label
    return f"Only granted {_plural(noun)} are in the data: nothing is known of applications that were refused."


def unfinished(known: np.ndarray | None, scored: np.ndarray | None) -> tuple[UnfinishedCohort, ...]:
    """Years in which more than half of the rows have no outcome yet, the latest first."""
    if known is None or scored is None:
        return ()
    done = pd.Series(known).dropna().dt.year.value_counts()
    still = pd.Series(scored).dropna().dt.year.value_counts()
    years = sorted(set(still.index) | set(done.index), reverse=True)
    counts = [(year, int(done.get(year, 0)), int(still.get(year, 0))) for year in years]
    return tuple(UnfinishedCohort(period=str(year), known=a, unknown=b) for year, a, b in counts if b > _OPEN * (a + b))


def _apart(x: np.ndarray, side: np.ndarray, seed: int) -> Interval:
    folds = make_folds(side, 10**6, seed)
    how = recipe("XGBoost", len(side), ())
    found = out_of_fold(how, x, side, folds, seed, 1, lambda number: None)
    metrics = measured(Outcome(), side, probability(found.margin), seed).metrics
    return metrics.roc_auc  # type: ignore[union-attr]


def _drivers(
    features: tuple[FeatureDef, ...], columns: Mapping[str, np.ndarray], side: np.ndarray
) -> tuple[ShiftDriver, ...]:
    found = []
    for feature in features:
        values = columns[feature.name]
        words = feature.kind == "categorical"
        missing = np.array([v is None for v in values]) if words else np.isnan(values)
        alone = max(strength(values, missing, side, Outcome(), words), filled_strength(missing, side, Outcome()))
        if alone >= _DRIVER_AUC:
            known, scored = _typical(values[side == 0], words), _typical(values[side == 1], words)
            found.append(ShiftDriver(feature=feature.name, label=feature.label, auc=alone, known=known, scored=scored))
    return tuple(sorted(found, key=lambda driver: (-driver.auc, driver.feature))[:_DRIVERS])


def _typical(values: np.ndarray, words: bool) -> str:
    present = np.array([v for v in values if v is not None and v == v], dtype=object if words else float)
    if not len(present):
        return "empty"
    lost = 1 - len(present) / len(values)
    missing = f", {lost:.0%} missing" if lost >= 0.05 else ""
    if words:
        names, counts = np.unique(present.astype(str), return_counts=True)
        most = int(np.argmax(counts))
        return f"{counts[most] / len(present):.0%} {names[most]}{missing}"
    middle = float(np.median(present))
    return f"median {middle:,.4g}{missing}" if abs(middle) < 1e4 else f"median {middle:,.0f}{missing}"


def _sentences(
    auc: Interval,
    drivers: tuple[ShiftDriver, ...],
    open_periods: tuple[UnfinishedCohort, ...],
    task: TaskSpec,
    known: int,
    scored: int,
) -> tuple[str, ...]:
    figure = f"a model tells them apart with a ROC AUC of {auc.value:.2f} ({auc.low:.2f} to {auc.high:.2f})"
    rows = f"the {scored:,} rows to score and the {known:,} that trained"
    if auc.low <= ALIKE:
        said = [f"{rows[0].upper() + rows[1:]} are alike: {figure}."]
    else:
        much = "have little in common" if auc.value >= APART else "differ"
        said = [f"{rows[0].upper() + rows[1:]} {much}: {figure}, so the figures may not hold for them."]
    if auc.low > ALIKE and drivers:
        parts = "; ".join(f"{d.label} ({d.known} among known, {d.scored} among scored)" for d in drivers[:3])
        said.append(f"What differs most: {parts}.")
    if open_periods:
        parts = "; ".join(f"{c.unknown:,} of {c.known + c.unknown:,} of {c.period}" for c in open_periods[:3])
        said.append(f"Unfinished: {parts} have no outcome yet, and the known ones of those years ended early.")
    only = granted_only(task)
    return (*said, *((only,) if only else ()))


def _plural(noun: str) -> str:
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
