"""What tools share during one run, and what a conversation keeps between runs.

``AgentContext.cache`` is wiped each run, as the tool reference says. ``SessionContext`` keeps earlier values under names; a run
takes one only by asking for it with ``recall``, so that an old prediction never leaks into a new answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from lexsi_ds.agent.given import AnyGiven
from lexsi_ds.agent.session import Remembered
from lexsi_ds.data.handle import DatasetHandle, Value
from lexsi_ds.data.sql import SqlResult, SqlRunner
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.knowledge.graph import KnowledgeGraph
from lexsi_ds.knowledge.model import SemanticModel
from lexsi_ds.knowledge.values import ValueIndex
from lexsi_ds.services.access import LOCAL, Actor
from lexsi_ds.text_to_sql.model.budget import Budget
from lexsi_ds.text_to_sql.reading import Clarify, Reading

if TYPE_CHECKING:
    from lexsi_ds.llm.client import LLMClient
    from lexsi_ds.llm.prices import Price
    from lexsi_ds.models.local import LocalEngine
    from lexsi_ds.services.connectors import Connectors
    from lexsi_ds.services.datasets import Datasets
    from lexsi_ds.services.documents import Documents
    from lexsi_ds.services.explanations import Explanations
    from lexsi_ds.services.model_scoring import Scoring
    from lexsi_ds.services.models import Models
    from lexsi_ds.services.reference import ReferenceTools

Tell = Callable[[dict[str, Any]], None]
Review = Literal["doubtful", "always", "never"]


class Kept(Value):
    """What a conversation remembers of its last model and list, by id and by file; small enough for the store."""

    source_id: str
    model_id: str
    predictions_id: str | None = None
    entity_column: str = ""
    context_path: Path | None = None
    """Arrow file of the training frame."""
    predict_path: Path | None = None
    predictions_path: Path | None = None
    task_label: str = ""
    shown: int = 0
    """How many of the ranked rows have been shown: where "the next ten" begins."""


@dataclass
class SessionContext:
    """One conversation's memory. Values are fetched by name; nothing is put into a run unasked."""

    conversation_id: str | None = None
    kept: Kept | None = None
    previous: Reading | None = None
    """The last analytic reading, which a follow-up may change."""
    asked: Clarify | None = None
    """What the turn before asked back: a short reply picks one of its options."""
    asks: Clarify | None = None
    """What this turn asks back, for the next one."""
    pending: Any = None
    """The ``Pending`` question of a model that asked back: the answer resumes it."""
    turn: int = 1
    """Which turn this is, from 1."""
    values: tuple[Remembered, ...] = ()
    """Rows of the turns before, oldest first: taken by name and on the same data version alone."""

    def at_hand(self, snapshot_id: str) -> tuple[Remembered, ...]:
        """The rows of earlier turns that a run on this data version may ask for."""
        return tuple(v for v in self.values if v.snapshot_id == snapshot_id)


@dataclass
class Knowledge:
    """What is known about a source beyond its schema."""

    model: SemanticModel
    graph: KnowledgeGraph
    values: ValueIndex
    reviewed: str = ""
    """What people said and reviewed of it, for the prompts of this person's runs."""


@dataclass
class AgentContext:
    """Everything one run shares."""

    dataset: DatasetHandle
    run_id: str
    sql: SqlRunner
    engine: LocalEngine
    knowledge: Knowledge
    folder: Path
    """Where this run's files go."""
    actor: Actor = LOCAL
    models: Models | None = None
    explanations: Explanations | None = None
    scoring: Scoring | None = None
    datasets: Datasets | None = None
    connectors: Connectors | None = None
    reference: ReferenceTools | None = None
    """The findings tools; None where answers keep no findings."""
    documents: Documents | None = None
    """The library that answers may use; None where they use no documents."""
    document_tokens: int = 24_000
    """Longest document that is handed to a planner, in tokens by estimate."""
    learn: Callable[[DatasetHandle], Knowledge] | None = None
    """What is known about another data set, when one is connected during the run."""
    activate: Callable[[DatasetHandle], None] | None = None
    """Makes a data set the person's active one."""
    llm: LLMClient | None = None
    aggregates_only: bool = False
    """Whether the endpoint is told of no row: only names, counts, sums and means over many rows."""
    native: Callable[[], bool] | None = None
    """Finds out, once, whether the endpoint makes native tool calls."""
    price: Price | None = None
    """What its tokens cost, where the person says so."""
    budget: Budget = field(default_factory=Budget)
    """What a question may cost when a language model writes SQL for it."""
    session: SessionContext = field(default_factory=SessionContext)
    cache: dict[str, Any] = field(default_factory=dict)
    cancel: Cancel = field(default_factory=Cancel)
    tell: Tell = lambda message: None
    hints: str = ""
    """The person's own context, such as ``--context``: read as data."""
    given: AnyGiven | None = None
    """A query or a task that was made by point and click: the question is not read then."""
    review: Review = "doubtful"
    """When a task is shown before it trains: where it is doubtful, always, or never."""
    org: Any = None
    text_project: Any = None
    tab_project: Any = None
    tab_projects: dict[str, Any] = field(default_factory=dict)

    def take(self, handle: DatasetHandle) -> None:
        """Go on with another data set: this run, and the person's next ones."""
        knowledge = self.learn(handle) if self.learn is not None else self.knowledge
        self.dataset, self.knowledge = handle, knowledge
        if self.activate is not None:
            self.activate(handle)

    def query(self, sql: str) -> pd.DataFrame:
        """A small trusted query of the core's own (value samples, probes)."""
        return self.sql.frame(self.dataset, sql, cancel=self.cancel)

    def run_sql(self, sql: str, name: str) -> SqlResult:
        """A guarded query whose whole result goes to a file of this run."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.sql.run(self.dataset, sql, out=self.folder / f"{name}.arrow", cancel=self.cancel, tell=self.tell)

    def frame(self, label: str) -> pd.DataFrame | None:
        """The result that ``run_sql`` cached under this label; None when there is none."""
        found = self.cache.get(f"sql_result:{label}")
        return found if isinstance(found, pd.DataFrame) else None

    def rows(self, label: str) -> pd.DataFrame | None:
        """Rows to train on or to score: of this run, or an earlier turn's by its name. Never for prose."""
        if (found := self.frame(label)) is not None:
            return found
        earlier = next((v for v in self.session.at_hand(self.dataset.snapshot_id) if v.name == label), None)
        return earlier.frame() if earlier is not None else None

    def recall(self, name: str) -> Any:
        """A value of an earlier run of this conversation (``kept``, ``previous``), by name; None when there is none."""
        return getattr(self.session, name, None)
