"""What a person may do to a source or a dataset: by owning it, by a grant, or by how visible its source is.

Of several reasons the strongest counts. Must never: tell what is invisible from what does not exist.
"""

from __future__ import annotations

from typing import Literal, Protocol, get_args

from lexsi_ds.errors import BadInput, Denied, NotFound
from lexsi_ds.ids import is_id
from lexsi_ds.services.access import LEVELS, Actor, Level, at_least
from lexsi_ds.store.db import Store
from lexsi_ds.store.people import GrantRecord, GrantRows
from lexsi_ds.store.sources import SourceRecord, Sources

Visibility = Literal["private", "showcase", "public"]
VISIBILITIES: tuple[Visibility, ...] = get_args(Visibility)
GRANTS: tuple[Level, ...] = ("read", "edit")
"""What can be granted; an owner is who connected the source."""


class Levels(Protocol):
    """Answers what a person may do to datasets."""

    def of_dataset(self, actor: Actor, dataset_id: str) -> Level | None:
        """The person's level; None for a dataset they cannot see."""
        ...

    def visible(self, actor: Actor) -> frozenset[str] | None:
        """Ids of the datasets a person can see; None stands for all there are."""
        ...


class View:
    """One person's levels, read once for a list."""

    def __init__(self, person: str, granted: dict[str, str]) -> None:
        self._person, self._granted = person, granted

    def source(self, source: SourceRecord) -> Level | None:
        """The level on a whole source."""
        return self._strongest(source.id, None, source.owner, source.kind, source.visibility)

    def dataset(self, source: SourceRecord, dataset_id: str) -> Level | None:
        """The level on one dataset of a source."""
        return self._strongest(source.id, dataset_id, source.owner, source.kind, source.visibility)

    def of_place(self, place: tuple[str, str, str, str, str | None]) -> Level | None:
        """The level on a dataset as the store lists it."""
        dataset_id, source_id, owner, kind, visibility = place
        return self._strongest(source_id, dataset_id, owner, kind, visibility)

    def _strongest(
        self, source_id: str, dataset_id: str | None, owner: str, kind: str, visibility: str | None
    ) -> Level | None:
        if owner == self._person:
            return "owner"
        open_to_all = "read" if kind == "demo" or visibility == "public" else "showcase" if visibility == "showcase" else None
        reasons = {open_to_all, self._granted.get(source_id), self._granted.get(dataset_id or "")}
        return next((level for level in reversed(LEVELS) if level in reasons), None)


class Sharing:
    """Reads and changes who may do what. Every method raises Denied without the right, NotFound for what is not there."""

    def __init__(self, store: Store) -> None:
        self._rows, self._sources = GrantRows(store), Sources(store)

    def view(self, actor: Actor) -> View:
        """This person's levels as they are now."""
        return View(actor.id, self._rows.of_person(actor.id))

    def of_dataset(self, actor: Actor, dataset_id: str) -> Level | None:
        """The person's level; None for a dataset they cannot see."""
        places = self._rows.places(dataset_id)
        return self.view(actor).of_place(places[0]) if places else None

    def visible(self, actor: Actor) -> frozenset[str] | None:
        """Ids of the datasets a person can see."""
        view = self.view(actor)
        return frozenset(place[0] for place in self._rows.places() if view.of_place(place) is not None)

    def grants(self, actor: Actor, subject: str) -> tuple[GrantRecord, ...]:
        """Who was granted what on a source or dataset; for those who may change it."""
        actor.need("sharing:read")
        self._level(actor, subject, "edit")
        return self._rows.of_subject(subject)

    def grant(self, actor: Actor, subject: str, person: str, level: Level | None) -> None:
        """Grant ``read`` or ``edit`` on a source or dataset, or take it away with None. Its owner alone may."""
        actor.need("sharing:write")
        self._level(actor, subject, "owner")
        if level is not None and level not in GRANTS:
            raise BadInput(f"{level} cannot be granted.", where="level", to_do="Choose read or edit.")
        if person == actor.id:
            raise BadInput("The owner has every right already.", where="person", to_do="Choose somebody else.")
        self._rows.put(subject, person, level, actor.id)

    def visibility(self, actor: Actor, source_id: str) -> Visibility:
        """How visible a source is."""
        actor.need("sharing:read")
        self._level(actor, source_id, "showcase")
        found = self._sources.get(source_id)
        said = found.visibility if found is not None else None
        return said if said in VISIBILITIES else "private"

    def set_visibility(self, actor: Actor, source_id: str, visibility: Visibility) -> None:
        """Make a source ``private``, ``showcase`` (figures, never rows) or ``public``. Its owner alone may."""
        actor.need("sharing:write")
        self._level(actor, source_id, "owner")
        if visibility not in VISIBILITIES:
            raise BadInput(f"{visibility} is no visibility.", to_do=f"Choose {', '.join(VISIBILITIES)}.")
        self._rows.set_visibility(source_id, visibility)

    def _level(self, actor: Actor, subject: str, wanted: Level) -> Level:
        """The level on a source or a dataset, which must be at least ``wanted``."""
        if is_id(subject, "ds"):
            level = self.of_dataset(actor, subject)
        else:
            source = self._sources.get(subject) if is_id(subject, "con") else None
            level = None if source is None else self.view(actor).source(source)
        return checked(level, wanted, subject)


def checked(level: Level | None, wanted: Level, name: str) -> Level:
    """The level, if it suffices. Raises NotFound for what is invisible, Denied for what is seen but not to be changed."""
    if level is None:
        raise NotFound("There is no such data set.", where=name[:80], to_do="Look at list_datasets.")
    if not at_least(level, wanted):
        doing = {"read": "see its rows", "edit": "change it", "owner": "share it"}.get(wanted, "see it")
        raise Denied(
            f"This data set is shared with you as {level}: you may not {doing}.", where=name[:80], to_do="Ask its owner."
        )
    return level
