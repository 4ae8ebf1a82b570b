"""The board on Home: result cards that run again on fresh data with one click, and questions with parameters.

A card keeps its own rows, so that it outlives the conversation it came from; running it again is a query like any other, guarded,
with masked columns hidden. A failed run leaves the rows of before and says why. Must never: change a card without a person.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from lexsi_ds.data.frames import to_frame
from lexsi_ds.data.sql import SqlResult, SqlRunner
from lexsi_ds.errors import BadInput, LexsiError, NotFound
from lexsi_ds.ids import is_id, new_id
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.services.access import Actor
from lexsi_ds.services.artifacts import Artifacts
from lexsi_ds.services.catalog import Catalog
from lexsi_ds.services.chats import Chats
from lexsi_ds.services.home_files import HomeFiles
from lexsi_ds.services.sql_desk import SqlDesk
from lexsi_ds.store.board import PinRecord, Pins
from lexsi_ds.store.db import Store
from lexsi_ds.store.records import now

_MOST, _TITLE = 60, 120
PARAMETER = re.compile(r"\{(\w{1,30})\}")
"""A name in a pinned question."""


class Board:
    """Every read and change of the board. All methods raise Denied without the right, NotFound for what is not there."""

    def __init__(
        self, store: Store, home: Path, catalog: Catalog, sql: SqlRunner, artifacts: Artifacts, chats: Chats
    ) -> None:
        self._rows, self._files = Pins(store), HomeFiles(home)
        self._catalog, self._artifacts, self._chats = catalog, artifacts, chats
        self._desk = SqlDesk(catalog, sql)

    def list(self, actor: Actor) -> tuple[PinRecord, ...]:
        """This person's pins in their order."""
        actor.need("chats:read")
        return self._rows.list(actor.id)

    def get(self, actor: Actor, pin_id: str) -> PinRecord:
        """One pin."""
        actor.need("chats:read")
        found = self._rows.get(actor.id, pin_id) if is_id(pin_id, "pin") else None
        if found is None:
            raise NotFound("There is no such pin.", where=pin_id[:60], to_do="Look at the board again.")
        return found

    def pin_card(self, actor: Actor, artifact_id: str, title: str, *, view: Mapping[str, Any] | None = None) -> PinRecord:
        """Pin the rows of a query's result with the query that gave them. Raises BadInput for any other artifact."""
        actor.need("chats:write")
        artifact = self._artifacts.get(actor, artifact_id)
        sql = str(artifact.meta.get("sql") or "")
        if not sql or artifact.kind != "frame":
            raise BadInput("Only rows of a query can be pinned as a card.", where="board", to_do="Pin the question instead.")
        run = self._chats.run(actor, artifact.run_id)
        source_id, snapshot = str(run.meta.get("source_id") or ""), str(run.meta.get("snapshot_id") or "")
        handle = self._catalog.handle(actor, source_id)
        pin_id, rows = new_id("pin"), artifact.arrow().num_rows
        target = self._files.folder("pins", pin_id) / f"{new_id('res')}.arrow"
        shutil.copyfile(artifact.path, target)
        result = {
            "path": self._files.text_of(target), "rows": rows, "seconds": artifact.meta.get("seconds"), "snapshot_id": snapshot,
            "snapshot_number": run.meta.get("snapshot_number") or handle.snapshot_number,
        }  # fmt: skip
        drawn = {k: artifact.meta.get(k) for k in ("value_column", "group_columns", "unit", "reading")} | dict(view or {})
        return self._insert(actor, pin_id, {
            "kind": "card", "source_id": source_id, "title": _titled(title), "question": run.question, "sql": sql, "view": drawn,
            "run_id": run.id, "result": result, "refreshed_at": now(),
        })  # fmt: skip

    def pin_question(
        self, actor: Actor, source_id: str, question: str, title: str, parameters: Mapping[str, str] | None = None
    ) -> PinRecord:
        """Pin a question; each ``{name}`` in it is a parameter and needs a first value."""
        actor.need("chats:write")
        self._catalog.handle(actor, source_id)
        text, values = question.strip(), {k: str(v).strip() for k, v in (parameters or {}).items()}
        named = dict.fromkeys(PARAMETER.findall(text))
        if not text:
            raise BadInput("The question is empty.", where="board", to_do="Write a question.")
        if missing := [name for name in named if not values.get(name)]:
            raise BadInput(f"These have no value yet: {', '.join(missing)}.", where="board", to_do="Give each one.")
        kept = {name: values[name] for name in named}
        return self._insert(actor, new_id("pin"), {
            "kind": "question", "source_id": source_id, "title": _titled(title or text), "question": text,
            "parameters": kept or None,
        })  # fmt: skip

    def asked(self, actor: Actor, pin_id: str, values: Mapping[str, str] | None = None) -> tuple[str, str]:
        """Source and words of a pinned question with its parameters filled in; what was given now is kept for the next time."""
        pin = self.get(actor, pin_id)
        given = {k: " ".join(str(v).split()) for k, v in (values or {}).items() if k in (pin.parameters or {})}
        if empty := [k for k, v in given.items() if not v]:
            raise BadInput(f"These have no value: {', '.join(empty)}.", where=pin.title, to_do="Give each one.")
        kept = (pin.parameters or {}) | given
        if given and kept != pin.parameters:
            actor.need("chats:write")
            self._rows.change(actor.id, pin.id, pin.row_version, parameters=kept)
        return pin.source_id, filled(pin.question, kept)

    def rows(self, actor: Actor, pin_id: str, most: int | None = None) -> pd.DataFrame:
        """The rows of a card as they were when it last ran. Raises NotFound when the file is gone."""
        return to_frame(self._arrow(self.get(actor, pin_id), most))

    def arrow_path(self, actor: Actor, pin_id: str) -> Path:
        """The Arrow stream file of a card's rows."""
        return self._path(self.get(actor, pin_id))

    def refresh(self, actor: Actor, pin_id: str, *, cancel: Cancel | None = None) -> PinRecord:
        """Run a card's query on the newest version of its source. A failure is kept on the card and raised."""
        actor.need("chats:write")
        pin = self.get(actor, pin_id)
        if pin.kind != "card" or not pin.sql:
            raise BadInput("A question is asked, not run again.", where=pin.title, to_do="Ask it.")
        try:
            handle = self._catalog.handle(actor, pin.source_id)
            made = self._desk.run(actor, pin.source_id, pin.sql, cancel=cancel)
        except LexsiError as error:
            self._rows.change(actor.id, pin.id, pin.row_version, error=str(error)[:900])
            raise
        old = (pin.result or {}).get("path")
        self._rows.change(
            actor.id, pin.id, pin.row_version, error=None, refreshed_at=now(),
            result=self._kept(pin.id, made) | {"snapshot_id": handle.snapshot_id, "snapshot_number": handle.snapshot_number},
        )  # fmt: skip
        self._forget(old)
        return self.get(actor, pin_id)

    def draw_as(self, actor: Actor, pin_id: str, view: Mapping[str, Any]) -> None:
        """Change how a card is drawn."""
        actor.need("chats:write")
        pin = self.get(actor, pin_id)
        self._rows.change(actor.id, pin.id, pin.row_version, view=(pin.view or {}) | dict(view))

    def rename(self, actor: Actor, pin_id: str, title: str) -> None:
        """Give a pin another title."""
        actor.need("chats:write")
        pin = self.get(actor, pin_id)
        self._rows.change(actor.id, pin.id, pin.row_version, title=_titled(title))

    def move(self, actor: Actor, pin_id: str, by: int) -> None:
        """Move a pin up (-1) or down (1); at the end nothing happens."""
        actor.need("chats:write")
        every = [p.id for p in self.list(actor)]
        at = every.index(self.get(actor, pin_id).id)
        if 0 <= at + by < len(every):
            self._rows.swap(actor.id, pin_id, every[at + by])

    def unpin(self, actor: Actor, pin_id: str) -> None:
        """Take a pin off the board, and its rows from disk."""
        actor.need("chats:write")
        pin = self.get(actor, pin_id)
        self._rows.delete(actor.id, pin.id)
        shutil.rmtree(self._files.home / "pins" / pin.id, ignore_errors=True)

    def _insert(self, actor: Actor, pin_id: str, values: dict[str, Any]) -> PinRecord:
        if len(self._rows.list(actor.id)) >= _MOST:
            shutil.rmtree(self._files.home / "pins" / pin_id, ignore_errors=True)
            raise BadInput(f"The board holds {_MOST} pins.", where="board", to_do="Take one off first.")
        self._rows.insert(actor.id, {"id": pin_id, **values})
        return self.get(actor, pin_id)

    def _kept(self, pin_id: str, made: SqlResult) -> dict[str, Any]:
        target = self._files.folder("pins", pin_id) / f"{new_id('res')}.arrow"
        shutil.move(made.path, target)
        return {"path": self._files.text_of(target), "rows": made.row_count, "seconds": made.seconds}

    def _forget(self, text: str | None) -> None:
        if text:
            (self._files.home / text).unlink(missing_ok=True)

    def _path(self, pin: PinRecord) -> Path:
        return self._files.path_of(str((pin.result or {}).get("path") or "?"), "pin")

    def _arrow(self, pin: PinRecord, most: int | None) -> pa.Table:
        with pa.memory_map(str(self._path(pin))) as mapped, pa.ipc.open_stream(mapped) as reader:
            table = reader.read_all()
        return table if most is None else table.slice(0, most)


def filled(question: str, values: Mapping[str, str]) -> str:
    """A question with its parameters in place."""
    return PARAMETER.sub(lambda m: values.get(m[1], m[0]), question)


def _titled(title: str) -> str:
    line = " ".join(title.split())
    if not line:
        raise BadInput("A pin needs a title.", where="board", to_do="Give it a short one.")
    return line if len(line) <= _TITLE else line[: _TITLE - 1].rstrip() + "…"
