"""What a search measures: the dataset's target, else its numbers and its two-valued columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lexsi_ds.data.handle import Column
from lexsi_ds.data.raw_rows import quoted
from lexsi_ds.errors import BadInput
from lexsi_ds.insights.dimensions import like_a_key, literal
from lexsi_ds.insights.surprise import Measure

MAX_MEASURES = 4
Values = Callable[[Column], Sequence[str]]
"""The distinct values of a column of few, the rarest first, as text."""


def chosen(columns: Sequence[Column], target: str | None, values: Values, rows: int) -> tuple[Measure, ...]:
    """The target's measure, or those of up to four columns. BadInput where nothing can be measured."""
    if target is not None:
        column = next((c for c in columns if c.name == target), None)
        if column is None or column.masked:
            raise BadInput("The target column is not there to be measured.", where=target, to_do="Choose another target.")
        made = _measure(column, values)
        if made is None:
            raise BadInput("This target is neither a number nor a choice of two.", where=target,
                           to_do="Choose another target, or make a column of one of its values.")
        return (made,)
    fitting = [c for c in columns if not (c.masked or c.identifier) and not like_a_key(c, rows)]
    found = [m for c in fitting if (m := _measure(c, values)) is not None]
    if not found:
        raise BadInput("No column of this data set can be measured.", to_do="It needs a number, or a column of two values.")
    return tuple(sorted(found, key=lambda m: m.binary)[:MAX_MEASURES])


def _measure(column: Column, values: Values) -> Measure | None:
    name = quoted(column.name)
    if column.family == "number" and column.distinct > 2:
        return Measure(column=column.name, sql=f"{name}::DOUBLE")
    if column.distinct == 2 and column.family in ("text", "boolean", "number"):
        rare = values(column)[0]
        text = name if column.type.upper() == "VARCHAR" else f"{name}::VARCHAR"
        return Measure(column=column.name, sql=f"({text} = {literal(rare)})::INTEGER", binary=True, value=rare)
    return None
