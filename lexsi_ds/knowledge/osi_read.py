"""An OSI file laid over what is derived of a source: the file says what things mean, the data says what there is.

What the file says of a table or column that is no longer there is left out of the model and told as stale; the file keeps it.
What the file does not speak of stays as it was derived.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.data.relations import Relation
from lexsi_ds.knowledge import meanings as mn
from lexsi_ds.knowledge import osi
from lexsi_ds.knowledge.metric_sql import shape_of
from lexsi_ds.knowledge.model import (
    ColumnModel,
    Condition,
    Formula,
    Metric,
    Relationship,
    SemanticModel,
    TableModel,
)


@dataclass(frozen=True)
class Stale:
    """A part of a file that the data no longer carries."""

    path: tuple[str | int, ...]
    what: str
    """"loan.amount", "metric default_rate"."""
    why: str


@dataclass
class Overlay:
    """One file on its way into one model."""

    document: osi.Document
    base: SemanticModel
    handle: DatasetHandle
    relations: Sequence[Relation] = ()
    stale: list[Stale] = field(default_factory=list)

    def model(self) -> SemanticModel:
        """The model that the file and the data make together."""
        whole = self.document.model
        self._tables_of_names()
        tables, columns = [], []
        for table in self.base.tables:
            found = next(((i, d) for i, d in enumerate(whole.datasets) if self.names[d.name.casefold()] == table.name), None)
            derived = self.base.of_table(table.name)
            of_table = [self._column(found, c) for c in derived] if found else list(derived)
            columns += of_table
            tables.append(self._table(found[1], table, of_table) if found else table)
        self._missing_fields()
        self.have = {(c.table, c.name) for c in columns}
        self.base_now = self.base.model_copy(update={"tables": tuple(tables), "columns": tuple(columns)})
        changed = {**self._links(), **self._metrics(), **self._rest()}
        linked = {(r.child, r.child_column) for r in changed["relationships"]}
        columns = [
            c.model_copy(update={"role": "link", "additive": False}) if (c.table, c.name) in linked and c.role == "measure" else c
            for c in columns
        ]
        return self.base_now.model_copy(update={"columns": tuple(columns), **changed})

    def _tables_of_names(self) -> None:
        """Which table each dataset of the file is about; "" when there is none."""
        self.names: dict[str, str] = {}
        for i, dataset in enumerate(self.document.model.datasets):
            table = table_of(self.handle, dataset)
            self.names[dataset.name.casefold()] = table or ""
            if table is None:
                self._note(("datasets", i), dataset.name, "there is no such table any more")

    def _note(self, path: tuple[str | int, ...], what: str, why: str) -> None:
        self.stale.append(Stale(("semantic_model", 0, *path), what, why))

    def _missing_fields(self) -> None:
        for i, dataset in enumerate(self.document.model.datasets):
            table = self.names[dataset.name.casefold()]
            if not table:
                continue
            known = {c.name for c in self.base.of_table(table)}
            for j, entry in enumerate(dataset.fields):
                column = column_of(entry)
                if column is not None and column.casefold() not in {k.casefold() for k in known}:
                    self._note(("datasets", i, "fields", j), f"{table}.{column}", "there is no such column any more")

    def _table(self, dataset: osi.OsiDataset, base: TableModel, columns: list[ColumnModel]) -> TableModel:
        meaning = mn.meaning_of(dataset, mn.DatasetMeaning)
        names = {c.name for c in columns}
        changed: dict[str, Any] = {"comment": dataset.description or ("" if meaning else base.comment)}
        if meaning is not None:
            changed |= {
                "label": meaning.label, "plural": meaning.plural, "names": tuple(n for n in meaning.names if n in names),
                "time": meaning.time if meaning.time in names else None, "bridge": meaning.bridge,
                "size": meaning.size if meaning.size in names else None,
                "flows": tuple(f for f in meaning.flows if f.column in names),
                "key": next((k for k in dataset.primary_key[:1] if k in names), None),
            }  # fmt: skip
        synonyms = dataset.synonyms
        if synonyms is not None or meaning is not None:
            changed["synonyms"] = synonyms or ()
        return base.model_copy(update=changed)

    def _column(self, found: tuple[int, osi.OsiDataset], base: ColumnModel) -> ColumnModel:
        fields = {(column_of(f) or "").casefold(): f for f in found[1].fields}
        entry = fields.get(base.name.casefold())
        if entry is None:
            return base
        meaning = mn.meaning_of(entry, mn.FieldMeaning)
        changed: dict[str, Any] = {}
        if meaning is not None:
            changed |= meaning.model_dump(exclude={"role", "values"}) | {"values": meaning.values, "comment": ""}
            changed |= {"role": meaning.role} if meaning.role else {}
        elif entry.dimension is not None and entry.dimension.is_time and base.role == "text":
            changed["role"] = base.role
        changed |= {"label": entry.label} if entry.label else {}
        changed |= {"comment": entry.description} if entry.description else {}
        if entry.synonyms is not None or meaning is not None:
            changed["synonyms"] = entry.synonyms or ()
        return base.model_copy(update=changed)

    def _links(self) -> dict[str, Any]:
        told = self.document.model.relationships
        if told is None:
            return {"relationships": self.base.relationships, "hierarchies": self.base.hierarchies}
        links = [link for i, r in enumerate(told) if (link := self._link(i, r)) is not None]
        rejected = {r.ends for r in self.relations if r.state == "rejected"}
        links = [x for x in links if (x.child, x.child_column, x.parent, x.parent_column) not in rejected]
        named = {(x.child, x.child_column) for x in links}
        confirmed = {r.ends[:2] for r in self.relations if r.state == "confirmed"}
        spoken = self._spoken_columns()
        for link in (*self.base.relationships, *self.base.hierarchies):
            ends = (link.child, link.child_column)
            if ends not in named and (ends in confirmed or ends not in spoken):
                links.append(link)
        return {
            "relationships": tuple(x for x in links if x.child != x.parent),
            "hierarchies": tuple(x for x in links if x.child == x.parent),
        }

    def _spoken_columns(self) -> set[tuple[str, str]]:
        """Columns that the file knows: a link of theirs that it does not list was taken out."""
        return {
            (table, column_of(f) or "")
            for d in self.document.model.datasets
            if (table := self.names[d.name.casefold()])
            for f in d.fields
        }

    def _link(self, i: int, told: osi.OsiRelationship) -> Relationship | None:
        child, parent = (self.names.get(n.casefold(), "") for n in (told.from_, told.to))
        if len(told.from_columns) != 1 or len(told.to_columns) != 1:
            return None  # a link of several columns is kept in the file; no join of ours uses it
        ends = (child, told.from_columns[0]), (parent, told.to_columns[0])
        missing = [f"{t or n}.{c}" for (t, c), n in zip(ends, (told.from_, told.to), strict=True) if (t, c) not in self.have]
        if missing:
            self._note(("relationships", i), f"relationship {told.name}", f"there is no {' and no '.join(missing)} any more")
            return None
        table = self.handle.table(child)
        column = table.column(told.from_columns[0]) if table else None
        alone = table is not None and column is not None and table.rows > 1 and column.distinct == table.rows - column.nulls
        meaning = mn.meaning_of(told, mn.RelationshipMeaning)
        label = self.base_now.table(child).label
        return Relationship(
            child=child, child_column=told.from_columns[0], parent=parent, parent_column=told.to_columns[0],
            role=meaning.role if meaning else f"the {label}'s {self.base_now.table(parent).label}", words=told.synonyms or (),
            nouns=meaning.nouns if meaning else (), one_to_one=alone and (meaning is None or meaning.one_to_one),
        )  # fmt: skip

    def _metrics(self) -> dict[str, Any]:
        told = self.document.model.metrics
        if told is None:
            return {"metrics": self.base.metrics, "formulas": self.base.formulas}
        made = [m for i, each in enumerate(told) if (m := self._metric(i, each)) is not None]
        known = set(self.names.values())
        made += [m for m in (*self.base.metrics, *self.base.formulas) if m.table not in known]
        return {
            "metrics": tuple(m for m in made if isinstance(m, Metric)),
            "formulas": tuple(m for m in made if isinstance(m, Formula)),
        }

    def _metric(self, i: int, told: osi.OsiMetric) -> Metric | Formula | None:
        meaning = mn.meaning_of(told, mn.MetricMeaning)
        sql = told.expression.sql
        try:
            grain = meaning.table if meaning else grain_of(sql or "", self.names, self.have)
            aliases = {grain, *(n for n, t in self.names.items() if t == grain)}
            shape = shape_of(sql or "", aliases)
        except ValueError:
            return None
        missing = [f"{grain}.{c}" for t, c in shape.columns if (grain, c) not in self.have and t not in shape.tables]
        conditions = (*meaning.conditions, *meaning.unsettled) if meaning else ()
        missing += [f"{c.table}.{c.column}" for c in conditions if (c.table, c.column) not in self.have]
        if missing:
            self._note(("metrics", i), f"metric {told.name}", f"there is no {' and no '.join(dict.fromkeys(missing))} any more")
            return None
        if shape.tables:
            return None  # over several tables: kept in the file, used by nobody yet
        return made_metric(told, meaning, grain, shape)

    def _rest(self) -> dict[str, Any]:
        whole = self.document.model
        meaning = mn.meaning_of(whole, mn.ModelMeaning)
        instructions = whole.instructions or self.base.instructions
        if meaning is None:
            return {"instructions": instructions}
        body = meaning.model_dump(exclude={"paths", "segments", "outcomes"})
        known = set(body)
        kept: dict[str, Any] = {name: getattr(meaning, name) for name in known}
        kept["paths"] = tuple(p for p in meaning.paths if self._held(f"path {p.name}", p.conditions, p.steps))
        kept["segments"] = tuple(s for s in meaning.segments if self._held(f"segment {s.label}", s.conditions))
        kept["outcomes"] = tuple(
            o for o in meaning.outcomes if self._held(f"outcome {o.name}", (*o.positive, *o.known, *o.unknown))
        )
        kept["outcomes"] += tuple(o for o in self.base.outcomes if o.table not in self.names.values())
        return {"instructions": whole.instructions, **kept}

    def _held(self, what: str, conditions: Sequence[Condition], steps: Sequence[Any] = ()) -> bool:
        needed = {(c.table, c.column) for c in conditions}
        needed |= {e for s in steps for e in ((s.table, s.column), (s.to_table, s.to_column))}
        missing = sorted(f"{t}.{c}" for t, c in needed - self.have)
        if missing:
            self._note(("custom_extensions",), what, f"there is no {' and no '.join(missing)} any more")
        return not missing


def made_metric(told: osi.OsiMetric, meaning: mn.MetricMeaning | None, grain: str, shape: Any) -> Metric | Formula:
    """A metric of the file as one of the model: plain ones as such, all others as formulas."""
    words, text = told.synonyms or (), told.description or ""
    label = meaning.label if meaning else told.name.replace("_", " ")
    if meaning is not None and meaning.kind != "formula":
        more = meaning.model_dump(exclude={"label", "table", "kind", "conditions", "unsettled"})
        return Metric(
            id=told.name, label=label, table=grain, words=words, kind=meaning.kind, text=text, conditions=meaning.conditions,
            column=shape.column or None if meaning.kind != "rate" else None, unsettled=meaning.unsettled, **more,
        )  # fmt: skip
    if meaning is None and shape.column and shape.fn != "other":
        return Metric(id=told.name, label=label, table=grain, words=words, kind=shape.fn, column=shape.column, text=text)
    return Formula(
        id=told.name, label=label, table=grain, words=words, expression=shape.sql, row=shape.row, fn=shape.fn, text=text,
        conditions=meaning.conditions if meaning else (), unit=meaning.unit if meaning else None,
    )  # fmt: skip


def table_of(handle: DatasetHandle, dataset: osi.OsiDataset) -> str | None:
    """The table that a dataset of a file is about: by the last part of its source; by its name where the source is a query."""
    names = (dataset.name,) if "(" in dataset.source else (dataset.source, dataset.source.rsplit(".", 1)[-1].strip('"'))
    for name in names:
        table = handle.table(name)
        if table is not None:
            return table.name
    return None


def column_of(entry: osi.OsiField) -> str | None:
    """The column that a field is; None for a field that is worked out."""
    try:
        shape = shape_of(entry.expression.sql or "")
    except ValueError:
        return None
    name = shape.columns[0][1] if len(shape.columns) == 1 else None
    return name if name is not None and shape.sql.split(".")[-1] == '"' + name.replace('"', '""') + '"' else None


def grain_of(sql: str, names: dict[str, str], have: set[tuple[str, str]]) -> str:
    """The one table that an expression is over, by the names of datasets or by its bare columns. ValueError when none is."""
    shape = shape_of(sql)
    named = {names.get(t, t) for t in shape.tables}
    if not named:
        every = {t for t, _ in have}
        named = {t for t in every if all((t, c) in have for _, c in shape.columns)} if shape.columns else set()
    if len(named) != 1:
        raise ValueError("it does not say over which table: write table.column")
    return named.pop()


def read_over(
    document: osi.Document, base: SemanticModel, handle: DatasetHandle, relations: Sequence[Relation] = ()
) -> tuple[SemanticModel, tuple[Stale, ...]]:
    """The model that a file makes of a source, and what of the file the data no longer carries."""
    overlay = Overlay(document, base, handle, relations)
    model = overlay.model()
    return model, tuple(overlay.stale)
