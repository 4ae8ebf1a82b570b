"""Which rows a task is about: the table, what tells its rows apart, the date they stand at, and what they are called.

One row of the frames is one thing to predict; where an outcome belongs to another table than the one that was named, it says so.
"""

from __future__ import annotations

from lexsi_ds.errors import BadInput
from lexsi_ds.knowledge.model import Outcome, Relationship, SemanticModel, TableModel
from lexsi_ds.models.task import TaskKind
from lexsi_ds.text_to_sql.sqltext import Names, ident
from lexsi_ds.text_to_sql.task_draft import RowsOf
from lexsi_ds.text_to_sql.task_scene import Scene

ROW_NUMBER = "row_number"
"""What tells rows apart where no column does: their place when all columns are sorted."""


def scene_of(
    names: Names, outcome: Outcome, approved: frozenset[str], kind: TaskKind, *, rows_of: RowsOf | None = None
) -> Scene:
    """The scene of an outcome that a column holds; ``rows_of`` names the rows of another table that it is asked of."""
    model = names.model
    entity = model.table(outcome.table)
    key = entity.key or _own_name(model, entity) or _free_name(ROW_NUMBER, model, entity.name)
    scene = Scene(names, outcome, entity, key, cutoff_of(model, entity), approved, kind)
    return scene if rows_of is None else _of_another(scene, rows_of)


def cutoff_of(model: SemanticModel, entity: TableModel) -> str | None:
    """The date column that every row of a table has."""
    column = model.column(entity.name, entity.time) if entity.time else None
    return entity.time if column is not None and not column.nulls else None


def link_to(model: SemanticModel, child: str, parent: str) -> Relationship | None:
    """The one link from a table to another; None where there is none, or several."""
    found = [r for r in model.relationships if (r.child, r.parent) == (child, parent)]
    return found[0] if len(found) == 1 else None


def _of_another(scene: Scene, rows_of: RowsOf) -> Scene:
    """The same outcome asked of the rows of another table: each of those has one row here, or its last one counts."""
    names, entity, owner = scene.names, scene.entity, scene.model.table(rows_of.table)
    link = link_to(scene.model, entity.name, owner.name)
    if link is None:
        raise BadInput(f"{entity.plural.capitalize()} do not belong to {owner.plural} in one way.", where=entity.name,
                       to_do=f"Predict it of {entity.plural}.")  # fmt: skip
    present = f"{names.raw(entity.name, link.child_column)} IS NOT NULL"
    if rows_of.which == "last":
        if scene.cutoff is None or entity.key is None:
            raise BadInput(f"{entity.plural.capitalize()} have no dates, so which is the last is not known.", where=entity.name,
                           to_do=f"Predict it of {entity.plural}.")  # fmt: skip
        key, own = names.raw(entity.name, entity.key), names.raw(entity.name, link.child_column)
        order = f"{names.read(entity.name, entity.name, scene.cutoff)} DESC, {key} DESC"
        last = f"QUALIFY row_number() OVER (PARTITION BY {own} ORDER BY {order}) = 1"
        present += f"\n    AND {key} IN (SELECT {key} FROM {ident(entity.name)} {last})"
    return Scene(
        names, scene.outcome, entity, link.child_column, scene.cutoff, scene.approved, scene.kind,
        label=owner.label, of=owner.name, which=rows_of.which, present=present,
    )  # fmt: skip


def _own_name(model: SemanticModel, entity: TableModel) -> str | None:
    """A column that names every row once, though it is not called a key."""
    found = (c for c in model.of_table(entity.name) if c.identifier and not c.masked)
    return next((c.name for c in found if c.distinct == entity.rows and not c.nulls), None)


def _free_name(name: str, model: SemanticModel, table: str) -> str:
    while model.column(table, name) is not None:
        name += "_"
    return name
