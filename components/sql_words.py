"""Completion for the SQL editor: which names of the source go on from the last word. Pure; draws nothing."""

from __future__ import annotations

import re

from lexsi_ds.data.handle import DatasetHandle

_LAST = re.compile(r"(?:([A-Za-z_]\w*)\.)?([A-Za-z_]\w*)?$")
_BARE = re.compile(r"^[a-z_][a-z0-9_]*$")
_ALIAS = re.compile(r"\b(?:from|join)\s+(\"[^\"]+\"|\w+)(?:\s+(?:as\s+)?(\w+))?", re.IGNORECASE)
_KEYWORDS = (
    "select", "from", "where", "group by", "order by", "join", "left join", "using", "having", "limit", "count(*)", "sum(",
    "avg(", "min(", "max(", "distinct", "between", "case when", "date_trunc('month', ",
)  # fmt: skip
_RESERVED = frozenset(
    ("order", "group", "select", "from", "where", "table", "join", "case", "when", "end", "limit", "by", "as", "on", "all",
     "union", "column", "default", "check", "primary", "user", "desc", "asc", "and", "or", "not", "in", "is", "null")
)  # fmt: skip
MOST = 10


def quoted(name: str) -> str:
    """A name as SQL takes it: bare when it can be."""
    return name if _BARE.match(name) and name not in _RESERVED else '"' + name.replace('"', '""') + '"'


def completions(sql: str, handle: DatasetHandle) -> list[str]:
    """What may stand in place of the last, unfinished word; the nearest first. After ``table.`` its columns."""
    match = _LAST.search(sql)
    owner, begun = (match[1], match[2] or "") if match else (None, "")
    mentioned = _mentioned(sql, handle)
    if owner:
        table = handle.table(mentioned.get(owner.casefold(), owner))
        names = [c.name for c in table.columns] if table else []
        return _fitting(begun, [quoted(n) for n in names], begun)
    if not begun:
        return []
    here = [handle.table(name) for name in dict.fromkeys(mentioned.values())]
    columns = [quoted(c.name) for t in here if t for c in t.columns]
    others = [quoted(c.name) for t in handle.tables for c in t.columns]
    names = [*columns, *(quoted(t.name) for t in handle.tables), *others, *_KEYWORDS]
    return _fitting(begun, list(dict.fromkeys(names)), begun)


def complete(sql: str, word: str) -> str:
    """The text with its last, unfinished word replaced."""
    match = _LAST.search(sql)
    begun = match[2] or "" if match else ""
    return sql[: len(sql) - len(begun)] + word + ("" if word.endswith(("(", " ")) else " ")


def _mentioned(sql: str, handle: DatasetHandle) -> dict[str, str]:
    """Tables that the text names so far, by name and by alias."""
    found: dict[str, str] = {}
    for match in _ALIAS.finditer(sql):
        table = handle.table(match[1].strip('"'))
        if table:
            found[table.name.casefold()] = table.name
            if match[2] and match[2].casefold() not in _RESERVED:
                found[match[2].casefold()] = table.name
    return found


def _fitting(begun: str, names: list[str], whole: str) -> list[str]:
    start = begun.casefold()
    first = [n for n in names if n.strip('"').casefold().startswith(start)]
    inner = [n for n in names if len(start) > 1 and start in n.casefold() and n not in first]
    return [n for n in [*first, *inner] if n.casefold() != whole.casefold()][:MOST]
