"""Turns what a tool returned into artifacts on disk, so that a screen, a reload and another process can show it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from lexsi_ds.agent.tools.base import ToolResult
from lexsi_ds.ids import new_id
from lexsi_ds.services.result_graph import Made, file_hash


class ArtifactSink(Protocol):
    """Where artifacts go: the store behind the app, a dict behind the command line."""

    def save_frame(self, run_id: str, data: pd.DataFrame | Path, meta: dict[str, Any]) -> str:
        """Keep a frame (or an Arrow stream file that already holds it); returns its id."""
        ...

    def save_json(self, run_id: str, body: Any, meta: dict[str, Any]) -> str:
        """Keep a JSON value; returns its id."""
        ...


class MemorySink:
    """Artifacts of a run that nobody opens later: the command line's."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[Any, dict[str, Any]]] = {}

    def save_frame(self, run_id: str, data: pd.DataFrame | Path, meta: dict[str, Any]) -> str:
        """Keep the frame or its path under a fresh id."""
        return self._keep(data, meta)

    def save_json(self, run_id: str, body: Any, meta: dict[str, Any]) -> str:
        """Keep the value under a fresh id."""
        return self._keep(body, meta)

    def look(self, artifact_id: str) -> Made | None:
        """What the graph of a result needs of an artifact; hashes are those that the store would give."""
        if artifact_id not in self.kept:
            return None
        body, meta = self.kept[artifact_id]
        if isinstance(body, Path):
            return Made(meta, file_hash(body) if body.is_file() else None)
        if isinstance(body, pd.DataFrame):
            return Made(meta)
        text = json.dumps(body, ensure_ascii=False, allow_nan=False)
        return Made(meta, hashlib.sha256(text.encode()).hexdigest(), body)

    def _keep(self, body: Any, meta: dict[str, Any]) -> str:
        artifact_id = new_id("art")
        self.kept[artifact_id] = (body, meta)
        return artifact_id


def keep(tool: str, result: ToolResult, run_id: str, sink: ArtifactSink) -> list[str]:
    """Store a result's payload; a frame keeps its own file when the tool wrote one. Returns the artifact ids."""
    if result.payload is None:
        return []
    meta = {"tool": tool} | result.meta.get("frame", {})
    if isinstance(result.payload, pd.DataFrame):
        return [sink.save_frame(run_id, result.meta.get("path") or result.payload, meta)]
    return [sink.save_json(run_id, result.payload, meta)]
