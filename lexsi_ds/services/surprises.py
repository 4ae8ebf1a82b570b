"""Surprises of a dataset: searched in a worker, kept with their version, shown in an order that people may change.

What somebody deletes stays away for good, in later searches too. An accepted one becomes a pending finding, which a person
then reviews like any other. Must never: search or show a masked column.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from lexsi_ds.data.handle import Table
from lexsi_ds.errors import BadInput, Conflict, NotFound
from lexsi_ds.ids import is_id, new_id
from lexsi_ds.insights.surprise import Search, Surprise
from lexsi_ds.jobs.background import Background, Task
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.pool import Pool, Tell
from lexsi_ds.services.access import Actor
from lexsi_ds.services.datasets import Datasets
from lexsi_ds.services.finding import Finding
from lexsi_ds.services.finding_text import visible_text
from lexsi_ds.services.findings import Findings
from lexsi_ds.services.sharing import checked
from lexsi_ds.settings import Settings
from lexsi_ds.store.db import Store
from lexsi_ds.store.records import now
from lexsi_ds.store.surprises import SearchRecord, SurpriseRecord, SurpriseRows

Json = dict[str, Any]
_SEARCH = "lexsi_ds.insights.worker:surprises"
_LONGEST = 500
_REPEATS = 5
"""An identifier whose values repeat this often on average means rows that belong together."""


class Surprises:
    """Every method raises Denied without the right, NotFound for what is not there."""

    def __init__(
        self, settings: Settings, store: Store, pool: Pool, datasets: Datasets, findings: Findings, background: Background
    ) -> None:
        self._settings, self._pool, self._datasets = settings, pool, datasets
        self._findings, self._background, self._rows = findings, background, SurpriseRows(store)

    def start(self, actor: Actor, dataset: str) -> Task:
        """Search in the background; the task's result is what ``get`` returns."""
        row, _ = self._datasets.resolve(actor, dataset)
        return self._background.start(
            "surprises", f"Looking for surprises in {row.name}",
            lambda cancel, tell: self.search(actor, row.id, cancel=cancel, tell=tell), owner=actor.id, key=f"surprises-{row.id}",
        )

    def search(self, actor: Actor, dataset: str, *, cancel: Cancel | None = None, tell: Tell | None = None) -> Json:
        """Search the newest version of a dataset; what it finds takes the place of an earlier search's."""
        actor.need("datasets:write")
        row, _ = self._datasets.resolve(actor, dataset)
        table = self._datasets.table(row)
        if table.live is not None:
            raise BadInput("Surprises are looked for in imported data.", where=row.name, to_do="Import this table first.")
        answer = self._pool.run("ml", _SEARCH, {
            "path": str(table.path), "rows": table.rows, "target": row.target_column, "threads": self._settings.threads,
            "columns": [c.model_dump() for c in table.columns],
        }, cancel=cancel, tell=tell)
        found = Search.model_validate(answer)
        about = found.model_dump(mode="json", exclude={"surprises"})
        about["notes"] = [*about["notes"], *_warnings(table)]
        search = SearchRecord(id=new_id("srs"), dataset_id=row.id, version=row.version, target=row.target_column, about=about,
                              person=actor.id, at=now())
        before = self._rows.newest(row.id)
        known = {r.same_as: r for r in self._rows.of_search(before.id)} if before is not None else {}
        self._rows.add(search, [_record(search, place, s, known.get(_name(s))) for place, s in enumerate(found.surprises)])
        return self.get(actor, row.id)

    def get(self, actor: Actor, dataset: str) -> Json:
        """The surprises of the latest search, in display order, without deleted ones; ``status`` none where nobody searched."""
        row, _ = self._datasets.resolve(actor, dataset)
        search = self._rows.newest(row.id)
        if search is None:
            return {"datasetId": row.id, "status": "none", "surprises": [], "count": 0}
        table = self._datasets.table(row)
        masked = {c.name for c in table.columns if c.masked}
        shown = [r for r in self._rows.of_search(search.id) if not masked & _columns(r)]
        return {
            "datasetId": row.id, "status": "ready", "datasetVersion": search.version, "stale": search.version != row.version or
            search.target != row.target_column, "targetColumn": search.target, "computedAt": search.at.isoformat(),
            "testsRun": search.about["tests"], "rows": search.about["rows"], "dimensions": search.about["dimensions"],
            "measures": search.about["measures"], "notes": search.about["notes"],
            "surprises": [_shown(r) for r in shown], "count": len(shown),
        }

    def edit(self, actor: Actor, surprise_id: str, version: int, sentence: str) -> Json:
        """Say it in other words; "" brings the computed sentence back."""
        record = self._editable(actor, surprise_id)
        text = visible_text(sentence).strip()
        if len(text) > _LONGEST:
            raise BadInput(f"A sentence has at most {_LONGEST} characters.", where="sentence", to_do="Shorten it.")
        return self._changed(record, version, {"sentence": text or None})

    def pin(self, actor: Actor, surprise_id: str, version: int, *, pinned: bool) -> Json:
        """Keep it on top, or no longer."""
        return self._changed(self._editable(actor, surprise_id), version, {"pinned": pinned})

    def order(self, actor: Actor, dataset: str, ids: list[str]) -> Json:
        """Show these first, in this order."""
        row, _ = self._datasets.resolve(actor, dataset)
        search = self._rows.newest(row.id)
        known = {r.id for r in self._rows.of_search(search.id)} if search is not None else set()
        if search is None or len(set(ids)) != len(ids) or not set(ids) <= known:
            raise NotFound("These are not surprises of this data set's latest search.", to_do="Reload the list.")
        for surprise_id in ids[:1]:
            self._editable(actor, surprise_id)
        self._rows.order(search.id, ids)
        return self.get(actor, row.id)

    def delete(self, actor: Actor, surprise_id: str) -> None:
        """Take it out for good: later searches do not show it again."""
        record = self._editable(actor, surprise_id)
        self._rows.dismiss(record.dataset_id, record.same_as, actor.id)

    def restore(self, actor: Actor, surprise_id: str) -> None:
        """Take a deletion back."""
        record = self._editable(actor, surprise_id)
        self._rows.recall(record.dataset_id, record.same_as)

    def accept(self, actor: Actor, surprise_id: str) -> Finding:
        """Propose it as a finding, pending like any other; accepting it again gives the same finding."""
        actor.need("findings:write")
        record = self._editable(actor, surprise_id)
        found = Surprise.model_validate(record.body)
        columns = tuple(dict.fromkeys((*(s.column for s in found.sides), found.measure.column)))
        finding = self._findings.propose(
            actor, dataset_id=record.dataset_id, title=_title(found), statement=record.sentence or found.sentence[:_LONGEST],
            columns=columns, check_sql=_check(found), source=f"surprise:{record.id}",
        )
        if record.finding_id != finding.id:
            self._rows.change(record.id, record.row_version, {"finding_id": finding.id})
        return finding

    def _editable(self, actor: Actor, surprise_id: str) -> SurpriseRecord:
        actor.need("datasets:write")
        record = self._rows.get(surprise_id) if is_id(surprise_id, "srp") else None
        if record is None:
            raise NotFound("There is no such surprise.", to_do="Reload the list.")
        row, _ = self._datasets.resolve(actor, record.dataset_id)
        checked(self._datasets.level(actor, row.id), "edit", row.name)
        return record

    def _changed(self, record: SurpriseRecord, version: int, values: Json) -> Json:
        changed = self._rows.change(record.id, version, values)
        if changed is None:
            raise Conflict("Somebody changed this surprise meanwhile; nothing was changed now.", to_do="Reload the list.")
        return _shown(changed)


def _record(search: SearchRecord, place: int, found: Surprise, before: SurpriseRecord | None) -> SurpriseRecord:
    """A new search's surprise, with what people made of the same one before."""
    return SurpriseRecord(
        id=new_id("srp"), search_id=search.id, dataset_id=search.dataset_id, same_as=_name(found), place=place,
        pinned=before is not None and before.pinned, sentence=before.sentence if before is not None else None,
        finding_id=before.finding_id if before is not None else None, body=found.model_dump(mode="json"), row_version=1,
    )


def _shown(record: SurpriseRecord) -> Json:
    found = Surprise.model_validate(record.body)
    return {
        "id": record.id, "kind": found.kind, "sentence": record.sentence or found.sentence,
        "edited": record.sentence is not None, "pinned": record.pinned, "findingId": record.finding_id,
        "measure": found.measure.label, "measureColumn": found.measure.column, "isShare": found.measure.binary,
        "groups": [{"column": s.column, "level": s.level} for s in found.sides],
        "n": found.n, "observed": found.observed, "expected": found.expected,
        "effect": found.effect, "interval": [found.low, found.high], "pValue": found.p, "qValue": found.q,
        "confidence": found.confidence, "sql": found.sql, "rowsSql": found.rows_sql, "version": record.row_version,
    }


def _columns(record: SurpriseRecord) -> set[str]:
    return {s["column"] for s in record.body["sides"]} | {record.body["measure"]["column"]}


def _name(found: Surprise) -> str:
    """The same for the same pattern in every search, whatever its figures."""
    sides = sorted((s.column, s.condition) for s in found.sides)
    parts = [found.kind, found.measure.column, found.measure.value, sides, found.effect > 0]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _title(found: Surprise) -> str:
    where = " and ".join(f"{s.column} {s.level}" for s in found.sides)
    label = found.measure.label
    return f"{label[:1].upper()}{label[1:]}: {where}"[:120]


def _check(found: Surprise) -> str | None:
    """For an unexpected effect: a row once the group's mean is no longer on its side of what the columns alone give."""
    if found.kind != "unexpected_effect":
        return None
    measure, way = found.measure.sql, "<=" if found.effect > 0 else ">="
    where = " AND ".join(f"({s.condition})" for s in found.sides)
    return (
        f"SELECT * FROM (\n  SELECT avg({measure}) AS observed, count({measure}) AS n\n  FROM dataset\n  WHERE {where}\n) AS now\n"
        f"WHERE observed IS NULL OR observed {way} {found.expected!r}"
    )


def _warnings(table: Table) -> list[str]:
    """What the test cannot see: rows that belong together are fewer independent observations than they look."""
    repeated = [c.name for c in table.columns if c.identifier and c.distinct and table.rows / c.distinct >= _REPEATS]
    return [
        f"Each {name} has several rows. Rows that belong together count here as if they did not, so intervals are too narrow "
        "and some of what is listed may be noise." for name in repeated
    ]
