"""What a dictionary document says of columns and codes: a deterministic reading of its tables and definition lines.

An entry is made only where the words name a column of the source for sure: by "table.column", under a heading that names the
table, or by a name that only one table has. Text of documents is data, never an order. Must never: guess which column is meant.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.knowledge.document_text import table_rows
from lexsi_ds.knowledge.words import fold

_TABLE_HEADS = frozenset({"table", "dataset", "data set", "entity", "file", "table name"})
_COLUMN_HEADS = frozenset({
    "column", "column name", "columns", "field", "field name", "name", "attribute", "variable", "variable name", "feature",
})  # fmt: skip
_CODE_HEADS = frozenset({"code", "codes", "value", "values", "level", "key", "category"})
_TEXT_HEADS = frozenset({
    "description", "meaning", "definition", "comment", "explanation", "label", "means", "stands for", "note", "notes", "remark",
})  # fmt: skip
_LINE = re.compile(
    r"^\s*(?:[-*+•]\s+|\d+[.)]\s+)?(?P<name>[^:=|]{1,80}?)\s*(?::|=|\s[–—-]\s|\s+(?:means|stands for|is)\s)\s*(?P<text>\S.*)$"
)
_HEAD = re.compile(r"^\s{0,3}(?P<level>#{1,6})\s+(?P<text>.+?)\s*#*\s*$")
_CODE = r"(?:^|(?<=[\s,;:.(|/]))['\"`]?(?P<code>[A-Za-z0-9_+\-]{1,20})['\"`]?\s*"
_PAIR = re.compile(_CODE + r"(?:=|->|→|–|—|\bmeans\b|\bstands for\b)\s*")
_COLON_PAIR = re.compile(_CODE + r":\s*")
_PAIR_END = re.compile(r"[;|\n)]|\.(?:\s|$)")
_MARKS = "`*_\"'“”‘’[]() "
_LONGEST = 600


@dataclass(frozen=True)
class Entry:
    """What a document says of a column (``code`` empty) or of one of its codes."""

    table: str
    column: str
    code: str
    text: str


def entries(text: str, kind: str, handle: DatasetHandle) -> tuple[Entry, ...]:
    """The entries of a document for a source, in order, each place once; masked columns have none."""
    names = _Names(handle)
    found: dict[tuple[str, str, str], Entry] = {}
    for entry in _all(text, kind, names):
        short = " ".join(entry.text.split()).strip(_MARKS.replace(")", "").replace("(", "")).strip()
        if short and len(short) <= _LONGEST:
            found.setdefault((entry.table, entry.column, entry.code), Entry(entry.table, entry.column, entry.code, short))
    return tuple(found.values())


class _Names:
    """Which column some words name."""

    def __init__(self, handle: DatasetHandle) -> None:
        self._tables = {_key(t.name): t.name for t in handle.tables}
        self._columns: dict[str, dict[str, str]] = {
            t.name: {_key(c.name): c.name for c in t.columns if not c.masked} for t in handle.tables
        }

    def table(self, words: str) -> str | None:
        """The table that these words are; "Table loan" and "loan table" too."""
        key = _key(words)
        for each in (key, key.removeprefix("table "), key.removesuffix(" table")):
            if each in self._tables:
                return self._tables[each]
        return None

    def column(self, words: str, table: str | None) -> tuple[str, str] | None:
        """Table and column; a bare name counts in ``table``, else where only one table has it."""
        bare = words.strip(_MARKS)
        if "." in bare:
            first, _, second = bare.partition(".")
            owner = self.table(first)
            found = self._columns[owner].get(_key(second)) if owner else None
            return (owner, found) if owner and found else None
        key = _key(bare).removeprefix("column ")
        if table is not None and key in self._columns[table]:
            return table, self._columns[table][key]
        owners = [t for t, columns in self._columns.items() if key in columns]
        return (owners[0], self._columns[owners[0]][key]) if len(owners) == 1 and table is None else None


def _key(words: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", fold(words.strip(_MARKS)).replace("_", " ")))


def _all(text: str, kind: str, names: _Names) -> Iterator[Entry]:
    if kind == "csv":
        yield from _of_rows(_csv_rows(text), names, None, None)
    elif kind == "json":
        for rows in _json_tables(text):
            yield from _of_rows(rows, names, None, None)
        yield from _json_pairs(text, names)
    else:
        yield from _of_prose(text, names)


def _of_prose(text: str, names: _Names) -> Iterator[Entry]:
    """Lines under headings, and tables where they stand."""
    table: str | None = None
    level = 0
    column: tuple[str, str] | None = None
    block: list[str] = []
    for line in [*text.split("\n"), ""]:
        if line.strip().startswith("|"):
            block.append(line)
            continue
        if block:
            for rows in table_rows("\n".join(block)):
                yield from _of_rows(rows, names, table, column)
            block = []
        head = _HEAD.match(line)
        title = head["text"] if head else line.strip().strip("*_: ") if _alone(line) else ""
        if title:
            named_column, named_table = names.column(title, table), names.table(title)
            if named_table is not None and (head or named_column is None):
                table, column, level = named_table, None, len(head["level"]) if head else 7
            elif named_column is not None:
                column = named_column
            elif head:
                column, table = None, table if len(head["level"]) > level else None
            continue
        made = list(_of_line(line, names, table, column))
        if made and not made[0].code:
            column = (made[0].table, made[0].column)
        yield from made


def _alone(line: str) -> bool:
    """A line that is only a name, such as "**loan**" or "status:"."""
    bare = line.strip()
    return bool(bare) and len(bare) <= 80 and (bare.endswith(":") or (bare.startswith("**") and bare.endswith("**")))


def _of_line(line: str, names: _Names, table: str | None, column: tuple[str, str] | None) -> Iterator[Entry]:
    found = _LINE.match(line)
    if not found:
        return
    name, said = found["name"].strip(_MARKS), found["text"]
    place = names.column(name, table)
    if place is not None:
        yield Entry(*place, "", said)
        yield from _codes(place, said)
    elif column is not None and re.fullmatch(r"[A-Za-z0-9_+\-]{1,20}(?: [A-Za-z0-9_+\-]{1,20}){0,3}", name):
        yield Entry(*column, name, said.rstrip("."))


def _codes(place: tuple[str, str], said: str) -> Iterator[Entry]:
    """Codes that a description spells out: "A = paid, B = not paid"."""
    pairs = _pairs(said, _PAIR)
    pairs = pairs if len(pairs) > 1 else _pairs(said, _COLON_PAIR)
    if len(pairs) > 1:
        yield from (Entry(*place, code, meaning) for code, meaning in pairs)


def _pairs(said: str, form: re.Pattern[str]) -> list[tuple[str, str]]:
    """Each code with all that is said of it, up to where the next code or sentence begins."""
    found, pairs = list(form.finditer(said)), []
    for i, match in enumerate(found):
        rest = said[match.end() : found[i + 1].start() if i + 1 < len(found) else len(said)]
        end = _PAIR_END.search(rest)
        meaning = re.sub(r"[\s,/]+(?:and|or)?\s*$", "", rest[: end.start()] if end else rest).strip(" '\"`")
        if 1 < len(meaning) <= 80:
            pairs.append((match["code"], meaning))
    return pairs


def _of_rows(
    rows: Sequence[Sequence[str]], names: _Names, table: str | None, column: tuple[str, str] | None
) -> Iterator[Entry]:
    """Rows of a dictionary table; an empty cell means the one above, as in tables with merged cells."""
    if len(rows) < 2:
        return
    heads = [_key(h) for h in rows[0]]
    at_table, at_column = _place(heads, _TABLE_HEADS), _place(heads, _COLUMN_HEADS)
    at_code, at_text = _place(heads, _CODE_HEADS), _place(heads, _TEXT_HEADS)
    if at_text is None or (at_column is None and at_code is None):
        return
    last_table, place = table, column
    for row in rows[1:]:
        cell = [*(c.strip() for c in row), *[""] * len(heads)]
        if at_table is not None and cell[at_table]:
            last_table = names.table(cell[at_table])
            place = None
            if last_table is None:
                continue
        if at_column is not None and cell[at_column]:
            place = names.column(cell[at_column], last_table)
        said = cell[at_text]
        if place is None or not said or (at_table is not None and last_table is None):
            continue
        code = cell[at_code] if at_code is not None else ""
        if code and code.strip(_MARKS):
            yield Entry(*place, code.strip("`*\"' "), said.rstrip("."))
        elif at_column is not None and cell[at_column]:
            yield Entry(*place, "", said)
            yield from _codes(place, said)


def _place(heads: list[str], wanted: frozenset[str]) -> int | None:
    return next((i for i, h in enumerate(heads) if h in wanted), None)


def _csv_rows(text: str) -> list[list[str]]:
    head = text.split("\n", 1)[0]
    delimiter = max(",;\t|", key=head.count)
    try:
        return [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row]
    except csv.Error:
        return []


def _json_tables(text: str) -> Iterator[list[list[str]]]:
    """Lists of objects, wherever they stand, as rows."""
    for node in _nodes(_loaded(text)):
        if isinstance(node, list) and node and all(isinstance(each, dict) for each in node):
            heads = list(dict.fromkeys(key for each in node for key in each))
            yield [heads, *([_cell(each.get(h)) for h in heads] for each in node)]


def _json_pairs(text: str, names: _Names) -> Iterator[Entry]:
    """Objects such as {"loan": {"status": "state of the loan"}} or {"loan.status": {"A": "paid"}}."""
    def walk(node: Any, table: str | None) -> Iterator[Entry]:
        if not isinstance(node, dict):
            return
        for key, value in node.items():
            place = names.column(key, table)
            if place is not None and isinstance(value, str):
                yield Entry(*place, "", value)
                yield from _codes(place, value)
            elif place is not None and isinstance(value, dict) and all(isinstance(v, str) for v in value.values()):
                yield from _described(place, value)
            else:
                yield from walk(value, names.table(key) or table)

    yield from walk(_loaded(text), None)


def _described(place: tuple[str, str], value: dict[str, str]) -> Iterator[Entry]:
    for key, said in value.items():
        yield Entry(*place, "" if _key(key) in _TEXT_HEADS else key, said)


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _nodes(node: Any) -> Iterator[Any]:
    waiting = [node]
    while waiting:
        each = waiting.pop()
        yield each
        waiting += list(each.values()) if isinstance(each, dict) else each if isinstance(each, list) else []


def _cell(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
