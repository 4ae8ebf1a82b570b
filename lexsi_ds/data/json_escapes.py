"""Escapes of JSON that stand for no character that a text can hold: a zero byte, and half of a pair of surrogates.

Programs write them, and readers refuse the whole file for one of them. They are replaced by � in a copy, and counted. Must
never: change any other byte, or the original.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

from lexsi_ds.data.text_file import TextFile

_CHUNK = 1 << 20
_LONGEST = len(rb"\ud83d\ude00")
_SUSPECT = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u([0-9a-fA-F]{4})|.?)", re.DOTALL
)
"""Every backslash of JSON begins one of these, so reading them in turn tells an escape from a backslash before a u."""


def without_odd_escapes(file: TextFile, scratch: Path) -> TextFile:
    """The file, or a copy of it in which such escapes are �, with a note that counts them."""
    if not _has_suspects(file.path):
        return file
    copy = scratch / f"{len(list(scratch.iterdir()))}.json"
    changed: list[bytes] = []
    mend = partial(_mended, changed)
    carry = b""
    with file.path.open("rb") as source, copy.open("wb") as to:
        while chunk := source.read(_CHUNK):
            data = carry + chunk
            end = _safe_end(data)
            to.write(_ESCAPE.sub(mend, data[:end]))
            carry = data[end:]
        to.write(_ESCAPE.sub(mend, carry))
    if not changed:
        return file
    many = len(changed)
    shown = "s that no text can hold (a zero byte, half of a pair) are" if many > 1 else " that no text can hold is"
    said = f"{many:,} character{shown} shown as �."
    return replace(file, path=copy, notes=(*file.notes, said))


def _has_suspects(path: Path) -> bool:
    carry = b""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            if _SUSPECT.search(carry + chunk):
                return True
            carry = chunk[-_LONGEST:]
    return False


def _safe_end(data: bytes) -> int:
    """Where the data, which begins outside of any escape, ends without one that may go on behind it."""
    late = (found.start() for found in _ESCAPE.finditer(data) if found.start() > len(data) - _LONGEST)
    return next(late, len(data))


def _mended(changed: list[bytes], found: re.Match[bytes]) -> bytes:
    code = found[1]
    if code is None or not (code == b"0000" or 0xD800 <= int(code, 16) <= 0xDFFF):
        return found[0]
    changed.append(code)
    return rb"\ufffd"
