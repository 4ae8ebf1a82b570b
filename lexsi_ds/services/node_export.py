"""A part of an answer as files of its own: a script that makes it again from the snapshot beside it, and a report to read.

Rights, masks and the audit trail are those of every download. Must never: write a masked value, or a row of a source that the
person may not read; write a script whose numbers cannot be those that were stored without saying so.
"""

from __future__ import annotations

import contextlib
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lexsi_ds.data.handle import DatasetHandle, Table
from lexsi_ds.data.sql import SqlResult, SqlRunner
from lexsi_ds.errors import LexsiError, NotFound
from lexsi_ds.ids import new_id
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.pool import Pool
from lexsi_ds.services.access import Actor
from lexsi_ds.services.artifacts import Artifacts
from lexsi_ds.services.audit import Audit
from lexsi_ds.services.catalog import Catalog
from lexsi_ds.services.exports import Export, forget_old
from lexsi_ds.services.findings import Findings
from lexsi_ds.services.home_files import HomeFiles
from lexsi_ds.services.lineage import Lineage
from lexsi_ds.services.masking import MASK
from lexsi_ds.services.models import Models
from lexsi_ds.services.node_plan import NodePlans, Plan
from lexsi_ds.services.node_report import NodeReports
from lexsi_ds.services.node_script import README, script
from lexsi_ds.services.package_code import modules, pinned, requirements
from lexsi_ds.services.result_graph import ResultGraph, ResultNode

_BASE = ("duckdb", "pandas", "pyarrow")
_LEARNING = ("lexsi_ds.models.frame_task", "lexsi_ds.explain.worker")
_TO_PARQUET = "lexsi_ds.data.export:export"


class NodeExports:
    """Writes scripts and reports. All methods raise Denied without the right, NotFound for an unknown run or part."""

    def __init__(
        self, lineage: Lineage, artifacts: Artifacts, catalog: Catalog, sql: SqlRunner, models: Models, findings: Findings,
        pool: Pool, home: Path, audit: Audit,
    ) -> None:
        self._lineage, self._catalog, self._sql, self._pool, self._audit = lineage, catalog, sql, pool, audit
        self._files, self._reports = HomeFiles(home), NodeReports(artifacts, models, findings)
        self._plans = NodePlans(artifacts, catalog, sql, models, findings)

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
        with self._room() as folder:
            plan, node = self._planned(actor, run_id, node_id, folder / "parts", cancel)
            graph, tables = plan.graph, self._snapshot(plan)
            out = folder / f"recreate_{node.id}.zip"
            self._zip(plan, node, tables, out)
        rows = sum(t.rows for t in plan.tables.values())
        self._noted(actor, graph, node_id, rows)
        return Export(path=out, file_name=out.name, mime="application/zip", rows=rows, bytes=out.stat().st_size)

    def refusal(self, actor: Actor, run_id: str, node_id: str) -> str:
        """Why ``script`` would refuse, in words for a person; empty where it would not."""
        try:
            with self._room() as folder:
                self._planned(actor, run_id, node_id, folder / "parts", None)
        except LexsiError as error:
            return str(error)
        shutil.rmtree(folder, ignore_errors=True)
        return ""

    # -- what goes in ----------------------------------------------------------------------------------------------

    def _opened(self, actor: Actor, run_id: str) -> tuple[ResultGraph, DatasetHandle]:
        actor.need("datasets:read")
        graph = self._lineage.of_run(actor, run_id)
        if graph.source_id is None:
            raise NotFound("This answer names no data.", to_do="Ask the question again.")
        return graph, self._catalog.handle(actor, graph.source_id, graph.snapshot_id)

    def _planned(
        self, actor: Actor, run_id: str, node_id: str, folder: Path, cancel: Cancel | None
    ) -> tuple[Plan, ResultNode]:
        graph, handle = self._opened(actor, run_id)
        node = graph.node(node_id)
        return self._plans.of(actor, graph, node, handle, folder, cancel), node

    # -- files -----------------------------------------------------------------------------------------------------

    def _snapshot(self, plan: Plan) -> dict[str, str]:
        """Write the tables; their names to the names of their files."""
        names: dict[str, str] = {}
        for i, (name, table) in enumerate(plan.tables.items(), 1):
            arrow = plan.folder / f"table-{i}.arrow"
            self._table(plan, name, table, arrow)
            names[name] = f"table_{i}.parquet"
            plan.files[f"snapshot/{names[name]}"] = arrow
        return names

    def _table(self, plan: Plan, name: str, table: Table, out: Path) -> SqlResult:
        """All rows of a table, with masked columns hidden."""
        columns = ", ".join(
            f"CASE WHEN {_quoted(c.name)} IS NOT NULL THEN '{MASK}' END AS {_quoted(c.name)}" if c.masked else _quoted(c.name)
            for c in table.columns
        )
        sql = f"SELECT {columns} FROM {_quoted(name)}"
        if plan.handle.table(name) != table:
            return self._sql.run_on_table(table, sql, out=out, cancel=plan.cancel)
        return self._sql.run(plan.handle, sql, out=out, cancel=plan.cancel)

    def _parquet(self, plan: Plan, arrow: Path) -> Path:
        """Rows as Parquet, written by a worker."""
        out = plan.folder / "next.parquet"
        args: dict[str, Any] = {"format": "parquet", "arrow": str(arrow.absolute()), "out": str(out), "style": {}, "about": []}
        self._pool.run("ingest", _TO_PARQUET, args, cancel=plan.cancel)
        return out

    def _zip(self, plan: Plan, node: ResultNode, tables: dict[str, str], out: Path) -> None:
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
                if name.endswith(".parquet"):
                    file.write(self._parquet(plan, path), name, compress_type=zipfile.ZIP_STORED)
                else:
                    file.write(path, name)
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
