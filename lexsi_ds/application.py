"""The parts of Lexsi DS put together, once a process. The app, the command line and the servers each hold one of these.

It decides nothing itself: it hands a question to the agent, a file to the catalog, a decision to the findings.
"""

from __future__ import annotations

import atexit
import logging
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lexsi_ds.agent.answering import Answering
from lexsi_ds.agent.building import Building
from lexsi_ds.agent.chat_run import ChatRun
from lexsi_ds.agent.context import Knowledge, Review
from lexsi_ds.data.handle import DatasetHandle, SourceKind
from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.errors import BadInput, LexsiError, NotFound
from lexsi_ds.explain.explainer import Explainer
from lexsi_ds.jobs.background import Background, Task
from lexsi_ds.jobs.pool import Pool, get_pool
from lexsi_ds.jobs.runs import RunRegistry
from lexsi_ds.models.choice import ChosenEngine
from lexsi_ds.models.engine import CaseExplanation, GlobalExplanation
from lexsi_ds.models.lexsi.withheld import masked_names
from lexsi_ds.services.access import LOCAL, Actor
from lexsi_ds.services.api_keys import ApiKeys
from lexsi_ds.services.artifacts import Artifacts
from lexsi_ds.services.audit import Audit
from lexsi_ds.services.board import Board
from lexsi_ds.services.catalog import Catalog
from lexsi_ds.services.chats import Chats
from lexsi_ds.services.comparison import Comparisons
from lexsi_ds.services.components import Components
from lexsi_ds.services.confirmations import Confirmations
from lexsi_ds.services.connectors import Connectors
from lexsi_ds.services.cursors import Cursors
from lexsi_ds.services.datasets import Datasets
from lexsi_ds.services.document_suggestions import DocumentSuggestions
from lexsi_ds.services.documents import Documents
from lexsi_ds.services.drafts import Drafts, FindingDraft
from lexsi_ds.services.explanations import Explanations
from lexsi_ds.services.exports import Exports
from lexsi_ds.services.feedback import Feedback
from lexsi_ds.services.finding import Finding
from lexsi_ds.services.finding_batch import FindingBatch
from lexsi_ds.services.findings import Findings
from lexsi_ds.services.ledgers import Ledgers
from lexsi_ds.services.lineage import Lineage
from lexsi_ds.services.llm_choice import LLMChoices
from lexsi_ds.services.model_backtests import Backtests
from lexsi_ds.services.model_comparison import ModelComparisons
from lexsi_ds.services.model_overrides import Overrides
from lexsi_ds.services.model_package import Packages
from lexsi_ds.services.model_registry import Registry
from lexsi_ds.services.model_report import ModelReports
from lexsi_ds.services.model_scoring import Scoring
from lexsi_ds.services.model_training import Training
from lexsi_ds.services.model_work import ModelWork
from lexsi_ds.services.models import Models
from lexsi_ds.services.node_export import NodeExports
from lexsi_ds.services.people import People
from lexsi_ds.services.prediction_datasets import PredictionDatasets
from lexsi_ds.services.reference import ReferenceTools
from lexsi_ds.services.relations import Relations
from lexsi_ds.services.report_views import ReportViews
from lexsi_ds.services.review_rules import ReviewSettings
from lexsi_ds.services.reviewed_facts import ReviewedFacts
from lexsi_ds.services.semantic_data import SemanticData
from lexsi_ds.services.semantics import Semantics
from lexsi_ds.services.sharing import Sharing
from lexsi_ds.services.surprises import Surprises
from lexsi_ds.services.uploads import Uploads
from lexsi_ds.services.versions import Refreshed, Versions
from lexsi_ds.services.workspaces import Workspaces
from lexsi_ds.settings import Settings, get_settings
from lexsi_ds.store.db import Store
from lexsi_ds.store.preferences import Preferences
from lexsi_ds.store.runs import Runs
from lexsi_ds.text_to_sql.forms import Form
from lexsi_ds.text_to_sql.sqltext import Names

log = logging.getLogger(__name__)
_ACTIVE = "active_source"
_REVIEW = "review_tasks"


class Application:
    """One of each part. Close it to end its workers."""

    def __init__(self, settings: Settings, pool: Pool | None = None) -> None:
        make_home(settings)
        self.settings = settings
        self._warmed = False
        self._preferred: str | None = None
        self.store = Store(settings.store_path_url)
        self.store.migrate()
        self.pool = pool or Pool(settings)
        self.sql = SqlRunner(self.pool, settings)
        self.catalog = Catalog(settings, self.store, self.pool)
        self.catalog.sweep()
        self.uploads = Uploads(settings.home, self.store)
        self.uploads.sweep()
        self.engine = ChosenEngine(self.pool, settings, self._masked)
        self.models = Models(self.store, settings.home)
        self.models.sweep()
        self.registry = Registry(self.store, self.models)
        self.sharing = Sharing(self.store)
        self.review_settings = ReviewSettings(self.store)
        self.findings = Findings(self.store, self.catalog.table, self.sql, self.sharing, self.review_settings.rules)
        self.cursors = Cursors(self.store)
        self.datasets = Datasets(self.store, settings.home, self.sql, self.findings)
        self.finding_batch = FindingBatch(self.findings, self.datasets)
        self.people = People(self.store)
        self.api_keys = ApiKeys(self.store)
        self.workspaces = Workspaces(self.store)
        self.reviewed_facts = ReviewedFacts(self.store, self.findings, self.workspaces)
        self.audit = Audit(self.store)
        self.reference = ReferenceTools(
            self.findings, self.datasets, self.workspaces, Confirmations(self.store), self.cursors, self.audit
        )
        self.relations = Relations(self.store, self.catalog, self.sql)
        self.semantics = Semantics(self.store, self.catalog, self.sql, self.relations)
        self.versions = Versions(self.store, settings.home, self.catalog, self.findings)
        self.comparisons = Comparisons(self.catalog, self.sql, self.datasets.stats)
        self.artifacts = Artifacts(self.store, settings.home)
        self.exports = Exports(self.store, settings.home, self.pool, self.artifacts)
        self.exports.audit = self.audit
        self.explanations = Explanations(
            self.models, self.engine, settings.home / "explanations", Explainer(self.pool, settings)
        )
        self.scoring = Scoring(self.models, self.engine, self.catalog, self.sql, self.explanations)
        self.training = Training(self.models, self.engine, self.sql)
        self.model_comparisons = ModelComparisons(self.models, self.pool)
        self.backtests = Backtests(self.store, self.models, self.catalog, self.sql, self.pool, settings.home)
        self.overrides = Overrides(self.store, self.models)
        self.model_reports = ModelReports(self.models, self.registry, self.backtests)
        views = ReportViews(self.explanations)
        self.model_reports.importance, self.model_reports.fairness = views.importance, views.fairness
        self.packages = Packages(self.models, self.engine, self.catalog, self.sql, self.model_reports, settings.home)
        self.prediction_datasets = PredictionDatasets(self.models, self.catalog, self.pool.scratch)
        self.drafts = Drafts(self.catalog, self.findings, self.artifacts)
        self.background = Background(most=settings.max_tasks)
        self.surprises = Surprises(settings, self.store, self.pool, self.datasets, self.findings, self.background)
        self.components = Components(settings, self.pool, self.datasets, self.background)
        self.semantic_data = SemanticData(self.datasets, self.surprises)
        self.model_work = ModelWork(self.background, self.training, self.scoring, self.backtests, self.uploads)
        self.connectors = Connectors(settings, self.store, self.pool, self.catalog)
        self.connectors.register_bucket = self.engine.platform.register_bucket if self.engine.platform else None
        self.answering = Answering(
            settings, self.sql, self.engine, self.models, self.explanations, self.connectors, relations=self.relations,
            datasets=self.datasets, semantics=self.semantics,
        )
        self.documents = Documents(self.store, self.pool, settings, self._library_of)
        self.document_suggestions = DocumentSuggestions(
            self.store, self.documents, self.semantics, self.catalog, self.sql.frame
        )
        self.llm = LLMChoices(settings, self.store)
        self.ledgers = Ledgers(self.store, self.artifacts)
        self.answering.choices, self.answering.reference = self.llm, self.reference
        self.answering.documents = self.documents
        self.answering.scoring = self.scoring
        self.answering.activate = self.set_active_source
        self.answering.reviewed_facts = self.reviewed_facts.text
        self.answering.review_of = self.review
        self.runs = RunRegistry(Runs(self.store), settings.home, settings.max_runs)
        self.chats = Chats(
            self.store, self.runs, ChatRun(self.answering, self.catalog, self.artifacts, self.store), self.artifacts
        )
        self.lineage = Lineage(self.chats, self.artifacts, self.findings)
        self.node_exports = NodeExports(
            self.lineage, self.artifacts, self.catalog, self.sql, self.models, self.findings, self.pool, settings.home, self.audit
        )
        self.board = Board(self.store, settings.home, self.catalog, self.sql, self.artifacts, self.chats)
        self.feedback = Feedback(self.store, self.chats)
        self._preferences = Preferences(self.store)

    def close(self) -> None:
        """End live runs, workers and connections; safe to call twice."""
        self.runs.close()
        self.pool.close()
        self.store.close()

    def warm(self) -> None:
        """Start the workers in the background, so that the first question is quick. A server calls it; once is enough."""
        if not self._warmed:
            self._warmed = True
            self.pool.warm()
            self.engine.check_soon()

    def _masked(self, source_id: str) -> frozenset[str]:
        """Masked columns of a source as they are marked now, for the engine that sends rows away; none of a deleted one."""
        try:
            return masked_names(self.catalog.handle(self.person(), source_id))
        except NotFound:
            return frozenset()

    def _library_of(self, actor: Actor) -> str:
        """Whose documents a person reads: those of the workspace that they work in, else their own."""
        workspace = self.workspaces.active(actor)
        return workspace.id if workspace is not None else actor.id

    def person(self) -> Actor:
        """Who is at the keyboard: one local person with all rights, until sign-in is configured."""
        return LOCAL

    def planner_label(self) -> str:
        """ "Offline", or the language model's name."""
        return self.llm.label(self.person())

    def active_source(self, actor: Actor) -> str | None:
        """The source that this person works on: the one this process was started for, the one chosen, else the first there is."""
        if self._preferred is not None and self._sees(actor, self._preferred):
            return self._preferred
        known = [s.id for s in self.catalog.sources(actor)]
        chosen = self._preferences.get(actor.id, _ACTIVE)
        return chosen if chosen in known else (known[0] if known else None)

    def prefer_source(self, source_id: str) -> None:
        """Start from this source in this process, whatever was chosen in the app; for a server that is given its data."""
        self._preferred = source_id

    def _sees(self, actor: Actor, source_id: str) -> bool:
        try:
            self.catalog.handle(actor, source_id)
        except LexsiError:
            return False
        return True

    def set_active_source(self, actor: Actor, source_id: str) -> None:
        """Choose the source to work on; NotFound when it is not among this person's."""
        if source_id not in {s.id for s in self.catalog.sources(actor)}:
            raise NotFound(
                "There is no such data set.", where=source_id[:60], to_do="Choose one on the page Connect data."
            )
        self._preferences.set(actor.id, _ACTIVE, source_id)

    def active_handle(self, actor: Actor) -> DatasetHandle | None:
        """The newest snapshot of the active source; None until there is one."""
        source_id = self.active_source(actor)
        return self.catalog.handle(actor, source_id) if source_id else None

    def review(self, actor: Actor) -> Review:
        """When this person sees a prediction task before it trains."""
        return "always" if self._preferences.get(actor.id, _REVIEW) is True else "doubtful"

    def set_review(self, actor: Actor, *, always: bool) -> None:
        """Choose whether every prediction task waits for this person, or only a doubtful one."""
        actor.need("chats:write")
        self._preferences.set(actor.id, _REVIEW, always)

    def prepare_demo(self, actor: Actor) -> Task | None:
        """Start building the demo bank where no source exists yet; None when there is one already."""
        if self.catalog.sources(actor):
            return None
        return self.background.start(
            "demo",
            "Building the demo bank",
            lambda cancel, tell: self.catalog.ensure_demo(actor, tell=tell, cancel=cancel),
            owner=actor.id,
            key="demo",
        )

    def start_import(self, actor: Actor, kind: SourceKind, name: str, paths: Sequence[Path]) -> Task:
        """Import files in the background; the task's result is the new handle, which becomes the active source."""

        def work(cancel: Any, tell: Any) -> DatasetHandle:
            if kind == "demo":
                handle = self.catalog.ensure_demo(actor, tell=tell, cancel=cancel)
            else:
                handle = self.catalog.import_source(actor, kind, name, list(paths), cancel=cancel, tell=tell)
            self.set_active_source(actor, handle.source_id)
            return handle

        return self.background.start("import", f"Importing {name}", work, owner=actor.id)

    def start_refresh(self, actor: Actor, source_id: str, paths: Sequence[Path] = ()) -> Task:
        """Read a source again (or other files into it) in the background; the task's result is a `Refreshed`."""
        name = self.catalog.handle(actor, source_id).name

        def work(cancel: Any, tell: Any) -> Refreshed:
            if any(c.id == source_id for c in self.connectors.list(actor)):
                handle = self.connectors.refresh(actor, source_id, cancel=cancel, tell=tell)
                return self.versions.refreshed(actor, handle)
            return self.versions.refresh(actor, source_id, list(paths), cancel=cancel, tell=tell)

        return self.background.start("refresh", f"Refreshing {name}", work, owner=actor.id)

    def knowledge(self, handle: DatasetHandle) -> Knowledge:
        """What is known about a source beyond its schema."""
        return self.answering.knowledge(handle)

    def building(self, handle: DatasetHandle) -> Building:
        """The query builder of a snapshot."""
        known = self.knowledge(handle)
        return Building(Names(handle, known.model), known.values)

    def suggestions(self, handle: DatasetHandle) -> list[str]:
        """Questions that this source can answer, at most six; made once a snapshot."""
        return list(self.answering.suggestions(handle))

    def forms(self, handle: DatasetHandle) -> tuple[Form, ...]:
        """What can be asked of this source: forms with examples that are understood; made once a snapshot."""
        return self.answering.forms(handle)

    def overall_explanation(self, actor: Actor, model_id: str, scale: str = "probability") -> GlobalExplanation:
        """What moves a model; computed once, then read from disk."""
        return self.explanations.overall(actor, model_id, scale)

    def case_explanation(self, actor: Actor, model_id: str, case_id: str, scale: str = "probability") -> CaseExplanation:
        """Why one case got its score; computed once, then read from disk."""
        return self.explanations.case(actor, model_id, case_id, scale).case

    def similar_cases(self, actor: Actor, model_id: str, case_id: str) -> list[dict[str, Any]]:
        """The nearest training rows of a case, with outcomes."""
        return self.explanations.similar(actor, model_id, case_id)

    def delete_model(self, actor: Actor, model_id: str) -> None:
        """Delete a model, its predictions and its explanations, with their files."""
        self.models.delete(actor, model_id)
        self.explanations.forget(model_id)

    def draft_finding(self, actor: Actor, run_id: str, source_id: str) -> FindingDraft | None:
        """What a run found, as a finding to propose; None when there is nothing to make a rule of."""
        return self.drafts.of_run(actor, run_id, source_id)

    def propose_finding(self, actor: Actor, draft: FindingDraft) -> Finding:
        """Propose a draft, edited or not."""
        return self.drafts.propose(actor, draft)


def make_home(settings: Settings) -> None:
    """Make the folder that everything is kept in. BadInput names it when that cannot be done."""
    try:
        settings.home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"The folder that LEXSI_DS_HOME names cannot be made ({error.strerror})."
        raise BadInput(what, where=str(settings.home), to_do="Choose a folder that you may write to.") from error


_application: Application | None = None
_lock = threading.Lock()


def get_application() -> Application:
    """The application of this process, built once and closed at exit."""
    global _application
    with _lock:
        if _application is None:
            make_home(get_settings())
            _application = Application(get_settings(), get_pool())
            atexit.register(_application.close)
        return _application
