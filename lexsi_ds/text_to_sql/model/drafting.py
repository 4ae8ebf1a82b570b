"""One draft of SQL: asked for, checked, bound and run, and sent back with what is wrong at most so many times.

What names an unknown table or column is never run. What the model sees of a failure is the message of the guard, the binder or the
sandbox, none of which holds a value of the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.data.sql import SqlResult
from lexsi_ds.errors import LexsiError
from lexsi_ds.llm.wire import Asks, Message, Reply
from lexsi_ds.text_to_sql.model.budget import Spending, tokens_of
from lexsi_ds.text_to_sql.model.checking import checked, unknown_value, where_columns_are
from lexsi_ds.text_to_sql.model.prompt import SYSTEM
from lexsi_ds.text_to_sql.model.reply import taken_apart
from lexsi_ds.text_to_sql.model.result import Result, result_of
from lexsi_ds.text_to_sql.model.slice import Known

_LONGEST_ECHO = 2_000


@dataclass(frozen=True)
class Draft:
    """What came of asking once."""

    sql: str = ""
    says: str = ""
    result: Result | None = None
    declined: str | None = None
    """Why the tables cannot answer, in the model's words."""
    problem: str = ""
    """What was wrong with its last try, when it has no result."""
    repairs: int = 0


@dataclass(frozen=True)
class Bench:
    """Where drafts are tried."""

    handle: DatasetHandle
    known: Known
    run: Callable[[str, float], SqlResult]
    """Runs guarded SQL in the sandbox, for at most so many seconds."""
    stop: Callable[[], None]
    """Raises when the person pressed Stop."""

    def bound(self, sql: str, seconds: float) -> None:
        """Have the database bind it: every name, type and argument is checked, no row is read."""
        self.run(f"SELECT * FROM (\n{sql}\n) AS bound LIMIT 0", seconds).path.unlink(missing_ok=True)

    def result(self, sql: str, seconds: float) -> Result:
        """The rows of SQL that is known to bind."""
        return result_of(self.run(sql, seconds))


def draft(llm: Asks, bench: Bench, material: str, spending: Spending, *, temperature: float) -> Draft:
    """Ask for SQL until it runs, or the tries or the budget are used up. Raises EndpointFailed and Stopped."""
    messages: list[Message] = [{"role": "user", "content": material}]
    seen: set[str] = set()
    last = Draft(problem="the budget was used up")
    for tries in range(spending.budget.repairs + 1):
        bench.stop()
        prompt = SYSTEM + "".join((m.get("content") or "") for m in messages)
        if not spending.affords(prompt):
            return last
        reply = llm.complete(
            SYSTEM, messages, temperature=temperature, max_tokens=spending.budget.reply_tokens, within_s=spending.left_s
        )
        spending.tokens += reply.prompt_tokens + reply.completion_tokens or tokens_of(prompt + reply.text)
        last = _tried(reply, bench, spending, tries)
        if last.result is not None or last.declined is not None or (last.sql and last.sql in seen):
            return last
        seen.add(last.sql)
        again = f"{last.problem}\nReply again with the Reading line and one corrected SELECT in a ```sql block."
        messages.append({"role": "assistant", "content": reply.text[:_LONGEST_ECHO] or "(nothing)"})
        messages.append({"role": "user", "content": again})
    return last


def _tried(reply: Reply, bench: Bench, spending: Spending, tries: int) -> Draft:
    wrote = taken_apart(reply.text)
    if reply.cut:
        return Draft(problem="Your reply was cut off at its longest length. Write a shorter query.", repairs=tries)
    if wrote.declined is not None:
        return Draft(declined=wrote.declined, repairs=tries)
    if not wrote.sql:
        return Draft(problem="Your reply held no SELECT statement.", repairs=tries)
    seconds = max(0.5, min(spending.budget.sql_seconds, spending.left_s))
    try:
        text = checked(wrote.sql, bench.handle)
        bench.bound(text, seconds)
        if problem := unknown_value(text, bench.handle, bench.known):
            return Draft(wrote.sql, wrote.says, problem=f"That SQL finds nothing: {problem}", repairs=tries)
        return Draft(text, wrote.says, bench.result(text, seconds), repairs=tries)
    except LexsiError as error:
        advice = where_columns_are(wrote.sql, bench.handle)
        said = " ".join(filter(None, (error.what, error.to_do, advice)))
        return Draft(wrote.sql, wrote.says, problem=f"That SQL fails: {said}", repairs=tries)
