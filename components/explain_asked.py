"""What the explorer is asked right now: the model, the scale, the class and the cohort, and the views that follow from them.

One place makes the key and the call of every view, so that a key never stands for another call. Must never compute.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from components import explain_work
from components.explain_state import ExplorerState
from lexsi_ds.application import Application
from lexsi_ds.explain.results_local import FeatureRanges
from lexsi_ds.models.card import ModelCard
from lexsi_ds.services.access import Actor

V = TypeVar("V")


@dataclass(frozen=True)
class Asking:
    """Frozen for one draw of the page."""

    app: Application
    actor: Actor
    card: ModelCard
    mine: ExplorerState
    scale: str
    output: str | None
    """The class explained, where there are several; None is each row's likeliest."""
    predictions_id: str | None
    """Of the rows scored last; None when the views are about the training rows."""

    @property
    def mark(self) -> tuple[object, ...]:
        """Model, rows, scale and class: the start of every key."""
        return (self.card.id, self.predictions_id or "training", self.scale, self.output or "")

    @property
    def cohort_mark(self) -> str:
        """Tells one cohort from another."""
        cohort = self.mine.cohort
        return hashlib.sha256(cohort.model_dump_json().encode()).hexdigest()[:16] if cohort else ""

    @property
    def noun(self) -> str:
        """Singular noun for a row."""
        return self.card.task.entity_label

    @property
    def local(self) -> bool:
        """Whether more than single cases can be looked at: not so for a model that lives elsewhere."""
        return self.card.engine == "local"

    def many(self, name: str, *parts: str, listed: bool = False) -> tuple[tuple[object, ...], Callable[..., Any]]:
        """Key and work of a view over the rows of the cohort; ``parts`` are its first arguments, such as a feature."""
        cohort, output = self.mine.cohort, self.output
        options: dict[str, Any] = {"output": output, "cohort": cohort}
        if name != "interactions":
            options["scale"] = self.scale

        def work(*, cancel: Any, tell: Any) -> Any:
            views = self.app.explanations.views(self.actor, self.card.id)
            return getattr(views, name)(*parts, **options, cancel=cancel, tell=tell)

        return (*self.mark, self.cohort_mark, name, *parts), work

    def view(self, name: str, *parts: str, label: str, height: int, patience: float = 0.0) -> Any:
        """A view over the cohort when it is there, else None with its skeleton drawn."""
        key, work = self.many(name, *parts)
        return explain_work.view(self.app, self.actor, key, label, work, height=height, patience=patience)

    def begin(self, name: str, *parts: str, label: str) -> None:
        """Start a view that is drawn later on the page."""
        key, work = self.many(name, *parts)
        explain_work.board(self.app).ask(key, label, work, self.actor.id)

    def there(self, name: str, *parts: str) -> Any:
        """A view if it was computed already; nothing is started."""
        asked = explain_work.board(self.app).find(self.many(name, *parts)[0])
        return asked.value if asked is not None and asked.over.is_set() else None

    def ranges(self) -> FeatureRanges | None:
        """What training held of each feature, when it is there; started at the first ask."""
        if not self.local:
            return None

        def work(*, cancel: Any, tell: Any) -> FeatureRanges:
            return self.app.explanations.views(self.actor, self.card.id).ranges(cancel=cancel, tell=tell)

        asked = explain_work.board(self.app).ask((self.card.id, "ranges"), "Bounds of training", work, self.actor.id)
        return asked.value if asked.over.is_set() else None
