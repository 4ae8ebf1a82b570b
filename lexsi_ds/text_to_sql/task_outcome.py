"""What is predicted, with a person's changes: the outcome of a draft as tests of columns.

Must never: count a value on two sides, or learn from rows whose outcome is open.
"""

from __future__ import annotations

from lexsi_ds.errors import BadInput
from lexsi_ds.knowledge.flags import outcome_key
from lexsi_ds.knowledge.model import ColumnModel, Condition, Outcome
from lexsi_ds.knowledge.thesaurus import GOOD_OUTCOMES
from lexsi_ds.knowledge.words import plural
from lexsi_ds.models.task import TaskKind
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.task_draft import MISSING, TaskDraft, Values, kind_of


def outcome_of(draft: TaskDraft, names: Names, values: Values) -> Outcome:
    """What is predicted, with the person's changes. Raises BadInput when they do not fit together."""
    if draft.horizon is not None:
        return horizon_outcome(draft, names)
    declared = next((o for o in names.model.outcomes if o.id == draft.outcome), None)
    if draft.outcome and declared is None:
        raise BadInput("The outcome is not declared any more.", where=draft.outcome[:60], to_do="Ask the question again.")
    base = _of_everyone(declared, draft, names) if declared else _of_column(draft, names, values)
    plain = not (draft.positive or draft.negative or draft.score)
    if draft.above is not None or plain or kind_of(draft, names.column(draft.table, draft.column)) != "binary":
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


def horizon_outcome(draft: TaskDraft, names: Names) -> Outcome:
    """An outcome that events decide; which dates, the data says."""
    ask, rows = draft.horizon, names.model.table(draft.table)
    if ask is None or not any(t.name == ask.events for t in names.model.tables):
        raise BadInput("There are no such events.", where=draft.table, to_do="Ask the question again.")
    events = names.model.table(ask.events)
    span, column = f"in the next {ask.days} days", names.model.column(events.name, ask.column)
    if ask.measure == "sum" and (column is None or not column.additive or column.masked):
        raise BadInput(f"{events.plural.capitalize()} have no amount of that name.", where=events.name, to_do="Name another.")
    many = f"at least one {events.label} from the cut-off to {ask.days} days after it"
    label, name, meaning = f"{events.plural} {span}", ident_word(ask.events), many
    if ask.absent:
        label, name, meaning = f"no {label}", f"no_{name}", many.replace("at least one", "no")
    if ask.measure == "count":
        label, name = f"number of {label}", f"number_of_{name}"
        meaning = f"{events.plural} from the cut-off to {ask.days} days after it"
    elif column is not None and ask.measure == "sum":
        label, name = f"total {column.name} of {label}", f"total_{ident_word(column.name)}_of_{name}"
        meaning = f"sum of {column.label} from the cut-off to {ask.days} days after it"
    return Outcome(
        id="", name=_title(rows.label, label), table=rows.name, label=label, words=(), target=f"y_{name}_{ask.days}d", positive=(),
        positive_meaning=meaning, known=(), known_meaning="", unknown=(), unknown_meaning="",
    )  # fmt: skip


def _of_everyone(declared: Outcome, draft: TaskDraft, names: Names) -> Outcome:
    """An outcome that nobody is at risk of, such as survival, known of every row: all of them are scored, out of fold."""
    if not declared.out_of_fold or outcome_key(draft.column) not in GOOD_OUTCOMES:
        return declared
    rows = names.model.table(declared.table).plural
    return declared.model_copy(update={"unknown": declared.known, "unknown_meaning": rows})


def _of_column(draft: TaskDraft, names: Names, values: Values) -> Outcome:
    """A column that is declared as no outcome: its rarest value is filled in, for a person to change."""
    column, table = names.column(draft.table, draft.column), names.model.table(draft.table)
    blank = Outcome(
        id="", name=_title(table.label, column.label), table=table.name, label=column.label, words=(),
        target=f"y_{ident_word(column.name)}", positive=(), positive_meaning="", known=(), known_meaning="",
        unknown=(), unknown_meaning="", display=(column.name,), target_columns=(column.name,),
    )  # fmt: skip
    if draft.above is not None:
        return _above(draft, blank, column, plural(table.label))
    kind = kind_of(draft, column)
    if kind != "binary":
        return _whole(draft, blank, column, table.plural, kind, values)
    told = [v for v, _, _ in values if v != MISSING]
    if len(told) < 2:
        raise BadInput(f"{column.label} has fewer than two values.", where=f"{table.name}.{column.name}",
                       to_do="Name another column to predict.")  # fmt: skip
    filled = draft.model_copy(update={"positive": (told[-1],)}) if not draft.positive else draft
    return _assigned(filled, names, values, blank, declared=False)


def _whole(
    draft: TaskDraft, blank: Outcome, column: ColumnModel, rows: str, kind: TaskKind, values: Values
) -> Outcome:
    """A column whose value itself is predicted: one of several words, or a figure."""
    there = tuple(v for v, _, _ in values)
    classes = sorted(v for v in there if v != MISSING)
    if kind == "multiclass" and values and len(classes) < 3:
        raise BadInput(f"{column.label} has fewer than three values.", where=f"{draft.table}.{column.name}",
                       to_do="Predict it as yes or no.")  # fmt: skip
    strange = [v for v in draft.score if v not in there and v != MISSING]
    if strange and values and kind == "multiclass":
        raise BadInput(f"{column.name} has no value {', '.join(strange)}.", where="task", to_do="Choose among the values it has.")
    empty = draft.score == (MISSING,) or (not draft.score and column.nulls > 0)

    def test(op: str, chosen: tuple[str, ...] = ()) -> tuple[Condition, ...]:
        return (Condition(table=draft.table, column=column.name, op=op, values=chosen),)  # type: ignore[arg-type]

    part = tuple(v for v in draft.score if v != MISSING)
    told = rows if not column.nulls else f"{rows} whose {column.label} is known"
    if part:
        told = f"{rows} with {column.name} {' or '.join(part)}"
    return blank.model_copy(
        update={
            "positive_meaning": f"{column.label} as one of {', '.join(classes)}"
            if kind == "multiclass" else f"{column.label} as a figure{f' in {column.unit}' if column.unit else ''}",
            "known": test("is not null"),
            "known_meaning": f"{rows} whose {column.label} is known",
            "unknown": test("is null") if empty else test("in", part) if part else test("is not null"),
            "unknown_meaning": f"{rows} whose {column.label} is not known" if empty else told,
            "out_of_fold": not empty,
        }
    )  # fmt: skip


def _title(table: str, column: str) -> str:
    name = column if table in column else f"{table} {column}"
    return name[:1].upper() + name[1:]


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
