"""Which tools a planner is offered at a step: those that can run on what is there, and that can matter to the question.

The offer keeps prompts small; it gives no right and takes none: what a call may do, the loop's rules decide.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from lexsi_ds.agent.context import AgentContext
from lexsi_ds.agent.rules import Done
from lexsi_ds.agent.tools.base import ToolSpec

_WORDS: dict[str, re.Pattern[str]] = {
    name: re.compile(rf"\b(?:{words})", re.IGNORECASE)
    for name, words in {
        "connect_datalake": r"connect|bucket|s3\b|data ?lake|parquet|object store|minio",
        "list_data_connectors": r"connect|bucket|sources?\b|data ?lake|databases?\b",
        "list_datasets": r"data ?sets?\b|tables?\b|what data|which data|sources?\b|versions?\b",
        "describe_dataset": r"data ?sets?\b|describe|what is in|owner|version|findings?\b|rules?\b|known about|context\b",
        "get_columns": r"columns?\b|fields?\b|missing|nulls?\b|empty|distribution|quality|statistics|profile|variables?\b",
        "list_findings": r"findings?\b|rules?\b",
        "propose_finding": r"findings?\b",
        "review_finding": r"(?:accept|approve|reject|review)\w* .*finding",
        "compare_schemas": r"compare|schemas?\b|differen|same columns|columns? of",
        "read_rows_to_score": r"scor|rate\b|rescore|predict|run\b|apply|use\b|model",
    }.items()
}
_PREDICTS = re.compile(
    r"\b(?:predict|forecast|likel|will\b|propens|risk|going to|expect|churn|probab|train|model|chance|next (?:month|year|quarter))",
    re.IGNORECASE,
)
_EXPLAINS = re.compile(r"\b(?:why|explain|driv|reason|because|shap|behind|feature|next|more)", re.IGNORECASE)
_ALWAYS = ("list_documents", "read_document")


@dataclass
class ToolRouter:
    """The offers of one run."""

    question: str
    ctx: AgentContext
    whole: bool = False
    """Offer the full catalogue at every step: what the benches compare with."""
    _known_model: list[bool] = field(default_factory=list)

    def offer(self, specs: Sequence[ToolSpec], done: Done) -> tuple[ToolSpec, ...]:
        """The tools for the next step, in their order."""
        if self.whole:
            return tuple(specs)
        if done.owes_summary:
            explained = self.ctx.cache.get("last_xai") is not None
            names = {"summarize_result"} | (set() if explained else {"explain_prediction"})
            return tuple(s for s in specs if s.name in names)
        return tuple(s for s in specs if self._runs(s) and self._matters(s.name, done))

    def _runs(self, spec: ToolSpec) -> bool:
        """Whether all that it requires is there."""
        return all(any(map(self._there, need.split("|"))) for need in spec.requires)

    def _there(self, key: str) -> bool:
        cache = self.ctx.cache
        if key == "sql_result:<label>" and self._earlier:
            return True
        if key.endswith("<label>"):
            return any(str(k).startswith(key.removesuffix("<label>")) for k in cache)
        return cache.get(key) is not None or (key == "last_model_id" and self._has_model)

    @property
    def _has_model(self) -> bool:
        """Whether there is a model that this person could mean."""
        kept = self.ctx.session.kept
        if kept is not None and kept.source_id == self.ctx.dataset.source_id:
            return True
        if not self._known_model:
            models = self.ctx.models
            self._known_model.append(bool(models is not None and models.list(self.ctx.actor)))
        return self._known_model[0]

    def _matters(self, name: str, done: Done) -> bool:
        """Whether it can help with the question at this point of the run."""
        stated = self.ctx.cache.get("_task") is not None
        if stated and "summarize_result" in done.succeeded and "predict" in done.succeeded:
            return name in ("explain_prediction", "summarize_result")
        if name in _ALWAYS:
            return not stated
        if name in _WORDS and name != "read_rows_to_score":
            return not stated and bool(_WORDS[name].search(self.question))
        if name == "read_rows_to_score":
            trained = self.ctx.cache.get("last_model_id") is not None or self._has_model
            return trained and bool(_WORDS[name].search(self.question))
        if name in ("text_to_sql", "run_sql"):
            return self._kg_first(done) is False and not (name == "text_to_sql" and self._task_goes_on(done))
        if name in ("inspect_data", "query_kg", "sample_values"):
            return self._looks(name, done)
        if name == "train_tabular_model":
            return True  # rows are kept under a label for this, and for nothing else
        if name == "predict":
            return self.ctx.cache.get("last_model_id") is not None or (self._has_model and self._predicts)
        if name == "explain_prediction":
            return self.ctx.cache.get("last_predictions") is not None or self.ctx.session.kept is not None or self._explains
        if name == "summarize_result":
            return done.has_result
        return True

    def _looks(self, name: str, done: Done) -> bool:
        """Whether a look at schema, meanings or values still helps."""
        if self._task_goes_on(done):
            return False
        if name == "inspect_data":
            return "inspect_data" not in done.succeeded or "connect_datalake" in done.succeeded
        if name == "query_kg":
            return done.succeeded.count("query_kg") < 3 and (not done.has_result or done.unseen_empty)
        return self._kg_first(done) is False

    def _task_goes_on(self, done: Done) -> bool:
        """Whether a prediction task is stated and its next steps are laid out."""
        return self.ctx.cache.get("_task") is not None and "text_to_sql" in done.succeeded

    def _kg_first(self, done: Done) -> bool:
        """Whether the rule asks for the knowledge graph before any SQL."""
        return "query_kg" not in done.succeeded and self._ambiguous

    @cached_property
    def _ambiguous(self) -> bool:
        return bool(self.ctx.knowledge.graph.ambiguous_nouns(self.question))

    @cached_property
    def _earlier(self) -> bool:
        """Whether the question may go on with rows of an earlier turn: it names them, or predicts."""
        values = self.ctx.session.at_hand(self.ctx.dataset.snapshot_id)
        return any(v.name in self.question for v in values) or (bool(values) and self._predicts)

    @cached_property
    def _predicts(self) -> bool:
        return bool(_PREDICTS.search(self.question))

    @cached_property
    def _explains(self) -> bool:
        return bool(_EXPLAINS.search(self.question))
