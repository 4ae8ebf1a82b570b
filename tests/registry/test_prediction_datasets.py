"""Predictions kept as a data set: all rows, once, with a finding's check on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import Denied, NotFound
from lexsi_ds.services import prediction_datasets
from lexsi_ds.services.access import LOCAL, Actor, rights_of_role
from lexsi_ds.services.model_training import TrainRequest
from tests.registry.conftest import write_loans


def test_predictions_become_a_data_set_that_a_finding_checks(
    app: Application, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prediction_datasets, "_AT_ONCE", 70)
    write_loans(tmp_path / "kept.csv")
    handle = app.catalog.import_source(LOCAL, "files", "Kept loans", [tmp_path / "kept.csv"])
    card = app.training.train(LOCAL, handle, TrainRequest(target="bad", entity="loan_id", model_type="Logistic"), via="test")
    app.scoring.source(LOCAL, card.id, handle)
    (known,) = app.models.all_predictions(LOCAL, card.id)
    table = app.prediction_datasets.save(LOCAL, known.id)
    assert (table.rows, {"loan_id", "probability", "rank"} <= {c.name for c in table.columns}) == (known.rows, True)
    assert app.prediction_datasets.save(LOCAL, known.id).dataset_id == table.dataset_id
    frame, _ = app.models.page(LOCAL, known.id, limit=known.rows)
    made = app.findings.propose(
        LOCAL, dataset_id=table.dataset_id, title="Few are sure", statement="No loan is above 20%.", source_id=handle.source_id,
        check_sql="SELECT * FROM dataset WHERE probability > 0.2",
    )
    assert made.last_check is not None and made.last_check.failure_count == int((frame["probability"] > 0.2).sum()) > 0
    with pytest.raises(Denied):
        app.prediction_datasets.save(Actor("vic", "Vic", rights_of_role("viewer")), known.id)
    with pytest.raises(NotFound):
        app.prediction_datasets.save(Actor("eve", "Eve", rights_of_role("member")), known.id)
