"""An outcome in words: the reading that holds, the question back, or why nothing is answered. It says what was compared and how.

Nothing of a result that touches a masked column is ever in it, since a planner reads these words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lexsi_ds.data.mentioned import tables_of
from lexsi_ds.knowledge.graph import KnowledgeGraph
from lexsi_ds.knowledge.model import SemanticModel
from lexsi_ds.knowledge.values import ValueIndex
from lexsi_ds.text_to_sql.model.checking import text_tests
from lexsi_ds.text_to_sql.model.describe import evidence_of, in_words, joins_of, shape_of
from lexsi_ds.text_to_sql.model.drafting import Bench, Draft
from lexsi_ds.text_to_sql.model.linking import LinkedValue
from lexsi_ds.text_to_sql.model.reply import honest_line
from lexsi_ds.text_to_sql.model.result import Result, shown
from lexsi_ds.text_to_sql.model.voting import Verdict
from lexsi_ds.text_to_sql.reading import Analytic, CannotAnswer, Clarify, OffTopic, Reading, Written

MARKS = {"parser": " (as the parser reads it)", "model": " (as the language model reads it)"}
"""What an option ends with, by whose reading it stands for."""


@dataclass(frozen=True)
class Known:
    """What is known of the source that the question is about."""

    model: SemanticModel
    graph: KnowledgeGraph
    values: ValueIndex
    hints: str
    hidden: Callable[[str], bool]
    """Whether a query touches a masked column, so that nothing of its result may be said."""
    previous: Reading | None = None
    """The conversation's last reading, which the question may refer to."""


@dataclass(frozen=True)
class Settled:
    """What came of it."""

    reading: Reading
    note: str = ""
    """What a person should know of how the model was used, when the reading itself does not say it."""
    written: Written | None = None


@dataclass(frozen=True)
class Outcome:
    """All that came of a question."""

    question: str
    parsed: Reading
    ours: Analytic | None
    """The parser's reading, where it is a candidate."""
    theirs: Result | None
    """What that gave."""
    drafts: tuple[Draft, ...]
    holds: Verdict
    failed: str
    """Why the model could not be asked further."""
    written: Written


@dataclass(frozen=True)
class Told:
    """What the words of an outcome are made from."""

    bench: Bench
    known: Known
    linked: tuple[LinkedValue, ...]

    def gave(self, sql: str, result: Result) -> str:
        """A result in a few words."""
        return shown(result, hidden=self.known.hidden(sql))

    def named(self, question: str, found: Draft) -> str:
        """A draft in one line."""
        return honest_line(found.says, question, found.sql) or in_words(found.sql)


def told(out: Outcome, how: Told) -> Settled:
    """The verdict as a reading."""
    holds, written, model = out.holds, out.written, out.written.by
    if holds.holds == "model" and holds.draft is not None:
        return Settled(_analytic(out.question, out.drafts[holds.draft], written, how), written=written)
    if holds.holds == "ask" and holds.draft is not None and out.ours is not None and out.theirs is not None:
        return Settled(_asked(out, out.ours, out.theirs, out.drafts[holds.draft], how), written=written)
    if out.ours is not None:
        note = _beside(out, how)
        return Settled(out.ours.model_copy(update={"caveats": (*out.ours.caveats, note), "written": written}), written=written)
    if out.failed and isinstance(out.parsed, CannotAnswer | OffTopic):
        return Settled(out.parsed, f"{model} could not be asked: {out.failed}", written)
    if out.failed:  # the person chose the model's reading
        return Settled(CannotAnswer(reason=f"{model} could not be asked: {out.failed}", words=()), written=written)
    return Settled(_abstained(out, how), written=written)


def _beside(out: Outcome, how: Told) -> str:
    """What is said of the model where the parser's reading holds."""
    model = out.written.by
    if out.holds.agreed and out.theirs is not None:
        return f"Read by the parser; {_of(out.holds.agreed, len(out.drafts))} of {model} gave the same result."
    if out.failed:
        return f"Read by the parser alone: {model} could not be asked. {out.failed}"
    gave = _each(out, how)
    if len(gave) > 1:
        return f"Read by the parser. The drafts of {model} agree neither with it nor with each other ({'; '.join(gave[:3])})."
    if gave:
        return f"Read by the parser. One draft of {model} differs, which alone is not taken: {gave[0]}."
    return f"Read by the parser alone: {model} wrote no SQL that runs."


def _each(out: Outcome, how: Told) -> list[str]:
    return [f"“{how.named(out.question, d)}” gives {how.gave(d.sql, d.result)}" for d in out.drafts if d.result is not None]


def _of(agreed: int, asked: int) -> str:
    return f"{agreed} of {asked} draft{'' if asked == 1 else 's'}"


def _asked(out: Outcome, ours: Analytic, theirs: Result, found: Draft, how: Told) -> Clarify:
    assert found.result is not None
    question, written = out.question.rstrip(), out.written
    return Clarify(
        question=(
            f"Two readings give different results. The parser: “{ours.reading}” gives {how.gave(ours.sql, theirs)}. "
            f"{written.by}, in {_of(written.agreed, written.asked)}: “{how.named(question, found)}” gives "
            f"{how.gave(found.sql, found.result)}. Which is meant?"
        ),
        options=(question + MARKS["parser"], question + MARKS["model"]),
    )


def _abstained(out: Outcome, how: Told) -> Reading:
    why, model, parsed = _why(out, how), out.written.by, out.parsed
    if not isinstance(parsed, CannotAnswer | OffTopic):  # the person chose the model's reading, and it gave none
        return CannotAnswer(reason=f"{model} gave no reading that its drafts agree on: {why}", words=())
    reason = f"{parsed.reason} {model} was asked as well: {why}"
    if isinstance(parsed, OffTopic) and any(d.result is not None for d in out.drafts):
        return CannotAnswer(reason=reason, words=(), suggestions=parsed.suggestions)
    return parsed.model_copy(update={"reason": reason})


def _why(out: Outcome, how: Told) -> str:
    gave, count = _each(out, how), len(out.drafts)
    declined = [d.declined for d in out.drafts if d.declined is not None]
    if gave and all(d.result.bare for d in out.drafts if d.result is not None):
        return f"{_of(len(gave), count)} ran and found nothing, which may be the wrong place to look. None is taken."
    if len(gave) > 1:
        return f"its drafts give different results: {'; '.join(gave[:4])}. None is taken."
    if gave and declined:
        return f"{_of(len(declined), count)} say that the tables do not answer this. None is taken."
    if gave:
        return f"only one of its {count} drafts ran ({gave[0]}), and one alone is not taken."
    if declined:
        said = next(filter(None, declined), "")
        return "it says that the tables do not answer this" + (f": {said}" if said else ".")
    return f"none of its {count} drafts ran."


def _analytic(question: str, found: Draft, written: Written, how: Told) -> Analytic:
    assert found.result is not None
    handle, model = how.bench.handle, how.known.model
    groups, figure = shape_of(found.sql, found.result)
    agreed = _of(written.agreed, written.asked)
    caveats = [f"Written by {written.by}, checked against the schema and bound before it ran, agreed by {agreed}."]
    if written.asked == 1:
        caveats.append("It is one draft alone: nothing else confirms it.")
    _, odd = joins_of(found.sql, handle, model)
    caveats += [f"It joins {join}, which is no known link of these tables." for join in odd]
    drawn = len(groups) == 1 and figure is not None and 1 < found.result.row_count <= 60
    return Analytic(
        sql=found.sql,
        reading=how.named(question, found),
        evidence=evidence_of(found.sql, handle, model, how.linked),
        value_column=figure,
        group_columns=groups,
        chart="bar" if drawn else "none",
        ordered=" order by " in f" {' '.join(found.sql.split()).casefold()} ",
        string_filters=tuple(text_tests(found.sql, handle)),
        caveats=tuple(caveats),
        tables=tuple(t.name for t in tables_of(handle, found.sql)),
        written=written,
    )

