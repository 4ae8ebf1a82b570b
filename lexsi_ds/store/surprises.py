"""Rows of surprises: the searches of a dataset, what they found in the order to show it, and what was deleted for good."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from lexsi_ds.store import tables as t
from lexsi_ds.store.db import Store
from lexsi_ds.store.records import Record, now

_S, _F, _D = t.surprises.c, t.surprise_searches.c, t.surprises_dismissed.c


class SearchRecord(Record):
    """One search; ``about`` is what it looked at."""

    id: str
    dataset_id: str
    version: int
    target: str | None
    about: dict[str, Any]
    person: str
    at: datetime


class SurpriseRecord(Record):
    """One surprise; ``same_as`` names it across searches, ``sentence`` is a person's wording where there is one."""

    id: str
    search_id: str
    dataset_id: str
    same_as: str
    place: int
    pinned: bool
    sentence: str | None
    finding_id: str | None
    body: dict[str, Any]
    row_version: int


class SurpriseRows:
    """Reads and writes surprises."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, search: SearchRecord, found: Sequence[SurpriseRecord]) -> None:
        """Keep a search with what it found."""
        with self._store.write() as db:
            db.execute(sa.insert(t.surprise_searches).values(**search.model_dump()))
            if found:
                db.execute(sa.insert(t.surprises), [record.model_dump() for record in found])

    def newest(self, dataset_id: str) -> SearchRecord | None:
        """The latest search of a dataset."""
        query = (
            sa.select(t.surprise_searches).where(_F.dataset_id == dataset_id).order_by(_F.at.desc(), _F.id.desc()).limit(1)
        )
        with self._store.read() as db:
            row = db.execute(query).first()
        return SearchRecord.of(row) if row is not None else None

    def of_search(self, search_id: str) -> tuple[SurpriseRecord, ...]:
        """What a search found and nobody deleted: pinned ones first, then in the order of ``place``."""
        gone = sa.exists().where(_D.dataset_id == _S.dataset_id, _D.same_as == _S.same_as)
        query = (
            sa.select(t.surprises).where(_S.search_id == search_id, ~gone).order_by(_S.pinned.desc(), _S.place, _S.id)
        )
        with self._store.read() as db:
            return tuple(SurpriseRecord.of(row) for row in db.execute(query))

    def get(self, surprise_id: str) -> SurpriseRecord | None:
        """One surprise, deleted or not."""
        with self._store.read() as db:
            row = db.execute(sa.select(t.surprises).where(_S.id == surprise_id)).first()
        return SurpriseRecord.of(row) if row is not None else None

    def dismissed(self, dataset_id: str) -> frozenset[str]:
        """What was deleted for good, across searches."""
        with self._store.read() as db:
            return frozenset(db.execute(sa.select(_D.same_as).where(_D.dataset_id == dataset_id)).scalars())

    def change(self, surprise_id: str, seen: int, values: dict[str, Any]) -> SurpriseRecord | None:
        """Change it if it is still as seen; None, and nothing written, when it is not."""
        query = (
            sa.update(t.surprises).where(_S.id == surprise_id, _S.row_version == seen)
            .values(**values, row_version=seen + 1)
        )
        with self._store.write() as db:
            if db.execute(query).rowcount != 1:  # type: ignore[attr-defined]
                return None
        return self.get(surprise_id)

    def order(self, search_id: str, ids: Sequence[str]) -> None:
        """Show these in this order, before all others of their search."""
        with self._store.write() as db:
            others = db.execute(
                sa.select(_S.id).where(_S.search_id == search_id, _S.id.not_in(list(ids))).order_by(_S.place, _S.id)
            ).scalars()
            for place, surprise_id in enumerate([*ids, *others]):
                db.execute(
                    sa.update(t.surprises).where(_S.id == surprise_id, _S.search_id == search_id).values(place=place)
                )

    def dismiss(self, dataset_id: str, same_as: str, person: str) -> None:
        """Delete it for good: neither this search nor a later one of the dataset shows it."""
        with self._store.write() as db:
            seen = sa.select(_D.same_as).where(_D.dataset_id == dataset_id, _D.same_as == same_as)
            if db.execute(seen).first() is None:
                db.execute(
                    sa.insert(t.surprises_dismissed).values(dataset_id=dataset_id, same_as=same_as, person=person, at=now())
                )

    def recall(self, dataset_id: str, same_as: str) -> None:
        """Take a deletion back."""
        with self._store.write() as db:
            db.execute(sa.delete(t.surprises_dismissed).where(_D.dataset_id == dataset_id, _D.same_as == same_as))
