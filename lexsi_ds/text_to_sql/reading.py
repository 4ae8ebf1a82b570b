"""How a question was read: the value that the parser returns, the planner goes by, and the screen shows.

Every reading carries its evidence: which words became what. Words that matter and were not understood make it a
``CannotAnswer``; two good readings that differ make it a ``Clarify``.
"""

from __future__ import annotations

from typing import Literal

from lexsi_ds.data.handle import Value
from lexsi_ds.models.task import TaskSpec


class Evidence(Value):
    """Words of the question and what they became: ``"accounts"`` -> ``count(*) of account``."""

    words: str
    became: str


class Written(Value):
    """What a language model had to do with a reading, and what that took."""

    by: str
    """The model's name."""
    asked: int
    """Drafts that were asked for."""
    agreed: int
    """Drafts that gave the same result as this reading."""
    repairs: int = 0
    tokens: int = 0
    seconds: float = 0.0


class Analytic(Value):
    """One SQL query answers it."""

    kind: Literal["analytic"] = "analytic"
    sql: str
    reading: str
    """One line a person can check: "Number of accounts"."""
    evidence: tuple[Evidence, ...] = ()
    value_column: str | None = None
    """The measure's column of the result."""
    count_column: str | None = None
    """The column of the result that says how many rows the value is taken over."""
    value_label: str | None = None
    unit: str | None = None
    group_columns: tuple[str, ...] = ()
    chart: Literal["bar", "line", "none"] = "none"
    ordered: bool = False
    string_filters: tuple[tuple[str, str, str], ...] = ()
    """(table, column, value) of every text value the SQL filters on."""
    caveats: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    """Questions worth asking next, such as the same with a least size of a group; each would be understood."""
    tables: tuple[str, ...] = ()
    logical: dict | None = None
    """The logical query as JSON, so that a follow-up can change it."""
    written: Written | None = None
    """Set when a language model was asked. It wrote the SQL when there is no ``logical``; else its drafts were compared with it."""


class Predictive(Value):
    """A model must answer it."""

    kind: Literal["predictive"] = "predictive"
    task: TaskSpec
    reading: str
    evidence: tuple[Evidence, ...] = ()
    top_k: int = 10
    wants_why: bool = True
    draft: dict | None = None
    """The task as a person may change it before it trains (`task_draft.TaskDraft` as JSON)."""
    values: tuple[tuple[str, str, int], ...] = ()
    """Values of the target's column: as stored, as read, number of rows. An empty one stands for missing."""
    doubts: tuple[str, ...] = ()
    """Why a person should look at the task before it trains; empty when it is certain."""


class Explain(Value):
    """Asks why one or more cases were scored as they were."""

    kind: Literal["explain"] = "explain"
    case_ids: tuple[str, ...]
    entity_table: str | None
    reading: str
    evidence: tuple[Evidence, ...] = ()


class NextPage(Value):
    """Asks for the next rows of the last ranked list."""

    kind: Literal["next"] = "next"
    count: int
    reading: str


class Clarify(Value):
    """Two good readings; the person chooses. ``options`` are questions that would each be understood."""

    kind: Literal["clarify"] = "clarify"
    question: str
    options: tuple[str, ...]
    learns: tuple[dict[str, str], ...] = ()
    """One for each option, in the same order, when an unknown word was asked about: ``words`` (what was not known), ``table``,
    ``column``, ``value`` (what the option takes it for; ``column`` and ``value`` may be empty). Kept when the option is chosen."""
    in_turn: bool = False
    """Whether the options are questions that were asked in one go, and may be answered one after the other."""


class CannotAnswer(Value):
    """Words that matter were not understood."""

    kind: Literal["cannot_answer"] = "cannot_answer"
    reason: str
    words: tuple[str, ...]
    suggestions: tuple[str, ...] = ()
    """Three questions on this source that it can answer."""
    partial: dict | None = None
    """The logical query of what was understood, as JSON, to be finished by point and click; None when nothing was."""


class OffTopic(Value):
    """Not about the data at all: declined before any tool is called."""

    kind: Literal["off_topic"] = "off_topic"
    reason: str
    suggestions: tuple[str, ...] = ()


Reading = Analytic | Predictive | Explain | NextPage | Clarify | CannotAnswer | OffTopic
