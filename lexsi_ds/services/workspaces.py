"""Workspaces: who is in them, and the AI context that their admins write for every analysis made there.

A context that somebody else saved meanwhile is never overwritten. Must never: show a workspace to who is no member.
"""

from __future__ import annotations

from typing import Literal, get_args

from lexsi_ds.data.handle import Value
from lexsi_ds.errors import BadInput, Conflict, Denied, NotFound
from lexsi_ds.ids import is_id, new_id
from lexsi_ds.services.access import LOCAL, Actor
from lexsi_ds.services.dataset_json import moment
from lexsi_ds.services.finding_text import clean_line, visible_text
from lexsi_ds.store.db import Store
from lexsi_ds.store.preferences import Preferences
from lexsi_ds.store.records import now
from lexsi_ds.store.workspaces import MemberRecord, WorkspaceRecord, WorkspaceRows

MemberRole = Literal["member", "admin"]
MEMBER_ROLES: tuple[MemberRole, ...] = get_args(MemberRole)
MAX_CONTENT, _LONGEST_NAME = 20_000, 80
_ACTIVE = "active_workspace"


class Workspace(Value):
    """A workspace as one of its members sees it."""

    id: str
    name: str
    role: MemberRole
    content: str
    updated_by: str | None
    updated_at: str | None
    version: int


class Workspaces:
    """Reads and changes workspaces. Every method raises Denied without the right, NotFound for what is not there."""

    def __init__(self, store: Store) -> None:
        self._rows, self._preferences = WorkspaceRows(store), Preferences(store)

    def list(self, actor: Actor) -> tuple[Workspace, ...]:
        """The workspaces that the person is a member of; the local person has one from the start."""
        actor.need("datasets:read")
        found = self._rows.of_person(actor.id)
        if not found and actor.id == LOCAL.id:
            self._rows.insert(_new(actor, "Personal"), only_first=True)
            found = self._rows.of_person(actor.id)
        return tuple(_shown(record, role) for record, role in found)

    def get(self, actor: Actor, workspace_id: str) -> Workspace:
        """One of them, with its context."""
        actor.need("datasets:read")
        return _shown(*self._found(actor, workspace_id))

    def create(self, actor: Actor, name: str) -> Workspace:
        """A new workspace, with its maker as admin."""
        actor.need("sharing:write")
        record = _new(actor, clean_line(name, "name", _LONGEST_NAME))
        self._rows.insert(record)
        return _shown(record, "admin")

    def rename(self, actor: Actor, workspace_id: str, name: str) -> Workspace:
        """Give it another name."""
        self._need_admin(actor, workspace_id)
        self._rows.rename(workspace_id, clean_line(name, "name", _LONGEST_NAME))
        return self.get(actor, workspace_id)

    def delete(self, actor: Actor, workspace_id: str, *, with_documents: bool = False) -> None:
        """Delete it; chats that were made there stay with who made them. Raises Conflict that names the documents which would go
        with it, unless ``with_documents`` says that they may."""
        record, _ = self._need_admin(actor, workspace_id)
        held = self._rows.delete(workspace_id, with_documents=with_documents)
        if held:
            named = ", ".join(held[:3]) + (f" and {len(held) - 3} more" if len(held) > 3 else "")
            raise Conflict(
                f"Its library holds {len(held)} document{'' if len(held) == 1 else 's'} that would be deleted with it: {named}.",
                where=record.name, to_do="Keep what you need, then delete it with its documents.",
            )

    def write_context(self, actor: Actor, workspace_id: str, content: str, seen: int) -> Workspace:
        """Replace the AI context that was read at version ``seen``. Raises Conflict when somebody else saved it since."""
        record, role = self._need_admin(actor, workspace_id)
        written = self._rows.write_content(workspace_id, seen, checked_content(content), actor.id, actor.name)
        if written is None:
            raise self.conflict(record)
        return _shown(written, role)

    def need_context_admin(self, actor: Actor, workspace_id: str) -> Workspace:
        """The workspace, if this person may write its context."""
        return _shown(*self._need_admin(actor, workspace_id))

    @staticmethod
    def conflict(found: Workspace | WorkspaceRecord) -> Conflict:
        """The error for a context that somebody else saved."""
        by = found.updated_by if isinstance(found, Workspace) else found.content_by_name
        return Conflict(
            f"{by or 'Somebody'} saved this context after you read it; nothing was overwritten.", where=found.name,
            to_do="Read it again and re-apply your edit.",
        )

    def members(self, actor: Actor, workspace_id: str) -> tuple[MemberRecord, ...]:
        """Who is in it."""
        actor.need("sharing:read")
        self._found(actor, workspace_id)
        return self._rows.members(workspace_id)

    def set_member(self, actor: Actor, workspace_id: str, person: str, role: MemberRole | None) -> None:
        """Add a member, change one's role, or take one out with None. One admin always stays."""
        self._need_admin(actor, workspace_id)
        if role is not None and role not in MEMBER_ROLES:
            raise BadInput(f"{role} is no role in a workspace.", to_do=f"Choose {' or '.join(MEMBER_ROLES)}.")
        if not self._rows.put_member(workspace_id, person, role, actor.id):
            raise BadInput("A workspace keeps at least one admin.", where="member", to_do="Make somebody else admin first.")

    def active(self, actor: Actor) -> Workspace | None:
        """The workspace that this person works in: the chosen one, else the first there is."""
        found = self.list(actor)
        chosen = self._preferences.get(actor.id, _ACTIVE)
        return next((w for w in found if w.id == chosen), found[0] if found else None)

    def set_active(self, actor: Actor, workspace_id: str) -> None:
        """Work in another workspace."""
        self._found(actor, workspace_id)
        self._preferences.set(actor.id, _ACTIVE, workspace_id)

    def remember_read(self, actor: Actor, found: Workspace) -> None:
        """Keep which version of a context this person read last, whatever client they read it with."""
        self._preferences.set(actor.id, f"read:{found.id}", found.version)

    def read_version(self, actor: Actor, workspace_id: str) -> int | None:
        """That version; None when they never read it."""
        seen = self._preferences.get(actor.id, f"read:{workspace_id}")
        return seen if isinstance(seen, int) else None

    def _need_admin(self, actor: Actor, workspace_id: str) -> tuple[WorkspaceRecord, MemberRole]:
        actor.need("sharing:write")
        actor.need("datasets:read")
        record, role = self._found(actor, workspace_id)
        if role != "admin":
            raise Denied("Only an admin of this workspace may do that.", where=record.name, to_do="Ask one of its admins.")
        return record, role

    def _found(self, actor: Actor, workspace_id: str) -> tuple[WorkspaceRecord, MemberRole]:
        found = self._rows.get(workspace_id, actor.id) if is_id(workspace_id, "ws") else None
        if found is None:
            raise NotFound("There is no such workspace.", where=workspace_id[:60], to_do="Look at list_workspaces.")
        return found[0], "admin" if found[1] == "admin" else "member"


def checked_content(content: str) -> str:
    """A context as it may be kept. Raises BadInput for one that is too long."""
    text = visible_text(content).strip()
    if len(text) > MAX_CONTENT:
        raise BadInput(f"A context has at most {MAX_CONTENT:,} characters.", where="content", to_do="Shorten it.")
    return text


def _new(actor: Actor, name: str) -> WorkspaceRecord:
    return WorkspaceRecord(
        id=new_id("ws"), name=name, content="", row_version=1, created_by=actor.id, created_at=now()
    )


def _shown(record: WorkspaceRecord, role: str) -> Workspace:
    return Workspace(
        id=record.id, name=record.name, role="admin" if role == "admin" else "member", content=record.content,
        updated_by=record.content_by_name, updated_at=None if record.content_at is None else moment(record.content_at),
        version=record.row_version,
    )
