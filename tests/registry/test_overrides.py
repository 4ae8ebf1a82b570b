"""A person's decision about a case stands beside the model's figure and never in its place."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from lexsi_ds.errors import BadInput, Conflict, Denied, NotFound
from lexsi_ds.services.access import Actor
from lexsi_ds.services.model_overrides import Overrides
from lexsi_ds.services.models import Models
from lexsi_ds.store.db import Store
from tests.services.cards import card, scored, trained

from .conftest import ADA, BEN


@pytest.fixture
def kept(tmp_path: Path) -> tuple[Overrides, Models, str]:
    store = Store(f"sqlite:///{tmp_path / 'store.sqlite'}")
    store.migrate()
    models, made = Models(store, tmp_path), card()
    models.register(ADA, trained(tmp_path, made), made, None)
    frame = pd.DataFrame({"loan_id": [7, 8, 9], "probability": [0.9, 0.4, 0.2], "segment": "ranked"})
    models.save_predictions(ADA, made.id, scored(tmp_path, frame), None, "snap_a")
    return Overrides(store, models), models, made.id


def test_a_decision_keeps_its_reason_and_what_the_model_said(kept: tuple[Overrides, Models, str]) -> None:
    overrides, models, model_id = kept
    before, _ = models.page(ADA, models.latest_predictions(ADA, model_id).id)  # pyright: ignore[reportOptionalMemberAccess]
    made = overrides.decide(ADA, model_id, "7", 0, "grant", "Two guarantors.", via="mcp")
    assert (made.number, made.decision, made.reason, made.person, made.via) == (1, "grant", "Two guarantors.", "ada", "mcp")
    assert made.model_said is not None and (made.model_said["probability"], made.model_said["prediction"]) == (0.9, 1)
    after, _ = models.page(ADA, models.latest_predictions(ADA, model_id).id)  # pyright: ignore[reportOptionalMemberAccess]
    pd.testing.assert_frame_equal(before, after)
    assert overrides.current(ADA, model_id, "7") == made and overrides.standing(ADA, model_id) == {"7": made}
    assert overrides.standing(ADA, model_id, ["8", "9"]) == {}


def test_earlier_decisions_stay_in_the_history(kept: tuple[Overrides, Models, str]) -> None:
    overrides, _, model_id = kept
    overrides.decide(ADA, model_id, "8", 0, "refuse", "Fraud alert.")
    overrides.decide(ADA, model_id, "8", 1, "grant", "The alert was wrong.")
    overrides.withdraw(ADA, model_id, "8", 2, "The desk decides.")
    assert [(s.number, s.decision, s.reason) for s in overrides.history(ADA, model_id, "8")] == [
        (1, "refuse", "Fraud alert."), (2, "grant", "The alert was wrong."), (3, None, "The desk decides."),
    ]
    assert overrides.current(ADA, model_id, "8") is None and overrides.standing(ADA, model_id) == {}
    with pytest.raises(BadInput, match="no decision"):
        overrides.withdraw(ADA, model_id, "8", 3, "again")


def test_a_decision_needs_a_reason_a_known_case_and_the_newest_one_seen(kept: tuple[Overrides, Models, str]) -> None:
    overrides, _, model_id = kept
    for decision, reason in (("", "why"), ("grant", "  "), ("x" * 201, "why")):
        with pytest.raises(BadInput):
            overrides.decide(ADA, model_id, "7", 0, decision, reason)
    with pytest.raises(NotFound):
        overrides.decide(ADA, model_id, "77", 0, "grant", "why")
    overrides.decide(ADA, model_id, "7", 0, "grant", "why")
    with pytest.raises(Conflict, match="Ada decided"):
        overrides.decide(ADA, model_id, "7", 0, "refuse", "why")
    with pytest.raises(NotFound):
        overrides.history(BEN, model_id, "7")
    with pytest.raises(Denied):
        overrides.decide(Actor("ada", "Ada", frozenset({"models:read"})), model_id, "7", 1, "refuse", "why")
