"""What a person chose for columns of a file that says its types itself: Parquet, SQLite, DuckDB.

Names, types, columns left out and codes for missing values hold there as they do for text. Must never: take a choice and
not apply it, or lose a value that does not fit a chosen type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import duckdb

from lexsi_ds.data.cells import BLANKS
from lexsi_ds.data.dialect import unique_names
from lexsi_ds.data.evidence import Hints
from lexsi_ds.data.found_plan import chosen_marks, column_type
from lexsi_ds.data.infer import TextColumn, Typed, infer_columns
from lexsi_ds.data.loaded import Loaded
from lexsi_ds.data.plan import ColumnPlan
from lexsi_ds.data.raw_rows import create_rejects, literal, quoted, rejects_of, scratch_name
from lexsi_ds.data.typed_rows import keep_misfits

_MARKS = ("protected", "masked", "identifier", "include", "trim")
_NESTED = ("STRUCT", "MAP", "UNION", "BLOB")


def with_choices(con: duckdb.DuckDBPyConnection, loaded: Loaded, options: Mapping[str, Any]) -> Loaded:
    """The table with the choices applied; as it is when there are none."""
    given = {int(position): dict(chosen) for position, chosen in (options.get("columns") or {}).items()}
    general = tuple(options.get("missing") or ())
    if not given and not general:
        return loaded
    described = [(str(row[0]), str(row[1])) for row in con.execute(f"DESCRIBE {loaded.select}").fetchall()]
    names, said = unique_names([str(given.get(i, {}).get("name") or name) for i, (name, _) in enumerate(described)])
    table, retyped = _retyped(con, loaded.select, described, names, given, options)
    codes = {i: _codes(described[i][1], (*general, *given.get(i, {}).get("missing", ()))) for i in range(len(names))}
    keep = [i for i in range(len(names)) if given.get(i, {}).get("include") is not False] or list(range(len(names)))
    made = [
        retyped[i].expression if i in retyped else _as_chosen(*described[i], codes[i], given.get(i, {})) for i in keep
    ]
    kinds = [retyped[i].type if i in retyped else described[i][1] for i in keep]
    source = table or f"({loaded.select})"
    select = f"SELECT {', '.join(f'{m} AS {quoted(names[i])}' for m, i in zip(made, keep, strict=True))} FROM {source}"
    notes = [*loaded.notes, *said, *_missing_notes(con, source, described, names, codes)]
    notes += [note for t in retyped.values() for note in t.notes]
    out = [names[i] for i in range(len(names)) if i not in keep]
    if out:
        notes.append(f"Left out by choice: {', '.join(out)}.")
    flagged = keep_misfits(con, table, [t for i, t in retyped.items() if i in keep]) if table else 0
    plans = tuple(_plan(i, names[i], kind, given.get(i, {})) for i, kind in zip(keep, kinds, strict=True))
    return replace(
        loaded, select=select, notes=tuple(notes), columns=plans, marks=chosen_marks(plans, options) or loaded.marks,
        flagged=flagged, rejects=rejects_of(table) if table else None,
        options={**loaded.options, **({"missing": list(general)} if general else {})},
    )  # fmt: skip


def _retyped(
    con: duckdb.DuckDBPyConnection, select: str, described: Sequence[tuple[str, str]], names: Sequence[str],
    given: Mapping[int, Mapping[str, Any]], options: Mapping[str, Any],
) -> tuple[str | None, dict[int, Typed]]:  # fmt: skip
    """Columns whose type was chosen, read from their text; in a scratch table that has their texts beside all the others."""
    wanted = {
        i: chosen for i, chosen in given.items()
        if chosen.get("type") and i < len(described) and chosen["type"] != column_type(described[i][1])
    }  # fmt: skip
    if not wanted:
        return None, {}
    table = scratch_name(con)
    listed = ", ".join(
        f"CAST({quoted(name)} AS VARCHAR) AS {quoted(name)}" if i in wanted else quoted(name)
        for i, (name, _) in enumerate(described)
    )
    con.execute(f"CREATE TABLE {table} AS SELECT {listed} FROM ({select})")
    create_rejects(con, table)
    columns = [TextColumn(described[i][0], names[i]) for i in wanted]
    hints = Hints(
        None, date_order=options.get("date_order"), missing=tuple(options.get("missing") or ()),
        columns={described[i][0]: chosen for i, chosen in wanted.items()},
    )  # fmt: skip
    typed = infer_columns(con, table, columns, hints)
    return table, dict(zip(wanted, typed, strict=True))


def _codes(kind: str, codes: Sequence[str]) -> tuple[str, ...]:
    return () if kind.startswith(_NESTED) or kind.endswith("]") else tuple(dict.fromkeys(str(code) for code in codes))


def _test(column: str, codes: Sequence[str]) -> str:
    """Whether a value is one of the codes: the same text, or the same number."""
    text = f"CAST({column} AS VARCHAR)"
    numbers = ", ".join(f"try_cast({literal(code)} AS DOUBLE)" for code in codes)
    same = f"trim({text}) IN ({', '.join(literal(code) for code in codes)})"
    return f"({same} OR coalesce(try_cast({text} AS DOUBLE) IN ({numbers}), false))"


def _without(column: str, kind: str, codes: Sequence[str]) -> str:
    return f"CASE WHEN {_test(column, codes)} THEN NULL ELSE CAST({column} AS {kind}) END" if codes else column


def _as_chosen(name: str, kind: str, codes: Sequence[str], given: Mapping[str, Any]) -> str:
    made = _without(quoted(name), kind, codes)
    return f"nullif(trim({made}, '{BLANKS}'), '')" if given.get("trim") and kind == "VARCHAR" else made


def _missing_notes(
    con: duckdb.DuckDBPyConnection, source: str, described: Sequence[tuple[str, str]], names: Sequence[str],
    codes: Mapping[int, Sequence[str]],
) -> list[str]:  # fmt: skip
    held = [i for i in codes if codes[i]]
    if not held:
        return []
    counts = ", ".join(f"count(*) FILTER (WHERE {_test(quoted(described[i][0]), codes[i])})" for i in held)
    row = con.execute(f"SELECT {counts} FROM {source}").fetchone() or ()
    return [
        f"{n:,} value{'s' * (n > 1)} of {names[i]} such as {codes[i][0]} became missing."
        for i, n in zip(held, row, strict=True) if n
    ]  # fmt: skip


def _plan(position: int, name: str, kind: str, given: Mapping[str, Any]) -> ColumnPlan:
    return ColumnPlan(
        position=position, name=name, type=column_type(kind), sql_type=kind, missing=tuple(given.get("missing", ())),
        chosen=tuple(given), **{k: v for k, v in given.items() if k in _MARKS},
    )  # fmt: skip
