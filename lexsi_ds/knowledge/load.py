"""The semantic model of a handle: the bank's where the eight tables are the bank's, else derived; what is written by hand
wins over what is derived, and nothing that the handle lacks survives.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from lexsi_ds.data.handle import DatasetHandle, Table
from lexsi_ds.data.relations import Relation
from lexsi_ds.knowledge.auto import ValueReader, automatic_model
from lexsi_ds.knowledge.model import (
    ColumnModel,
    Concept,
    Condition,
    Disambiguation,
    Metric,
    Outcome,
    Relationship,
    RolePath,
    Segment,
    SemanticModel,
    TableModel,
)

_BANK = Path(__file__).with_name("bank.yaml")
_MARKS = {
    "loan": {"loan_id", "account_id", "status"},
    "account": {"account_id", "frequency"},
    "disp": {"client_id", "account_id", "type"},
    "client": {"client_id"},
    "district": {"A2", "A3"},
    "card": {"card_id", "disp_id"},
    "order": {"order_id", "account_id"},
    "trans": {"trans_id", "account_id"},
}


def semantic_model(handle: DatasetHandle, values: ValueReader, relations: Sequence[Relation] = ()) -> SemanticModel:
    """What is known about this source. ``values`` runs SQL on the handle and gives a frame; ``relations`` are its found and
    chosen links. The bank's own links are written by hand and stand."""
    if not is_bank(handle):
        return automatic_model(handle, values, relations=relations)
    book = _bank_book()
    described = frozenset((table, name) for table, entry in book["tables"].items() for name in entry["columns"])
    derived = automatic_model(handle, values, known=described)
    return _overlay(handle, derived, book)


def is_bank(handle: DatasetHandle) -> bool:
    """Whether the handle has the bank's eight tables, whatever kind of source it came from."""
    for name, columns in _MARKS.items():
        table = handle.table(name)
        if table is None or not columns <= {c.name for c in table.columns}:
            return False
    return True


@cache
def _bank_book() -> dict[str, Any]:
    return yaml.safe_load(_BANK.read_text(encoding="utf-8"))


def _overlay(handle: DatasetHandle, derived: SemanticModel, book: dict[str, Any]) -> SemanticModel:
    tables, columns = [], []
    for model in derived.tables:
        entry = book["tables"].get(model.name)
        table = handle.table(model.name)
        tables.append(_table(model, entry, table) if entry and table else model)
        columns += [
            _column(c, (entry or {}).get("columns", {}).get(c.name), table) for c in derived.of_table(model.name)
        ]
    have = {(c.table, c.name) for c in columns}
    links = _links(book, handle, have)
    named = {(r.child, r.child_column) for r in links}
    links += [
        r for r in derived.relationships if (r.child, r.child_column) not in named and r.child not in book["tables"]
    ]
    paths = [
        p
        for p in (_path(e) for e in book["paths"])
        if all({(s.table, s.column), (s.to_table, s.to_column)} <= have for s in p.steps)
    ]
    return SemanticModel(
        tables=tuple(tables),
        columns=tuple(columns),
        relationships=tuple(links),
        paths=tuple(paths),
        segments=tuple(s for s in (_segment(e) for e in book["segments"]) if _held(s.conditions, have)),
        metrics=tuple(m for m in (_metric(e) for e in book["metrics"]) if _held(m.conditions, have)),
        outcomes=(
            *(o for o in (_outcome(e) for e in book["outcomes"]) if _held(o.positive, have)),
            *(o for o in derived.outcomes if o.table not in book["tables"]),
        ),
        disambiguations=tuple(Disambiguation(**e) for e in book["disambiguations"]),
        concepts=tuple(Concept(**e) for e in book["concepts"]),
        house=tuple(book["house"]),
        ambiguous=tuple(book["ambiguous"]),
    )


def _held(conditions: tuple[Condition, ...], have: set[tuple[str, str]]) -> bool:
    return all((c.table, c.column) in have for c in conditions)


def _table(model: TableModel, entry: dict[str, Any], table: Table) -> TableModel:
    names = {c.name for c in table.columns}
    key = entry["key"] if entry["key"] in names else model.key
    return TableModel(
        name=model.name,
        label=entry["label"],
        plural=entry["plural"],
        synonyms=tuple(entry.get("synonyms", ())),
        rows=table.rows,
        key=key,
        time=entry.get("time") if entry.get("time") in names else None,
        size=entry.get("size"),
        names=tuple(n for n in entry.get("names", ()) if n in names),
        bridge=bool(entry.get("bridge")),
        flows=tuple(f for f in entry.get("flows", ()) if f["column"] in names),
        comment=entry["comment"],
    )


def _column(derived: ColumnModel, entry: dict[str, Any] | None, table: Table | None) -> ColumnModel:
    if entry is None or table is None:
        return derived
    column = table.column(derived.name)
    stored = derived.stored
    if column is not None and column.family == "text":
        stored = {"time": "date_text", "measure": "number_text"}.get(entry["role"], "native")
    meanings = [{"value": code, **meant} for code, meant in entry.get("values", {}).items()]
    return ColumnModel.model_validate(
        {
            **derived.model_dump(),
            "label": entry["label"],
            "role": entry["role"],
            "synonyms": entry.get("words", ()),
            "verbs": entry.get("verbs", ()),
            "unit": entry.get("unit"),
            "described": True,
            "additive": entry.get("additive", False),
            "stored": stored,
            "values": meanings,
            "identifier": entry.get("identifier", False) or entry["role"] == "key",
            "counted": entry.get("counted", ()),
            "bigger": entry.get("bigger", ()),
            "smaller": entry.get("smaller", ()),
        }
    )


def _links(book: dict[str, Any], handle: DatasetHandle, have: set[tuple[str, str]]) -> list[Relationship]:
    links = []
    for entry in book["relationships"]:
        parent = entry["parent"]
        key = book["tables"][parent]["key"]
        child = handle.table(entry["child"])
        column = child.column(entry["child_column"]) if child else None
        if child is None or column is None or (parent, key) not in have:
            continue
        really_one = column.distinct == child.rows - column.nulls
        links.append(
            Relationship(**{**entry, "parent_column": key, "one_to_one": entry.get("one_to_one", False) and really_one})
        )
    return links


def _owned(table: str, entries: list[dict[str, Any]]) -> tuple[Condition, ...]:
    return tuple(Condition(table=table, **e) for e in entries)


def _path(entry: dict[str, Any]) -> RolePath:
    return RolePath.model_validate(entry)


def _segment(entry: dict[str, Any]) -> Segment:
    return Segment.model_validate({**entry, "conditions": _owned(entry["table"], entry["conditions"])})


def _metric(entry: dict[str, Any]) -> Metric:
    lists = {k: _owned(entry["table"], entry.get(k, [])) for k in ("conditions", "unsettled")}
    return Metric.model_validate({**entry, **lists})


def _outcome(entry: dict[str, Any]) -> Outcome:
    lists = {k: _owned(entry["table"], entry[k]) for k in ("positive", "known", "unknown")}
    return Outcome.model_validate({**entry, **lists})
