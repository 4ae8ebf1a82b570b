"""What is taken away of a model, with its line in the audit trail: who, what, how many rows, of which snapshot.

Must never: write the line before the bytes are asked for.
"""

from __future__ import annotations

from collections.abc import Callable

from lexsi_ds.application import Application
from lexsi_ds.models.card import ModelCard
from lexsi_ds.services.access import Actor

_WITH_ROWS = ("archive", "package", "contributions")


def noted(app: Application, actor: Actor, card: ModelCard, what: str, data: Callable[[], bytes]) -> Callable[[], bytes]:
    """``data``, which also writes the line when a browser asks for it."""

    def asked() -> bytes:
        made = data()
        rows = card.rows if what in _WITH_ROWS else None
        app.audit.downloaded(actor, f"{what} of {card.name} ({card.id})", rows=rows, snapshot=card.snapshot_id)
        return made

    return asked
