"""The graph of a run of one's own: its events, its artifacts and the findings that were proposed from it, put together on demand.

Must never: show a run, an artifact or a finding of somebody else.
"""

from __future__ import annotations

from typing import Any

from lexsi_ds.errors import LexsiError, NotFound
from lexsi_ds.services.access import Actor
from lexsi_ds.services.artifacts import Artifacts
from lexsi_ds.services.chats import Chats
from lexsi_ds.services.findings import Findings
from lexsi_ds.services.result_graph import Look, Made, ResultGraph, file_hash, graph_of
from lexsi_ds.store.runs import RunRecord


class Lineage:
    """Reads graphs."""

    def __init__(self, chats: Chats, artifacts: Artifacts, findings: Findings) -> None:
        self._chats, self._artifacts, self._findings = chats, artifacts, findings

    def of_run(self, actor: Actor, run_id: str) -> ResultGraph:
        """How the answer of a run was made. Raises NotFound."""
        run = self._chats.run(actor, run_id)
        about = {name: run.meta.get(name) for name in ("source_id", "snapshot_id", "snapshot_number")}
        events = self._chats.events(actor, run_id)
        return graph_of(
            run.id, run.question, events, self._look(actor), findings=self._proposed(actor, run), **about
        )

    def _look(self, actor: Actor) -> Look:
        def look(artifact_id: str) -> Made | None:
            try:
                found = self._artifacts.get(actor, artifact_id)
            except NotFound:
                return None
            body: Any = found.json() if found.kind == "json" else None
            return Made(found.meta, found.meta.get("sha256") or file_hash(found.path), body)

        return look

    def _proposed(self, actor: Actor, run: RunRecord) -> list[tuple[str, str]]:
        """Id and statement of each finding that this run is the origin of, oldest first; none for who may read none."""
        try:
            every = self._findings.list(actor, source_id=run.meta.get("source_id"))
        except LexsiError:
            return []
        return [(f.id, f.statement) for f in reversed(every) if f.run_id == run.id]
