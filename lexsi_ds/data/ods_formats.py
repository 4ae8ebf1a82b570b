"""Formats of ods: which cells are shown as codes or are text, and which hold an error or a formula without its result.

Must never: follow anything out of the file, or keep a value of a cell.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from xml.parsers import expat

from lexsi_ds.data.sheet_codes import Codes, Formats, code_mask

_CHUNK = 1 << 18
_MOST_REPEATED = 1 << 20
_VALUES = ("float", "percentage", "currency", "string")


@dataclass
class _Look:
    """What was met on the way through a file: formats by name, styles that have them, and the sheet at work."""

    formats: dict[str, str] = field(default_factory=dict)
    styles: dict[str, str] = field(default_factory=dict)
    """The name of a style's format."""
    codes: dict[str, Codes] = field(default_factory=dict)
    masks: list[str] = field(default_factory=list)
    errors: int = 0
    bare: int = 0
    row: int = -1
    column: int = 0
    repeat: int = 1
    sheet: Codes | None = None
    defaults: list[tuple[int, str]] = field(default_factory=list)
    """Columns up to which a style holds, and that style."""
    row_style: str = ""
    format: str = ""
    parts: list[str] = field(default_factory=list)
    in_text: bool = False

    def start(self, tag: str, given: Mapping[str, str]) -> None:
        """An element begins."""
        match tag:
            case "number:number-style" | "number:text-style":
                self.format, self.parts = given.get("style:name", ""), ["@"] if "text-style" in tag else []
            case "number:number" if self.format:
                self.parts.append(_zeros(given))
            case "number:text":
                self.in_text = True
            case "style:style" if given.get("style:family") == "table-cell":
                name = given.get("style:name", "")
                held = given.get("style:data-style-name") or self.styles.get(given.get("style:parent-style-name", ""), "")
                self.styles[name] = held
            case "table:table":
                self.sheet = self.codes.setdefault(given.get("table:name", ""), Codes(()))
                self.row, self.defaults = -1, []
            case "table:table-column":
                end = (self.defaults[-1][0] if self.defaults else 0) + _count(given, "table:number-columns-repeated")
                self.defaults.append((end, given.get("table:default-cell-style-name", "")))
            case "table:table-row":
                self.row += 1
                self.column, self.repeat = 0, _count(given, "table:number-rows-repeated")
                self.row_style = given.get("table:default-cell-style-name", "")
            case "table:table-cell" | "table:covered-table-cell":
                self._cell(given)

    def end(self, tag: str) -> None:
        """An element ends."""
        if tag in ("number:number-style", "number:text-style"):
            self.formats[self.format], self.format = "".join(self.parts), ""
        elif tag == "number:text":
            self.in_text = False
        elif tag == "table:table-row":
            self.row += self.repeat - 1

    def text(self, data: str) -> None:
        """Letters within an element."""
        if self.in_text and self.format and data.strip():
            self.parts.append(f'"{data}"')

    def _cell(self, given: Mapping[str, str]) -> None:
        kind, wide = given.get("office:value-type", ""), _count(given, "table:number-columns-repeated")
        if given.get("calcext:value-type") == "error":
            self.errors += wide * self.repeat
        elif not kind and given.get("table:formula"):
            self.bare += wide * self.repeat
        style = given.get("table:style-name") or self.row_style or self._of_column()
        mask = code_mask(self.formats.get(self.styles.get(style, ""), "")) if kind in _VALUES else None
        if mask is not None and self.sheet is not None and wide * self.repeat < _MOST_REPEATED:
            if mask not in self.masks:
                self.masks.append(mask)
            for row in range(self.row, self.row + self.repeat):
                for column in range(self.column, self.column + wide):
                    self.sheet.note(row, column, min(self.masks.index(mask), 254))
        self.column += wide

    def _of_column(self) -> str:
        return next((style for end, style in self.defaults if self.column < end), "")


def ods_formats(path: Path) -> Formats:
    """What the formats of an OpenDocument sheet say."""
    look = _Look()
    try:
        with zipfile.ZipFile(path) as archive:
            for member in ("styles.xml", "content.xml"):
                if member in archive.namelist():
                    with archive.open(member) as source:
                        _walk(source, look)
    except (zipfile.BadZipFile, expat.ExpatError, OSError):
        return Formats({})
    masks = tuple(look.masks[:255])
    codes = {name: Codes(masks, held.columns) for name, held in look.codes.items() if held.columns}
    return Formats(codes, look.errors, look.bare)


def _walk(source: IO[bytes], look: _Look) -> None:
    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = look.start, look.end
    parser.CharacterDataHandler = look.text
    while chunk := source.read(_CHUNK):
        parser.Parse(chunk)
    parser.Parse(b"", True)


def _zeros(given: Mapping[str, str]) -> str:
    """The digits that are shown at least; a number with decimals or thousands is no code."""
    if given.get("number:decimal-places", "0") != "0" or given.get("number:grouping") == "true":
        return "."
    return "0" * min(_count(given, "number:min-integer-digits"), 30)


def _count(given: Mapping[str, str], name: str) -> int:
    value = given.get(name, "1")
    return int(value) if value.isdecimal() else 1
