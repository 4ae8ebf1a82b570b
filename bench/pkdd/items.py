"""The questions as values, read from ``questions.yaml``; and the demo bank that their golds run on, apart from the product."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import duckdb
import yaml
from pydantic import BaseModel, ConfigDict, Field

from bench.asking import Row
from lexsi_ds.agent.report import plain
from lexsi_ds.data.demo_bank import write_demo_bank

FILE = Path(__file__).with_name("questions.yaml")
Expect = Literal["answer", "ask", "abstain", "predict", "explain", "finding", "tool_error"]
ANSWER_TOOLS = ("text_to_sql", "run_sql", "summarize_result")


class Scripted(BaseModel):
    """One tool call that a scripted planner makes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool: str
    args: dict[str, Any] = Field(default_factory=dict)


class Task(BaseModel):
    """What a prediction or an explanation must be about; SQL gives ids, so that no wording of the task is asked for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    entity: str = ""
    target: str = ""
    known: str = ""
    unknown: str = ""
    positive: str = ""
    top: int = 10
    cases: tuple[str, ...] = ()
    ranks: tuple[int, int] | None = None
    """First and last rank, in the list of the turn before, of the cases to explain."""


class Item(BaseModel):
    """One question, or several turns of which the last is judged."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    kind: str
    question: str | None = None
    turns: tuple[str, ...] = ()
    gold: str | None = None
    check: str | None = None
    readings: tuple[str, ...] = ()
    ordered: bool = False
    expect: Expect = "answer"
    tools: tuple[str, ...] | None = None
    says: str | None = None
    calls: tuple[Scripted, ...] = ()
    task: Task = Task()
    context: str = ""
    """What the person says beside the question; such an item is asked outside a conversation."""
    documents: dict[str, str] = Field(default_factory=dict)
    """What the library holds while it is asked: texts by name."""
    note: str = ""

    @property
    def asked(self) -> tuple[str, ...]:
        """The turns, one or more."""
        return self.turns or (self.question or "",)

    def expected_tools(self, state: str) -> tuple[str, ...] | None:
        """The tools that must run for the last turn, when it ends so; None where any may."""
        if self.calls or self.tools:
            return self.tools
        if self.expect in ("answer", "finding", "ask", "abstain"):
            return ANSWER_TOOLS if state == "answered" else ()
        return None


def load(path: Path = FILE) -> tuple[Item, ...]:
    """Every item. Raises ValidationError for a field that is not known."""
    return tuple(Item.model_validate(body) for body in yaml.safe_load(path.read_text(encoding="utf-8")))


def bank() -> duckdb.DuckDBPyConnection:
    """The demo bank in memory, as its generator writes it."""
    con = duckdb.connect(config={"threads": 2})
    write_demo_bank(con, lambda _: None)
    return con


def rows(con: duckdb.DuckDBPyConnection, sql: str) -> list[Row]:
    """The rows of a gold as plain cells."""
    return [tuple(plain(v) for v in row) for row in con.execute(sql).fetchall()]
