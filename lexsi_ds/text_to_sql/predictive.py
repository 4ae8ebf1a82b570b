"""The predictive writer: from an outcome to a task with two readable queries, one for the rows that train and one for the
rows to score. General by keys and dates; it knows no data set.

It must never let a column in that could have been written after the row's cut-off, and it says why each one is left out.
"""

from __future__ import annotations

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import BadInput
from lexsi_ds.knowledge.model import Condition, Outcome, SemanticModel
from lexsi_ds.models.task import LeftOut, Split, TaskSpec
from lexsi_ds.text_to_sql.feature_gather import gather
from lexsi_ds.text_to_sql.probes import Query
from lexsi_ds.text_to_sql.reading import Evidence, Predictive
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.task_draft import MISSING, TaskDraft, Values, kind_of, target_values
from lexsi_ds.text_to_sql.task_horizon import horizon_notes, horizon_scene
from lexsi_ds.text_to_sql.task_outcome import outcome_of
from lexsi_ds.text_to_sql.task_review import doubts, edits
from lexsi_ds.text_to_sql.task_rows import scene_of
from lexsi_ds.text_to_sql.task_scene import CUTOFF, Plan, Scene
from lexsi_ds.text_to_sql.task_sql import guarded_sql, task_sql
from lexsi_ds.text_to_sql.task_words import apart_of, display_of, group_of, narrowed, notes_of, reading_of, statement_of


def task_reading(draft: TaskDraft, names: Names, query: Query) -> Predictive:
    """The reading of a task, edited or not. Raises BadInput where nothing can be learned that way."""
    approved = frozenset(draft.put_back)
    values: Values = ()
    if draft.horizon is not None:
        scene = horizon_scene(draft, names, query, approved)
    else:
        values = target_values(draft, names, query)
        kind = kind_of(draft, names.column(draft.table, draft.column))
        scene = scene_of(names, outcome_of(draft, names, values), approved, kind, rows_of=draft.rows_of)
    task = _task(
        scene,
        query,
        question=draft.question,
        classes=tuple(sorted((v for v, _, _ in values if v != MISSING), key=_in_order)) if scene.kind == "multiclass" else (),
        only=draft.only,
        only_text=draft.only_text,
        taken_out=frozenset(draft.taken_out),
        split=draft.split,
    )
    task = task.model_copy(update={"edits": edits(draft, names, values, task)})
    return Predictive(
        task=task,
        reading=reading_of(task, scene.outcome, draft.top_k),
        evidence=tuple(Evidence(words=w, became=b) for w, b in draft.evidence),
        top_k=draft.top_k,
        wants_why=draft.wants_why,
        draft=draft.model_dump(mode="json"),
        values=values if scene.kind == "binary" else (),
        doubts=doubts(draft, scene.outcome, names),
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
    approved: frozenset[str] = frozenset(),
) -> TaskSpec:
    """The task of predicting a declared yes/no outcome. ``approved`` holds ``table.column`` of undated or protected columns
    that a person put back."""
    return _task(scene_of(Names(handle, model), outcome, approved, "binary"), query, question=question)


def _task(
    scene: Scene,
    query: Query,
    *,
    question: str,
    classes: tuple[str, ...] = (),
    only: tuple[Condition, ...] = (),
    only_text: str = "",
    taken_out: frozenset[str] = frozenset(),
    split: Split | None = None,
) -> TaskSpec:
    """The task of a scene. ``only`` narrows the rows to score, never those that train; ``taken_out`` holds names of features
    to leave out."""
    outcome = scene.outcome
    plan = Plan()
    gather(scene, plan, query)
    _take_out(plan, taken_out)
    if not plan.features:
        raise BadInput(
            f"No column of {scene.entity.name} was known before the outcome, so nothing can be learned.",
            where=scene.entity.name,
            to_do="Approve columns that were, or connect data with dates.",
        )
    _must_split(scene, split)
    group = group_of(scene)
    cutoff = CUTOFF if scene.window is not None else scene.cutoff
    display = tuple(dict.fromkeys((*display_of(scene), *((cutoff,) if cutoff else ()), *((group,) if group else ()))))
    unknown = (*outcome.unknown, *only)
    plan.notes += horizon_notes(scene, query) if scene.window is not None else notes_of(scene, plan)
    return TaskSpec(
        title=outcome.name,
        question=question,
        task_type="regression" if scene.kind == "regression" else "classification",
        classes=classes,
        target_column=outcome.target,
        target_label=outcome.label,
        positive_meaning=outcome.positive_meaning,
        entity_column=scene.key,
        entity_table=scene.of or outcome.table,
        entity_label=scene.noun,
        cutoff_column=cutoff,
        known_meaning=outcome.known_meaning,
        unknown_meaning=narrowed(outcome.unknown_meaning, only_text),
        context_sql=task_sql(scene, plan, display, outcome.known, with_target=True),
        predict_sql=task_sql(scene, plan, display, unknown, with_target=False),
        guarded_sql=guarded_sql(scene, plan, outcome.known),
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


def _must_split(scene: Scene, split: Split | None) -> None:
    if split is None or split.by != "time" or scene.cutoff is not None:
        return
    why = "All rows that train stand at one date" if scene.window else f"{scene.entity.plural.capitalize()} have no dates"
    raise BadInput(f"{why}, so there is nothing to split by time.", where=scene.entity.name, to_do="Hold rows out at random.")
