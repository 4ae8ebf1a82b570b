"""A prediction task as a person may change it before it trains: which values count, which rows are scored, which columns are
used, how rows are held out. Values that go to JSON and back.

Must never: count a value on two sides, or let a task pass as certain whose target nobody declared.
"""

from __future__ import annotations

from lexsi_ds.data.handle import Value
from lexsi_ds.errors import BadInput
from lexsi_ds.knowledge.flags import outcome_key
from lexsi_ds.knowledge.model import ColumnModel, Condition, Outcome
from lexsi_ds.knowledge.words import plural
from lexsi_ds.models.task import Split, TaskSpec
from lexsi_ds.text_to_sql.probes import Query
from lexsi_ds.text_to_sql.sqltext import Names, ident

MISSING = ""
"""Stands for rows without a value among the values of a target."""
MOST_VALUES = 30
"""Most different values of a column that can be told into two classes."""
Values = tuple[tuple[str, str, int], ...]


class TaskDraft(Value):
    """What is to be predicted of the rows of a table, and what a person changed of it. Empty parts are as declared."""

    question: str = ""
    table: str
    outcome: str = ""
    """Id of a declared outcome; empty when a column was named that is none."""
    column: str
    """The column that holds the target."""
    positive: tuple[str, ...] = ()
    """Values that count as the outcome."""
    negative: tuple[str, ...] = ()
    """Values that count as its absence."""
    score: tuple[str, ...] = ()
    """Values of the rows to score, ``MISSING`` alone for rows without one. Values that train too are scored out of fold."""
    above: float | None = None
    """Of a figure: it counts when it is above this."""
    only: tuple[Condition, ...] = ()
    only_text: str = ""
    put_back: tuple[str, ...] = ()
    """``table.column`` of protected or undated columns that a person wants used."""
    taken_out: tuple[str, ...] = ()
    """Names of features that a person wants left out."""
    split: Split = Split()
    top_k: int = 10
    wants_why: bool = True
    evidence: tuple[tuple[str, str], ...] = ()


def target_values(draft: TaskDraft, names: Names, query: Query) -> Values:
    """The values of the target's column with their number of rows, most frequent first; empty for a figure."""
    column = names.model.column(draft.table, draft.column)
    if column is None or column.masked:
        raise BadInput(f"There is no column {draft.column} to predict.", where=draft.table, to_do="Name another.")
    if draft.above is not None or column.distinct > MOST_VALUES:
        return ()
    name = ident(draft.column)
    frame = query(
        f"SELECT CAST({name} AS VARCHAR) AS v, count(*) AS n FROM {ident(draft.table)} GROUP BY 1 ORDER BY n DESC, v"
    )
    found = []
    for row in frame.to_dict("records"):
        value = MISSING if not isinstance(row["v"], str) else row["v"]
        label = "missing" if value == MISSING else names.model.meaning(draft.table, draft.column, value) or value
        found.append((value, label, int(row["n"])))
    return tuple(found)


def outcome_of(draft: TaskDraft, names: Names, values: Values) -> Outcome:
    """What is predicted, with the person's changes. Raises BadInput when they do not fit together."""
    declared = next((o for o in names.model.outcomes if o.id == draft.outcome), None)
    if draft.outcome and declared is None:
        raise BadInput("The outcome is not declared any more.", where=draft.outcome[:60], to_do="Ask the question again.")
    base = declared or _of_column(draft, names, values)
    if draft.above is not None or not (draft.positive or draft.negative or draft.score):
        return base
    return _assigned(draft, names, values, base, declared=declared is not None)


def sides(outcome: Outcome, column: str, values: Values) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The values that count, that do not, and that are scored, as an outcome has them."""
    every = tuple(v for v, _, _ in values if v != MISSING)

    def of(conditions: tuple[Condition, ...]) -> set[str]:
        kept = set(every)
        for c in conditions:
            if c.column != column:
                continue
            if c.op == "is null":
                kept = {MISSING}
            elif c.op == "is not null":
                kept &= set(every)
            elif c.op in ("=", "in"):
                kept &= set(c.values)
            elif c.op == "<>":
                kept -= set(c.values)
        return kept

    known, yes, scored = of(outcome.known), of(outcome.positive), of(outcome.unknown)
    order = (*every, MISSING)
    return (
        tuple(v for v in order if v in known & yes),
        tuple(v for v in order if v in known - yes),
        tuple(v for v in order if v in scored),
    )


def _of_column(draft: TaskDraft, names: Names, values: Values) -> Outcome:
    """A column that is declared as no outcome: its rarest value is filled in, for a person to change."""
    column, table = names.column(draft.table, draft.column), names.model.table(draft.table)
    blank = Outcome(
        id="", name=f"{table.label.capitalize()} {column.label}", table=table.name, label=column.label, words=(),
        target=f"y_{ident_word(column.name)}", positive=(), positive_meaning="", known=(), known_meaning="",
        unknown=(), unknown_meaning="", display=(column.name,), target_columns=(column.name,),
    )  # fmt: skip
    if draft.above is not None:
        return _above(draft, blank, column, plural(table.label))
    told = [v for v, _, _ in values if v != MISSING]
    if len(told) < 2:
        raise BadInput(f"{column.label} has fewer than two values.", where=f"{table.name}.{column.name}",
                       to_do="Name another column to predict.")  # fmt: skip
    filled = draft.model_copy(update={"positive": (told[-1],)}) if not draft.positive else draft
    return _assigned(filled, names, values, blank, declared=False)


def ident_word(name: str) -> str:
    """A name as a plain lower-case word."""
    return "_".join("".join(ch if ch.isalnum() else " " for ch in name.casefold()).split()) or "target"


def _above(draft: TaskDraft, blank: Outcome, column: ColumnModel, rows: str) -> Outcome:
    limit = f"{draft.above:.15g}"
    shown = f"{draft.above:,.15g}"

    def test(op: str, *values: str) -> tuple[Condition, ...]:
        return (Condition(table=draft.table, column=column.name, op=op, values=values),)  # type: ignore[arg-type]

    open_rows = column.nulls > 0
    return blank.model_copy(
        update={
            "label": f"{column.label} above {shown}",
            "positive": test(">", limit),
            "positive_meaning": f"{column.name} > {shown}",
            "known": test("is not null"),
            "known_meaning": f"{rows} whose {column.label} is known",
            "unknown": test("is null") if open_rows else test("<=", limit),
            "unknown_meaning": f"{rows} whose {column.label} is not known"
            if open_rows
            else f"{rows} with {column.name} up to {shown}",
            "out_of_fold": not open_rows,
        }
    )


def _assigned(draft: TaskDraft, names: Names, values: Values, base: Outcome, *, declared: bool) -> Outcome:
    there = tuple(v for v, _, _ in values)
    first = sides(base, draft.column, values) if declared else ((), (), ())
    yes = draft.positive or first[0]
    no = draft.negative or tuple(
        v for v in (first[1] if declared else there) if v not in yes and v != MISSING
    )
    scored = draft.score or first[2]
    if not scored:
        scored = (MISSING,) if MISSING in there else no
    _must_fit(draft, yes, no, scored, there)
    if not draft.score:
        scored = tuple(v for v in scored if v not in yes) or no
    rows, label = names.model.table(draft.table).plural, draft.column
    of_folds = set(scored) <= {*yes, *no}
    if not of_folds and set(scored) & {*yes, *no}:
        raise BadInput(
            "Some rows to score train as well and some do not.", where=label,
            to_do="Score rows whose outcome is open, or rows that train (then out of fold), not both.",
        )  # fmt: skip

    def test(chosen: tuple[str, ...]) -> tuple[Condition, ...]:
        if chosen == (MISSING,):
            return (Condition(table=draft.table, column=label, op="is null"),)
        return (Condition(table=draft.table, column=label, op="in", values=chosen),)

    every = {v for v in there if v != MISSING}
    noun = names.column(draft.table, label).label

    def told(chosen: tuple[str, ...]) -> str:
        if chosen == (MISSING,):
            return f"{rows} without {noun}"
        if len(chosen) > 4 and set(chosen) == every:
            return f"{rows} whose {noun} is known"
        if len(chosen) > 4 and set(chosen) == every - set(yes):
            return f"{rows} with any other {label} than {' or '.join(yes)}"
        return f"{rows} with {label} {' or '.join(chosen)}"

    apart = base.apart_value in scored and len(scored) > 1
    # What stands apart is in its outcome already: it keeps counting, whichever rows train.
    counts = (*yes, *((base.apart_value,) if apart and base.apart_value and base.apart_value not in (*yes, *no) else ()))
    changed = yes != first[0] or no != first[1]
    return base.model_copy(
        update={
            "label": base.label if declared else f"{noun} {' or '.join(yes)}",
            "positive": test(counts),
            "positive_meaning": f"{label} = {' or '.join(yes)}" if changed else base.positive_meaning,
            "known": test((*yes, *no)),
            "known_meaning": told((*yes, *no)) if changed else base.known_meaning,
            "unknown": test(scored),
            "unknown_meaning": base.unknown_meaning if scored == first[2] and not changed else told(scored),
            "out_of_fold": of_folds,
            "apart_column": base.apart_column if apart else None,
            "apart_value": base.apart_value if apart else None,
        }
    )


def _must_fit(draft: TaskDraft, yes: tuple[str, ...], no: tuple[str, ...], scored: tuple[str, ...], there: tuple[str, ...]) -> None:
    label = draft.column
    strange = [v for v in (*draft.positive, *draft.negative, *draft.score) if v not in there]
    if strange:
        named = ", ".join(v or "missing" for v in strange)
        raise BadInput(f"{label} has no value {named}.", where="task", to_do="Choose among the values it has.")
    both = [v for v in yes if v in no]
    if both:
        raise BadInput(f"{', '.join(both)} cannot count on both sides.", where="task", to_do="Take it out of one.")
    if not yes or not no:
        raise BadInput("A value is needed on both sides to learn a difference.", where="task",
                       to_do="Say which values count and which do not.")  # fmt: skip
    if MISSING in (*yes, *no):
        raise BadInput("Rows without a value teach nothing.", where="task", to_do="Missing can only be scored.")
    if MISSING in scored and len(scored) > 1 and draft.score:
        raise BadInput("Rows without a value are scored by themselves only.", where="task",
                       to_do="Choose missing, or values.")  # fmt: skip


def doubts(draft: TaskDraft, outcome: Outcome, names: Names) -> tuple[str, ...]:
    """Why a person should look before it trains. A declared outcome with rows to score, or an event, raises none."""
    column = names.column(draft.table, draft.column)
    rows, said = names.model.table(draft.table).plural, []
    if not draft.outcome and draft.above is None and not draft.positive:
        said.append(
            f"Nothing declares which values of {column.label} are the outcome: {outcome.positive_meaning} is filled in because"
            " it is the rarest. Choose which values count."
        )
    if column.protected:
        said.append(f"{column.label.capitalize()} is a protected attribute: predicting it of people needs a reason.")
    elif draft.outcome and outcome.out_of_fold and not outcome.event and outcome_key(draft.column) is None:
        said.append(
            f"Every one of the {rows} has its {column.label} already and nothing says that it is an event: what can be had are"
            " out-of-fold scores of the present ones."
        )
    return tuple(said)


def edits(draft: TaskDraft, names: Names, values: Values, task: TaskSpec) -> tuple[str, ...]:
    """What a person changed, in sentences for the model card; what is as declared is no change."""
    declared = next((o for o in names.model.outcomes if o.id == draft.outcome), None)
    was = sides(declared, draft.column, values) if declared else ((), (), ())
    said = []
    if draft.positive and set(draft.positive) != set(was[0]):
        said.append(f"Counts as {task.target_label}: {', '.join(draft.positive)}.")
    if draft.negative and set(draft.negative) != set(was[1]):
        said.append(f"Counts as no {task.target_label}: {', '.join(draft.negative)}.")
    if draft.score and set(draft.score) != set(was[2]):
        said.append(f"Rows to score: {task.unknown_meaning}.")
    for name in draft.put_back:
        table, _, column = name.rpartition(".")
        found = names.model.column(table, column)
        why = "protected" if found and found.protected else "undated"
        said.append(f"Put back by hand: {name} ({why}).")
    said += [f"Taken out by hand: {name}." for name in draft.taken_out]
    if draft.split.by == "time":
        said.append(f"Rows are held out by stretches of {task.cutoff_column}.")
    if draft.split.folds is not None:
        said.append(f"{draft.split.folds} folds.")
    return tuple(said)
