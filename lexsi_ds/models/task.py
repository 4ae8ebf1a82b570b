"""What is to be predicted: the prediction task that the predictive writer states and an engine trains.

A task is data. It names columns and carries SQL; it computes nothing.
"""

from __future__ import annotations

from typing import Literal

from lexsi_ds.data.handle import Value

TaskType = Literal["classification", "regression"]
TaskKind = Literal["binary", "multiclass", "regression"]
ModelType = Literal["XGBoost", "LightGBM", "EBM", "Logistic", "Linear", "TabPFN", "TabICL"]
MODEL_TYPES: tuple[ModelType, ...] = ("XGBoost", "LightGBM", "EBM", "Logistic", "Linear", "TabPFN", "TabICL")
FeatureKind = Literal["numeric", "categorical", "boolean"]
LeftOutReason = Literal[
    "undated",
    "protected",
    "post_outcome",
    "identifier",
    "constant",
    "all_null",
    "duplicate",
    "target",
    "masked",
    "high_cardinality",
    "date",
    "leak",
    "by_hand",
]


class FeatureDef(Value):
    """A feature: the column of the training frame, and where it comes from."""

    name: str
    """Column name in both frames, such as ``trans_balance_min``."""
    label: str
    """How a person reads it: "lowest balance before the loan"."""
    kind: FeatureKind
    unit: str | None = None
    expression: str = ""
    """Readable SQL that defines it."""
    tables: tuple[str, ...] = ()


class LeftOut(Value):
    """A column that could have been a feature and is not, and why."""

    name: str
    table: str
    reason: LeftOutReason
    detail: str
    """One sentence: why, in words of the data."""
    approvable: bool = False
    """Whether a person may put it back (undated, protected), knowing the reason."""


class Apart(Value):
    """Rows that are scored but listed on their own, such as loans already in debt."""

    column: str
    value: str
    label: str
    """Why they stand apart: "in debt already"."""


class Split(Value):
    """How rows are held out to validate: at random within each class, or a stretch of time after the other."""

    by: Literal["rows", "time"] = "rows"
    folds: int | None = None
    """None: as many as suit the number of rows."""


class TaskSpec(Value):
    """One prediction task over one source. The two frames it names carry ``entity_column``, ``features`` and
    ``display_columns``; the context frame also carries ``target_column`` (0 or 1 for classification)."""

    title: str
    """Short name: "Loan default"."""
    question: str
    task_type: TaskType
    target_column: str
    target_label: str
    """The outcome in words: "default"."""
    positive_meaning: str
    """What 1 means: "status B or D: not paid"."""
    entity_column: str
    entity_table: str
    entity_label: str
    """Singular noun for a row: "loan"."""
    cutoff_column: str | None = None
    """Date column of the entity before which every feature is known; None when the table has no dates."""
    known_meaning: str
    """Rows that train: "finished loans (status A or B)"."""
    unknown_meaning: str
    """Rows that are scored: "running loans (status C or D)"."""
    context_sql: str
    predict_sql: str
    guarded_sql: str = ""
    """The rows that train with their protected columns alone, by ``entity_column``: read by the training and by nothing else,
    so that groups can be compared and no preview or narrative ever holds them. Empty: there are none."""
    features: tuple[FeatureDef, ...]
    left_out: tuple[LeftOut, ...] = ()
    display_columns: tuple[str, ...] = ()
    """Shown beside each row, never a feature: status, amount."""
    apart: Apart | None = None
    out_of_fold: bool = False
    """No row has an unknown outcome: current rows are scored by models that did not see them, and labelled so."""
    notes: tuple[str, ...] = ()
    """Caveats about the data, in sentences: missing dates, blank values, unfinished cohorts."""
    statement: str = ""
    """The task in its written form: "predict default FOR EACH loan WHERE status IN (C, D)"."""
    split: Split = Split()
    edits: tuple[str, ...] = ()
    """What a person changed before it trained, in sentences; the model card shows it."""
    classes: tuple[str, ...] = ()
    """Empty: the target column holds 0 and 1. Three or more: it holds these words (multiclass)."""
    group_column: str | None = None
    """Rows of one group stay in one fold, such as all months of one client."""
    time_column: str | None = None
    """Date of each row for the out-of-time validation; the cut-off column serves when this is empty."""
    score_column: str | None = None
    """An existing score of the same outcome: never a feature, compared with the model as its challenger."""

    @property
    def kind(self) -> TaskKind:
        """Whether the outcome is one of two, one of several words, or an amount."""
        if self.task_type == "regression":
            return "regression"
        return "multiclass" if self.classes else "binary"

    @property
    def moment_column(self) -> str | None:
        """The column that dates a row: ``time_column``, else the cut-off."""
        return self.time_column or self.cutoff_column
