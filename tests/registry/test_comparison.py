"""Two models side by side: paired on the rows both scored, and what differs between them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from lexsi_ds.application import Application
from lexsi_ds.errors import BadInput, NotFound
from lexsi_ds.models.bundle import SavedModel
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.frames import entity_keys
from lexsi_ds.services.model_training import TrainRequest

from .conftest import ADA, write_loans


@pytest.fixture(scope="module")
def poorer(app: Application, loans: Path) -> ModelCard:
    """The same loans without their best column."""
    request = TrainRequest(target="bad", entity="loan_id", model_type="Logistic", exclude=("balance",), include=("sex",))
    return app.training.train(app.person(), app.catalog.throwaway(loans), request)


def test_two_models_are_paired_on_the_rows_that_both_scored(app: Application, model: ModelCard, poorer: ModelCard) -> None:
    found = app.model_comparisons.compare(app.person(), model.id, poorer.id)
    assert found.paired is not None and found.paired.rows == 300
    aucs = []
    for each in (model, poorer):
        rows = SavedModel(app.models.ref(app.person(), each.id).folder).training
        assert len(set(entity_keys(rows["loan_id"]))) == 300  # pyright: ignore[reportArgumentType]
        aucs.append(roc_auc_score(rows["_lexsi_target"], np.asarray(rows["_lexsi_margin"].tolist())))
    assert found.paired.difference.value == pytest.approx(aucs[0] - aucs[1])
    assert found.paired.difference.low < found.paired.difference.value < found.paired.difference.high
    assert found.only_first == ("balance",) and found.only_second == ("sex",) and found.redefined == ()
    assert f"{model.name} is better than {poorer.name} by more than the noise" in found.sentence
    back = app.model_comparisons.compare(app.person(), poorer.id, model.id)
    assert back.paired is not None and back.paired.difference.value == pytest.approx(-found.paired.difference.value)


def test_models_of_different_rows_say_that_their_figures_cannot_be_compared(
    app: Application, model: ModelCard, tmp_path: Path
) -> None:
    write_loans(tmp_path / "elsewhere.csv", 200, seed=9, first=50_000)
    handle = app.catalog.throwaway(tmp_path / "elsewhere.csv")
    request = TrainRequest(target="bad", entity="loan_id", model_type="Logistic")
    other = app.training.train(app.person(), handle, request)
    found = app.model_comparisons.compare(app.person(), model.id, other.id)
    assert found.paired is None and "cannot be compared" in found.sentence
    assert {d.what: (d.first, d.second) for d in found.data}["Training rows"] == ("300", "200")


def test_a_model_against_itself_or_one_of_somebody_else_is_refused(app: Application, model: ModelCard, poorer: ModelCard) -> None:
    with pytest.raises(BadInput):
        app.model_comparisons.compare(app.person(), model.id, model.id)
    with pytest.raises(NotFound):
        app.model_comparisons.compare(ADA, model.id, poorer.id)
