"""What the explorer remembers of one model in one tab: the cohort, the class explained, changed values. Small parts are in the URL.

Plain data. Must never: keep a cohort when another model is opened, or trust an address: what it names is checked.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from pydantic import ValidationError

from components import figures, session
from lexsi_ds.explain.results import Cell, Cohort, Condition
from lexsi_ds.models.card import ModelCard

COHORT, CHOSEN = "cohort", "chosen"
"""Names in the address: conditions as JSON, ids of a lasso that are few."""
PROBABILITY = "(probability)"
"""Stands for the score among the columns of a filter; no column is called so."""
_LONGEST = 1_200
_MOST_CONDITIONS = 12
_WORDS = {"=": "is", "!=": "is not", "<": "below", "<=": "at most", ">": "above", ">=": "at least", "in": "is"}


@dataclass
class ExplorerState:
    """Of one model; another model has its own."""

    model_id: str
    conditions: tuple[Condition, ...] = ()
    """All of them hold. One on PROBABILITY stands for the ids in ``band``."""
    band: tuple[str, ...] | None = None
    """Ids of the cases inside of the conditions on the probability; None when there is none."""
    chosen: tuple[str, ...] = ()
    """Ids of a lasso or box."""
    chosen_in: str = ""
    changes: dict[str, dict[str, Cell]] = field(default_factory=dict)
    """What-if values by case."""
    moved: tuple[str, ...] = ()
    """Features that have a slider; empty: the strongest drivers of each case."""
    actionable: tuple[str, ...] | None = None
    """Columns that a counterfactual may change; None: what pushes each case."""
    searches: dict[str, Any] = field(default_factory=dict)
    """Key of the counterfactual search that each case shows."""
    round: int = 0
    """Part of the keys of selectable charts: a new one drops their selection."""

    @property
    def cohort(self) -> Cohort | None:
        """As the views take it; None is everything."""
        ids = self.chosen
        if self.band is not None:
            ids = tuple(i for i in ids if i in set(self.band)) if ids else self.band
            ids = ids or ("",)  # an empty band is nobody, not everybody
        found = Cohort(case_ids=ids, conditions=tuple(c for c in self.conditions if c.column != PROBABILITY))
        return None if found.whole else found


def state(card: ModelCard) -> ExplorerState:
    """What this tab remembers of the model; at its first opening what the address says."""
    mine = session.held()
    known = mine.explorer
    if isinstance(known, ExplorerState) and known.model_id == card.id:
        return known
    mine.explorer = fresh = ExplorerState(card.id)
    if known is None:
        fresh.conditions = _read(st.query_params.get(COHORT), columns(card))
        fresh.chosen = tuple(dict.fromkeys(i for i in (st.query_params.get(CHOSEN) or "").split(",") if i))[:100]
        fresh.chosen_in = "the link" if fresh.chosen else ""
    else:
        session.forget(session.EXPLAINED_CLASS, session.EXPLAINED_FEATURE)
    return fresh


def write(mine: ExplorerState) -> None:
    """Put into the address what is small enough; the rest stays in this tab."""
    text = json.dumps([[c.column, c.operator, c.value] for c in mine.conditions], ensure_ascii=False)
    _keep(COHORT, text if mine.conditions and len(text) <= _LONGEST else "")
    ids = ",".join(mine.chosen)
    _keep(CHOSEN, ids if len(ids) <= _LONGEST and not any("," in i for i in mine.chosen) else "")


def _keep(name: str, text: str) -> None:
    if text and st.query_params.get(name) != text:
        st.query_params[name] = text
    elif not text and name in st.query_params:
        del st.query_params[name]


def columns(card: ModelCard) -> dict[str, str]:
    """Columns that a filter may name, with their labels: the score, what is shown beside a case, the features."""
    score = "predicted amount" if card.task.kind == "regression" else "probability"
    shown = {name: name.replace("_", " ") for name in card.task.display_columns}
    return {PROBABILITY: score} | shown | {f.feature.name: f.feature.label for f in card.features}


def words(condition: Condition, labels: dict[str, str]) -> str:
    """A condition for a badge: "duration at least 48"."""
    label = labels.get(condition.column, condition.column)
    if condition.operator in ("missing", "present"):
        return f"{label} is {condition.operator}"
    value = condition.value
    values = value if isinstance(value, tuple) else (value,)
    shown = [figures.value(v) for v in values]
    more = f" or {len(shown) - 3} more" if len(shown) > 3 else ""
    return f"{label} {_WORDS[condition.operator]} {' or '.join(shown[:3])}{more}"


def _read(text: str | None, known: Iterable[str]) -> tuple[Condition, ...]:
    """Conditions of an address; what does not fit this model is left out."""
    try:
        rows = json.loads(text or "[]")
    except ValueError:
        return ()
    found: list[Condition] = []
    for row in rows[:_MOST_CONDITIONS] if isinstance(rows, list) else ():
        if not isinstance(row, list) or len(row) != 3 or row[0] not in set(known):
            continue
        if row[0] == PROBABILITY and (row[1] not in (">=", "<=") or not isinstance(row[2], int | float)):
            continue
        try:
            found.append(
                Condition(column=row[0], operator=row[1], value=tuple(row[2]) if isinstance(row[2], list) else row[2])
            )
        except ValidationError:
            continue
    return tuple(found)
