"""Keys and relationships of a source: found once a snapshot, confirmed, rejected or added by people, used by joins.

A choice holds for every version of the source whose tables still have the columns. Must never: join by what was rejected or
only suggested.
"""

from __future__ import annotations

import re

from pydantic import ValidationError

from lexsi_ds.data.handle import DatasetHandle, Table, Value
from lexsi_ds.data.key_names import name_score
from lexsi_ds.data.relation_values import Composite, Declared, ForeignKey, Key, Relation, composites
from lexsi_ds.data.relations import find_keys, find_relations, measure, untried
from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.data.statistics import Rows
from lexsi_ds.errors import BadInput, Denied, NotFound, SqlFailed, WorkerFailed
from lexsi_ds.services.access import Actor
from lexsi_ds.services.catalog import Catalog
from lexsi_ds.store.db import Store
from lexsi_ds.store.relations import Choice, ChoiceRecord, Ends, RelationRows
from lexsi_ds.store.sources import Sources, VersionRecord

_FAR_S = 30.0
"""Most seconds that one look at tables of a far side may take; beyond, only what is declared is used."""
_LEAVES_OUT = re.compile(r"[^\w]+")


class RelationSet(Value):
    """Keys and relationships of one snapshot, with what people chose."""

    source_id: str
    snapshot_id: str
    keys: tuple[Key, ...] = ()
    relations: tuple[Relation, ...] = ()
    composites: tuple[Composite, ...] = ()
    """Declared foreign keys of several columns: shown, not used by joins, which take one column."""
    failed: str | None = None
    """Why the tables could not be asked, so that only what is declared is here."""


class Relations:
    """Every read and change of relationships. All methods raise Denied without the right, NotFound for what is not there."""

    def __init__(self, store: Store, catalog: Catalog, sql: SqlRunner) -> None:
        self._catalog, self._sql = catalog, sql
        self._rows, self._sources = RelationRows(store), Sources(store)
        self._failed: dict[str, RelationSet] = {}

    def of(self, actor: Actor, source_id: str, snapshot_id: str | None = None) -> RelationSet:
        """Keys and relationships of a snapshot (the newest by default), looked for when nobody has yet."""
        return self._of(self._catalog.handle(actor, source_id, snapshot_id))

    def confirm(self, actor: Actor, source_id: str, ends: Ends) -> RelationSet:
        """Say that a relationship is right: joins use it, also where it was only suggested."""
        return self._choose(actor, source_id, ends, "confirmed")

    def reject(self, actor: Actor, source_id: str, ends: Ends) -> RelationSet:
        """Say that a relationship is wrong: joins do not use it any more."""
        return self._choose(actor, source_id, ends, "rejected")

    def add(self, actor: Actor, source_id: str, ends: Ends) -> RelationSet:
        """Add one by hand: (child, child column, parent, parent column). Raises BadInput when it cannot be one."""
        return self._choose(actor, source_id, ends, "confirmed")

    def forget(self, actor: Actor, source_id: str, ends: Ends) -> RelationSet:
        """Take a choice back: what was found stands again, what was added by hand goes."""
        return self._choose(actor, source_id, ends, None)

    def for_joins(self, handle: DatasetHandle) -> tuple[Relation, ...]:
        """All that is known of a handle's relationships, for the semantic model: usable ones, and rejected ones to leave out."""
        if len(handle.tables) < 2:
            return ()
        return self._of(handle).relations

    def _choose(self, actor: Actor, source_id: str, ends: Ends, choice: Choice | None) -> RelationSet:
        actor.need("datasets:write")
        handle = self._catalog.handle(actor, source_id)
        source = self._sources.get(source_id)
        if source is None or source.owner != actor.id:
            raise Denied("This source belongs to somebody else.", where=handle.name, to_do="Ask its owner.")
        exact = _checked(handle, ends, lenient=choice != "confirmed")
        if choice == "confirmed":
            self._need_key(handle, exact)
        self._rows.choose(source_id, exact, choice, actor.id)
        return self._of(handle)

    def _of(self, handle: DatasetHandle) -> RelationSet:
        found = self._found(handle)
        choices = {c.ends: c for c in self._rows.choices(handle.source_id)}
        relations = [_chosen(r, choices.pop(r.ends, None)) for r in found.relations]
        added = [c for c in choices.values() if c.choice == "confirmed" and _fits(handle, c.ends)]
        if added:
            relations += self._measured(handle, added)
        confirmed = {r.ends[:2] for r in relations if r.state == "confirmed"}
        kept = [r for r in relations if r.state != "found" or r.origin == "declared" or r.ends[:2] not in confirmed]
        return found.model_copy(update={"relations": tuple(sorted(kept, key=lambda r: r.ends))})

    def _found(self, handle: DatasetHandle) -> RelationSet:
        if handle.snapshot_id in self._failed:
            return self._failed[handle.snapshot_id]
        body = self._rows.found(handle.snapshot_id)
        if body is not None:
            try:
                return RelationSet.model_validate(body)
            except ValidationError:
                pass  # of another version of this program: looked for again, and shown from memory
        tables = [t for t in handle.tables if t.rows]
        said = self._declared(handle)
        made = RelationSet(source_id=handle.source_id, snapshot_id=handle.snapshot_id, composites=composites(tables, said))
        try:
            keys = find_keys(tables, said, lambda sql: self._query(handle, sql))
            relations = find_relations(tables, keys, said, lambda sql: self._query(handle, sql))
        except (SqlFailed, WorkerFailed) as error:
            if all(t.live is None for t in handle.tables):
                raise
            return self._remember(made.model_copy(update={"relations": untried(tables, said), "failed": error.what}))
        made = made.model_copy(update={"keys": keys, "relations": relations})
        self._rows.keep(handle.snapshot_id, made.model_dump(mode="json"))
        return made

    def _remember(self, made: RelationSet) -> RelationSet:
        """Of a far side that could not be asked: for this process alone, so that each question does not wait again."""
        self._failed[made.snapshot_id] = made
        return made

    def _measured(self, handle: DatasetHandle, added: list[ChoiceRecord]) -> list[Relation]:
        bare = [
            Relation(child=c.child, child_column=c.child_column, parent=c.parent, parent_column=c.parent_column,
                     origin="added", state="confirmed", name_score=name_score(*c.ends))
            for c in added
        ]
        return measure(bare, {t.name: t for t in handle.tables}, lambda sql: self._query(handle, sql))

    def _need_key(self, handle: DatasetHandle, ends: Ends) -> None:
        child, child_column, parent, parent_column = ends
        named = Relation(child=child, child_column=child_column, parent=parent, parent_column=parent_column)
        (tried,) = measure([named], {t.name: t for t in handle.tables}, lambda sql: self._query(handle, sql))
        if not tried.to_key:
            raise BadInput(
                f"{parent}.{parent_column} is no key: some of its values repeat, so a join would multiply rows.",
                where=f"{child}.{child_column}", to_do="Choose a column whose values are all different.",
            )

    def _declared(self, handle: DatasetHandle) -> dict[str, Declared]:
        parts = self._sources.parts(handle.source_id, handle.snapshot_id)
        return declared_keys(parts.tables) if parts is not None else {}

    def _query(self, handle: DatasetHandle, sql: str) -> Rows:
        far = any(t.live is not None for t in handle.tables)
        result = self._sql.run(handle, sql, timeout_s=_FAR_S if far else None)
        try:
            return result.arrow().to_pylist()
        finally:
            result.path.unlink(missing_ok=True)


def declared_keys(records: tuple[VersionRecord, ...]) -> dict[str, Declared]:
    """What the database said of each table when it was read, in the names that the tables have here.

    ``read_options["keys"]`` holds ``{"primary": [column], "foreign": [{"columns": [..], "table": name, "to": [..]}]}``, where a
    table may be named with its schema.
    """
    exact: dict[str, str] = {}
    for record in records:
        schema, table = record.read_options.get("schema"), str(record.read_options.get("table", record.name))
        exact[f"{schema}.{table}" if schema else table] = record.name
    folded = {name.casefold(): here for name, here in exact.items()}
    found = {}
    for record in records:
        body = record.read_options.get("keys")
        if isinstance(body, dict):
            foreign = [
                ForeignKey(columns=tuple(each["columns"]), table=here, to=tuple(each["to"]))
                for each in body.get("foreign", ())
                if (here := exact.get(each["table"]) or folded.get(each["table"].casefold())) is not None
            ]
            found[record.name] = Declared(primary=tuple(body.get("primary", ())), foreign=tuple(foreign))
    return found


def diagram(found: RelationSet, handle: DatasetHandle) -> str:
    """The usable and suggested relationships as a Mermaid ``erDiagram``; names are reduced to letters and digits, so no text of
    the data can become markup."""
    names = _safe_names([t.name for t in handle.tables])
    keys = {k.table: set(k.columns) for k in found.keys}
    shown = [r for r in found.relations if r.state != "rejected" and r.child in names and r.parent in names]
    linked = {(r.child, r.child_column) for r in shown} | {(c.child, name) for c in found.composites for name in c.child_columns}
    lines = ["erDiagram"]
    for table in handle.tables:
        lines.append(f"    {names[table.name]} {{")
        lines += _columns(table, keys.get(table.name, set()), linked)
        lines.append("    }")
    for r in shown:
        many = "|o" if r.one_to_one else "}o"
        line = "--" if r.usable else ".."
        label = _LEAVES_OUT.sub(" ", r.child_column).strip() or "link"
        lines.append(f'    {names[r.child]} {many}{line}|| {names[r.parent]} : "{label}"')
    for c in found.composites:
        if c.child in names and c.parent in names:
            label = ", ".join(_LEAVES_OUT.sub(" ", column).strip() or "link" for column in c.child_columns)
            lines.append(f'    {names[c.child]} }}o..|| {names[c.parent]} : "{label}"')
    return "\n".join(lines)


def _columns(table: Table, keys: set[str], linked: set[tuple[str, str]]) -> list[str]:
    """Key and link columns, in order; the others would drown the picture."""
    lines = []
    shown = [c for c in table.columns if c.name in keys or (table.name, c.name) in linked]
    safe = _safe_names([c.name for c in shown])
    for column in shown:
        marks = [m for m, on in (("PK", column.name in keys), ("FK", (table.name, column.name) in linked)) if on]
        kind = _LEAVES_OUT.sub("_", column.type).strip("_") or "type"
        lines.append(f"        {kind} {safe[column.name]} {', '.join(marks)}")
    return lines


def _safe_names(names: list[str]) -> dict[str, str]:
    """Names as Mermaid takes them, each different: ``order details`` becomes ``order_details``."""
    safe: dict[str, str] = {}
    for name in names:
        bare = _LEAVES_OUT.sub("_", name).strip("_") or "x"
        stem = bare if bare[0].isalpha() else f"t_{bare}"
        made, n = stem, 2
        while made in safe.values():
            made, n = f"{stem}_{n}", n + 1
        safe[name] = made
    return safe


def _chosen(relation: Relation, choice: ChoiceRecord | None) -> Relation:
    return relation if choice is None else relation.model_copy(update={"state": choice.choice})


def _fits(handle: DatasetHandle, ends: Ends) -> bool:
    child, parent = handle.table(ends[0]), handle.table(ends[2])
    return child is not None and parent is not None and bool(child.column(ends[1]) and parent.column(ends[3]))


def _checked(handle: DatasetHandle, ends: Ends, *, lenient: bool) -> Ends:
    """The ends in the handle's own spelling."""
    exact: list[str] = []
    families = []
    for table_name, column_name in (ends[:2], ends[2:]):
        table = handle.table(table_name)
        column = table.column(column_name) if table is not None else None
        if table is None or column is None:
            raise NotFound("There is no such column.", where=f"{table_name}.{column_name}"[:80], to_do="Choose one of the list.")
        exact += [table.name, column.name]
        families.append(column.family)
    if exact[:2] == exact[2:]:
        raise BadInput("A column cannot point to itself.", where=".".join(exact[:2]), to_do="Choose another column.")
    if families[0] != families[1] and not lenient:
        raise BadInput(f"A {families[0]} column cannot point to a {families[1]} column.", where=".".join(exact[:2]),
                       to_do="Choose columns of one type.")
    return exact[0], exact[1], exact[2], exact[3]
