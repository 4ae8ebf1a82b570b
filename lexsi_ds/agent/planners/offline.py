"""The planner that needs no model and no network: it reads the question once, then walks the steps that reading needs.

It answers inside a declared grammar. Outside it says which words it did not understand; it never guesses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa

from lexsi_ds.agent.context import AgentContext, Kept
from lexsi_ds.agent.decisions import Answer, AskUser, CallTool, Decision, PlanState
from lexsi_ds.agent.document_hints import document_for, quote_for
from lexsi_ds.agent.finding_words import finding_asked
from lexsi_ds.agent.given import waits
from lexsi_ds.agent.planners.ends import before_training, half, missed, searched, stopped
from lexsi_ds.agent.planners.finding_steps import finding_steps
from lexsi_ds.agent.planners.in_turn import readings_in_turn, set_down
from lexsi_ds.agent.planners.scoring import ScoringAsked, scoring_asked
from lexsi_ds.agent.tools.predict import top_rows
from lexsi_ds.agent.tools.text_to_sql import read_question, suggested_questions
from lexsi_ds.text_to_sql.reading import (
    Analytic,
    CannotAnswer,
    Clarify,
    Explain,
    NextPage,
    OffTopic,
    Predictive,
    Reading,
)


class OfflinePlanner:
    """Deterministic: the same question on the same snapshot takes the same steps."""

    name = "Offline"

    def __init__(self, ctx: AgentContext, *, max_question_chars: int = 4000) -> None:
        self._ctx = ctx
        self._longest = max_question_chars
        self._plan: Iterator[Decision] | None = None

    @property
    def usage(self) -> dict[str, int]:
        """No tokens offline."""
        return {}

    def decide(self, state: PlanState) -> Decision:
        """The next step of the plan; an answer once it is walked."""
        if self._plan is None:
            self._plan = self._steps(state)
        return next(self._plan, Answer(None))

    def _steps(self, state: PlanState) -> Iterator[Decision]:
        question = state.question.strip()
        if not question:
            yield Answer("The question is empty. Ask about the data set.", "refused", self._suggest())
            return
        if len(question) > self._longest:
            yield Answer(
                f"The question has {len(question):,} characters; at most {self._longest:,} are read. Ask it in a few sentences.",
                "refused",
                self._suggest(),
            )
            return
        asked = scoring_asked(question, self._ctx)
        if asked is not None:
            yield from self._score(asked, state)
            return
        about = finding_asked(question, self._ctx)
        if about is not None:
            yield from finding_steps(about, state, self._suggest())
            return
        reading = read_question(question, "auto", self._ctx)
        while (named := document_for(reading, self._ctx)) and any(t.name == "read_document" for t in state.tools):
            source, path = named
            yield CallTool("read_document", {"source": source, "path": path}, "it defines words that are not understood")
            if not state.steps[-1].ok:
                break
            reading = read_question(question, "auto", self._ctx)
        quote = quote_for(question, reading, self._ctx)
        if quote is not None:
            yield from self._quote(*quote, state)
        yield from self._walk(reading, state)

    def _quote(self, source: str, path: str, sentence: str, state: PlanState) -> Iterator[Decision]:
        """What a document says on words that the data does not hold; nothing when it may not be read any more."""
        name = f"{source}/{path}"
        if name not in self._ctx.cache.get("_sources", ()):
            if all(t.name != "read_document" for t in state.tools):
                return
            yield CallTool("read_document", {"source": source, "path": path}, "it holds the words of the question")
            if not state.steps[-1].ok:
                return
        yield Answer(f"The tables do not say. {name} does: \u201c{sentence}\u201d", suggestions=self._suggest())

    def _score(self, asked: ScoringAsked, state: PlanState) -> Iterator[Decision]:
        """Rows of a source through a model that exists."""
        calls = [
            CallTool("read_rows_to_score", {"model_id": asked.model_id, "source": asked.source_id}, "fetch the rows to score"),
            CallTool("predict", {"df_label": "score_df", "model_id": asked.model_id}, "score"),
            CallTool("summarize_result", {"question": state.question}, "say what it shows"),
        ]
        for call in calls:
            yield call
            if (stop := stopped(state, "cannot_answer")) is not None:
                yield stop
                return
        yield Answer(None, suggestions=self._after_prediction())

    def _walk(self, reading: Reading, state: PlanState) -> Iterator[Decision]:
        match reading:
            case OffTopic():
                yield Answer(reading.reason, "refused", reading.suggestions)
            case CannotAnswer():
                yield Answer(missed(reading), "cannot_answer", reading.suggestions, half(reading))
            case Clarify() if reading.in_turn and (parts := readings_in_turn(reading.options, self._ctx)):
                yield from self._in_turn(parts, state)
            case Clarify():
                yield AskUser(reading.question, reading.options, reading.learns)
            case Analytic():
                yield from self._analytic(reading, state)
            case Predictive():
                yield from self._predictive(state.question, reading, state)
            case Explain():
                yield from self._explain(reading, state)
            case NextPage():
                yield from self._next(reading, state)

    def _in_turn(self, parts: list[tuple[str, Reading]], state: PlanState) -> Iterator[Decision]:
        """Questions that were asked in one go, one after the other; an end that is no answer ends them all."""
        said: list[str] = []
        yield CallTool("query_kg", {"search": state.question}, "what the words of all questions mean here")
        for question, reading in parts:
            for decision in self._walk(reading, replace(state, question=question)):
                if not isinstance(decision, Answer):
                    yield decision
                elif decision.state != "answered":
                    yield decision
                    return
            said.append(f"{question}\n\n{set_down(question, reading, self._ctx)}")
        self._ctx.cache["_narrative"] = "\n\n".join(said)
        yield Answer(None, suggestions=self._after_prediction() or self._suggest())

    def _analytic(self, reading: Analytic, state: PlanState) -> Iterator[Decision]:
        question = state.question
        if not searched(state) and self._ctx.knowledge.graph.ambiguous_nouns(question):
            yield CallTool("query_kg", {"search": question}, "ambiguous words: ask the knowledge graph")
        yield CallTool("text_to_sql", {"question": question, "mode": "analytic"}, "write the SQL")
        if (stop := stopped(state)) is not None:
            yield stop
            return
        yield CallTool("run_sql", {"sql": reading.sql}, "run it")
        if (stop := stopped(state)) is not None:
            yield stop
            return
        yield CallTool("summarize_result", {"question": question}, "say what it shows")
        self._ctx.session.previous = reading
        yield Answer(None, suggestions=tuple(dict.fromkeys((*reading.suggestions, *self._suggest(question))))[:4])

    def _predictive(
        self, question: str, reading: Predictive, state: PlanState, case_ids: tuple[str, ...] = ()
    ) -> Iterator[Decision]:
        task = reading.task
        if waits(reading, self._ctx):
            yield CallTool("query_kg", {"search": question}, "what the words mean here")
            yield CallTool("text_to_sql", {"question": question, "mode": "predictive"}, "state the task")
            yield stopped(state) or Answer(before_training(reading), "needs_clarification", offer={"kind": "task"})
            return
        look = [] if state.steps else [CallTool("inspect_data", {}, "look at the schema")]
        calls = [
            *look,
            *([] if searched(state) else [CallTool("query_kg", {"search": question}, "what the words mean here")]),
            CallTool(
                "text_to_sql", {"question": question, "mode": "predictive"}, "state the task and write both queries"
            ),
            CallTool("run_sql", {"sql": task.context_sql, "label": "context_df"}, "rows whose outcome is known"),
            CallTool("run_sql", {"sql": task.predict_sql, "label": "predict_df"}, "rows to score"),
            CallTool(
                "train_tabular_model",
                {
                    "df_label": "context_df",
                    "target_column": task.target_column,
                    "entity_column": task.entity_column,
                    "task_type": task.task_type,
                },
                "train, beside a baseline",
            ),
            CallTool("predict", {"df_label": "predict_df", "top_k": reading.top_k}, "score"),
            CallTool(
                "explain_prediction",
                {"case_ids": list(case_ids)} if case_ids else {"top_k": min(reading.top_k, 100)},
                "why",
            ),
            CallTool(
                "summarize_result",
                {"question": state.question, "include_xai": reading.wants_why or bool(case_ids)},
                "say what it shows",
            ),
        ]
        for call in calls:
            yield call
            if (stop := stopped(state)) is not None:
                yield stop
                return
        yield Answer(None, suggestions=self._after_prediction())

    def _explain(self, reading: Explain, state: PlanState) -> Iterator[Decision]:
        model_id = self._known_model(reading)
        if model_id is None:
            yield from self._train_first(reading, state)
            return
        yield CallTool(
            "explain_prediction", {"case_ids": list(reading.case_ids), "model_id": model_id}, "why, from what is cached"
        )
        if (stop := stopped(state, "cannot_answer")) is not None:
            yield stop
            return
        yield CallTool("summarize_result", {"question": state.question}, "say what it shows")
        yield Answer(None, suggestions=self._after_prediction())

    def _train_first(self, reading: Explain, state: PlanState) -> Iterator[Decision]:
        """No model yet: state the data set's own prediction task, train it, then explain the cases asked for."""
        outcome = self._own_task(reading.entity_table)
        task = read_question(outcome, "predictive", self._ctx) if outcome else None
        if not isinstance(task, Predictive):
            yield Answer(
                "There is no model yet that could be explained. Ask for a prediction first.",
                "cannot_answer",
                self._suggest(),
            )
            return
        yield from self._predictive(outcome, task, state, reading.case_ids)

    def _own_task(self, entity: str | None) -> str:
        """A question that states the prediction task of a table (or of the source's only one); empty when there is none."""
        model = self._ctx.knowledge.model
        found = [o for o in model.outcomes if entity in (None, o.table)]
        if not found or (entity is None and len(found) > 1):
            return ""
        return f"Which {model.table(found[0].table).plural} are likely to {found[0].label}?"

    def _next(self, reading: NextPage, state: PlanState) -> Iterator[Decision]:
        kept: Kept | None = self._ctx.recall("kept")
        ids = _next_ids(kept, reading.count) if kept else []
        if kept is None or kept.source_id != self._ctx.dataset.source_id:
            yield Answer(
                "There is no ranked list in this conversation yet. Ask for a prediction first.",
                "cannot_answer",
                self._suggest(),
            )
            return
        if not ids:
            yield Answer(
                "The ranked list has no further rows.", "answered" if state.steps else "cannot_answer", self._suggest()
            )
            return
        yield CallTool(
            "explain_prediction",
            {"case_ids": ids, "model_id": kept.model_id},
            "the next rows of the list, from what is cached",
        )
        if (stop := stopped(state)) is not None:
            yield stop
            return
        self._ctx.session.kept = kept.model_copy(update={"shown": kept.shown + len(ids)})
        yield CallTool("summarize_result", {"question": state.question}, "say what it shows")
        yield Answer(None, suggestions=self._after_prediction())

    def _known_model(self, reading: Explain) -> str | None:
        """The conversation's model, else the source's newest on this snapshot."""
        kept: Kept | None = self._ctx.recall("kept")
        if kept is not None and kept.source_id == self._ctx.dataset.source_id:
            return kept.model_id
        if self._ctx.models is None:
            return None
        card = self._ctx.models.latest(self._ctx.actor, self._ctx.dataset.source_id)
        if card is None or card.snapshot_id != self._ctx.dataset.snapshot_id:
            return None
        return card.id if reading.entity_table in (None, card.task.entity_table) else None

    def _suggest(self, asked: str = "") -> tuple[str, ...]:
        known = suggested_questions(self._ctx)
        return tuple(s for s in known if s.casefold() != asked.casefold())[:3]

    def _after_prediction(self) -> tuple[str, ...]:
        kept: Kept | None = self._ctx.session.kept
        ids = _next_ids(kept.model_copy(update={"shown": 0}), 1) if kept else []
        card = self._ctx.cache.get("_card")
        label = card.task.entity_label if card else "case"
        return (*(f"Explain {label} {i}" for i in ids), *(("And the next ten?",) if kept else ()))


def _next_ids(kept: Kept, count: int) -> list[str]:
    """Ids of the rows after the ``shown`` first of the ranked list."""
    if kept.predictions_path is None or not kept.predictions_path.exists():
        return []
    with pa.memory_map(str(kept.predictions_path)) as source:
        frame = pa.ipc.open_stream(source).read_all().select([kept.entity_column, "rank", "segment"]).to_pandas()
    return [str(v) for v in top_rows(frame, count, kept.shown)[kept.entity_column]]
