"""From which probability on to act: costs, confusion and calibration along the threshold, on rows the models did not see.

Must never choose a threshold on scores of rows that trained the model that scored them, nor show a cheapest threshold
without how uncertain it is.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from lexsi_ds.errors import BadInput
from lexsi_ds.explain.answers import answer
from lexsi_ds.explain.results_decision import ConfusionAt, Flagged, ThresholdView
from lexsi_ds.explain.targets import outcomes
from lexsi_ds.models.bundle import PROBABILITY, SavedModel
from lexsi_ds.models.figures import CalibrationBin, Interval
from lexsi_ds.models.frames import column
from lexsi_ds.models.metrics import calibration, wilson

_POINTS = 101
_RESAMPLES = 200
_MOST_RESAMPLED = 20_000
_MOST_LISTED = 200
_NEAR_SHARE, _NEAR_ROWS = 0.1, 20


def threshold_view(
    model: SavedModel, frame: pd.DataFrame | None, cost_false_positive: float, cost_false_negative: float,
    chosen: float | None = None,
) -> ThresholdView:
    """Costs along the threshold. ``frame``: rows without an outcome that would be flagged; ``chosen``: a threshold to
    look at, else the cheapest. Costs are of one row each, in any unit."""
    _check(model, cost_false_positive, cost_false_negative, chosen)
    y = outcomes(model, model.training) == 1
    p = column(model.training, PROBABILITY).to_numpy(dtype=float)
    costs = (float(cost_false_positive), float(cost_false_negative))
    ids, scored = _scored(model, frame)
    cheapest = _cheapest(p, y, np.ones((1, len(y))), *costs)[0]
    interval = _interval(p, y, *costs)
    at = cheapest if chosen is None else float(chosen)
    points = np.unique(np.concatenate([np.linspace(0, 1, _POINTS), [cheapest, at]]))
    table = [_confusion(p, y, float(t), *costs, scored) for t in points]
    order = np.argsort(-scored, kind="stable")
    flagged = order[: min(_MOST_LISTED, int((scored >= at).sum()))]
    return ThresholdView(
        rows=len(y),
        positives=int(y.sum()),
        cost_false_positive=costs[0],
        cost_false_negative=costs[1],
        thresholds=tuple(map(float, points)),
        costs=tuple(t.cost_per_row for t in table),
        flagged=tuple(t.flagged_share for t in table),
        precision=tuple(t.precision.value if t.true_positive + t.false_positive else None for t in table),
        recall=tuple(t.recall.value for t in table),
        best=_confusion(p, y, cheapest, *costs, scored),
        best_interval=interval,
        chosen=_confusion(p, y, at, *costs, scored),
        flagged_cases=tuple(Flagged(case_id=str(ids[i]), probability=float(scored[i])) for i in flagged),
        calibration=calibration(y.astype(float), p),
        near=_near(p, y, at),
        warnings=_warnings(y, interval, costs),
    )


def _scored(model: SavedModel, frame: pd.DataFrame | None) -> tuple[np.ndarray, np.ndarray]:
    """Case ids and probabilities of the rows without an outcome; kept for the next threshold over the same frame."""
    if frame is None or not len(frame):
        return np.zeros(0, dtype=object), np.zeros(0)
    kept = model.__dict__.get("_scored_rows")
    if kept is None or kept[0] is not frame:
        rows = model.prepare(frame)
        kept = model.__dict__["_scored_rows"] = (frame, rows.keys, answer(model, rows, "probability"))
    return kept[1], kept[2]


def _confusion(
    p: np.ndarray, y: np.ndarray, threshold: float, cost_fp: float, cost_fn: float, scored: np.ndarray
) -> ConfusionAt:
    hit = p >= threshold
    tp, fp = int((hit & y).sum()), int((hit & ~y).sum())
    fn, tn = int((~hit & y).sum()), int((~hit & ~y).sum())
    cost = fp * cost_fp + fn * cost_fn
    return ConfusionAt(
        threshold=threshold, true_positive=tp, false_positive=fp, true_negative=tn, false_negative=fn,
        precision=_share(tp, tp + fp), recall=_share(tp, tp + fn), specificity=_share(tn, tn + fp),
        flagged_share=(tp + fp) / len(y), cost=cost, cost_per_row=cost / len(y),
        scored_flagged=int((scored >= threshold).sum()), scored_rows=len(scored),
    )  # fmt: skip


def _share(part: int, whole: int) -> Interval:
    """A share with its Wilson interval; 0 of 0 is 0, from 0 to 1."""
    if not whole:
        return Interval(value=0.0, low=0.0, high=1.0)
    low, high = wilson(part, whole)
    return Interval(value=part / whole, low=low, high=high)


def _cheapest(p: np.ndarray, y: np.ndarray, counts: np.ndarray, cost_fp: float, cost_fn: float) -> np.ndarray:
    """The cheapest threshold for each row of ``counts`` (b, n); of equally cheap ones the highest. Shape (b,)."""
    order = np.argsort(-p, kind="stable")
    drawn, ordered = counts[:, order], p[order]
    missed = (drawn * y[order]).sum(axis=1, keepdims=True) * cost_fn
    flow = np.cumsum(drawn * np.where(y[order], -cost_fn, cost_fp), axis=1)
    costs = np.concatenate([missed, missed + flow], axis=1)
    ends = np.append(ordered[1:] != ordered[:-1], True)
    costs[:, 1:][:, ~ends] = np.inf
    values = np.append(min(1.0, np.nextafter(ordered[0], 2.0)), ordered)
    return values[costs.argmin(axis=1)]


def _interval(p: np.ndarray, y: np.ndarray, cost_fp: float, cost_fn: float) -> tuple[float, float]:
    rng = np.random.default_rng(7)
    if len(p) > _MOST_RESAMPLED:
        kept = rng.choice(len(p), _MOST_RESAMPLED, replace=False)
        p, y = p[kept], y[kept]
    found = []
    for _ in range(_RESAMPLES // 20):
        counts = rng.multinomial(len(p), np.full(len(p), 1 / len(p)), size=20)
        found.append(_cheapest(p, y, counts, cost_fp, cost_fn))
    low, high = np.quantile(np.concatenate(found), [0.025, 0.975])
    return float(low), float(high)


def _near(p: np.ndarray, y: np.ndarray, threshold: float) -> CalibrationBin | None:
    """The tenth of the rows (20 at least) whose probability is nearest to the threshold."""
    count = min(len(p), max(_NEAR_ROWS, round(_NEAR_SHARE * len(p))))
    if count < _NEAR_ROWS:
        return None
    here = np.argsort(np.abs(p - threshold), kind="stable")[:count]
    low, high = wilson(int(y[here].sum()), count)
    return CalibrationBin(
        predicted=float(p[here].mean()), observed=float(y[here].mean()), low=low, high=high, n=count
    )


def _warnings(y: np.ndarray, interval: tuple[float, float], costs: tuple[float, float]) -> tuple[str, ...]:
    said = []
    if y.sum() < 50:
        said.append(f"Only {int(y.sum()):,} rows have the outcome: the cheapest threshold is a rough guess.")
    if interval[1] - interval[0] > 0.2:
        said.append(
            f"Other rows like these would put the cheapest threshold anywhere from {interval[0]:.2f} to {interval[1]:.2f}."
        )
    ideal = costs[0] / (costs[0] + costs[1])
    if not interval[0] - 0.01 <= ideal <= interval[1] + 0.01:
        said.append(
            f"If the probabilities were exact, {ideal:.2f} would be cheapest (cost of a false alarm over both costs). It is "
            "outside of what these rows say: look at the calibration."
        )
    return tuple(said)


def _check(model: SavedModel, cost_fp: float, cost_fn: float, chosen: float | None) -> None:
    if model.card.task.kind != "binary":
        raise BadInput("A threshold needs an outcome of two sides.", to_do="Use a model of a yes/no outcome.")
    if not (np.isfinite(cost_fp) and np.isfinite(cost_fn) and min(cost_fp, cost_fn) >= 0 and cost_fp + cost_fn > 0):
        raise BadInput("Costs must be numbers of 0 or more, and not both 0.", to_do="Give what each mistake costs.")
    if chosen is not None and not 0 <= chosen <= 1:
        raise BadInput(f"A threshold lies between 0 and 1, not at {chosen:g}.", to_do="Choose one in between.")
