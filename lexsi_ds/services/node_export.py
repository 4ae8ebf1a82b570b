"""A part of an answer as files of its own: a script that makes it again from the snapshot beside it, and a report to read.

Rights, masks and the audit trail are those of every download. Must never: write a masked value, or a row of a source that the
person may not read; write a script whose numbers cannot be those that were stored without saying so.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import sqlglot
from sqlglot import exp

from lexsi_ds.data.handle import DatasetHandle, Table
from lexsi_ds.data.sql import SqlResult, SqlRunner
from lexsi_ds.errors import BadInput, LexsiError, NotFound
from lexsi_ds.ids import new_id
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.pool import Pool
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.frames import read_frame, write_frame
from lexsi_ds.services.access import Actor
from lexsi_ds.services.artifacts import Artifacts
from lexsi_ds.services.audit import Audit
from lexsi_ds.services.catalog import Catalog
from lexsi_ds.services.exports import Export, forget_old
from lexsi_ds.services.findings import Findings
from lexsi_ds.services.home_files import HomeFiles
from lexsi_ds.services.lineage import Lineage
from lexsi_ds.services.masking import MASK, masked_columns
from lexsi_ds.services.model_package import as_trained
from lexsi_ds.services.models import Models
from lexsi_ds.services.node_report import NodeReports
from lexsi_ds.services.node_script import README, Step, script
from lexsi_ds.services.package_code import modules, pinned, requirements
from lexsi_ds.services.result_graph import ResultGraph, ResultNode
from lexsi_ds.services.sql_desk import veiled

_BASE = ("duckdb", "pandas", "pyarrow")
_LEARNING = ("lexsi_ds.models.frame_task", "lexsi_ds.explain.worker")
_TO_PARQUET = "lexsi_ds.data.export:export"


@dataclass
class _Plan:
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


class NodeExports:
    """Writes scripts and reports. All methods raise Denied without the right, NotFound for an unknown run or part."""

    def __init__(
        self, lineage: Lineage, artifacts: Artifacts, catalog: Catalog, sql: SqlRunner, models: Models, findings: Findings,
        pool: Pool, home: Path, audit: Audit,
    ) -> None:
        self._lineage, self._artifacts, self._catalog, self._sql = lineage, artifacts, catalog, sql
        self._models, self._findings, self._pool, self._files = models, findings, pool, HomeFiles(home)
        self._audit, self._reports = audit, NodeReports(artifacts, models, findings)

    def report(self, actor: Actor, run_id: str, node_id: str) -> bytes:
        """The part, and all that it was made from, as one HTML page that loads nothing."""
        graph, handle = self._opened(actor, run_id)
        body, rows = self._reports.html(actor, graph, graph.node(node_id), handle)
        self._noted(actor, graph, node_id, rows)
        return body

    def script(self, actor: Actor, run_id: str, node_id: str, *, cancel: Cancel | None = None) -> Export:
        """An archive: the script, the tables it reads as they were in the run's snapshot, and what was stored to compare with.

        BadInput says why a part cannot be made again: it hangs on masked values, or was made on the Lexsi platform.
        """
        graph, handle = self._opened(actor, run_id)
        node = graph.node(node_id)
        with self._room() as folder:
            plan = _Plan(actor, graph, handle, folder / "parts", cancel)
            plan.folder.mkdir()
            for each in self._wanted(graph, node):
                self._plan(plan, each)
            if not plan.steps:
                raise BadInput("This part holds words alone: there is nothing to compute again.", where=node.title,
                               to_do="Export it as a report.")
            stored = self._snapshot(plan)
            out = folder / f"recreate_{node.id}.zip"
            self._zip(plan, node, stored, out)
        rows = sum(t.rows for t in plan.tables.values())
        self._noted(actor, graph, node_id, rows)
        return Export(path=out, file_name=out.name, mime="application/zip", rows=rows, bytes=out.stat().st_size)

    # -- what goes in ----------------------------------------------------------------------------------------------

    def _opened(self, actor: Actor, run_id: str) -> tuple[ResultGraph, DatasetHandle]:
        actor.need("datasets:read")
        graph = self._lineage.of_run(actor, run_id)
        if graph.source_id is None:
            raise NotFound("This answer names no data.", to_do="Ask the question again.")
        return graph, self._catalog.handle(actor, graph.source_id, graph.snapshot_id)

    def _wanted(self, graph: ResultGraph, node: ResultNode) -> tuple[ResultNode, ...]:
        """The part and what is behind it; of a query, its rows too: they are what it gives."""
        behind = graph.behind(node.id)
        if node.kind != "sql":
            return behind
        return (*behind, *(n for n in graph.nodes if n.kind == "frame" and node.id in n.made_from))

    def _plan(self, plan: _Plan, node: ResultNode) -> None:
        {"frame": self._frame, "model": self._model, "predictions": self._predictions, "explanation": self._explanation,
         "finding": self._finding}.get(node.kind, self._text)(plan, node)

    def _text(self, plan: _Plan, node: ResultNode) -> None:
        """Words are nothing to compute: they stand in the README."""
        if node.kind in ("question", "narrative"):
            plan.words.append(f"{node.title}: {node.text}")

    def _frame(self, plan: _Plan, node: ResultNode) -> None:
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
        plan.files[f"expected/{node.id}.parquet"] = self._parquet(plan, stored, f"{node.id}.parquet")

    def _hidden(self, plan: _Plan, node: ResultNode, sql: str, masked: list[str]) -> tuple[str, Path]:
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

    def _model(self, plan: _Plan, node: ResultNode) -> None:
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

    def _fits(self, plan: _Plan, frame: str, card: ModelCard) -> bool:
        """Whether the rows of a query are those that trained, as they stand: not sampled, nor the outcome's words read."""
        stored = read_frame(self._artifact_path(plan, plan.graph.node(frame)))
        target, names = card.task.target_column, {card.task.entity_column, *(f.name for f in card.task.features)}
        if not {target, *names} <= set(map(str, stored.columns)) or len(stored) != card.rows:
            return False
        return card.task.kind != "binary" or pd.api.types.is_numeric_dtype(stored[target])

    def _predictions(self, plan: _Plan, node: ResultNode) -> None:
        model = next(i for i in node.made_from if i in plan.cards)
        frame = next((i for i in node.made_from if i in plan.frames), None)
        if frame is None:
            raise BadInput("The rows that were scored are not kept with this answer.", where=node.title,
                           to_do="Export the model on Model results.")
        plan.steps.append(Step(node=node.id, does="predict", rows=(frame,), model=model))
        stored = self._parquet(plan, self._artifact_path(plan, node), f"{node.id}.parquet")
        plan.files[f"expected/{node.id}.parquet"] = stored

    def _explanation(self, plan: _Plan, node: ResultNode) -> None:
        path = self._artifact_path(plan, node)
        body = json.loads(path.read_text(encoding="utf-8"))
        model = next((i for i, card in plan.cards.items() if card.id == body["model_id"]), "")
        frames = [s.rows[0] for s in reversed(plan.steps) if s.does in ("predict", "train") and model in (s.model, s.node)]
        plan.steps.append(Step(node=node.id, does="explain", rows=tuple(dict.fromkeys(frames)), model=model,
                               cases=tuple(str(c["case_id"]) for c in body["cases"])))
        plan.files[f"expected/{node.id}.json"] = path

    def _finding(self, plan: _Plan, node: ResultNode) -> None:
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

    # -- files -----------------------------------------------------------------------------------------------------

    def _needs(self, plan: _Plan, sql: str) -> None:
        """The tables that a query names."""
        for named in sqlglot.parse_one(sql, dialect="duckdb").find_all(exp.Table):
            if (table := plan.handle.table(named.name)) is not None:
                plan.tables[table.name] = table

    def _given(self, plan: _Plan, name: str, arrow: Path) -> None:
        """Rows that the script reads instead of making them."""
        plan.frames[name] = name
        plan.steps.append(Step(node=name, does="rows"))
        plan.files[f"rows/{name}.parquet"] = self._parquet(plan, arrow, f"rows-{name}.parquet")

    def _artifact_path(self, plan: _Plan, node: ResultNode) -> Path:
        return self._artifacts.get(plan.actor, str(node.artifact_id)).path

    def _snapshot(self, plan: _Plan) -> dict[str, str]:
        """Write the tables; their names to the names of their files."""
        names: dict[str, str] = {}
        for i, (name, table) in enumerate(plan.tables.items(), 1):
            arrow = plan.folder / f"table-{i}.arrow"
            self._table(plan, name, table, arrow)
            names[name] = f"table_{i}.parquet"
            plan.files[f"snapshot/{names[name]}"] = self._parquet(plan, arrow, f"table-{i}.parquet")
            arrow.unlink()
        return names

    def _table(self, plan: _Plan, name: str, table: Table, out: Path) -> SqlResult:
        """All rows of a table, with masked columns hidden."""
        columns = ", ".join(
            f"CASE WHEN {_quoted(c.name)} IS NOT NULL THEN '{MASK}' END AS {_quoted(c.name)}" if c.masked else _quoted(c.name)
            for c in table.columns
        )
        sql = f"SELECT {columns} FROM {_quoted(name)}"
        if plan.handle.table(name) != table:
            return self._sql.run_on_table(table, sql, out=out, cancel=plan.cancel)
        return self._sql.run(plan.handle, sql, out=out, cancel=plan.cancel)

    def _parquet(self, plan: _Plan, arrow: Path, name: str) -> Path:
        """Rows as Parquet, written by a worker."""
        out = plan.folder / name
        args: dict[str, Any] = {"format": "parquet", "arrow": str(arrow.absolute()), "out": str(out), "style": {}, "about": []}
        self._pool.run("ingest", _TO_PARQUET, args, cancel=plan.cancel)
        return out

    def _zip(self, plan: _Plan, node: ResultNode, tables: dict[str, str], out: Path) -> None:
        title = f"{node.title} of one answer"
        learns = any(s.does in ("train", "predict", "explain") for s in plan.steps)
        version = f"{plan.graph.snapshot_number} ({plan.graph.snapshot_id})"
        about = f"Data: {plan.handle.name}, version {version}. Run {plan.graph.run_id}."
        words = "\n\n".join(plan.words)
        needed = [*requirements(*_LEARNING), *pinned(("duckdb",))] if learns else pinned(_BASE)
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("recreate.py", script(title, about, tables, plan.steps))
            file.writestr("README.txt", README.format(title=title, version=version, mask=MASK, words=f"\n{words}\n"))
            file.writestr("requirements.txt", "\n".join(sorted(set(needed))) + "\n")
            for name, path in plan.files.items():
                file.write(path, name, compress_type=zipfile.ZIP_DEFLATED if name.endswith(".json") else zipfile.ZIP_STORED)
            for name, path in (modules(*_LEARNING) if learns else {}).items():
                file.writestr(f"code/{name}", path.read_text(encoding="utf-8"))

    @contextlib.contextmanager
    def _room(self) -> Iterator[Path]:
        """A folder for one export; its parts go at once, all of it where nothing came of it."""
        folder = self._files.folder("tmp", "exports")
        forget_old(folder)
        own = folder / new_id("exp")
        own.mkdir()
        try:
            yield own
        except BaseException:
            shutil.rmtree(own, ignore_errors=True)
            raise
        shutil.rmtree(own / "parts", ignore_errors=True)

    def _noted(self, actor: Actor, graph: ResultGraph, node_id: str, rows: int | None) -> None:
        snapshot = f"{graph.snapshot_number} ({graph.snapshot_id})"
        self._audit.downloaded(actor, f"{node_id} of {graph.run_id}", rows=rows, snapshot=snapshot)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
