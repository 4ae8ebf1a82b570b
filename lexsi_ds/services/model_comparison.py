"""Two models side by side: figures on the rows that both scored, which features differ, and what data each saw.

Must never: compare figures of different rows as if they were of the same.
"""

from __future__ import annotations

from lexsi_ds.data.handle import Value
from lexsi_ds.errors import BadInput
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.pool import Pool, Tell
from lexsi_ds.models.card import ModelCard
from lexsi_ds.services.access import Actor
from lexsi_ds.services.models import Models
from lexsi_ds.services.outcome_figures import Paired

_COMPARE = "lexsi_ds.services.outcome_worker:compare"


class Difference(Value):
    """One thing in which the two differ, in words."""

    what: str
    first: str
    second: str


class ModelComparison(Value):
    """Two models beside each other."""

    first: ModelCard
    second: ModelCard
    paired: Paired | None
    """None when they scored no rows in common; ``why_not`` says so."""
    why_not: str = ""
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    redefined: tuple[Difference, ...]
    """Features of one name and two definitions."""
    data: tuple[Difference, ...]
    """Source, snapshot, rows, outcome, folds, model type: what differs."""
    sentence: str


class ModelComparisons:
    """Compares. Raises Denied without the right, NotFound for an unknown model, BadInput for one model against itself."""

    def __init__(self, models: Models, pool: Pool) -> None:
        self._models, self._pool = models, pool

    def compare(
        self, actor: Actor, first_id: str, second_id: str, *, cancel: Cancel | None = None, tell: Tell | None = None
    ) -> ModelComparison:
        """The first model against the second."""
        if first_id == second_id:
            raise BadInput("A model cannot be compared with itself.", to_do="Choose another one.")
        first, second = self._models.get(actor, first_id), self._models.get(actor, second_id)
        folders = [str(self._models.ref(actor, model_id).folder) for model_id in (first_id, second_id)]
        paired, why_not = None, ""
        try:
            answer = self._pool.run("ml", _COMPARE, {"first": folders[0], "second": folders[1]}, cancel=cancel, tell=tell)
            paired = Paired.model_validate(answer)
        except BadInput as error:
            why_not = str(error)
        mine, its = (_features(card) for card in (first, second))
        return ModelComparison(
            first=first, second=second, paired=paired, why_not=why_not,
            only_first=tuple(sorted(mine.keys() - its.keys())), only_second=tuple(sorted(its.keys() - mine.keys())),
            redefined=tuple(
                Difference(what=name, first=mine[name], second=its[name]) for name in sorted(mine.keys() & its.keys())
                if mine[name] != its[name]
            ),
            data=_data(first, second), sentence=_sentence(first, second, paired, why_not),
        )


def _features(card: ModelCard) -> dict[str, str]:
    return {stats.feature.name: stats.feature.expression for stats in card.features}


def _data(first: ModelCard, second: ModelCard) -> tuple[Difference, ...]:
    def said(card: ModelCard) -> dict[str, str]:
        return {
            "Source": card.source_name, "Data version": str(card.snapshot_number), "Training rows": f"{card.rows:,}",
            "Outcome": card.task.positive_meaning, "Rows that train": card.task.known_meaning, "Model type": card.model_type,
            "Folds": f"{card.repeats} x {card.folds} by {card.task.split.by}", "Trained": card.created_at[:10],
        }

    mine, its = said(first), said(second)
    return tuple(Difference(what=what, first=mine[what], second=its[what]) for what in mine if mine[what] != its[what])


def _sentence(first: ModelCard, second: ModelCard, paired: Paired | None, why_not: str) -> str:
    if paired is None:
        return f"Their figures are of different rows and cannot be compared: {why_not}"
    gap = paired.difference
    shown = f"{gap.value:+.3f}, 95% interval {gap.low:+.3f} to {gap.high:+.3f}, paired on {paired.rows:,} rows"
    if gap.low <= 0 <= gap.high:
        return f"The two are as good within the noise ({first.chosen.main_name} {shown})."
    better, other = (first, second) if gap.value > 0 else (second, first)
    return f"{better.name} is better than {other.name} by more than the noise ({first.chosen.main_name} {shown})."


