"""What a worker runs of this room: handlers that take and give JSON. Must never print."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
from pydantic import TypeAdapter

from lexsi_ds.data.handle import Column
from lexsi_ds.data.raw_rows import quoted
from lexsi_ds.insights.measures import chosen
from lexsi_ds.insights.search import search

Say = Callable[[dict[str, Any]], None]
_COLUMNS = TypeAdapter(tuple[Column, ...])


def surprises(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Search a dataset version. Args: path (of its DuckDB file), rows, columns, target (or None), threads."""
    columns = _COLUMNS.validate_python(args["columns"])
    with duckdb.connect(args["path"], read_only=True, config={"threads": int(args["threads"])}) as con:
        con.execute("SET enable_external_access = false")

        def values(column: Column) -> list[str]:
            name = quoted(column.name)
            query = f"SELECT {name}::VARCHAR FROM data WHERE {name} IS NOT NULL GROUP BY ALL ORDER BY count(*), 1"
            return [row[0] for row in con.execute(query).fetchall()]

        measures = chosen(columns, args.get("target"), values, int(args["rows"]))
        found = search(
            con, "data", columns, measures, int(args["rows"]),
            progress=lambda done, total, text: say({"done": done, "total": total, "text": text}),
        )
    return found.model_dump(mode="json")
