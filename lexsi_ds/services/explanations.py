"""Explanations of a registered model, kept on disk beside it, so that a page opens what was computed once.

Must never keep an explanation under a model it does not belong to, nor recompute on a rerun of a page.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import pyarrow as pa
from pydantic import BaseModel, ValidationError

from lexsi_ds.data.handle import Value
from lexsi_ds.errors import BadInput, NotFound
from lexsi_ds.explain.wording import case_sentence
from lexsi_ds.facts import FactValue
from lexsi_ds.ids import is_id
from lexsi_ds.models.engine import CaseExplanation, GlobalExplanation, ModelEngine
from lexsi_ds.services.access import Actor
from lexsi_ds.services.models import Models

SCALES = ("probability", "log-odds")
_V = TypeVar("_V", bound=BaseModel)


class Told(Value):
    """A case with its plain reading and the numbers that the reading uses."""

    case: CaseExplanation
    facts: dict[str, FactValue]


class Explanations:
    """Global and case explanations by model id."""

    def __init__(self, models: Models, engine: ModelEngine, folder: Path) -> None:
        self._models, self._engine, self._folder = models, engine, folder
        self._lock = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}

    def forget(self, model_id: str) -> None:
        """Remove what is kept of a model that was deleted."""
        if is_id(model_id, "mdl"):
            shutil.rmtree(self._folder / model_id, ignore_errors=True)

    def keep_rows(self, actor: Actor, model_id: str, frame: pd.DataFrame) -> None:
        """Keep the feature rows that the model scored, so that each can be explained later."""
        self._models.get(actor, model_id)
        path = self._folder / model_id / "scored.arrow"
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.tmp")
        table = pa.Table.from_pandas(frame, preserve_index=False)
        with pa.OSFile(str(temporary), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)
        temporary.replace(path)

    def rows(self, actor: Actor, model_id: str, case_ids: Iterable[str]) -> dict[str, pd.DataFrame]:
        """The feature row of each case that this model trained on or scored; what is not there is left out."""
        _, card, folder = self._found(actor, model_id)
        wanted = {str(c) for c in case_ids}
        found: dict[str, pd.DataFrame] = {}
        for path in (self._folder / model_id / "scored.arrow", folder / "oof.arrow"):
            if not path.exists() or wanted <= found.keys():
                continue
            with pa.memory_map(str(path)) as source:
                frame = pa.ipc.open_stream(source).read_all().to_pandas()
            ids = frame[card.task.entity_column].astype(str)
            for case in wanted - found.keys():
                hit = frame[ids == case]
                if len(hit):
                    found[case] = hit.head(1)[[c for c in map(str, frame.columns) if not c.startswith("_")]]
        return found

    def overall(self, actor: Actor, model_id: str, scale: str = "probability") -> GlobalExplanation:
        """What moves the model over the rows that it scored (else those it trained on)."""
        ref, card, folder = self._found(actor, model_id)
        _known_scale(scale)

        def compute() -> GlobalExplanation:
            path = self._folder / model_id / "scored.arrow"
            with pa.memory_map(str(path if path.exists() else folder / "oof.arrow")) as source:
                frame = pa.ipc.open_stream(source).read_all().to_pandas()
            columns = [c for c in map(str, frame.columns) if not c.startswith("_") and c != card.task.target_column]
            return self._engine.explain_global(ref, frame[columns], scale=scale)

        return self._cached(model_id, f"overall-{scale}", GlobalExplanation, compute)

    def case(self, actor: Actor, model_id: str, case_id: str, scale: str = "probability") -> Told:
        """Why one case got its score. NotFound when the model neither trained on it nor scored it."""
        ref, card, _ = self._found(actor, model_id)
        _known_scale(scale)

        def compute() -> Told:
            explained = self._engine.explain(ref, self._row(actor, model_id, case_id), scale=scale)[0]
            sentence, facts = case_sentence(explained, card.task)
            return Told(case=explained.model_copy(update={"summary": sentence}), facts=facts)

        return self._cached(model_id, f"case-{scale}-{_file_name(case_id)}", Told, compute)

    def similar(self, actor: Actor, model_id: str, case_id: str, k: int = 5) -> list[dict[str, Any]]:
        """The nearest training rows of a case, with their outcomes."""
        ref, _, _ = self._found(actor, model_id)

        def compute() -> _Similar:
            return _Similar(rows=self._engine.similar(ref, self._row(actor, model_id, case_id), k=k)[0])

        return self._cached(model_id, f"similar-{k}-{_file_name(case_id)}", _Similar, compute).rows

    def _found(self, actor: Actor, model_id: str) -> tuple[Any, Any, Path]:
        found = self._models.find(actor, model_id)
        if found is None:
            raise NotFound(
                "There is no such model.", where=model_id[:60], to_do="Choose one on the page Model results."
            )
        ref, card = found
        return ref, card, ref.folder

    def _row(self, actor: Actor, model_id: str, case_id: str) -> pd.DataFrame:
        found = self.rows(actor, model_id, [case_id])
        if case_id not in found:
            raise NotFound(
                "This model neither trained on that case nor scored it.",
                where=case_id[:60],
                to_do="Choose a case of the list.",
            )
        return found[case_id]

    def _cached(self, model_id: str, name: str, kind: type[_V], compute: Callable[[], _V]) -> _V:
        path = self._folder / model_id / f"{name}.json"
        scored = path.parent / "scored.arrow"
        with self._lock:
            lock = self._locks.setdefault(str(path), threading.Lock())
        with lock:
            fresh = path.exists() and (not scored.exists() or path.stat().st_mtime_ns >= scored.stat().st_mtime_ns)
            if fresh:
                try:
                    return kind.model_validate_json(path.read_bytes())
                except ValidationError:
                    path.unlink()
            made = compute()
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
            temporary.write_text(made.model_dump_json(), encoding="utf-8")
            temporary.replace(path)
            return made


class _Similar(Value):
    rows: list[dict[str, Any]]


def _known_scale(scale: str) -> None:
    if scale not in SCALES:
        raise BadInput(f"There is no scale {scale!r}.", to_do=f"Use one of: {', '.join(SCALES)}.")


def _file_name(case_id: str) -> str:
    """A case id as a file name: ids come from data and may hold anything."""
    return "".join(c if c.isalnum() and c.isascii() else f"_{ord(c):x}_" for c in case_id)[:120]
