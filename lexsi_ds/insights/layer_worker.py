"""What a worker runs to compute the components of a dataset version: one file each, and what became of each.

A component that cannot be computed says why and leaves the others alone, unless it is a required one. Must never: print.
"""

from __future__ import annotations

import importlib.metadata
import json
import logging
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
from pydantic import TypeAdapter

from lexsi_ds.data.handle import Column
from lexsi_ds.errors import BadInput, LexsiError
from lexsi_ds.insights import additive_model, embedding
from lexsi_ds.insights.layer_frame import Sample, sample
from lexsi_ds.insights.repeated import repeated_far_values

log = logging.getLogger(__name__)
Json = dict[str, Any]
Say = Callable[[Json], None]
_COLUMNS = TypeAdapter(tuple[Column, ...])


class _Build:
    """One dataset version being looked at."""

    def __init__(self, con: duckdb.DuckDBPyConnection, args: Json, say: Callable[[str], None]) -> None:
        self.con, self.say = con, say
        self.columns = _COLUMNS.validate_python(args["columns"])
        self.rows, self.target, self.version = int(args["rows"]), args.get("target"), int(args["version"])

    @cached_property
    def fit(self) -> tuple[Json, Json]:
        """The additive model and its graphs, fitted once."""
        if self.target is None:
            raise BadInput("No target column is set.", to_do="Choose the column to predict on the tab Tables.")
        column = next((c for c in self.columns if c.name == self.target and not c.masked), None)
        if column is None:
            raise BadInput("The target column is not there any more.", where=self.target, to_do="Choose another target.")
        additive_model.task_of(column)
        taken, y = self.taken(column.name, additive_model.MAX_ROWS)
        return additive_model.fitted(taken, y, column, self.say)

    def taken(self, target: str | None, most: int) -> tuple[Sample, pd.Series]:
        """A sample of rows with the target."""
        return sample(self.con, self.columns, self.rows, target, most)

    def feature_metadata(self) -> Json:
        """A sentence made of the figures of each column, and its odd values; people's own texts are added where it is read."""
        odd = repeated_far_values(self.con, self.columns)
        return {"columns": [
            {"name": c.name, "generatedDescription": _described(c, self.rows), "artifacts": odd.get(c.name, [])}
            for c in self.columns if not c.masked
        ]}

    def ebm_model(self) -> Json:
        """The additive model of the target."""
        return self.fit[0]

    def ebm_graphs(self) -> Json:
        """Its curves and surfaces."""
        return self.fit[1]

    def umap_embedding(self) -> Json:
        """Rows as points; coloured by the target where it is set."""
        known = {c.name for c in self.columns if not c.masked}
        target = self.target if self.target in known else None
        taken, y = self.taken(target, embedding.MAX_ROWS)
        return embedding.embedded(taken, y, target, self.say)

    def semantic_metadata(self) -> Json:
        """What was looked at, and with what."""
        taken, _ = self.taken(self.target if any(c.name == self.target and not c.masked for c in self.columns) else None, 100)
        versions = {name: importlib.metadata.version(name) for name in ("interpret-core", "scikit-learn", "duckdb")}
        if embedding.has_umap():
            versions["umap-learn"] = importlib.metadata.version("umap-learn")
        used = [{"name": f.name, "used": True, "as": "date" if f.date else f.kind} for f in taken.features]
        return {
            "datasetVersion": self.version, "rows": self.rows, "targetColumn": self.target, "packages": versions,
            "columns": [*used, *({"name": n, "used": False, "why": why} for n, why in taken.left_out)],
        }


def build(args: Json, say: Say) -> Json:
    """Compute components into files. Args: path (of the version's DuckDB file), columns, rows, version, target (or None),
    components ({name, required}), into (a folder that is there). Returns {components: [{name, status, …}]}.

    Raises LexsiError when a required one cannot be computed.
    """
    wanted, made = args["components"], []
    place, folder = 0, Path(args["into"])
    with duckdb.connect(args["path"], read_only=True, config={"threads": int(args["threads"])}) as con:
        con.execute("SET enable_external_access = false")
        work = _Build(con, args, lambda text: say({"done": place, "total": len(wanted), "text": text}))
        for component in wanted:
            place = len(made)
            work.say(f"Computing {component['name']}")
            made.append(_one(work, component, folder))
    return {"components": made}


def _one(work: _Build, component: Json, folder: Path) -> Json:
    name, started = component["name"], time.perf_counter()
    head = {"name": name, "required": component["required"], "contentType": "application/json"}
    try:
        body = getattr(work, name)()
    except LexsiError as error:
        if component["required"]:
            raise
        return head | {"status": "not_available" if isinstance(error, BadInput) else "failed", "reason": str(error)}
    except Exception:
        if component["required"]:
            raise
        log.exception("component %s could not be computed", name)
        return head | {"status": "failed", "reason": "It could not be computed; the log says why."}
    text = json.dumps(body, ensure_ascii=False, allow_nan=False)
    (folder / f"{name}.json").write_text(text, encoding="utf-8")
    more = {"parameters": body["parameters"]} if "parameters" in body else {}
    return head | {"status": "ready", "bytes": len(text.encode()), "seconds": round(time.perf_counter() - started, 3), **more}


def _described(column: Column, rows: int) -> str:
    kinds = {"number": "A number", "text": "Text", "date": "A date", "boolean": "Yes or no"}
    span = f" from {column.minimum} to {column.maximum}" if column.minimum is not None and column.family != "text" else ""
    missing = f", missing in {column.nulls / rows:.1%} of rows" if column.nulls and rows else ""
    return f"{kinds.get(column.family, column.type)}{span}, {column.distinct:,} different values{missing}."
