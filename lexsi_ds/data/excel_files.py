"""Workbooks into tables, a sheet a table: xlsx, xls, xlsb and ods, through calamine.

A sheet's cells are written out as text, dates in ISO form, and then read as any table is: titles, several lines of
names and types are found by the same rules. Must never: open a workbook whose unpacked size was not looked at.
"""

from __future__ import annotations

import csv
import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
from python_calamine import (
    CalamineError,
    CalamineSheet,
    CalamineWorkbook,
    PasswordError,
    SheetTypeEnum,
    SheetVisibleEnum,
)

from lexsi_ds.data.archives import check_workbook, member_chunks
from lexsi_ds.data.dialect import sniff_dialect
from lexsi_ds.data.loaded import Limits, Loaded, check_width
from lexsi_ds.data.ods_formats import ods_formats
from lexsi_ds.data.plan import options_for
from lexsi_ds.data.raw_rows import load_rows
from lexsi_ds.data.readers import hints_of
from lexsi_ds.data.several import read_small, said, split_tables
from lexsi_ds.data.sheet_codes import Codes, Formats
from lexsi_ds.data.sniff import table_name
from lexsi_ds.data.text_file import TextFile
from lexsi_ds.data.typed_rows import type_raw
from lexsi_ds.data.xls_formats import xls_formats
from lexsi_ds.data.xlsx_formats import column_number, xlsx_formats
from lexsi_ds.errors import BadInput

_MOST_CELLS = 50_000_000
_TICK_ROWS = 1_000
_CELL = re.compile(rb'<c [^>]{0,60}?r="([A-Z]{1,3})(\d{1,7})"')
_REPEATED = re.compile(rb'number-(columns|rows)-repeated="(\d{1,9})"')
_DURATION = re.compile(r"PT(\d+)H(\d+)M(\d+)S")
_TO_DO = "Save the sheet as CSV and choose that."


def read_excel(
    con: duckdb.DuckDBPyConnection, path: Path, stem: str, shown: str, scratch: Path, limits: Limits,
    options: Mapping[str, Any], taken: set[str], *, key: Callable[[str], tuple[str, str]], most: int | None = None,
    tick: Callable[[float], None] = lambda _: None,
) -> tuple[list[tuple[str, Loaded]], list[str]]:  # fmt: skip
    """Every sheet with a table in it, by name, and notes on those without.

    ``key(sheet)`` is the file and the member that a plan knows the sheet by; ``most`` limits the rows (for a plan);
    ``tick`` hears the share of the sheets' rows that were taken out of the workbook.
    """
    check_workbook(path)
    _check_area(path, shown)
    book = _open(path, shown)
    formats = _formats(path)
    made: list[tuple[str, Loaded]] = []
    skipped: list[str] = []
    hidden: list[str] = []
    sheets = [m for m in book.sheets_metadata if m.typ == SheetTypeEnum.WorkSheet]
    for place, meta in enumerate(sheets):
        part_of = partial(_tick_part, tick, place, len(sheets))
        codes = formats.codes.get(meta.name)
        text = _write(book, meta.name, scratch, shown, limits, most, codes, part_of)
        if text is None:
            skipped.append(meta.name)
            continue
        if meta.visible != SheetVisibleEnum.Visible:
            hidden.append(meta.name)
        parts = _parts(text)
        for number, part in enumerate(parts, start=1):
            member = meta.name if number == 1 else f"{meta.name}/table {number}"
            own = options_for(options, *key(member))
            name = table_name(stem if len(sheets) == 1 else f"{stem}_{meta.name}", taken)
            table = _read(con, part, name, scratch, own, codes.texts if codes is not None else frozenset())
            if len(parts) > 1:
                table = replace(table, notes=(said(number, len(parts)), *table.notes))
            made.append((member, table))
    if not made:
        raise BadInput("No sheet of this workbook has a table.", where=shown, to_do="Choose another file.")
    notes = [f"Empty, not read: sheet{'s' * (len(skipped) > 1)} {', '.join(skipped)} of {shown}."] if skipped else []
    notes += _odd_notes(formats)
    if hidden:
        notes.append(f"Hidden in the workbook, but read: {', '.join(hidden)}.")
    return made, notes


def _formats(path: Path) -> Formats:
    """What calamine does not tell of a workbook's cells, by the kind of the file."""
    match path.suffix.lower():
        case ".xlsx" | ".xlsm":
            return xlsx_formats(path)
        case ".xls":
            return xls_formats(path)
        case ".ods":
            return ods_formats(path)
        case _:
            return Formats({})


def _odd_notes(found: Formats) -> list[str]:
    """What became missing without being empty: formulas without a stored result, and errors."""
    errors, bare = found.errors, found.bare
    notes = [f"{errors:,} cell{'s' * (errors > 1)} with an error such as #DIV/0! became missing."] if errors else []
    if bare:
        said = "formulas have" if bare > 1 else "formula has"
        notes.append(f"{bare:,} {said} no stored result and became missing: open and save the workbook in Excel.")
    return notes


def _open(path: Path, shown: str) -> CalamineWorkbook:
    try:
        return CalamineWorkbook.from_path(str(path))
    except PasswordError as error:
        raise BadInput("This workbook has a password.", where=shown, to_do="Save it without one.") from error
    except (CalamineError, OSError, ValueError) as error:
        raise BadInput("This workbook cannot be read.", where=shown, to_do=_TO_DO) from error


def _check_area(path: Path, shown: str) -> None:
    """Raise BadInput when a sheet's used area is too large to be held: one cell in the last corner is enough for that."""
    if path.suffix.lower() in (".xlsx", ".xlsm"):
        for _, chunks in member_chunks(path, ".xml"):
            rows = columns = 0
            carry = b""
            for chunk in chunks:
                data = carry + chunk
                found = _CELL.findall(data)
                rows = max([rows, *map(int, {row for _, row in found})])
                columns = max([columns, *map(column_number, {letters for letters, _ in found})])
                carry = data[-100:]
            _refuse(rows * columns, shown)
    elif path.suffix.lower() == ".ods":
        for _, chunks in member_chunks(path, "content.xml"):
            rows = columns = 1
            for chunk in chunks:
                for kind, count in _REPEATED.findall(chunk):
                    rows = max(rows, int(count)) if kind == b"rows" else rows
                    columns = max(columns, int(count)) if kind == b"columns" else columns
            if rows > 1_048_576 or columns > 16_384:
                _refuse(rows * columns, shown)


def _refuse(cells: int, shown: str) -> None:
    if cells > _MOST_CELLS:
        raise BadInput(
            f"A sheet of this workbook spans {cells:,} cells; at most {_MOST_CELLS:,} can be read.", where=shown, to_do=_TO_DO
        )


def _write(
    book: CalamineWorkbook, sheet: str, scratch: Path, shown: str, limits: Limits, most: int | None, codes: Codes | None,
    tick: Callable[[float], None],
) -> Path | None:
    """The sheet as a text file; None when it has no cell."""
    try:
        cells = book.get_sheet_by_name(sheet)
        end = cells.end
    except (CalamineError, ValueError) as error:
        raise BadInput("A sheet of this workbook cannot be read.", where=f"{shown}: {sheet}", to_do=_TO_DO) from error
    if end is None:
        return None
    height, width = end[0] + 1, end[1] + 1  # calamine's own totals are one too small
    _refuse(height * width, shown)
    check_width(Path(f"{shown}: {sheet}"), width, limits)
    path = scratch / f"sheet_{len(list(scratch.glob('sheet_*')))}.csv"
    filled = False
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
        merged, least = _merged_below(cells), max(width, 2)
        held: dict[int, str] = {}
        for number, row in enumerate(_rows(cells, most)):
            if number % _TICK_ROWS == 0:
                tick(number / height)
            texts = list(map(_text, row))
            if codes is not None:
                for column in (c for c in codes.columns if c < len(texts)):
                    texts[column] = codes.shown(number, column, texts[column])
            for column, first in merged.get(number, ()):
                if column < len(texts):
                    held[column] = texts[column] if first else held.get(column, "")
                    texts[column] = held[column]
            filled = filled or any(texts)
            if len(texts) < least:
                texts += [""] * (least - len(texts))
            writer.writerow(texts)
    return path if filled else None


def _tick_part(tick: Callable[[float], None], part: int, parts: int, share: float) -> None:
    tick((part + share) / parts)


def _merged_below(cells: CalamineSheet) -> dict[int, list[tuple[int, bool]]]:
    """By row: columns whose cell is merged with those below it, and whether it is the first of them; its value holds for all."""
    made: dict[int, list[tuple[int, bool]]] = {}
    for (top, left), (bottom, right) in cells.merged_cell_ranges or ():
        if left == right and top < bottom:
            for row in range(top, bottom + 1):
                made.setdefault(row, []).append((left, row == top))
    return made


def _parts(text: Path) -> list[Path]:
    """The sheet's file, or a file for each of the tables that stand under each other in it."""
    content = read_small(text, "utf-8")
    parts = split_tables(content, ",", '"') if content is not None else []
    if len(parts) < 2:
        return [text]
    made = []
    for number, part in enumerate(parts):
        to = text.with_name(f"{text.stem}_{number}.csv")
        to.write_text(part, encoding="utf-8", newline="")
        made.append(to)
    return made


def _rows(cells: CalamineSheet, most: int | None) -> Iterator[list[Any]]:
    for number, row in enumerate(cells.iter_rows()):
        if most is not None and number >= most:
            return
        yield row


def _text(value: Any) -> str:
    """A cell as text: whole numbers without a decimal part, dates in ISO form, durations as h:mm:ss."""
    kind = type(value)
    if kind is str:
        if value.startswith("PT") and (found := _DURATION.fullmatch(value)):  # calamine's way with ods beyond a day
            return f"{int(found[1])}:{int(found[2]):02}:{int(found[3]):02}"
        return value.replace("\x00", "").strip("\r\n")
    if kind is float:
        return str(int(value)) if -1e15 < value < 1e15 and value == int(value) else repr(value)
    if kind is dt.date:
        return value.isoformat()
    if kind is bool:
        return "true" if value else "false"
    if kind is dt.datetime:
        return value.isoformat(sep=" ")
    if kind is dt.timedelta:
        seconds = int(value.total_seconds())
        return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return value.isoformat() if kind is dt.time else str(value).replace("\x00", "").strip("\r\n")


def _read(
    con: duckdb.DuckDBPyConnection, text: Path, name: str, scratch: Path, options: Mapping[str, Any], texts: frozenset[str]
) -> Loaded:
    file = TextFile(text, "utf-8", 0)
    dialect = sniff_dialect(file, ".csv", dict(options) | {"delimiter": ",", "quote": '"', "escape": '"'})
    raw = load_rows(con, text, file, dialect, scratch)
    hints = replace(hints_of(options, None), texts=texts, tells=True)
    loaded = type_raw(con, name, raw, hints, options)
    if len(dialect.columns) == 2 and dialect.unnamed[1] and len(loaded.columns) == 1:  # the second is only there to be cut by
        loaded = replace(loaded, notes=tuple(n for n in loaded.notes if "neither a name nor a value" not in n))
    facts = {"header": dialect.header, "header_lines": list(dialect.header_lines), "skip": dialect.first_line - 1}
    loaded.options.update({"format": "excel", **facts})
    return loaded
