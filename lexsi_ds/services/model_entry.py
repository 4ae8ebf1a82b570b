"""Where a model stands in the registry: a draft, checked, approved for its use, or retired; by whom, for what, and how old.

Values only. ``row_version`` counts every change, and is what a change must have seen.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal, Self

from lexsi_ds.data.handle import Value
from lexsi_ds.models.card import ModelCard
from lexsi_ds.store.model_registry import RegistryRecord
from lexsi_ds.store.sources import Parts, SnapshotRecord

State = Literal["draft", "validated", "approved", "retired"]
STATES: tuple[State, ...] = ("draft", "validated", "approved", "retired")
WORDS: dict[str, str] = {"draft": "Draft", "validated": "Validated", "approved": "Approved", "retired": "Retired"}


class SavedThreshold(Value):
    """From which probability on a row counts as positive, and what that does to the training rows, out of fold."""

    value: float
    how: Literal["cost", "rate", "value"]
    cost_false_positive: float | None = None
    cost_false_negative: float | None = None
    rate: float | None = None
    """Share of rows to flag that was asked for."""
    rows: int = 0
    flagged: int = 0
    true_positives: int = 0
    false_positives: int = 0
    false_negatives: int = 0
    true_negatives: int = 0
    cost: float | None = None
    """What the errors cost over all rows, in the units of the costs."""
    cost_at_half: float | None = None
    """The same with a threshold of 0.5."""
    set_by: str = ""
    set_by_name: str = ""
    set_at: str = ""
    """ISO 8601, UTC."""


class Stale(Value):
    """The data moved on since the model was trained."""

    trained_on: int
    newest: int
    """Numbers of the snapshots."""
    tables: tuple[str, ...]
    """Tables that the model reads and that changed."""
    sentence: str


class Entry(Value):
    """A model in the registry."""

    model_id: str
    name: str
    row_version: int
    state: State
    author: str
    author_name: str
    reviewer: str | None
    """Id of the person who was asked to review it, and so may see it."""
    responsible: str
    """Who answers for it."""
    intended_use: str
    limits: str
    note: str
    """Said with the last change of state."""
    threshold: SavedThreshold | None
    updated_at: datetime
    stale: Stale | None = None

    @classmethod
    def of(cls, record: RegistryRecord, card: ModelCard, stale: Stale | None) -> Self:
        """From its row."""
        return cls.model_validate({**record.model_dump(exclude={"updated_by"}), "name": card.name, "stale": stale})

    @property
    def headline(self) -> str:
        """One text a model: its state, and that the data moved."""
        return WORDS[self.state] + (", data has moved" if self.stale and self.state != "retired" else "")


def stale_of(card: ModelCard, newest: Parts | None, trained: SnapshotRecord | None) -> Stale | None:
    """What changed in the tables that the model reads since the snapshot it was trained on; None when nothing did."""
    if newest is None or newest.snapshot.number <= card.snapshot_number:
        return None
    before = trained.members if trained is not None else {}
    changed = {table.name for table in newest.tables if before.get(table.dataset_id) != table.version}
    mine = _tables(card)
    moved = tuple(sorted(changed & mine)) if mine & {t.name for t in newest.tables} else tuple(sorted(changed))
    if not moved:
        return None
    what = f"{', '.join(moved[:3])}{' and more' if len(moved) > 3 else ''} changed"
    return Stale(
        trained_on=card.snapshot_number, newest=newest.snapshot.number, tables=moved,
        sentence=f"The data has moved: it was trained on version {card.snapshot_number}, the newest is "
        f"{newest.snapshot.number}; {what}.",
    )


def _tables(card: ModelCard) -> set[str]:
    named = {card.task.entity_table, *(table for stats in card.features for table in stats.feature.tables)}
    return {name for name in named if name}
