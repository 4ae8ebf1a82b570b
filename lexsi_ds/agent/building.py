"""The query builder of one snapshot, as pages and other doors use it: what can be chosen, how a form reads, what to run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lexsi_ds.agent.given import GivenQuery
from lexsi_ds.errors import BadInput
from lexsi_ds.knowledge.values import ValueIndex
from lexsi_ds.text_to_sql import builder
from lexsi_ds.text_to_sql.builder import Form, MeasureLine
from lexsi_ds.text_to_sql.builder_columns import Choices
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.task_draft import TaskDraft, Values
from lexsi_ds.text_to_sql.task_outcome import outcome_of, sides


@dataclass(frozen=True)
class Building:
    """Everything a form needs; reads no data."""

    names: Names
    values: ValueIndex

    def choices(self, table: str) -> Choices:
        """What a query over a table may be built from."""
        return builder.choices(self.names, self.values, table)

    def start(self, table: str | None = None) -> Form:
        """A form that counts the rows of a table; of the one with most to say where none is named."""
        model = self.names.model
        if table is None:
            told = {o.table for o in model.outcomes}
            best = max(model.tables, key=lambda t: (t.name in told, not t.bridge, t.size is not None, t.rows))
            table = best.name
        return Form(table=table, measures=(MeasureLine(fn="count"),))

    def form_of(self, logical: dict[str, Any]) -> Form:
        """The form of a query. Raises BadInput when it is none of this snapshot."""
        return builder.form_of(logical, self.names)

    def preview(self, form: Form) -> tuple[str, str]:
        """How a form reads, and its SQL. Raises BadInput saying what is missing."""
        return builder.preview(form, self.names)

    def outputs(self, form: Form) -> list[tuple[str, str]]:
        """Columns of the result that it can be ordered by: name and label. Empty while the form is not whole."""
        try:
            query, _, _ = builder.logical_of(form.model_copy(update={"filters": ()}), self.names)
        except BadInput:
            return []
        if not query.measures:
            return [(c.name, c.label) for c in query.columns]
        return [(m.name, m.label) for m in query.measures] + [(d.name, d.label) for d in query.dimensions]

    def finished(self, form: Form) -> tuple[str, dict[str, Any]]:
        """The form as a question and as what a run is given. Raises BadInput saying what is missing."""
        query, _, _ = builder.logical_of(form, self.names)
        given = GivenQuery(logical=query.model_dump(mode="json"))
        return builder.question_of(form, self.names), given.model_dump(mode="json")

    def sides(self, draft: TaskDraft, values: Values) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Values of a task's target that count, that do not, and whose rows are scored."""
        return sides(outcome_of(draft, self.names, values), draft.column, values)

    def check_task(self, draft: TaskDraft, values: Values) -> None:
        """Raise BadInput when a task's classes do not fit together."""
        outcome_of(draft, self.names, values)
