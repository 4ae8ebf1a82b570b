"""A text file made ready for DuckDB: UTF-8, one kind of line end, no NUL bytes. The original is never touched.

Must never: read a binary file as text, or change an encoding without saying so.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field
from pathlib import Path

from charset_normalizer import from_bytes

from lexsi_ds.data.code_pages import EUROPEAN, cyrillic, european, rival
from lexsi_ds.errors import BadInput

_CHUNK = 4 << 20
_HEAD = 256 << 10
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
_MAGIC = (
    (b"PK\x03\x04", "a zip archive or an Excel workbook"), (b"\xd0\xcf\x11\xe0", "an old Excel or Office file"),
    (b"PAR1", "a Parquet file"), (b"SQLite format 3\x00", "a SQLite database"), (b"%PDF", "a PDF document"),
    (b"\x1f\x8b", "a gzip archive"), (b"\x89PNG", "a picture"), (b"\xff\xd8\xff", "a picture"), (b"GIF8", "a picture"),
    (b"BZh", "a bzip2 archive"), (b"\xfd7zXZ", "an xz archive"), (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"ARROW1", "an Arrow file"), (b"\x7fELF", "a program"), (b"MZ\x90", "a program"),
)  # fmt: skip
_MARKUP = (b"<!doctype html", b"<html", b"<?xml", b"<head")
_INNER_MARK = b"\n" + codecs.BOM_UTF8
_CONTROL = bytes(set(range(32)) - {9, 10, 12, 13, 27})
_CANDIDATES = ["cp1252", "cp1250", "iso8859_2", "cp1251", "cp1253", "cp1254", "shift_jis", "gb18030", "big5", "euc_kr"]
_WHOLE_WORDS = ("cp1251", "cp1253")
_MOSTLY = 0.9
_SIGNS = re.compile(
    rb"(?<=[0-9])(?: ?[\x80\xa3]|\xa0(?=[0-9]))(?![A-Za-z\x80-\xff])"
    rb"|(?<![A-Za-z\x80-\xff])(?:[\x80\xa3](?= ?[0-9.])|\xb5(?=[gmlsAFVWHL][^a-z])|[\xbc-\xbe](?![A-Za-z\x80-\xff]))"
)
"""Where a euro, a pound, a micro sign, a fraction or a blank between digits stands in the code page of Windows, and no letter."""
_ALSO_SIGNS = frozenset(b"\x80\x85\x91\x92\x93\x94\x96\x97\xa0\xa7\xb0\xb1\xb2\xb3\xb5\xbc\xbd\xbe")
_NON_ASCII_LINE = re.compile(rb"[^\n]*[\x80-\xff][^\n]*\n?")


@dataclass(frozen=True)
class TextFile:
    """A file DuckDB can read: the original, or a copy in UTF-8."""

    path: Path
    encoding: str
    """Of the original."""
    lines: int
    """Line ends in it; the last line may have none."""
    notes: tuple[str, ...] = ()


@dataclass
class _Scan:
    """What one pass over the bytes found."""

    valid_utf8: bool = True
    crlf: int = 0
    lf: int = 0
    cr: int = 0
    nul: int = 0
    marks: int = 0
    """Byte order marks at the beginning of lines other than the first, where files were put behind each other."""
    size: int = 0
    foreign: bytearray = field(default_factory=bytearray)
    """Lines with bytes beyond ASCII, the first few hundred kilobytes of them."""

    @property
    def line_ends(self) -> int:
        """Kinds of line ends: ``\\r\\n``, ``\\n``, ``\\r``."""
        return sum(count > 0 for count in (self.crlf, self.lf, self.cr))


def prepare(path: Path, scratch: Path, encoding: str | None = None) -> TextFile:
    """Make ``path`` readable, copying into ``scratch`` only when it must be rewritten.

    Raises BadInput for an empty or a binary file, and for an ``encoding`` that does not fit.
    """
    head = read_head(path)
    if not head.strip(b"\x00 \t\r\n\xef\xbb\xbf\xff\xfe") and path.stat().st_size <= _HEAD:
        raise BadInput("This file is empty.", where=path.name, to_do="Choose a file with at least column names in it.")
    known = encoding or next((name for bom, name in _BOMS if head.startswith(bom)), None) or _wide(head)
    if known is None or not known.replace("_", "-").lower().startswith(("utf-16", "utf-32")):
        refuse_binary(path, head)
    scan = _scan(path)
    if known in (None, "utf-8", "utf-8-sig") and scan.valid_utf8:
        used = known or "utf-8"
        if scan.line_ends <= 1 and not scan.nul and not scan.cr and not scan.marks:
            return TextFile(path, used, max(scan.crlf, scan.lf))
        return _rewrite(path, scratch, used, scan)
    if known in (None, "utf-8", "utf-8-sig") and not scan.valid_utf8 and _is_mostly_utf8(bytes(scan.foreign)):
        return _rewrite(path, scratch, known or "utf-8", scan, mend=True)
    if known is not None:
        return _rewrite(path, scratch, known, scan, chosen=True)
    return _rewrite(path, scratch, guess_encoding(bytes(scan.foreign)), scan)


def read_head(path: Path) -> bytes:
    """The first bytes. Raises BadInput when the file cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError as error:
        to_do = f"Check that it is there and readable ({error.strerror})."
        raise BadInput("This file cannot be read.", where=path.name, to_do=to_do) from error


def refuse_binary(path: Path, head: bytes) -> None:
    """Raise BadInput when the first bytes are not text."""
    to_do = "Give it its own file extension, or export it as CSV."
    for magic, what in _MAGIC:
        if head.startswith(magic):
            raise BadInput(f"This is {what}, not a text file.", where=path.name, to_do=to_do)
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:60].lower().startswith(_MARKUP):
        raise BadInput(
            "This is a web page or XML, not a table.", where=path.name,
            to_do="If it was downloaded, the page may have asked for a login; get the file itself, or save it as CSV.",
        )  # fmt: skip
    controls = len(head) - len(head.translate(None, _CONTROL))
    if controls > max(2, len(head) * 0.002):
        raise BadInput("This is a binary file, not text.", where=path.name, to_do=to_do)


def guess_encoding(sample: bytes) -> str:
    """The likeliest single-byte or East Asian encoding of lines that are not UTF-8."""
    signs = _SIGNS.search(sample) is not None
    sample = _SIGNS.sub(b" ", sample)
    letters = re.sub(rb"[\x00-\x7f]+", b"", sample)
    if signs and (not letters or set(letters) <= _ALSO_SIGNS):
        return "cp1252"
    if len(set(letters)) <= 2:  # too little for other alphabets
        return european(letters)
    whole = _in_words(sample)
    best = from_bytes(sample, cp_isolation=_CANDIDATES).best()
    if whole and (best is None or best.encoding in (*EUROPEAN, "cp1251")) and (page := cyrillic(letters)):
        return page
    if best is None or best.encoding in EUROPEAN or (best.encoding in _WHOLE_WORDS and not whole):
        return european(letters)
    return best.encoding


def _is_mostly_utf8(sample: bytes) -> bool:
    """Whether nearly all lines with bytes beyond ASCII are UTF-8: then a few bytes are wrong, not the encoding."""
    lines = [line for line in sample.split(b"\n") if not line.isascii()]
    good = sum(_is_utf8(line) for line in lines)
    return good >= 2 and good >= _MOSTLY * len(lines)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _in_words(sample: bytes) -> bool:
    """Whether letters beyond ASCII stand together, as in Russian and Greek, rather than among Latin ones, as in Czech."""
    runs = re.findall(rb"[\x80-\xff]+", sample)
    return sum(len(run) for run in runs if len(run) > 2) >= 0.5 * sum(map(len, runs))


def _wide(head: bytes) -> str | None:
    """UTF-16 without a mark: every other byte of mostly Latin text is zero."""
    if len(head) < 4:
        return None
    odd, even = head[1::2].count(0) / len(head[1::2]), head[::2].count(0) / len(head[::2])
    if odd > 0.4 and even < 0.05:
        return "utf-16-le"
    return "utf-16-be" if even > 0.4 and odd < 0.05 else None


def _scan(path: Path) -> _Scan:
    scan = _Scan()
    decoder = codecs.getincrementaldecoder("utf-8")()
    carry = tail = b""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            scan.size += len(chunk)
            if scan.valid_utf8:
                try:
                    decoder.decode(chunk)
                except UnicodeDecodeError:
                    scan.valid_utf8 = False
            chunk = carry + chunk
            carry = b"\r" if chunk.endswith(b"\r") else b""
            chunk = chunk[: len(chunk) - len(carry)]
            crlf = chunk.count(b"\r\n")
            scan.crlf += crlf
            scan.lf += chunk.count(b"\n") - crlf
            scan.cr += chunk.count(b"\r") - crlf
            scan.nul += chunk.count(b"\x00")
            scan.marks += (tail + chunk).count(_INNER_MARK)
            tail = (tail + chunk)[-3:]
            if len(scan.foreign) < _HEAD and not chunk.isascii():
                for line in _NON_ASCII_LINE.findall(chunk):
                    scan.foreign += line
                    if len(scan.foreign) >= _HEAD:
                        break
    scan.cr += len(carry)
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        scan.valid_utf8 = False
    return scan


def _rewrite(path: Path, scratch: Path, encoding: str, scan: _Scan, *, mend: bool = False, chosen: bool = False) -> TextFile:
    """A copy in UTF-8 with ``\\n`` as line end. Single bytes that the encoding does not know fall back to Latin-1; with
    ``mend``, bytes that are wrong in a file of UTF-8 become �."""
    copy = scratch / f"{len(list(scratch.iterdir()))}.utf8"
    wide = encoding.replace("_", "-").lower().startswith(("utf-16", "utf-32"))
    lines = nul = first = marks = inner = 0
    errors, began = "replace" if mend else "strict", False
    try:
        with path.open(encoding=encoding, errors=errors, newline=None) as source, copy.open(
            "w", encoding="utf-8", newline="\n"
        ) as to:
            while text := source.read(_CHUNK):
                nul += text.count("\x00")
                text = text.replace("\x00", "")
                if mend and (found := text.count("\ufffd")):
                    first = first or 1 + lines + text.count("\n", 0, text.index("\ufffd"))
                    marks += found
                text, found = _without_marks(text, begins=began)
                inner, began = inner + found, text.endswith("\n")
                lines += text.count("\n")
                to.write(text)
    except LookupError as error:
        what = f"There is no encoding named {encoding}."
        raise BadInput(what, where=path.name, to_do="Try utf-8 or cp1250.") from error
    except UnicodeError as error:
        if encoding in ("latin_1", "utf-8", "utf-8-sig") or wide:
            raise BadInput(
                f"This file is not {encoding} all through.", where=path.name, to_do="Choose another encoding."
            ) from error
        return _rewrite(path, scratch, "latin_1", scan)
    notes = []
    if not encoding.startswith("utf"):
        notes.append(f"Read as {encoding}, a guess from its letters; if some look wrong, choose the encoding.")
        if not chosen and (found := rival(bytes(scan.foreign), encoding)):
            page, here, there = found
            notes.append(f"The letters are too few to be sure: “{here}” would be “{there}” as {page}. Choose the right encoding.")
    if mend:
        notes.append(
            f"{marks:,} place{'s are' if marks > 1 else ' is'} no UTF-8 (the first on line {first:,}) and shown as �; "
            "all else was read as UTF-8."
        )
    if inner:
        notes.append(f"{inner:,} byte order mark{'s' * (inner > 1)} within the file left out: files were put behind each other.")
    if nul:
        notes.append(f"{nul:,} NUL byte{'s' * (nul > 1)} left out.")
    return TextFile(copy, encoding, lines, tuple(notes))


def _without_marks(text: str, *, begins: bool) -> tuple[str, int]:
    """Text without byte order marks at the beginning of its lines, and how many there were; ``begins`` when it begins a line."""
    found = text.count("\n\ufeff")
    text = text.replace("\n\ufeff", "\n")
    if begins and text.startswith("\ufeff"):
        return text[1:], found + 1
    return text, found
