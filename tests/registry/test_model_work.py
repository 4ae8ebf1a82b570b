"""Training, scoring and measuring in the background, as a page starts them, with uploaded files."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from lexsi_ds.application import Application
from lexsi_ds.jobs.background import Task
from lexsi_ds.models.card import ModelCard
from lexsi_ds.services.model_backtests import OutcomeFile
from lexsi_ds.services.model_training import TrainRequest

from .conftest import write_loans


def _done(task: Task) -> Task:
    end = time.monotonic() + 240
    while task.state in ("queued", "running") and time.monotonic() < end:
        time.sleep(0.05)
    return task


def _uploaded(app: Application, source: Path) -> Path:
    return Path(shutil.copy(source, app.uploads.open() / source.name))


def test_an_uploaded_file_is_scored_and_its_outcomes_are_measured(app: Application, model: ModelCard, tmp_path: Path) -> None:
    frame = write_loans(tmp_path / "arrived.csv", 150, seed=21, first=30_000, outcome=False)
    task = _done(app.model_work.score(app.person(), model.id, _uploaded(app, tmp_path / "arrived.csv")))
    assert task.state == "done", task.error
    assert task.result.rows == 150
    frame[["loan_id", "bad"]].to_csv(tmp_path / "came.csv", index=False)
    file = OutcomeFile(path=_uploaded(app, tmp_path / "came.csv"))
    task = _done(app.model_work.backtest(app.person(), model.id, file=file, predictions_id=task.result.predictions_id))
    assert task.state == "done" and task.result.held.rows == 150, task.error


def test_an_upload_that_cannot_be_scored_leaves_no_file(app: Application, model: ModelCard, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_bytes(b"")
    path = _uploaded(app, tmp_path / "bad.csv")
    task = _done(app.model_work.score(app.person(), model.id, path))
    assert task.state == "failed" and not path.parent.exists()


def test_a_training_in_the_background_gives_the_card(app: Application, loans: Path) -> None:
    request = TrainRequest(target="bad", entity="loan_id", model_type="Logistic", exclude=("duration",))
    task = _done(app.model_work.train(app.person(), app.catalog.throwaway(loans), request))
    assert task.state == "done" and isinstance(task.result, ModelCard), task.error
