"""What documents say of a source's columns and codes, offered to its semantic model: a person accepts or sets aside each.

Accepting is a new version of the semantic model, like any other change. A code counts only where the column has it. Must never:
change what answers go by without a person, or touch a masked column.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import pandas as pd

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import BadInput
from lexsi_ds.knowledge import osi
from lexsi_ds.knowledge.distinct import distinct_values
from lexsi_ds.knowledge.document_entries import Entry, entries
from lexsi_ds.knowledge.model import ColumnModel, SemanticModel, ValueMeaning
from lexsi_ds.knowledge.osi_edit import change_column
from lexsi_ds.knowledge.words import fold, phrase
from lexsi_ds.services.access import Actor
from lexsi_ds.services.catalog import Catalog
from lexsi_ds.services.documents import Documents
from lexsi_ds.services.semantics import Semantics
from lexsi_ds.store.db import Store
from lexsi_ds.store.documents import DocumentRecord, DocumentRows

_MOST_CODES = 200
_SHORT_WORDS = 6
_KEPT = 200


@dataclass(frozen=True)
class Suggestion:
    """One thing that a document says and the semantic model does not. ``before`` is what the model says now."""

    id: str
    document: DocumentRecord
    table: str
    column: str
    code: str
    text: str
    before: str

    @property
    def place(self) -> str:
        """What it is about: ``loan.status`` or ``loan.status = A``."""
        return f"{self.table}.{self.column}" + (f" = {self.code}" if self.code else "")


class DocumentSuggestions:
    """Reads them out of the library, and takes or sets aside."""

    def __init__(
        self, store: Store, documents: Documents, semantics: Semantics, catalog: Catalog,
        read: Callable[[DatasetHandle, str], pd.DataFrame],
    ) -> None:
        self._rows, self._documents, self._semantics, self._catalog, self._sql = (
            DocumentRows(store), documents, semantics, catalog, read
        )
        self._library = documents.library_of
        self._told: OrderedDict[Hashable, tuple[Entry, ...]] = OrderedDict()
        self._lock = threading.Lock()

    def list(self, actor: Actor, source_id: str) -> tuple[Suggestion, ...]:
        """What waits for a person on a source; of two documents that speak of one place the first counts."""
        handle = self._catalog.handle(actor, source_id)
        model = self._semantics.view(actor, source_id).model
        decided = self._rows.decisions(self._library(actor), source_id)
        told: dict[tuple[str, str, str], tuple[DocumentRecord, Entry]] = {}
        for document in self._documents.list(actor):
            for entry in self._entries(actor, document, handle):
                told.setdefault((entry.table, entry.column, entry.code), (document, entry))
        codes = self._codes(handle, model, [entry for _, entry in told.values()])
        made = (_suggestion(document, entry, model, codes) for document, entry in told.values())
        return tuple(s for s in made if s is not None and s.id not in decided)

    def accept(self, actor: Actor, source_id: str, ids: Sequence[str]) -> int:
        """Take suggestions into a new version of the semantic model; returns its number. Raises BadInput when none is left."""
        wanted = [s for s in self.list(actor, source_id) if s.id in set(ids)]
        if not wanted:
            raise BadInput("These suggestions are not there any more.", where="documents", to_do="Look at the list again.")
        columns: dict[tuple[str, str], list[Suggestion]] = defaultdict(list)
        for s in wanted:
            columns[s.table, s.column].append(s)

        def change(document: osi.Document, model: SemanticModel) -> osi.Document:
            for (table, column), some in columns.items():
                document = change_column(document, model, table, column, lambda c, some=some: _changed(c, some))
            return document

        version = self._semantics.edit(actor, source_id, change, self._semantics.view(actor, source_id).version)
        for s in wanted:
            self._rows.decide(self._library(actor), source_id, s.id, "accepted", actor.id)
        return version

    def set_aside(self, actor: Actor, source_id: str, ids: Sequence[str]) -> None:
        """Offer these no more."""
        actor.need("datasets:write")
        for s in self.list(actor, source_id):
            if s.id in set(ids):
                self._rows.decide(self._library(actor), source_id, s.id, "set_aside", actor.id)

    def aside(self, actor: Actor, source_id: str) -> int:
        """How many were set aside."""
        actor.need("datasets:read")
        return sum(decision == "set_aside" for decision in self._rows.decisions(self._library(actor), source_id).values())

    def offer_again(self, actor: Actor, source_id: str) -> int:
        """Offer what was set aside once more; returns how many."""
        actor.need("datasets:write")
        again = [k for k, decision in self._rows.decisions(self._library(actor), source_id).items() if decision == "set_aside"]
        for key in again:
            self._rows.decide(self._library(actor), source_id, key, None, actor.id)
        return len(again)

    def _entries(self, actor: Actor, document: DocumentRecord, handle: DatasetHandle) -> tuple[Entry, ...]:
        """What a document says of a source, read once a process; a document never changes under its id."""
        key = (document.id, handle)
        with self._lock:
            if key in self._told:
                return self._told[key]
        made = entries(self._documents.text(actor, document.id), document.kind, handle)
        with self._lock:
            self._told[key] = made
            while len(self._told) > _KEPT:
                self._told.popitem(last=False)
        return made

    def _codes(
        self, handle: DatasetHandle, model: SemanticModel, told: Sequence[Entry]
    ) -> dict[tuple[str, str], dict[str, str]]:
        """The values that columns with told codes have, by their folded text."""
        wanted: dict[str, set[str]] = defaultdict(set)
        for entry in told:
            column = model.column(entry.table, entry.column)
            if entry.code and column is not None and not column.masked and column.distinct <= _MOST_CODES:
                wanted[entry.table].add(entry.column)
        found = {}
        for table, columns in wanted.items():
            values = distinct_values(table, sorted(columns), lambda sql: self._sql(handle, sql))
            found |= {(table, column): {fold(v).strip(): v for v in each} for column, each in values.items()}
        return found


def _suggestion(
    document: DocumentRecord, entry: Entry, model: SemanticModel, codes: dict[tuple[str, str], dict[str, str]]
) -> Suggestion | None:
    """What an entry would change; None where it changes nothing or its code is not in the data."""
    column = model.column(entry.table, entry.column)
    if column is None or column.masked:
        return None
    code, before = "", column.comment
    if entry.code:
        value = codes.get((entry.table, entry.column), {}).get(fold(entry.code).strip())
        if value is None:
            return None
        code, before = value, next((m.label for m in column.values if m.value == value), "")
    if fold(before).strip(" .") == fold(entry.text).strip(" .") or (not entry.code and phrase(entry.text) == phrase(column.label)):
        return None
    key = "\n".join((entry.table, entry.column, code, entry.text))
    digest = hashlib.sha256(key.encode()).hexdigest()[:32]
    return Suggestion(digest, document, entry.table, entry.column, code, entry.text, "" if before == code else before)


def _changed(column: ColumnModel, some: Sequence[Suggestion]) -> ColumnModel:
    """The column with what a document says: its text as the comment, a short text as a synonym too, codes as meanings."""
    values = {m.value: m for m in column.values}
    update: dict[str, object] = {}
    for s in some:
        if s.code:
            known = values.get(s.code)
            values[s.code] = known.model_copy(update={"label": s.text}) if known else ValueMeaning(value=s.code, label=s.text)
            continue
        update["comment"] = s.text
        short = s.text.rstrip(".").casefold()
        if len(short.split()) <= _SHORT_WORDS and short.replace(" ", "").isalpha() and short not in column.synonyms:
            update["synonyms"] = (*column.synonyms, short)
    return column.model_copy(update=update | {"values": tuple(values.values())})
