"""Explanations of a registered model, kept on disk beside it, so that a page opens what was computed once.

Cases, their neighbours and the rows that they come from; the views of many rows are in ``explanation_views``. Must never
keep an explanation under a model it does not belong to, nor recompute on a rerun of a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from lexsi_ds.data.handle import Value
from lexsi_ds.errors import BadInput, NotFound
from lexsi_ds.explain.explainer import Explainer
from lexsi_ds.explain.results_local import Subset
from lexsi_ds.explain.subset import subset
from lexsi_ds.explain.wording import case_sentence
from lexsi_ds.facts import FactValue
from lexsi_ds.ids import is_id
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.engine import CaseExplanation, GlobalExplanation, ModelEngine, ModelRef
from lexsi_ds.models.frames import read_frame
from lexsi_ds.models.lexsi.folder import is_platform_model
from lexsi_ds.services.access import Actor
from lexsi_ds.services.explanation_cache import ExplanationCache
from lexsi_ds.services.explanation_rows import ExplanationRows
from lexsi_ds.services.explanation_views import ExplanationViews
from lexsi_ds.services.models import Models

SCALES = ("probability", "log-odds")


class Told(Value):
    """A case with its plain reading and the numbers that the reading uses."""

    case: CaseExplanation
    facts: dict[str, FactValue]


class Explanations:
    """Global and case explanations by model id. All methods raise NotFound for an unknown model."""

    def __init__(self, models: Models, engine: ModelEngine, folder: Path, explainer: Explainer | None = None) -> None:
        self._models, self._engine, self._explainer = models, engine, explainer
        self._cache = ExplanationCache(folder)

    def forget(self, model_id: str) -> None:
        """Remove what is kept of a model that was deleted."""
        if is_id(model_id, "mdl"):
            self._cache.forget(model_id)

    def keep_rows(self, actor: Actor, model_id: str, frame: pd.DataFrame) -> None:
        """Keep the feature rows that the model scored, so that each can be explained later."""
        card = self._models.get(actor, model_id)
        kept = self._cache.of(model_id)
        ExplanationRows(kept, kept, card.task.entity_column).keep(frame)
        self._cache.forget_views(model_id)

    def rows(self, actor: Actor, model_id: str, case_ids: Iterable[str]) -> dict[str, pd.DataFrame]:
        """The feature row of each case that this model trained on or scored; what is not there is left out."""
        ref, card = self._found(actor, model_id)
        return self._rows(ref, card).find(case_ids)

    def views(self, actor: Actor, model_id: str) -> ExplanationViews:
        """The views of many rows and of decisions: importance, dependence, what-ifs, thresholds, groups and the like."""
        ref, card = self._found(actor, model_id)
        if self._explainer is None or is_platform_model(ref.folder):
            raise BadInput(
                "This model lives on the Lexsi platform, which explains single cases only.", where=card.name,
                to_do="Train with the local engine to look at more than single cases.",
            )  # fmt: skip
        return ExplanationViews(self._explainer, self._cache, ref, card, self._rows(ref, card))

    def overall(
        self, actor: Actor, model_id: str, scale: str = "probability", *, output: str | None = None, cohort: Any = None
    ) -> GlobalExplanation:
        """What moves the model over the rows that it scored (else those it trained on), or over a cohort of them."""
        ref, card = self._found(actor, model_id)
        _known_scale(scale)
        if self._explainer is not None and not is_platform_model(ref.folder):
            return self.views(actor, model_id).overall(scale=scale, output=output, cohort=cohort)
        rows = self._rows(ref, card)

        def compute() -> GlobalExplanation:
            frame = read_frame(rows.path())
            columns = [c for c in map(str, frame.columns) if not c.startswith("_") and c != card.task.target_column]
            return self._engine.explain_global(ref, frame.loc[:, columns], scale=scale)

        return self._cache.get(model_id, "overall", {"scale": scale}, rows.fingerprint(), GlobalExplanation, compute)

    def case(
        self, actor: Actor, model_id: str, case_id: str, scale: str = "probability", *, output: str | None = None
    ) -> Told:
        """Why one case got its score. NotFound when the model neither trained on it nor scored it."""
        ref, card = self._found(actor, model_id)
        _known_scale(scale)
        rows = self._rows(ref, card)

        def compute() -> Told:
            row = self._row(rows, case_id)
            if self._explainer is not None and not is_platform_model(ref.folder):
                explained = self._explainer.cases(ref, row, scale=scale, output=output)[0]
            else:
                explained = self._engine.explain(ref, row, scale=scale)[0]
            return _told(explained, card)

        arguments = {"case": case_id, "scale": scale, "output": output}
        return self._cache.get(model_id, "case", arguments, rows.fingerprint(), Told, compute)

    def cases(self, actor: Actor, model_id: str, case_ids: Sequence[str], scale: str = "probability") -> list[Told]:
        """Several cases, those not kept yet in one go. NotFound for the first that is not there."""
        ref, card = self._found(actor, model_id)
        _known_scale(scale)
        rows, kept = self._rows(ref, card), {}
        mark = rows.fingerprint()
        paths = {
            c: self._cache.path(model_id, "case", {"case": c, "scale": scale, "output": None}, mark) for c in case_ids
        }
        for case, path in paths.items():
            if (told := self._cache.read(path, Told)) is not None:
                kept[case] = told
        missing = [case for case in paths if case not in kept]
        if missing:
            frame = pd.concat([self._row(rows, case) for case in missing], ignore_index=True)
            if self._explainer is not None and not is_platform_model(ref.folder):
                found = self._explainer.cases(ref, frame, scale=scale)
            else:
                found = tuple(self._engine.explain(ref, frame, scale=scale))
            for case, explained in zip(missing, found, strict=True):
                kept[case] = _told(explained, card)
                self._cache.put(paths[case], kept[case])
        return [kept[case] for case in case_ids]

    def subset(
        self, actor: Actor, model_id: str, case_id: str, features: Sequence[str] | None = None, *, top: int | None = None,
        scale: str = "probability",
    ) -> Subset:
        """Some drivers of a case with all others as one; its headline stays the case's own."""
        return subset(self.case(actor, model_id, case_id, scale).case, self._models.get(actor, model_id).task, features, top=top)

    def similar(self, actor: Actor, model_id: str, case_id: str, k: int = 5) -> list[dict[str, Any]]:
        """The nearest training rows of a case, with their outcomes."""
        ref, card = self._found(actor, model_id)
        rows = self._rows(ref, card)

        def compute() -> _Similar:
            return _Similar(rows=self._engine.similar(ref, self._row(rows, case_id), k=k)[0])

        arguments = {"case": case_id, "k": k}
        return self._cache.get(model_id, "similar", arguments, rows.fingerprint(), _Similar, compute).rows

    def _found(self, actor: Actor, model_id: str) -> tuple[ModelRef, ModelCard]:
        found = self._models.find(actor, model_id)
        if found is None:
            raise NotFound(
                "There is no such model.", where=model_id[:60], to_do="Choose one on the page Model results."
            )
        return found

    def _rows(self, ref: ModelRef, card: ModelCard) -> ExplanationRows:
        return ExplanationRows(self._cache.of(ref.id), ref.folder, card.task.entity_column)

    def _row(self, rows: ExplanationRows, case_id: str) -> pd.DataFrame:
        found = rows.find([case_id])
        if case_id not in found:
            raise NotFound(
                "This model neither trained on that case nor scored it.",
                where=case_id[:60],
                to_do="Choose a case of the list.",
            )
        return found[case_id]


class _Similar(Value):
    rows: list[dict[str, Any]]


def _told(explained: CaseExplanation, card: ModelCard) -> Told:
    sentence, facts = case_sentence(explained, card.task)
    return Told(case=explained.model_copy(update={"summary": sentence}), facts=facts)


def _known_scale(scale: str) -> None:
    if scale not in SCALES:
        raise BadInput(f"There is no scale {scale!r}.", to_do=f"Use one of: {', '.join(SCALES)}.")
