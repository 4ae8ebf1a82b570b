"""The predictive writer: from an outcome to a task with two readable queries, one for the rows that train and one for the
rows to score. General by keys and dates; it knows no data set.

It must never let a column in that could have been written after the row's cut-off, and it says why each one is left out.
"""

from __future__ import annotations

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import BadInput
from lexsi_ds.knowledge.model import ColumnModel, Condition, Outcome, SemanticModel, TableModel
from lexsi_ds.models.task import Apart, LeftOut, Split, TaskSpec
from lexsi_ds.text_to_sql import feature_budget
from lexsi_ds.text_to_sql.features import ancestor_features, ancestors, own_features
from lexsi_ds.text_to_sql.histories import add_history, histories, made_of, without_history_sql
from lexsi_ds.text_to_sql.probes import Query, count, counts, probe_columns
from lexsi_ds.text_to_sql.reading import Evidence, Predictive
from lexsi_ds.text_to_sql.sqltext import Names, ident
from lexsi_ds.text_to_sql.task_draft import TaskDraft, doubts, edits, outcome_of, target_values
from lexsi_ds.text_to_sql.task_scene import CUTOFF, ROWS, Ancestor, Plan, Scene
from lexsi_ds.text_to_sql.task_sql import rows_cte, task_sql


def task_reading(draft: TaskDraft, names: Names, query: Query) -> Predictive:
    """The reading of a task, edited or not. Raises BadInput where nothing can be learned that way."""
    values = target_values(draft, names, query)
    outcome = outcome_of(draft, names, values)
    task = build_task(
        names.handle,
        names.model,
        outcome,
        query,
        question=draft.question,
        only=draft.only,
        only_text=draft.only_text,
        approved=frozenset(draft.put_back),
        taken_out=frozenset(draft.taken_out),
        split=draft.split,
    )
    task = task.model_copy(update={"edits": edits(draft, names, values, task)})
    reading = (
        f"Rank {task.unknown_meaning} by the probability of {outcome.label} ({outcome.positive_meaning}), learned from"
        f" {task.known_meaning}; the first {draft.top_k}"
    )
    return Predictive(
        task=task,
        reading=reading,
        evidence=tuple(Evidence(words=w, became=b) for w, b in draft.evidence),
        top_k=draft.top_k,
        wants_why=draft.wants_why,
        draft=draft.model_dump(mode="json"),
        values=values,
        doubts=doubts(draft, outcome, names),
    )


def build_task(
    handle: DatasetHandle,
    model: SemanticModel,
    outcome: Outcome,
    query: Query,
    *,
    question: str,
    only: tuple[Condition, ...] = (),
    only_text: str = "",
    approved: frozenset[str] = frozenset(),
    taken_out: frozenset[str] = frozenset(),
    split: Split | None = None,
) -> TaskSpec:
    """The task of predicting ``outcome``. ``only`` narrows the rows to score, never those that train; ``approved`` holds
    ``table.column`` of undated or protected columns that a person put back, ``taken_out`` names of features to leave out."""
    scene = _scene(handle, model, outcome, approved)
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
    display = _display(scene)
    if split is not None and split.by == "time" and scene.cutoff and scene.cutoff not in display:
        display = (*display, scene.cutoff)
    unknown = (*outcome.unknown, *only)
    plan.notes += _notes(scene, plan)
    return TaskSpec(
        title=outcome.name,
        question=question,
        task_type="classification",
        target_column=outcome.target,
        target_label=outcome.label,
        positive_meaning=outcome.positive_meaning,
        entity_column=scene.key,
        entity_table=outcome.table,
        entity_label=scene.entity.label,
        cutoff_column=scene.cutoff,
        known_meaning=outcome.known_meaning,
        unknown_meaning=outcome.unknown_meaning + (f", {only_text}" if only_text else ""),
        context_sql=task_sql(scene, plan, display, outcome.known, with_target=True),
        predict_sql=task_sql(scene, plan, display, unknown, with_target=False),
        features=tuple(s.feature for s in plan.features),
        left_out=tuple(plan.left_out),
        display_columns=display,
        apart=_apart(outcome),
        out_of_fold=outcome.out_of_fold,
        notes=tuple(plan.notes),
        split=split or Split(),
        statement=f"predict {_target_said(outcome)} FOR EACH {scene.entity.label} WHERE {_stated(unknown)}",
    )


def _target_said(outcome: Outcome) -> str:
    """The target as the written form has it: a declared one by its name, any other by its column and values."""
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


def _scene(handle: DatasetHandle, model: SemanticModel, outcome: Outcome, approved: frozenset[str]) -> Scene:
    entity = model.table(outcome.table)
    key = entity.key or _own_name(model, entity) or _free_name(ROW_NUMBER, model, entity.name)
    cutoff = (
        entity.time if entity.time and (column := model.column(entity.name, entity.time)) and not column.nulls else None
    )
    return Scene(Names(handle, model), outcome, entity, key, cutoff, approved)


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


def _apart(outcome: Outcome) -> Apart | None:
    if outcome.apart_column is None or outcome.apart_value is None:
        return None
    return Apart(column=outcome.apart_column, value=outcome.apart_value, label=outcome.apart_label)


def _display(scene: Scene) -> tuple[str, ...]:
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


def _notes(scene: Scene, plan: Plan) -> list[str]:
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
        notes.append(f"Only {outcome.unknown_meaning} are listed.")
    if scene.model.column(entity.name, scene.key) is None:
        notes.append(
            f"No column tells {entity.plural} apart: {scene.key} is a row's place when all columns are sorted. The same thing in"
            " two rows trains twice, which flatters the figures."
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
