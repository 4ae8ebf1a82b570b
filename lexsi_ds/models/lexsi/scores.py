"""The platform's table of scores, read and checked: one row for each that was sent, under its key, probabilities as such.

The SDK does not say how the columns are called nor of which class a probability is; both are found here, and what cannot be
told is refused. Must never guess a probability, or lose, double or swap a row.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lexsi_ds.errors import PlatformFailed
from lexsi_ds.models.frames import as_numbers, column
from lexsi_ds.models.lexsi.wire import KEY
from lexsi_ds.models.task import TaskKind

_VALUE = (
    "predicted_value_automl",
    "predicted_value",
    "prediction",
    "predicted_label",
    "predicted_class",
    "pred_value",
    "pred",
)
_CHANCE = ("pred_proba_automl", "pred_proba", "predicted_probability", "probability", "proba", "prob")
_VALUE_LIKE = re.compile(r"^pred(icted|iction)?[_ ]?(value|label|class|category)", re.I)
_CHANCE_LIKE = re.compile(r"prob", re.I)
_POSITIVE = re.compile(r"(_1|_true|_yes)$", re.I)
_TRUTH = {"1": 1.0, "0": 0.0, "1.0": 1.0, "0.0": 0.0, "true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}


@dataclass(frozen=True)
class Scores:
    """Scores in the order of the keys that were sent, shape (n,): probability of the outcome, or the amount."""

    values: np.ndarray
    notes: tuple[str, ...] = ()


def read_scores(found: pd.DataFrame, keys: list[str], kind: TaskKind, sent: frozenset[str] = frozenset()) -> Scores:
    """Check a table of scores against the keys that were sent. ``sent`` names uploaded columns: those are no scores."""
    if KEY not in found.columns:
        raise _wrong(f"The scores have no column {KEY}, so nothing tells whose they are ({_shown(found)})")
    if len(found) != len(keys):
        raise _wrong(f"{len(keys):,} rows were sent and {len(found):,} came back")
    back = found[KEY].astype(str)
    if back.duplicated().any() or set(back) != set(keys):
        strange = len(set(back) - set(keys))
        raise _wrong(f"The rows that came back are not those that were sent: {strange:,} have keys of their own")
    uploaded = [c for c in found.columns if c in sent and c != KEY]
    ordered = found.assign(**{KEY: back}).set_index(KEY).loc[keys].drop(columns=uploaded)
    value = _column(ordered, _VALUE, _VALUE_LIKE)
    if kind == "regression":
        if value is None:
            raise _wrong(f"The scores have no predicted value ({_shown(found)})")
        return Scores(_numbers(column(ordered, value), value))
    return _probabilities(ordered, value)


def _probabilities(table: pd.DataFrame, value: str | None) -> Scores:
    rest = table.drop(columns=[value] if value else [])
    chance = next((c for c in map(str, rest.columns) if _CHANCE_LIKE.search(c) and _POSITIVE.search(c)), None)
    of_positive = chance is not None
    chance = chance or _column(rest, _CHANCE, _CHANCE_LIKE)
    if chance is None:
        raise _wrong(f"The platform gave no probabilities, so rows cannot be ranked ({_shown(table)})")
    p = _numbers(column(table, chance), chance)
    if float(p.min()) < 0 or float(p.max()) > 1:
        raise _wrong(f"The column {chance} holds {float(p.min()):.3g} to {float(p.max()):.3g}: no probabilities")
    if value is None or of_positive:
        return Scores(p)
    predicted = np.array([_TRUTH.get(str(v).strip().casefold(), np.nan) for v in table[value].tolist()])
    if np.isnan(predicted).any():
        return Scores(p)
    negative = predicted == 0
    if negative.any() and bool((p >= 0.5).all()) and bool((p[negative] > 0.5).any()):
        said = f"The platform's {chance} is that of the predicted class; it was turned into that of the outcome."
        return Scores(np.where(negative, 1 - p, p), (said,))
    agree = float(((p >= 0.5) == (predicted == 1)).mean())
    if agree < 0.5:
        raise _wrong(f"The column {chance} contradicts the predicted class in {1 - agree:.0%} of rows")
    return Scores(p)


def _column(table: pd.DataFrame, known: tuple[str, ...], like: re.Pattern[str]) -> str | None:
    by_name = {str(c).casefold(): str(c) for c in table.columns}
    exact = next((by_name[name] for name in known if name in by_name), None)
    return exact or next((str(c) for c in table.columns if like.search(str(c))), None)


def _numbers(values: pd.Series, name: str) -> np.ndarray:
    numbers = as_numbers(values)[0]
    bad = int((~np.isfinite(numbers)).sum())
    if bad:
        raise _wrong(f"{bad:,} of {len(numbers):,} values of {name} are no numbers")
    return numbers


def _shown(table: pd.DataFrame) -> str:
    return "columns: " + ", ".join(str(c)[:40] for c in list(table.columns)[:12])


def _wrong(what: str) -> PlatformFailed:
    return PlatformFailed(
        f"{what}.", where="Lexsi, scoring", to_do="Nothing of it was used. Try again, or use the local engine."
    )
