"""Sentences that ask to keep a finding, to list findings or to judge one; and the check that a sentence about a band makes.

A band is read as a question about its metric: what the question's SQL gives is what is to stay between the bounds. Must
never: make a check of words that were not understood, or of a query over several tables.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lexsi_ds.data.handle import Table
from lexsi_ds.services.finding import Band
from lexsi_ds.services.finding_band import band_of, metric_of_query
from lexsi_ds.text_to_sql.reading import Analytic, Reading

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext

Review = Literal["pending", "accepted", "rejected"]
_SAVE = re.compile(
    r"^\s*(?:please\s+|can you\s+|could you\s+)?(?:save|record|propose|add|note|keep|write down|make)\s+"
    r"(?:(?:this|it|that)\s+)?(?:as\s+)?(?:a\s+|an?\s+new\s+)?finding\b\s*(?:(?:on|about|for|of)\s+(?P<table>[\w.\-]+))?"
    r"\s*(?::|-|–|\bthat\b|\bsaying(?:\s+that)?\b)?\s*(?P<statement>.*)$", re.IGNORECASE | re.DOTALL,
)
_LIST = re.compile(
    r"^\s*(?:please\s+)?(?:which|what|list|show|give|are there)\b[^?]*\bfindings\b(?P<rest>[^?]*)\??\s*$", re.IGNORECASE
)
_JUDGE = re.compile(
    r"^\s*(?:please\s+)?(?P<decision>accept|approve|reject)\s+(?:the\s+)?finding\s*:?\s*[\"'“]?(?P<name>.+?)[\"'”]?\s*[.!]?\s*$",
    re.IGNORECASE,
)
_ASKS = {
    "propose_finding": re.compile(r"\bfindings?\b", re.IGNORECASE),
    "review_finding": re.compile(r"\b(?:accept|approve|reject|review)", re.IGNORECASE),
}
_NUMBER = r"-?[\d][\d,]*(?:\.\d+)?\s*(?P<{0}p>%|percent\b)?"
_HOLDS = (
    r"(?:\s+always)?\s+(?:stays?|is|are|remains?|lies?|keeps?|should (?:be|stay)|must (?:be|stay)|has to (?:be|stay))\s+"
)
_WITHIN = rf"(?:between|within|from)\s+(?P<low>{_NUMBER.format('l')})\s*(?:and|to|-|–)\s*(?P<high>{_NUMBER.format('h')})\s*\.?\s*$"
_BEYOND = (
    r"(?P<way>above|over|more than|greater than|at least|no less than|below|under|less than|at most|no more than)"
    rf"\s+(?P<bound>{_NUMBER.format('b')})\s*\.?\s*$"
)
_METRIC, _DOES = r"^(?:the\s+)?(?P<metric>.+?)", r"^(?P<who>.+?)\s+(?P<verb>[a-z]+)\s+(?:at\s+)?"
_BETWEEN = re.compile(_METRIC + _HOLDS + _WITHIN, re.IGNORECASE)
_ONE_SIDE = re.compile(_METRIC + _HOLDS + _BEYOND, re.IGNORECASE)
_DO_BETWEEN = re.compile(_DOES + _WITHIN, re.IGNORECASE)
_DO_BEYOND = re.compile(_DOES + _BEYOND, re.IGNORECASE)
_STATES: dict[Review, str] = {
    "accepted": "accepted|approved|kept", "rejected": "rejected", "pending": "pending|review|wait",
}  # fmt: skip
_FLOOR = {"above", "over", "more than", "greater than", "at least", "no less than"}
_LOOSE = {"at least", "no less than", "at most", "no more than"}


@dataclass(frozen=True)
class FindingAsked:
    """What a question asks of findings."""

    act: Literal["save", "list", "accept", "reject"]
    text: str = ""
    """The statement to save, or the name of the finding to judge."""
    table: str | None = None
    review: Review | None = None
    flagged: bool = False


@dataclass(frozen=True)
class BandDraft:
    """A band read from a sentence, and the one table that its check is about."""

    table: Table
    band: Band


def finding_asked(question: str, ctx: AgentContext) -> FindingAsked | None:
    """What is asked of findings; None for any other question."""
    if ctx.reference is None:
        return None
    if found := _SAVE.match(question):
        table, statement = found["table"], found["statement"].strip().strip("\"“”").strip()
        if table is not None and table_named(table, ctx) is None:
            table, statement = None, f"{table} {statement}".strip()
        return FindingAsked("save", statement, table)
    if found := _JUDGE.match(question):
        return FindingAsked("reject" if found["decision"].casefold() == "reject" else "accept", found["name"].strip())
    if found := _LIST.match(question):
        words = question.casefold()
        table = next((t.name for t in ctx.dataset.tables if re.search(rf"\b{re.escape(t.name.casefold())}s?\b", words)), None)
        review: Review | None = next((state for state, pattern in _STATES.items() if re.search(rf"\b(?:{pattern})", words)), None)
        return FindingAsked("list", table=table, review=review, flagged="flag" in words)
    return None


def person_asked(tool: str, question: str) -> bool:
    """Whether the person's own words ask for such a call; what data says is no order."""
    pattern = _ASKS.get(tool)
    return pattern is None or pattern.search(question) is not None


def table_named(name: str, ctx: AgentContext) -> Table | None:
    """A table of the active source by its name, its plural or its id."""
    wanted = name.casefold()
    for table in ctx.dataset.tables:
        if wanted in (table.name.casefold(), f"{table.name.casefold()}s", table.dataset_id):
            return table
    return None


def table_of(statement: str, ctx: AgentContext) -> Table | None:
    """The one table that a statement speaks of: the only one there is, or the only one whose name or column it says."""
    tables = ctx.dataset.tables
    if len(tables) == 1:
        return tables[0]
    words = set(re.findall(r"\w+", statement.casefold()))
    words |= {w.removesuffix("s") for w in words}
    by_name = [t for t in tables if t.name.casefold() in words]
    found = by_name or [t for t in tables if any(c.name.casefold() in words for c in t.columns)]
    return found[0] if len(found) == 1 else None


def band_in(statement: str, ctx: AgentContext, read: Callable[[str], Reading]) -> BandDraft | None:
    """The band that a sentence states, where its metric is understood and is of one table; else None."""
    text = statement.strip()
    between, one = _BETWEEN.match(text) or _DO_BETWEEN.match(text), _ONE_SIDE.match(text) or _DO_BEYOND.match(text)
    found = between or one
    if found is None:
        return None
    reading = next((r for question in _questions(found) if isinstance(r := read(question), Analytic)), None)
    if reading is None or reading.group_columns or len(reading.tables) != 1 or reading.value_column is None:
        return None
    table = ctx.dataset.table(reading.tables[0])
    if table is None:
        return None
    share = reading.unit == "%"
    if between is not None:
        marked = bool(between["lp"] or between["hp"])
        low, high, strict = _value(between["low"]), _value(between["high"]), False
    else:
        assert one is not None
        marked, bound, way = bool(one["bp"]), _value(one["bound"]), one["way"].casefold()
        low, high, strict = (bound, None, way not in _LOOSE) if way in _FLOOR else (None, bound, way not in _LOOSE)
    if marked and not share:
        return None
    if share and (marked or max(abs(b) for b in (low, high) if b is not None) > 1):
        low, high = (None if b is None else round(b / 100, 12) for b in (low, high))
    sql = metric_of_query(reading.sql, reading.value_column, reading.count_column, share=share)
    if sql is None or (low is not None and high is not None and low > high):
        return None
    return BandDraft(table, band_of(sql, low, high, strict=strict, percent=share))


def _questions(found: re.Match[str]) -> tuple[str, ...]:
    """How the figure of a sentence is asked for: "the default rate is …", "month-to-month customers churn above …"."""
    said = found.groupdict()
    if "metric" in said:
        metric = said["metric"].strip()
        return f"What is the {metric}?", f"{metric}?"
    who, verb = said["who"].strip(), said["verb"]
    return f"What share of {who} {verb}?", f"What is the {verb} rate of {who}?"


def _value(text: str) -> float:
    value = float(re.sub(r"[^\d.\-]", "", text))
    return value if math.isfinite(value) else 0.0
