"""Trains a model on one table of a source, from the target column alone: what the command line and a form need.

The task is stated in full before it trains: which rows, which outcome, which columns and which not, with the reason. Must
never: train on a row whose outcome is unknown, or on a column that a person marked protected without being told to.
"""

from __future__ import annotations

from typing import Any, Literal

from lexsi_ds.data.handle import Column, DatasetHandle, Table, Value
from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.errors import BadInput
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.pool import Tell
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.local import LocalEngine
from lexsi_ds.models.task import FeatureDef, FeatureKind, LeftOut, TaskSpec
from lexsi_ds.services.access import Actor
from lexsi_ds.services.csv_text import quoted
from lexsi_ds.services.models import Models
from lexsi_ds.services.training_target import Target, target_of

ROW = "row_number"


class TrainRequest(Value):
    """What to train. Everything but the target may be left to the data."""

    target: str
    table: str | None = None
    entity: str | None = None
    """Column that names a row; the first one without repeats when left out, else rows are numbered."""
    task_type: Literal["classification", "regression"] | None = None
    positive: str | None = None
    """The value that counts as the outcome, of a target with two."""
    model_type: str | None = None
    """None compares the model types that fit and says which won."""
    name: str = ""
    exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    """Protected or undated columns that a person takes in, knowing the reason they were left out."""
    time_column: str | None = None
    group_column: str | None = None
    score_column: str | None = None
    """An existing score to compare with."""


class Training:
    """States tasks and trains them. Raises Denied, BadInput for a request that does not fit, ModelRefused for data that
    cannot carry a model."""

    def __init__(self, models: Models, engine: LocalEngine, sql: SqlRunner) -> None:
        self._models, self._engine, self._sql = models, engine, sql

    def task(self, actor: Actor, handle: DatasetHandle, request: TrainRequest) -> TaskSpec:
        """The task as it would be trained."""
        actor.need("datasets:read")
        table = table_of(handle, request.table)
        target = _column(table, request.target)
        outcome = target_of(table, target, request.task_type, request.positive, lambda sql: self._sql.frame(handle, sql))
        return _stated(handle, table, target, outcome, request, self._entity(handle, table, target, request))

    def train(
        self, actor: Actor, handle: DatasetHandle, request: TrainRequest, *, run_id: str | None = None, via: str = "ui",
        cancel: Cancel | None = None, tell: Tell | None = None,
    ) -> ModelCard:
        """Train and register; returns the card."""
        actor.need("models:write")
        task = self.task(actor, handle, request)
        frame = self._sql.frame(handle, task.context_sql, cancel=cancel)
        open_rows = self._sql.frame(handle, task.predict_sql, cancel=cancel)
        compared: dict[str, Any] = {"to_score": open_rows} if len(open_rows) else {}
        ref, card = self._engine.train(
            frame, task, model_type=request.model_type, handle=handle, run_id=run_id, cancel=cancel, tell=tell, **compared
        )
        return self._models.register(actor, ref, card, run_id, handle, via=via)

    def _entity(self, handle: DatasetHandle, table: Table, target: Column, request: TrainRequest) -> str | None:
        if request.entity is not None:
            return _column(table, request.entity).name
        rows = table.rows
        for column in table.columns:
            if len(table.columns) <= 2:
                return None  # a table of one column and the target: it is what is learned from
            unique = rows and column.distinct == rows and not column.nulls and column.family in ("number", "text")
            if unique and column.name != target.name and "." not in column.type and not column.type.startswith(("DOUBLE", "FLOAT")):
                return column.name
        return None


def table_of(handle: DatasetHandle, wanted: str | None) -> Table:
    """The table to train on: the one named, or the only one."""
    found = handle.table(wanted) if wanted is not None else handle.tables[0] if len(handle.tables) == 1 else None
    if found is None:
        known = ", ".join(t.name for t in handle.tables[:12])
        what = f"There is no table {wanted[:60]}." if wanted is not None else f"There are {len(handle.tables)} tables."
        raise BadInput(what, where=handle.name, to_do=f"Name one of {known}.")
    return found


def _stated(
    handle: DatasetHandle, table: Table, target: Column, outcome: Target, request: TrainRequest, entity: str | None
) -> TaskSpec:
    features, left_out = _columns(table, target, request, entity)
    named = entity or _free(ROW, table)
    # Rows without an id are numbered before any is left out, so that no row to score bears the number of one that trained.
    rows = quoted(table.name) if entity else f"(SELECT *, row_number() OVER () AS {quoted(named)} FROM {quoted(table.name)})"
    key = quoted(named)
    beside = [c for c in (request.time_column, request.group_column, request.score_column) if c]
    beside = list(dict.fromkeys(_column(table, c).name for c in beside if c not in {f.name for f in features}))
    chosen = ", ".join(quoted(name) for name in (*(f.name for f in features), *(b for b in beside if b != entity)))
    protected = "".join(f", {quoted(out.name)}" for out in left_out if out.reason == "protected" and out.name not in beside)
    inside = f"SELECT {key}, {outcome.expression} AS {quoted(outcome.column)}, {chosen}{protected} FROM {rows}"
    known = f"{quoted(target.name)} IS NOT NULL"
    label = target.name.replace("_", " ")
    return TaskSpec(
        title=request.name or f"Prediction of {label}", question=f"Predict {target.name} of {table.name}",
        task_type=outcome.task_type, classes=outcome.classes, target_column=outcome.column, target_label=outcome.label or label,
        positive_meaning=outcome.meaning, entity_column=named, entity_table=table.name, entity_label="row",
        known_meaning=f"rows of {table.name} with a known {target.name}",
        unknown_meaning=f"rows of {table.name} without a {target.name}",
        context_sql=f"{inside} WHERE {known}",
        predict_sql=f"SELECT {key}, {chosen} FROM {rows} WHERE NOT ({known})",
        features=features, left_out=left_out, time_column=_named(table, request.time_column),
        group_column=_named(table, request.group_column), score_column=_named(table, request.score_column),
        notes=() if request.time_column else (
            f"{table.name} was taken as it is: nothing proves that its columns were known before the outcome.",
        ),
        statement=f"predict {target.name} for each row of {table.name}",
    )


def _columns(
    table: Table, target: Column, request: TrainRequest, entity: str | None
) -> tuple[tuple[FeatureDef, ...], tuple[LeftOut, ...]]:
    by_hand = {_column(table, name).name for name in request.exclude}
    taken_in = {_column(table, name).name for name in request.include}
    beside = {_named(table, request.group_column), _named(table, request.score_column)}
    features, left = [], []
    for column in table.columns:
        if column.name in (target.name, entity) or column.name in beside:
            continue
        reason = _reason(column, by_hand, taken_in)
        if reason is not None:
            left.append(LeftOut(name=column.name, table=table.name, reason=reason[0], detail=reason[1], approvable=reason[2]))
        else:
            features.append(FeatureDef(
                name=column.name, label=column.comment or column.name.replace("_", " "), kind=_kind(column),
                expression=f"{table.name}.{column.name}", tables=(table.name,),
            ))
    if not features:
        raise BadInput("No column is left to learn from.", where=table.name, to_do="Exclude fewer columns.")
    return tuple(features), tuple(left)


def _reason(column: Column, by_hand: set[str], taken_in: set[str]) -> tuple[
    Literal["by_hand", "protected", "masked", "date"], str, bool
] | None:
    if column.name in by_hand:
        return "by_hand", "It was left out by hand.", False
    if column.family == "date":
        return "date", "It is a date: it dates a row, and says nothing that holds for later ones.", False
    if column.name in taken_in:
        return None
    if column.protected:
        return "protected", f"{column.name} is a protected attribute: kept for fairness tests, not for the score.", True
    if column.masked:
        return "masked", "It identifies a person.", False
    return None


def _kind(column: Column) -> FeatureKind:
    if column.family == "boolean":
        return "boolean"
    return "numeric" if column.family == "number" else "categorical"


def _column(table: Table, name: str) -> Column:
    found = table.column(name)
    if found is None:
        raise BadInput(f"There is no column {name[:60]}.", where=table.name,
                       to_do=f"It has {', '.join(c.name for c in table.columns[:20])}.")
    return found


def _named(table: Table, name: str | None) -> str | None:
    return None if name is None else _column(table, name).name


def _free(name: str, table: Table) -> str:
    while table.column(name) is not None:
        name += "_"
    return name


