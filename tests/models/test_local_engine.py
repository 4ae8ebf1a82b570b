"""The local engine through real worker processes: the whole way, a stop in the middle, and errors as they were raised."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import BadInput, ModelRefused, NotFound, Stopped
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.pool import Pool
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.engine import ModelEngine
from lexsi_ds.models.frames import read_frame
from lexsi_ds.models.local import LocalEngine
from lexsi_ds.models.task import Apart
from lexsi_ds.settings import Settings
from tests.models.frames_for_tests import loan_task, loans


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def engine(home: Path) -> Iterator[LocalEngine]:
    settings = Settings(home=home)
    pool = Pool(settings)
    yield LocalEngine(pool, settings)
    pool.close()


def left_behind(home: Path) -> list[str]:
    return [p.name for p in (home / "tmp").iterdir() if not p.name.startswith("boot_")]


def test_train_predict_explain_and_similar_through_a_worker(engine: LocalEngine, home: Path) -> None:
    frame = loans()
    task = loan_task(frame, apart=Apart(column="status", value="D", label="in debt already"))
    handle = DatasetHandle(
        source_id="con_1", name="bank", kind="demo", snapshot_id="snap_1", snapshot_number=3, tables=()
    )
    told: list[dict[str, Any]] = []
    ref, card = engine.train(frame, task, handle=handle, run_id="run_1", tell=told.append)
    assert ref.folder == home / "models" / card.id
    assert ModelCard.model_validate_json((ref.folder / "card.json").read_text()) == card
    assert (card.source_id, card.snapshot_id, card.snapshot_number, card.run_id) == ("con_1", "snap_1", 3, "run_1")
    assert told[-1]["done"] == told[-1]["total"]
    running = loans(448, seed=5, first=1_000).drop(columns="y")
    predictions = engine.predict(ref, running)
    scores = read_frame(predictions.path)
    assert (predictions.rows, len(scores)) == (448, 448)
    assert predictions.ranked == int((running["status"] == "C").sum())
    top = running.set_index("loan_id").loc[scores["loan_id"].head(10)].reset_index()
    cases = engine.explain(ref, top)
    assert [c.case_id for c in cases] == [str(i) for i in scores["loan_id"].head(10)]
    assert [c.prediction for c in cases] == pytest.approx(scores["probability"].head(10).tolist(), abs=1e-4)
    overview = engine.explain_global(ref, running)
    assert overview.rows == 448
    assert len(engine.similar(ref, top.head(2), k=4)[1]) == 4
    assert engine.open(card.id) == ref
    assert left_behind(home) == []


def test_a_stop_in_the_middle_of_a_training_leaves_nothing(engine: LocalEngine, home: Path) -> None:
    before = set((home / "models").iterdir()) if (home / "models").exists() else set()
    frame = loans()
    cancel = Cancel()

    def stop_at_work(message: dict[str, Any]) -> None:
        if message.get("done", 0) >= 1:
            cancel.set()

    with pytest.raises(Stopped):
        engine.train(frame, loan_task(frame), cancel=cancel, tell=stop_at_work)
    assert set((home / "models").iterdir()) == before
    assert left_behind(home) == []
    _, card = engine.train(frame, loan_task(frame))
    assert card.rows == 234


def test_refusals_arrive_as_they_were_raised(engine: LocalEngine, home: Path) -> None:
    frame = loans()
    with pytest.raises(ModelRefused, match="0 with default"):
        engine.train(frame.assign(y=0), loan_task(frame))
    with pytest.raises(BadInput, match="CatBoost"):
        engine.train(frame, loan_task(frame), model_type="CatBoost")
    ref, _ = engine.train(frame, loan_task(frame))
    with pytest.raises(BadInput, match="no rows"):
        engine.predict(ref, frame.head(0))
    with pytest.raises(BadInput, match="x01"):
        engine.explain(ref, frame.drop(columns="x01"))
    with pytest.raises(BadInput, match="odd"):
        engine.predict(ref, frame.assign(odd=[1, "x", *range(232)]))
    assert left_behind(home) == []


def test_a_model_that_is_gone_or_a_path_is_not_found(engine: LocalEngine) -> None:
    for name in ("mdl_unknown", "../models", "/etc", ""):
        with pytest.raises(NotFound):
            engine.open(name)


def test_trainings_in_worker_processes_are_the_same(engine: LocalEngine) -> None:
    frame = loans()
    new = loans(60, seed=5, first=1_000)
    runs = []
    for _ in range(2):
        ref, card = engine.train(frame, loan_task(frame))
        runs.append(
            (card.model_dump(exclude={"id", "created_at", "seconds"}), read_frame(engine.predict(ref, new).path))
        )
    for card, scores in runs[1:]:
        assert card == runs[0][0]
        pd.testing.assert_frame_equal(scores, runs[0][1])


def test_it_is_a_model_engine(engine: LocalEngine) -> None:
    protocol: ModelEngine = engine
    assert protocol is engine
