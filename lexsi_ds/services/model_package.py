"""Exports a model as one archive from which anybody trains it again: rows as Parquet, the task, the script, the code.

Must never: leave out a row that trained it, or write rows of a person who may not read the source.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd

from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.errors import BadInput, LexsiError
from lexsi_ds.ids import new_id
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.pool import Tell
from lexsi_ds.models.bundle import TARGET
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.engine import ModelRef
from lexsi_ds.models.frames import read_frame
from lexsi_ds.models.local import LocalEngine
from lexsi_ds.services.access import Actor
from lexsi_ds.services.catalog import Catalog
from lexsi_ds.services.home_files import HomeFiles
from lexsi_ds.services.model_report import ModelReports
from lexsi_ds.services.models import Models
from lexsi_ds.services.package_code import modules, requirements
from lexsi_ds.services.package_script import README, script

TOLERANCE = 1e-6


class Packages:
    """Makes archives. Raises Denied without the right, NotFound for an unknown model, BadInput for one of another engine."""

    def __init__(
        self, models: Models, engine: LocalEngine, catalog: Catalog, sql: SqlRunner, reports: ModelReports, home: Path
    ) -> None:
        self._models, self._engine, self._catalog, self._sql = models, engine, catalog, sql
        self._reports, self._files = reports, HomeFiles(home)

    def zip(
        self, actor: Actor, model_id: str, *, cancel: Cancel | None = None, tell: Tell | None = None
    ) -> bytes:
        """The archive."""
        actor.need("datasets:read")
        ref, card = self._models.ref(actor, model_id), self._models.get(actor, model_id)
        if not (ref.folder / "oof.arrow").is_file():
            raise BadInput("This model was trained elsewhere: its rows are not here.", where=card.name)
        training = self._training(actor, ref, card, cancel)
        rows = self._rows(actor, card, training, cancel)
        scores = self._scores(ref, rows, cancel, tell)
        about = {
            "task": card.task.model_dump(mode="json"),
            "training": {
                "model_type": card.model_type, "origin": {"model_id": card.id, "source_name": card.source_name,
                                                          "snapshot_id": card.snapshot_id},
            },
            "exported_from": {"source": card.source_name, "snapshot": card.snapshot_number, "versions": card.versions},
        }
        return _archive(card, about, {"training": training, "rows": rows, "scores": scores},
                        self._reports.html(actor, model_id), self._reports.json(actor, model_id))

    def _training(self, actor: Actor, ref: ModelRef, card: ModelCard, cancel: Cancel | None) -> pd.DataFrame:
        """The frame that trained it: by the task's own query on its snapshot, else as the model keeps it."""
        kept = read_frame(ref.folder / "oof.arrow")
        try:
            handle = self._catalog.handle(actor, card.source_id, card.snapshot_id)
            frame = self._sql.frame(handle, card.task.context_sql, cancel=cancel)
            if len(frame) >= len(kept) and {card.task.entity_column, card.task.target_column} <= set(frame.columns):
                return frame
        except LexsiError:
            pass  # the snapshot is gone, or the frame was not made by a query
        return as_trained(kept, card)

    def _rows(self, actor: Actor, card: ModelCard, training: pd.DataFrame, cancel: Cancel | None) -> pd.DataFrame:
        """The rows that the task scores in its snapshot; where there are none, the rows that trained it."""
        try:
            handle = self._catalog.handle(actor, card.source_id, card.snapshot_id)
            found = self._sql.frame(handle, card.task.predict_sql, cancel=cancel) if card.task.predict_sql else None
        except LexsiError:
            found = None
        if found is not None and len(found):
            return found
        return training.drop(columns=[card.task.target_column])

    def _scores(self, ref: ModelRef, rows: pd.DataFrame, cancel: Cancel | None, tell: Tell | None) -> pd.DataFrame:
        path = self._files.folder("tmp") / f"{new_id('prd')}.arrow"
        try:
            return read_frame(self._engine.predict(ref, rows, out=path, cancel=cancel, tell=tell).path)
        finally:
            path.unlink(missing_ok=True)


def as_trained(kept: pd.DataFrame, card: ModelCard) -> pd.DataFrame:
    """The rows that a model keeps of its training, with the target under its own name."""
    own = [c for c in map(str, kept.columns) if c.startswith("_lexsi_")]
    target = kept[TARGET]
    if card.task.kind == "multiclass":
        target = [card.task.classes[int(i)] for i in target]
    return kept.drop(columns=own).assign(**{card.task.target_column: target})


def _archive(
    card: ModelCard, about: dict[str, Any], frames: dict[str, pd.DataFrame], report: bytes, body: dict[str, Any]
) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("README.txt", README.format(name=card.name, title=card.task.title))
        file.writestr("reproduce.py", script(card.name, TOLERANCE))
        file.writestr("requirements.txt", "\n".join(requirements()) + "\n")
        file.writestr("task.json", json.dumps(about, ensure_ascii=False, indent=1))
        file.writestr("card.json", json.dumps(body, ensure_ascii=False, indent=1))
        file.writestr("report.html", report)
        for name, frame in frames.items():
            buffer = io.BytesIO()
            frame.to_parquet(buffer, index=False)
            file.writestr(f"data/{name}.parquet", buffer.getvalue())
        for name, path in modules().items():
            file.writestr(f"code/{name}", path.read_text(encoding="utf-8"))
    return out.getvalue()
