"""The registry: where each model stands, and every step of how it came there. Who changes it names the row they saw.

Must never: let the author approve where there is another person, write a change without its history, or keep an approval
when what was approved is changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Literal

from lexsi_ds.errors import BadInput, Conflict, Denied, NotFound
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.frames import read_frame
from lexsi_ds.services.access import Actor
from lexsi_ds.services.finding_text import clean_note
from lexsi_ds.services.model_entry import WORDS, Entry, State, stale_of
from lexsi_ds.services.model_threshold import threshold_of
from lexsi_ds.services.models import Models
from lexsi_ds.store.db import Store
from lexsi_ds.store.model_registry import ModelStep, RegistryRecord, RegistryRows, Step
from lexsi_ds.store.records import now
from lexsi_ds.store.sources import Sources

_MAY_BECOME: dict[State, frozenset[State]] = {
    "draft": frozenset({"validated", "retired"}), "validated": frozenset({"approved", "draft", "retired"}),
    "approved": frozenset({"draft", "retired"}), "retired": frozenset({"draft"}),
}
_ACTIONS: dict[State, str] = {"draft": "sent back", "validated": "validated", "approved": "approved", "retired": "retired"}
_REVIEWED: frozenset[State] = frozenset({"validated", "approved", "draft"})
_NEEDED: dict[State, tuple[str, ...]] = {
    "validated": ("intended_use",), "approved": ("responsible", "intended_use", "limits"),
}
_NAMES = {"responsible": "an owner", "intended_use": "an intended use", "limits": "its limits"}


class Keep:
    """Stands for "leave this as it is"."""


KEEP: Final = Keep()


class Registry:
    """Every read and write of the registry. All methods raise Denied without the right, NotFound for an unknown id.

    Whatever changes a model takes ``seen``, the ``row_version`` that was looked at: Conflict when it has moved on since.
    """

    def __init__(self, store: Store, models: Models) -> None:
        self._rows, self._sources, self._models = RegistryRows(store), Sources(store), models

    def entry(self, actor: Actor, model_id: str) -> Entry:
        """Where a model stands."""
        return self._entry(self._models.get(actor, model_id), self._row(model_id))

    def entries(self, actor: Actor, source_id: str | None = None) -> tuple[Entry, ...]:
        """Where this person's models stand, and those they were asked to review; newest first."""
        cards = self._models.list(actor, source_id)
        rows = self._rows.many([card.id for card in cards])
        return tuple(self._entry(card, rows[card.id]) for card in cards if card.id in rows)

    def history(self, actor: Actor, model_id: str) -> tuple[ModelStep, ...]:
        """Every step it took, oldest first: who, when, by which door, what changed."""
        return self._rows.history(self._models.get(actor, model_id).id)

    def describe(
        self, actor: Actor, model_id: str, seen: int, *, responsible: str | Keep = KEEP, intended_use: str | Keep = KEEP,
        limits: str | Keep = KEEP, via: str = "ui",
    ) -> Entry:
        """Say who answers for it, what it is for and where it ends. Another use or limit takes an approval back."""
        found = self._owned(actor, model_id)
        given = {"responsible": responsible, "intended_use": intended_use, "limits": limits}
        values = {name: clean_note(text) for name, text in given.items() if not isinstance(text, Keep)}
        values = {name: text for name, text in values.items() if getattr(found, name) != text}
        if not values and found.row_version == seen:
            return self.entry(actor, model_id)
        if found.state == "approved" and {"intended_use", "limits"} & values.keys():
            values["state"] = "validated"
        return self._write(actor, model_id, seen, values, "described", via)

    def ask_review(self, actor: Actor, model_id: str, seen: int, reviewer: str | None, *, via: str = "ui") -> Entry:
        """Let another person see the model, to validate and approve it; None takes that back."""
        found = self._owned(actor, model_id)
        if reviewer is not None and (not reviewer.strip() or reviewer == found.author):
            raise BadInput("The reviewer must be another person than the author.", where="reviewer")
        return self._write(actor, model_id, seen, {"reviewer": reviewer}, "asked for review", via)

    def move(
        self, actor: Actor, model_id: str, seen: int, state: State, *, note: str = "", via: str = "ui"
    ) -> Entry:
        """Validate, approve, send back to draft or retire, with a note. Sent again by the same person it writes nothing.

        Raises BadInput for a step that cannot be taken or lacks what it needs, Denied for an author who would approve
        alone although there is somebody else.
        """
        actor.need("models:review" if state in _REVIEWED else "models:write")
        card, found = self._models.get(actor, model_id), self._row(model_id)
        if found.row_version != seen:
            return self._repeated(actor, card, found, seen, state)
        if state == "retired":
            self._owned(actor, model_id)
        if state not in _MAY_BECOME[_state(found)]:
            raise BadInput(
                f"A model that is {found.state} cannot become {state}.", where=card.name,
                to_do=f"It can become {' or '.join(sorted(_MAY_BECOME[_state(found)]))}.",
            )
        self._need(card, found, state)
        alone = state == "approved" and self._alone(actor, card, found)
        said = clean_note(note) + (" (Approved by its author: there is no other person.)" if alone else "")
        changed = self._rows.change(
            model_id, seen, {"state": state, "note": said.strip()}, _step(actor, _ACTIONS[state], via, said.strip())
        )
        if changed is None:
            return self._repeated(actor, card, self._row(model_id), seen, state)
        return self._entry(card, changed)

    def set_threshold(
        self, actor: Actor, model_id: str, seen: int, *, costs: tuple[float, float] | None = None, rate: float | None = None,
        value: float | None = None, via: str = "ui",
    ) -> Entry:
        """Save from which probability on a row counts as positive: by what a false alarm and a miss cost, by the share
        to flag, or as given. It holds for every predictions shown from now on; an approval is taken back."""
        found = self._owned(actor, model_id)
        ref, card = self._models.ref(actor, model_id), self._models.get(actor, model_id)
        if card.task.kind != "binary":
            raise BadInput("Only a yes/no outcome has a threshold.", where=card.name)
        threshold = threshold_of(read_frame(ref.folder / "oof.arrow"), costs=costs, rate=rate, value=value)
        stamped = threshold.model_copy(update={
            "set_by": actor.id, "set_by_name": actor.name, "set_at": now().isoformat(timespec="seconds"),
        })
        values: dict[str, Any] = {"threshold": stamped.model_dump(mode="json")}
        if found.state == "approved":
            values["state"] = "validated"
        return self._write(actor, model_id, seen, values, "set the threshold", via)

    def clear_threshold(self, actor: Actor, model_id: str, seen: int, *, via: str = "ui") -> Entry:
        """Go back to the threshold of the training."""
        found = self._owned(actor, model_id)
        values: dict[str, Any] = {"threshold": None}
        if found.state == "approved":
            values["state"] = "validated"
        return self._write(actor, model_id, seen, values, "cleared the threshold", via)

    def _need(self, card: ModelCard, found: RegistryRecord, state: State) -> None:
        lacking = [_NAMES[name] for name in _NEEDED.get(state, ()) if not getattr(found, name).strip()]
        if lacking:
            raise BadInput(f"It lacks {_and(lacking)}.", where=card.name, to_do=f"Say so first; then it can be {state}.")

    def _alone(self, actor: Actor, card: ModelCard, found: RegistryRecord) -> bool:
        """Whether the author approves their own model, which only the one person of an installation may."""
        if actor.id != found.author:
            return False
        if self._rows.people() - {actor.id} or found.reviewer is not None:
            raise Denied("The author may not approve their own model.", where=card.name, to_do="Ask another person to review it.")
        return True

    def _owned(self, actor: Actor, model_id: str) -> RegistryRecord:
        actor.need("models:write")
        card, found = self._models.get(actor, model_id), self._row(model_id)
        if found.author != actor.id:
            raise Denied("Only its author may do this to a model.", where=card.name, to_do=f"Ask {found.author_name}.")
        return found

    def _write(self, actor: Actor, model_id: str, seen: int, values: dict[str, Any], action: str, via: str) -> Entry:
        changed = self._rows.change(model_id, seen, values, _step(actor, action, via))
        card = self._models.get(actor, model_id)
        if changed is None:
            raise self._conflict(card)
        return self._entry(card, changed)

    def _repeated(self, actor: Actor, card: ModelCard, found: RegistryRecord, seen: int, state: State) -> Entry:
        """The model, if this very step is what moved it on; else the Conflict."""
        moved = next((s for s in self._rows.history(card.id) if s.row_version == seen + 1), None)
        if moved is not None and (moved.person, moved.action) == (actor.id, _ACTIONS[state]) and found.state == state:
            return self._entry(card, found)
        raise self._conflict(card)

    def _conflict(self, card: ModelCard) -> Conflict:
        last = self._rows.history(card.id)[-1]
        return Conflict(
            f"{last.person_name} {last.action} it at {last.at:%Y-%m-%d %H:%M} UTC; nothing was changed now.", where=card.name,
            to_do="Look at it as it is now, then decide.",
        )

    def _row(self, model_id: str) -> RegistryRecord:
        found = self._rows.get(model_id)
        if found is None:
            raise NotFound("There is no such model.", to_do="Choose one from the list.")
        return found

    def _entry(self, card: ModelCard, record: RegistryRecord) -> Entry:
        newest = self._sources.parts(card.source_id)
        moved = newest is not None and newest.snapshot.number > card.snapshot_number
        trained = next((s for s in self._sources.snapshots(card.source_id) if s.id == card.snapshot_id), None) if moved else None
        return Entry.of(record, card, stale_of(card, newest, trained))


def describe_state(entry: Entry) -> str:
    """The state with its note, in one line."""
    return WORDS[entry.state] + (f": {entry.note}" if entry.note else "")


def _step(actor: Actor, action: str, via: str, note: str = "") -> Step:
    return Step(person=actor.id, person_name=actor.name, action=action, via=via, note=note)


def _state(found: RegistryRecord) -> Literal["draft", "validated", "approved", "retired"]:
    return next(state for state in _MAY_BECOME if state == found.state)


def _and(parts: Iterable[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
