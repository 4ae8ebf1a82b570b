"""A question read: one SQL query, a prediction, an explanation, a page, a question back, or an honest no.

The only door to the rooms of this package. The same question on the same snapshot always gives the same reading.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import BadInput
from lexsi_ds.knowledge.model import SemanticModel
from lexsi_ds.knowledge.values import ValueIndex
from lexsi_ds.text_to_sql import asks, gate
from lexsi_ds.text_to_sql.analytic import analytic
from lexsi_ds.text_to_sql.doubt import Ambiguous, NotUnderstood
from lexsi_ds.text_to_sql.lexicon import LEXICONS, Lexicon
from lexsi_ds.text_to_sql.predictive import task_reading
from lexsi_ds.text_to_sql.reading import Analytic, CannotAnswer, Clarify, OffTopic, Reading
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.suggest import suggestions
from lexsi_ds.text_to_sql.tagger import tag
from lexsi_ds.text_to_sql.task_draft import TaskDraft

Mode = Literal["analytic", "predictive", "auto"]
_LONGEST = 4_000


@dataclass(frozen=True)
class Source:
    """What a question is read against."""

    names: Names
    lexicon: Lexicon
    query: Callable[[str], pd.DataFrame]


def interpret(
    question: str,
    handle: DatasetHandle,
    model: SemanticModel,
    values: ValueIndex,
    query: Callable[[str], pd.DataFrame],
    *,
    previous: Reading | None = None,
    context: str = "",
    mode: Mode = "auto",
) -> Reading:
    """Read a question. ``query`` runs SQL on the handle; ``previous`` is the reading that a follow-up changes; ``context`` is text
    that a person gave beside the question and is never read as an order."""
    del context
    source = Source(Names(handle, model), LEXICONS.of(model, values), query)
    if len(question) > _LONGEST:
        return CannotAnswer(
            reason=f"The question has {len(question):,} characters; {_LONGEST:,} are the most.",
            words=(),
            suggestions=_suggested(source),
        )
    refused = gate.refusal(question)
    if refused in ("empty", "small_talk", "steering"):
        return OffTopic(reason=gate.REASONS[refused], suggestions=_suggested(source))
    if refused is not None:
        return CannotAnswer(reason=gate.REASONS[refused], words=(), suggestions=_suggested(source))
    try:
        return _read(question, source, previous, mode)
    except NotUnderstood as doubt:
        parts = _parts(question, source, previous, mode)
        if parts:
            return Clarify(question="That is more than one question. Which one first?", options=parts)
        if not _about_the_data(question, source):
            return OffTopic(reason=gate.REASONS["small_talk"], suggestions=_suggested(source))
        return CannotAnswer(reason=_why_not(doubt), words=doubt.words, suggestions=_suggested(source))
    except Ambiguous as doubt:
        parts = _parts(question, source, previous, mode)
        if parts:
            return Clarify(question="That is more than one question. Which one first?", options=parts)
        return _ask_back(question, source, doubt, mode)


def _read(question: str, source: Source, previous: Reading | None, mode: Mode) -> Reading:
    page = asks.next_page(question)
    if page is not None:
        return page
    if mode != "analytic":
        explained = asks.explanation(question, source.lexicon, source.names.model, source.query)
        if explained is not None:
            return explained
        asked = asks.prediction(question, source.lexicon, source.names, forced=mode == "predictive")
        if isinstance(asked, Clarify):
            return asked
        if asked is not None:
            return _predictive(source, asked)
        if mode == "predictive":
            raise NotUnderstood(("the outcome",), "it names nothing that can be predicted here")
    return analytic(
        question, source.names, source.lexicon, source.query, previous if isinstance(previous, Analytic) else None
    )


def _parts(question: str, source: Source, previous: Reading | None, mode: Mode) -> tuple[str, ...]:
    """The questions that were asked in one go, when each of them is understood by itself."""
    parts = tuple(p.strip() + "?" for p in question.split("?") if any(ch.isalnum() for ch in p))
    if not 1 < len(parts) <= 4:
        return ()
    for part in parts:
        try:
            _read(part, source, previous, mode)
        except (NotUnderstood, Ambiguous):
            return ()
    return parts


def _predictive(source: Source, draft: TaskDraft) -> Reading:
    try:
        return task_reading(draft, source.names, source.query)
    except BadInput as bad:
        return CannotAnswer(reason=str(bad), words=(), suggestions=_suggested(source))


def _about_the_data(question: str, source: Source) -> bool:
    """Whether any word of the question names something of this source."""
    tagged = tag(question, source.lexicon, source.names.handle.today)
    asks = {"sense", "count", "sum", "average", "median", "share", "by", "each", "grain"}
    ours = any(i.kind == "stop" and i.words[0] in ("our", "we", "us") for i in tagged.items)
    return ours or any(i.kind in asks for i in tagged.items)


def _why_not(doubt: NotUnderstood) -> str:
    words = ", ".join(f"\u201c{w}\u201d" for w in doubt.words)
    return f"Not understood: {words} \u2013 {doubt.reason}." if words else f"Not understood: {doubt.reason}."


def _ask_back(question: str, source: Source, doubt: Ambiguous, mode: Mode) -> Reading:
    options = []
    for choice in doubt.choices:
        text = question[: doubt.item.start] + choice + question[doubt.item.end :]
        try:
            _read(text, source, None, mode)
        except (NotUnderstood, Ambiguous):
            continue
        options.append(text)
    if len(options) > 1:
        return Clarify(
            question=f"\u201c{doubt.item.text}\u201d: {doubt.why}. Which is meant?",
            options=tuple(dict.fromkeys(options)),
        )
    return CannotAnswer(
        reason=f"Not clear: {doubt.why}. It could be {', '.join(doubt.choices)}.",
        words=(doubt.item.text,),
        suggestions=_suggested(source),
    )


def _suggested(source: Source) -> tuple[str, ...]:
    return suggestions(source.names, source.lexicon, source.query)
