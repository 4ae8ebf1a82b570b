"""What a person should see of a task before it trains: why it is doubtful, and what they changed of it.

Sentences only; what fits together is settled elsewhere.
"""

from __future__ import annotations

from lexsi_ds.knowledge.flags import outcome_key
from lexsi_ds.knowledge.model import Outcome
from lexsi_ds.models.task import TaskSpec
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.task_draft import TaskDraft, Values, kind_of
from lexsi_ds.text_to_sql.task_outcome import sides


def doubts(draft: TaskDraft, outcome: Outcome, names: Names) -> tuple[str, ...]:
    """Why a person should look before it trains. A declared outcome with rows to score, or an event, raises none."""
    if draft.horizon is not None:
        return ()
    column = names.column(draft.table, draft.column)
    rows, said = names.model.table(draft.table).plural, []
    kind = kind_of(draft, column)
    if kind == "multiclass" and column.role == "measure" and draft.kind is None:
        said.append(
            f"{column.label[:1].upper()}{column.label[1:]} is a number with {column.distinct} values, and each is taken as a class"
            f" of its own. “Predict {column.label} as a number” takes it as a figure, “{column.label} above” a limit as yes or no."
        )
    if kind == "binary" and not draft.outcome and draft.above is None and not draft.positive:
        said.append(
            f"Nothing declares which values of {column.label} are the outcome: {outcome.positive_meaning} is filled in because"
            " it is the rarest. Choose which values count."
        )
    if column.protected:
        said.append(f"{column.label.capitalize()} is a protected attribute: predicting it of people needs a reason.")
    elif draft.outcome and outcome.out_of_fold and not outcome.event and outcome_key(draft.column) is None:
        said.append(
            f"Every one of the {rows} has its {column.label} already and nothing says that it is an event: what can be had are"
            " out-of-fold scores of the present ones."
        )
    return tuple(said)


def edits(draft: TaskDraft, names: Names, values: Values, task: TaskSpec) -> tuple[str, ...]:
    """What a person changed, in sentences for the model card; what is as declared is no change."""
    declared = next((o for o in names.model.outcomes if o.id == draft.outcome), None)
    was = sides(declared, draft.column, values) if declared else ((), (), ())
    said = []
    if draft.positive and set(draft.positive) != set(was[0]):
        said.append(f"Counts as {task.target_label}: {', '.join(draft.positive)}.")
    if draft.negative and set(draft.negative) != set(was[1]):
        said.append(f"Counts as no {task.target_label}: {', '.join(draft.negative)}.")
    if draft.score and set(draft.score) != set(was[2]):
        said.append(f"Rows to score: {task.unknown_meaning}.")
    for name in draft.put_back:
        table, _, column = name.rpartition(".")
        found = names.model.column(table, column)
        why = "protected" if found and found.protected else "undated"
        said.append(f"Put back by hand: {name} ({why}).")
    said += [f"Taken out by hand: {name}." for name in draft.taken_out]
    if draft.split.by == "time":
        said.append(f"Rows are held out by stretches of {task.cutoff_column}.")
    if draft.split.folds is not None:
        said.append(f"{draft.split.folds} folds.")
    return tuple(said)
