"""Yes/no columns of any source: which value is the yes, the rate that belongs to them, and that they can be predicted.

A column is a flag only when its values are exactly a yes and a no (or a boolean, or 0 and 1).
"""

from __future__ import annotations

from lexsi_ds.data.handle import Column
from lexsi_ds.knowledge import thesaurus as th
from lexsi_ds.knowledge.model import ColumnModel, Condition, Metric, Outcome, SemanticModel, TableModel, ValueMeaning
from lexsi_ds.knowledge.words import fold, plural, singular, split_name, stem


def flag_meanings(column: Column, label: str, texts: list[str]) -> tuple[ValueMeaning, ...]:
    """The two values of a yes/no column, the yes first; empty for any other column. ``texts`` holds a text column's values."""
    if not 1 <= column.distinct <= 2:
        return ()
    values = _values(column, texts)
    yes = [v for v in values if fold(v) in th.YES]
    no = [v for v in values if fold(v) in th.NO]
    if len(values) != column.distinct or len(yes) + len(no) != len(values) or (column.distinct == 2 and len(yes) != 1):
        return ()
    named = outcome_key(column.name)
    positive, negative, _ = th.OUTCOME_WORDS[named] if named else ((), (), ())
    if column.distinct == 1 and column.family == "number":
        return ()
    made = [ValueMeaning(value=v, label=label, words=positive) for v in yes]
    return (*made, *(ValueMeaning(value=v, label=f"no {label}", words=negative) for v in no))


def _values(column: Column, texts: list[str]) -> list[str]:
    if column.family == "boolean":
        return ["true", "false"] if column.distinct == 2 else [str(column.minimum or "true").lower()]
    if column.family == "number" and {column.minimum, column.maximum} <= {"0", "1", "0.0", "1.0"}:
        return ["1", "0"] if column.distinct == 2 else []
    return texts if column.family == "text" else []


_RATE_FORMS = ("{} rate", "rate of {}", "{} percentage", "{} share", "share of {}")


def outcome_key(name: str) -> str | None:
    """The thesaurus' word for an outcome that a column's name speaks of, whatever its form: churned, exited."""
    stems = {stem(w): w for w in th.OUTCOME_WORDS}
    for word in split_name(name):
        if word in th.OUTCOME_ALIASES:
            return th.OUTCOME_ALIASES[word]
        if stem(word) in stems:
            return stems[stem(word)]
    return None


def _noun(column: ColumnModel) -> str:
    """The outcome as a noun: churn for a column named Churned."""
    key = outcome_key(column.name)
    return th.OUTCOME_NOUNS.get(key, key) if key else column.label


def _done(column: ColumnModel) -> tuple[str, ...]:
    """The noun of what was done: attendance for a column named attended."""
    return tuple(th.DONE_NOUNS[w] for w in column.label.split()[-1:] if w in th.DONE_NOUNS)


def _rated(model: SemanticModel, column: ColumnModel) -> str:
    """What a rate is called: churn of people, and cancellation of what they book."""
    done = _done(column)
    table = model.table(column.table)
    person = bool(set(table.label.split()) & th.PEOPLE) or "person" in table.synonyms
    return done[0] if done and column.label.split()[-1] in th.OUTCOME_ALIASES and not person else _noun(column)


def metrics_of(model: SemanticModel) -> tuple[Metric, ...]:
    """A rate for every yes/no column with both values: churn rate."""
    return tuple(
        Metric(
            id=f"{c.name}_rate",
            label=f"{_rated(model, c)} rate",
            table=c.table,
            kind="rate",
            unit="%",
            words=tuple(form.format(noun) for noun in dict.fromkeys((_noun(c), c.label, *_done(c))) for form in _RATE_FORMS),
            conditions=(Condition(table=c.table, column=c.name, op="=", values=(c.values[0].value,)),),
            hits=c.label,
            text=f"share of rows with {c.name} = {c.values[0].value} among rows where it is known",
        )
        for c in model.columns
        if c.role == "flag" and len(c.values) == 2
    ) + tuple(_rate_of_date(model, c) for c in model.columns if _ends_some(c))


def _ends_some(column: ColumnModel) -> bool:
    """Whether a date says of some rows that they were cancelled or left, and is missing on the others."""
    return column.role == "time" and bool(column.nulls) and not column.masked and outcome_key(column.name) in ("churn", "attrition")


def _rate_of_date(model: SemanticModel, column: ColumnModel) -> Metric:
    """The share of rows that have such a date: churn rate of subscriptions with a day that they were cancelled on."""
    nouns = dict.fromkeys((_noun(column), *_done(column), *(th.DONE_NOUNS[w] for w in column.label.split() if w in th.DONE_NOUNS)))
    return Metric(
        id=f"{column.name}_rate",
        label=f"{next(iter(nouns))} rate",
        table=column.table,
        kind="rate",
        unit="%",
        words=tuple(form.format(noun) for noun in nouns for form in _RATE_FORMS),
        conditions=(Condition(table=column.table, column=column.name, op="is not null"),),
        hits=column.label,
        text=f"share of {model.table(column.table).plural} that have a {column.name}",
    )


def outcomes_of(model: SemanticModel) -> tuple[Outcome, ...]:
    """Every yes/no column as something to predict; rows without a value are the ones to score, when there are any."""
    made = []
    for column in model.columns:
        if column.role == "flag" and len(column.values) == 2 and not column.masked:
            made.append(_outcome(model.table(column.table), column))
    return tuple(made)


def _outcome(table: TableModel, column: ColumnModel) -> Outcome:
    yes, no = column.values[0].value, column.values[1].value
    named = outcome_key(column.name)
    verbs = th.OUTCOME_WORDS[named][2] if named else ()
    of_folds = column.nulls == 0
    is_no = Condition(table=table.name, column=column.name, op="=", values=(no,))
    unknown = is_no if of_folds else Condition(table=table.name, column=column.name, op="is null")
    rows = plural(table.label)
    said = {"false": "No", "true": "Yes"}.get(no, no)
    return Outcome(
        id=f"{table.name}.{column.name}",
        name=f"{table.label.capitalize()} {_noun(column)}",
        table=table.name,
        label=_noun(column),
        words=tuple(dict.fromkeys((_noun(column), column.label, *column.synonyms, singular(column.label), *verbs))),
        target=f"y_{'_'.join(split_name(column.name))}",
        positive=(Condition(table=table.name, column=column.name, op="=", values=(yes,)),),
        positive_meaning=f"{column.name} = {'Yes' if yes == 'true' else yes}",
        known=(Condition(table=table.name, column=column.name, op="is not null"),),
        known_meaning=f"{rows} whose {column.name} is known",
        unknown=(unknown,),
        unknown_meaning=f"current {rows} ({column.name} = {said})"
        if of_folds
        else f"{rows} whose {column.name} is not known yet",
        display=(column.name,),
        target_columns=(column.name,),
        out_of_fold=of_folds,
        event=named is not None and named not in th.GOOD_OUTCOMES,
    )
