"""Keys that stand twice in one JSON object: readers take one of the values and lose the other without a word.

The first value counts, whatever way a file is read. Must never: lose a value without keeping its object for a person.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb


class JsonObject(dict[str, Any]):
    """An object of which a repeated key is remembered; its first value counts, as in files of lines."""

    def __init__(self, pairs: Sequence[tuple[str, Any]]) -> None:
        super().__init__(reversed(pairs))
        self.pairs = pairs if len(self) < len(pairs) else None
        if self.pairs is None:
            self.clear()
            self.update(pairs)


def dumped(row: Mapping[str, Any]) -> str:
    """A row as JSON, with its repeated keys."""
    pairs = getattr(row, "pairs", None)
    if pairs is None:
        return json.dumps(row, ensure_ascii=False)
    return "{" + ", ".join(f"{json.dumps(k, ensure_ascii=False)}: {json.dumps(v, ensure_ascii=False)}" for k, v in pairs) + "}"


def keep_repeated(con: duckdb.DuckDBPyConnection, rows: str) -> tuple[int, list[str]]:
    """Objects in which a key stands twice are kept with the reason, as only its first value is read; how many, and a note."""
    test = "len(json_keys(j)) > len(list_distinct(json_keys(j)))"
    found = con.execute(
        f"""INSERT INTO {rows}_rejects (reason, "text", "row") SELECT 'A KEY IS REPEATED: ITS FIRST VALUE IS IN THE TABLE',
            CAST(j AS VARCHAR), n FROM (SELECT j, row_number() OVER (ORDER BY rowid) AS n FROM {rows}) WHERE {test}"""
    ).fetchone()
    count = int(found[0]) if found else 0
    if not count:
        return 0, []
    names = con.execute(
        f"""SELECT DISTINCT k FROM (SELECT rowid AS r, unnest(json_keys(j)) AS k FROM {rows} WHERE {test})
            GROUP BY r, k HAVING count(*) > 1 ORDER BY k LIMIT 3"""
    ).fetchall()
    shown, where = ", ".join(name for (name,) in names), "1 object" if count == 1 else f"{count:,} objects"
    return count, [f"Repeated in {where}: {shown}. The first value was read; the objects are kept in a file with the reason."]
