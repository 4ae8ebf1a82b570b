"""The rows that train: outcome known, in canonical order, with their groups and moments.

Where an entity occurs more than once its rows form a group, so that none of it is in two folds. Must never train on a row
without an outcome or on a row twice, nor let the order of a frame matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pandas.util as pandas_util
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from lexsi_ds.errors import BadInput
from lexsi_ds.models.estimators import Outcome
from lexsi_ds.models.frames import canonical_order, column, entity_keys
from lexsi_ds.models.moments import as_moments
from lexsi_ds.models.targets import read_target, refuse_thin
from lexsi_ds.models.task import TaskSpec


@dataclass(frozen=True)
class Rows:
    """Training rows in canonical order: outcome (n,), group (n,) where rows belong together, moment (n,) where dated."""

    frame: pd.DataFrame
    y: np.ndarray
    outcome: Outcome
    groups: np.ndarray | None
    moments: np.ndarray | None
    notes: tuple[str, ...]

    @property
    def group_count(self) -> int:
        """Distinct groups; 0 when rows stand for themselves."""
        return 0 if self.groups is None else int(self.groups.max()) + 1


def training_rows(frame: pd.DataFrame, task: TaskSpec) -> Rows:
    """Read outcomes, drop rows without one, order the rest; raises ModelRefused or BadInput."""
    target = read_target(column(frame, task.target_column), task)
    notes = list(target.notes)
    unknown = int((~target.known).sum())
    if unknown:
        notes.append(f"{unknown:,} of {len(target.y):,} rows have no known outcome and did not train.")
    used = frame.loc[target.known].reset_index(drop=True)
    y = target.y[target.known]
    refuse_thin(y, task)
    keys = entity_keys(column(used, task.entity_column))
    groups = _groups(used, keys, task)
    moment = task.moment_column
    moments = as_moments(column(used, moment)) if moment and moment in used.columns else None
    order = _order(used, keys, moments)
    ignored = _ignored(frame, task)
    if ignored:
        notes.append(f"Columns that the task does not name were ignored: {', '.join(ignored)}.")
    if groups is not None:
        by = task.group_column or task.entity_column
        notes.append(
            f"{len(y):,} rows fall into {int(groups.max()) + 1:,} groups by {by}; the rows of a group are held out together."
        )
    return Rows(
        used.iloc[order].reset_index(drop=True), y[order], target.outcome,
        None if groups is None else pd.factorize(groups[order])[0], None if moments is None else moments[order], tuple(notes),
    )  # fmt: skip


def _groups(frame: pd.DataFrame, keys: np.ndarray, task: TaskSpec) -> np.ndarray | None:
    """Positions of groups (n,): rows that share the group column or the entity, directly or through each other."""
    if (keys == "").any():
        raise BadInput(
            f"{int((keys == '').sum()):,} training rows have no {task.entity_column}.",
            to_do=f"Every row needs the id of its {task.entity_label}.",
        )
    entity = pd.factorize(keys)[0]
    repeats = int(entity.max()) + 1 < len(keys)
    named = task.group_column if task.group_column in frame.columns else None
    if repeats and named is None and task.time_column is None:
        raise BadInput(
            f"The training frame has {len(keys):,} rows for {int(entity.max()) + 1:,} different values of {task.entity_column}.",
            to_do=f"It must have one row a {task.entity_label}, or name the column that groups or dates its rows: "
            "one in two folds would flatter the figures.",
        )
    if named is None:
        return entity if repeats else None
    words = entity_keys(column(frame, named))
    alone = np.array([f"\x1f{key}" for key in keys], dtype=object)
    group = pd.factorize(np.where(words == "", alone, words))[0]
    if not repeats:
        return group if int(group.max()) + 1 < len(group) else None
    size = int(entity.max()) + 1
    links = coo_matrix((np.ones(len(keys)), (entity, size + group)), shape=(size + int(group.max()) + 1,) * 2)
    return pd.factorize(connected_components(links, directed=False)[1][entity])[0]


def _order(frame: pd.DataFrame, keys: np.ndarray, moments: np.ndarray | None) -> np.ndarray:
    """By entity, then moment, then content: the same whatever order the frame came in."""
    order = canonical_order(keys)
    if len(pd.unique(keys)) == len(keys):
        return order
    place = np.empty(len(keys), dtype=np.int64)
    place[order] = np.arange(len(keys))
    first = pd.Series(place).groupby(pd.factorize(keys)[0]).transform("min").to_numpy()
    text = frame[sorted(frame.columns, key=str)].astype(str)
    hashing: Any = pandas_util
    content = hashing.hash_pandas_object(text, index=False).to_numpy()
    when = np.zeros(len(keys)) if moments is None else moments.astype("datetime64[ns]").astype(np.int64)
    return np.lexsort((content, when, first))


def _ignored(frame: pd.DataFrame, task: TaskSpec) -> list[str]:
    used = {task.entity_column, task.target_column, *task.display_columns, *(f.name for f in task.features)}
    used |= {out.name for out in task.left_out} | ({task.apart.column} if task.apart else set())
    used |= {name for name in (task.cutoff_column, task.time_column, task.group_column, task.score_column) if name}
    return [str(name) for name in frame.columns if name not in used]
