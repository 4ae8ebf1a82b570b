"""A question read: one SQL query, a prediction, an explanation, a page, a question back, or an honest no.

The only door to the rooms of this package. The same question on the same snapshot always gives the same reading.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import BadInput
from lexsi_ds.knowledge.model import SemanticModel
from lexsi_ds.knowledge.values import ValueIndex
from lexsi_ds.knowledge.verified_sql import filled_question, filled_sql
from lexsi_ds.text_to_sql import asks, gate, hints, partial, replies, several, verified
from lexsi_ds.text_to_sql.analytic import analytic
from lexsi_ds.text_to_sql.doubt import Ambiguous, NotUnderstood
from lexsi_ds.text_to_sql.lexicon import LEXICONS, Lexicon
from lexsi_ds.text_to_sql.parser import parse
from lexsi_ds.text_to_sql.predictive import task_reading
from lexsi_ds.text_to_sql.reading import Analytic, CannotAnswer, Clarify, Evidence, OffTopic, Predictive, Reading
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.suggest import suggestions
from lexsi_ds.text_to_sql.tagger import tag
from lexsi_ds.text_to_sql.task_draft import TaskDraft

Mode = Literal["analytic", "predictive", "auto"]
_LONGEST = 4_000
_DOCUMENT = re.compile(
    r"\b(pdfs?|documents?|handbook|manual|white ?paper|memo|policy text|terms and conditions|brochure|attachment|attached file"
    r"|uploaded (file|text|pdf|document)|annual report|contract text)\b",
    re.IGNORECASE,
)
_NO_DOCUMENTS = (
    "That asks about a document, and the tables do not hold it. No sentence of a document in the library answers it either; "
    "documents are added on Connect data, tab Documents."
)


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
    asked: Clarify | None = None,
) -> Reading:
    """Read a question. ``query`` runs SQL on the handle; ``previous`` is the reading that a follow-up changes; ``context`` is text
    that a person gave beside the question and is never read as an order; ``asked`` is what was asked back just before, of which the
    question picks no option."""
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
    if asked is not None and _is_fragment(question, source):
        return replies.ask_again(question, asked)
    checked = _verified(question, source)
    if checked is not None and mode != "predictive":
        return checked
    if context:
        read = _with_hints(question, context, source, previous, mode)
        if read is not None:
            return read

    def alone(part: str) -> Reading:
        return _read(part, source, None, mode)

    together = several.asked_in_turn(question, alone)
    if together is not None:
        return together
    try:
        return _read(question, source, previous, mode)
    except NotUnderstood as doubt:
        asked = _which_column(question, source, doubt, previous, mode) or several.to_choose_from(question, alone)
        if asked is not None:
            return asked
        if _DOCUMENT.search(question) and not any(w in source.lexicon.vocabulary for w in ("document", "pdf", "handbook")):
            return CannotAnswer(reason=_NO_DOCUMENTS, words=doubt.words, suggestions=_suggested(source))
        goes_on = isinstance(previous, Analytic) and not tag(question, source.lexicon, source.names.handle.today).unknown
        if not goes_on and not _about_the_data(question, source):
            return OffTopic(reason=gate.REASONS["small_talk"], suggestions=_suggested(source))
        rest = partial.understood(question, source.names, source.lexicon)
        return CannotAnswer(reason=_why_not(doubt), words=doubt.words, suggestions=_suggested(source), partial=rest)
    except Ambiguous as doubt:
        return _ask_back(question, source, doubt, previous, mode)


def _is_fragment(question: str, source: Source) -> bool:
    """Whether a text that picks no option asks for nothing by itself either."""
    return replies.says_nothing_alone(question, parse(tag(question, source.lexicon, source.names.handle.today).items))


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


def _with_hints(question: str, context: str, source: Source, previous: Reading | None, mode: Mode) -> Reading | None:
    """The reading of a question with the words that its context defines; None when they do not help."""
    text, used = hints.rewritten(question, context, source.lexicon)
    if not used:
        return None
    try:
        read = _read(text, source, previous, mode)
    except (NotUnderstood, Ambiguous):
        return None
    told = tuple(Evidence(words=d.words, became=f"{d.meaning} (from the context)") for d in used)
    if isinstance(read, Analytic | Predictive):
        return read.model_copy(update={"evidence": (*read.evidence, *told)})
    return read


def _verified(question: str, source: Source) -> Reading | None:
    """The SQL that a person has checked for this question, with the values that this one has."""
    model, lexicon = source.names.model, source.lexicon
    found = verified.find(question, model.verified, lexicon.values, lexicon.vocabulary)
    if found is None:
        return None
    tables, sql = tuple(t.name for t in source.names.handle.tables), filled_sql(found.verified, found.values)
    told = tuple(Evidence(words=v, became=f"{name.replace('_', ' ')} of a verified question") for name, v in found.values.items())
    return Analytic(
        sql=sql,
        reading=f"{verified.MARK}: {filled_question(found.verified, found.values)}",
        evidence=(Evidence(words=question, became=f"{'a near match of ' if found.near else ''}a verified question"), *told),
        tables=tuple(t for t in tables if re.search(rf"\b{re.escape(t)}\b", sql, re.IGNORECASE)),
    )


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


def _ask_back(question: str, source: Source, doubt: Ambiguous, previous: Reading | None, mode: Mode) -> Reading:
    options = []
    for choice in doubt.choices:
        text = question[: doubt.item.start] + choice + question[doubt.item.end :]
        try:
            _read(text, source, previous, mode)
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


def _which_column(
    question: str, source: Source, doubt: NotUnderstood, previous: Reading | None, mode: Mode
) -> Clarify | None:
    """Ask what the one unknown word of a question stands for, where every other word was understood."""
    options: list[str] = []
    learns: list[dict[str, str]] = []
    for word, choice in partial.stand_ins(question, source.names, source.lexicon, doubt):
        text = choice.text
        try:
            read = _read(text, source, previous, mode)
        except (NotUnderstood, Ambiguous):
            continue
        if read.kind == "analytic" and text not in options:
            options.append(text)
            learns.append({"words": word, "table": choice.table, "column": choice.column, "value": ""})
    if not 2 <= len(options) <= partial.MOST_OPTIONS:
        return None
    word = learns[0]["words"]
    said = f"\u201c{word}\u201d is not known here: no table, column or value is called so. Which column is meant?"
    return Clarify(question=said, options=tuple(options), learns=tuple(learns))


def _suggested(source: Source) -> tuple[str, ...]:
    return suggestions(source.names, source.lexicon, source.query)
