"""One place that makes a run: the context, the planner and the loop, from the parts an application holds.

The app's chats and the command line both come through here, so that a question is answered the same behind every door.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from lexsi_ds.agent.context import AgentContext, Knowledge, Review, SessionContext
from lexsi_ds.agent.decisions import Planner
from lexsi_ds.agent.document_offer import uses_documents, with_budgets
from lexsi_ds.agent.given import AnyGiven
from lexsi_ds.agent.loop import AgentLoop, RunLimits
from lexsi_ds.agent.planners.fallback import FallbackPlanner
from lexsi_ds.agent.planners.llm import LLMPlanner
from lexsi_ds.agent.planners.offline import OfflinePlanner
from lexsi_ds.agent.results import ArtifactSink
from lexsi_ds.agent.tools import REGISTRY
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.knowledge.graph import KnowledgeGraph
from lexsi_ds.knowledge.load import is_bank, semantic_model
from lexsi_ds.knowledge.values import build_values
from lexsi_ds.models.local import LocalEngine
from lexsi_ds.services.access import LOCAL, Actor
from lexsi_ds.services.connectors import Connectors
from lexsi_ds.services.datasets import Datasets
from lexsi_ds.services.documents import Documents
from lexsi_ds.services.explanations import Explanations
from lexsi_ds.services.llm_choice import LLMChoices
from lexsi_ds.services.model_scoring import Scoring
from lexsi_ds.services.models import Models
from lexsi_ds.services.reference import ReferenceTools
from lexsi_ds.services.relations import Relations
from lexsi_ds.services.semantics import Semantics
from lexsi_ds.settings import Settings
from lexsi_ds.text_to_sql.forms import Form, forms, reads
from lexsi_ds.text_to_sql.lexicon import LEXICONS
from lexsi_ds.text_to_sql.model.budget import Budget
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.suggest import suggestions

_KEPT_SNAPSHOTS = 16


@dataclass
class Answering:
    """What every run needs, and the knowledge of the snapshots that were asked about."""

    settings: Settings
    sql: SqlRunner
    engine: LocalEngine
    models: Models | None = None
    explanations: Explanations | None = None
    connectors: Connectors | None = None
    relations: Relations | None = None
    datasets: Datasets | None = None
    semantics: Semantics | None = None
    scoring: Scoring | None = None
    documents: Documents | None = None
    reference: ReferenceTools | None = None
    """The findings tools, for chats of a person; None where nothing is to be kept."""
    choices: LLMChoices | None = None
    """Which language model each person works with."""
    activate: Callable[[Actor, str], None] | None = None
    """Makes a source the one that a person works on."""
    reviewed_facts: Callable[[Actor, DatasetHandle], str] | None = None
    """What people said and reviewed of a snapshot, as this person may see it."""
    review_of: Callable[[Actor], Review] | None = None
    """When a person wants to see a task before it trains."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _suggested: dict[Hashable, tuple[str, ...]] = field(default_factory=dict)
    _forms: dict[str, tuple[Knowledge, tuple[Form, ...]]] = field(default_factory=dict)
    _known: OrderedDict[Hashable, Knowledge] = field(default_factory=OrderedDict)

    def knowledge(self, handle: DatasetHandle) -> Knowledge:
        """The semantic model, graph and value index of a snapshot; made once a process for the marks, texts, links,
        saved version and taught words it has."""
        links = self.relations.for_joins(handle) if self.relations is not None and not is_bank(handle) else ()
        key = (handle, links, self.semantics.state(handle) if self.semantics is not None else None)
        with self._lock:
            found = self._known.get(key)
            if found is not None:
                self._known.move_to_end(key)
                return found
        def read(sql: str) -> pd.DataFrame:
            return self.sql.frame(handle, sql)

        shaped = self.semantics.model if self.semantics is not None else semantic_model
        model = shaped(handle, read, links)
        made = Knowledge(model, KnowledgeGraph(model), build_values(handle, model, read))
        with self._lock:
            self._known[key] = made
            while len(self._known) > _KEPT_SNAPSHOTS:
                self._known.popitem(last=False)
        return made

    def told(self, actor: Actor, handle: DatasetHandle) -> Knowledge:
        """What is known of a snapshot, with what people said and reviewed of it up to now."""
        known = self.knowledge(handle)
        return known if self.reviewed_facts is None else replace(known, reviewed=self.reviewed_facts(actor, handle))

    def suggestions(self, handle: DatasetHandle) -> tuple[str, ...]:
        """Questions that a snapshot can answer, at most six."""
        known = self.knowledge(handle)
        key = (handle.snapshot_id, self.semantics.state(handle) if self.semantics is not None else None)
        with self._lock:
            found = self._suggested.get(key)
        if found is None:
            names, words = Names(handle, known.model), LEXICONS.of(known.model, known.values)
            found = suggestions(names, words, lambda sql: self.sql.frame(handle, sql), how_many=6)
            with self._lock:
                self._suggested[key] = found
        return found

    def forms(self, handle: DatasetHandle) -> tuple[Form, ...]:
        """The forms of a question with examples that a snapshot understands; made once for what is known of it."""
        known = self.knowledge(handle)
        with self._lock:
            kept = self._forms.get(handle.snapshot_id)
        if kept is not None and kept[0] is known:
            return kept[1]
        names, words = Names(handle, known.model), LEXICONS.of(known.model, known.values)

        def query(sql: str) -> pd.DataFrame:
            return self.sql.frame(handle, sql)

        made = forms(known.model, known.values, lambda text: reads(text, names, words, query))
        with self._lock:
            self._forms[handle.snapshot_id] = (known, made)
        return made

    def context(
        self,
        handle: DatasetHandle,
        run_id: str,
        folder: Path,
        *,
        actor: Actor = LOCAL,
        session: SessionContext | None = None,
        cancel: Cancel | None = None,
        hints: str = "",
        offline: bool = False,
        given: AnyGiven | None = None,
        review: Review | None = None,
    ) -> AgentContext:
        """A fresh context of one run."""
        activate = self.activate
        ctx = AgentContext(
            dataset=handle,
            run_id=run_id,
            sql=self.sql,
            engine=self.engine,
            knowledge=self.told(actor, handle),
            folder=folder,
            actor=actor,
            models=self.models,
            explanations=self.explanations,
            scoring=self.scoring,
            datasets=self.datasets,
            connectors=self.connectors,
            reference=self.reference,
            documents=self.documents if uses_documents(self.settings) else None,
            document_tokens=self.settings.document_tokens,
            learn=lambda taken: self.told(actor, taken),
            activate=None if activate is None else lambda taken: activate(actor, taken.source_id),
            budget=self._budget(),
            session=session or SessionContext(),
            cancel=cancel or Cancel(),
            hints=hints,
            given=given,
            review=review or (self.review_of(actor) if self.review_of is not None else "doubtful"),
        )
        if not offline:
            self._give_model(ctx)
        return ctx

    def _give_model(self, ctx: AgentContext) -> None:
        """The language model of this run: the person's, or the one of these settings."""
        choices = self.choices or LLMChoices(self.settings)
        ctx.llm = choices.client(ctx.actor, stop=lambda: ctx.cancel.check(), folder=ctx.folder)
        if ctx.llm is not None:
            ctx.native = choices.native(ctx.actor, ctx.llm)
            ctx.price, ctx.aggregates_only = choices.price(ctx.actor), choices.aggregates_only(ctx.actor)

    def _budget(self) -> Budget:
        """What the settings allow for one question's SQL."""
        given = self.settings
        return Budget(
            candidates=given.llm_candidates,
            repairs=given.llm_repairs,
            tokens=given.llm_sql_tokens,
            seconds=given.llm_sql_s,
            schema_tokens=given.llm_schema_tokens,
            temperature=given.llm_temperature,
            reply_tokens=given.llm_reply_tokens,
            sql_seconds=min(given.sql_timeout_s, Budget.sql_seconds),
        )

    def loop(self, ctx: AgentContext, sink: ArtifactSink | None = None) -> AgentLoop:
        """A loop for this context, with the planner that the settings ask for."""
        planner: Planner = OfflinePlanner(ctx, max_question_chars=self.settings.max_question_chars)
        if ctx.llm is not None and ctx.given is None and self.settings.llm_plans:
            planner = FallbackPlanner(LLMPlanner(ctx.llm, native=ctx.native or False), planner, ctx)
        tools = with_budgets(REGISTRY, ctx, self.settings)
        return AgentLoop(planner, tools=tools, limits=self._limits(), sink=sink)

    def _limits(self) -> RunLimits:
        """Where a run ends, as the settings say."""
        its = self.settings
        return RunLimits(
            max_steps=its.max_steps, max_tool_calls=its.max_tool_calls, max_tokens=its.max_tokens,
            max_seconds=its.max_seconds, max_cost=its.max_cost,
        )  # fmt: skip
