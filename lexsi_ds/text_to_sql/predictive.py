"""The predictive writer: from an outcome to a task with two readable queries, one for the rows that train and one for the
rows to score. General by keys and dates; it knows no data set.

It must never let a column in that could have been written after the row's cut-off, and it says why each one is left out.
"""

from __future__ import annotations

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import BadInput
from lexsi_ds.knowledge.model import ColumnModel, Condition, Outcome, SemanticModel, TableModel
from lexsi_ds.models.task import LeftOut, Split, TaskKind, TaskSpec
from lexsi_ds.text_to_sql import feature_budget
from lexsi_ds.text_to_sql.features import ancestor_features, ancestors, own_features
from lexsi_ds.text_to_sql.histories import add_history, histories, made_of, without_history_sql
from lexsi_ds.text_to_sql.probes import Query, count, counts, probe_columns
from lexsi_ds.text_to_sql.reading import Evidence, Predictive
from lexsi_ds.text_to_sql.sqltext import Names, ident
from lexsi_ds.text_to_sql.task_draft import MISSING, TaskDraft, kind_of, target_values
from lexsi_ds.text_to_sql.task_outcome import outcome_of
from lexsi_ds.text_to_sql.task_review import doubts, edits
from lexsi_ds.text_to_sql.task_scene import CUTOFF, ROWS, Ancestor, Plan, Scene
from lexsi_ds.text_to_sql.task_sql import rows_cte, task_sql
from lexsi_ds.text_to_sql.task_words import apart_of, display_of, group_of, narrowed, notes_of, reading_of, statement_of


def task_reading(draft: TaskDraft, names: Names, query: Query) -> Predictive:
    """The reading of a task, edited or not. Raises BadInput where nothing can be learned that way."""
    values = target_values(draft, names, query)
    outcome, kind = outcome_of(draft, names, values), kind_of(draft, names.column(draft.table, draft.column))
    task = build_task(
        names.handle,
        names.model,
        outcome,
        query,
        question=draft.question,
        kind=kind,
        classes=tuple(sorted((v for v, _, _ in values if v != MISSING), key=_in_order)) if kind == "multiclass" else (),
        only=draft.only,
        only_text=draft.only_text,
        approved=frozenset(draft.put_back),
        taken_out=frozenset(draft.taken_out),
        split=draft.split,
    )
    task = task.model_copy(update={"edits": edits(draft, names, values, task)})
    return Predictive(
        task=task,
        reading=reading_of(task, outcome, draft.top_k),
        evidence=tuple(Evidence(words=w, became=b) for w, b in draft.evidence),
        top_k=draft.top_k,
        wants_why=draft.wants_why,
        draft=draft.model_dump(mode="json"),
        values=values if kind == "binary" else (),
        doubts=doubts(draft, outcome, names),
    )


def _in_order(value: str) -> tuple[float, str]:
    """Numbers by size, words by letters."""
    try:
        return (float(value), value)
    except ValueError:
        return (float("inf"), value)


def build_task(
    handle: DatasetHandle,
    model: SemanticModel,
    outcome: Outcome,
    query: Query,
    *,
    question: str,
    kind: TaskKind = "binary",
    classes: tuple[str, ...] = (),
    only: tuple[Condition, ...] = (),
    only_text: str = "",
    approved: frozenset[str] = frozenset(),
    taken_out: frozenset[str] = frozenset(),
    split: Split | None = None,
) -> TaskSpec:
    """The task of predicting ``outcome``. ``only`` narrows the rows to score, never those that train; ``approved`` holds
    ``table.column`` of undated or protected columns that a person put back, ``taken_out`` names of features to leave out."""
    scene = _scene(handle, model, outcome, approved, kind)
    plan = Plan()
    _gather(scene, plan, query)
    _take_out(plan, taken_out)
    if not plan.features:
        raise BadInput(
            f"No column of {scene.entity.name} was known before the outcome, so nothing can be learned.",
            where=scene.entity.name,
            to_do="Approve columns that were, or connect data with dates.",
        )
    if split is not None and split.by == "time" and scene.cutoff is None:
        raise BadInput(f"{scene.entity.plural.capitalize()} have no dates to split by.", where=scene.entity.name,
                       to_do="Hold rows out at random.")  # fmt: skip
    group = group_of(scene)
    display = display_of(scene)
    display = tuple(dict.fromkeys((*display, *((scene.cutoff,) if scene.cutoff else ()), *((group,) if group else ()))))
    unknown = (*outcome.unknown, *only)
    plan.notes += notes_of(scene, plan)
    return TaskSpec(
        title=outcome.name,
        question=question,
        task_type="regression" if kind == "regression" else "classification",
        classes=classes,
        target_column=outcome.target,
        target_label=outcome.label,
        positive_meaning=outcome.positive_meaning,
        entity_column=scene.key,
        entity_table=outcome.table,
        entity_label=scene.entity.label,
        cutoff_column=scene.cutoff,
        known_meaning=outcome.known_meaning,
        unknown_meaning=narrowed(outcome.unknown_meaning, only_text),
        context_sql=task_sql(scene, plan, display, outcome.known, with_target=True),
        predict_sql=task_sql(scene, plan, display, unknown, with_target=False),
        features=tuple(s.feature for s in plan.features),
        left_out=tuple(plan.left_out),
        display_columns=display,
        apart=apart_of(outcome),
        out_of_fold=outcome.out_of_fold,
        notes=tuple(plan.notes),
        split=split or Split(),
        statement=statement_of(scene, unknown),
        group_column=group,
    )


def _take_out(plan: Plan, names: frozenset[str]) -> None:
    """Leave out features that a person took out; a name that is none of them is an error, not a shrug."""
    known = {s.feature.name: s.feature for s in plan.features}
    strange = sorted(names - known.keys())
    if strange:
        raise BadInput(f"{', '.join(strange)} is no column of this task.", where="task", to_do="Choose among those it lists.")
    plan.features = [s for s in plan.features if s.feature.name not in names]
    plan.left_out += [
        LeftOut(name=name, table=next(iter(feature.tables), ""), reason="by_hand",
                detail=f"{feature.label[:1].upper()}{feature.label[1:]} was taken out by hand.")
        for name, feature in known.items() if name in names
    ]  # fmt: skip


def _scene(
    handle: DatasetHandle, model: SemanticModel, outcome: Outcome, approved: frozenset[str], kind: TaskKind
) -> Scene:
    entity = model.table(outcome.table)
    key = entity.key or _own_name(model, entity) or _free_name(ROW_NUMBER, model, entity.name)
    cutoff = (
        entity.time if entity.time and (column := model.column(entity.name, entity.time)) and not column.nulls else None
    )
    return Scene(Names(handle, model), outcome, entity, key, cutoff, approved, kind)


ROW_NUMBER = "row_number"
"""What tells rows apart where no column does: their place when all columns are sorted."""


def _own_name(model: SemanticModel, entity: TableModel) -> str | None:
    """A column that names every row once, though it is not called a key."""
    found = (c for c in model.of_table(entity.name) if c.identifier and not c.masked)
    return next((c.name for c in found if c.distinct == entity.rows and not c.nulls), None)


def _free_name(name: str, model: SemanticModel, table: str) -> str:
    while model.column(table, name) is not None:
        name += "_"
    return name


def _gather(scene: Scene, plan: Plan, query: Query) -> None:
    own = tuple(c for c in scene.model.of_table(scene.entity.name) if c.name not in scene.outcome.target_columns)
    probed = tuple(c for c in own if c.role not in ("key", "link") and not c.masked)
    own_features(scene, plan, probe_columns(scene.names, scene.outcome, probed, scene.cutoff, query))
    above = ancestors(scene)
    for ancestor in above:
        ancestor_features(scene, plan, ancestor, _late(scene, ancestor, query))
    _event_features(scene, plan, above, query)


def _event_features(scene: Scene, plan: Plan, above: list[Ancestor], query: Query) -> None:
    own = _amounts(scene, plan)
    found = [m for h in histories(scene, above) if (m := made_of(scene, plan, h, own, query)) is not None]
    most = feature_budget.budget(_teaching(scene, query))
    for made, kept in zip(found, feature_budget.chosen([m.aggregates for m in found], most), strict=True):
        add_history(scene, plan, made, kept)
        sql = without_history_sql(scene, made.history)
        none = count(query, sql) if sql else 0
        if none:
            plan.notes.append(
                f"{none:,} of {scene.entity.rows:,} {scene.entity.plural} have no {made.history.table.plural} before their date."
            )
    told = feature_budget.told(sum(len(m.aggregates) for m in found), most)
    if told:
        plan.notes.append(told)


def _teaching(scene: Scene, query: Query) -> int:
    """What there is to learn from: rows of the rarer class, or a part of all where a figure is predicted."""
    known, of = scene.names.tests("t", scene.outcome.known), scene.names.tests("t", scene.outcome.positive)
    rows = f"FROM {ident(scene.entity.name)} AS t WHERE {known}"
    if scene.kind == "binary":
        sides = counts(query, f"SELECT count(*) FILTER (WHERE {of}) AS p, count(*) AS n {rows}")
        return min(sides["p"], sides["n"] - sides["p"])
    return count(query, f"SELECT count(*) AS n {rows}") // feature_budget.FIGURE_ROWS


def _amounts(scene: Scene, plan: Plan) -> list[tuple[str, ColumnModel]]:
    """Amounts of the rows themselves that events are measured against: the one meant by their size, else their only one."""
    used = {s.feature.name for s in plan.features}
    own = [c for c in scene.model.of_table(scene.entity.name) if c.role == "measure" and c.additive and c.name in used]
    sized = [c for c in own if c.name == scene.entity.size]
    return [(c.name, c) for c in (sized or (own if len(own) == 1 else []))]


def _late(scene: Scene, ancestor: Ancestor, query: Query) -> int:
    """Rows of the entity whose ancestor is dated after their cut-off."""
    table = ancestor.table
    if scene.cutoff is None or table.time is None:
        return 0
    when = scene.names.read(ancestor.alias, table.name, table.time)
    joins = " ".join(ancestor.joins)
    rows = f"{rows_cte(scene, (), score=False)} SELECT count(*) AS n FROM {ROWS} {joins} WHERE {when} > {ROWS}.{CUTOFF}"
    return count(query, f"WITH {rows}")
