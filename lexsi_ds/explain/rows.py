"""Which rows a global view rests on: a cohort of them, and a stratified sample where there are many.

Must never take an empty cohort for the whole, nor hide that rows were left out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from lexsi_ds.errors import BadInput
from lexsi_ds.explain.results import Cohort, Condition
from lexsi_ds.models.bundle import SavedModel
from lexsi_ds.models.frames import as_numbers, as_words, canonical_order, column, entity_keys, is_textual

MOST_ROWS = 2_000
"""Rows of a global explanation: at 2,000 the ten leading features are stable (measured), and a page can draw them."""
SEED = 7
_MOST_SCORED = 100_000
"""Rows that are scored to draw evenly along the score; of more a plain random sample comes first."""
_ORDERS: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip


def cohort_rows(frame: pd.DataFrame, cohort: Cohort, entity: str) -> pd.DataFrame:
    """The rows of a frame that belong to the cohort, in their order. Raises BadInput when there are none."""
    if cohort.whole:
        return frame.reset_index(drop=True)
    kept = np.ones(len(frame), dtype=bool)
    if cohort.case_ids:
        kept &= np.isin(entity_keys(column(frame, entity)).astype(str), np.array(cohort.case_ids, dtype=str))
    for condition in cohort.conditions:
        kept &= holds(frame, condition)
    if not kept.any():
        raise BadInput("No row is in this cohort.", to_do="Widen its conditions.")
    return frame.loc[kept].reset_index(drop=True)


def holds(frame: pd.DataFrame, condition: Condition) -> np.ndarray:
    """Which rows meet a condition. A missing value meets none but "missing". Shape (n,), bool."""
    if condition.column not in frame.columns:
        raise BadInput(f"These rows have no column {condition.column}.", to_do="Choose a column of the model's rows.")
    values = column(frame, condition.column)
    operator = condition.operator
    if operator in ("missing", "present"):
        missing = values.isna().to_numpy() | np.array([word is None for word in as_words(values)])
        return missing if operator == "missing" else ~missing
    if operator in _ORDERS:
        return _ordered(values, condition)
    wanted = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    words = as_words(values)
    same = np.isin(words.astype(str), as_words(pd.Series(list(wanted), dtype=object)).astype(str))
    present = np.array([word is not None for word in words])
    return (present & ~same) if operator == "!=" else (present & same)


def sample_rows(model: SavedModel, frame: pd.DataFrame, most: int | None = None) -> pd.DataFrame:
    """At most ``most`` (2,000) rows, drawn one from each of equal steps of the score, so that rare high scores are there too."""
    most = most or MOST_ROWS
    if len(frame) <= most:
        return frame.reset_index(drop=True)
    if len(frame) > _MOST_SCORED:
        order = canonical_order(entity_keys(column(frame, model.card.task.entity_column)))
        frame = frame.iloc[np.sort(np.random.default_rng(SEED).choice(order, _MOST_SCORED, replace=False))]
    rows = model.prepare(frame)
    margin = model.margin(rows)
    score = margin if margin.ndim == 1 else margin.max(axis=1) + 1e3 * margin.argmax(axis=1)
    order = canonical_order(rows.keys)
    order = order[np.argsort(score[order], kind="stable")]
    rng = np.random.default_rng(SEED)
    edges = np.linspace(0, len(frame), most + 1).astype(np.int64)
    drawn = rng.integers(edges[:-1], edges[1:])
    return frame.iloc[np.sort(order[drawn])].reset_index(drop=True)


def _ordered(values: pd.Series, condition: Condition) -> np.ndarray:
    if is_textual(values) and as_numbers(values)[1]:
        raise BadInput(f"{condition.column} holds words, which have no order.", to_do="Use = or in with its words.")
    try:
        bound = float(condition.value)  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError):
        raise BadInput(
            f"{condition.value!r} is no number to compare {condition.column} with.", to_do="Give a number."
        ) from None
    numbers, _ = as_numbers(values)
    return np.isfinite(numbers) & _ORDERS[condition.operator](np.where(np.isfinite(numbers), numbers, 0.0), bound)
