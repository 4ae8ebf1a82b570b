"""A result as an Excel workbook of two sheets: the rows, and what they are (SQL, reading, data date, counts).

Written row by row in constant memory. Must never: cut rows, columns or texts at the format's limits without an error, or write
a text as a formula, a link or a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import xlsxwriter
from xlsxwriter.worksheet import Worksheet

from lexsi_ds.errors import BadInput

Say = Callable[[dict[str, Any]], None]
MAX_ROWS, MAX_COLUMNS, MAX_TEXT = 1_048_576, 16_384, 32_767
_DIGITS = 10**15
"""Numbers of more than 15 digits lose the rest in a spreadsheet, so they are written as text."""
_FIRST_DAY = date(1900, 3, 1)
"""Days before it are counted wrongly by Excel, so they are written as text."""
_EVERY = 5_000
_OTHERWISE = "Choose CSV or Parquet for the whole result, or ask for fewer rows."
_OPTIONS = {
    "constant_memory": True, "strings_to_formulas": False, "strings_to_numbers": False, "strings_to_urls": False,
    "remove_timezone": False,
}  # fmt: skip


def check_size(rows: int, columns: int) -> None:
    """Raise BadInput when a sheet cannot hold so much: nothing is ever cut."""
    if rows > MAX_ROWS - 1:
        raise BadInput(f"The result has {rows:,} rows; an Excel sheet holds {MAX_ROWS:,} with its header.", where="xlsx",
                       to_do=_OTHERWISE)
    if columns > MAX_COLUMNS:
        raise BadInput(f"The result has {columns:,} columns; an Excel sheet holds {MAX_COLUMNS:,}.", where="xlsx",
                       to_do=_OTHERWISE)


def write_workbook(reader: pa.RecordBatchReader, out: Path, about: Sequence[tuple[str, str]], say: Say) -> int:
    """Write all rows of ``reader``, then the sheet that says what they are; returns the number of rows."""
    names = reader.schema.names
    check_size(0, len(names))
    with xlsxwriter.Workbook(str(out), {**_OPTIONS, "tmpdir": str(out.parent)}) as book:
        bold = book.add_format({"bold": True})
        formats = {"date": book.add_format({"num_format": "yyyy-mm-dd"}),
                   "moment": book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
                   "time": book.add_format({"num_format": "hh:mm:ss"})}
        sheet, second = book.add_worksheet("Result"), book.add_worksheet("About")
        sheet.freeze_panes(1, 0)
        for place, name in enumerate(names):
            sheet.set_column(place, place, min(40, max(10, len(name) + 2)))
            sheet.write_string(0, place, _fitting(name, name, 0), bold)
        row = as_text = 0
        for batch in reader:
            check_size(row + batch.num_rows, len(names))
            for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                row += 1
                for place, value in enumerate(values):
                    as_text += _write(sheet, row, place, value, formats, names[place])
                if row % _EVERY == 0:
                    say({"done": row, "total": 0, "text": f"Writing row {row:,}"})
        _write_about(second, [*about, ("Rows", f"{row:,}"), ("Columns", f"{len(names):,}"), *_kept(as_text)], bold)
    return row


def _kept(as_text: int) -> list[tuple[str, str]]:
    if not as_text:
        return []
    what = f"{as_text:,} values that a spreadsheet would change (numbers of more than 15 digits, early or zoned dates)"
    return [("Kept as text", what)]


def _write_about(sheet: Worksheet, about: Sequence[tuple[str, str]], bold: Any) -> None:
    sheet.set_column(0, 0, 18)
    sheet.set_column(1, 1, 100)
    row = 0
    for name, text in about:
        for part in range(0, max(1, len(text)), MAX_TEXT):
            sheet.write_string(row, 0, name if not part else f"{name} (continued)", bold)
            sheet.write_string(row, 1, text[part : part + MAX_TEXT])
            row += 1


def _write(sheet: Worksheet, row: int, place: int, value: Any, formats: dict[str, Any], name: str) -> int:
    """Write one cell; returns 1 for a number or day that had to be kept as text."""
    match value:
        case None:
            return 0
        case bool():
            sheet.write_boolean(row, place, value)
        case int() | Decimal() if abs(value) < _DIGITS and _few_digits(value):
            sheet.write_number(row, place, float(value))
        case float() if math.isnan(value):
            return 0
        case float() if math.isfinite(value):
            sheet.write_number(row, place, value)
        case datetime() if value.tzinfo is None and value.date() >= _FIRST_DAY:
            sheet.write_datetime(row, place, value, formats["moment"])
        case date() if not isinstance(value, datetime) and value >= _FIRST_DAY:
            sheet.write_datetime(row, place, datetime.combine(value, time()), formats["date"])
        case time() if value.tzinfo is None and not value.microsecond:
            seconds = (value.hour * 60 + value.minute) * 60 + value.second
            sheet.write_number(row, place, seconds / 86_400, formats["time"])
        case str():
            sheet.write_string(row, place, _fitting(value, name, row))
        case _:
            text = value.isoformat(sep=" ") if isinstance(value, datetime) else str(value)
            sheet.write_string(row, place, _fitting(text, name, row))
            return int(isinstance(value, int | Decimal | date))
    return 0


def _few_digits(value: int | Decimal) -> bool:
    return isinstance(value, int) or len(value.normalize().as_tuple().digits) <= 15


def _fitting(text: str, name: str, row: int) -> str:
    if len(text) > MAX_TEXT:
        raise BadInput(f"A text of {len(text):,} characters does not fit: an Excel cell holds {MAX_TEXT:,}.",
                       where=f"column {name[:60]}, row {row:,}", to_do=_OTHERWISE)
    return text
