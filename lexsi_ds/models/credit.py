"""What a credit desk reads of a binary model, out of fold: Gini, KS, deciles with lift, score bands, and an existing score
beside the model.

Must never be read as a rate of rows to come: all figures are of the training rows, by models that did not see them.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from lexsi_ds.models.assessment import Challenger, Credit, Decile, ScoreBand
from lexsi_ds.models.estimators import Outcome
from lexsi_ds.models.figures import Metrics
from lexsi_ds.models.frames import as_numbers
from lexsi_ds.models.measuring import measured
from lexsi_ds.models.metrics import wilson

_BASE, _ODDS, _DOUBLE = 600, 30.0, 20.0
_BAND, _LOW, _HIGH = 20, 300, 850
_FEW = 50


def credit(y: np.ndarray, p: np.ndarray, metrics: Metrics, challenger: Challenger | None) -> Credit:
    """Tables from outcomes 0/1 and out-of-fold probabilities, both (n,)."""
    order = np.argsort(-p, kind="stable")
    hits = np.cumsum(y[order])
    gap = np.abs(hits / hits[-1] - (np.arange(1, len(y) + 1) - hits) / (len(y) - hits[-1]))
    last = np.append(p[order][1:] != p[order][:-1], True)
    at = int(np.argmax(np.where(last, gap, -1.0)))
    return Credit(
        gini=metrics.gini, ks=metrics.ks, ks_at=float(p[order][at]), deciles=_deciles(y, p, order),
        bands=_bands(y, p), challenger=challenger,
    )  # fmt: skip


def points(p: np.ndarray) -> np.ndarray:
    """Score points of probabilities (n,): 600 at odds of 30 to 1 against the event, 20 more for double the odds; kept
    within 300 and 850."""
    inside = np.clip(p, 1e-9, 1 - 1e-9)
    odds = np.log(1 - inside) - np.log(inside)
    return np.clip(np.round(_BASE + _DOUBLE / np.log(2) * (odds - np.log(_ODDS))), _LOW, _HIGH)


def challenge(y: np.ndarray, p: np.ndarray, values: pd.Series, name: str, seed: int) -> Challenger | None:
    """An existing score beside the model on the rows that have it, whichever way round it runs; None for few rows."""
    score, _ = as_numbers(values)
    here = np.isfinite(score)
    events = int(y[here].sum())
    if here.sum() < _FEW or min(events, int(here.sum()) - events) < 5:
        return None
    own = measured(Outcome(), y[here], p[here], seed)
    turned = pd.Series(score[here]).rank(pct=True).to_numpy()
    forward = measured(Outcome(), y[here], turned, seed)
    falling = forward.main < 0.5
    theirs = measured(Outcome(), y[here], 1 - turned, seed) if falling else forward
    difference = own.minus(theirs)
    mine, other = own.metrics, theirs.metrics
    if not isinstance(mine, Metrics) or not isinstance(other, Metrics):
        return None
    verdict = (
        "the model ranks better" if difference.low > 0
        else "the existing score ranks better" if difference.high < 0
        else "the difference is within the noise"
    )  # fmt: skip
    direction = " (lower is riskier)" if falling else " (higher is riskier)"
    sentence = (
        f"{name}{direction} has a ROC AUC of {other.roc_auc.value:.3f} on {int(here.sum()):,} rows, the model "
        f"{mine.roc_auc.value:.3f}: {verdict} ({difference.value:+.3f}, {difference.low:+.3f} to {difference.high:+.3f})."
    )
    return Challenger(
        column=name,
        rows=int(here.sum()),
        auc=other.roc_auc,
        model_auc=mine.roc_auc,
        difference=difference,
        sentence=sentence,
    )


def _deciles(y: np.ndarray, p: np.ndarray, order: np.ndarray) -> tuple[Decile, ...]:
    whole, events, others = float(y.mean()), float(y.sum()), float(len(y) - y.sum())
    found, hits, misses = [], 0.0, 0.0
    for number, part in enumerate(np.array_split(order, min(10, len(order))), start=1):
        here = float(y[part].sum())
        hits, misses = hits + here, misses + len(part) - here
        found.append(
            Decile(
                decile=number, rows=len(part), events=int(here), low=float(p[part].min()), high=float(p[part].max()),
                rate=here / len(part), lift=here / len(part) / whole, captured=hits / events,
                ks=hits / events - misses / others,
            )
        )  # fmt: skip
    return tuple(found)


def _bands(y: np.ndarray, p: np.ndarray) -> tuple[ScoreBand, ...]:
    start = (points(p) // _BAND * _BAND).astype(int)
    found = []
    for low in np.unique(start):
        here = start == low
        rows, events = int(here.sum()), int(y[here].sum())
        rate_low, rate_high = wilson(events, rows)
        found.append(
            ScoreBand(
                low=int(low), high=int(low) + _BAND - 1, rows=rows, events=events, rate=events / rows,
                rate_low=rate_low, rate_high=rate_high,
            )
        )  # fmt: skip
    return tuple(found)
