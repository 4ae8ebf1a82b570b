"""Scores a new file with a model that exists: its rows are matched with the model's columns, scored, ranked and kept.

A file with the columns of the training frame is scored as it is; a source with the tables of the training source runs the
task's own query. Must never: score with columns that it guessed, or leave a row out.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import pandas as pd

from lexsi_ds.data.handle import DatasetHandle, Table, Value
from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.errors import Ambiguous, BadInput, LexsiError, NotFound
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.pool import Tell
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.engine import ModelRef
from lexsi_ds.models.frames import column, entity_keys
from lexsi_ds.models.local import LocalEngine
from lexsi_ds.services.access import Actor
from lexsi_ds.services.catalog import Catalog
from lexsi_ds.services.csv_text import quoted
from lexsi_ds.services.explanations import Explanations
from lexsi_ds.services.models import Models, PredictionSet
from lexsi_ds.services.score_columns import Fitted, fit, has_features, sentences


class FileScore(Value):
    """What scoring a file gave; the scores themselves are under ``predictions_id``."""

    predictions_id: str
    model_id: str
    model_name: str
    name: str
    """Of the file or source."""
    table: str
    rows: int
    ranked: int
    entity_column: str
    columns: Fitted
    notes: tuple[str, ...]
    """Everything to be said before a score is read: columns, categories never seen, rows that trained the model."""


class Scoring:
    """Scores files and sources. Raises Denied without the right, NotFound for an unknown model, BadInput for rows that do
    not fit."""

    def __init__(self, models: Models, engine: LocalEngine, catalog: Catalog, sql: SqlRunner, explanations: Explanations) -> None:
        self._models, self._engine, self._catalog, self._sql = models, engine, catalog, sql
        self._explanations = explanations

    def file(
        self, actor: Actor, model: str, path: Path | str, *, table: str | None = None, fill_missing: bool = False,
        run_id: str | None = None, cancel: Cancel | None = None, tell: Tell | None = None,
    ) -> FileScore:
        """Score a file or folder with the model of this id or name."""
        actor.need("models:write")
        self.model(actor, model)  # says so before a large file is read
        handle = self._catalog.throwaway(path, actor=actor, cancel=cancel, tell=tell)
        return self.source(
            actor, model, handle, table=table, fill_missing=fill_missing, run_id=run_id, cancel=cancel, tell=tell
        )

    def source(
        self, actor: Actor, model: str, handle: DatasetHandle, *, table: str | None = None, fill_missing: bool = False,
        run_id: str | None = None, cancel: Cancel | None = None, tell: Tell | None = None,
    ) -> FileScore:
        """Score a table of a source, or what the task's query finds in it."""
        actor.need("models:write")
        ref, card = self.model(actor, model)
        name, frame = self._rows(handle, card, table, cancel)
        rows, fitted = fit(frame, card, fill_missing=fill_missing)
        _need_rows(rows, name)
        predictions = self._engine.predict(ref, rows, cancel=cancel, tell=tell)
        compared = predictions.comparability.sentences if predictions.comparability is not None else ()
        notes = (*sentences(fitted, card), *_repeated(rows, card), *compared, *_not_said_twice(predictions.notes))
        about = {"kind": "file", "source_id": handle.source_id, "name": handle.name, "table": name, "notes": list(notes)}
        try:
            predictions_id = self._models.save_predictions(actor, card.id, predictions, run_id, handle.snapshot_id, about)
        finally:
            predictions.path.unlink(missing_ok=True)
        self._explanations.keep_rows(actor, card.id, rows)
        return FileScore(
            predictions_id=predictions_id, model_id=card.id, model_name=card.name, name=handle.name, table=name,
            rows=predictions.rows, ranked=predictions.ranked, entity_column=card.task.entity_column, columns=fitted, notes=notes,
        )

    def model(self, actor: Actor, model: str) -> tuple[ModelRef, ModelCard]:
        """The model of this id or name. Raises Ambiguous for a name that models of several sources have."""
        named = [card for card in self._models.list(actor) if card.name == model]
        if len(named) > 1:
            which = "; ".join(f"{card.id} of {card.source_name}" for card in named[:8])
            raise Ambiguous(f"There are {len(named)} models called {model}: {which}.", where=model[:80],
                            to_do="Give the id of one.", candidates=tuple(card.id for card in named))
        found = self._models.find(actor, model)
        if found is None:
            known = ", ".join(card.name for card in self._models.list(actor)[:8])
            to_do = f"Known are {known}." if known else "Train one first."
            raise NotFound("There is no such model.", where=model[:80], to_do=to_do)
        return found

    def prepared(
        self, handle: DatasetHandle, card: ModelCard, table: str | None = None, *, fill_missing: bool = False,
        cancel: Cancel | None = None,
    ) -> tuple[str, pd.DataFrame, tuple[str, ...]]:
        """The rows of a source with the model's own columns, where they come from, and what is to be said of them."""
        name, frame = self._rows(handle, card, table, cancel)
        rows, fitted = fit(frame, card, fill_missing=fill_missing)
        _need_rows(rows, name)
        return name, rows, (*sentences(fitted, card), *_repeated(rows, card))

    def named(self, actor: Actor, source: str) -> DatasetHandle:
        """The newest snapshot of the source of this id or name. Raises NotFound."""
        found = self.source_id(actor, source)
        if found is None:
            known = ", ".join(each.name for each in self._catalog.sources(actor)[:8])
            raise NotFound("There is no such source.", where=source[:80], to_do=f"Known are {known}.")
        return self._catalog.handle(actor, found)

    def source_id(self, actor: Actor, source: str) -> str | None:
        """Id of the source of this id or name; None when there is none, or several have the name."""
        wanted = source.strip().casefold()
        fits = [each.id for each in self._catalog.sources(actor) if wanted in (each.id.casefold(), each.name.casefold())]
        return fits[0] if len(fits) == 1 else None

    def scored_on(self, actor: Actor, card: ModelCard, scored: PredictionSet) -> DatasetHandle:
        """The data that predictions are of: a file's own source, else a snapshot of the model's; the newest one when that
        is gone."""
        about = scored.about or {}
        for source_id, snapshot_id in ((about.get("source_id") or card.source_id, scored.snapshot_id), (card.source_id, None)):
            with contextlib.suppress(NotFound):
                return self._catalog.handle(actor, source_id, snapshot_id)
        raise NotFound("The data of these predictions is not there any more.", where=card.name, to_do="Score the rows again.")

    def _rows(
        self, handle: DatasetHandle, card: ModelCard, table: str | None = None, cancel: Cancel | None = None
    ) -> tuple[str, pd.DataFrame]:
        """The rows of a source that a model would score, under the source's own column names, and where they come from."""
        chosen = _table(handle, card, table)
        needed = {name for stats in card.features for name in stats.feature.tables} | {card.task.entity_table}
        absent = sorted(name for name in needed if name and handle.table(name) is None)
        queried = bool(needed - {""}) and not absent and bool(card.task.predict_sql) and table is None
        if chosen is not None and (has_features([c.name for c in chosen.columns], card) or not queried):
            return chosen.name, self._query(handle, f"SELECT * FROM {quoted(chosen.name)}", cancel)
        if not queried:
            lacking = f" It has no table {', '.join(absent)}." if absent else ""
            raise BadInput(
                f"No table of this source has the columns that the model learned from.{lacking}", where=handle.name,
                to_do="Name the table to score, or give a file with the model's columns.",
            )
        try:
            return "query", self._query(handle, card.task.predict_sql, cancel)
        except LexsiError as error:
            raise BadInput(
                f"The task's query does not run on this source: {error.what}", where=handle.name,
                to_do="Give tables with the columns of the training source.",
            ) from error

    def _query(self, handle: DatasetHandle, sql: str, cancel: Cancel | None) -> pd.DataFrame:
        return self._sql.frame(handle, sql, cancel=cancel)


def _table(handle: DatasetHandle, card: ModelCard, wanted: str | None) -> Table | None:
    """The table to score: the one named, the only one, or the one that has every feature; None when there is none."""
    if wanted is not None:
        found = handle.table(wanted)
        if found is None:
            raise BadInput(f"There is no table {wanted[:60]}.", where=handle.name,
                           to_do=f"It has {', '.join(t.name for t in handle.tables[:12])}.")
        return found
    if len(handle.tables) == 1:
        return handle.tables[0]
    fits = [t for t in handle.tables if has_features([c.name for c in t.columns], card)]
    return fits[0] if len(fits) == 1 else None


def _need_rows(rows: pd.DataFrame, name: str) -> None:
    if rows.empty:
        raise BadInput("There are no rows to score.", where=name, to_do="Give a file with at least one row.")


def _repeated(rows: pd.DataFrame, card: ModelCard) -> tuple[str, ...]:
    keys = entity_keys(column(rows, card.task.entity_column)).tolist()
    empty = keys.count("")
    twice = len(keys) - empty - len({*keys} - {""})
    said = []
    if twice:
        said.append(f"{twice:,} rows repeat an id of {card.task.entity_column}; each row is scored on its own.")
    if empty:
        said.append(f"{empty:,} rows have no {card.task.entity_column}; they are scored all the same.")
    return tuple(said)


def _not_said_twice(notes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(note for note in notes if not note.startswith("Columns that the task does not name"))
