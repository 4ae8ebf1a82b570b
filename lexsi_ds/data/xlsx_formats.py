"""Formats of xlsx: which cells are shown as codes or are text, and which hold an error or a formula without its result.

Calamine gives bare numbers, so the formats are looked up here. Must never: read more of a workbook than its styles, its list of
sheets, and the sheets that use such a style.
"""

from __future__ import annotations

import html
import itertools
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from lexsi_ds.data.archives import member_chunks
from lexsi_ds.data.sheet_codes import TEXT, Codes, Formats, code_mask

_CHUNK = 1 << 20
_MOST = 16 << 20
_FORMAT = re.compile(rb'<numFmt (?=[^>]*\bnumFmtId="(\d+)")[^>]*\bformatCode="([^"]*)"')
_CELL_STYLES = re.compile(rb"<cellXfs.*?</cellXfs>", re.DOTALL)
_STYLE = re.compile(rb'<xf [^>]*?\bnumFmtId="(\d+)"')
_SHEET = re.compile(rb'<sheet (?=[^>]*\bname="([^"]*)")[^>]*\b\w+:id="([^"]*)"')
_TARGET = re.compile(rb'<Relationship (?=[^>]*\bId="([^"]*)")[^>]*\bTarget="([^"]*)"')
_TEXT_NUMBER = b"49"
_LONGEST_CELL = 300
_ERROR = re.compile(rb'<c [^>]{0,200}\bt="e"')
_NO_RESULT = re.compile(
    rb'<c (?![^>]{0,200}\bt="str")[^>]{0,200}>\s*(?:<f[^>]{0,300}/>|<f[^>]{0,300}>[^<]*</f>)\s*(?:<v\s*/>|<v></v>|</c>)'
)
"""A formula without a result; one whose result is an empty text is of the type ``str``."""


def xlsx_formats(path: Path) -> Formats:
    """What the formats of a workbook say."""
    found = [odd_cells(iter(chunks)) for name, chunks in member_chunks(path, ".xml") if "worksheets/" in str(name)]
    return Formats(coded_cells(path), sum(e for e, _ in found), sum(b for _, b in found))


def coded_cells(path: Path) -> Mapping[str, Codes]:
    """Cells that are shown as codes, by the name of their sheet."""
    if not zipfile.is_zipfile(path):
        return {}
    with zipfile.ZipFile(path) as archive:
        styles = _code_styles(_whole(archive, "xl/styles.xml"))
        if not styles:
            return {}
        masks = tuple(dict.fromkeys(styles.values()))[:255]
        numbers = {style: masks.index(mask) for style, mask in styles.items() if mask in masks}
        targets = dict(_TARGET.findall(_whole(archive, "xl/_rels/workbook.xml.rels")))
        made = {}
        for name, key in _SHEET.findall(_whole(archive, "xl/workbook.xml")):
            target = targets.get(key, b"").decode(errors="replace")
            member = target.lstrip("/") if target.startswith("/") else str(PurePosixPath("xl") / target)
            codes = Codes(masks)
            for row, column, mask in _cells(archive, member, numbers):
                codes.note(row, column, mask)
            if codes.columns:
                made[html.unescape(name.decode(errors="replace"))] = codes
        return made


def _whole(archive: zipfile.ZipFile, member: str) -> bytes:
    try:
        with archive.open(member) as source:
            return source.read(_MOST)
    except KeyError:
        return b""


def _code_styles(styles: bytes) -> dict[bytes, str]:
    """Formats made of zeros, by the number of the cell style that has them."""
    masks = {_TEXT_NUMBER: TEXT}
    for number, code in _FORMAT.findall(styles):
        if mask := code_mask(html.unescape(code.decode(errors="replace"))):
            masks[number] = mask
    found = _CELL_STYLES.search(styles)
    listed = _STYLE.findall(found[0]) if found else []
    return {str(i).encode(): masks[number] for i, number in enumerate(listed) if number in masks}


def _cells(archive: zipfile.ZipFile, member: str, numbers: Mapping[bytes, int]) -> Iterator[tuple[int, int, int]]:
    """Row and column from 0, and the format, of cells in one of these styles."""
    wanted = b"|".join(numbers)
    cell = re.compile(rb'<c (?=[^>]{0,200}?\bs="(' + wanted + rb')")[^>]{0,200}?\br="([A-Z]{1,3})(\d{1,7})"')
    if member not in archive.namelist():
        return
    with archive.open(member) as source:
        carry = b""
        while chunk := source.read(_CHUNK):
            data = carry + chunk
            end = max(data.rfind(b"<c "), 0)
            for style, letters, row in cell.findall(data[:end]):
                yield int(row) - 1, column_number(letters) - 1, numbers[style]
            carry = data[end:]
            carry = carry if len(carry) < _CHUNK else carry[-_LONGEST_CELL:]
        for style, letters, row in cell.findall(carry):
            yield int(row) - 1, column_number(letters) - 1, numbers[style]


def odd_cells(chunks: Iterator[bytes]) -> tuple[int, int]:
    """Cells of a sheet that hold an error such as #DIV/0!, and formulas without a stored result."""
    errors = bare = 0
    carry = b""
    for chunk in itertools.chain(chunks, [b"<c "]):
        data = carry + chunk
        end = max(data.rfind(b"<c "), 0)
        errors += len(_ERROR.findall(data[:end]))
        bare += len(_NO_RESULT.findall(data[:end]))
        carry = data[end:]
    return errors, bare


def column_number(letters: bytes) -> int:
    """A column's number, from 1, by its letters."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number
