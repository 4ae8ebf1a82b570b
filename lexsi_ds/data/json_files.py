"""JSON into tables: an array of objects, JSON lines, an object of arrays, and the like.

Objects within a row are flattened one level (``address.city`` becomes ``address_city``); what lies deeper stays JSON
text. Rows stream through DuckDB; only shapes that are not a list of objects are read whole. Must never: lose a line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb

from lexsi_ds.data.dialect import Dialect, unique_names
from lexsi_ds.data.json_escapes import without_odd_escapes
from lexsi_ds.data.json_keys import JsonObject, dumped, keep_repeated
from lexsi_ds.data.loaded import Limits, Loaded, check_width
from lexsi_ds.data.raw_rows import Raw, create_rejects, literal, rejects_of, scratch_name
from lexsi_ds.data.readers import hints_of
from lexsi_ds.data.text_file import TextFile, prepare
from lexsi_ds.data.typed_rows import type_raw
from lexsi_ds.errors import BadInput

LARGEST_OBJECT = 64 << 20
"""Most bytes of one object. A small file cannot hold one: `largest_in` keeps its buffers small too."""
_MOST_WHOLE = 256 << 20
_BATCH = 50_000
_DEEPEST = 5
_LOOKED_AT = 10_000
_TO_DO = "It should be a list of objects, one object a line, or an object of lists."


def read_json(
    con: duckdb.DuckDBPyConnection, path: Path, name: str, scratch: Path, limits: Limits, options: Mapping[str, Any],
    *, most: int | None = None,
) -> Loaded:  # fmt: skip
    """Read a JSON file; ``most`` limits the rows (for a plan)."""
    file = without_odd_escapes(prepare(path, scratch, options.get("encoding")), scratch)
    rows = scratch_name(con)
    create_rejects(con, rows)
    notes: list[str] = []
    first = _first_mark(file.path)
    rejected = 0
    if first == "{" and _is_lines(file.path):
        rejected = _load_lines(con, file.path, rows, most)
    elif first == "[" and _array_of(file.path) == "{":
        _load_array(con, path, file.path, rows, most)
        rejected = _set_others_aside(con, rows)
    elif first in ("[", "{"):
        notes += _load_whole(con, path, file.path, rows)
    else:
        raise BadInput("This file does not hold JSON tables.", where=path.name, to_do=_TO_DO)
    count = con.execute(f"SELECT count(*) FROM {rows}").fetchone()
    if not count or not count[0]:
        raise BadInput("No object was found in this JSON file.", where=path.name, to_do=_TO_DO)
    flagged, said = keep_repeated(con, rows)
    paths = _paths(con, rows)
    check_width(path, len(paths), limits)
    return _typed(con, name, file, rows, paths, options, [*notes, *said], rejected, flagged)


def _first_mark(path: Path) -> str:
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        while chunk := file.read(4096):
            if found := chunk.strip():
                return found[0]
    return ""


def _array_of(path: Path) -> str:
    """What the items of a list begin with."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        text = file.read(1 << 16)
    return text.lstrip()[1:].lstrip()[:1]


def _is_lines(path: Path) -> bool:
    """Whether the first line alone is an object, and another follows (or nothing does)."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        lines = []
        while len(lines) < 2 and (line := file.readline(LARGEST_OBJECT)):
            if line.strip():
                lines.append(line)
    try:
        first = json.loads(lines[0])
    except (ValueError, RecursionError):
        return False
    if len(lines) > 1:
        return isinstance(first, dict)
    return isinstance(first, dict) and not any(isinstance(v, (list, dict)) for v in first.values())


def largest_in(size: int) -> int:
    """The largest object, in bytes, that so many bytes may hold: readers set buffers of several times that aside."""
    return min(LARGEST_OBJECT, max(2 << 20, size))


def _load_lines(con: duckdb.DuckDBPyConnection, path: Path, rows: str, most: int | None) -> int:
    """One object a line; lines that are none are kept as rejected. Returns how many."""
    limit = f"LIMIT {most}" if most else ""
    largest = largest_in(path.stat().st_size)
    con.execute(
        f"""CREATE TABLE {rows}_lines AS SELECT * FROM read_csv({literal(str(path))}, auto_detect = false, header = false,
            columns = {{'text': 'VARCHAR'}}, delim = '\x1f', quote = '', escape = '', max_line_size = {largest},
            buffer_size = {2 * largest}, strict_mode = false) {limit}"""
    )
    good = "json_valid(text) AND json_type(CASE WHEN json_valid(text) THEN text ELSE 'null' END) = 'OBJECT'"
    con.execute(
        f"""INSERT INTO {rows}_rejects ("line", reason, "text") SELECT rowid + 1, 'NOT A JSON OBJECT', text
            FROM {rows}_lines WHERE trim(text) <> '' AND NOT ({good})"""
    )
    con.execute(f"CREATE TABLE {rows} AS SELECT CAST(text AS JSON) AS j FROM {rows}_lines WHERE {good}")
    con.execute(f"DROP TABLE {rows}_lines")
    found = con.execute(f"SELECT count(*) FROM {rows}_rejects").fetchone()
    return int(found[0]) if found else 0


def _load_array(con: duckdb.DuckDBPyConnection, shown: Path, path: Path, rows: str, most: int | None) -> None:
    limit = f"LIMIT {most}" if most else ""
    try:
        con.execute(
            f"""CREATE TABLE {rows} AS SELECT json AS j FROM read_json_objects({literal(str(path))}, format = 'array',
                maximum_object_size = {largest_in(path.stat().st_size)}) {limit}"""
        )
    except duckdb.Error as error:
        raise BadInput(
            "This JSON file is broken.", where=shown.name, to_do="Check that it was written completely."
        ) from error


def _set_others_aside(con: duckdb.DuckDBPyConnection, rows: str) -> int:
    """Items of a list that are no objects go to the rejected ones; returns how many."""
    test = "json_type(j) IS DISTINCT FROM 'OBJECT'"
    con.execute(
        f"""INSERT INTO {rows}_rejects (reason, "text", "row") SELECT 'NOT A JSON OBJECT', CAST(j AS VARCHAR), rowid + 1
            FROM {rows} WHERE {test}"""
    )
    found = con.execute(f"DELETE FROM {rows} WHERE {test}").fetchone()
    return int(found[0]) if found else 0


def _load_whole(con: duckdb.DuckDBPyConnection, shown: Path, path: Path, rows: str) -> list[str]:
    """Other shapes than a list of objects; returns what was made of them."""
    if path.stat().st_size > _MOST_WHOLE:
        raise BadInput("This JSON file is too large for its shape.", where=shown.name, to_do=_TO_DO)
    try:
        with path.open(encoding="utf-8-sig") as file:
            found = json.load(file, object_pairs_hook=JsonObject)
    except (ValueError, RecursionError) as error:
        to_do = "Check that it was written completely."
        raise BadInput("This JSON file is broken.", where=shown.name, to_do=to_do) from error
    table, notes = _as_rows(found)
    if table is None:
        raise BadInput("There is no table in this JSON file.", where=shown.name, to_do=_TO_DO)
    con.execute(f"CREATE TABLE {rows} (j JSON)")
    for start in range(0, len(table), _BATCH):
        batch = [dumped(row) for row in table[start : start + _BATCH]]
        con.execute(f"INSERT INTO {rows} SELECT CAST(unnest(?) AS JSON)", [batch])
    return notes


def _as_rows(found: Any) -> tuple[list[dict[str, Any]] | None, list[str]]:
    """A list of objects from any shape that holds one."""
    if isinstance(found, list):
        return _from_list(found)
    if not isinstance(found, dict) or not found:
        return None, []
    if isinstance(found.get("data"), list) and isinstance(found.get("columns"), list):
        names = [c if isinstance(c, str) else str(c.get("name", c)) if isinstance(c, dict) else str(c) for c in found["columns"]]
        return [dict(zip(names, row, strict=False)) for row in found["data"] if isinstance(row, list)], []
    values = list(found.values())
    lists = {k: v for k, v in found.items() if isinstance(v, list)}
    if len(lists) == len(found) and not any(isinstance(x, dict) for v in lists.values() for x in v):
        longest = max(map(len, lists.values()))
        uneven = [k for k, v in lists.items() if len(v) < longest]
        notes = [f"Lists of different lengths; the shorter ones ({', '.join(uneven[:5])}) end in missing values."] if uneven else []
        return [{k: v[i] if i < len(v) else None for k, v in lists.items()} for i in range(longest)], notes
    tables = {k: v for k, v in lists.items() if v and all(isinstance(x, dict) for x in v)}
    if tables:
        key = max(tables, key=lambda k: len(tables[k]))
        others = [k for k in found if k != key]
        note = f"The rows are the list {key}" + (f"; not read: {', '.join(others[:8])}." if others else ".")
        return tables[key], [note]
    deep = _deep_lists(found)
    if len(deep) == 1:
        path, rows = deep[0]
        return rows, [f"The rows are the list {'.'.join(path)}; what stands beside it was not read."]
    if all(isinstance(v, dict) for v in values):
        return _from_objects(found)
    return [found], []


def _deep_lists(found: Mapping[str, Any], path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], list[dict[str, Any]]]]:
    """Lists of objects that are reached through objects alone."""
    made: list[tuple[tuple[str, ...], list[dict[str, Any]]]] = []
    for key, value in found.items():
        if isinstance(value, list) and value and all(isinstance(x, dict) for x in value):
            made.append(((*path, key), value))
        elif isinstance(value, dict) and len(path) < _DEEPEST:
            made += _deep_lists(value, (*path, key))
    return made


def _from_list(found: list[Any]) -> tuple[list[dict[str, Any]] | None, list[str]]:
    if not found:
        return None, []
    if all(isinstance(row, list) for row in found):
        names, body = [f"column_{i + 1}" for i in range(max(map(len, found), default=0))], found
        if len(found) > 1 and found[0] and all(isinstance(c, str) for c in found[0]):
            names, body = [*found[0], *names[len(found[0]) :]], found[1:]
        return [dict(zip(names, row, strict=False)) for row in body], []
    odd = sum(not isinstance(row, dict) for row in found)
    rows = [row if isinstance(row, dict) else {"value": row} for row in found]
    return rows, [f"{odd:,} items that are no objects stand in the column value."] if odd and odd < len(found) else []


def _from_objects(found: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """Columns by row number, as pandas writes them, or rows by key."""
    inner = list(found.values())
    index = list(dict.fromkeys(k for v in inner for k in v))
    if index and all(str(k).isdigit() for k in index):
        return [{name: column.get(k) for name, column in found.items()} for k in index], []
    return [{"key": key, **row} for key, row in found.items()], ["The names of the objects stand in the column key."]


def _paths(con: duckdb.DuckDBPyConnection, rows: str) -> list[tuple[str, ...]]:
    """Keys in the order of their first row; those of objects with their own keys."""
    keys = con.execute(
        f"""SELECT k, bool_and(t IN ('OBJECT', 'NULL')) AND bool_or(t = 'OBJECT') FROM (
                SELECT r, k, json_type(j, '$."' || replace(replace(k, '\\', '\\\\'), '"', '\\"') || '"') AS t
                FROM (SELECT j, rowid AS r, unnest(json_keys(j)) AS k FROM {rows}))
            GROUP BY k ORDER BY min(r), min(k)"""
    ).fetchall()
    first = con.execute(f"SELECT json_keys(j) FROM {rows} LIMIT 1").fetchone()
    order = {k: i for i, k in enumerate(dict.fromkeys(first[0] if first else []))}
    keys.sort(key=lambda row: order.get(row[0], len(order)))
    found: list[tuple[str, ...]] = []
    for key, nested in keys:
        inner = _inner(con, rows, key) if nested else []
        found += [(key, k) for k in inner] or [(key,)]
    return found


def _inner(con: duckdb.DuckDBPyConnection, rows: str, key: str) -> list[str]:
    made = con.execute(
        f"""SELECT k FROM (SELECT rowid AS r, unnest(json_keys(j, {literal(_json_path((key,)))})) AS k FROM {rows})
            GROUP BY k ORDER BY min(r), k"""
    ).fetchall()
    return [row[0] for row in made]


def _json_path(keys: Sequence[str]) -> str:
    return "$" + "".join('."' + key.replace("\\", "\\\\").replace('"', '\\"') + '"' for key in keys)


def _typed(
    con: duckdb.DuckDBPyConnection, name: str, file: TextFile, rows: str, paths: Sequence[tuple[str, ...]],
    options: Mapping[str, Any], notes: Sequence[str], rejected: int, flagged: int,
) -> Loaded:  # fmt: skip
    table = scratch_name(con)
    con.execute(f"CREATE TABLE {table} AS SELECT {json_cells(paths)} FROM {rows}")
    texts, tells = _strings(con, rows, paths)
    con.execute(f"DROP TABLE {rows}")
    con.execute(f"ALTER TABLE {rows}_rejects RENAME TO {table}_rejects")
    names, said = unique_names(["_".join(p).replace(".", "_") if len(p) > 1 else "".join(p) for p in paths])
    dialect = Dialect(",", '"', '"', True, 0, names, (False,) * len(names), False, tuple(said))
    raw = Raw(table, dialect, file, rejected, rejects_of(table), tuple(notes), flagged)
    kept = dict(options) | {"keep_empty_rows": True, "keep_below": True}
    hints = replace(hints_of(options, None, codes_in_text=False), texts=texts, tells=tells)
    loaded = type_raw(con, name, raw, hints, kept)
    loaded.options.update({"format": "json", "encoding": file.encoding, "paths": [list(path) for path in paths]})
    return loaded


def json_cells(paths: Sequence[tuple[str, ...]]) -> str:
    """SQL: the cells of an object ``j`` as text, columns ``c0``, ``c1``, …"""
    return ", ".join(f"json_extract_string(j, {literal(_json_path(p))}) AS c{i}" for i, p in enumerate(paths))


def _strings(con: duckdb.DuckDBPyConnection, rows: str, paths: Sequence[tuple[str, ...]]) -> tuple[frozenset[str], bool]:
    """Columns that hold strings alone, as the first rows have it, and whether others hold numbers."""
    kinds = ", ".join(f"list(DISTINCT json_type(j, {literal(_json_path(p))}))" for p in paths)
    found = con.execute(f"SELECT {kinds} FROM (SELECT j FROM {rows} LIMIT {_LOOKED_AT})").fetchone() or ()
    held = [set(kind or ()) - {None, "NULL"} for kind in found]
    texts = frozenset(f"c{i}" for i, kind in enumerate(held) if kind == {"VARCHAR"})
    return texts, any(kind & {"BIGINT", "UBIGINT", "DOUBLE"} for kind in held)
