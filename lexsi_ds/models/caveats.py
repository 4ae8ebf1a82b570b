"""The sentences that stand beside a model's figures: what a reader must know before trusting them.

Must never be left out for good figures: small data, few positives and class balance are said always.
"""

from __future__ import annotations

import numpy as np

from lexsi_ds.models.selection import Choice, leads
from lexsi_ds.models.stability import MOST_ROWS
from lexsi_ds.models.task import TaskSpec


def data_warnings(task: TaskSpec, y: np.ndarray, columns: int) -> list[str]:
    """What the rows themselves call for. ``y`` (n,) outcomes; ``columns`` counts encoded columns."""
    rows = len(y)
    said = []
    if rows < 1_000:
        with_event = f", {int(y.sum()):,} with {task.target_label}" if task.kind == "binary" else ""
        said.append(f"Small data: {rows:,} training rows{with_event}. Read the figures as ranges.")
    said += _amount(task, y, columns) if task.kind == "regression" else _balance(task, y, columns)
    if task.moment_column is None:
        said.append(
            "The data has no date before which its columns were known: "
            "a column may hold what was written after the outcome."
        )
    if rows > MOST_ROWS:
        said.append(f"The bands come from refits on {MOST_ROWS:,} drawn rows, so they are a little too wide.")
    return said


def _balance(task: TaskSpec, y: np.ndarray, columns: int) -> list[str]:
    """Few events and class balance; nothing is resampled, so that probabilities stay those of the rows."""
    rows = len(y)
    counts = np.bincount(y.astype(int), minlength=max(len(task.classes), 2))
    fewer = int(counts.min())
    said = []
    if task.kind == "multiclass":
        rare, common = task.classes[int(counts.argmin())], task.classes[int(counts.argmax())]
        if fewer < 100:
            said.append(f"Few events: {fewer:,} training rows of the rarest class, {rare}.")
        shares = f"{rare} {fewer / rows:.1%}, {common} {counts.max() / rows:.1%}"
        said.append(f"Class balance: {len(task.classes)} classes, from {shares}; none was resampled.")
    else:
        positives = int(counts[1])
        if fewer < 100:
            side = "with" if positives <= rows - positives else "without"
            said.append(
                f"Few events: {fewer:,} training rows {side} {task.target_label}. "
                "A handful of other rows would change the ranking."
            )
        said.append(
            f"Class balance: {positives:,} of {rows:,} training rows ({positives / rows:.1%}) have {task.target_label}."
        )
    if fewer < 10 * columns:
        said.append(
            f"Many columns for the data: {columns:,} encoded columns for {fewer:,} rows of the rarer outcome "
            "(under ten a column)."
        )
    return said


def _amount(task: TaskSpec, y: np.ndarray, columns: int) -> list[str]:
    said = []
    if len(y) < 10 * columns:
        said.append(f"Many columns for the data: {columns:,} encoded columns for {len(y):,} rows (under ten a column).")
    middle, high = (float(v) for v in np.quantile(y, [0.5, 0.95]))
    if middle > 0 and high > 10 * middle:
        said.append(
            f"{task.target_label} is very uneven (median {middle:,.4g}, one in twenty above {high:,.4g}): "
            "a few large ones carry the figures. Its logarithm may be easier to predict."
        )
    return said


def figure_warnings(choice: Choice) -> list[str]:
    """What the out-of-fold figures call for."""
    candidate = next(c for c in choice.candidates if c.chosen)
    chosen, chance = candidate.main, 0.0 if candidate.main_name == "R2" else 0.5
    said = []
    if chosen.low <= chance:
        said.append(
            f"Not shown to be better than chance: the interval of the {candidate.main_name}, "
            f"{chosen.low:.2f} to {chosen.high:.2f}, holds {chance:g}."
        )
    if chosen.value > 0.98:
        said.append(
            f"A {candidate.main_name} of {chosen.value:.3f} is suspiciously good: "
            "look for a column that is written with the outcome."
        )
    simple = "Linear" if candidate.main_name == "R2" else "Logistic"
    beside = {c.other: c.difference for c in choice.comparisons}
    if choice.model_type != simple and simple in beside and not leads(beside[simple]):
        name = "linear" if simple == "Linear" else "logistic"
        lead = beside[simple]
        said.append(
            f"{choice.model_type} was asked for, but it is not shown to be better than the {name} baseline on these rows."
            if lead.low <= 0
            else f"{choice.model_type} was asked for; it is better than the {name} baseline by so little "
            f"({lead.value:+.3f}) that the simpler one would have been used."
        )
    for other, difference in beside.items():
        turned = difference.model_copy(update={"value": -difference.value, "low": -difference.high})
        if choice.model_type == simple and leads(turned):
            said.append(f"The {simple.lower()} baseline was asked for, but {other} ranks better on these rows.")
    return said
