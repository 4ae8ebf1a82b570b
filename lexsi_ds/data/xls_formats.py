"""Formats of xls: which cells are shown as codes or are text, and which hold an error.

An xls is a small file system (OLE) with a stream of records (BIFF) in it; only the few kinds of records that say so are looked
at. Must never: read a cell's value for the table, which is calamine's work, or fail an import: what cannot be followed says
nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from lexsi_ds.data.sheet_codes import TEXT, Codes, Formats, code_mask

_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_NO_SECTOR = 0xFFFFFFFA
"""From here on a number is the end of a chain, or none."""
_TEXT_NUMBER = 49
_SHEET, _FORMAT, _STYLE, _END = 0x85, 0x41E, 0xE0, 0x0A
_SEVERAL, _FORMULA, _BOOLEAN_OR_ERROR = 0xBD, 0x06, 0x205
_CELLS = (0x203, 0x27E, 0xFD, 0x204, _FORMULA, _BOOLEAN_OR_ERROR)
"""A number, a number in short, a shared text, a text, a formula, a boolean or an error."""


def xls_formats(path: Path) -> Formats:
    """What the formats of an old workbook say."""
    try:
        stream = _workbook(path.read_bytes())
        return _formats(stream) if stream else Formats({})
    except (struct.error, IndexError, ValueError):
        return Formats({})


def _formats(stream: bytes) -> Formats:
    sheets: list[tuple[str, int]] = []
    masks: dict[int, str] = {_TEXT_NUMBER: TEXT}
    styles: list[int] = []
    for kind, body in _records(stream, 0):
        if kind == _SHEET:
            sheets.append((_short_text(body[6:]), struct.unpack_from("<I", body)[0]))
        elif kind == _FORMAT and (mask := code_mask(_long_text(body[2:]))):
            masks[struct.unpack_from("<H", body)[0]] = mask
        elif kind == _STYLE:
            styles.append(struct.unpack_from("<H", body, 2)[0])
    listed = tuple(dict.fromkeys(masks.values()))[:255]
    numbers = {i: listed.index(masks[f]) for i, f in enumerate(styles) if masks.get(f) in listed}
    made: dict[str, Codes] = {}
    errors = 0
    for name, place in sheets:
        codes = Codes(listed)
        for kind, body in _records(stream, place):
            for row, column, style in _styled(kind, body):
                if style in numbers:
                    codes.note(row, column, numbers[style])
            errors += _is_error(kind, body)
        if codes.columns:
            made[name] = codes
    return Formats(made, errors)


def _records(stream: bytes, place: int) -> Iterator[tuple[int, bytes]]:
    """Kind and content of the records from ``place`` to the end of their part."""
    while place + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, place)
        if kind == _END:
            return
        yield kind, stream[place + 4 : place + 4 + size]
        place += 4 + size


def _styled(kind: int, body: bytes) -> list[tuple[int, int, int]]:
    """Row, column and style of the cells of a record."""
    if kind in _CELLS:
        return [struct.unpack_from("<HHH", body)]
    if kind != _SEVERAL:
        return []
    row, first = struct.unpack_from("<HH", body)
    return [(row, first + i, struct.unpack_from("<H", body, 4 + 6 * i)[0]) for i in range((len(body) - 6) // 6)]


def _is_error(kind: int, body: bytes) -> bool:
    if kind == _BOOLEAN_OR_ERROR:
        return body[7] == 1
    return kind == _FORMULA and body[12:14] == b"\xff\xff" and body[6] == 2


def _short_text(body: bytes) -> str:
    count, wide = body[0], body[1] & 1
    return body[2 : 2 + count * 2].decode("utf-16-le") if wide else body[2 : 2 + count].decode("latin-1")


def _long_text(body: bytes) -> str:
    count, wide = struct.unpack_from("<H", body)[0], body[2] & 1
    return body[3 : 3 + count * 2].decode("utf-16-le") if wide else body[3 : 3 + count].decode("latin-1")


def _workbook(data: bytes) -> bytes:
    """The stream that holds the workbook; empty where there is none."""
    if not data.startswith(_MAGIC):
        return b""
    size = 1 << struct.unpack_from("<H", data, 30)[0]
    tables, first_dir, cutoff, first_mini, _, first_more, _ = struct.unpack_from("<II4xIIIII", data, 44)
    table = _table(data, size, tables, first_more)
    folder = _chain(data, table, first_dir, size)
    root = folder[:128]
    for at in range(0, len(folder), 128):
        entry = folder[at : at + 128]
        name = entry[: max(0, struct.unpack_from("<H", entry, 64)[0] - 2)].decode("utf-16-le", errors="replace")
        if name in ("Workbook", "Book"):
            start, length = struct.unpack_from("<II", entry, 116)
            if length >= cutoff:
                return _chain(data, table, start, size)[:length]
            held = _chain(data, table, struct.unpack_from("<I", root, 116)[0], size)
            parts = _chain(data, table, first_mini, size)
            small = struct.unpack(f"<{len(parts) // 4}I", parts)
            return _linked(held, small, start, 64, 0)[:length]
    return b""


def _table(data: bytes, size: int, count: int, more: int) -> tuple[int, ...]:
    """The table of chains: for each sector the one that follows."""
    places = list(struct.unpack_from("<109I", data, 76))
    seen = 0
    while more < _NO_SECTOR and seen * size < len(data):
        part = struct.unpack_from(f"<{size // 4}I", data, size * (more + 1))
        places += part[:-1]
        more, seen = part[-1], seen + 1
    made: list[int] = []
    for place in [p for p in places if p < _NO_SECTOR][:count]:
        made += struct.unpack_from(f"<{size // 4}I", data, size * (place + 1))
    return tuple(made)


def _chain(data: bytes, table: tuple[int, ...], start: int, size: int) -> bytes:
    return _linked(data, table, start, size, size)


def _linked(data: bytes, table: tuple[int, ...], start: int, size: int, before: int) -> bytes:
    """The sectors of a chain; one that comes back to itself ends."""
    parts: list[bytes] = []
    at = start
    while at < _NO_SECTOR and at < len(table) and len(parts) <= len(table):
        parts.append(data[before + at * size : before + (at + 1) * size])
        at = table[at]
    return b"".join(parts)
