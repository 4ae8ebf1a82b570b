"""The sentences that stand beside a model's figures: what a reader must know before trusting them.

Must never be left out for good figures: small data, few positives and class balance are said always.
"""

from __future__ import annotations

from lexsi_ds.models.stability import MOST_ROWS
from lexsi_ds.models.task import TaskSpec
from lexsi_ds.models.validation import Choice, leads


def data_warnings(task: TaskSpec, rows: int, positives: int, columns: int) -> list[str]:
    """What the rows themselves call for. ``columns`` counts encoded columns."""
    said = []
    if rows < 1_000:
        said.append(
            f"Small data: {rows:,} training rows, {positives:,} with {task.target_label}. Read the figures as ranges."
        )
    fewer = min(positives, rows - positives)
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
    if task.cutoff_column is None:
        said.append(
            "The data has no date before which its columns were known: "
            "a column may hold what was written after the outcome."
        )
    if rows > MOST_ROWS:
        said.append(f"The bands come from refits on {MOST_ROWS:,} drawn rows, so they are a little too wide.")
    return said


def figure_warnings(choice: Choice) -> list[str]:
    """What the out-of-fold figures call for."""
    chosen = next(c for c in choice.candidates if c.chosen).main
    said = []
    if chosen.low <= 0.5:
        said.append(
            "Not shown to be better than chance: the interval of the ROC AUC, "
            f"{chosen.low:.2f} to {chosen.high:.2f}, holds 0.5."
        )
    if chosen.value > 0.98:
        said.append(
            f"A ROC AUC of {chosen.value:.3f} is suspiciously good: look for a column that is written with the outcome."
        )
    if choice.model_type == "XGBoost" and not leads(choice.auc_difference):
        said.append("XGBoost was asked for, but it is not shown to be better than the logistic baseline on these rows.")
    if choice.model_type == "Logistic" and leads(choice.auc_difference):
        said.append("The logistic baseline was asked for, but XGBoost ranks better on these rows.")
    return said
