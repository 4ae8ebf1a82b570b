"""A finished run as one JSON object: what ``ask --json`` prints and other programs read. Absent parts are null.

Dates are ISO 8601, NaN and infinities are null, decimals are numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from lexsi_ds.agent import events as ev
from lexsi_ds.agent.context import AgentContext
from lexsi_ds.agent.given import task_lines, waits
from lexsi_ds.agent.tools.predict import top_rows
from lexsi_ds.models.engine import CaseExplanation
from lexsi_ds.services.result_graph import Look, graph_of
from lexsi_ds.text_to_sql.reading import Predictive, Written

SCHEMA_VERSION = 1


def report(
    question: str, events: Sequence[ev.Event], ctx: AgentContext, *, max_rows: int = 1000, look: Look = lambda _: None
) -> dict[str, Any]:
    """The object for a run whose events are all here; ``look`` reads what it made, for the graph."""
    done = events[-1]
    assert isinstance(done, ev.Done)
    ask = next((e for e in events if isinstance(e, ev.Ask)), None)
    errors = [e.message for e in events if isinstance(e, ev.Failed)]
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": ctx.run_id,
        "question": question,
        "state": done.state,
        "answer": done.answer or (errors[-1] if errors else None),
        "reading": done.reading,
        "options": ask.options if ask else None,
        "suggestions": done.suggestions or None,
        "caveats": done.caveats or None,
        "written": _written(ctx),
        "sql": ctx.cache.get("last_sql"),
        "result": _result(ctx.cache.get("last_sql_result"), ctx.cache.get("_last_columns"), max_rows),
        "parts": _parts(ctx, max_rows),
        "steps": _steps(events),
        "task": _task(ctx),
        "predictions": _predictions(ctx),
        "xai": _xai(ctx),
        "graph": _graph(question, events, ctx, look),
        "sources": _sources(ctx),
        "usage": done.usage or None,
    }


def _graph(question: str, events: Sequence[ev.Event], ctx: AgentContext, look: Look) -> dict[str, Any]:
    """How the answer was made."""
    data = ctx.dataset
    about = {"source_id": data.source_id, "snapshot_id": data.snapshot_id, "snapshot_number": data.snapshot_number}
    told = (e.model_dump(mode="json") for e in events)
    return graph_of(ctx.run_id, question, told, look, **about).model_dump(mode="json", exclude={"run_id"})


def refused(question: str, state: str, message: str) -> dict[str, Any]:
    """The object for a question that never became a run, such as a line of a file that is no JSON."""
    keys = (
        "run_id",
        "reading",
        "options",
        "suggestions",
        "caveats",
        "written",
        "sql",
        "result",
        "parts",
        "task",
        "predictions",
        "xai",
        "graph",
        "sources",
        "usage",
    )
    return {
        "schema_version": SCHEMA_VERSION,
        "question": question,
        "state": state,
        "answer": message,
        "steps": [],
    } | dict.fromkeys(keys)


def _result(frame: pd.DataFrame | None, shown: list[dict[str, Any]] | None, max_rows: int) -> dict[str, Any] | None:
    if frame is None:
        return None
    columns = shown or [{"name": str(c), "type": str(t)} for c, t in zip(frame.columns, frame.dtypes, strict=True)]
    rows = [[plain(v) for v in row] for row in frame.head(max_rows).itertuples(index=False, name=None)]
    return {"columns": columns, "rows": rows, "row_count": len(frame), "truncated": len(frame) > max_rows}


def _parts(ctx: AgentContext, max_rows: int) -> list[dict[str, Any]] | None:
    """Each question of several that were asked in one go: its answer, reading, SQL and rows; null where it was one."""
    parts: Sequence[dict[str, Any]] = ctx.cache.get("_parts", ())
    none = (None, None)
    return [part | {"result": _result(*(part["result"] or none), max_rows=max_rows)} for part in parts] or None


def _written(ctx: AgentContext) -> dict[str, Any] | None:
    """What a language model had to do with the SQL: drafts asked for and agreed, tokens, seconds; null when none was asked."""
    written: Written | None = ctx.cache.get("_written_by")
    return written.model_dump(mode="json") if written is not None else None


def _steps(events: Sequence[ev.Event]) -> list[dict[str, Any]]:
    calls = {e.call_id: e for e in events if isinstance(e, ev.ToolCalled)}
    return [
        {
            "tool": e.name,
            "args": calls[e.call_id].args,
            "ok": e.ok,
            "summary": e.summary,
            "seconds": e.meta.get("seconds"),
        }
        for e in events
        if isinstance(e, ev.ToolReturned) and e.call_id in calls
    ]


def _predictions(ctx: AgentContext) -> dict[str, Any] | None:
    frame: pd.DataFrame | None = ctx.cache.get("last_predictions")
    shown: dict[str, Any] | None = ctx.cache.get("_predictions_meta")
    if frame is None or shown is None:
        return None
    top = top_rows(frame, shown["top_k"])
    return {
        "row_count": len(frame),
        "ranked_count": shown["ranked"],
        "columns": [str(c) for c in frame.columns],
        "top": [{str(k): plain(v) for k, v in row.items()} for row in top.to_dict("records")],
    }


def _task(ctx: AgentContext) -> dict[str, Any] | None:
    """The task of a prediction as its card has it; ``draft`` is what ``--task`` takes, changed or not."""
    reading: Predictive | None = ctx.cache.get("_predictive")
    if reading is None:
        return None
    return {
        "lines": [{"about": about, "text": text} for about, text in task_lines(reading)],
        "doubts": list(reading.doubts),
        "waits": waits(reading, ctx),
        "draft": reading.draft,
    }


def _xai(ctx: AgentContext) -> list[dict[str, Any]] | None:
    cases: list[CaseExplanation] | None = ctx.cache.get("_cases")
    if not cases:
        return None
    return [
        {
            "case_id": c.case_id,
            "scale": c.scale,
            "base_value": plain(c.base_value),
            "prediction": plain(c.prediction),
            "drivers": [
                {"feature": d.feature, "value": plain(d.value), "contribution": plain(d.contribution)}
                for d in c.drivers
            ],
            "summary": c.summary,
        }
        for c in cases
    ]


def _sources(ctx: AgentContext) -> list[str]:
    return [f"{ctx.dataset.name}, snapshot {ctx.dataset.snapshot_number}"]


def plain(value: Any) -> Any:
    """A cell as JSON has it."""
    if value is None or value is pd.NaT or value is pd.NA:
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, pd.Timestamp):
        return value.date().isoformat() if value == value.normalize() and value.tz is None else value.isoformat()
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, (timedelta, pd.Timedelta)):
        return str(value)
    if isinstance(value, np.ndarray):
        return [plain(v) for v in value.tolist()]
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    return value if isinstance(value, (bool, int, str)) else str(value)
