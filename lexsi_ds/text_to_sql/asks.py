"""Questions that are not answered by one query: predictions, explanations of a case, the next rows of a ranked list.

A prediction is recognised by its words and by an outcome or rows that this source knows; a word that has no part in it stops it.
"""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from lexsi_ds.knowledge.model import Condition, Outcome, SemanticModel
from lexsi_ds.text_to_sql import horizon_ask, predict_form, predict_options, status_cue, task_owner
from lexsi_ds.text_to_sql.cues import EXPLAIN_LEADS, EXPLAIN_WORDS, NEXT_WORDS, PREDICT_CUES, STRONG, WEAK
from lexsi_ds.text_to_sql.doubt import Ambiguous, NotUnderstood
from lexsi_ds.text_to_sql.lexicon import Lexicon
from lexsi_ds.text_to_sql.reading import Clarify, Evidence, Explain, NextPage
from lexsi_ds.text_to_sql.sqltext import Names, ident, text_literal
from lexsi_ds.text_to_sql.tagger import Item, Tagged, tag
from lexsi_ds.text_to_sql.task_draft import TaskDraft
from lexsi_ds.text_to_sql.tokens import tokenise

_MOST_ROWS = 1000
_RISK_WORDS = ("risk", "worr", "danger", "vulnerable", "endanger", "watch", "threat")


def prediction(question: str, lexicon: Lexicon, names: Names, *, forced: bool) -> TaskDraft | Clarify | None:
    """The prediction that a question asks for, or the question which is meant; None when it asks for none. Raises when a part
    of it means nothing."""
    question = predict_form.as_prediction(question)
    form = horizon_ask.read(question, lexicon, names) or predict_form.read(question, lexicon, names)
    if form is not None:
        return form
    tagged = tag(question, lexicon, names.handle.today, PREDICT_CUES)
    if not forced and not _predicts(tagged):
        return status_cue.asked(tagged, names)
    other = task_owner.reworded(question, lexicon, names)
    if isinstance(other, tuple):
        asked = prediction(other[0], lexicon, names, forced=forced)
        return asked.model_copy(update={"question": question, "rows_of": other[1]}) if isinstance(asked, TaskDraft) else asked
    outcome, named = _outcome(tagged, lexicon.model, forced=forced)
    if isinstance(other, Clarify):
        return other
    spoken = {i.words[0] for i in tagged.items if i.kind == STRONG}
    if not named and spoken & _SAYS_PREDICT and predict_options.names_column(tagged):
        outcome = None
    if outcome is not None:
        return _Reader(tagged, outcome, names, named=named).read(question)
    if outcome is None and (state := status_cue.asked(tagged, names)) is not None:
        return state
    likely = bool(spoken & _SAYS_LIKELY) and bool(tagged.unknown) and any(i.of("entity") for i in tagged.items)
    if not forced and not spoken & (_SAYS_PREDICT | _SAYS_FORECAST) and not likely:
        return None
    return predict_options.unnamed(
        tagged, question, names, asks=bool(spoken & _SAYS_PREDICT) or likely, forecasts=bool(spoken & _SAYS_FORECAST)
    )


_SAYS_PREDICT = frozenset({"predict", "prediction", "predictions", "predicting", "predicted", "train", "model"})
"""Words that ask for a prediction whatever stands beside them."""
_SAYS_LIKELY = frozenset({"likely", "likeliest", "probability", "propensity", "odds", "prone"})
"""Words that ask for one beside rows and a word that names no outcome here: "which machines are likely to break"."""
_SAYS_FORECAST = frozenset({"forecast", "forecasts", "forecasting"})


def _predicts(tagged: Tagged) -> bool:
    kinds = {i.kind for i in tagged.items} | {i.cue for i in tagged.items if i.cue}
    has_outcome = any(i.of("outcome") for i in tagged.items)
    spoken = any("risk" in i.words for i in tagged.items if i.of("outcome"))
    return STRONG in kinds or spoken or (WEAK in kinds and has_outcome)


def _outcome(tagged: Tagged, model: SemanticModel, *, forced: bool) -> tuple[Outcome | None, bool]:
    """The outcome that is named; else the only one of the rows that are named, if risk is spoken of."""
    named = [s.value for i in tagged.items for s in i.of("outcome")]
    found = [o for o in model.outcomes if o.id in named]
    if len({o.id for o in found}) == 1:
        return found[0], True
    if len(found) > 1:
        item = next(i for i in tagged.items if i.of("outcome"))
        raise Ambiguous(item, tuple(o.label for o in found), "several outcomes are named")
    tables = {s.table for i in tagged.items for s in i.of("entity", "segment")}
    likely = [o for o in model.outcomes if o.event and (o.table in tables or not tables)]
    risky = any(i.kind == STRONG and any(w.startswith(_RISK_WORDS) for w in i.words) for i in tagged.items)
    if not likely and len(model.outcomes) == 1:
        likely = [o for o in model.outcomes if o.table in tables]
    return (likely[0], False) if len(likely) == 1 and (risky or forced) else (None, False)


class _Reader:
    """Gives every word of a prediction question its part."""

    def __init__(self, tagged: Tagged, outcome: Outcome, names: Names, *, named: bool) -> None:
        self.tagged, self.outcome, self.names, self.named = tagged, outcome, names, named
        self.top_k, self.why = 10, False
        self.only: list[Condition] = []
        self.only_text: list[str] = []
        self.evidence: list[Evidence] = [Evidence(words=a, became=f"{b} (spelling)") for a, b in tagged.repairs]

    def read(self, question: str) -> TaskDraft:
        left: list[str] = []
        items = tuple(i for i in self.tagged.items if i.kind not in ("stop", "mark"))
        for i, item in enumerate(items):
            if not self._take(items, i, item):
                left.append(item.text)
        if left:
            raise NotUnderstood(tuple(left), f"that has no part in predicting {self.outcome.label} here")
        if not self.named:
            self._note(self._risk(), f"{self.outcome.label}, the outcome that is recorded here")
        outcome = self.outcome
        return TaskDraft(
            question=question,
            table=outcome.table,
            outcome=outcome.id,
            column=predict_form.target_column(outcome),
            only=tuple(self.only),
            only_text=", ".join(self.only_text),
            top_k=self.top_k,
            wants_why=self.why,
            evidence=tuple((e.words, e.became) for e in self.evidence),
        )

    def _risk(self) -> Item:
        """The words by which risk is spoken of."""
        return next((i for i in self.tagged.items if i.kind == STRONG), self.tagged.items[0])

    def _take(self, items: tuple[Item, ...], i: int, item: Item) -> bool:
        if item.kind == "number":
            return self._number(items, i, item)
        if item.kind in (STRONG, WEAK, "plain"):
            return True
        if item.kind == "why":
            self.why = True
            return True
        return item.kind == "sense" and self._sense(item)

    def _number(self, items: tuple[Item, ...], i: int, item: Item) -> bool:
        whole = item.value is not None and item.value == int(item.value) and 1 <= item.value <= _MOST_ROWS
        near = [k.kind for k in items[max(0, i - 2) : i + 4]]
        if (
            whole
            and item.value is not None
            and ("plain" in near or STRONG in near or any(k.of("entity") for k in items[i : i + 4]))
        ):
            self.top_k = int(item.value)
            self.evidence.append(Evidence(words=item.text, became=f"the first {self.top_k}"))
            return True
        return False

    def _sense(self, item: Item) -> bool:
        outcome = self.outcome
        if item.of("house"):
            return True
        if any(s.value == outcome.id for s in item.of("outcome")):
            self._note(item, outcome.label)
            return True
        if any(s.value == outcome.id for s in item.of("rows")) or any(
            s.table == outcome.table for s in item.of("entity")
        ):
            self._note(item, f"rows of {outcome.table}")
            return True
        for sense in item.of("segment"):
            segment = next(s for s in self.names.model.segments if s.id == sense.value)
            if segment.table == outcome.table and segment.conditions == outcome.unknown:
                self._note(item, outcome.unknown_meaning)
                return True
        if any(
            (s.table, s.column) in {(c.table, c.column) for c in outcome.unknown}
            and (s.value,) in {c.values for c in outcome.unknown}
            for s in item.of("value")
        ):
            self._note(item, outcome.unknown_meaning)
            return True
        return self._restricts(item)

    def _restricts(self, item: Item) -> bool:
        """A value of the rows' own column narrows the rows that are listed."""
        own = [
            s for s in item.of("value") if s.table == self.outcome.table and s.column not in self.outcome.target_columns
        ]
        if len({(s.column, s.value) for s in own}) == 1:
            sense = own[0]
            column = self.names.column(sense.table, sense.column)
            if sense.strong or column.role == "flag":
                self.only.append(Condition(table=sense.table, column=sense.column, op="=", values=(sense.value,)))
                self.only_text.append(f"{sense.column} = {sense.value}")
                self._note(item, f"only {sense.column} = {sense.value}")
                return True
        return any(
            s.table == self.outcome.table and any(v.column == s.column for v in self.only) for s in item.of("column")
        )

    def _note(self, item: Item, became: str) -> None:
        self.evidence.append(Evidence(words=item.text, became=became))


_COUNTING = frozenset(
    {"top", "first", "highest", "riskiest", "largest", "most", "worst", "biggest", "greatest", "lowest", "last"}
)
"""Words beside a number that make it a count."""


def explanation(
    question: str, lexicon: Lexicon, model: SemanticModel, query: Callable[[str], pd.DataFrame]
) -> Explain | None:
    """ "Explain loan 4959": a case of something that is predicted here, named by its key. None when it is no such question."""
    text = " ".join(question.casefold().replace("’", "'").split())
    if not any(text.startswith(w) or f" {w} " in f" {text} " for w in EXPLAIN_LEADS) or not model.outcomes:
        return None
    tokens = [t for t in tokenise(question) if t.kind != "mark"]
    wanted = [t for t in tokens if t.kind in ("number", "quoted") or any(ch.isdigit() for ch in t.word)]
    beside = {w.word for i, t in enumerate(tokens) if t in wanted for w in tokens[max(0, i - 1) : i + 2]}
    if beside & _COUNTING:  # "explain the 20 highest" counts cases, it names none
        return None
    rest = [t for t in tokens if t not in wanted and t.word not in EXPLAIN_WORDS]
    if not wanted:
        return None
    tables = {s.table for t in rest for s in lexicon.senses((t.lemma,)) if s.kind in ("entity", "outcome")}
    strange = [
        t.text for t in rest if not any(s.kind in ("entity", "outcome", "segment") for s in lexicon.senses((t.lemma,)))
    ]
    if strange:
        return None
    known = {o.table for o in model.outcomes}
    entity = next(iter(sorted(tables & known)), None) or (known.pop() if len(known) == 1 else None)
    if entity is None or model.table(entity).key is None:
        return None
    ids = tuple(dict.fromkeys(_as_written(t.text, t.value) for t in wanted))
    _must_exist(entity, ids, model, query)
    label = model.table(entity).label
    return Explain(
        case_ids=ids,
        entity_table=entity,
        reading=f"Why {label} {', '.join(ids)} got its score",
        evidence=tuple(Evidence(words=i, became=f"{entity}.{model.table(entity).key} = {i}") for i in ids),
    )


def _as_written(text: str, value: float | None) -> str:
    return str(int(value)) if value is not None and value == int(value) else text


def _must_exist(entity: str, ids: tuple[str, ...], model: SemanticModel, query: Callable[[str], pd.DataFrame]) -> None:
    key = model.table(entity).key or ""
    listed = ", ".join(text_literal(i) for i in ids)
    found = query(
        f"SELECT CAST({ident(key)} AS VARCHAR) AS k FROM {ident(entity)} WHERE CAST({ident(key)} AS VARCHAR) IN ({listed})"
    )
    missing = tuple(i for i in ids if i not in {str(k) for k in found["k"]})
    if missing:
        raise NotUnderstood(missing, f"there is no {model.table(entity).label} {', '.join(missing)}")


def next_page(question: str) -> NextPage | None:
    """ "and the next ten?", "show more"."""
    tokens = [t for t in tokenise(question) if t.kind != "mark"]
    words = [t.word for t in tokens if t.kind == "word"]
    asks = any(w in ("next", "more", "further", "another", "following", "continue") for w in words)
    numbers = [t.value for t in tokens if t.value is not None]
    if not asks or len(numbers) > 1 or len(tokens) > 9 or any(w not in NEXT_WORDS for w in words):
        return None
    if "more" in words and "next" not in words and len(words) > 5:
        return None
    count = int(numbers[0]) if numbers and numbers[0] is not None else 10
    return (
        NextPage(count=count, reading=f"The next {count} of the last ranked list") if 1 <= count <= _MOST_ROWS else None
    )
