"""The ingest worker's other tasks: plan how files would be read, and show the first rows under a plan.

Both go through the same readers as an import, on the beginning of long files, in a scratch folder that goes away. Must
never: publish anything.
"""

from __future__ import annotations

import datetime as dt
import math
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb

from lexsi_ds.data.found_plan import column_type, plan_of
from lexsi_ds.data.loaded import Limits, Loaded
from lexsi_ds.data.marks import Facts, guess_marks
from lexsi_ds.data.plan import ColumnPlan, Preview, ReadPlan, options_for, plan_options, table_key
from lexsi_ds.data.raw_rows import quoted
from lexsi_ds.data.reading import HEAD_ROWS, Item, Reader
from lexsi_ds.errors import BadInput, NotFound
from lexsi_ds.settings import get_settings

Say = Callable[[dict[str, Any]], None]
_MEMORY_MB = 1_536
_MARK_ROWS, _MARK_VALUES = 300, 60
_LONGEST_CELL = 300
_MOST_CELLS = 60_000
_MOST_REJECTED = 50


def open_scratch(scratch: Path) -> duckdb.DuckDBPyConnection:
    """A connection on a scratch file, spilling into the same folder: the only kind that may read files."""
    config: dict[str, Any] = {
        "threads": get_settings().threads, "memory_limit": f"{_MEMORY_MB}MB", "temp_directory": str(scratch / "spill"),
        "autoinstall_known_extensions": False, "autoload_known_extensions": False,
    }  # fmt: skip
    con = duckdb.connect(str(scratch / "scratch.duckdb"), config=config)
    con.execute("SET TimeZone = 'UTC'")  # a moment is the same text and day wherever it is read
    return con


def plan_files(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Plans of the tables in ``paths``, and notes: ``{"plans": [...], "notes": [...]}``; nothing is imported.

    A file that cannot be read has a plan with its ``error``, so that the others can still be shown. ``options`` as for an
    import. Raises BadInput when there is nothing to read at all.
    """
    return plan([Path(p) for p in args["paths"]], args.get("options") or {}, say)


def plan(paths: list[Path], options: Mapping[str, Any], say: Say = lambda _: None) -> dict[str, Any]:
    """As ``plan_files``."""
    with tempfile.TemporaryDirectory(prefix="plan-") as folder, open_scratch(Path(folder)) as con:
        reader = Reader(con, Path(folder), Limits(get_settings().max_columns), options, head=True)
        items, notes = reader.items(paths)
        taken: set[str] = set()
        plans: list[ReadPlan] = []
        for number, item in enumerate(items):
            say({"done": number, "total": len(items), "text": f"Looking at {item.shown}"})
            try:
                tables, said = reader.read(item, taken)
            except BadInput as error:
                plans.append(_unreadable(item, error))
                continue
            notes += said
            plans += [_planned(con, table, item, member, options) for member, table in tables]
        say({"done": len(items), "total": len(items), "text": "Done"})
    return {"plans": [p.model_dump(mode="json") for p in plans], "notes": notes}


def preview_file(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """The first ``n`` rows of the table of ``plan``, read as the plan says: a ``Preview``, as JSON."""
    return preview(Path(args["path"]), ReadPlan.model_validate(args["plan"]), int(args.get("n", 100))).model_dump(mode="json")


def preview(path: Path, chosen: ReadPlan, n: int = 100) -> Preview:
    """As ``preview_file``. Raises BadInput for what cannot be read so, NotFound when the table is not in the file."""
    options = plan_options([chosen])
    with tempfile.TemporaryDirectory(prefix="preview-") as folder, open_scratch(Path(folder)) as con:
        reader = Reader(con, Path(folder), Limits(get_settings().max_columns), options, head=True)
        for item in reader.items([path])[0]:
            if item.member is not None and not (chosen.member or "").startswith(item.member):
                continue
            for member, table in reader.read(item, set())[0]:
                if table_key(item.file, member) == table_key(item.file, chosen.member):
                    found = _planned(con, table, item, member, options).model_copy(update={"table": chosen.table})
                    return _rows(con, table, found, n)
    raise NotFound("There is no such table in this file.", where=chosen.key, to_do="Look at the file again.")


def with_plan(table: Loaded, item: Item, member: str | None, options: Mapping[str, Any]) -> Loaded:
    """The table with its plan among its options, as it is stored with the version."""
    made = plan_of(table, item.source, member, options_for(options, item.file, member))
    kept = made.model_dump(mode="json", exclude={"path", "notes", "error", "partial"})
    again = table.instead
    instead = (lambda: with_plan(again(), item, member, options)) if again is not None else None
    said = {k: v for k, v in table.options.items() if k not in ("width", "padded")}
    return replace(table, options={**said, "file": item.file, "said": made.said, "plan": kept}, instead=instead)


def _planned(
    con: duckdb.DuckDBPyConnection, table: Loaded, item: Item, member: str | None, options: Mapping[str, Any]
) -> ReadPlan:
    made = plan_of(table, item.source, member, options_for(options, item.file, member))
    columns = made.columns or _described(con, table)
    return made.model_copy(update={"columns": _marked(con, table, columns), "partial": item.partial})


def _described(con: duckdb.DuckDBPyConnection, table: Loaded) -> tuple[ColumnPlan, ...]:
    """Columns of a format that says its types itself."""
    rows = con.execute(f"DESCRIBE {table.select}").fetchall()
    return tuple(
        ColumnPlan(position=i, name=row[0], type=column_type(row[1]), sql_type=row[1]) for i, row in enumerate(rows)
    )


def _marked(con: duckdb.DuckDBPyConnection, table: Loaded, columns: tuple[ColumnPlan, ...]) -> tuple[ColumnPlan, ...]:
    """The columns with guesses at which of them name a person, are a protected trait or a key."""
    sample = f"(SELECT * FROM ({table.select}) LIMIT {HEAD_ROWS})"
    made = []
    for column in columns:
        name = quoted(column.name)
        row = con.execute(f"SELECT count(*), count(*) - count({name}), count(DISTINCT {name}) FROM {sample}").fetchone()
        values = con.execute(
            f"SELECT left(CAST({name} AS VARCHAR), 200) FROM {sample} WHERE {name} IS NOT NULL LIMIT {_MARK_VALUES}"
        ).fetchall()
        family = {"text": "text", "integer": "number", "decimal": "number", "date": "date", "timestamp": "date"}
        assert row is not None
        facts = Facts(column.name, family.get(column.type, "other"), row[0], row[1], row[2], tuple(v[0] for v in values))
        guess = guess_marks(facts)
        given = set(column.chosen) & {"protected", "masked", "identifier"}
        if not given:
            update = {"protected": guess.protected, "masked": guess.masked, "identifier": guess.identifier}
            column = column.model_copy(update=update)
        made.append(column)
    return tuple(made)


def _rows(con: duckdb.DuckDBPyConnection, table: Loaded, found: ReadPlan, n: int) -> Preview:
    names = [c.name for c in found.columns]
    n = max(1, min(n, 1_000, _MOST_CELLS // max(len(names), 1)))
    rows = con.execute(f"SELECT {_fetchable(con, table.select)} FROM ({table.select}) LIMIT {n}").fetchall()
    rejected: list[tuple[Any, ...]] = []
    if (table.rejected or table.flagged) and table.rejects:
        text = """CASE WHEN "column" IS NULL THEN '' ELSE concat('row ', "row", ', ', "column", ': ') END || "text\""""
        rejected = con.execute(
            f'SELECT "line", reason, left({text}, 300) FROM ({table.rejects}) LIMIT {_MOST_REJECTED}'
        ).fetchall()
    return Preview(
        plan=found,
        columns=tuple(names),
        rows=tuple(tuple(_cell(value) for value in row) for row in rows),
        rejected=tuple((r[0], str(r[1]), str(r[2] or "")) for r in rejected),
    )


def _fetchable(con: duckdb.DuckDBPyConnection, select: str) -> str:
    """All columns, moments with a time zone as text: DuckDB hands those to Python only with a package of its own for it."""
    described = con.execute(f"DESCRIBE {select}").fetchall()
    return ", ".join(
        f"CAST({quoted(name)} AS VARCHAR) AS {quoted(name)}" if "WITH TIME ZONE" in kind else quoted(name)
        for name, kind, *_ in described
    )


def _cell(value: Any) -> Any:
    """A value as JSON, long text cut for display."""
    if value is None or isinstance(value, (bool, int)):
        return value if value is None or abs(value) < 2**53 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    text = str(value)
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…"


def _unreadable(item: Item, error: BadInput) -> ReadPlan:
    kind = item.kind if item.kind not in ("zip", "compressed") else "text"
    return ReadPlan(path=item.source, member=item.member, table=item.stem, format=kind, error=str(error))


