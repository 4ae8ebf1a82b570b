"""An exported model trains again from its archive in a process of its own, and gives the same scores."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import Denied, NotFound
from lexsi_ds.models.card import ModelCard
from lexsi_ds.services.access import Actor
from lexsi_ds.services.model_training import TrainRequest
from lexsi_ds.services.package_code import modules, requirements

from .conftest import ADA, write_loans


def _run(folder: Path) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "LEXSI_DS_HOME")}
    return subprocess.run([sys.executable, "-I", "reproduce.py"], cwd=folder, env=env, capture_output=True, text=True, timeout=300,
                          check=False)


def _unzip(data: bytes, folder: Path) -> Path:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        assert file.testzip() is None and not any(".." in name or name.startswith("/") for name in file.namelist())
        file.extractall(folder)
    return folder


@pytest.mark.parametrize("kind", ["Logistic", "XGBoost", "regression"])
def test_the_script_of_an_archive_trains_the_model_again_and_gives_the_same_scores(
    app: Application, tmp_path: Path, kind: str
) -> None:
    frame = write_loans(tmp_path / "book.csv", 260, seed=4)
    target = "balance" if kind == "regression" else "bad"
    frame.assign(**{target: frame[target].where(frame.index < 200)}).to_csv(tmp_path / "book.csv", index=False)
    handle = app.catalog.throwaway(tmp_path / "book.csv")
    request = TrainRequest(target=target, entity="loan_id", model_type=None if kind == "regression" else kind)
    card = app.training.train(app.person(), handle, request)
    folder = _unzip(app.packages.zip(app.person(), card.id), tmp_path / "out")
    rows = {name: pd.read_parquet(folder / "data" / f"{name}.parquet") for name in ("training", "rows", "scores")}
    assert (len(rows["training"]), len(rows["rows"]), len(rows["scores"])) == (200, 60, 60)
    done = _run(folder)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["rows"] == 60 and said["same_rows"] and said["largest_difference"] <= 1e-6
    assert said["column"] == ("prediction" if kind == "regression" else "probability")
    assert len(pd.read_parquet(folder / "scores_again.parquet")) == 60


def test_other_rows_give_other_scores_and_the_script_says_so(app: Application, model: ModelCard, tmp_path: Path) -> None:
    folder = _unzip(app.packages.zip(app.person(), model.id), tmp_path)
    path = folder / "data" / "training.parquet"
    frame = pd.read_parquet(path)
    frame.assign(y_bad=1 - frame["y_bad"]).to_parquet(path, index=False)
    done = _run(folder)
    assert done.returncode == 1 and json.loads(done.stdout)["largest_difference"] > 0.05


def test_an_archive_holds_the_task_the_card_and_pinned_libraries(app: Application, model: ModelCard, tmp_path: Path) -> None:
    folder = _unzip(app.packages.zip(app.person(), model.id), tmp_path)
    about = json.loads((folder / "task.json").read_text("utf-8"))
    assert about["task"]["features"][0]["expression"] == "loans.balance" and about["training"]["model_type"] == "Logistic"
    assert json.loads((folder / "card.json").read_text("utf-8"))["card"]["id"] == model.id
    assert "<h2>Features</h2>" in (folder / "report.html").read_text("utf-8")
    pinned = (folder / "requirements.txt").read_text("utf-8").split()
    assert all("==" in line for line in pinned) and {"numpy", "pandas", "scikit-learn"} <= {p.partition("==")[0] for p in pinned}
    with pytest.raises(NotFound):
        app.packages.zip(ADA, model.id)
    with pytest.raises(Denied):
        app.packages.zip(Actor("local", "You", frozenset({"models:read"})), model.id)


def test_only_what_trains_and_scores_is_taken_along() -> None:
    names = modules()
    assert "lexsi_ds/models/worker.py" in names and "lexsi_ds/models/scoring.py" in names
    assert not any(name.startswith(("lexsi_ds/settings", "lexsi_ds/store", "lexsi_ds/services", "lexsi_ds/llm")) for name in names)
    assert not any(line.startswith(("streamlit", "sqlalchemy", "lexsi-sdk")) for line in requirements())
