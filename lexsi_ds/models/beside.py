"""What is worked out beside the out-of-fold figures of the chosen candidate: calibration, widths, later rows, credit words
and the rows to score.

Must never change which candidate was chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lexsi_ds.models.assessment import CalibrationChange, Comparability, Conformal, Credit, Importance, OutOfTime
from lexsi_ds.models.bundle import positions
from lexsi_ds.models.calibrate import Calibrator, calibrate
from lexsi_ds.models.card import Candidate
from lexsi_ds.models.comparability import Side, compare, granted_only
from lexsi_ds.models.conformal import Widths, intervals
from lexsi_ds.models.credit import challenge, credit
from lexsi_ds.models.encode import Encoding, read_columns
from lexsi_ds.models.estimators import Outcome
from lexsi_ds.models.figures import Metrics
from lexsi_ds.models.frames import column
from lexsi_ds.models.measuring import measured, predicted, with_probability_figures
from lexsi_ds.models.metrics import calibration
from lexsi_ds.models.moments import as_moments
from lexsi_ds.models.out_of_time import out_of_time
from lexsi_ds.models.permutation import held_out_importance
from lexsi_ds.models.screen import Screened
from lexsi_ds.models.selection import Choice
from lexsi_ds.models.task import TaskSpec
from lexsi_ds.models.training_rows import Rows
from lexsi_ds.models.validation import OutOfFold


@dataclass(frozen=True)
class Beside:
    """All of it, with what the models said of rows they did not see: (n,), or (n, K) of several classes."""

    told: np.ndarray
    candidate: Candidate
    calibrator: Calibrator
    change: CalibrationChange
    widths: Widths | None
    conformal: Conformal | None
    later: OutOfTime | None
    credit: Credit | None
    comparability: Comparability | None
    importance: tuple[Importance, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


def beside(
    x: np.ndarray,
    rows: Rows,
    task: TaskSpec,
    chosen: OutOfFold,
    choice: Choice,
    screened: Screened,
    encoding: Encoding,
    seed: int,
    to_score: pd.DataFrame | None,
) -> Beside:
    """Work it out for the chosen candidate."""
    candidate = next(c for c in choice.candidates if c.chosen)
    calibrator, change, told = Calibrator(), CalibrationChange(), predicted(rows.outcome, chosen.margin)
    notes: list[str] = []
    if rows.outcome.kind == "binary":
        found = calibrate(rows.y, chosen.margin, chosen.folds.of[:, 0])
        calibrator, change, told = found.calibrator, found.change, found.calibrator(chosen.margin)
        notes.append(change.sentence)
        if change.method != "none":
            candidate = _calibrated(candidate, rows.y, found.unseen, seed)
    spread = intervals(rows.y, told, chosen.folds.of[:, 0]) if rows.outcome.kind == "regression" else None
    later, why_not = _later(x, rows, task, chosen, seed, calibrator if rows.outcome.kind == "binary" else None)
    notes += [why_not] if why_not else []
    desk = _credit(rows, task, told, candidate, seed)
    compared = _compared(rows, task, screened, encoding, to_score, seed)
    only = granted_only(task)
    return Beside(
        told, candidate, calibrator, change, spread.widths if spread else None, spread.card if spread else None, later,
        desk, compared, _importance(x, rows, chosen, screened, encoding), tuple(notes), (only,) if only else (),
    )  # fmt: skip


def _importance(
    x: np.ndarray, rows: Rows, chosen: OutOfFold, screened: Screened, encoding: Encoding
) -> tuple[Importance, ...]:
    known = {feature.name: feature for feature in screened.features}
    return held_out_importance(x, rows.y, chosen, encoding.groups, tuple(known[name] for name in encoding.names))


def _calibrated(candidate: Candidate, y: np.ndarray, unseen: np.ndarray, seed: int) -> Candidate:
    found = measured(Outcome(), y, unseen, seed).metrics
    if not isinstance(candidate.metrics, Metrics) or not isinstance(found, Metrics):
        return candidate
    figures = with_probability_figures(candidate.metrics, found)
    return candidate.model_copy(update={"metrics": figures, "calibration": calibration(y, unseen)})


def _later(
    x: np.ndarray,
    rows: Rows,
    task: TaskSpec,
    chosen: OutOfFold,
    seed: int,
    calibrator: Callable[[np.ndarray], np.ndarray] | None,
) -> tuple[OutOfTime | None, str]:
    if rows.moments is None:
        return None, ""
    found = out_of_time(chosen.recipe, x, rows.y, chosen.margin, rows.moments, task, seed, calibrator)
    return (None, found) if isinstance(found, str) else (found, "")


def _credit(rows: Rows, task: TaskSpec, told: np.ndarray, candidate: Candidate, seed: int) -> Credit | None:
    if not isinstance(candidate.metrics, Metrics):
        return None
    name = task.score_column
    beside = challenge(rows.y, told, column(rows.frame, name), name, seed) if name and name in rows.frame else None
    return credit(rows.y, told, candidate.metrics, beside)


def _compared(
    rows: Rows, task: TaskSpec, screened: Screened, encoding: Encoding, to_score: pd.DataFrame | None, seed: int
) -> Comparability | None:
    if to_score is None or not len(to_score) or any(f.name not in to_score.columns for f in screened.features):
        return None
    fresh = to_score.loc[positions(to_score, rows.frame, task) < 0].reset_index(drop=True)
    if not len(fresh):
        return None
    moment = task.moment_column
    dates = as_moments(column(fresh, moment)) if moment and moment in fresh.columns else None
    scored = Side(read_columns(fresh, screened.features), dates)
    return compare(Side(screened.columns, rows.moments), scored, screened.features, encoding, task, seed)
