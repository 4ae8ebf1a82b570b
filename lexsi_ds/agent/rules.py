"""The planner's rules that the loop enforces, whoever plans. A broken rule is an answer that says what to do instead."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from lexsi_ds.agent.context import AgentContext
from lexsi_ds.agent.finding_words import person_asked
from lexsi_ds.agent.given import waits
from lexsi_ds.agent.tools.run_sql import full_sql

_SQL_TOOLS = ("text_to_sql", "run_sql")


@dataclass
class Done:
    """What has happened in this run that a rule asks about."""

    succeeded: list[str] = field(default_factory=list)
    """Names of the tools that succeeded, in order."""
    sampled: set[tuple[str, str]] = field(default_factory=set)
    """(table, column) pairs whose values were looked at, lower case."""
    answers: dict[str, str] = field(default_factory=dict)
    """What a refused or failed call was answered, by its fingerprint."""
    unseen_empty: bool = False
    """Whether the last query gave no row and nothing was looked at since."""

    @property
    def owes_summary(self) -> bool:
        """Whether a prediction was made and not yet summarized."""
        made = [i for i, name in enumerate(self.succeeded) if name == "predict"]
        return bool(made) and "summarize_result" not in self.succeeded[made[-1] :]

    @property
    def has_result(self) -> bool:
        """Whether anything was queried, predicted, explained or read: what an answer can stand on."""
        return any(name in ("run_sql", "predict", "explain_prediction", "read_document") for name in self.succeeded)

    def note(self, tool: str, args: dict[str, Any]) -> None:
        """Remember a call that succeeded."""
        self.succeeded.append(tool)
        if tool in ("sample_values", "text_to_sql", "run_sql", "query_kg"):
            self.unseen_empty = False
        if tool == "sample_values":
            self.sampled.add((str(args.get("table", "")).casefold(), str(args.get("column", "")).casefold()))


def broken(tool: str, args: dict[str, Any], done: Done, ctx: AgentContext) -> str | None:
    """The rule that this call would break, in words for the planner; None when it may run."""
    if done.owes_summary and tool not in ("summarize_result", "explain_prediction"):
        return "After predict, call summarize_result next (only explain_prediction may come between)."
    if tool in ("propose_finding", "review_finding") and not person_asked(tool, str(ctx.cache.get("question", ""))):
        return "The user did not ask for this: findings are kept and judged only when the question says so."
    if tool == "connect_datalake" and (host := _unnamed_host(str(args.get("endpoint") or ""), ctx)):
        return f"The user did not name the store {host}: ask whether to send requests to it before you connect."
    if tool == "connect_datalake" and (unnamed := _unnamed(args, ctx)):
        return f"The user did not name the bucket {unnamed!r}: only a bucket that the question names is connected."
    if tool == "train_tabular_model" and (stated := ctx.cache.get("_predictive")) is not None and waits(stated, ctx):
        return "The person wants to see this task before it trains: end with a question that says what is to be decided."
    if tool == "summarize_result" and (reason := empty_result(done)):
        return reason
    if tool in _SQL_TOOLS and "query_kg" not in done.succeeded:
        nouns = ctx.knowledge.graph.ambiguous_nouns(str(ctx.cache.get("question", "")))
        if nouns:
            return f"{_listed(nouns)} can mean more than one thing here: call query_kg with the full question before any SQL."
    if tool == "run_sql":
        return _inline_sql(full_sql(str(args.get("sql", "")), ctx), done, ctx)
    return None


def _unnamed_host(endpoint: str, ctx: AgentContext) -> str | None:
    """The host of an endpoint that the person did not name: text in the data must not choose where requests go."""
    host = endpoint.partition("://")[2] or endpoint
    host = host.partition("/")[0].rsplit(":", 1)[0].casefold()
    if not host or host in ("localhost", "[::1]") or host.startswith("127."):
        return None
    return None if host in str(ctx.cache.get("question", "")).casefold() else host[:100]


def _unnamed(args: dict[str, Any], ctx: AgentContext) -> str | None:
    """The bucket that the person's own question does not name: hints, documents and cells may not choose it."""
    bucket = str(args.get("bucket") or "").casefold()
    asked = re.split(r"[^\w.-]+", str(ctx.cache.get("question", "")).casefold())
    return None if bucket in {word.strip(".-") for word in asked} else bucket[:100]


def empty_result(done: Done) -> str | None:
    """What to tell a planner that goes on from an empty result without a second look; said once a result."""
    if not done.unseen_empty:
        return None
    done.unseen_empty = False
    return (
        "The last query gave no row. Look again before you answer: sample_values on the filtered column, or other SQL from "
        "text_to_sql. If no row is the answer, say so now."
    )


def _inline_sql(sql: str, done: Done, ctx: AgentContext) -> str | None:
    """Rules on SQL that a planner wrote itself; what text_to_sql wrote in this run is exempt."""
    if sql in ctx.cache.get("_written", set()):
        return None
    try:
        tree = sqlglot.parse_one(sql, read="duckdb")
    except SqlglotError:
        return None  # the guard says what is wrong with it
    if label := _label_used_as_table(tree, ctx):
        return f"{label} is a cache key of run_sql, not a table: pass it as df_label, or query the tables themselves."
    if tree.find(exp.Join) or _conditional_aggregate(tree):
        return "SQL with joins or conditional aggregates comes from text_to_sql: call it with the question."
    known = {column for _, column in done.sampled}
    unsampled = [c for c in _string_filtered(tree, ctx) if c not in known]
    if unsampled:
        return f"Look at the values first: call sample_values on {_listed(unsampled)} before filtering on text."
    return None


def _label_used_as_table(tree: exp.Expr, ctx: AgentContext) -> str | None:
    defined = {cte.alias_or_name for cte in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        name = table.name
        if name not in defined and ctx.dataset.table(name) is None and f"sql_result:{name}" in ctx.cache:
            return name
    return None


def _conditional_aggregate(tree: exp.Expr) -> bool:
    for node in tree.find_all(exp.AggFunc):
        if node.find(exp.Case) or node.find(exp.If) or isinstance(node.parent, exp.Filter):
            return True
    return False


def _string_filtered(tree: exp.Expr, ctx: AgentContext) -> list[str]:
    """Text columns that the SQL compares with a literal, lower case, in order."""
    found: list[str] = []
    for node in tree.find_all(exp.EQ, exp.NEQ, exp.In, exp.Like, exp.ILike):
        column = node.find(exp.Column)
        literals = [lit for lit in node.find_all(exp.Literal) if lit.is_string]
        if column is None or not literals:
            continue
        families = {c.family for t in ctx.dataset.tables if (c := t.column(column.name)) is not None}
        if "text" in families and column.name.casefold() not in found:
            found.append(column.name.casefold())
    return found


def _listed(names: list[str]) -> str:
    return ", ".join(repr(n) for n in names)
