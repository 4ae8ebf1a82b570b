"""The tests of a built query, one line each: from a line to a test of rows, and back. Worded as the parser words them."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from lexsi_ds.errors import BadInput
from lexsi_ds.knowledge.model import ColumnModel
from lexsi_ds.text_to_sql.builder_columns import Joining, kind_of
from lexsi_ds.text_to_sql.logical import Predicate, Ref
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.wording import SAID

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.builder import FilterLine


_SAID = {**SAID, "=": "equal to", "<>": "other than"}


def predicate(line: FilterLine, names: Names, joining: Joining) -> Predicate:
    """The test of a line, worded."""
    if not line.column:
        raise BadInput("A filter has no column.", where="query builder", to_do="Choose one, or take the line out.")
    ref = joining.ref(line.column)
    column = names.column(ref.table, ref.column)
    if line.test in ("is null", "is not null"):
        said = "missing" if line.test == "is null" else "known"
        return Predicate(ref=ref, test=line.test, text=f"{column.label} {said}")
    if line.test == "days":
        return _days(line, ref, column)
    values = tuple(v.strip() for v in line.values if v.strip())
    if not values or (line.test == "between" and len(values) != 2):
        raise BadInput(f"The filter on {column.label} has no value.", where="query builder", to_do="Choose one.")
    if line.test in ("in", "not in"):
        return Predicate(ref=ref, test=line.test, values=values, text=_valued(column, values, names, no=line.test == "not in"))
    numbers = tuple(_number(v, column) for v in values)
    if line.test == "between":
        said = f"{column.label} between {_shown(numbers[0])} and {_shown(numbers[1])}"
        return Predicate(ref=ref, test="between", values=numbers, text=said)
    said = f"{column.label} {_SAID[line.test]} {_shown(numbers[0])}"
    return Predicate(ref=ref, test=line.test, values=numbers[:1], text=said)


def _number(text: str, column: ColumnModel) -> str:
    bare = text.replace(",", "").replace(" ", "").replace("_", "")
    try:
        value = float(bare)
    except ValueError:
        value = float("nan")
    if value != value or value in (float("inf"), float("-inf")):
        raise BadInput(f"{text} is not a number for {column.label}.", where="query builder", to_do="Write a number.")
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _shown(number: str) -> str:
    whole, dot, rest = number.partition(".")
    return f"{int(whole):,}{dot}{rest}" if whole.lstrip("-").isdigit() and "e" not in rest else number


def _days(line: FilterLine, ref: Ref, column: ColumnModel) -> Predicate:
    first, last = (*line.values, "", "")[:2]
    try:
        after = (date.fromisoformat(last) + timedelta(days=1)).isoformat() if last else ""
        if first:
            date.fromisoformat(first)
    except (ValueError, OverflowError) as error:
        raise BadInput(f"{first} to {last} are not days.", where="query builder", to_do="Write YYYY-MM-DD.") from error
    if not (first or last):
        raise BadInput(f"The filter on {column.label} has no day.", where="query builder", to_do="Choose one.")
    said = f"{column.label} {f'from {first}' if first else ''} {f'to {last}' if last else ''}"
    return Predicate(ref=ref, test="days", values=(first, after), text=" ".join(said.split()))


def _valued(column: ColumnModel, values: tuple[str, ...], names: Names, *, no: bool) -> str:
    table = names.model.table(column.table)
    if column.role == "flag" and len(values) == 1 and column.values:
        said = f"{column.label} {'yes' if values[0] == column.values[0].value else 'no'}"
    else:
        one = names.model.meaning(column.table, column.name, values[0]) if len(values) == 1 else None
        meant = f"{values[0]} ({one})" if one and one != values[0] else " or ".join(values)
        said = f"{table.label if column.name in table.names else column.label} {meant}"
    return f"not {said}" if no else said


def filter_line(made: Predicate, names: Names, joining: Joining) -> dict[str, Any]:
    """The line of a test; what compares with other rows, or with a figure, is kept."""
    place = joining.id_of(made.ref)
    plain = made == Predicate(ref=made.ref, test=made.test, values=made.values, text=made.text)
    column = names.model.column(made.ref.table, made.ref.column)
    if place is None or not plain or column is None:
        return {"kept": made}
    if made.test == "days":
        first, after = made.values
        last = (date.fromisoformat(after) - timedelta(days=1)).isoformat() if after else ""
        return {"column": place, "test": "days", "values": (first, last)}
    words = kind_of(names, column) == "category"
    if words and made.test in ("=", "<>"):
        return {"column": place, "test": "in" if made.test == "=" else "not in", "values": made.values}
    if not words and made.test == "in" and len(made.values) == 1:
        return {"column": place, "test": "=", "values": made.values}
    if words != (made.test in ("in", "not in")) and made.test not in ("is null", "is not null"):
        return {"kept": made}
    return {"column": place, "test": made.test, "values": made.values}
