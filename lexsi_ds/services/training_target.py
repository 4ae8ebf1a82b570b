"""What a target column means: one of two values, one of several words, or an amount; and the SQL that says so.

Must never guess which of two values is the outcome where neither says it: then the rarer one is taken, and told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pandas as pd

from lexsi_ds.data.handle import Column, Table, Value
from lexsi_ds.errors import BadInput, ModelRefused
from lexsi_ds.services.csv_text import quoted

_YES = {"1", "true", "t", "yes", "y", "bad", "churned", "default", "positive", "fraud"}
_MOST_CLASSES = 50


class Target(Value):
    """The outcome as the training frame holds it."""

    task_type: Literal["classification", "regression"]
    expression: str
    """SQL of its value."""
    column: str
    """Its name in the frame."""
    label: str = ""
    meaning: str
    classes: tuple[str, ...] = ()


def target_of(
    table: Table, target: Column, task_type: str | None, positive: str | None, query: Callable[[str], pd.DataFrame]
) -> Target:
    """The outcome of a column. ``query`` runs SQL on the source."""
    if target.family in ("date", "other"):
        raise BadInput(f"{target.name} is no outcome: it holds {target.type}.", where=table.name, to_do="Choose another target.")
    number = target.family == "number"
    if task_type == "regression" and not number:
        raise BadInput(f"{target.name} is no amount: it holds {target.type}.", where=table.name, to_do="Leave the task type out.")
    if number and positive is None and (task_type == "regression" or (task_type is None and target.distinct > 2)):
        return Target(task_type="regression", expression=quoted(target.name), column=_free(f"y_{target.name}", table),
                      meaning=f"the value of {target.name}")
    if target.distinct > _MOST_CLASSES:
        raise ModelRefused(
            f"{target.name} has {target.distinct:,} different values; {_MOST_CLASSES} classes are the most.", where=target.name,
            to_do="Choose a target with fewer values, or group them in a query." if not number else "Ask for a regression.",
        )
    values = _values(table, target, query)
    if len(values) < 2:
        raise ModelRefused(f"{target.name} has {len(values)} different values: there is nothing to tell apart.", where=target.name)
    if len(values) == 2 or positive is not None:
        return _binary(table, target, values, positive)
    words = tuple(sorted(values))
    return Target(task_type="classification", expression=_text(target), column=_free(f"y_{target.name}", table),
                  meaning=f"the value of {target.name}", classes=words, label=target.name.replace("_", " "))


def _binary(table: Table, target: Column, values: dict[str, int], positive: str | None) -> Target:
    if positive is not None:
        chosen = next((v for v in values if v.casefold() == positive.casefold()), None)
        if chosen is None:
            raise BadInput(f"{target.name} has no value {positive[:60]!r}.", where=table.name,
                           to_do=f"It has {', '.join(list(values)[:12])}.")
        how = ""
    else:
        yes = [v for v in values if v.casefold() in _YES]
        chosen = yes[0] if len(yes) == 1 else min(values, key=lambda v: (values[v], v))
        how = "" if len(yes) == 1 else ", the rarer of the two"
    literal = "'" + chosen.replace("'", "''") + "'"
    return Target(
        task_type="classification", expression=f"CASE WHEN {_text(target)} = {literal} THEN 1 ELSE 0 END",
        column=_free(f"y_{target.name}", table), label=f"{target.name.replace('_', ' ')} {chosen}",
        meaning=f"{target.name} is {chosen}{how}",
    )


def _values(table: Table, target: Column, query: Callable[[str], pd.DataFrame]) -> dict[str, int]:
    name = quoted(target.name)
    found = query(
        f"SELECT {_text(target)} AS v, count(*) AS n FROM {quoted(table.name)} WHERE {name} IS NOT NULL GROUP BY 1 ORDER BY 2 DESC"
    )
    return {str(v): int(n) for v, n in zip(found["v"], found["n"], strict=True)}


def _text(target: Column) -> str:
    return quoted(target.name) if target.family == "text" else f"CAST({quoted(target.name)} AS VARCHAR)"


def _free(name: str, table: Table) -> str:
    while table.column(name) is not None:
        name += "_"
    return name
