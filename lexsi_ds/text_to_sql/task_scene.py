"""What every part of the writer of a prediction task goes by: the rows to predict, their cut-off, and what was gathered so far.

Values only; it writes no feature and asks the data nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lexsi_ds.knowledge.model import ColumnModel, Outcome, SemanticModel, TableModel
from lexsi_ds.models.task import FeatureDef, LeftOut, LeftOutReason, TaskKind
from lexsi_ds.text_to_sql.sqltext import Names, ident

ROWS = "target_rows"
"""Name of the CTE that holds the rows to predict."""
CUTOFF = "cutoff_date"
LABELS, FIGURE = "label_window", "figure"
"""Names of the CTE that holds the rows with an event in their window, and of its column."""


@dataclass(frozen=True)
class Selected:
    """A feature and the expression of the final SELECT that gives it."""

    feature: FeatureDef
    select: str


@dataclass
class Plan:
    """What the writer has gathered so far, in order."""

    features: list[Selected] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    joins: list[str] = field(default_factory=list)
    """LEFT JOIN lines of the final SELECT."""
    ctes: list[str] = field(default_factory=list)
    guarded: dict[str, str] = field(default_factory=dict)
    """Protected columns of the rows that train, by name, as the query beside the task selects them."""
    guarded_joins: list[str] = field(default_factory=list)
    """LEFT JOIN lines of that query."""
    notes: list[str] = field(default_factory=list)

    def leave_out(self, column: ColumnModel, reason: LeftOutReason, detail: str, *, approvable: bool = False) -> None:
        """Record a column that is not a feature, once."""
        if all((o.table, o.name) != (column.table, column.name) for o in self.left_out):
            self.left_out.append(
                LeftOut(name=column.name, table=column.table, reason=reason, detail=detail, approvable=approvable)
            )


@dataclass(frozen=True)
class Window:
    """Of an outcome by a horizon: the days that rows stand at, and how the days after them decide."""

    train: str
    """Cut-off of the rows that train, as an ISO date; their label window ends where ``score`` begins."""
    score: str
    """Cut-off of the rows to score: the day after the last event."""
    days: int
    label_cte: str
    """The CTE ``label_window``: rows with an event in their window, by key, with the figure asked for."""
    target_sql: str
    """The outcome of a row, joined to that."""
    events: str
    """Plural noun of the events."""


@dataclass(frozen=True)
class Scene:
    """What every part of the writer needs to know."""

    names: Names
    outcome: Outcome
    entity: TableModel
    key: str
    cutoff: str | None
    """Date column of the entity's table that is its cut-off."""
    approved: frozenset[str]
    """``table.column`` of columns that a person put back."""
    kind: TaskKind = "binary"
    window: Window | None = None
    """Of an outcome that events decide."""
    label: str = ""
    """What a row is called, where it is not its table's noun."""
    of: str = ""
    """The table whose rows are meant, where the outcome belongs to another one."""
    which: str = ""
    """Which of several rows counts for one of those."""
    present: str = ""
    """A test of rows of the entity's table that must hold of any row; the cut-off stands in it by name."""

    @property
    def model(self) -> SemanticModel:
        """The semantic model."""
        return self.names.model

    @property
    def noun(self) -> str:
        """What one row is called: "loan"."""
        return self.label or self.entity.label

    @property
    def dated(self) -> bool:
        """Whether each row has a cut-off date."""
        return self.cutoff is not None or self.window is not None

    @property
    def cutoff_said(self) -> str:
        """The cut-off as a readable definition has it."""
        return CUTOFF if self.window is not None else f"{ident(self.entity.name)}.{ident(self.cutoff or '')}"

    @property
    def moment(self) -> str:
        """The cut-off as a label has it: "before the loan"."""
        return "the cut-off" if self.window is not None else f"the {self.noun}"

    def is_approved(self, column: ColumnModel) -> bool:
        """Whether a person put this column back."""
        return f"{column.table}.{column.name}" in self.approved


@dataclass(frozen=True)
class Ancestor:
    """A table that each row to predict points to, directly or further up, and the joins that reach it."""

    table: TableModel
    alias: str
    joins: tuple[str, ...]
    key_sql: str
    """The ancestor's key as reached from the rows, for children that point to it."""
    role: str
    near: bool
    """One step away, bridges not counted: its other children belong to the row as well."""
