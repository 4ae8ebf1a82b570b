"""Question to SQL: one query that answers it, or the two queries and the task of a prediction.

The offline parser is asked first. Where it abstains and a language model is configured, the model writes the SQL, which is
parsed, guarded and bound before anyone runs it. Text of the data set goes into that prompt quoted, as data.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from lexsi_ds.agent.given import GivenQuery, GivenTask
from lexsi_ds.agent.prompts import SQL_WRITER_SYSTEM, quote_data
from lexsi_ds.agent.tools.base import FunctionTool, ToolArgs, ToolResult, ToolSpec, refuse
from lexsi_ds.data import guard
from lexsi_ds.errors import EndpointFailed, LexsiError
from lexsi_ds.llm.client import Message
from lexsi_ds.text_to_sql.builder import build
from lexsi_ds.text_to_sql.interpret import interpret
from lexsi_ds.text_to_sql.lexicon import LEXICONS
from lexsi_ds.text_to_sql.predictive import task_reading
from lexsi_ds.text_to_sql.reading import Analytic, CannotAnswer, Clarify, Predictive, Reading
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
    if isinstance(reading, CannotAnswer) and ctx.llm is not None and args.mode != "predictive":
        reading = _ask_model(args.question, ctx) or reading
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
        return refuse(
            f"Ambiguous: {reading.question} Options: {'; '.join(reading.options)}"[:1900],
            reading=reading.model_dump(mode="json"),
        )
    if isinstance(reading, CannotAnswer):
        words = f" Words not understood: {', '.join(reading.words)}." if reading.words else ""
        return refuse(f"{reading.reason}{words}"[:1900], reading=reading.model_dump(mode="json"))
    return refuse("This is not a question that SQL on the data set answers.", reading=reading.model_dump(mode="json"))


def read_question(question: str, mode: Literal["analytic", "predictive", "auto"], ctx: AgentContext) -> Reading:
    """The parser's reading of a question on the run's data set; asked once a run for the same words."""
    known: dict[tuple[str, str], Reading] = ctx.cache.setdefault("_read", {})
    if ctx.given is not None and question.strip() == str(ctx.cache.get("question", "")).strip():
        if ("", "given") not in known:
            known["", "given"] = _given(ctx.given, ctx)
        return known["", "given"]
    if (question, mode) not in known:
        known[question, mode] = interpret(
            question,
            ctx.dataset,
            ctx.knowledge.model,
            ctx.knowledge.values,
            ctx.query,
            previous=ctx.recall("previous"),
            context=ctx.hints,
            mode=mode,
        )
    return known[question, mode]


def _given(given: GivenQuery | GivenTask, ctx: AgentContext) -> Reading:
    """The reading of what a person built or edited."""
    names = Names(ctx.dataset, ctx.knowledge.model)
    try:
        if isinstance(given, GivenTask):
            return task_reading(given.draft, names, ctx.query)
        return build(given.logical, names, ctx.query)
    except LexsiError as error:
        return CannotAnswer(reason=str(error), words=(), suggestions=suggested_questions(ctx))


def suggested_questions(ctx: AgentContext) -> tuple[str, ...]:
    """Questions that this source can answer."""
    known = ctx.knowledge
    return suggestions(Names(ctx.dataset, known.model), LEXICONS.of(known.model, known.values), ctx.query)


def _ask_model(question: str, ctx: AgentContext) -> Analytic | None:
    """SQL from the language model, or None when it gives none that the guard and the binder take (two tries)."""
    assert ctx.llm is not None
    tables = [t.name for t in ctx.dataset.tables]
    messages: list[Message] = [{"role": "user", "content": f"{_schema(ctx)}\n\nQuestion: {question}"}]
    for _ in range(2):
        try:
            reply = ctx.llm.complete(SQL_WRITER_SYSTEM, messages)
        except EndpointFailed:
            return None
        sql = _sql_in(reply.text)
        if not sql:
            return None
        try:
            sql = guard.check(sql, tables)
            ctx.query(f"SELECT * FROM ({sql}) AS q LIMIT 0")
        except LexsiError as error:
            messages.append({"role": "assistant", "content": reply.text})
            messages.append({"role": "user", "content": f"That SQL fails: {error} Write it again."})
            continue
        return Analytic(sql=sql, reading="SQL written by the language model", tables=tuple(tables))
    return None


def _schema(ctx: AgentContext) -> str:
    lines = []
    for table in ctx.dataset.tables:
        columns = ", ".join(f"{c.name} {c.type}" + (f" /* {c.comment} */" if c.comment else "") for c in table.columns)
        lines.append(f"{table.name}({columns})")
    hits = ctx.knowledge.graph.search(str(ctx.cache.get("question", "")), 8)
    lines += [f"[{h.section}] {h.label}: {h.text}" for h in hits]
    return quote_data("schema and business knowledge", "\n".join(lines)[:12_000])


def _sql_in(text: str) -> str:
    fenced = re.search(r"```(?:sql)?\s*(.+?)```", text, re.S | re.I)
    sql = (fenced[1] if fenced else text).strip().rstrip(";").strip()
    return sql if re.match(r"(?is)\s*(with|select|from|pivot)\b", sql) else ""


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
