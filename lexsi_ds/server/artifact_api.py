"""What a run made, at an address of its own: rows as JSON, a page at a time, or all of them as CSV; the rest as JSON.

Only who may read the run gets it, and what does not exist is told like what one may not see. Values of masked columns stay.
Must never: send a cut result without saying how long the whole is, or hold more in memory than `MOST_BYTES` of a file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lexsi_ds.agent.report import plain
from lexsi_ds.application import Application
from lexsi_ds.data.frames import to_frame
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import BadInput, NotFound
from lexsi_ds.server.withheld import HELD_BACK, case_of, masked_names, rows_may_leave
from lexsi_ds.services.access import Actor
from lexsi_ds.services.artifacts import Artifact

MOST_BYTES = 64 * 2**20
"""Largest file or answer that is sent whole."""
MOST_ROWS, _ROWS = 10_000, 1_000


class ArtifactTooLarge(Exception):
    """What was asked for is larger than `MOST_BYTES`."""


def served(app: Application, actor: Actor, run_id: str, artifact_id: str, asked: Mapping[str, str]) -> tuple[str, bytes]:
    """Media type and body. ``asked`` may hold ``format``, ``offset`` and ``limit``.

    Raises NotFound, BadInput for what does not fit, ArtifactTooLarge.
    """
    run = app.chats.run(actor, run_id)
    found = app.chats.artifact(actor, artifact_id)
    if found.run_id != run.id:
        raise NotFound("There is no such result.", to_do="Ask the question again.")
    if unknown := sorted(set(asked) - {"format", "offset", "limit"}):
        raise BadInput(f"{unknown[0][:40]} is not known here.", where="query", to_do="Give format, offset or limit.")
    wanted = asked.get("format", "json")
    if wanted not in ("json", "csv"):
        raise BadInput("The format is json or csv.", where="format", to_do="Choose one of them.")
    handle = app.catalog.handle(actor, run.meta.get("source_id") or "")
    if found.kind == "json":
        if wanted == "csv":
            raise BadInput("This result holds no rows, so there is no CSV of it.", where="format", to_do="Ask for json.")
        return "application/json", _bounded(_json(found, handle))
    notes = [] if _open(app, handle, found) else [HELD_BACK]
    if wanted == "csv":
        return "text/csv; charset=utf-8", _csv(app, actor, found, handle, notes)
    page = {name: _number(asked, name, usual, most) for name, usual, most in (("offset", 0, 2**53), ("limit", _ROWS, MOST_ROWS))}
    return "application/json", _bounded(_rows(found, handle, notes, **page))


def _open(app: Application, handle: DatasetHandle, found: Artifact) -> bool:
    sql = found.meta.get("sql")
    return sql is None or rows_may_leave(app, handle, str(sql))


def _csv(app: Application, actor: Actor, found: Artifact, handle: DatasetHandle, notes: list[str]) -> bytes:
    if notes:
        raise BadInput(notes[0], where=found.id, to_do="Ask a question that does not read them.")
    if found.path.stat().st_size > MOST_BYTES:
        raise ArtifactTooLarge
    body = app.artifacts.csv(actor, found.id, leave_out=masked_names(handle))
    if len(body) > MOST_BYTES:
        raise ArtifactTooLarge
    return body


def _rows(found: Artifact, handle: DatasetHandle, notes: list[str], *, offset: int, limit: int) -> dict[str, Any]:
    table, masked = found.arrow(), masked_names(handle)
    table = table.select([name for name in table.column_names if name.casefold() not in masked])
    part = to_frame(table.slice(offset, 0 if notes else limit))
    return _head(found) | {
        "columns": [{"name": f.name, "type": str(f.type)} for f in table.schema],
        "rows": [[plain(v) for v in row] for row in part.itertuples(index=False, name=None)],
        "offset": offset, "row_count": table.num_rows, "truncated": offset + len(part) < table.num_rows, "notes": notes,
    }  # fmt: skip


def _json(found: Artifact, handle: DatasetHandle) -> dict[str, Any]:
    if found.path.stat().st_size > MOST_BYTES:
        raise ArtifactTooLarge
    content = found.json()
    if found.meta.get("tool") == "explain_prediction":
        content |= {"cases": [case_of(case, masked_names(handle)) for case in content["cases"]]}
    return _head(found) | {"content": content}


def _head(found: Artifact) -> dict[str, Any]:
    return {"artifact_id": found.id, "run_id": found.run_id, "kind": found.kind, "tool": found.meta.get("tool")}


def _number(asked: Mapping[str, str], name: str, usual: int, most: int) -> int:
    given = asked.get(name)
    if given is None:
        return usual
    if not given.isascii() or not given.isdigit() or len(given) > 16 or int(given) > most:
        raise BadInput(f"{name} is a number from 0 to {most}.", where=name, to_do="Give such a number.")
    return int(given)


def _bounded(body: dict[str, Any]) -> bytes:
    made = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    if len(made) > MOST_BYTES:
        raise ArtifactTooLarge
    return made
