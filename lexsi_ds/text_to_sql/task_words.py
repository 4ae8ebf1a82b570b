"""A task in words: its reading in one line, its written form, what is shown beside a row, caveats about the data.

Says what is so, and never that a score is more than it is.
"""

from __future__ import annotations

from lexsi_ds.knowledge.auto_columns import looks_like_key
from lexsi_ds.knowledge.model import ColumnModel, Condition, Outcome
from lexsi_ds.models.task import Apart, TaskSpec
from lexsi_ds.text_to_sql.task_draft import MOST_GRADES
from lexsi_ds.text_to_sql.task_scene import Plan, Scene

_LEAST_GROUPS = 10


def reading_of(task: TaskSpec, outcome: Outcome, top_k: int) -> str:
    """The task in one line."""
    learned = f"learned from {task.known_meaning}; the first {top_k}"
    if task.kind == "regression":
        return f"Estimate {outcome.label} of {task.unknown_meaning}, {learned} by the highest"
    if task.kind == "multiclass":
        return f"Tell which {outcome.label} each of {task.unknown_meaning} has ({', '.join(task.classes)}), {learned}"
    return f"Rank {task.unknown_meaning} by the probability of {outcome.label} ({outcome.positive_meaning}), {learned}"


def statement_of(scene: Scene, unknown: tuple[Condition, ...]) -> str:
    """The task in its written form; it reads back as the same task."""
    outcome = scene.outcome
    which = f" of the last {scene.entity.label}" if scene.which == "last" else ""
    own = outcome.target_columns[:1]
    kept = tuple(c for c in unknown if c.op != "is not null" or (c.column,) != own)
    where = f" WHERE {_stated(kept)}" if kept else ""
    return f"predict {_target_said(scene)}{which} FOR EACH {scene.noun}{where}"


def narrowed(rows: str, only: str) -> str:
    """The rows to score in words, with what narrows them."""
    return f"{rows}, {only}" if only else rows


def group_of(scene: Scene) -> str | None:
    """The column whose rows belong together and must stay on one side of a split: what has several rows, such as a house that
    was sold twice or a customer with many orders. The finest one; None where rows are their own."""
    rows, found = scene.entity.rows, []
    linked = {r.child_column for r in scene.model.relationships if r.child == scene.entity.name and not r.one_to_one}
    for column in scene.model.of_table(scene.entity.name):
        named = column.name in linked or (column.role != "key" and looks_like_key(column.name) and column.distinct * 2 > rows)
        if named and column.name != scene.key and _LEAST_GROUPS <= column.distinct < rows - column.nulls and not column.nulls:
            found.append(column)
    return max(found, key=lambda c: c.distinct).name if found else None


def _target_said(scene: Scene) -> str:
    """The target as the written form has it: a declared one by its name, any other by its column and values."""
    outcome = scene.outcome
    if scene.window is not None:
        return outcome.label
    if scene.kind != "binary":
        column = scene.names.column(scene.entity.name, outcome.target_columns[0])
        number = column.role == "measure"
        if scene.kind == "regression":
            return f"{column.name} as a number" if not number or column.distinct <= MOST_GRADES else column.name
        return f"{column.name} as classes" if number else column.name
    return outcome.label if outcome.id or any(c.op == ">" for c in outcome.positive) else _stated(outcome.positive)


def _stated(conditions: tuple[Condition, ...]) -> str:
    """Tests as the written form of a prediction has them."""
    told = []
    for c in conditions:
        if c.op in ("is null", "is not null"):
            told.append(f"{c.column} is {'missing' if c.op == 'is null' else 'known'}")
        elif c.op == "in" and len(c.values) > 1:
            told.append(f"{c.column} IN ({', '.join(c.values)})")
        else:
            told.append(f"{c.column} {'=' if c.op == 'in' else c.op} {next(iter(c.values), '')}")
    return " AND ".join(told)


def apart_of(outcome: Outcome) -> Apart | None:
    """Rows that are scored but listed on their own."""
    if outcome.apart_column is None or outcome.apart_value is None:
        return None
    return Apart(column=outcome.apart_column, value=outcome.apart_value, label=outcome.apart_label)


def display_of(scene: Scene) -> tuple[str, ...]:
    """The outcome's own choice, else its column and what tells rows apart at a glance."""
    if len(scene.outcome.display) > 1:
        return tuple(n for n in scene.outcome.display if scene.model.column(scene.entity.name, n))
    own = [c for c in scene.model.of_table(scene.entity.name) if not (c.masked or c.protected) and c.name != scene.key]
    names = [c for c in own if c.name in scene.entity.names]
    dates = [c for c in own if c.name == scene.cutoff]
    sorts = [c for c in own if c.role == "category" and 2 < c.distinct <= 12]
    measures = [c for c in own if c.role == "measure" and c.distinct > 12]
    picked: list[ColumnModel] = [*names[:2], *dates, *sorts[-1:], *measures[:2]]
    return tuple(dict.fromkeys((*scene.outcome.display, *(c.name for c in picked))))


def notes_of(scene: Scene, plan: Plan) -> list[str]:
    """Caveats about the data, in sentences."""
    entity, outcome, notes = scene.entity, scene.outcome, []
    if scene.cutoff:
        notes.append(
            f"Every feature was known on the {entity.label}'s own date ({scene.cutoff}): dated rows of other tables count only"
            f" strictly before it, and the {entity.label}'s own terms count as known on it."
        )
    else:
        notes.append(
            f"{entity.plural.capitalize()} have no dates, so nothing proves that their columns were known before the outcome."
        )
    if outcome.out_of_fold:
        notes.append(
            f"No {entity.label} has an unknown outcome: each score is out of fold, made by models that did not see that row."
        )
        if outcome.unknown != outcome.known:
            notes.append(f"Only {outcome.unknown_meaning} are listed.")
    if scene.model.column(entity.name, scene.key) is None:
        twice = "" if group_of(scene) else " The same thing in two rows trains twice, which flatters the figures."
        notes.append(f"No column tells {entity.plural} apart: {scene.key} is a row's place when all columns are sorted.{twice}")
    if scene.of:
        owners = scene.model.table(scene.of)
        last = "the last" if scene.which == "last" else "the"
        notes.append(
            f"{outcome.label[:1].upper()}{outcome.label[1:]} is recorded of {entity.plural}: for each {scene.noun} it is that of"
            f" {last} {entity.label}. {owners.plural.capitalize()} without one are left out."
        )
    return notes + [note for s in plan.features if (note := _missing(scene, s.feature.name))]


def _missing(scene: Scene, name: str) -> str | None:
    column = scene.model.column(scene.entity.name, name)
    if column is None or not column.nulls:
        return None
    values = "value" if column.nulls == 1 else "values"
    if column.stored == "number_text":
        return f"{column.nulls:,} blank {values} of {column.name} count as missing."
    return f"{column.nulls:,} {values} of {column.name} {'is' if column.nulls == 1 else 'are'} missing."
