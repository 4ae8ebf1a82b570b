"""One training, from a context frame to a model folder: check, screen, encode, validate both estimators, choose, refit,
write the card.

Rows are put into canonical order first and linear algebra runs on one thread, so that neither the order of the frame nor
the machine matters. Must never train on a row without an outcome or on a row twice, and never leave anything out without
saying so on the card.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
import sklearn
import xgboost as xgb
from threadpoolctl import threadpool_limits

from lexsi_ds import __version__
from lexsi_ds.errors import BadInput, ModelRefused
from lexsi_ds.models.bundle import FOLDS, MARGIN, PROBABILITY, TARGET, Parts
from lexsi_ds.models.card import FeatureStats, ModelCard
from lexsi_ds.models.caveats import data_warnings, figure_warnings
from lexsi_ds.models.encode import Encoding, learn
from lexsi_ds.models.engine import PREDICTION_COLUMNS
from lexsi_ds.models.estimators import ModelType, model_type_of, probability, recipe
from lexsi_ds.models.frames import as_words, canonical_order, column, entity_keys, need_columns
from lexsi_ds.models.screen import Screened, screen
from lexsi_ds.models.stability import refit, refit_count
from lexsi_ds.models.task import TaskSpec
from lexsi_ds.models.validation import MODEL_TYPES, Choice, Folds, OutOfFold, choose, make_folds, out_of_fold

SEED = 7
MIN_ROWS, MIN_CLASS = 20, 5
Say = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Origin:
    """Where a training comes from; it goes onto the card as it is."""

    model_id: str
    source_id: str = ""
    source_name: str = ""
    snapshot_id: str = ""
    snapshot_number: int = 0
    run_id: str | None = None
    version: int = 1


@dataclass(frozen=True)
class _Rows:
    """Training rows in canonical order, with their outcome 0/1 of shape (n,)."""

    frame: pd.DataFrame
    y: np.ndarray
    notes: tuple[str, ...]


@threadpool_limits.wrap(limits=1)
def train_model(
    frame: pd.DataFrame, task: TaskSpec, model_type: str | None, origin: Origin, threads: int, say: Say
) -> Parts:
    """Train on a context frame; raises ModelRefused when the data cannot carry a model and BadInput when the frame is
    wrong."""
    began = time.perf_counter()
    asked = model_type_of(model_type)
    if task.task_type != "classification":
        raise ModelRefused(
            f"The local engine predicts yes/no outcomes only; {task.target_label} is an amount.",
            to_do="Regression comes later. Ask for a threshold instead, such as whether it is above a value.",
        )
    if task.entity_column in PREDICTION_COLUMNS:
        raise BadInput(
            f"The id column may not be called {task.entity_column}: predictions have a column of that name.",
            to_do="Give it another name in the query.",
        )
    need_columns(
        frame, [task.entity_column, task.target_column, *(f.name for f in task.features)], "The training frame"
    )
    rows = _training_rows(frame, task)
    screened = screen(rows.frame, task, rows.y)
    if not screened.features:
        raise ModelRefused(_no_feature(task, screened), to_do="Add columns that are known before the outcome.")
    encoding = learn(screened.features, screened.columns)
    x = encoding.matrix(screened.columns)
    folds = make_folds(rows.y, x.shape[1], SEED, task.split, _moments(rows, task))
    steps = _Steps(say, 2 * folds.count * folds.repeats + 1 + refit_count(*x.shape))
    tried = _validate(x, rows.y, folds, encoding, threads, steps)
    steps.show("Measuring both on the same rows")
    choice = choose(rows.y, tried, asked, SEED)
    how = recipe(choice.model_type, len(rows.y), encoding.flagged)
    final = how.fit(x, rows.y, SEED)
    steps.after("Fitting on all rows")(1)
    refits = refit(how, x, rows.y, SEED, threads, steps.after("Refitting for the bands"))
    chosen = tried[choice.model_type]
    card = _card(
        task, origin, rows, screened, encoding, x, choice, folds, len(refits.models), time.perf_counter() - began
    )
    training = _training_frame(rows, task, screened, chosen, folds)
    return Parts(card, encoding, final, chosen.models, refits, training)


def _moments(rows: _Rows, task: TaskSpec) -> np.ndarray | None:
    """The cut-off date of each row, where rows are held out by time."""
    if task.split.by != "time" or task.cutoff_column is None or task.cutoff_column not in rows.frame:
        return None
    return pd.to_datetime(rows.frame[task.cutoff_column], errors="coerce").to_numpy()


class _Steps:
    """Counts fits over all stages of one training and tells them."""

    def __init__(self, say: Say, total: int) -> None:
        self._say, self._total, self._done = say, total, 0

    def after(self, text: str) -> Callable[[int], None]:
        """A callback that takes the number of fits done in a stage; each stage begins where the one before ended."""
        start = self._done

        def done(number: int) -> None:
            self._done = start + number
            self.show(text)

        return done

    def show(self, text: str) -> None:
        self._say({"done": self._done, "total": self._total, "text": text})


def _validate(
    x: np.ndarray, y: np.ndarray, folds: Folds, encoding: Encoding, threads: int, steps: _Steps
) -> dict[ModelType, OutOfFold]:
    tried: dict[ModelType, OutOfFold] = {}
    for name in MODEL_TYPES:
        done = steps.after(f"Validating {name} on {folds.count} folds")
        tried[name] = out_of_fold(name, x, y, folds, encoding.flagged, SEED, threads, done)
    return tried


def _training_rows(frame: pd.DataFrame, task: TaskSpec) -> _Rows:
    y = outcome(column(frame, task.target_column), task)
    known = np.isfinite(y)
    notes = []
    if not known.all():
        notes.append(f"{int((~known).sum()):,} of {len(y):,} rows have no known outcome and did not train.")
    used = frame.loc[known].reset_index(drop=True)
    _refuse_thin(y[known], task)
    keys = entity_keys(column(used, task.entity_column))
    _refuse_repeated(keys, task)
    order = canonical_order(keys)
    ignored = _ignored(frame, task)
    if ignored:
        notes.append(f"Columns that the task does not name were ignored: {', '.join(ignored)}.")
    return _Rows(used.iloc[order].reset_index(drop=True), y[known][order], tuple(notes))


def outcome(values: pd.Series, task: TaskSpec) -> np.ndarray:
    """The target as 0, 1 and NaN for unknown; booleans and yes/no words are read too. Raises ModelRefused for anything
    else."""
    words = as_words(values)
    meaning = {"1": 1.0, "0": 0.0, "true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
    read = np.array([np.nan if w is None else meaning.get(w.casefold(), np.inf) for w in words])
    if np.isinf(read).any():
        distinct = len({w for w in words if w is not None})
        raise ModelRefused(
            f"{task.target_column} is not a yes/no outcome: it has {distinct:,} different values.",
            where=task.target_column,
            to_do="Say which value counts as the outcome; the target must be 1 or 0.",
        )
    return read


def _refuse_thin(y: np.ndarray, task: TaskSpec) -> None:
    positives = int(y.sum())
    negatives = len(y) - positives
    counts = f"{len(y):,} rows with a known outcome: {positives:,} with {task.target_label}, {negatives:,} without"
    if len(y) == 0 or 0 in (positives, negatives):
        raise ModelRefused(
            f"There is nothing to tell apart: {counts}.", to_do="Widen the group until both outcomes occur."
        )
    if len(y) < MIN_ROWS or min(positives, negatives) < MIN_CLASS:
        raise ModelRefused(
            f"Too few rows to train and check a model: {counts}.",
            to_do=f"At least {MIN_ROWS} rows and {MIN_CLASS} of each outcome are needed.",
        )


def _refuse_repeated(keys: np.ndarray, task: TaskSpec) -> None:
    if (keys == "").any():
        raise BadInput(
            f"{int((keys == '').sum()):,} training rows have no {task.entity_column}.",
            to_do=f"Every row needs the id of its {task.entity_label}.",
        )
    distinct = len(set(keys.tolist()))
    if distinct < len(keys):
        raise BadInput(
            f"The training frame has {len(keys):,} rows for {distinct:,} different values of {task.entity_column}.",
            to_do=f"It must have one row a {task.entity_label}: one in two folds would flatter the figures.",
        )


def _ignored(frame: pd.DataFrame, task: TaskSpec) -> list[str]:
    used = {task.entity_column, task.target_column, *task.display_columns, *(f.name for f in task.features)}
    used |= {out.name for out in task.left_out} | ({task.apart.column} if task.apart else set())
    used |= {task.cutoff_column} if task.cutoff_column else set()
    return [str(name) for name in frame.columns if name not in used]


def _no_feature(task: TaskSpec, screened: Screened) -> str:
    reasons = "; ".join(f"{out.name}: {out.reason.replace('_', ' ')}" for out in screened.left_out[:8])
    more = f" and {len(screened.left_out) - 8} more" if len(screened.left_out) > 8 else ""
    return f"No feature is left to predict {task.target_label} with" + (f" ({reasons}{more})." if reasons else ".")


def _training_frame(rows: _Rows, task: TaskSpec, screened: Screened, chosen: OutOfFold, folds: Folds) -> pd.DataFrame:
    names = [
        task.entity_column,
        *(c for c in task.display_columns if c in rows.frame),
        *(f.name for f in screened.features),
    ]
    own = {
        TARGET: rows.y.astype(np.int8),
        PROBABILITY: probability(chosen.margin),
        MARGIN: chosen.margin,
        FOLDS: [row.tolist() for row in folds.of],
    }
    return rows.frame[list(dict.fromkeys(names))].assign(**own)


def _card(
    task: TaskSpec,
    origin: Origin,
    rows: _Rows,
    screened: Screened,
    encoding: Encoding,
    x: np.ndarray,
    choice: Choice,
    folds: Folds,
    refits: int,
    seconds: float,
) -> ModelCard:
    warnings = (
        *data_warnings(task, len(rows.y), int(rows.y.sum()), x.shape[1]),
        *figure_warnings(choice),
        *screened.warnings,
    )
    return ModelCard(
        id=origin.model_id,
        name=f"{choice.model_type}_v{origin.version}",
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        source_id=origin.source_id,
        source_name=origin.source_name,
        snapshot_id=origin.snapshot_id,
        snapshot_number=origin.snapshot_number,
        run_id=origin.run_id,
        task=task,
        model_type=choice.model_type,
        candidates=choice.candidates,
        auc_difference=choice.auc_difference,
        why_chosen=choice.why,
        features=tuple(_stats(f, screened.columns[f.name]) for f in screened.features),
        left_out=(*task.left_out, *screened.left_out),
        rows=len(rows.y),
        positives=int(rows.y.sum()),
        folds=folds.count,
        repeats=folds.repeats,
        seed=SEED,
        warnings=warnings,
        notes=(*rows.notes, *screened.notes),
        refits=refits,
        versions=_versions(),
        seconds=round(seconds, 3),
    )


def _stats(feature: Any, values: np.ndarray) -> FeatureStats:
    missing = np.array([v is None for v in values]) if feature.kind == "categorical" else np.isnan(values)
    return FeatureStats(feature=feature, missing=int(missing.sum()), distinct=len(set(values[~missing].tolist())))


def _versions() -> dict[str, str]:
    return {
        "lexsi-ds": __version__,
        "xgboost": xgb.__version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "pandas": version("pandas"),
        "python": platform.python_version(),
    }
