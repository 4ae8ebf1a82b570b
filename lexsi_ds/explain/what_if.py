"""A row with some values changed: what the model would say, and what speaks against asking it that.

The change is judged by the models that judge the row itself, so the difference is the change's alone. Must never answer
for a word that training did not know, and never say that changing the value would change the outcome.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from lexsi_ds.errors import BadInput
from lexsi_ds.explain.cases import explain_cases
from lexsi_ds.explain.dependence import place_of
from lexsi_ds.explain.plausible import known_of
from lexsi_ds.explain.results import Cell
from lexsi_ds.explain.results_local import Change, Doubt, WhatIf
from lexsi_ds.explain.shap_values import raw_values
from lexsi_ds.explain.wording import number
from lexsi_ds.models.bundle import SavedModel
from lexsi_ds.models.encode import read_column
from lexsi_ds.models.engine import CaseExplanation


def what_if(
    model: SavedModel, row: pd.DataFrame, changes: Mapping[str, Cell], scale: str, output: str | None = None
) -> WhatIf:
    """The row before and after. Raises BadInput for no change, an unknown feature, or a value of another kind."""
    one = row.head(1).reset_index(drop=True)
    asked = {name: read_value(model, name, value) for name, value in changes.items()}
    before = as_read(model, one)
    made = tuple(
        Change(feature=name, label=_label(model, name), before=before[name], after=value, unit=_unit(model, name))
        for name, value in asked.items() if value != before[name]
    )  # fmt: skip
    if not made:
        raise BadInput("Nothing is changed in this row.", to_do="Give at least one feature another value.")
    after = changed_rows(one, [{c.feature: c.after for c in made}])
    doubts = known_of(model).doubts({**before, **asked}, {c.feature for c in made})
    refused = [d for d in doubts if d.severity == "refused"]
    if refused:
        raise BadInput(refused[0].sentence, where=refused[0].features[0], to_do="Choose a value that training knew.")
    first = explain_cases(model, one, scale, output)[0]
    second = explain_cases(model, after, scale, output or first.output)[0]
    sentence, facts = _sentence(first, second, made, doubts)
    return WhatIf(before=first, after=second, changes=made, doubts=doubts, sentence=sentence, facts=facts)


def read_value(model: SavedModel, feature: str, value: Cell) -> Cell:
    """A value as the model reads it: a number, a word, true or false, or None."""
    definition = model.features[place_of(model, feature)]
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    read, unreadable = read_column(pd.Series([value], dtype=object), definition.kind)
    if unreadable:
        kind = "a number" if definition.kind == "numeric" else "yes or no"
        raise BadInput(f"{definition.label} must be {kind}, not {value!r}.", where=feature, to_do="Correct the value.")
    if definition.kind == "categorical":
        return read[0]
    if np.isnan(read[0]):
        raise BadInput(f"{definition.label} must be a finite number.", where=feature, to_do="Correct the value.")
    if definition.kind == "boolean":
        return bool(read[0])
    return int(read[0]) if float(read[0]).is_integer() and abs(read[0]) < 1e15 else float(read[0])


def as_read(model: SavedModel, row: pd.DataFrame) -> dict[str, Cell]:
    """The features of one row as the model reads them."""
    cells = raw_values(model, row)[0]
    return {feature.name: cells[place] for place, feature in enumerate(model.features)}


def changed_rows(row: pd.DataFrame, changes: list[dict[str, Any]]) -> pd.DataFrame:
    """One copy of the row for each set of changes."""
    table = row.iloc[np.zeros(len(changes), dtype=np.int64)].reset_index(drop=True)
    touched = {name for change in changes for name in change}
    columns = {}
    for name in touched:
        old = row[name].iloc[0]
        columns[name] = pd.Series([change.get(name, old) for change in changes], dtype=object)
    return table.assign(**columns)


def _sentence(
    first: CaseExplanation, second: CaseExplanation, changes: tuple[Change, ...], doubts: tuple[Doubt, ...]
) -> tuple[str, dict[str, float | int | str]]:
    """What changed in words, and the facts it cites."""
    facts: dict[str, float | int | str] = {}
    parts = []
    for change in changes:
        facts[f"{change.feature}.label"] = change.label
        shown = [_shown(change, end, facts) for end in ("before", "after")]
        parts.append(f"{change.label} {shown[0]} to {shown[1]}")
    amounts = [_printed(case) for case in (second, first)]
    facts |= {"after": amounts[0][1], "before": amounts[1][1]}
    of = f' for "{first.output}"' if first.output is not None else ""
    facts |= {"output": first.output} if first.output is not None else {}
    told = f"With {'; '.join(parts)} the model would say {amounts[0][0]} instead of {amounts[1][0]}{of}."
    limits = " Training holds little like it: see the doubts." if doubts else ""
    return f"{told} That is its answer for another row, not what a change would bring about.{limits}", facts


def _shown(change: Change, end: str, facts: dict[str, float | int | str]) -> str:
    value = change.before if end == "before" else change.after
    if value is None:
        return "missing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        facts[f"{change.feature}.{end}"] = value
        return f'"{value}"'
    printed, facts[f"{change.feature}.{end}"] = number(value)
    return printed


def _printed(case: CaseExplanation) -> tuple[str, float]:
    if case.scale == "value":
        return number(case.prediction)
    return f"{case.prediction:.2f}", round(case.prediction, 2)


def _label(model: SavedModel, name: str) -> str:
    return model.features[place_of(model, name)].label


def _unit(model: SavedModel, name: str) -> str | None:
    return model.features[place_of(model, name)].unit
