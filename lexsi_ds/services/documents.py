"""The library of documents: files whose text the agent may read, kept whole, searched by words, deleted for good.

A library belongs to a workspace: its members share it; a person without one has their own. A file is read by a worker; here only
its text is kept.
Must never: cut a text, give out one of another library, or take what a document says for an order.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePosixPath

from lexsi_ds.errors import BadInput, NotFound
from lexsi_ds.ids import is_id, new_id
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.pool import Pool, Tell
from lexsi_ds.knowledge.document_text import kind_of
from lexsi_ds.knowledge.words import phrase
from lexsi_ds.services.access import Actor
from lexsi_ds.settings import Settings
from lexsi_ds.store.db import Store
from lexsi_ds.store.documents import DocumentRecord, DocumentRows
from lexsi_ds.text_to_sql.hints import Definition, definitions
from lexsi_ds.text_to_sql.model.relevance import LITTLE, Bm25

SHELF = "library"
"""The shelf of a document that was given none."""
_EXTRACT = "lexsi_ds.knowledge.documents_worker:extract"
_MOST = 500
_PASSAGE = 900
_KEPT = 8
_AT_ONCE = 150


@dataclass(frozen=True)
class Added:
    """What became of a file: ``new``, ``replaced`` one of the same name, or ``same`` as what was there."""

    document: DocumentRecord
    became: str


@dataclass(frozen=True)
class DocumentHit:
    """A passage that a search found; ``at`` is where it begins in the document's text."""

    document: DocumentRecord
    passage: str
    at: int
    score: float


@dataclass(frozen=True)
class _Shelved:
    """A library as it is searched: passages with their place, and the definitions of each document."""

    passages: tuple[tuple[DocumentRecord, int, str], ...]
    index: Bm25
    definitions: tuple[tuple[DocumentRecord, tuple[Definition, ...]], ...]


class Documents:
    """Every read and write of documents. All methods raise Denied without the right, NotFound for what is not there."""

    def __init__(
        self, store: Store, pool: Pool, settings: Settings, library_of: Callable[[Actor], str] = lambda actor: actor.id
    ) -> None:
        self._rows, self._pool, self._settings = DocumentRows(store), pool, settings
        self.library_of = library_of
        self._shelved: OrderedDict[tuple[str, ...], _Shelved] = OrderedDict()
        self._lock = threading.Lock()

    def add(
        self, actor: Actor, path: Path, name: str, *, shelf: str = SHELF, cancel: Cancel | None = None, tell: Tell | None = None
    ) -> Added:
        """Read a file and keep its text under ``shelf`` and ``name``; one of the same name is replaced.

        BadInput for a kind that is not read, a file that is too large or holds no text, and a full library.
        """
        actor.need("datasets:write")
        clean, where = _name(name), _shelf(shelf)
        kind_of(clean)
        size = path.stat().st_size
        most = self._settings.document_mb * 2**20
        if size > most:
            raise BadInput(
                f"The file has {size / 2**20:,.1f} MB; {self._settings.document_mb} are the most.", where=clean,
                to_do="Split it, or raise LEXSI_DS_DOCUMENT_MB.",
            )
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        known = self._rows.list(self.library_of(actor))
        there = next((d for d in known if (d.shelf, d.path) == (where, clean)), None)
        if there is not None and there.sha256 == digest:
            return Added(there, "same")
        if there is None and len(known) >= _MOST:
            raise BadInput(f"The library is full: it holds {_MOST} documents.", where=clean, to_do="Delete some first.")
        made, text = self._text_of(path, clean, cancel, tell)
        document_id = new_id("doc")
        self._rows.put(self.library_of(actor), {
            "id": document_id, "shelf": where, "path": clean, "kind": made["kind"], "title": made["title"], "text": text,
            "chars": made["chars"], "bytes": size, "sha256": digest, "notes": made["notes"], "added_by": actor.id,
            "added_by_name": actor.name,
        })  # fmt: skip
        return Added(self.get(actor, document_id), "replaced" if there is not None else "new")

    def list(self, actor: Actor) -> tuple[DocumentRecord, ...]:
        """All documents, by shelf and name."""
        actor.need("datasets:read")
        return self._rows.list(self.library_of(actor))

    def get(self, actor: Actor, document_id: str) -> DocumentRecord:
        """One document, without its text."""
        actor.need("datasets:read")
        found = self._rows.get(self.library_of(actor), document_id) if is_id(document_id, "doc") else None
        if found is None:
            raise NotFound("There is no such document.", where=document_id[:60], to_do="Choose one of the list.")
        return found

    def text(self, actor: Actor, document_id: str) -> str:
        """The whole text of a document."""
        return self._rows.text(self.library_of(actor), self.get(actor, document_id).id) or ""

    def named(self, actor: Actor, shelf: str, path: str) -> DocumentRecord:
        """The document of a shelf and name, whatever their case. NotFound names the nearest ones."""
        every = self.list(actor)
        wanted = (shelf.strip().casefold(), path.strip().casefold())
        found = next((d for d in every if (d.shelf.casefold(), d.path.casefold()) == wanted), None)
        if found is None:
            near = get_close_matches(f"{shelf}/{path}", [d.name for d in every], n=3, cutoff=0.4)
            hint = f"Near names: {', '.join(near)}." if near else f"The library holds {len(every)} documents."
            raise NotFound("There is no such document.", where=f"{shelf}/{path}"[:120], to_do=hint)
        return found

    def delete(self, actor: Actor, document_id: str) -> None:
        """Remove a document and its text."""
        actor.need("datasets:write")
        self._rows.delete(self.library_of(actor), self.get(actor, document_id).id)

    def search(self, actor: Actor, text: str, most: int = 8) -> tuple[DocumentHit, ...]:
        """Passages that share words with ``text``, best first (BM25); none where none is shared."""
        shelved = self._read(actor)
        scores = shelved.index.scores(phrase(text))
        ranked = sorted(range(len(scores)), key=lambda i: -scores[i])[:most]
        return tuple(DocumentHit(*_put(shelved.passages[i]), scores[i]) for i in ranked if scores[i] > 0)

    def defining(self, actor: Actor, words: tuple[str, ...]) -> tuple[tuple[DocumentRecord, tuple[Definition, ...]], ...]:
        """Documents that define one of these words, with those definitions; the one that defines most first."""
        wanted = [phrase(w) for w in words]
        found = []
        for document, told in self._read(actor).definitions:
            fitting = tuple(d for d in told if any(w and _within(w, phrase(d.words)) for w in wanted))
            if fitting:
                found.append((document, fitting))
        return tuple(sorted(found, key=lambda f: -len(f[1])))

    def definitions_in(self, actor: Actor, document_ids: tuple[str, ...], question: str) -> tuple[Definition, ...]:
        """Definitions in these documents whose words the question has."""
        asked = phrase(question)
        return tuple(
            d for document, told in self._read(actor).definitions if document.id in document_ids
            for d in told if (words := phrase(d.words)) and _within(words, asked)
        )  # fmt: skip

    def quote(self, actor: Actor, question: str) -> tuple[DocumentRecord, str] | None:
        """The sentence or table row that holds every word that matters of a question, at least two; None when there is none."""
        wanted = set(phrase(question)) - LITTLE
        if len(wanted) < 2:
            return None
        for hit in self.search(actor, question, 20):
            for part in re.split(r"\n|(?<=[.!?])\s+", hit.passage):
                if wanted <= set(phrase(part)):
                    return hit.document, " ".join(part.split())[:_PASSAGE]
        return None

    def _text_of(self, path: Path, name: str, cancel: Cancel | None, tell: Tell | None) -> tuple[dict, str]:
        out = self._pool.scratch / f"{new_id('doc')}.txt"
        try:
            args = {"path": str(path.absolute()), "name": name, "out": str(out), "most_chars": self._settings.document_chars}
            made = self._pool.run("documents", _EXTRACT, args, cancel=cancel, tell=tell, cleanup=out)
            return made, out.read_text(encoding="utf-8")
        finally:
            out.unlink(missing_ok=True)

    def _read(self, actor: Actor) -> _Shelved:
        """The library cut into passages, made once for the documents it holds."""
        documents, library = self.list(actor), self.library_of(actor)
        key = (library, *(d.id for d in documents))
        with self._lock:
            if key in self._shelved:
                self._shelved.move_to_end(key)
                return self._shelved[key]
        texts = [(d, self._rows.text(library, d.id) or "") for d in documents]
        passages = tuple((d, at, part) for d, text in texts for at, part in passages_of(text))
        made = _Shelved(
            passages, Bm25([(*phrase(part), *phrase(f"{d.title} {Path(d.path).stem}")) for d, _, part in passages]),
            tuple((d, _defined(text)) for d, text in texts),
        )
        with self._lock:
            self._shelved[key] = made
            while len(self._shelved) > _KEPT:
                self._shelved.popitem(last=False)
        return made


def passages_of(text: str) -> list[tuple[int, str]]:
    """A text in passages that end at blank lines where they can, with where each begins; together they are the whole text."""
    passages, start, at = [], 0, 0
    for block in re.split(r"(\n\s*\n)", text):
        if at - start >= _PASSAGE and block.strip():
            passages.append((start, text[start:at]))
            start = at
        at += len(block)
    passages.append((start, text[start:]))
    parts = [(at + i, part[i : i + 4 * _PASSAGE]) for at, part in passages for i in range(0, len(part), 4 * _PASSAGE)]
    return [(at, part) for at, part in parts if part.strip()]


def telling_lines(passage: str, question: str, most: int = 3) -> str:
    """The lines of a passage that share most words with a question, in their order; the passage where none does."""
    wanted = set(phrase(question)) - LITTLE
    lines = [line.strip() for line in passage.split("\n") if line.strip()]
    shared = [len(wanted & set(phrase(line))) for line in lines]
    best = max(shared, default=0)
    return "\n".join([line for line, n in zip(lines, shared, strict=True) if n == best][:most]) if best else passage


def _put(passage: tuple[DocumentRecord, int, str]) -> tuple[DocumentRecord, str, int]:
    document, at, part = passage
    return document, part.strip(), at


def _defined(text: str) -> tuple[Definition, ...]:
    lines = [line.strip().lstrip("-*+•# ").replace("**", "").replace("`", "") for line in text.split("\n") if line.strip()]
    lines = [line for line in lines if not line.startswith("|")]
    return tuple(d for i in range(0, len(lines), _AT_ONCE) for d in definitions("\n".join(lines[i : i + _AT_ONCE])))


def _within(part: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    return any(whole[i : i + len(part)] == part for i in range(len(whole) - len(part) + 1))


def _name(name: str) -> str:
    """A file's name without folders and control characters."""
    last = PurePosixPath(name.replace("\\", "/")).name
    clean = " ".join(re.sub(r"[\x00-\x1f\x7f<>|]+", " ", last).split()).strip(". ")
    if not clean:
        raise BadInput("The file has no name.", where="documents", to_do="Give it one.")
    stem, end = Path(clean).stem, Path(clean).suffix
    return clean if len(clean) <= 120 else f"{stem[: 120 - len(end)]}{end}"


def _shelf(shelf: str) -> str:
    clean = " ".join(shelf.split()) or SHELF
    if len(clean) > 60 or not re.fullmatch(r"[\w][\w .&-]*", clean):
        raise BadInput("A shelf is named with letters, digits, blanks, points and hyphens, 60 at most.", where=clean[:60])
    return clean
