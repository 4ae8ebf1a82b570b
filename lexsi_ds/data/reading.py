"""From paths to tables: which files there are, archives unpacked, and each file given to its reader.

The import and the plan go the same way; a plan only looks at the beginning of long files. Must never: read a file in
the server's process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

import duckdb

from lexsi_ds.data.archives import decompress, inner_name, unzip
from lexsi_ds.data.choices import with_choices
from lexsi_ds.data.duckdb_files import read_duckdb
from lexsi_ds.data.excel_files import read_excel
from lexsi_ds.data.fast_text import read_fast
from lexsi_ds.data.json_files import read_json
from lexsi_ds.data.loaded import Limits, Loaded
from lexsi_ds.data.plan import options_for
from lexsi_ds.data.readers import read_parquet, read_text, text_parts
from lexsi_ds.data.several import said
from lexsi_ds.data.sniff import SUFFIXES, TEXT_SUFFIXES, FileKind, file_kind, find_files, table_name
from lexsi_ds.data.sqlite_files import read_sqlite_file
from lexsi_ds.errors import BadInput

HEAD_BYTES = 4 << 20
"""How much of a long text file a plan looks at."""
HEAD_ROWS = 20_000
_CUT_SUFFIXES = (*TEXT_SUFFIXES, ".jsonl", ".ndjson")


@dataclass(frozen=True)
class Item:
    """A file to read, where it lies now. ``file`` is the file that was given, ``member`` the name in its archive."""

    path: Path
    source: Path
    file: str
    member: str | None
    kind: FileKind
    partial: bool = False
    error: BadInput | None = None
    """Why it cannot be read, where that is known before its reader is asked."""

    @property
    def shown(self) -> str:
        """What to call it to a person."""
        return f"{self.file}: {self.member}" if self.member else self.file

    @property
    def stem(self) -> str:
        """What its table is called after."""
        name = PurePosixPath(self.member.replace("\\", "/")).name if self.member else self.file
        return PurePosixPath(inner_name(name)).stem


@dataclass(frozen=True)
class Reader:
    """What all files of one import share."""

    con: duckdb.DuckDBPyConnection
    scratch: Path
    limits: Limits
    options: Mapping[str, Any]
    head: bool = False
    """Only the beginning, for a plan."""
    tick: Callable[[float], None] = lambda _: None
    """Hears how far the reading of a file is, where no query of DuckDB tells it."""

    def items(self, paths: Sequence[Path]) -> tuple[list[Item], list[str]]:
        """The files that paths name, archives unpacked, and what was passed over. Raises BadInput when nothing can be read."""
        found = find_files(paths)
        items: list[Item] = []
        ignored = list(found.ignored)
        for path in found.files:
            more, passed = self._tried(path, path, path.name, None, 0)
            items += more
            ignored += passed
        if not items:
            raise BadInput("There is nothing in it that can be read.", where=", ".join(p.name for p in paths)[:200])
        if all(item.error for item in items):
            raise items[0].error or BadInput("There is nothing in it that can be read.")
        return items, [f"Not read, of another type: {', '.join(ignored[:20])}."] if ignored else []

    def read(self, item: Item, taken: set[str]) -> tuple[list[tuple[str | None, Loaded]], list[str]]:
        """The tables of a file with their names in it, and notes about the file. Raises BadInput that names the file."""
        if item.error is not None:
            raise item.error
        try:
            return self._read(item, taken)
        except BadInput as error:
            if item.member is None or item.file in error.where:
                raise
            raise BadInput(error.what, where=item.shown, to_do=error.to_do) from error

    def _read(self, item: Item, taken: set[str]) -> tuple[list[tuple[str | None, Loaded]], list[str]]:
        con, most = self.con, HEAD_ROWS if self.head else None
        options = options_for(self.options, item.file, item.member)
        match item.kind:
            case "sqlite":
                made, notes = read_sqlite_file(con, item.path, item.shown, self.limits, taken)
                return [self._chosen(item, _inner(item, str(t.options["table"])), t) for t in made], notes
            case "duckdb":
                tables, notes = read_duckdb(con, item.path, item.shown, self.limits, taken, most=most)
                return [self._chosen(item, _inner(item, name), t) for name, t in tables], notes
            case "excel":
                tables, notes = read_excel(
                    con, item.path, item.stem, item.shown, self.scratch, self.limits, self.options, taken,
                    key=lambda sheet: (item.file, _inner(item, sheet)), most=most, tick=self.tick,
                )  # fmt: skip
                return [(_inner(item, name), t) for name, t in tables], notes
            case "parquet":
                name = table_name(item.stem, taken)
                return [self._chosen(item, item.member, read_parquet(con, item.path, name, self.limits))], []
            case "json":
                name = table_name(item.stem, taken)
                return [(item.member, read_json(con, item.path, name, self.scratch, self.limits, options, most=most))], []
            case _:
                return self._texts(item, options, taken), []

    def _texts(self, item: Item, options: Mapping[str, Any], taken: set[str]) -> list[tuple[str | None, Loaded]]:
        """The tables of a text file: one, as a rule."""
        read = read_text if self.head else read_fast
        parts = [item.path] if item.partial else text_parts(item.path, self.scratch, options)
        made: list[tuple[str | None, Loaded]] = []
        for number, part in enumerate(parts, start=1):
            member = item.member if number == 1 else _inner(item, f"table {number}")
            own = options if number == 1 else options_for(self.options, item.file, member)
            table = read(self.con, part, table_name(item.stem, taken), self.scratch, self.limits, own)
            if len(parts) > 1:
                table = replace(table, notes=(said(number, len(parts)), *table.notes))
            made.append((member, table))
        return made

    def _chosen(self, item: Item, member: str | None, table: Loaded) -> tuple[str | None, Loaded]:
        return member, with_choices(self.con, table, options_for(self.options, item.file, member))

    def _tried(self, path: Path, source: Path, file: str, member: str | None, depth: int) -> tuple[list[Item], list[str]]:
        """As ``_expand``; a file that cannot be read is an item with its error, so that the others can still be read."""
        try:
            return self._expand(path, source, file, member, depth)
        except BadInput as error:
            if member is not None and file not in error.where:
                error = BadInput(error.what, where=f"{file}: {member}", to_do=error.to_do)
            return [Item(path, source, file, member, "text", error=error)], []

    def _expand(self, path: Path, source: Path, file: str, member: str | None, depth: int) -> tuple[list[Item], list[str]]:
        kind = file_kind(path)
        if kind == "zip":
            if depth > 1:
                raise BadInput("Archives within archives are read one level deep.", where=f"{file}: {member}")
            return self._unzipped(path, source, file, member, depth)
        partial = False
        if kind == "compressed":
            cut = self._head(inner_name(path.name))
            path = decompress(path, self.scratch, head=cut)
            partial = cut is not None and path.stat().st_size >= cut
            kind = file_kind(path)
            if kind in ("zip", "compressed"):
                raise BadInput("This compressed file holds another archive.", where=file, to_do="Unpack it yourself.")
        elif self.head and kind in ("text", "json") and path.suffix.lower() in _CUT_SUFFIXES:
            path, partial = self._cut(path)
        if partial:
            _drop_last_line(path)
        return [Item(path, source, file, member, kind, partial)], []

    def _unzipped(
        self, path: Path, source: Path, file: str, member: str | None, depth: int
    ) -> tuple[list[Item], list[str]]:
        def wanted(name: str) -> bool:
            return PurePosixPath(name).suffix.lower() in SUFFIXES

        members, passed = unzip(path, self.scratch, wanted, head=self._head)
        items: list[Item] = []
        for inside in members:
            name = f"{member}/{inside.name}" if member else inside.name
            if not inside.path.stat().st_size:
                passed.append(f"{name} (empty)")
                continue
            more, others = self._tried(inside.path, source, file, name, depth + 1)
            cut = self._head(inside.name)
            if cut is not None and inside.path.stat().st_size >= cut:
                _drop_last_line(inside.path)
                more = [replace(item, partial=True) for item in more]
            items += more
            passed += others
        return items, passed

    def _head(self, name: str) -> int | None:
        cut = self.head and PurePosixPath(name).suffix.lower() in _CUT_SUFFIXES
        return HEAD_BYTES if cut else None

    def _cut(self, path: Path) -> tuple[Path, bool]:
        """A copy of the beginning of a long file."""
        if path.stat().st_size <= HEAD_BYTES:
            return path, False
        folder = self.scratch / f"head_{len(list(self.scratch.glob('head_*')))}"
        folder.mkdir()
        to = folder / path.name
        with path.open("rb") as source:
            to.write_bytes(source.read(HEAD_BYTES))
        return to, True


def _drop_last_line(path: Path) -> None:
    """Cut a part of a file after its last whole line; UTF-16 keeps its pairs of bytes."""
    data = path.read_bytes()
    wide = data[:2] in (b"\xff\xfe", b"\xfe\xff") or data[:4].count(0) > 1
    end = data.rfind(b"\n\x00" if wide and data[:2] != b"\xfe\xff" else b"\x00\n" if wide else b"\n")
    if end > 0:
        end = end + (2 if wide else 1)
        path.write_bytes(data[: end - end % 2 if wide else end])


def _inner(item: Item, name: str) -> str:
    return f"{item.member}/{name}" if item.member else name


