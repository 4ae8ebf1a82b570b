"""What our own tools take and give: the schemas that clients see. Must never: hold a default that hides how long a result is.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from lexsi_ds.server.tool import Answer, Arguments

_SOURCE = Field(
    default=None, max_length=400,
    description="What to work on: a connector's id (con_…) or name, or a dataset of it. The active source by default.",
)


class Ask(Arguments):
    """Arguments of ask."""

    question: str = Field(min_length=1, max_length=4_000, description="The question, in plain words.")
    source: str | None = _SOURCE
    conversation_id: str | None = Field(default=None, max_length=60, description="Go on with this conversation (conv_…).")
    limit: int = Field(default=50, ge=1, le=1_000, description="Most rows of the result to send.")


class RunSql(Arguments):
    """Arguments of run_sql."""

    sql: str = Field(min_length=1, description="One DuckDB SELECT on the tables of the source.")
    source: str | None = _SOURCE
    limit: int = Field(default=100, ge=1, le=1_000, description="Most rows to send; row_count is of the whole result.")


class Train(Arguments):
    """Arguments of train."""

    target: str = Field(min_length=1, max_length=400, description="The column to predict.")
    source: str | None = _SOURCE
    table: str | None = Field(default=None, max_length=400, description="Which table, where there are several.")
    entity: str | None = Field(default=None, max_length=400, description="The column that names a row.")
    task_type: Literal["classification", "regression"] | None = None
    positive: str | None = Field(default=None, max_length=400, description="Which value of a yes/no target counts.")
    model_type: str | None = Field(default=None, max_length=60, description="Such as XGBoost; compared by default.")
    exclude: list[str] = Field(default_factory=list, max_length=2_000, description="Columns to leave out.")
    time_column: str | None = Field(default=None, max_length=400, description="Date of a row, for the check on later rows.")
    group_column: str | None = Field(default=None, max_length=400, description="Rows of one group stay in one fold.")


class Predict(Arguments):
    """Arguments of predict."""

    model: str = Field(min_length=1, max_length=200, description="The model's id (mdl_…) or name, such as XGBoost_v1.")
    source: str | None = _SOURCE
    table: str | None = Field(default=None, max_length=400, description="Which table, where there are several.")
    fill_missing: bool = Field(default=False, description="Count absent columns as missing instead of refusing.")
    limit: int = Field(default=10, ge=1, le=1_000, description="Most rows to send, those with the highest score first.")


class Explain(Arguments):
    """Arguments of explain."""

    model: str = Field(min_length=1, max_length=200, description="The model's id (mdl_…) or name.")
    case_ids: list[str] = Field(
        default_factory=list, max_length=20, description="Rows to explain, by entity; none explains the model as a whole."
    )
    scale: Literal["probability", "log-odds", "value"] | None = None


class Rows(Answer):
    """Rows of a result, as many as were asked for."""

    columns: list[dict[str, Any]]
    rows: list[list[Any]]
    row_count: int = Field(description="Rows of the whole result.")
    truncated: bool


class Answered(Answer):
    """Answer of ask."""

    conversation_id: str
    run_id: str
    state: str
    answer: str | None
    reading: str | None
    options: list[str] = Field(description="What could be meant, where the run asks back: ask one of them.")
    caveats: list[str]
    suggestions: list[str]
    sql: str | None
    result: Rows | None
    cases: list[dict[str, Any]]
    model_id: str | None
    sources: list[str]
    notes: list[str]


class Queried(Rows):
    """Answer of run_sql."""

    sql: str
    source: dict[str, Any]
    seconds: float


class Trained(Answer):
    """Answer of train."""

    model_id: str
    name: str
    model_type: str
    target: str
    rows: int
    candidates: list[dict[str, Any]]
    why_chosen: str
    notes: list[str]
    left_out: list[dict[str, str]]


class Predicted(Rows):
    """Answer of predict."""

    predictions_id: str
    model_id: str
    model: str
    ranked_count: int
    entity_column: str
    notes: list[str]


class Explained(Answer):
    """Answer of explain."""

    model_id: str
    scale: str
    cases: list[dict[str, Any]]
    importance: list[dict[str, Any]]
    explained_rows: int | None
