"""Features of the rows to predict from their own columns and from what they point to (an account, a district), each with
the reason where it is left out.

A column is a feature only when it was known at the row's cut-off date: its table is dated at or before it. What cannot be
proved is left out and said; a person may approve it by name.
"""

from __future__ import annotations

from lexsi_ds.knowledge.model import ColumnModel, Relationship, TableModel
from lexsi_ds.models.task import FeatureDef, FeatureKind
from lexsi_ds.text_to_sql.feature_reasons import general_reason, own_reason, shape_or_date, undated
from lexsi_ds.text_to_sql.probes import Filled
from lexsi_ds.text_to_sql.sqltext import Names, ident
from lexsi_ds.text_to_sql.task_scene import CUTOFF, ROWS, Ancestor, Plan, Scene, Selected


def own_features(scene: Scene, plan: Plan, filled: dict[str, Filled]) -> None:
    """Features from the entity's own columns."""
    for column in scene.model.of_table(scene.entity.name):
        if scene.window is not None and column.name == scene.entity.time and not column.nulls:
            plan.features.append(_age(scene, column))
            continue
        reason = own_reason(scene, column, filled.get(column.name))
        if reason is not None:
            plan.leave_out(column, *reason[:2], approvable=reason[2])
            _guard(scene, plan, column, reason[0], ROWS, ())
            continue
        value = scene.names.read(ROWS, column.table, column.name)
        expression = scene.names.read(column.table, column.table, column.name)
        plan.features.append(_feature(scene, column, column.name, column.label, value, expression))


def _guard(scene: Scene, plan: Plan, column: ColumnModel, reason: str, alias: str, joins: tuple[str, ...]) -> None:
    """Keep a protected column for the comparison of groups; of two with one name the nearest. Not a date: its days are no
    groups."""
    known = {name.casefold() for name in plan.guarded}
    if reason != "protected" or column.role == "time" or column.masked or column.name.casefold() in known:
        return
    plan.guarded[column.name] = f"{scene.names.read(alias, column.table, column.name)} AS {ident(column.name)}"
    plan.guarded_joins += [j for j in joins if j not in plan.guarded_joins]


def _age(scene: Scene, column: ColumnModel) -> Selected:
    """Of a task with one cut-off for all rows: days since the row's own date, which every row has before it."""
    name, label = f"{scene.entity.name}_age_days", f"days from {column.label} to the cut-off"
    days = f"date_diff('day', {scene.names.read(ROWS, column.table, column.name)}, {ROWS}.{CUTOFF})"
    said = f"date_diff('day', {scene.names.raw(column.table, column.name)}, {CUTOFF})"
    feature = FeatureDef(name=name, label=label, kind="numeric", unit="days", expression=said, tables=(column.table,))
    return Selected(feature, f"{days} AS {ident(name)}")


def kind_of(names: Names, column: ColumnModel) -> FeatureKind:
    """How an engine is to read the feature."""
    family = names.family(column.table, column.name)
    if family == "boolean":
        return "boolean"
    if column.role == "category" or (family == "text" and column.stored == "native"):
        return "categorical"
    return "numeric"


def _feature(scene: Scene, column: ColumnModel, name: str, label: str, value: str, expression: str) -> Selected:
    kind = kind_of(scene.names, column)
    if kind == "categorical" and scene.names.family(column.table, column.name) != "text":
        value = f"CAST({value} AS VARCHAR)"
    feature = FeatureDef(
        name=name, label=label, kind=kind, unit=column.unit, expression=expression, tables=(column.table,)
    )
    return Selected(feature, f"{value} AS {ident(name)}" if value != f"{ROWS}.{ident(name)}" else value)


def ancestors(scene: Scene) -> list[Ancestor]:
    """Every table that the rows point to, nearest first, then the declared role paths that start on the way."""
    start = Ancestor(scene.entity, ROWS, (), f"{ROWS}.{ident(scene.key)}", "", near=True)
    found, queue, used = [], [start], {ROWS}
    while queue:
        here = queue.pop(0)
        for link in scene.model.relationships:
            if link.child != here.table.name or link.parent == scene.entity.name:
                continue
            parent = scene.model.table(link.parent)
            if any(a.table.name == parent.name for a in found):
                continue
            through = here is start or (here.near and here.table.bridge)
            alias = _alias(parent.name, used)
            found.append(_up(here, link, parent, alias, near=through))
            queue.append(found[-1])
    by_paths = [a for p in scene.model.paths if p.default for a in _by_path(scene, [start, *found], p.name)]
    return found + [a for a in by_paths if all(a.table.name != f.table.name for f in found)]


def _alias(table: str, used: set[str]) -> str:
    alias = table
    while alias in used:
        alias += "_up"
    used.add(alias)
    return alias


def _up(here: Ancestor, link: Relationship, parent: TableModel, alias: str, *, near: bool) -> Ancestor:
    pointer = f"{ident(here.alias)}.{ident(link.child_column)}"
    named = ident(parent.name) if alias == parent.name else f"{ident(parent.name)} AS {ident(alias)}"
    join = f"LEFT JOIN {named} ON {ident(alias)}.{ident(link.parent_column)} = {pointer}"
    # A direct pointer is enough for children of the parent: the parent itself need not be joined.
    return Ancestor(parent, alias, (*here.joins, join), pointer, link.role, near)


def _by_path(scene: Scene, known: list[Ancestor], name: str) -> list[Ancestor]:
    path = next(p for p in scene.model.paths if p.name == name)
    origin = next((a for a in known if a.table.name == path.start), None)
    if origin is None:
        return []
    joins, here = [], origin.alias
    for step in path.steps:
        alias = f"{path.name}_{step.to_table}"
        left = origin.key_sql if step is path.steps[0] else f"{ident(here)}.{ident(step.column)}"
        line = f"LEFT JOIN {ident(step.to_table)} AS {ident(alias)} ON {ident(alias)}.{ident(step.to_column)} = {left}"
        tests = scene.names.tests(alias, tuple(c for c in path.conditions if c.table == step.to_table))
        joins.append(f"{line} AND {tests}" if tests else line)
        here = alias
    end = scene.model.table(path.end)
    return [Ancestor(end, here, tuple(joins), f"{ident(here)}.{ident(end.key or '')}", path.said, near=False)]


def ancestor_features(scene: Scene, plan: Plan, ancestor: Ancestor, late: int) -> None:
    """Features from a table that rows point to. ``late`` rows of the entity have an ancestor dated after their cut-off."""
    table, added = ancestor.table, False
    dated = scene.cutoff is not None and table.time is not None
    for column in scene.model.of_table(table.name):
        if column.role in ("key", "link"):
            continue
        general = general_reason(column)
        reason = general or (None if dated else undated(scene, table, column)) or shape_or_date(scene, table, column)
        if reason is not None:
            plan.leave_out(column, *reason[:2], approvable=reason[2])
            _guard(scene, plan, column, reason[0], ancestor.alias, ancestor.joins)
            continue
        plan.features.append(_ancestor_feature(scene, ancestor, column, late if dated else 0))
        added = True
    if added:
        plan.joins += [j for j in ancestor.joins if j not in plan.joins]
        if dated and late:
            plan.notes.append(
                f"For {late:,} of {scene.entity.rows:,} {scene.entity.plural} the {table.label} is dated later:"
                " its columns are missing there."
            )


def _ancestor_feature(scene: Scene, ancestor: Ancestor, column: ColumnModel, late: int) -> Selected:
    names, table = scene.names, ancestor.table
    value = names.read(ancestor.alias, table.name, column.name)
    name, label = f"{table.name}_{column.name}", column.label
    if table.label not in label:
        label = f"{label} of the {table.label}"
    if column.role == "time":
        days = f"date_diff('day', {value}, {ROWS}.{CUTOFF})"
        return Selected(
            FeatureDef(
                name=f"{table.name}_age_days",
                label=f"age of the {table.label} at the {scene.entity.label}",
                kind="numeric",
                unit="days",
                tables=(table.name,),
                expression=f"date_diff('day', {names.raw(table.name, column.name)}, {scene.cutoff_said})",
            ),
            f"{_guarded(scene, ancestor, days, late)} AS {ident(f'{table.name}_age_days')}",
        )
    return _feature(
        scene,
        column,
        name,
        label,
        _guarded(scene, ancestor, value, late),
        names.read(table.name, table.name, column.name),
    )


def _guarded(scene: Scene, ancestor: Ancestor, value: str, late: int) -> str:
    if not late or ancestor.table.time is None:
        return value
    when = scene.names.read(ancestor.alias, ancestor.table.name, ancestor.table.time)
    return f"CASE WHEN {when} <= {ROWS}.{CUTOFF} THEN {value} END"
