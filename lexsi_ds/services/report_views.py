"""Importance and group figures for a report, from the explanations of a model: computed in a worker once, then read.

Must never: keep a report from being made because one of its parts cannot be computed.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from lexsi_ds.errors import LexsiError
from lexsi_ds.models.card import Interval
from lexsi_ds.services.access import Actor
from lexsi_ds.services.explanations import Explanations

log = logging.getLogger(__name__)
Bars = Sequence[tuple[str, float, float | None, float | None]]
Tables = Sequence[tuple[str, Sequence[str], Sequence[Sequence[str]]]]


class ReportViews:
    """Parts of a report that explanations make."""

    def __init__(self, explanations: Explanations) -> None:
        self._explanations = explanations

    def importance(self, actor: Actor, model_id: str) -> Bars:
        """Mean absolute contribution of each feature over the rows that trained the model, largest first."""
        try:
            found = self._explanations.views(actor, model_id).overall(which="training")
        except LexsiError as error:
            log.warning("no importance in the report of %s: %s", model_id, error)
            return ()
        return [(each.label, each.mean_abs, None, None) for each in found.features]

    def fairness(self, actor: Actor, model_id: str, threshold: float | None = None) -> Tables:
        """A table a protected column: figures of its groups with intervals, then what is said of them."""
        try:
            found = self._explanations.views(actor, model_id).fairness(threshold=threshold)
        except LexsiError as error:
            log.warning("no group figures in the report of %s: %s", model_id, error)
            return ()
        tables: list[tuple[str, Sequence[str], Sequence[Sequence[str]]]] = []
        for column in found.columns:
            names = list(dict.fromkeys(name for group in column.groups for name in group.figures))
            rows = [
                [group.group, f"{group.rows:,}", f"{group.positives:,}", *(_interval(group.figures.get(name)) for name in names)]
                for group in column.groups
            ]
            heads = ["Group", "Rows", "Had the outcome", *(name.replace("_", " ").capitalize() for name in names)]
            tables.append((f"{column.column}: {' '.join(column.sentences)}", heads, rows))
        return tables


def _interval(value: Interval | None) -> str:
    return "" if value is None else f"{value.value:,.3g} ({value.low:,.3g} to {value.high:,.3g})"
