"""The people of an installation and their roles: viewer, member, admin, owner. Without any, there is one local person, the owner.

Must never: let somebody raise a role above their own, or remove the local person.
"""

from __future__ import annotations

from lexsi_ds.errors import BadInput, Denied, NotFound
from lexsi_ds.ids import new_id
from lexsi_ds.services.access import LOCAL, ROLES, Actor, Role, rights_of_role
from lexsi_ds.services.finding_text import clean_line
from lexsi_ds.store.db import Store
from lexsi_ds.store.people import PeopleRows, PersonRecord

_LONGEST_NAME = 80


class People:
    """Reads and changes people."""

    def __init__(self, store: Store) -> None:
        self._rows = PeopleRows(store)

    def role(self, person: str) -> Role | None:
        """The role of a person; None for somebody unknown or removed. For services that checked who asks."""
        if person == LOCAL.id:
            return "owner"
        found = self._rows.get(person)
        role = found.role if found is not None and found.removed_at is None else None
        return role if role in ROLES else None

    def actor(self, person: str) -> Actor | None:
        """A person as they act at the screen; None for somebody unknown or removed."""
        if person == LOCAL.id:
            return LOCAL
        role, found = self.role(person), self._rows.get(person)
        return None if role is None or found is None else Actor(person, found.name, rights_of_role(role))

    def list(self, actor: Actor) -> tuple[PersonRecord, ...]:
        """Everyone but the local person, in order of name."""
        actor.need("sharing:read")
        return self._rows.list()

    def add(self, actor: Actor, name: str, role: Role, *, person: str | None = None) -> PersonRecord:
        """Add a person (under a given id, as a sign-in would), or change the name and role of one."""
        actor.need("people:manage")
        if role not in ROLES:
            raise BadInput(f"{role} is no role.", where="role", to_do=f"Choose {', '.join(ROLES)}.")
        if not rights_of_role(role) <= actor.rights or (role == "owner" and self.role(actor.id) != "owner"):
            raise Denied("Nobody can give a role above their own.", where=role)
        if person == LOCAL.id or person == actor.id:
            raise BadInput("Your own role is not yours to change.", where="role")
        return self._rows.put(person or new_id("per"), clean_line(name, "name", _LONGEST_NAME), role, actor.id)

    def remove(self, actor: Actor, person: str) -> None:
        """Take a person out: their grants, memberships and keys open nothing any more."""
        actor.need("people:manage")
        if person in (LOCAL.id, actor.id):
            raise BadInput("You cannot remove yourself.", where="person")
        if self.role(person) == "owner" and self.role(actor.id) != "owner":
            raise Denied("Only an owner removes an owner.", where="person")
        if not self._rows.remove(person):
            raise NotFound("There is no such person.", where=person[:60], to_do="Look at the list.")
