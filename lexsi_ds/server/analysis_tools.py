"""Our own tools: ask, run_sql, train, predict, explain. Each is a service that the app uses too; what they make is kept there.

What leaves goes to a model, so values of masked columns stay: queries run on tables without them. Must never: send a cut list
without saying how long the whole is.
"""

from __future__ import annotations

import pandas as pd

from lexsi_ds.agent.report import plain
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import NotFound, Stopped
from lexsi_ds.models.card import ModelCard
from lexsi_ds.server.analysis_shapes import (
    Answered,
    Ask,
    Explain,
    Explained,
    Predict,
    Predicted,
    Queried,
    RunSql,
    Train,
    Trained,
)
from lexsi_ds.server.tool import Call, Json, ServerTool
from lexsi_ds.server.withheld import HELD_BACK, case_of, masked_names, rows_may_leave, without
from lexsi_ds.services.model_training import TrainRequest

_WAIT_S = 0.5


def handle_of(call: Call, named: str | None) -> DatasetHandle:
    """The source that a name means. Raises NotFound, and Ambiguous for a name of several."""
    app, actor = call.app, call.actor
    if named is None:
        handle = app.active_handle(actor)
        if handle is None:
            raise NotFound("There is no data yet.", to_do="Connect data in the app, or start the server with --dataset.")
        return handle
    known = {s.id: s for s in app.catalog.sources(actor)}
    called = [s.id for s in known.values() if s.name == named]
    if named.startswith("con_") or len(called) == 1:
        return app.catalog.handle(actor, called[0] if called else named)
    _, source = app.datasets.resolve(actor, named)
    return app.catalog.handle(actor, source.id)


def _ask(call: Call) -> Json:
    asked: Ask = call.arguments
    chats = call.app.chats
    about = asked.conversation_id and chats.get(call.actor, asked.conversation_id).source_id
    handle = handle_of(call, asked.source or about or None)
    conversation = asked.conversation_id or chats.new(call.actor, handle.source_id)
    run_id = chats.ask(call.actor, conversation, asked.question, handle.source_id)
    events = _followed(call, run_id)
    done = events[-1]
    asks = next((e for e in reversed(events) if e["type"] == "ask"), {})
    errors = [e["message"] for e in events if e["type"] == "error"]
    made = [call.app.chats.artifact(call.actor, a) for e in events if e["type"] == "tool_result" for a in e["artifact_ids"]]
    frames = [a for a in made if a.kind == "frame"]
    queries = [a for a in frames if a.meta.get("tool") == "run_sql"]
    result, notes = _shown(call, handle, frames[-1].frame(), queries[-1].meta["sql"], asked.limit) if queries else (None, [])
    models = [a.json() for a in made if a.meta.get("tool") == "train_tabular_model"]
    cases = [a.json() for a in made if a.meta.get("tool") == "explain_prediction"]
    return {
        "conversationId": conversation, "runId": run_id, "state": done["state"],
        "answer": done.get("answer") or asks.get("question") or (errors[-1] if errors else None),
        "reading": done.get("reading"), "options": asks.get("options") or [], "caveats": done.get("caveats") or [],
        "suggestions": done.get("suggestions") or [], "sql": queries[-1].meta["sql"] if queries else None, "result": result,
        "cases": [case_of(c, masked_names(handle)) for each in cases[-1:] for c in each["cases"]],
        "modelId": models[-1]["model_id"] if models else None,
        "sources": done.get("sources") or [f"{handle.name}, snapshot {handle.snapshot_number}"], "notes": notes,
    }


def _followed(call: Call, run_id: str) -> list[Json]:
    """Every event of a run, up to its end; a caller that goes away stops it."""
    chats, events = call.app.chats, []
    while not events or events[-1]["type"] != "done":
        if call.cancel.is_set:
            chats.stop(call.actor, run_id)
            raise Stopped
        found = chats.events(call.actor, run_id, len(events), _WAIT_S)
        events += found
        for event in found:
            if event["type"] == "tool":
                call.tell({"text": f"Calling {event['name']}…"})
            elif event["type"] == "progress":
                call.tell(event)
    return events


def _shown(call: Call, handle: DatasetHandle, frame: pd.DataFrame, sql: str, limit: int) -> tuple[Json, list[str]]:
    """The rows of an answer, unless a masked value may be in them: then the query would not run without those columns."""
    frame = without(frame, masked_names(handle))
    if not rows_may_leave(call.app, handle, sql, call.cancel):
        return _rows(frame, 0), [HELD_BACK]
    return _rows(frame, limit), []


def _rows(frame: pd.DataFrame, limit: int) -> Json:
    shown = [[plain(v) for v in row] for row in frame.head(limit).itertuples(index=False, name=None)]
    columns = [{"name": str(name), "type": str(kind)} for name, kind in zip(frame.columns, frame.dtypes, strict=True)]
    return {"columns": columns, "rows": shown, "rowCount": len(frame), "truncated": len(frame) > len(shown)}


def _run_sql(call: Call) -> Json:
    asked: RunSql = call.arguments
    handle = handle_of(call, asked.source)
    result = call.app.sql.run_without_masked(handle, asked.sql, cancel=call.cancel, tell=call.tell)
    try:
        body = _rows(result.head(asked.limit), asked.limit)
    finally:
        result.path.unlink(missing_ok=True)
    columns = [{"name": c.name, "type": c.type} for c in result.columns]
    return body | {
        "columns": columns, "rowCount": result.row_count, "truncated": result.row_count > len(body["rows"]), "sql": asked.sql,
        "source": {"connectorId": handle.source_id, "name": handle.name, "snapshot": handle.snapshot_number},
        "seconds": round(result.seconds, 3),
    }


def _train(call: Call) -> Json:
    asked: Train = call.arguments
    given = asked.model_dump(exclude={"source", "exclude"})
    request = TrainRequest(**given, exclude=tuple(asked.exclude))
    handle = handle_of(call, asked.source)
    card = call.app.training.train(call.actor, handle, request, via=call.via, cancel=call.cancel, tell=call.tell)
    return _card(card)


def _card(card: ModelCard) -> Json:
    candidates = [
        {"modelType": c.model_type, "chosen": c.chosen, "figure": c.main_name, "value": c.main.value, "low": c.main.low,
         "high": c.main.high}
        for c in card.candidates
    ]
    return {
        "modelId": card.id, "name": card.name, "modelType": card.model_type, "target": card.task.target_label,
        "rows": card.rows, "candidates": candidates, "whyChosen": card.why_chosen,
        "notes": [*card.headlines, *card.warnings, *card.notes],
        "leftOut": [{"name": out.name, "reason": out.reason} for out in card.left_out],
    }


def _predict(call: Call) -> Json:
    asked: Predict = call.arguments
    call.app.scoring.model(call.actor, asked.model)
    handle = handle_of(call, asked.source)
    scored = call.app.scoring.source(
        call.actor, asked.model, handle, table=asked.table, fill_missing=asked.fill_missing, cancel=call.cancel, tell=call.tell
    )
    top, _ = call.app.models.page(call.actor, scored.predictions_id, limit=asked.limit)
    body = _rows(without(top, masked_names(handle)), asked.limit)
    return body | {
        "rowCount": scored.rows, "truncated": scored.rows > len(body["rows"]), "predictionsId": scored.predictions_id,
        "modelId": scored.model_id, "model": scored.model_name, "rankedCount": scored.ranked,
        "entityColumn": scored.entity_column, "notes": list(scored.notes),
    }


def _explain(call: Call) -> Json:
    asked: Explain = call.arguments
    _, card = call.app.scoring.model(call.actor, asked.model)
    scale = asked.scale or ("value" if card.task.task_type == "regression" else "probability")
    body: Json = {"modelId": card.id, "scale": scale, "cases": [], "importance": [], "explainedRows": None}
    if asked.case_ids:
        told = call.app.explanations.cases(call.actor, card.id, asked.case_ids, scale)
        return body | {"cases": [case_of(t.case.model_dump(mode="json"), frozenset()) for t in told]}
    overall = call.app.overall_explanation(call.actor, card.id, scale)
    features = [{"feature": f.feature, "label": f.label, "meanAbs": f.mean_abs, "unit": f.unit} for f in overall.features]
    return body | {"importance": features, "explainedRows": overall.rows}


TOOLS = (
    ServerTool(
        "ask", "Ask a question",
        "Answer a question about the data, asked in plain words: the reading taken, SQL, rows, and where it is a prediction the "
        "model, the scores and why. The run is kept as a conversation. state needs_clarification means that options say what could "
        "be meant; ask one of them with the same conversationId. It can take a minute and sends progress.",
        Ask, Answered, ("datasets:read", "chats:write"), _ask, reads_only=False, idempotent=False, ours=True,
    ),
    ServerTool(
        "run_sql", "Run SQL",
        "Run one DuckDB SELECT on the tables of a source, in a sandbox that can read nothing else. Masked columns are not there.",
        RunSql, Queried, ("datasets:read",), _run_sql, ours=True,
    ),
    ServerTool(
        "train", "Train a model",
        "Train a model on one table from its target column, keep it, and return its card: types compared, figures with intervals, "
        "what was left out and why. It can take minutes and sends progress.",
        Train, Trained, ("datasets:read", "models:write"), _train, reads_only=False, idempotent=False, ours=True,
    ),
    ServerTool(
        "predict", "Score rows",
        "Score a table with a model that was trained before, keep the scores, and return the highest ones with all notes that must "
        "be known before a score is read.",
        Predict, Predicted, ("datasets:read", "models:write"), _predict, reads_only=False, idempotent=False, ours=True,
    ),
    ServerTool(
        "explain", "Explain scores",
        "Why cases got their scores: SHAP values of each driver and a sentence; without case ids, what moves the model as a whole.",
        Explain, Explained, ("models:read",), _explain, ours=True,
    ),
)
