"""Question to SQL: one query that answers it, or the two queries and the task of a prediction.

The offline parser reads every question. Where a language model is configured, `text_to_sql.model` has it write drafts, which are
checked, bound, run and compared with the parser's reading; without one the parser's reading is all there is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import sqlglot
from sqlglot import exp

from lexsi_ds.agent.document_hints import hints_of
from lexsi_ds.agent.given import AnyGiven, GivenSql, GivenTask
from lexsi_ds.agent.tools.base import FunctionTool, ToolArgs, ToolResult, ToolSpec, refuse
from lexsi_ds.data.guard import check
from lexsi_ds.errors import LexsiError
from lexsi_ds.services.masking import masked_columns
from lexsi_ds.services.sql_desk import veiled
from lexsi_ds.text_to_sql import replies
from lexsi_ds.text_to_sql.builder import build
from lexsi_ds.text_to_sql.interpret import interpret
from lexsi_ds.text_to_sql.lexicon import LEXICONS
from lexsi_ds.text_to_sql.model.checking import known_values
from lexsi_ds.text_to_sql.model.drafting import Bench
from lexsi_ds.text_to_sql.model.settle import Choice, choice_of, may_ask, settle
from lexsi_ds.text_to_sql.model.telling import Known
from lexsi_ds.text_to_sql.predictive import task_reading
from lexsi_ds.text_to_sql.reading import Analytic, CannotAnswer, Clarify, Evidence, Predictive, Reading
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.suggest import suggestions

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext


class TextToSqlArgs(ToolArgs):
    """The question, and whether it asks about what is or about what will be."""

    question: str
    mode: Literal["analytic", "predictive", "auto"] = "auto"


def _run(args: TextToSqlArgs, ctx: AgentContext) -> ToolResult:
    reading = read_question(args.question, args.mode, ctx)
    if isinstance(reading, Analytic):
        ctx.cache.setdefault("_readings", {})[reading.sql] = reading
        ctx.cache.setdefault("_written", set()).add(reading.sql)
        return ToolResult(
            ok=True,
            summary=f"SQL for: {reading.reading}\n{reading.sql}"[:2000],
            payload=reading.model_dump(mode="json"),
        )
    if isinstance(reading, Predictive):
        ctx.cache["_task"] = reading.task
        ctx.cache["_predictive"] = reading
        ctx.cache.setdefault("_written", set()).update({reading.task.context_sql, reading.task.predict_sql})
        return ToolResult(ok=True, summary=_task_summary(reading), payload=reading.model_dump(mode="json"))
    if isinstance(reading, Clarify):
        ctx.cache["_asks_back"] = reading
        return refuse(
            f"Ambiguous: {reading.question} Options: {'; '.join(reading.options)}"[:1900],
            reading=reading.model_dump(mode="json"),
        )
    if isinstance(reading, CannotAnswer):
        ctx.cache["_abstained"] = True
        words = f" Words not understood: {', '.join(reading.words)}." if reading.words else ""
        return refuse(f"{reading.reason}{words}"[:1900], reading=reading.model_dump(mode="json"))
    return refuse("This is not a question that SQL on the data set answers.", reading=reading.model_dump(mode="json"))


def read_question(question: str, mode: Literal["analytic", "predictive", "auto"], ctx: AgentContext) -> Reading:
    """The parser's reading of a question on the run's data set; asked once a run for the same words."""
    known: dict[tuple[str, ...], Reading] = ctx.cache.setdefault("_read", {})
    if ctx.given is not None and question.strip() == str(ctx.cache.get("question", "")).strip():
        if ("", "given") not in known:
            known["", "given"] = _given(ctx.given, ctx)
        return known["", "given"]
    asked: Clarify | None = ctx.recall("asked")
    picked = replies.picked(question, asked.options) if asked is not None else None
    reply, (question, _) = question, choice_of(picked or question)
    hints = hints_of(ctx, question)
    if (question, mode, hints) not in known:
        parsed = _parsed(question, mode, ctx, hints, previous=_changeable(ctx), asked=None if picked else asked)
        parsed = replies.told(parsed, reply, question) if picked else parsed
        known[question, mode, hints] = parsed if mode == "predictive" else _with_model(question, parsed, ctx, hints)
    found = known[question, mode, hints]
    ctx.session.asks = found if isinstance(found, Clarify) else None
    return found


def read_alone(question: str, ctx: AgentContext) -> Reading:
    """The parser's reading of a question that goes on from nothing and leaves nothing behind, such as the figure of a rule."""
    return _parsed(question, "analytic", ctx, hints_of(ctx, question))


def _parsed(
    question: str, mode: Literal["analytic", "predictive", "auto"], ctx: AgentContext, hints: str,
    previous: Reading | None = None, asked: Clarify | None = None,
) -> Reading:
    known = ctx.knowledge
    return interpret(
        question, ctx.dataset, known.model, known.values, ctx.query, previous=previous, context=hints, mode=mode, asked=asked
    )


def _changeable(ctx: AgentContext) -> Reading | None:
    """The last reading, where the parser can change it: not one that a model wrote."""
    previous: Reading | None = ctx.recall("previous")
    return previous if isinstance(previous, Analytic) and previous.logical is not None else None


def _with_model(question: str, parsed: Reading, ctx: AgentContext, hints: str) -> Reading:
    """The reading that holds beside the drafts of the configured model; the parser's own without one. Asked once a run."""
    if ctx.llm is None or ctx.cache.get("_model_failed") or not may_ask(question, parsed):
        return parsed
    hints = "\n".join(part for part in (hints, ctx.knowledge.reviewed) if part)
    known: dict[tuple[str, str], Reading] = ctx.cache.setdefault("_settled", {})
    if (question, hints) not in known:
        about, data = ctx.knowledge, ctx.dataset
        bench = Bench(
            handle=data,
            known=known_values(about.values, about.model),
            run=lambda sql, seconds: ctx.sql.run(data, sql, cancel=ctx.cancel, timeout_s=seconds),
            stop=ctx.cancel.check,
        )
        background = Known(
            about.model, about.graph, about.values, hints, lambda sql: bool(masked_columns(sql, data)), ctx.recall("previous")
        )
        found = settle(question, parsed, ctx.llm, bench, background, ctx.budget, _chosen(ctx))
        if found.note:
            ctx.cache.setdefault("_notes", []).append(found.note)
        if found.written is not None:
            ctx.cache["_written_by"] = found.written
        known[question, hints] = found.reading
    return known[question, hints]


def _chosen(ctx: AgentContext) -> Choice | None:
    """Whose reading the person chose, when this run's question is an option of an earlier one: a planner may drop the mark."""
    said, asked = str(ctx.cache.get("question", "")), ctx.recall("asked")
    picked = replies.picked(said, asked.options) if asked is not None else None
    return choice_of(picked or said)[1]


def _given(given: AnyGiven, ctx: AgentContext) -> Reading:
    """The reading of what a person built or edited."""
    names = Names(ctx.dataset, ctx.knowledge.model)
    try:
        if isinstance(given, GivenTask):
            return task_reading(given.draft, names, ctx.query)
        if isinstance(given, GivenSql):
            return _own_sql(given.sql, ctx)
        return build(given.logical, names, ctx.query)
    except LexsiError as error:
        return CannotAnswer(reason=str(error), words=(), suggestions=suggested_questions(ctx))


def _own_sql(sql: str, ctx: AgentContext) -> Analytic:
    """A person's own SQL, once the guard has let it pass; where it touches masked columns, they are hidden at their table."""
    handle = ctx.dataset
    checked = check(sql, [t.name for t in handle.tables])
    run = veiled(sql, handle) if masked_columns(checked, handle) else sql.strip().rstrip(";").strip()
    used = {t.name.casefold() for t in sqlglot.parse_one(checked, dialect="duckdb").find_all(exp.Table)}
    return Analytic(
        sql=run, reading="Your own SQL, run as it stands.", evidence=(Evidence(words="SQL", became="what you wrote"),),
        tables=tuple(t.name for t in handle.tables if t.name.casefold() in used),
    )  # fmt: skip


def suggested_questions(ctx: AgentContext) -> tuple[str, ...]:
    """Questions that this source can answer."""
    known = ctx.knowledge
    return suggestions(Names(ctx.dataset, known.model), LEXICONS.of(known.model, known.values), ctx.query)


def _task_summary(reading: Predictive) -> str:
    task = reading.task
    reasons = sorted({left.reason for left in task.left_out})
    text = (
        f"Prediction task: {task.title}. task_type={task.task_type}, target_column={task.target_column}, "
        f"entity_column={task.entity_column}. Known: {task.known_meaning}. To score: {task.unknown_meaning}. "
        f"{len(task.features)} features; {len(task.left_out)} columns left out ({', '.join(reasons)}).\n"
        'Next: run_sql(sql=context_sql, label="context_df"), run_sql(sql=predict_sql, label="predict_df").'
    )
    sql = f"\ncontext_sql:\n{task.context_sql}\npredict_sql:\n{task.predict_sql}"
    note = '\nThe two texts are long: pass sql="context_sql" and sql="predict_sql" to run_sql and they are filled in.'
    return text + (sql if len(text) + len(sql) < 1900 else note)


TOOL = FunctionTool(
    ToolSpec(
        name="text_to_sql",
        description=(
            "Convert a question into DuckDB SQL against the active data set. It sees the whole knowledge graph and is far less "
            "likely to pick a wrong join than you are: use it for any SQL with joins, conditional aggregates or string filters. "
            "mode=analytic gives one SQL text; mode=predictive gives two (context_sql for rows whose label is known, "
            "predict_sql for rows whose label is unknown) and a task (task_type, target_column, entity_column) for "
            "train_tabular_model and predict; auto picks by wording (predict, forecast, likely, will, propensity, ...)."
        ),
        args_schema=TextToSqlArgs,
        returns="SQL, or two SQLs with a task specification.",
        capabilities=("retrieval", "semantics"),
        cost_class="llm",
        produces=("sql", "task"),
    ),
    _run,
)
