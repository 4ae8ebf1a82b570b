"""The cells of a delimited text file as text in a scratch table, and the lines that do not fit with where they stand.

Lines are told by their place in bytes, so that their numbers are right below line breaks inside of cells. Must never: lose
a line that is neither in the table nor among those that do not fit.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from lexsi_ds.data.dialect import Dialect
from lexsi_ds.data.short_lines import Line, Short, fill_up, find_short
from lexsi_ds.data.text_file import TextFile
from lexsi_ds.errors import BadInput

_LONGEST_LINE = 64 << 20
_CHUNK = 4 << 20
_NUMBERS = itertools.count()
_MOST_PLACED = 200_000
"""More lines than this that do not fit keep DuckDB's own count of lines, and none of them is filled up."""
_COLUMNS = """"line", reason, replace("text", chr(31), ' ') AS "text", "row", "column\""""
"""Our own delimiter, in files cut by blanks, is shown as the blank it was."""
ABOVE = "TITLE OR COMMENT ABOVE THE TABLE"
_FILLED = "SHORT LINE READ WITH MISSING CELLS AT ITS END"


@dataclass(frozen=True)
class Raw:
    """A text file as it stands: all its cells as text in a scratch table, columns ``c0``, ``c1``, …"""

    table: str
    dialect: Dialect
    file: TextFile
    rejected: int
    rejects: str
    notes: tuple[str, ...] = ()
    flagged: int = 0
    """Entries of ``rejects`` about titles above the table, and about lines and cells that are in it, but not as they stood."""

    cuts: tuple[int, ...] | None = None
    """For a file without a delimiter: where its columns begin, from 1; empty when blanks between them tell."""

    def noted(self, *notes: str, rejected: int = 0, flagged: int = 0) -> Raw:
        """With more to say."""
        return replace(
            self, notes=(*self.notes, *notes), rejected=self.rejected + rejected, flagged=self.flagged + flagged
        )


def quoted(name: str) -> str:
    """``name`` as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """``text`` as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def scratch_name(_: duckdb.DuckDBPyConnection) -> str:
    """A name that no scratch table has, or had."""
    return f"raw_{next(_NUMBERS)}"


def rejects_of(table: str) -> str:
    """Query that gives what did not fit into a raw table."""
    return f"SELECT {_COLUMNS} FROM {table}_rejects ORDER BY \"line\", \"row\""


def rejected_note(lines: int) -> str:
    """How a note says that lines were set aside."""
    verb = "could not be read and is" if lines == 1 else "could not be read and are"
    return f"{lines:,} {'line' if lines == 1 else 'lines'} {verb} kept in a file with the reason."


def create_rejects(con: duckdb.DuckDBPyConnection, table: str) -> None:
    """An empty list of what does not fit into ``table``."""
    con.execute(
        f"""CREATE OR REPLACE TABLE {table}_rejects ("line" BIGINT, reason VARCHAR, "text" VARCHAR, "row" BIGINT,
            "column" VARCHAR)"""
    )


def load_rows(con: duckdb.DuckDBPyConnection, path: Path, file: TextFile, dialect: Dialect, scratch: Path) -> Raw:
    """Read the cells by a dialect that is known. Raises BadInput when no line fits the header."""
    table = scratch_name(con)
    rejected, swallowed = _load(con, file, dialect, dialect.quote, table)
    quote = dialect.quote
    if swallowed and dialect.quote:
        again = scratch_name(con)
        fewer, _ = _load(con, file, dialect, "", again)
        if fewer < rejected:
            table, rejected, quote = again, fewer, ""
    rows = con.execute(f"SELECT count(*) FROM {table}").fetchone()
    if rejected and rows is not None and rows[0] == 0:
        raise BadInput(
            f"No line could be read as {len(dialect.columns)} columns.",
            where=path.name,
            to_do="Check the delimiter and the quotes, or export the file again.",
        )
    raw = Raw(table, dialect, file, rejected, rejects_of(table))
    if rejected:
        raw = _placed(con, raw, quote, scratch)
    if unwrapped := _unwrap(con, raw):
        shown = f"{unwrapped} column{'s' * (unwrapped > 1)} had values written as formulas, =\"00123\"; the text in them was read."
        raw = raw.noted(shown)
    again = _repeated_headers(con, raw.table, dialect)
    note = f"{again} line{'s repeat' if again > 1 else ' repeats'} the column names."
    return _keep_above(con, raw.noted(note, rejected=again) if again else raw)


def _keep_above(con: duckdb.DuckDBPyConnection, raw: Raw) -> Raw:
    """Titles and comments, which are not in the table, among what is kept."""
    above = raw.dialect.above
    for line, text in above:
        con.execute(f'INSERT INTO {raw.table}_rejects ("line", reason, "text") VALUES (?, ?, ?)', [line, ABOVE, text])
    return raw.noted(flagged=len(above))


def _load(
    con: duckdb.DuckDBPyConnection, file: TextFile, dialect: Dialect, quote: str, table: str
) -> tuple[int, bool]:
    """Fill ``table`` and its ``_rejects``; returns rejected lines, and whether an open quote swallowed lines."""
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(dialect.columns)))
    escape = dialect.escape if quote else ""
    rejects = f"{table}_rejects"
    arguments = f"""auto_detect = false, header = false,
            columns = {{{columns}}}, delim = {literal(dialect.delimiter)}, quote = {literal(quote)},
            escape = {literal(escape)}, skip = {dialect.skip}, nullstr = '', null_padding = {dialect.padded},
            ignore_errors = true, store_rejects = true, rejects_limit = 0, parallel = {not dialect.padded}"""
    size = ""
    for attempt in ("", "_long"):
        con.execute(
            f"""CREATE OR REPLACE TABLE {table} AS SELECT * FROM read_csv({literal(str(file.path))}, {arguments},
                rejects_table = '{rejects}_all{attempt}', rejects_scan = '{rejects}_scan{attempt}'{size})"""
        )
        con.execute(
            f"""CREATE OR REPLACE TABLE {rejects} AS SELECT "line", any_value(CAST(error_type AS VARCHAR)) AS reason,
                any_value(csv_line) AS "text", NULL::BIGINT AS "row", NULL::VARCHAR AS "column", line_byte_position - 1 AS place
                FROM {rejects}_all{attempt} GROUP BY "line", line_byte_position"""
        )
        long = con.execute(f"SELECT 1 FROM {rejects} WHERE reason LIKE '%LINE SIZE%' LIMIT 1").fetchone()
        if long is None:
            break
        size = f", max_line_size = {_LONGEST_LINE}, buffer_size = {2 * _LONGEST_LINE}"
    row = con.execute(
        f"""SELECT coalesce(sum(1 + length(t) - length(replace(t, chr(10), ''))), 0),
            coalesce(bool_or(reason = 'UNQUOTED VALUE' AND contains(t, chr(10))), false)
            FROM (SELECT reason, trim("text", chr(10) || chr(13)) AS t FROM {rejects})"""
    ).fetchone()
    assert row is not None
    return int(row[0]), bool(row[1])


def _placed(con: duckdb.DuckDBPyConnection, raw: Raw, quote: str, scratch: Path) -> Raw:
    """With lines numbered as an editor does, and short ones filled up where only cells at their end are missing."""
    lines = _lines(con, raw)
    if lines is None:
        return raw
    short = find_short(con, raw.table, lines, raw.dialect, quote)
    if not short:
        _renumber(con, raw.table, lines)
        return raw
    copy = fill_up(raw.file.path, scratch, short, raw.dialect)
    table = scratch_name(con)
    rejected, _ = _load(con, replace(raw.file, path=copy), raw.dialect, quote, table)
    filled = Raw(table, raw.dialect, replace(raw.file, path=copy), rejected, rejects_of(table))
    left = _lines(con, filled)
    if left:
        _renumber(con, table, left)
    rows = [(s.line.number, _FILLED, s.line.text) for s in short]
    for start in range(0, len(rows), 1_000):
        con.executemany(
            f'INSERT INTO {table}_rejects ("line", reason, "text") VALUES (?, ?, ?)', rows[start : start + 1_000]
        )
    return replace(filled, file=raw.file).noted(_filled_note(short), flagged=len(short))


def _filled_note(short: list[Short]) -> str:
    first = short[0].line.number
    if len(short) == 1:
        return f"1 line had fewer cells than there are columns (line {first:,}); those at its end are missing values."
    said = f"{len(short):,} lines had fewer cells than there are columns (the first is line {first:,})"
    return f"{said}; those at their ends are missing values."


def _lines(con: duckdb.DuckDBPyConnection, raw: Raw) -> list[Line] | None:
    """The lines that do not fit, in order, without the blank lines around them; None when there are too many."""
    found = con.execute(
        f'SELECT rowid, reason, "text", place, "line" FROM {raw.table}_rejects ORDER BY place LIMIT {_MOST_PLACED + 1}'
    ).fetchall()
    if len(found) > _MOST_PLACED:
        return None
    lines: list[Line] = []
    number, done = 1, 0
    with raw.file.path.open("rb") as source:
        for rowid, reason, text, at, counted in found:
            bare = str(text or "").lstrip("\r\n")
            at = int(at or 0) + len(str(text or "")) - len(bare)
            while done < at and (chunk := source.read(min(_CHUNK, at - done))):
                number += chunk.count(b"\n")
                done += len(chunk)
            content = bare.rstrip("\r\n")
            held = content.encode()[:200]
            right = source.read(len(held)) == held
            source.seek(done)
            lines.append(Line(rowid, str(reason), content, at if right else None, number if right else int(counted)))
    return lines


def _renumber(con: duckdb.DuckDBPyConnection, table: str, lines: list[Line]) -> None:
    rows = [(line.number, line.text, line.rowid) for line in lines]
    con.executemany(f'UPDATE {table}_rejects SET "line" = ?, "text" = ? WHERE rowid = ?', rows)


def _unwrap(con: duckdb.DuckDBPyConnection, raw: Raw) -> int:
    """Take the text out of ``="00123"``, which programs write so that a spreadsheet keeps zeros; returns in how many columns."""
    cells = [f"c{i}" for i in range(len(raw.dialect.columns))]
    tests = ", ".join(f"""coalesce(bool_or({c} LIKE '="%"'), false)""" for c in cells)
    row = con.execute(f"SELECT {tests} FROM {raw.table}").fetchone()
    found = [c for c, wrapped in zip(cells, row or (), strict=False) if wrapped]
    if found:
        made = ", ".join(f"""{c} = regexp_replace({c}, '^="(.*)"$', '\\1')""" for c in found)
        con.execute(f"UPDATE {raw.table} SET {made}")
    return len(found)


def _repeated_headers(con: duckdb.DuckDBPyConnection, table: str, dialect: Dialect) -> int:
    """Move rows that say the column names again, as in files put together, to the rejected lines; returns how many."""
    named = [(f"c{i}", n) for i, n in enumerate(dialect.columns) if not dialect.unnamed[i]]
    if not dialect.header or len(named) < 2 or len(dialect.header_lines) != 1:
        return 0
    test = " AND ".join(f"trim({cell}) = {literal(name)}" for cell, name in named[:20])
    cells = ", ".join(f"coalesce(c{i}, '')" for i in range(len(dialect.columns)))
    text = f"concat_ws({literal(dialect.delimiter)}, {cells})"
    con.execute(
        f"""INSERT INTO {table}_rejects ("line", reason, "text")
            SELECT rowid + {dialect.header_lines[-1] + 1}, 'REPEATS THE HEADER', {text} FROM {table} WHERE {test}"""
    )
    row = con.execute(f"DELETE FROM {table} WHERE {test}").fetchone()
    return int(row[0]) if row is not None else 0


def keep_cells(con: duckdb.DuckDBPyConnection, table: str, cell: str, column: str, test: str, reason: str) -> None:
    """Put cells of a table that could not be read as they stand on its list: with the row, from 1, and the column."""
    con.execute(
        f"""INSERT INTO {table}_rejects (reason, "text", "row", "column") SELECT ?, {quoted(cell)}, n, ? FROM
            (SELECT *, row_number() OVER (ORDER BY rowid) AS n FROM {table}) WHERE {test} ORDER BY n""",
        [reason, column],
    )
