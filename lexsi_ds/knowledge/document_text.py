"""The text of a file that a person put into the library: Markdown, text, JSON, CSV, PDF, Word, HTML.

Runs in a worker with little memory and a short clock, since files are a stranger's. What comes out is text to read: nothing of it
is executed, fetched or drawn. Tables become Markdown tables. Must never: cut a text; open another file; follow a link.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from charset_normalizer import from_bytes

from lexsi_ds.errors import BadInput

DocumentKind = Literal["markdown", "text", "json", "csv", "pdf", "word", "html"]
KINDS: dict[str, DocumentKind] = {
    ".md": "markdown", ".markdown": "markdown", ".txt": "text", ".text": "text", ".log": "text", ".json": "json", ".csv": "csv",
    ".tsv": "csv", ".pdf": "pdf", ".docx": "word", ".html": "html", ".htm": "html",
}  # fmt: skip
"""What is read, by the end of a file's name."""
_MOST_UNPACKED = 200 * 2**20
_UNREAD = ["script", "style", "noscript", "template", "iframe", "object", "svg", "head"]
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]|[\ud800-\udfff]")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(\S.{0,200}?)\s*#*\s*$", re.MULTILINE)


@dataclass(frozen=True)
class DocumentText:
    """What was read of a file."""

    kind: DocumentKind
    title: str
    """Its first heading or its own title; empty when it has none."""
    text: str
    notes: tuple[str, ...] = ()
    """What could not be read of it, such as pages that are pictures."""


def kind_of(name: str) -> DocumentKind:
    """What a file's name says it is. BadInput for what is not read."""
    end = Path(name).suffix.casefold()
    if end in KINDS:
        return KINDS[end]
    if end == ".doc":
        raise BadInput("Old Word files (.doc) are not read.", where=name[-80:], to_do="Save it as .docx or PDF.")
    raise BadInput(
        f"Files that end in {end or 'nothing'!s} are not read as documents.", where=name[-80:],
        to_do="Choose Markdown, text, JSON, CSV, PDF, Word (.docx) or HTML.",
    )


def read(path: Path, name: str, most_chars: int) -> DocumentText:
    """The whole text of a file. BadInput when it is not what its name says, has no text, or more than ``most_chars`` letters."""
    kind = kind_of(name)
    title, notes = "", ()
    match kind:
        case "pdf":
            title, text, notes = _pdf(path, name, most_chars)
        case "word":
            title, text, notes = _word(path, name)
        case "html":
            title, text, notes = _html(_decoded(path, name), name)
        case "json":
            text = _decoded(path, name)
            notes = _json_notes(text)
        case _:
            text = _decoded(path, name)
    text = clean(text)
    if not text.strip():
        raise BadInput("This document holds no text.", where=name[-80:], to_do=_no_text(kind))
    check_length(len(text), most_chars, name)
    found = _HEADING.search(text) if kind in ("markdown", "word", "html", "pdf") else None
    return DocumentText(kind, " ".join((title or (found[1] if found else "")).split())[:200], text, notes)


def clean(text: str) -> str:
    """The text with one kind of line end, without control characters and blanks at line ends."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n")
    return re.sub(r"[ \t]+\n", "\n", re.sub(r"\n{4,}", "\n\n\n", _CONTROL.sub("", text))).strip("\n") + "\n"


def check_length(chars: int, most: int, name: str) -> None:
    """BadInput that says both sizes when a text is too long."""
    if chars > most:
        raise BadInput(
            f"The document holds {chars:,} characters of text; {most:,} are the most.", where=name[-80:],
            to_do="Split it, or raise LEXSI_DS_DOCUMENT_CHARS. Nothing is cut.",
        )


def _no_text(kind: DocumentKind) -> str:
    return "Its pages are pictures: run text recognition (OCR) on it first." if kind == "pdf" else "Choose another file."


def _decoded(path: Path, name: str) -> str:
    raw = path.read_bytes()
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if raw.startswith(mark):
            return raw.decode(encoding, errors="replace")
    if b"\x00" in raw:
        raise BadInput("This file is not text.", where=name[-80:], to_do="Its name does not say what it is; choose another.")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        best = from_bytes(raw).best()
        return str(best) if best is not None else raw.decode("cp1252", errors="replace")


def _json_notes(text: str) -> tuple[str, ...]:
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        return (f"It is no valid JSON ({str(error)[:80]}); it is kept as text.",)
    return ()


def _pdf(path: Path, name: str, most_chars: int) -> tuple[str, str, tuple[str, ...]]:
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    with path.open("rb") as file:
        if b"%PDF-" not in file.read(1024):
            raise BadInput("This file is no PDF.", where=name[-80:], to_do="Its name does not say what it is; choose another.")
    pages: list[str] = []
    try:
        reader = PdfReader(path, strict=False)
        if reader.is_encrypted:
            raise BadInput("This PDF is protected by a password.", where=name[-80:], to_do="Save a copy without one.")
        for page in reader.pages:
            pages.append(page.extract_text() or "")
            check_length(sum(map(len, pages)), most_chars, name)
        title = str((reader.metadata.title if reader.metadata else "") or "")
    except (PyPdfError, ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, OSError) as error:
        raise BadInput(
            f"This PDF could not be read ({type(error).__name__}).", where=name[-80:], to_do="Save it anew, or as text."
        ) from error
    empty = sum(not text.strip() for text in pages)
    notes = (f"{empty} of {len(pages)} pages hold no text; they may be pictures.",) if empty else ()
    return title, "\n\n".join(pages), notes


def _word(path: Path, name: str) -> tuple[str, str, tuple[str, ...]]:
    import docx
    from docx.table import Table

    _check_package(path, name)
    try:
        document = docx.Document(str(path))
        blocks = []
        for block in document.iter_inner_content():
            blocks.append(_word_table(block) if isinstance(block, Table) else _paragraph(block))
        pictures = len(document.inline_shapes)
        title = document.core_properties.title or ""
    except (KeyError, ValueError, AttributeError, IndexError, RecursionError, OSError, SyntaxError, zipfile.BadZipFile) as error:
        raise BadInput(
            f"This Word file could not be read ({type(error).__name__}).", where=name[-80:], to_do="Save it anew, or as PDF."
        ) from error
    notes = (f"{pictures} picture{'s' * (pictures != 1)} in it: what they show is not read.",) if pictures else ()
    return title, "\n\n".join(b for b in blocks if b.strip()), notes


def _check_package(path: Path, name: str) -> None:
    """A Word file is a zip: what it would unpack to is checked before anything is unpacked."""
    try:
        with zipfile.ZipFile(path) as package:
            size = sum(entry.file_size for entry in package.infolist())
            known = "word/document.xml" in package.namelist()
    except (zipfile.BadZipFile, OSError, NotImplementedError) as error:
        raise BadInput("This file is no Word file.", where=name[-80:], to_do="Save it as .docx from Word.") from error
    if not known:
        raise BadInput("This file is no Word file.", where=name[-80:], to_do="Save it as .docx from Word.")
    if size > _MOST_UNPACKED:
        raise BadInput(
            f"This Word file unpacks to {size // 2**20:,} MB; {_MOST_UNPACKED // 2**20} are the most.", where=name[-80:],
            to_do="Take the pictures out, or save its text.",
        )


def _paragraph(block: Any) -> str:
    style = (block.style.name or "") if block.style is not None else ""
    level = re.match(r"Heading (\d)", style)
    if style == "Title" or level:
        return f"{'#' * (int(level[1]) if level else 1)} {block.text}" if block.text.strip() else ""
    return f"- {block.text}" if style.startswith("List") and block.text.strip() else block.text


def _word_table(table: Any) -> str:
    rows = [[cell.text for cell in row.cells] for row in table.rows]
    return markdown_table(rows)


def markdown_table(rows: list[list[str]]) -> str:
    """Rows as a Markdown table whose first row is its head."""
    def line(cells: list[str]) -> str:
        return "| " + " | ".join(" ".join(c.split()).replace("|", "\\|") for c in cells) + " |"

    if not rows or not rows[0]:
        return ""
    rule = "| " + " | ".join("---" for _ in rows[0]) + " |"
    return "\n".join([line(rows[0]), rule, *(line(row) for row in rows[1:])])


def _html(text: str, name: str) -> tuple[str, str, tuple[str, ...]]:
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    soup = BeautifulSoup(text, "html.parser")
    title = soup.title.get_text(" ", strip=True) if soup.title else ""
    pictures = len(soup.find_all("img"))
    for tag in soup(_UNREAD):
        tag.decompose()
    try:
        converter = MarkdownConverter(strip=["a", "img"], heading_style="ATX", bullets="-", escape_asterisks=False,
                                      escape_underscores=False, table_infer_header=True)
        made = converter.convert_soup(soup)
    except RecursionError as error:
        raise BadInput("This page is nested too deeply to be read.", where=name[-80:], to_do="Save its text.") from error
    notes = (f"{pictures} picture{'s' * (pictures != 1)} in it: what they show is not read.",) if pictures else ()
    return title, made, notes


def table_rows(text: str) -> Iterator[list[list[str]]]:
    """The Markdown tables of a text, each as rows of cells, its head first."""
    rows: list[list[str]] = []
    for line in [*text.split("\n"), ""]:
        bare = line.strip()
        if bare.startswith("|") and bare.count("|") > 1:
            cells = [c.replace("\\|", "|").strip() for c in re.split(r"(?<!\\)\|", bare.strip().strip("|"))]
            if not all(re.fullmatch(r":?-+:?", c) for c in cells):
                rows.append(cells)
            continue
        if len(rows) > 1:
            yield rows
        rows = []
