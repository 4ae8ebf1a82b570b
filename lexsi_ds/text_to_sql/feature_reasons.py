"""Why a column is no feature: it names rows, it holds the outcome, nothing proves that it was known in time.

A reason is a sentence in words of the data; whether a person may put the column back is part of it.
"""

from __future__ import annotations

from lexsi_ds.knowledge.model import ColumnModel, TableModel
from lexsi_ds.models.task import LeftOutReason
from lexsi_ds.text_to_sql.probes import Filled
from lexsi_ds.text_to_sql.task_scene import Scene

FEW_CATEGORIES, MOST_CATEGORIES, ROWS_EACH = 30, 200, 100
"""Different values of a column of classes that is learned from: always so many, at most so many, and between the two one for so
many rows."""
Reason = tuple[LeftOutReason, str, bool]
"""The kind, the sentence, and whether a person may put the column back."""


def own_reason(scene: Scene, column: ColumnModel, filled: Filled | None) -> Reason | None:
    """Why a column of the entity's own table is no feature."""
    if column.name in scene.outcome.target_columns:
        return "target", f"It holds the outcome itself ({scene.outcome.label}).", False
    general = general_reason(column)
    if general is not None:
        return general
    if scene.window is not None:
        return _of_now(scene, column) or (("date", "A raw date would tie the model to the calendar.", False)
                                          if column.role == "time" else _shape_reason(scene, column))  # fmt: skip
    after = filled.after_outcome() if filled else None
    if after is not None:
        return "post_outcome", after, False
    if column.role == "time":
        cut = (
            "It is the cut-off date itself."
            if column.name == scene.cutoff
            else "A raw date would tie the model to the calendar."
        )
        return "date", cut, False
    return _shape_reason(scene, column)


def general_reason(column: ColumnModel) -> Reason | None:
    """Why a column of any table is no feature: it names rows or persons."""
    if column.masked:
        return "masked", "It identifies a person and is masked.", False
    if column.role in ("key", "link"):
        return "identifier", "It only names or links rows.", False
    if column.identifier:
        return "identifier", "Nearly every row has a value of its own.", False
    return None


def _protected(column: ColumnModel) -> Reason:
    return "protected", f"{column.label.capitalize()} is a protected attribute: kept for fairness tests, not for the score.", True


def _shape_reason(scene: Scene, column: ColumnModel) -> Reason | None:
    if column.protected and not scene.is_approved(column):
        return _protected(column)
    rows = scene.model.table(column.table).rows
    if column.distinct == 0 and column.nulls >= rows > 0:
        return "all_null", "It has no values.", False
    if column.distinct == 1 and column.nulls == 0:
        return "constant", "Every row has the same value.", False
    coded = column.role == "category" and scene.names.family(column.table, column.name) != "boolean"
    most = max(FEW_CATEGORIES, min(MOST_CATEGORIES, rows // ROWS_EACH))
    if column.role == "text" or (coded and column.distinct > most):
        return "high_cardinality", f"{column.distinct:,} different values are too many to learn from.", False
    return None


def _of_now(scene: Scene, column: ColumnModel) -> Reason | None:
    """Of a task with one cut-off for all rows: a column without a date of its own is as it is now, not as it was then."""
    if scene.is_approved(column):
        return None
    if column.protected:
        return _protected(column)
    said = column.label[:1].upper() + column.label[1:]
    return "undated", f"{said}: nothing says when it was last written, so nothing proves that it was so at the cut-off.", True


def undated(scene: Scene, table: TableModel, column: ColumnModel) -> Reason | None:
    """Why a column of a table without a usable date is no feature."""
    if scene.window is not None or scene.is_approved(column) or column.protected:
        return _of_now(scene, column)
    when = scene.moment if scene.dated else f"the outcome, and no {scene.noun} has a date"
    said = column.label[:1].upper() + column.label[1:]
    return (
        "undated",
        f"{said}: {table.label} rows have no date, so nothing proves it was known before {when}.",
        not table.bridge,
    )


def shape_or_date(scene: Scene, table: TableModel, column: ColumnModel) -> Reason | None:
    """Why a column that was known in time is no feature all the same."""
    if column.role == "time":
        return (
            None
            if column.name == table.time and scene.dated
            else ("date", "A raw date would tie the model to the calendar.", False)
        )
    return _shape_reason(scene, column)
