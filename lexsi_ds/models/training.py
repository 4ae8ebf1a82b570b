"""One training, from a context frame to a model folder: check, screen, encode, validate the candidates, choose, refit,
write the card.

Rows are put into canonical order first and linear algebra runs on one thread, so that neither the order of the frame nor
the machine matters. Must never leave anything out without saying so on the card.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from lexsi_ds.errors import BadInput, ModelRefused
from lexsi_ds.models.beside import Beside, beside
from lexsi_ds.models.bundle import FOLDS, MARGIN, PREDICTION, PROBABILITY, TARGET, Parts
from lexsi_ds.models.contest import Steps, Work, validate
from lexsi_ds.models.encode import learn
from lexsi_ds.models.engine import prediction_columns
from lexsi_ds.models.estimators import ModelType, model_type_of
from lexsi_ds.models.frames import need_columns
from lexsi_ds.models.plan import make_plan
from lexsi_ds.models.screen import Screened, screen
from lexsi_ds.models.selection import choose
from lexsi_ds.models.stability import refit, refit_count
from lexsi_ds.models.task import TaskSpec
from lexsi_ds.models.training_card import Origin, Trained, write_card
from lexsi_ds.models.training_rows import Rows, training_rows
from lexsi_ds.models.validation import OutOfFold, make_folds

__all__ = ["BUDGET_S", "SEED", "Origin", "train_model"]

SEED = 7
BUDGET_S = 60.0
"""Seconds of one processor that comparing candidates may take, by estimate."""
Say = Callable[[dict[str, Any]], None]


@threadpool_limits.wrap(limits=1)
def train_model(
    frame: pd.DataFrame,
    task: TaskSpec,
    model_type: str | None,
    origin: Origin,
    threads: int,
    say: Say,
    *,
    budget_s: float = BUDGET_S,
    to_score: pd.DataFrame | None = None,
) -> Parts:
    """Train on a context frame; raises ModelRefused when the data cannot carry a model and BadInput when the frame is
    wrong. ``to_score`` are the rows that the model is for, to compare with those it learns from."""
    began = time.perf_counter()
    asked = model_type_of(model_type, task.kind)
    if task.entity_column in prediction_columns(task.kind, task.classes):
        raise BadInput(
            f"The id column may not be called {task.entity_column}: predictions have a column of that name.",
            to_do="Give it another name in the query.",
        )
    need_columns(
        frame, [task.entity_column, task.target_column, *(f.name for f in task.features)], "The training frame"
    )
    rows = training_rows(frame, task)
    screened = screen(rows.frame, task, rows.y, rows.outcome)
    if not screened.features:
        raise ModelRefused(_no_feature(task, screened), to_do="Add columns that are known before the outcome.")
    encoding = learn(screened.features, screened.columns)
    x = encoding.matrix(screened.columns)
    timed = rows.moments if task.split.by == "time" else None
    folds = make_folds(rows.y, x.shape[1], SEED, task.split, timed, outcome=rows.outcome, groups=rows.groups)
    plan = make_plan(asked, rows.outcome, len(rows.y), x.shape[1], encoding.flagged, folds, budget_s)
    refits = refit_count(*x.shape)
    steps = Steps(say, plan.fits(folds) + 1 + refits)
    tried, dropped = validate(x, rows.y, folds, plan, asked, Work(threads, SEED, budget_s, steps))
    steps.show("Measuring all on the same rows")
    choice = choose(rows.y, tried, asked, SEED, rows.outcome)
    chosen = tried[_named(choice.model_type, tried)]
    how = chosen.recipe
    extra = beside(x, rows, task, chosen, choice, screened, encoding, SEED, to_score)
    final = how.fit(x, rows.y, SEED)
    steps.after("Fitting on all rows")(1)
    again = refit(how, x, rows.y, SEED, threads, steps.after("Refitting for the bands"), groups=rows.groups)
    trained = Trained(
        task, rows, screened, x.shape[1], choice, chosen.folds, (*plan.not_tried, *dropped), len(again.models), extra
    )
    card = write_card(trained, origin, SEED, time.perf_counter() - began)
    training = _training_frame(rows, task, screened, chosen, extra)
    return Parts(card, encoding, final, chosen.models, again, training, extra.calibrator, extra.widths)


def _named(model_type: str, tried: dict[ModelType, OutOfFold]) -> ModelType:
    return next(name for name in tried if name == model_type)


def _no_feature(task: TaskSpec, screened: Screened) -> str:
    reasons = "; ".join(f"{out.name}: {out.reason.replace('_', ' ')}" for out in screened.left_out[:8])
    more = f" and {len(screened.left_out) - 8} more" if len(screened.left_out) > 8 else ""
    return f"No feature is left to predict {task.target_label} with" + (f" ({reasons}{more})." if reasons else ".")


def _training_frame(rows: Rows, task: TaskSpec, screened: Screened, chosen: OutOfFold, extra: Beside) -> pd.DataFrame:
    """The training rows as they are kept: entity, display columns, features, and what the models said unseen."""
    names = [
        task.entity_column,
        *(c for c in (*task.display_columns, task.moment_column, task.group_column) if c and c in rows.frame),
        *(f.name for f in screened.features),
        *(out.name for out in task.left_out if out.reason == "protected" and out.name in rows.frame),
    ]
    kind = rows.outcome.kind
    margin = chosen.margin
    shares = extra.told
    own: dict[str, Any] = {
        TARGET: rows.y.astype(np.int8) if kind != "regression" else rows.y,
        FOLDS: [row.tolist() for row in chosen.folds.of],
    }
    if kind == "binary":
        own |= {PROBABILITY: shares, MARGIN: margin}
    elif kind == "regression":
        own |= {PROBABILITY: np.full(len(rows.y), np.nan), MARGIN: margin, PREDICTION: margin}
    else:
        words = np.array(task.classes, dtype=object)[shares.argmax(axis=1)]
        own |= {PROBABILITY: shares.max(axis=1), MARGIN: [row.tolist() for row in margin], PREDICTION: words}
    return rows.frame[list(dict.fromkeys(names))].assign(**own)
