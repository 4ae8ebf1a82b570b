"""A person's decision about a single case, with a reason, shown beside what the model said.

Must never: change the model's figure, lose an earlier decision, or take one without a reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lexsi_ds.errors import BadInput, Conflict, NotFound
from lexsi_ds.models.frames import plain
from lexsi_ds.services.access import Actor
from lexsi_ds.services.finding_text import clean_note
from lexsi_ds.services.models import Models
from lexsi_ds.store.db import Store
from lexsi_ds.store.model_outcomes import OutcomeRows, OverrideRecord

_SAID = ("prediction", "probability", "rank", "segment")
MAX_DECISION = 200


class Overrides:
    """Decisions about cases of models. Raises Denied without the right, NotFound for a case that was not predicted."""

    def __init__(self, store: Store, models: Models) -> None:
        self._rows, self._models = OutcomeRows(store), models

    def history(self, actor: Actor, model_id: str, case_id: str) -> tuple[OverrideRecord, ...]:
        """Every decision about a case, oldest first; each with what the model said at the time."""
        self._models.get(actor, model_id)
        return self._rows.overrides(model_id, case_id)

    def current(self, actor: Actor, model_id: str, case_id: str) -> OverrideRecord | None:
        """The decision that stands, or None."""
        steps = self.history(actor, model_id, case_id)
        return steps[-1] if steps and steps[-1].decision is not None else None

    def standing(self, actor: Actor, model_id: str, case_ids: Sequence[str] | None = None) -> dict[str, OverrideRecord]:
        """The decisions that stand, by case: of all cases, or of these (a page of predictions)."""
        self._models.get(actor, model_id)
        found = self._rows.standing(model_id, case_ids)
        return {case: record for case, record in found.items() if record.decision is not None}

    def decide(
        self, actor: Actor, model_id: str, case_id: str, seen: int, decision: str, reason: str, *,
        predictions_id: str | None = None, via: str = "ui",
    ) -> OverrideRecord:
        """Decide otherwise, or the same for a reason of one's own. ``seen`` is the number of the newest decision that was
        looked at (0: none): Conflict when there is a later one."""
        text, why = clean_note(decision), clean_note(reason)
        if not text or len(text) > MAX_DECISION:
            raise BadInput("The decision is empty or too long.", where="override", to_do="Say in a few words what was decided.")
        if not why:
            raise BadInput("A decision needs a reason.", where="override", to_do="Say why.")
        return self._add(actor, model_id, case_id, seen, text, why, predictions_id, via)

    def withdraw(
        self, actor: Actor, model_id: str, case_id: str, seen: int, reason: str, *, via: str = "ui"
    ) -> OverrideRecord:
        """Take the decision back, with a reason; it stays in the history."""
        if self.current(actor, model_id, case_id) is None:
            raise BadInput("There is no decision to take back.", where=case_id[:60])
        why = clean_note(reason)
        if not why:
            raise BadInput("Taking a decision back needs a reason.", where="override", to_do="Say why.")
        return self._add(actor, model_id, case_id, seen, None, why, None, via)

    def _add(
        self, actor: Actor, model_id: str, case_id: str, seen: int, decision: str | None, reason: str,
        predictions_id: str | None, via: str,
    ) -> OverrideRecord:
        actor.need("models:write")
        said = self._said(actor, model_id, case_id, predictions_id)
        added = self._rows.add_override(seen, {
            "model_id": model_id, "case_id": case_id, "decision": decision, "reason": reason, "model_said": said,
            "person": actor.id, "person_name": actor.name, "via": via,
        })
        if added is None:
            last = self._rows.overrides(model_id, case_id)[-1]
            raise Conflict(f"{last.person_name} decided at {last.at:%Y-%m-%d %H:%M} UTC; nothing was changed now.",
                           where=case_id[:60], to_do="Look at that decision, then decide.")
        return added

    def _said(self, actor: Actor, model_id: str, case_id: str, predictions_id: str | None) -> dict[str, Any]:
        """The model's figures for the case as they stand."""
        latest = self._models.latest_predictions(actor, model_id) if predictions_id is None else \
            self._models.predictions(actor, predictions_id)
        if latest is None or latest.model_id != model_id:
            raise NotFound("This model has predicted nothing yet.", to_do="Score rows with it first.")
        row = self._models.case(actor, latest.id, case_id)
        return {"predictions_id": latest.id, **{name: plain(row.get(name)) for name in _SAID}}
