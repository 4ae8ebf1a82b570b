"""How an answer was made, as a graph: question, SQL, rows, model, predictions, explanation, narrative and finding, each with
what it was made from, the hash of its content and the step that made it.

It is read from a run's events and from what its artifacts say of themselves; nothing is stored a second time, so an old turn
has its graph too. Must never: open a frame, or hold a value of the data beyond the question's and the labels' own words.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from lexsi_ds.data.handle import Value
from lexsi_ds.errors import NotFound

NodeKind = Literal["question", "sql", "frame", "model", "predictions", "explanation", "narrative", "finding"]
_TITLES: dict[NodeKind, str] = {
    "question": "Question", "sql": "SQL", "frame": "Rows", "model": "Model", "predictions": "Predictions",
    "explanation": "Explanation", "narrative": "Answer", "finding": "Finding",
}  # fmt: skip
_RESULTS = ("frame", "model", "predictions", "explanation")
_TOLD = ("answered", "limit_reached")
"""Ends of a run whose words are an answer; the others ask back or say why there is none."""


class ResultNode(Value):
    """One thing that a run made, or began from."""

    id: str
    """Its name within the run: ``sql-1``."""
    kind: NodeKind
    title: str
    made_from: tuple[str, ...] = ()
    hash: str | None = None
    """SHA-256 of its content: the text of a question, a query or an answer, the file of anything else. None: nothing is kept."""
    call_id: str | None = None
    """The step that made it."""
    artifact_id: str | None = None
    about_id: str | None = None
    """Id of the model, the predictions or the finding."""
    rows: int | None = None
    text: str | None = None
    """The words of a question or an answer, the text of a query."""


class ResultGraph(Value):
    """The nodes of one run, each behind all that it was made from."""

    run_id: str
    source_id: str | None = None
    snapshot_id: str | None = None
    snapshot_number: int | None = None
    nodes: tuple[ResultNode, ...] = ()

    def node(self, node_id: str) -> ResultNode:
        """One node. Raises NotFound."""
        found = next((n for n in self.nodes if n.id == node_id), None)
        if found is None:
            known = ", ".join(n.id for n in self.nodes)
            raise NotFound("This answer has no such part.", where=node_id[:40], to_do=f"Name one of: {known}.")
        return found

    def behind(self, node_id: str) -> tuple[ResultNode, ...]:
        """A node and all that it was made from, in order; of the question, all that was made of it."""
        start = self.node(node_id)
        if start.kind == "question":
            return self.nodes
        wanted, waiting = {start.id}, [start]
        while waiting:
            for name in waiting.pop().made_from:
                if name not in wanted:
                    wanted.add(name)
                    waiting.append(self.node(name))
        return tuple(n for n in self.nodes if n.id in wanted)


@dataclass(frozen=True)
class Made:
    """An artifact as the graph needs it: what it says of itself, its hash, and its value where it is JSON."""

    meta: Mapping[str, Any]
    hash: str | None = None
    body: Any = None


Look = Callable[[str], "Made | None"]
"""Reads an artifact by id; None when it is gone."""


@dataclass
class _Weaving:
    """The graph as far as the events were read."""

    look: Look
    nodes: dict[str, ResultNode] = field(default_factory=dict)
    args: dict[str, dict[str, Any]] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    """SQL of ``text_to_sql`` to the call that wrote it."""
    labels: dict[str, str] = field(default_factory=dict)
    """Label of rows to their node."""
    told_by: Mapping[str, Any] = field(default_factory=dict)
    """The step that worded the answer."""

    def add(self, kind: NodeKind, made_from: Iterable[str], *, title: str = "", **more: Any) -> str:
        """A new node; its id."""
        node_id = f"{kind}-{sum(n.kind == kind for n in self.nodes.values()) + 1}"
        self.nodes[node_id] = ResultNode(
            id=node_id, kind=kind, title=title or _TITLES[kind], made_from=tuple(dict.fromkeys(made_from)), **more
        )
        return node_id

    def last(self, kind: NodeKind, about_id: str | None = None) -> str | None:
        """The newest node of a kind, about one thing where it is named."""
        found = [n.id for n in self.nodes.values() if n.kind == kind and about_id in (None, n.about_id)]
        return found[-1] if found else None

    def model(self, model_id: str) -> str:
        """The node of a model; one of an earlier run has no step here."""
        return self.last("model", model_id) or self.add("model", (), title="Model of before", about_id=model_id)

    def returned(self, event: Mapping[str, Any]) -> None:
        """Take in what a step made."""
        weave = _STEPS.get(str(event.get("name")))
        if not event.get("ok") or weave is None:
            return
        artifact_id = next(iter(event.get("artifact_ids") or ()), None)
        made = self.look(artifact_id) if artifact_id else None
        if made is not None:
            weave(self, made, {"call_id": str(event["call_id"]), "artifact_id": artifact_id, "hash": made.hash},
                  self.args.get(str(event["call_id"]), {}))

    def leaves(self) -> list[str]:
        """The results that nothing else was made from; the queries, or the question, where there are none."""
        used = {name for n in self.nodes.values() if n.kind in _RESULTS for name in n.made_from}
        results = [n.id for n in self.nodes.values() if n.kind in _RESULTS and n.id not in used]
        return results or [n.id for n in self.nodes.values() if n.kind == "sql"] or ["question-1"]


def _wrote(it: _Weaving, made: Made, step: dict[str, Any], _args: dict[str, Any]) -> None:
    body = made.body if isinstance(made.body, dict) else {}
    task = body.get("task") or {}
    for text in (body.get("sql"), task.get("context_sql"), task.get("predict_sql")):
        if text:
            it.written[str(text)] = step["call_id"]


def _ran(it: _Weaving, made: Made, step: dict[str, Any], _args: dict[str, Any]) -> None:
    text, label = str(made.meta.get("sql") or ""), made.meta.get("label")
    sql = next((n.id for n in it.nodes.values() if n.kind == "sql" and n.text == text), None)
    if sql is None:
        sql = it.add("sql", ["question-1"], call_id=it.written.get(text, step["call_id"]), hash=_hash(text), text=text)
    rows = made.meta.get("row_count")
    frame = it.add("frame", [sql], title=f"Rows {label}" if label else "", rows=rows, **step)
    if label:
        it.labels[str(label)] = frame


def _read(it: _Weaving, made: Made, step: dict[str, Any], args: dict[str, Any]) -> None:
    body, label = made.body if isinstance(made.body, dict) else {}, str(args.get("label") or "score_df")
    it.labels[label] = it.add("frame", ["question-1"], title=f"Rows {label}", rows=body.get("rows"), **step)


def _trained(it: _Weaving, made: Made, step: dict[str, Any], args: dict[str, Any]) -> None:
    frame = it.labels.get(str(args.get("df_label")))
    it.add("model", [frame] if frame else ["question-1"], about_id=made.body.get("model_id"), **step)


def _scored(it: _Weaving, made: Made, step: dict[str, Any], args: dict[str, Any]) -> None:
    frame, model = it.labels.get(str(args.get("df_label"))), it.model(str(made.meta.get("model_id")))
    about = {"about_id": made.meta.get("predictions_id"), "rows": made.meta.get("rows")}
    it.add("predictions", filter(None, (model, frame)), **about, **step)


def _explained(it: _Weaving, made: Made, step: dict[str, Any], _args: dict[str, Any]) -> None:
    model = it.model(str(made.body.get("model_id")))
    scored = next((n.id for n in reversed(it.nodes.values()) if n.kind == "predictions" and model in n.made_from), None)
    it.add("explanation", [scored or model], rows=len(made.body.get("cases", ())), **step)


def _worded(it: _Weaving, _made: Made, step: dict[str, Any], _args: dict[str, Any]) -> None:
    it.told_by = step


_STEPS: dict[str, Callable[[_Weaving, Made, dict[str, Any], dict[str, Any]], None]] = {
    "text_to_sql": _wrote, "run_sql": _ran, "read_rows_to_score": _read, "train_tabular_model": _trained, "predict": _scored,
    "explain_prediction": _explained, "summarize_result": _worded,
}  # fmt: skip


def graph_of(
    run_id: str, question: str, events: Iterable[Mapping[str, Any]], look: Look, *, findings: Iterable[tuple[str, str]] = (),
    **about: Any,
) -> ResultGraph:
    """The graph of a run from its events; ``findings`` are the id and statement of what was proposed from it, ``about`` its
    source and snapshot."""
    it = _Weaving(look)
    it.add("question", (), hash=_hash(question), text=question)
    for event in events:
        match event.get("type"):
            case "tool":
                it.args[str(event["call_id"])] = dict(event.get("args") or {})
            case "tool_result":
                it.returned(event)
            case "done" if event.get("answer") and event.get("state") in _TOLD:
                answer, step = str(event["answer"]), it.told_by
                it.add("narrative", it.leaves(), call_id=step.get("call_id"), artifact_id=step.get("artifact_id"),
                       hash=_hash(answer), text=answer)
    for finding_id, statement in findings:
        it.add("finding", it.leaves(), about_id=finding_id, hash=_hash(statement), text=statement)
    return ResultGraph(run_id=run_id, nodes=tuple(it.nodes.values()), **about)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def file_hash(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
