"""The semantic model of a source as people shape it: saved versions over what is derived, and words that were taught.

A saved version holds from the next question on, behind every door. What the data no longer carries stays in the file, is left out
of answers, and is told. Must never: save a file with an error in it; take a word for a column whose values are masked.
"""

from __future__ import annotations

import difflib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import pandas as pd

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.data.relations import Relation
from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.errors import BadInput, Denied, NotFound
from lexsi_ds.ids import is_id, new_id
from lexsi_ds.knowledge import osi, osi_text
from lexsi_ds.knowledge.learned import fits, meaning_text, with_learned
from lexsi_ds.knowledge.load import is_bank, semantic_model
from lexsi_ds.knowledge.model import LearnedWord, Parameter, SemanticModel, VerifiedQuestion
from lexsi_ds.knowledge.osi_changes import changes
from lexsi_ds.knowledge.osi_check import check
from lexsi_ds.knowledge.osi_edit import put_verified
from lexsi_ds.knowledge.osi_export import document_of
from lexsi_ds.knowledge.osi_read import Stale, read_over
from lexsi_ds.knowledge.osi_text import Issue, Located
from lexsi_ds.services.access import Actor
from lexsi_ds.services.catalog import Catalog
from lexsi_ds.services.relations import Relations
from lexsi_ds.store.db import Store
from lexsi_ds.store.semantics import SemanticRows, SemanticVersion, WordRecord
from lexsi_ds.store.sources import Sources

Read = Callable[[str], pd.DataFrame]
Edit = Callable[[osi.Document, SemanticModel], osi.Document]
"""Makes a changed file from the file and the model that it makes now."""
_MOST_WORD = 80
_TOLD = 8
_KEPT_BASES = 16


@dataclass(frozen=True)
class TaughtWord:
    """A taught word as it is shown."""

    id: str
    words: str
    meaning: str
    record: WordRecord
    stale: bool
    """What it means is not in the data any more; it is kept and not used."""


@dataclass(frozen=True)
class SemanticView:
    """What the page shows of a source."""

    version: int
    """0: nothing was ever saved."""
    saved: bool
    """Whether a file is laid over what is derived."""
    model: SemanticModel
    """Without taught words: what a file is made from."""
    stale: tuple[Stale, ...]
    words: tuple[TaughtWord, ...]
    history: tuple[SemanticVersion, ...]


class Semantics:
    """Every read and change of semantic models. All methods raise Denied without the right, NotFound for what is not there."""

    def __init__(self, store: Store, catalog: Catalog, sql: SqlRunner, relations: Relations) -> None:
        self._catalog, self._sql, self._relations = catalog, sql, relations
        self._rows, self._sources = SemanticRows(store), Sources(store)
        self._bases: OrderedDict[Hashable, SemanticModel] = OrderedDict()
        self._documents: OrderedDict[tuple[str, int], osi.Document] = OrderedDict()
        self._lock = threading.Lock()

    def state(self, handle: DatasetHandle) -> tuple[int, int, int]:
        """What is part of every key under which something made from the model is kept."""
        return self._rows.state(handle.source_id)

    def model(self, handle: DatasetHandle, read: Read, links: Sequence[Relation] = ()) -> SemanticModel:
        """What answers go by: derived or written by hand, then the saved file, then taught words."""
        base = self._derived(handle, read, tuple(links))
        model, _, _ = self._saved_over(handle, base, links)
        return with_learned(model, self._taught(handle.source_id))

    def view(self, actor: Actor, source_id: str) -> SemanticView:
        """The model of a source with its file, history and taught words."""
        handle = self._catalog.handle(actor, source_id)
        base, links = self._base(handle)
        model, stale, newest = self._saved_over(handle, base, links)
        saved = newest is not None and newest.text is not None
        words = tuple(
            TaughtWord(r.id, r.words, meaning_text(_word(r)), r, not fits(model, _word(r))) for r in self._rows.words(source_id)
        )
        number = newest.version if newest else 0
        return SemanticView(number, saved, model, stale, words, self._rows.history(source_id))

    def text(self, actor: Actor, source_id: str) -> str:
        """The file of a source: the saved one, else one made of what was derived."""
        handle = self._catalog.handle(actor, source_id)
        newest = self._rows.newest(source_id)
        if newest is not None and newest.text is not None:
            return newest.text
        return osi_text.write(document_of(self._base(handle)[0], handle.name))

    def check(self, actor: Actor, source_id: str, text: str) -> tuple[Issue, ...]:
        """What is wrong with a file for this source, by line; nothing is saved."""
        handle = self._catalog.handle(actor, source_id)
        return self._checked(handle, text)[1]

    def save(self, actor: Actor, source_id: str, text: str, seen: int, *, how: str = "written") -> int:
        """Save a file as the version after ``seen``; it holds from the next question on.

        Raises BadInput with the first errors by line, Conflict when somebody saved meanwhile.
        """
        handle = self._writable(actor, source_id)
        document, issues = self._checked(handle, text)
        errors = [i for i in issues if i.level == "error"]
        if document is None or errors:
            more = f" And {len(errors) - _TOLD} more." if len(errors) > _TOLD else ""
            raise BadInput(
                f"The file has {len(errors)} error{'s' * (len(errors) != 1)}; nothing was saved. "
                + " ".join(f"{i}." for i in errors[:_TOLD]) + more,
                where="semantic model", to_do="Mend these lines, then save again.",
            )
        base, links = self._base(handle)
        before, _, _ = self._saved_over(handle, base, links)
        after, _ = read_over(document, base, handle, links)
        return self._keep(actor, source_id, seen, text, changes(before, after) or ("only the text",), how)

    def edit(self, actor: Actor, source_id: str, change: Edit, seen: int) -> int:
        """Change one entry of the file (made now where none was saved); checked like any other file."""
        handle = self._writable(actor, source_id)
        base, links = self._base(handle)
        model, _, newest = self._saved_over(handle, base, links)
        document = self._document(newest) or document_of(model, handle.name)
        return self.save(actor, source_id, osi_text.write(change(document, model)), seen, how="edited")

    def revert(self, actor: Actor, source_id: str, version: int, seen: int) -> int:
        """Make an earlier version hold again, as a new one; 0 is what was derived."""
        handle = self._writable(actor, source_id)
        found = self._rows.version(source_id, version) if version else None
        if version and found is None:
            raise NotFound("There is no such version.", where=f"version {version}", to_do="Choose one of the list.")
        base, links = self._base(handle)
        before, _, _ = self._saved_over(handle, base, links)
        document = self._document(found)
        after = read_over(document, base, handle, links)[0] if document else base
        text = found.text if found else None
        how = f"back to version {version}" if version else "back to derived"
        return self._keep(actor, source_id, seen, text, changes(before, after), how)

    def diff(self, actor: Actor, source_id: str, version: int, against: int | None = None) -> str:
        """Lines that a version changed against another (the one before it), as a unified diff."""
        handle = self._catalog.handle(actor, source_id)
        base, _ = self._base(handle)
        derived = osi_text.write(document_of(base, handle.name))

        def text(number: int) -> str:
            found = self._rows.version(source_id, number) if number else None
            return found.text if found and found.text is not None else derived

        old = version - 1 if against is None else against
        names = (f"version {old}" if old else "derived", f"version {version}" if version else "derived")
        lines = difflib.unified_diff(text(old).splitlines(), text(version).splitlines(), *names, lineterm="", n=2)
        return "\n".join(lines)

    def verify(
        self, actor: Actor, source_id: str, question: str, sql: str, seen: int, parameters: Sequence[Parameter] = ()
    ) -> int:
        """Keep a question with SQL that was checked to run; ``{name}`` in both stands for a parameter. Raises BadInput when the SQL
        does not run."""
        line = " ".join(question.split())
        if not line or not sql.strip():
            raise BadInput("A verified question needs a question and its SQL.", where="semantic model", to_do="Write both.")

        def change(document: osi.Document, model: SemanticModel) -> osi.Document:
            others = [v for v in model.verified if v.question.casefold() != line.casefold()]
            added = VerifiedQuestion(question=line, sql=sql.strip(), parameters=tuple(parameters))
            return put_verified(document, model, [*others, added])

        return self.edit(actor, source_id, change, seen)

    def unverify(self, actor: Actor, source_id: str, question: str, seen: int) -> int:
        """Take a verified question out."""

        def change(document: osi.Document, model: SemanticModel) -> osi.Document:
            return put_verified(document, model, [v for v in model.verified if v.question != question])

        return self.edit(actor, source_id, change, seen)

    def learn(self, actor: Actor, source_id: str, words: str, meaning: LearnedWord) -> TaughtWord:
        """Keep what a person said some words mean; used from the next question on. The id and words of ``meaning`` are not read.

        Raises BadInput for no or too many words, NotFound when what they mean is not there.
        """
        handle = self._writable(actor, source_id)
        line = " ".join(words.split()).casefold()
        if not line or len(line) > _MOST_WORD or not any(ch.isalnum() for ch in line):
            raise BadInput(f"A word to remember has 1 to {_MOST_WORD} letters.", where="semantic model", to_do="Choose others.")
        base, links = self._base(handle)
        model, _, _ = self._saved_over(handle, base, links)
        word = meaning.model_copy(update={"id": new_id("word"), "words": line})
        if not fits(model, word):
            what = "What these words should mean is not there, or is masked."
            raise NotFound(what, where=meaning_text(word), to_do="Choose another.")
        body = {k: v for k, v in word.model_dump().items() if v and k not in ("id", "words")}
        self._rows.teach(word.id, source_id, line, body, actor.id, actor.name)
        record = next(r for r in self._rows.words(source_id) if r.id == word.id)
        return TaughtWord(word.id, line, meaning_text(word), record, stale=False)

    def forget(self, actor: Actor, source_id: str, word_id: str) -> None:
        """Take a taught word out of use. One that is out of use already is left alone."""
        self._writable(actor, source_id)
        if not is_id(word_id, "word"):
            raise NotFound("There is no such word.", where=word_id[:60], to_do="Choose one of the list.")
        self._rows.forget(source_id, word_id, actor.id)

    def _keep(
        self, actor: Actor, source_id: str, seen: int, text: str | None, said: tuple[str, ...], how: str
    ) -> int:
        return self._rows.save(
            source_id, seen, text=text, changes=said[:200], how=how, person=actor.id, person_name=actor.name
        )

    def _saved_over(
        self, handle: DatasetHandle, base: SemanticModel, links: Sequence[Relation]
    ) -> tuple[SemanticModel, tuple[Stale, ...], SemanticVersion | None]:
        newest = self._rows.newest(handle.source_id)
        document = self._document(newest)
        if document is None:
            return base, (), newest
        model, stale = read_over(document, base, handle, links)
        return model, stale, newest

    def _document(self, version: SemanticVersion | None) -> osi.Document | None:
        """The file of a version, read once a process."""
        if version is None or version.text is None:
            return None
        key = (version.source_id, version.version)
        with self._lock:
            found = self._documents.get(key)
        if found is None:
            found = osi_text.read(version.text)[0]
            with self._lock:
                if found is not None:
                    self._documents[key] = found
                while len(self._documents) > _KEPT_BASES:
                    self._documents.popitem(last=False)
        return found

    def _base(self, handle: DatasetHandle) -> tuple[SemanticModel, tuple[Relation, ...]]:
        links = () if is_bank(handle) else self._relations.for_joins(handle)
        return self._derived(handle, lambda sql: self._sql.frame(handle, sql), links), links

    def _derived(self, handle: DatasetHandle, read: Read, links: tuple[Relation, ...]) -> SemanticModel:
        """What the data and the hand-written bank say; worked out once a process for a snapshot with its marks and links."""
        key = (handle, links)
        with self._lock:
            found = self._bases.get(key)
        if found is None:
            found = semantic_model(handle, read, links)
            with self._lock:
                self._bases[key] = found
                while len(self._bases) > _KEPT_BASES:
                    self._bases.popitem(last=False)
        return found

    def _checked(self, handle: DatasetHandle, text: str) -> tuple[osi.Document | None, tuple[Issue, ...]]:
        document, issues, located = osi_text.read(text)
        if document is None:
            return None, tuple(issues)
        return document, tuple(self._against(handle, document, located))

    def _against(self, handle: DatasetHandle, document: osi.Document, located: Located) -> list[Issue]:
        base, links = self._base(handle)
        _, stale, _ = self._saved_over(handle, base, links)
        return check(document, located, handle, lambda sql: self._sql.frame(handle, sql), {s.what for s in stale})

    def _taught(self, source_id: str) -> list[LearnedWord]:
        return [_word(r) for r in self._rows.words(source_id)]

    def _writable(self, actor: Actor, source_id: str) -> DatasetHandle:
        actor.need("datasets:write")
        handle = self._catalog.handle(actor, source_id)
        source = self._sources.get(source_id)
        if source is None or source.owner != actor.id:
            raise Denied("This source belongs to somebody else.", where=handle.name, to_do="Ask its owner.")
        return handle


def _word(record: WordRecord) -> LearnedWord:
    return LearnedWord(id=record.id, words=record.words, **record.meaning)
