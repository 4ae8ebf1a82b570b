"""What goes into the archive of a part of an answer: the steps of its script, the tables they read, and what was stored to compare
with. Nothing large is written here.

Must never: take in a masked value, or plan a script whose numbers cannot be those that were stored.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import sqlglot
from sqlglot import exp

from lexsi_ds.data.handle import DatasetHandle, Table
from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.errors import BadInput, LexsiError
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.frames import read_frame, write_frame
from lexsi_ds.services.access import Actor
from lexsi_ds.services.artifacts import Artifacts
from lexsi_ds.services.catalog import Catalog
from lexsi_ds.services.findings import Findings
from lexsi_ds.services.masking import masked_columns
from lexsi_ds.services.model_package import as_trained
from lexsi_ds.services.models import Models
from lexsi_ds.services.node_script import Step
from lexsi_ds.services.result_graph import ResultGraph, ResultNode
from lexsi_ds.services.sql_desk import veiled


@dataclass
class Plan:
    """What goes into one archive."""

    actor: Actor
    graph: ResultGraph
    handle: DatasetHandle
    folder: Path
    cancel: Cancel | None
    steps: list[Step] = field(default_factory=list)
    tables: dict[str, Table] = field(default_factory=dict)
    frames: dict[str, str] = field(default_factory=dict)
    """Nodes whose rows the script has, to themselves: what later parts may take."""
    cards: dict[str, ModelCard] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    files: dict[str, Path] = field(default_factory=dict)
    """Name in the archive to where it lies; what is named as Parquet lies as Arrow until it is taken in."""


class NodePlans:
    """Makes plans for people who may read the source."""

    def __init__(
        self, artifacts: Artifacts, catalog: Catalog, sql: SqlRunner, models: Models, findings: Findings
    ) -> None:
        self._artifacts, self._catalog, self._sql, self._models, self._findings = artifacts, catalog, sql, models, findings

    def of(
        self, actor: Actor, graph: ResultGraph, node: ResultNode, handle: DatasetHandle, folder: Path, cancel: Cancel | None
    ) -> Plan:
        """The plan for a part; ``folder`` is for small files on the way. BadInput says why it cannot be made again."""
        folder.mkdir()
        plan = Plan(actor, graph, handle, folder, cancel)
        for each in self._wanted(graph, node):
            self._plan(plan, each)
        if not plan.steps:
            raise BadInput("This part holds words alone: there is nothing to compute again.", where=node.title,
                           to_do="Export it as a report.")
        return plan

    def _wanted(self, graph: ResultGraph, node: ResultNode) -> tuple[ResultNode, ...]:
        """The part and what is behind it; of a query, its rows too: they are what it gives."""
        behind = graph.behind(node.id)
        if node.kind != "sql":
            return behind
        return (*behind, *(n for n in graph.nodes if n.kind == "frame" and node.id in n.made_from))

    def _plan(self, plan: Plan, node: ResultNode) -> None:
        {"frame": self._frame, "model": self._model, "predictions": self._predictions, "explanation": self._explanation,
         "finding": self._finding}.get(node.kind, self._text)(plan, node)

    def _text(self, plan: Plan, node: ResultNode) -> None:
        """Words are nothing to compute: they stand in the README."""
        if node.kind in ("question", "narrative"):
            plan.words.append(f"{node.title}: {node.text}")

    def _frame(self, plan: Plan, node: ResultNode) -> None:
        query = next((plan.graph.node(i) for i in node.made_from if plan.graph.node(i).kind == "sql"), None)
        if query is None:
            raise BadInput("These rows were read with the columns of a model, not by a query.", where=node.title,
                           to_do="Export the model on Model results; its archive holds them.")
        sql, stored = str(query.text), self._artifact_path(plan, node)
        if masked := masked_columns(sql, plan.handle):
            sql, stored = self._hidden(plan, node, sql, masked)
        plan.frames[node.id] = node.id
        plan.steps.append(Step(node=node.id, does="query", sql=sql))
        self._needs(plan, sql)
        plan.files[f"expected/{node.id}.parquet"] = stored

    def _hidden(self, plan: Plan, node: ResultNode, sql: str, masked: list[str]) -> tuple[str, Path]:
        """The query on hidden values, and its rows. BadInput where its rows hang on the values themselves."""
        hidden = veiled(sql, plan.handle)
        try:
            made = self._sql.run(plan.handle, hidden, out=plan.folder / f"{node.id}.arrow", cancel=plan.cancel)
            same = made.row_count == node.rows
        except LexsiError:
            made, same = None, False
        learnt = any(node.id in n.made_from and n.kind in ("model", "predictions") for n in plan.graph.nodes)
        if made is None or not same or learnt:
            raise BadInput(
                f"These rows hang on masked values ({', '.join(masked)}), which no export holds.", where=node.title,
                to_do="Unmask the column on Connect data, or export another part.",
            )
        return hidden, made.path

    def _model(self, plan: Plan, node: ResultNode) -> None:
        ref, card = self._models.ref(plan.actor, str(node.about_id)), self._models.get(plan.actor, str(node.about_id))
        if card.engine != "local":
            raise BadInput("This model was trained on the Lexsi platform; no script trains it again.", where=card.name,
                           to_do="Export the rows it was made from.")
        frame = next((i for i in node.made_from if i in plan.frames), None)
        if frame is None or not self._fits(plan, frame, card):
            frame = f"{node.id}-rows"
            write_frame(as_trained(read_frame(ref.folder / "oof.arrow"), card), plan.folder / f"{frame}.arrow")
            self._given(plan, frame, plan.folder / f"{frame}.arrow")
        plan.cards[node.id] = card
        chosen = next(c for c in card.candidates if c.chosen)
        training = {"model_type": card.model_type, "origin": {"model_id": card.id, "source_name": card.source_name,
                                                              "snapshot_id": card.snapshot_id}}
        plan.steps.append(Step(node=node.id, does="train", rows=(frame,), task=card.task.model_dump(mode="json"),
                               training=training, expected=chosen.main.value))

    def _fits(self, plan: Plan, frame: str, card: ModelCard) -> bool:
        """Whether the rows of a query are those that trained, as they stand: not sampled, nor the outcome's words read."""
        stored = read_frame(self._artifact_path(plan, plan.graph.node(frame)))
        target, names = card.task.target_column, {card.task.entity_column, *(f.name for f in card.task.features)}
        if not {target, *names} <= set(map(str, stored.columns)) or len(stored) != card.rows:
            return False
        return card.task.kind != "binary" or pd.api.types.is_numeric_dtype(stored[target])

    def _predictions(self, plan: Plan, node: ResultNode) -> None:
        model = next(i for i in node.made_from if i in plan.cards)
        frame = next((i for i in node.made_from if i in plan.frames), None)
        if frame is None:
            raise BadInput("The rows that were scored are not kept with this answer.", where=node.title,
                           to_do="Export the model on Model results.")
        plan.steps.append(Step(node=node.id, does="predict", rows=(frame,), model=model))
        plan.files[f"expected/{node.id}.parquet"] = self._artifact_path(plan, node)

    def _explanation(self, plan: Plan, node: ResultNode) -> None:
        path = self._artifact_path(plan, node)
        body = json.loads(path.read_text(encoding="utf-8"))
        model = next((i for i, card in plan.cards.items() if card.id == body["model_id"]), "")
        frames = [s.rows[0] for s in reversed(plan.steps) if s.does in ("predict", "train") and model in (s.model, s.node)]
        plan.steps.append(Step(node=node.id, does="explain", rows=tuple(dict.fromkeys(frames)), model=model,
                               cases=tuple(str(c["case_id"]) for c in body["cases"])))
        plan.files[f"expected/{node.id}.json"] = path

    def _finding(self, plan: Plan, node: ResultNode) -> None:
        finding = self._findings.get(plan.actor, str(node.about_id))
        plan.words.append(f"{node.title}: {finding.statement}")
        check = finding.last_check
        if not finding.check_sql or check is None or check.failure_count is None:
            return
        table = self._catalog.table(finding.dataset_id, check.dataset_version)
        if masked_columns(finding.check_sql, plan.handle.model_copy(update={"tables": (table,)})):
            raise BadInput("The check of this finding hangs on masked values, which no export holds.", where=finding.title,
                           to_do="Unmask the column on Connect data, or export what it was made from.")
        plan.tables |= {"dataset": table, table.name: table}
        plan.steps.append(Step(node=node.id, does="check", sql=finding.check_sql, expected=check.failure_count))

    def _needs(self, plan: Plan, sql: str) -> None:
        """The tables that a query names."""
        for named in sqlglot.parse_one(sql, dialect="duckdb").find_all(exp.Table):
            if (table := plan.handle.table(named.name)) is not None:
                plan.tables[table.name] = table

    def _given(self, plan: Plan, name: str, arrow: Path) -> None:
        """Rows that the script reads instead of making them."""
        plan.frames[name] = name
        plan.steps.append(Step(node=name, does="rows"))
        plan.files[f"rows/{name}.parquet"] = arrow

    def _artifact_path(self, plan: Plan, node: ResultNode) -> Path:
        return self._artifacts.get(plan.actor, str(node.artifact_id)).path
