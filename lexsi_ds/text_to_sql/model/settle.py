"""The door to this room: a question that the parser has read, settled with drafts of a language model.

The parser's reading is one of the candidates and wins on agreement. Where drafts agree against it a person is asked; where nothing
agrees, nothing is answered. Without a configured model nobody comes here.
"""

from __future__ import annotations

import re
from typing import Literal

from lexsi_ds.errors import EndpointFailed, LexsiError
from lexsi_ds.llm.wire import Asks
from lexsi_ds.text_to_sql import gate
from lexsi_ds.text_to_sql.model.budget import Budget, Spending
from lexsi_ds.text_to_sql.model.drafting import Bench, Draft, draft
from lexsi_ds.text_to_sql.model.linking import LinkedValue, linked_values
from lexsi_ds.text_to_sql.model.prompt import Material, paths_within
from lexsi_ds.text_to_sql.model.relevance import similar_questions
from lexsi_ds.text_to_sql.model.result import Result
from lexsi_ds.text_to_sql.model.slice import schema_slice
from lexsi_ds.text_to_sql.model.telling import Known, Outcome, Settled, Told, told
from lexsi_ds.text_to_sql.model.voting import Verdict, verdict
from lexsi_ds.text_to_sql.reading import Analytic, CannotAnswer, OffTopic, Reading, Written
from lexsi_ds.text_to_sql.verified import MARK

Choice = Literal["parser", "model"]
_MARKED = re.compile(r"\s*\(as the (parser|language model) reads it\)\s*$")


def choice_of(question: str) -> tuple[str, Choice | None]:
    """The question without the mark of an option that a person chose, and which one it was."""
    found = _MARKED.search(question)
    if found is None:
        return question, None
    return question[: found.start()], "parser" if found[1] == "parser" else "model"


def may_ask(question: str, reading: Reading) -> bool:
    """Whether a model is asked at all: about data, not for a prediction, nor what was turned away, is asked back, or was checked by
    a person."""
    if isinstance(reading, Analytic) and reading.reading.startswith(MARK):
        return False
    return isinstance(reading, Analytic | CannotAnswer | OffTopic) and gate.refusal(question) is None


def settle(question: str, parsed: Reading, llm: Asks, bench: Bench, known: Known, budget: Budget, choice: Choice | None) -> Settled:
    """The reading that holds. ``choice`` is what a person chose between the two readings of an earlier turn."""
    if choice == "parser":
        return Settled(parsed)
    spending = Spending(budget)
    ours = parsed if isinstance(parsed, Analytic) and choice is None else None
    linked = linked_values(question, known.model, known.values)
    drafts: list[Draft] = []
    theirs = _run_parsed(ours, bench, budget) if ours is not None else None
    holds, failed = Verdict("parser" if theirs else "none"), ""
    try:
        text = _material(question, bench, known, linked, budget)
        while len(drafts) < budget.candidates and not holds.settled:
            drafts.append(draft(llm, bench, text, spending, temperature=budget.temperature if drafts else 0))
            declined = sum(1 for d in drafts if d.declined is not None)
            holds = verdict(theirs, [_counted(d, theirs) for d in drafts], declined, budget.candidates)
            if spending.left_s <= 0 or drafts[-1].problem == "the budget was used up":
                break
    except EndpointFailed as error:
        failed = str(error)
    written = Written(
        by=llm.model, asked=len(drafts), agreed=holds.agreed, repairs=sum(d.repairs for d in drafts),
        tokens=spending.tokens, seconds=round(spending.seconds, 2),
    )  # fmt: skip
    return told(Outcome(question, parsed, ours, theirs, tuple(drafts), holds, failed, written), Told(bench, known, linked))


def _counted(found: Draft, theirs: Result | None) -> Result | None:
    """The result that counts. Nothing found is no answer by itself: drafts that look in the wrong place agree on it too."""
    return None if theirs is None and found.result is not None and found.result.bare else found.result


def _run_parsed(parsed: Analytic, bench: Bench, budget: Budget) -> Result | None:
    try:
        return bench.result(parsed.sql, budget.sql_seconds)
    except LexsiError:
        return None  # the run itself will say what is wrong with it


def _material(question: str, bench: Bench, known: Known, linked: tuple[LinkedValue, ...], budget: Budget) -> str:
    part = schema_slice(question, bench.handle, known.model, linked, bench.known, budget.schema_tokens)
    hits = [h for h in known.graph.search(question, 12) if h.section in ("concepts", "disambigs", "metrics")]
    return Material(
        question=question,
        part=part,
        linked=linked,
        hits=tuple(hits[:8]),
        paths=paths_within(known.model, part.tables),
        examples=similar_questions(question, known.model.verified),
        instructions=known.model.instructions,
        hints=known.hints,
        today=bench.handle.today,
        before=known.previous if isinstance(known.previous, Analytic) else None,
    ).text()
