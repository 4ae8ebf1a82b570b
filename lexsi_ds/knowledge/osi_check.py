"""Checks a semantic model file against its source before it is saved: names that exist, expressions that bind, keys that are keys.

Every expression and every verified question goes through the one guard and is bound by the database; it changes nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import pandas as pd

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import BadInput, LexsiError
from lexsi_ds.knowledge import meanings as mn
from lexsi_ds.knowledge import osi
from lexsi_ds.knowledge.distinct import quoted
from lexsi_ds.knowledge.metric_sql import condition_sql, expression_of, shape_of
from lexsi_ds.knowledge.model import Condition, Metric, VerifiedQuestion
from lexsi_ds.knowledge.osi_read import column_of, grain_of, table_of
from lexsi_ds.knowledge.osi_text import Issue, Located, Path
from lexsi_ds.knowledge.verified_sql import filled_sql


@dataclass
class Check:
    """One check of one file. ``query`` runs guarded SQL on the source; ``stale`` are parts that were right once."""

    document: osi.Document
    located: Located
    handle: DatasetHandle
    query: Callable[[str], pd.DataFrame]
    stale: Collection[str] = ()
    issues: list[Issue] = field(default_factory=list)

    def run(self) -> list[Issue]:
        """Everything that is wrong, by line."""
        self.have = {(t.name, c.name) for t in self.handle.tables for c in t.columns}
        self.tables: dict[str, str] = {}
        self._doubles(("datasets",), [d.name for d in self._model.datasets], "dataset")
        for i, dataset in enumerate(self._model.datasets):
            self._dataset(i, dataset)
        told = self._model.relationships or ()
        self._doubles(("relationships",), [r.name for r in told], "relationship")
        for i, relationship in enumerate(told):
            self._relationship(i, relationship)
        metrics = self._model.metrics or ()
        self._doubles(("metrics",), [m.name for m in metrics], "metric")
        for i, metric in enumerate(metrics):
            self._metric(i, metric)
        self._whole()
        return sorted(self.issues, key=lambda i: (i.line, i.level, i.what))

    @property
    def _model(self) -> osi.OsiModel:
        return self.document.model

    def _say(self, path: Path, what: str, *, warn: bool = False) -> None:
        line = self.located.line(("semantic_model", 0, *path))
        issue = Issue(line, what, "warning" if warn else "error")
        if issue not in self.issues:
            self.issues.append(issue)

    def _doubles(self, path: Path, names: list[str], kind: str) -> None:
        seen: dict[str, int] = {}
        for i, name in enumerate(names):
            first = seen.setdefault(name.casefold(), i)
            if first != i:
                line = self.located.line(("semantic_model", 0, *path, first))
                self._say((*path, i), f"a second {kind} is called {name!r}; the first is on line {line}")

    def _dataset(self, i: int, dataset: osi.OsiDataset) -> None:
        table = table_of(self.handle, dataset)
        path: Path = ("datasets", i)
        if table is None:
            names = [t.name for t in self.handle.tables]
            self._unknown((*path, "source"), dataset.name, f"there is no table {dataset.source!r}", dataset.source, names)
            return
        self.tables[dataset.name.casefold()] = table
        for place, column in [("primary_key", c) for c in dataset.primary_key] + [
            ("unique_keys", c) for k in dataset.unique_keys for c in k
        ]:
            self._column((*path, place), table, column)
        meaning = mn.meaning_of(dataset, mn.DatasetMeaning)
        if meaning is not None:
            place = self._ours(path, dataset)
            for name, column in [("time", meaning.time), ("size", meaning.size), *(("names", n) for n in meaning.names)]:
                if column is not None:
                    self._column((*place, name), table, column)
            self._default_date((*place, "time"), table, meaning.time, dataset)
        self._doubles((*path, "fields"), [f.name for f in dataset.fields], f"field of {table}")
        for j, entry in enumerate(dataset.fields):
            self._field((*path, "fields", j), table, entry)

    def _default_date(self, path: Path, table: str, column: str | None, dataset: osi.OsiDataset) -> None:
        found = self.handle.table(table)
        stored = found.column(column) if found and column else None
        roles = {column_of(f): m.role for f in dataset.fields if (m := mn.meaning_of(f, mn.FieldMeaning))}
        if stored is not None and stored.family != "date" and roles.get(stored.name) != "time":
            self._say(path, f"{table}.{column} holds no dates, so it cannot be the default date")

    def _field(self, path: Path, table: str, entry: osi.OsiField) -> None:
        sql = entry.expression.sql
        where = _line_of(path, entry.expression)
        if sql is None:
            self._say(where, f"field {entry.name!r} has no expression in {' or '.join(osi.OURS)}", warn=True)
            return
        try:
            shape = shape_of(sql, (table,))
        except ValueError as error:
            self._say(where, f"the expression of {entry.name!r} is wrong: {error}")
            return
        if shape.aggregates:
            self._say(where, f"the expression of {entry.name!r} aggregates rows; that is a metric")
            return
        column = column_of(entry)
        if column is not None:
            self._column(where, table, column)
        elif self._bound(where, f"SELECT {shape.sql}\nAS v FROM {quoted(table)}", f"the expression of {entry.name!r}"):
            self._say(where, f"{entry.name!r} is worked out; it is kept, but questions do not use it yet", warn=True)

    def _column(self, path: Path, table: str, column: str) -> bool:
        if (table, column) in self.have:
            return True
        found = self.handle.table(table)
        names = [c.name for c in found.columns] if found else []
        folded = {n.casefold(): n for n in names}
        if column.casefold() in folded:
            self._say(path, f"the column is written {folded[column.casefold()]!r} in {table}, not {column!r}")
            return False
        self._unknown(path, f"{table}.{column}", f"{table} has no column {column!r}", column, names)
        return False

    def _unknown(self, path: Path, what: str, said: str, name: str, names: list[str]) -> None:
        """An unknown name: an error, or only a warning where it was right once."""
        if what in self.stale:
            self._say(path, f"{said} any more; what the file says of it is kept and not used", warn=True)
            return
        folded = {n.casefold(): n for n in names}
        near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)
        advice = f"did you mean {folded[near[0]]!r}?" if near else f"there are: {', '.join(names[:12])}"
        self._say(path, f"{said}; {advice}")

    def _relationship(self, i: int, told: osi.OsiRelationship) -> None:
        path: Path = ("relationships", i)
        ends = []
        for side, name, columns in (("from", told.from_, told.from_columns), ("to", told.to, told.to_columns)):
            table = self.tables.get(name.casefold())
            if table is None:
                if any(d.name.casefold() == name.casefold() for d in self._model.datasets):
                    return  # said of the dataset already
                names = [d.name for d in self._model.datasets]
                self._unknown((*path, side), name, f"there is no dataset {name!r}", name, names)
                return
            known = [self._column((*path, f"{side}_columns"), table, c) for c in columns]
            if not all(known):
                return
            ends.append((table, columns))
        if len(told.from_columns) != len(told.to_columns):
            sides = f"{len(told.from_columns)} columns on one side, {len(told.to_columns)} on the other"
            self._say(path, f"relationship {told.name!r} has {sides}")
        elif len(told.from_columns) > 1:
            said = "is of several columns; it is kept, but joins do not use it yet"
            self._say(path, f"relationship {told.name!r} {said}", warn=True)
        else:
            self._link(path, told.name, (ends[0][0], ends[0][1][0]), (ends[1][0], ends[1][1][0]))

    def _link(self, path: Path, name: str, child: tuple[str, str], parent: tuple[str, str]) -> None:
        families = [c.family for t, n in (child, parent) if (found := self.handle.table(t)) and (c := found.column(n))]
        if child == parent:
            self._say(path, f"relationship {name!r} leads from a column to itself")
        elif families[0] != families[-1]:
            self._say(path, f"relationship {name!r} leads from a {families[0]} column to a {families[-1]} column")
        else:
            key = quoted(parent[1])
            sql = f"SELECT count({key}) = count(DISTINCT {key}) AS sole FROM {quoted(parent[0])}"
            frame = self._run(path, sql, f"relationship {name!r}")
            if frame is not None and not bool(frame["sole"].tolist()[0]):
                said = f"{'.'.join(parent)} is no key: its values repeat, so a join would multiply rows"
                self._say((*path, "to_columns"), said)

    def _metric(self, i: int, told: osi.OsiMetric) -> None:
        path = _line_of(("metrics", i), told.expression)
        sql = told.expression.sql
        if sql is None:
            said = f"has no expression in {' or '.join(osi.OURS)}; it is kept, not used"
            self._say(path, f"metric {told.name!r} {said}", warn=True)
            return
        meaning = mn.meaning_of(told, mn.MetricMeaning)
        try:
            known = {t.name.casefold(): t.name for t in self.handle.tables} | self.tables
            if meaning is None and len({known.get(t, t) for t in shape_of(sql).tables}) > 1:
                said = "is over several tables; it is kept, but questions do not use it yet"
                self._say(path, f"metric {told.name!r} {said}", warn=True)
                return
            grain = meaning.table if meaning else grain_of(sql, known, self.have)
            aliases = {grain, *(n for n, t in known.items() if t == grain)}
            shape = shape_of(sql, aliases)
        except ValueError as error:
            self._say(path, f"the expression of metric {told.name!r} is wrong: {error}")
            return
        if grain not in {t for t, _ in self.have}:
            self._unknown(path, grain, f"there is no table {grain!r}", grain, sorted({t for t, _ in self.have}))
            return
        if not shape.aggregates:
            self._say(path, f"metric {told.name!r} does not aggregate: write SUM(...), AVG(...), COUNT(...) or another")
            return
        place = self._ours(("metrics", i), told)
        tests = self._conditions((*place, "conditions"), meaning.conditions if meaning else ())
        if all((grain, c) in self.have or f"{grain}.{c}" not in self.stale for _, c in shape.columns):
            where = f"\nWHERE {tests}" if tests and meaning and meaning.kind == "formula" else ""
            sql = f"SELECT {shape.sql}\nAS v FROM {quoted(grain)}{where}"
            self._bound(path, sql, f"the expression of metric {told.name!r}")
        else:
            said = "uses a column that is not there any more; it is kept and not used"
            self._say(path, f"metric {told.name!r} {said}", warn=True)
        self._kind(path, told, meaning, grain, shape.column)

    def _kind(self, path: Path, told: osi.OsiMetric, meaning: mn.MetricMeaning | None, grain: str, column: str) -> None:
        """A rate, sum or average is what its kind says; its expression must say the same."""
        if meaning is None or meaning.kind == "formula":
            return
        more = meaning.model_dump(include={"label", "kind", "hits"})
        meant = Metric(id=told.name, table=grain, words=(), column=column or None, conditions=meaning.conditions, **more)
        if meaning.kind == "rate" and not meaning.conditions:
            self._say(path, f"metric {told.name!r} is a rate without conditions: they say which rows count")
        elif shape_of(expression_of(meant), (grain,)).sql != shape_of(told.expression.sql or "", (grain,)).sql:
            said = f"is not that of its kind {meaning.kind!r}: change the kind to 'formula'"
            self._say(path, f"the expression of metric {told.name!r} {said}")

    def _conditions(self, path: Path, conditions: tuple[Condition, ...]) -> str:
        good = [c for i, c in enumerate(conditions) if self._condition((*path, i), c)]
        return " AND ".join(condition_sql(c) for c in good)

    def _condition(self, path: Path, condition: Condition) -> bool:
        if self.handle.table(condition.table) is None:
            names = sorted({t for t, _ in self.have})
            self._unknown(path, condition.table, f"there is no table {condition.table!r}", condition.table, names)
            return False
        return self._column(path, condition.table, condition.column)

    def _whole(self) -> None:
        meaning = mn.meaning_of(self._model, mn.ModelMeaning)
        if meaning is None:
            return
        path = self._ours((), self._model)
        for i, segment in enumerate(meaning.segments):
            self._conditions((*path, "segments", i, "conditions"), segment.conditions)
        for i, outcome in enumerate(meaning.outcomes):
            for name in ("positive", "known", "unknown"):
                self._conditions((*path, "outcomes", i, name), getattr(outcome, name))
        for i, way in enumerate(meaning.paths):
            for k, step in enumerate(way.steps):
                for table, column in ((step.table, step.column), (step.to_table, step.to_column)):
                    self._condition((*path, "paths", i, "steps", k), Condition(table=table, column=column, op="is not null"))
        self._doubles((*path, "verified"), [v.question for v in meaning.verified], "verified question")
        for i, each in enumerate(meaning.verified):
            self._verified((*path, "verified", i), each)

    def _verified(self, path: Path, each: VerifiedQuestion) -> None:
        """Its SQL must run with the values it was checked with, and each parameter stand in its words and its SQL."""
        for parameter in each.parameters:
            if any(f"{{{parameter.name}}}" not in text for text in (each.question, each.sql)):
                self._say(path, f"the parameter {parameter.name!r} is not in both the question and its SQL")
        try:
            sql = filled_sql(each)
        except BadInput as error:
            self._say(path, error.what)
            return
        self._bound(path, sql, f"the SQL of {each.question!r}")

    def _bound(self, path: Path, sql: str, what: str) -> bool:
        return self._run(path, f"SELECT * FROM (\n{sql}\n) AS q LIMIT 0", what) is not None

    def _run(self, path: Path, sql: str, what: str) -> pd.DataFrame | None:
        try:
            return self.query(sql)
        except LexsiError as error:
            self._say(path, f"{what} does not run: {error}")
            return None

    def _ours(self, path: Path, part: osi.Described) -> Path:
        place = mn.place_of(part)
        return (*path, "custom_extensions", place or 0, "data", "json", mn.KEY)


def _line_of(path: Path, expression: osi.Expression) -> Path:
    """Where the text of an expression stands."""
    place = next((i for i, d in enumerate(expression.dialects) if d.dialect in osi.OURS), 0)
    return (*path, "expression", "dialects", place, "expression")


def check(
    document: osi.Document, located: Located, handle: DatasetHandle, query: Callable[[str], pd.DataFrame],
    stale: Collection[str] = (),
) -> list[Issue]:
    """Everything that is wrong with a file, by line; warnings do not keep it from being saved."""
    return Check(document, located, handle, query, stale).run()
