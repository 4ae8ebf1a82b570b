"""The ingest worker's task: read a source and build one immutable ``data.duckdb`` a table.

Runs in a worker process, with the only connection that may read files. A version appears whole, by a rename, or not at
all. Must never: write to a published version, or leave a half-built one where it could be taken for whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb

from lexsi_ds.data import pkdd
from lexsi_ds.data.bank_schema import TABLES, bank_table
from lexsi_ds.data.demo_bank import write_demo_bank
from lexsi_ds.data.far_days import settle_far_days
from lexsi_ds.data.fast_text import FAST_FROM
from lexsi_ds.data.loaded import Limits, Loaded
from lexsi_ds.data.planning import open_scratch, plan_files, preview_file, with_plan
from lexsi_ds.data.profile import Profile, count_columns, profile
from lexsi_ds.data.progress import WRITES, Progress
from lexsi_ds.data.raw_rows import literal, quoted
from lexsi_ds.data.readers import read_arrow
from lexsi_ds.data.reading import Item, Reader
from lexsi_ds.data.sniff import table_name
from lexsi_ds.data.unchanged import Unchanged
from lexsi_ds.data.versions import DATABASE, REJECTED, Build, Target, open_build
from lexsi_ds.errors import BadInput, LexsiError
from lexsi_ds.ids import new_id
from lexsi_ds.settings import get_settings

__all__ = ["ingest", "plan_files", "preview_file"]

Say = Callable[[dict[str, Any]], None]


_READ_WHEN_WRITTEN = ("parquet", "sqlite", "duckdb")
"""Their readers only look at the file; large clean text files are read so too."""
_LOOK_S = 2.5
"""A look takes no longer; what does is reading."""


class Contradicted(Exception):
    """The rows are not what was assumed of them; never shown."""



def ingest(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Build every table of a source and publish them.

    ``args``: ``kind`` (demo, pkdd, files, sqlite; arrow for a result), ``paths``, ``into`` (folder of all versions),
    ``options`` (choices for all files such as encoding, delimiter, date_order; ``plans`` by ``plan.plan_options``; name and
    marks for a result), ``tables``
    ({name: {dataset_id, version}} for tables that are known already; a new one gets a new id and version 1). Returns
    ``tables`` (one object each: name, dataset_id, version, path, rows, bytes, comment, columns, options, notes, rejected,
    rejected_path), ``today`` (ISO date or None), ``notes`` and ``missing``. Raises BadInput for what cannot be read, and
    when a file changed while it was read; then nothing was published.
    """
    into = Path(args["into"])
    files = Unchanged(Path(p) for p in args.get("paths") or ())
    with open_build(into) as build, open_scratch(build.scratch) as con, Progress(con, say) as progress:
        try:
            loaded, missing, notes = _load(con, build, args, progress)
            built = []
            for number, table in enumerate(loaded):
                progress.begin(f"Writing {table.name}", progress.left(table.name), WRITES)
                folder = build.new_table()
                loaded[number], profiled = write_settled(con, folder, table)
                built.append((folder, profiled))
        except (LexsiError, duckdb.Error, OSError):
            files.check()  # what failed may have failed for that
            raise
        files.check()
        targets = [target_of(args.get("tables") or {}, table.name) for table in loaded]
        places = build.publish([(folder, target) for (folder, _), target in zip(built, targets, strict=True)])
    results = [
        result_of(table, profiled, target, place)
        for table, (_, profiled), target, place in zip(loaded, built, targets, places, strict=True)
    ]
    latest = max((p.latest for _, p in built if p.latest is not None), default=None)
    progress.finish()
    return {
        "tables": results,
        "today": latest.isoformat() if latest is not None else None,
        "notes": notes,
        "missing": missing,
    }


def _load(
    con: duckdb.DuckDBPyConnection, build: Build, args: Mapping[str, Any], progress: Progress
) -> tuple[list[Loaded], list[str], list[str]]:
    """Tables ready to be written, names of missing ones, and notes about the source."""
    paths = [Path(p) for p in args.get("paths") or ()]
    limits = Limits(get_settings().max_columns)
    match args["kind"]:
        case "demo":
            progress.expect(1, "")
            progress.begin("Drawing the bank", 0.5, WRITES)
            write_demo_bank(con, lambda body: progress.tick(body["done"]))
            bank = [_bank_table(t.name) for t in TABLES]
            _leave_by_rows(con, progress, bank, 0.5)
            return bank, [], ["Synthetic: every row is invented."]
        case "pkdd":
            size = max(1, sum(f.stat().st_size for p in paths for f in (p.glob("*.asc") if p.is_dir() else [p])))
            progress.expect(size, "bytes")
            progress.begin("Reading the bank's files", size / 2)
            tables, missing = pkdd.read_bank(con, paths, build.scratch, limits)
            _leave_by_rows(con, progress, tables, size / 2)
            return tables, missing, [f"Not in the folder: {', '.join(missing)}."] if missing else []
        case "arrow":
            options = args["options"]
            progress.expect(1, "")
            return [read_arrow(con, paths[0], str(options["name"]), options.get("marks") or {})], [], []
        case "files" | "sqlite":
            known = args.get("tables") or {}
            return _load_files(con, build, paths, limits, args.get("options") or {}, progress, known)
        case kind:
            raise BadInput(f"Sources of kind {kind} cannot be imported.", to_do="Choose files, sqlite, pkdd or demo.")


def _load_files(
    con: duckdb.DuckDBPyConnection,
    build: Build,
    paths: list[Path],
    limits: Limits,
    options: Mapping[str, Any],
    progress: Progress,
    known: Mapping[str, Any],
) -> tuple[list[Loaded], list[str], list[str]]:
    reader = Reader(con, build.scratch, limits, options, tick=progress.tick)
    items, notes = reader.items(paths)
    taken: set[str] = set()
    loaded: list[Loaded] = []
    unreadable: list[BadInput] = []
    sizes = [1 if item.error else max(1, item.path.stat().st_size) for item in items]
    progress.expect(sum(sizes), "bytes")
    for item, size in zip(items, sizes, strict=True):
        quiet = _LOOK_S if item.kind in _READ_WHEN_WRITTEN or size >= FAST_FROM else 0.0
        progress.begin(f"Reading {item.shown}", size / 2, quiet_s=quiet)
        try:
            tables, said = reader.read(item, taken)
        except BadInput as error:
            if len(items) == 1 or _was_read(item, known):
                raise
            unreadable.append(error)
            continue
        loaded += [with_plan(table, item, member, options) for member, table in tables]
        looked = item.kind in _READ_WHEN_WRITTEN or all(table.instead is not None for _, table in tables)
        if looked:
            progress.only_looked()
        for _, table in tables:
            progress.leave(table.name, (size if looked else size / 2) / len(tables))
        notes += said
    if not loaded:
        raise unreadable[0]
    notes += [f"Left out, as it cannot be read: {error}" for error in unreadable]
    return _with_bank_meanings(con, loaded), [], notes


def _was_read(item: Item, known: Mapping[str, Any]) -> bool:
    """Whether an earlier version holds a table of this file: it must not go without a word when the file is broken now."""
    stem = table_name(item.stem, set())
    return any(name == stem or name.startswith(f"{stem}_") for name in known)


def _leave_by_rows(con: duckdb.DuckDBPyConnection, progress: Progress, tables: list[Loaded], size: float) -> None:
    """Of tables that are in the scratch file, each has its part of ``size`` by its rows."""
    rows = [1 + con.execute(f"SELECT count(*) FROM ({table.select})").fetchall()[0][0] for table in tables]
    for table, n in zip(tables, rows, strict=True):
        progress.leave(table.name, size * n / sum(rows))


def _bank_table(name: str) -> Loaded:
    table = bank_table(name)
    assert table is not None
    return Loaded(
        name,
        f"SELECT * FROM {quoted(name)}",
        {"format": "generated"},
        comment=table.comment,
        comments=pkdd.bank_comments(table),
        marks=pkdd.bank_marks(table),
    )


def _with_bank_meanings(con: duckdb.DuckDBPyConnection, loaded: list[Loaded]) -> list[Loaded]:
    """Say what columns mean when the tables are the bank's, whatever file they came in."""
    names = {table.name.casefold() for table in loaded}
    if not {t.name for t in TABLES} <= names:
        return loaded
    result = []
    for table in loaded:
        known = bank_table(table.name)
        columns = [row[0] for row in con.execute(f"DESCRIBE {table.select}").fetchall()]
        if known is None or not set(columns) <= set(known.names):
            result.append(table)
            continue
        meaning = {"comment": known.comment, "comments": pkdd.bank_comments(known), "marks": pkdd.bank_marks(known)}
        result.append(replace(table, **meaning))
    return result


def write_settled(con: duckdb.DuckDBPyConnection, folder: Path, table: Loaded) -> tuple[Loaded, Profile]:
    """As ``write_table``; a table that turns out otherwise than was assumed is read again, the careful way."""
    if table.instead is None:
        return table, write_table(con, folder, table)
    try:
        return table, write_table(con, folder, table)
    except (Contradicted, duckdb.Error) as error:
        if isinstance(error, duckdb.OutOfMemoryException):
            raise
    for file in folder.iterdir():
        file.unlink()
    again = table.instead()
    return again, write_table(con, folder, again)


def write_table(con: duckdb.DuckDBPyConnection, folder: Path, table: Loaded) -> Profile:
    """Write one table's database and what was rejected of its file; returns its profile."""
    con.execute(f"ATTACH {literal(str(folder / DATABASE))} AS out")
    try:
        con.execute(f"CREATE TABLE out.main.data AS {table.select}")
        notes = settle_far_days(con, "out.main.data")
        counts = count_columns(con, "out.main.data")
        if table.check is not None and table.check("out.main.data", counts):
            raise Contradicted
        profiled = profile(con, "out.main.data", comments=table.comments, marks=table.marks, counts=counts)
        con.execute("CHECKPOINT out")
    finally:
        con.execute("DETACH out")
    if table.rejected or table.flagged:
        con.execute(f"COPY ({table.rejects}) TO {literal(str(folder / REJECTED))} (HEADER)")
    return replace(profiled, notes=notes)


def target_of(known: Mapping[str, Any], name: str) -> Target:
    given = known.get(name)
    return Target(given["dataset_id"], int(given["version"])) if given else Target(new_id("ds"), 1)


def result_of(table: Loaded, profiled: Profile, target: Target, place: Path) -> dict[str, Any]:
    notes = [*table.notes, *profiled.notes]
    if profiled.estimated:
        notes.append("Distinct values are estimates, as the table is large.")
    return {
        "name": table.name,
        "dataset_id": target.dataset_id,
        "version": target.version,
        "path": str(place / DATABASE),
        "rows": profiled.rows,
        "bytes": (place / DATABASE).stat().st_size,
        "comment": table.comment,
        "columns": [column.model_dump(mode="json") for column in profiled.columns],
        "options": {**table.options, **({"flagged": table.flagged} if table.flagged else {})},
        "notes": notes,
        "rejected": table.rejected,
        "rejected_path": str(place / REJECTED) if table.rejected or table.flagged else None,
    }
