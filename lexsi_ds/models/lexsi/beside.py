"""What the card says beside the held-out figures, worked out here from held-out scores: credit words, intervals of amounts,
and the rows to score beside those that trained. The rooms are those of the local engine; the platform is not asked.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lexsi_ds.models.assessment import Comparability, Conformal, Credit
from lexsi_ds.models.comparability import Side, compare, granted_only
from lexsi_ds.models.conformal import Widths, intervals
from lexsi_ds.models.credit import challenge, credit
from lexsi_ds.models.encode import learn, read_columns
from lexsi_ds.models.figures import AnyMetrics, Metrics
from lexsi_ds.models.frames import column, entity_keys
from lexsi_ds.models.lexsi.rows import SEED, Rows
from lexsi_ds.models.moments import as_moments
from lexsi_ds.models.task import TaskSpec

_PARTS = 5


@dataclass(frozen=True)
class Beside:
    """All of it; what does not apply is None."""

    credit: Credit | None
    conformal: Conformal | None
    widths: Widths | None
    comparability: Comparability | None
    warnings: tuple[str, ...]


def beside(rows: Rows, task: TaskSpec, scores: np.ndarray, metrics: AnyMetrics, to_score: pd.DataFrame | None) -> Beside:
    """``scores`` (n,): held out, NaN for rows without one."""
    here = np.flatnonzero(np.isfinite(scores))
    y, p = rows.y[here], scores[here]
    desk = None
    if isinstance(metrics, Metrics):
        name = task.score_column
        old = challenge(y, p, column(rows.frame.iloc[here], name), name, SEED) if name and name in rows.frame else None
        desk = credit(y, p, metrics, old)
    spread = intervals(y, p, np.arange(len(y)) % _PARTS) if task.kind == "regression" else None
    only = granted_only(task)
    return Beside(
        desk, spread.card if spread else None, spread.widths if spread else None, _compared(rows, task, to_score),
        (only,) if only else (),
    )  # fmt: skip


def _compared(rows: Rows, task: TaskSpec, to_score: pd.DataFrame | None) -> Comparability | None:
    names = [task.entity_column, *(f.name for f in rows.features)]
    if to_score is None or any(name not in to_score.columns for name in names):
        return None
    known = set(entity_keys(column(rows.frame, task.entity_column)).tolist())
    fresh = to_score.loc[[key not in known for key in entity_keys(column(to_score, task.entity_column))]]
    moment = task.moment_column
    dates = as_moments(column(fresh, moment)) if moment and moment in fresh.columns else None
    scored = Side(read_columns(fresh, rows.features), dates)
    encoding = learn(rows.features, rows.columns)
    return compare(Side(rows.columns, rows.moments), scored, rows.features, encoding, task, SEED)
