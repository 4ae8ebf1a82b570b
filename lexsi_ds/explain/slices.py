"""Where the model errs more than elsewhere: a beam search over conditions, found on one half of the rows, tested on the
other, with p-values corrected for the number tested (Benjamini & Hochberg 1995).

Looks at features and at protected columns that were kept; other columns shown may hold the outcome itself. Must never
report a slice on the rows that it was found on, nor one that was not tested.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control, ttest_ind

from lexsi_ds.explain.fairness import protected_columns
from lexsi_ds.explain.results import Condition
from lexsi_ds.explain.results_decision import ErrorSlices, Slice
from lexsi_ds.explain.rows import holds
from lexsi_ds.explain.shap_values import link_of
from lexsi_ds.explain.targets import outcomes
from lexsi_ds.models.bundle import SavedModel
from lexsi_ds.models.figures import Interval
from lexsi_ds.models.frames import as_numbers, as_words, column, is_textual

RATE = 0.05
_TESTED, _BEAM, _SHOWN = 30, 12, 10
_LEAST_SHARE, _LEAST_ROWS = 0.02, 20
_MOST_WORDS = 12
_MOST_ROWS = 50_000
_SAME = 0.9
_Z = 1.959963984540054
Say = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class _Part:
    conditions: tuple[Condition, ...]
    label: str
    rows: np.ndarray


def error_slices(model: SavedModel, say: Say, seed: int = 7) -> ErrorSlices:
    """Slices of the training rows by their out-of-fold error; protected columns that were kept are looked at too."""
    training = model.training
    if len(training) > _MOST_ROWS:
        drawn = np.random.default_rng(seed).choice(len(training), _MOST_ROWS, replace=False)
        training = training.iloc[np.sort(drawn)].reset_index(drop=True)
    name, errors, expected = row_errors(model, training)
    found_on = np.zeros(len(errors), dtype=bool)
    found_on[np.random.default_rng(seed).permutation(len(errors))[: len(errors) // 2]] = True
    parts = _singles(model, training)
    say({"text": f"Looking at {len(parts):,} conditions"})
    best = _ranked(parts, errors, found_on)[:_BEAM]
    pairs = [
        _Part((*a.conditions, *b.conditions), f"{a.label} and {b.label}", a.rows & b.rows)
        for a, b in combinations(best, 2) if a.conditions[0].column != b.conditions[0].column
    ]  # fmt: skip
    chosen = _distinct(_ranked([*parts, *pairs], errors, found_on))[:_TESTED]
    slices = _tested(chosen, errors, expected, ~found_on)
    holding = [s for s in slices if s.holds]
    return ErrorSlices(
        error=name, overall=float(errors.mean()), rows=len(errors), tested=len(slices), slices=tuple(slices[:_SHOWN]),
        sentence=_sentence(holding, slices, name),
    )  # fmt: skip


def row_errors(model: SavedModel, training: pd.DataFrame) -> tuple[str, np.ndarray, np.ndarray | None]:
    """The out-of-fold error of training rows: log loss, or absolute error of an amount; and the log loss that its
    own probabilities lead to expect. Shape (n,)."""
    margin, y = model.margin(model.prepare(training)), outcomes(model, training)
    if model.card.task.kind == "regression":
        return "absolute error", np.abs(y - margin), None
    shares = link_of(model)(margin)
    if shares.ndim == 1:
        shares = np.stack([1 - shares, shares], axis=1)
    shares = np.clip(shares, 1e-15, 1.0)
    right = shares[np.arange(len(y)), y.astype(np.int64)]
    return "log loss", -np.log(right), -(shares * np.log(shares)).sum(axis=1)


def _singles(model: SavedModel, training: pd.DataFrame) -> list[_Part]:
    labels = {f.name: f.label for f in model.features}
    names = [*labels, *protected_columns(model)]
    least = max(_LEAST_ROWS * 2, int(_LEAST_SHARE * len(training)))
    parts = []
    for name in names:
        for condition, text in _conditions(name, labels.get(name, name), column(training, name)):
            rows = holds(training, condition)
            if least <= rows.sum() <= len(rows) - least:
                parts.append(_Part((condition,), text, rows))
    return parts


def _conditions(name: str, label: str, values: pd.Series) -> list[tuple[Condition, str]]:
    numbers, unreadable = as_numbers(values)
    found = []
    if np.isnan(numbers).any() or is_textual(values):
        found.append((Condition(column=name, operator="missing"), f"{label} is missing"))
    if (is_textual(values) and unreadable) or values.dtype == bool:
        for word in pd.Series(as_words(values), dtype=object).value_counts().index[:_MOST_WORDS]:
            found.append((Condition(column=name, operator="=", value=str(word)), f'{label} is "{word}"'))
        return found
    known = numbers[np.isfinite(numbers)]
    if not len(known):
        return found
    if len(np.unique(known)) <= 6:
        values_of = [float(v) for v in np.unique(known)]
        return [*found, *((Condition(column=name, operator="=", value=v), f"{label} is {v:g}") for v in values_of)]
    for share in (0.25, 0.5, 0.75):
        cut = float(np.quantile(known, share, method="nearest"))
        if share <= 0.5:
            found.append((Condition(column=name, operator="<=", value=cut), f"{label} is at most {cut:,g}"))
        if share >= 0.5:
            found.append((Condition(column=name, operator=">", value=cut), f"{label} is above {cut:,g}"))
    return found


def _ranked(parts: list[_Part], errors: np.ndarray, half: np.ndarray) -> list[_Part]:
    """Parts with larger errors than the rest on this half, the clearest first."""
    scored = []
    for part in parts:
        inside, rest = errors[half & part.rows], errors[half & ~part.rows]
        if min(len(inside), len(rest)) < _LEAST_ROWS:
            continue
        spread = np.sqrt(inside.var(ddof=1) / len(inside) + rest.var(ddof=1) / len(rest))
        t = (inside.mean() - rest.mean()) / max(spread, 1e-12)
        if t > 0:
            scored.append((t, part))
    return [part for _, part in sorted(scored, key=lambda item: -item[0])]


def _distinct(parts: list[_Part]) -> list[_Part]:
    """Without those that hold nearly the same rows as one before; the shorter of two is kept."""
    kept: list[_Part] = []
    for part in parts[: 4 * _TESTED]:
        if all((part.rows & k.rows).sum() < _SAME * (part.rows | k.rows).sum() for k in kept):
            kept.append(part)
    return kept


def _tested(parts: list[_Part], errors: np.ndarray, expected: np.ndarray | None, half: np.ndarray) -> list[Slice]:
    usable = [p for p in parts if (half & p.rows).sum() >= _LEAST_ROWS and (half & ~p.rows).sum() >= _LEAST_ROWS]
    if not usable:
        return []
    raw = [_p_value(errors[half & p.rows], errors[half & ~p.rows]) for p in usable]
    adjusted = false_discovery_control(raw, method="bh")
    made = []
    for part, p_value, fixed in zip(usable, raw, adjusted, strict=True):
        inside, rest = errors[half & part.rows], errors[half & ~part.rows]
        reach = _Z * float(inside.std(ddof=1)) / np.sqrt(len(inside))
        mean = float(inside.mean())
        made.append(Slice(
            conditions=part.conditions, label=part.label, rows=len(inside),
            error=Interval(value=mean, low=mean - reach, high=mean + reach), rest_error=float(rest.mean()),
            expected=None if expected is None else float(expected[half & part.rows].mean()),
            p_value=float(p_value), p_adjusted=float(fixed), holds=bool(fixed <= RATE and mean > rest.mean()),
        ))  # fmt: skip
    return sorted(made, key=lambda s: (not s.holds, s.p_adjusted, -(s.error.value - s.rest_error)))


def _p_value(inside: np.ndarray, rest: np.ndarray) -> float:
    """Welch's test that the error inside is larger."""
    if inside.std() == 0 and rest.std() == 0:
        return 1.0
    found: Any = ttest_ind(inside, rest, equal_var=False, alternative="greater")
    return float(found.pvalue)


def _sentence(holding: list[Slice], tested: list[Slice], name: str) -> str:
    if not tested:
        return "There are too few rows to look for parts where the model errs more."
    if not holding:
        return f"No part of the rows was shown to have a larger {name} than the rest ({len(tested)} were tested)."
    wrong = [s for s in holding if s.expected is None or s.error.low > s.expected]
    first = (wrong or holding)[0]
    figures = (
        f"{name} {first.error.value:.3g} against {first.rest_error:.3g} elsewhere ({first.rows:,} held-out rows, corrected p "
        f"{first.p_adjusted:.2g}; {len(holding)} of {len(tested)} tested parts hold)"
    )
    if first.expected is None:
        return f"The model errs more where {first.label}: {figures}."
    if wrong:
        return f"The model errs more where {first.label}: {figures}, more than its own probabilities expect ({first.expected:.3g})."
    return (
        f"Rows are harder to tell where {first.label}: {figures}. Its own probabilities expect {first.expected:.3g} there, so they "
        "are hard rather than wrong."
    )
