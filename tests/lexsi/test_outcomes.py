"""Outcomes are looked at and not believed: half-done and lost trainings, failures without words, scores that do not fit."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from lexsi_ds.errors import LexsiError, PlatformFailed, Stopped, WorkerFailed
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.pool import Pool
from lexsi_ds.models.frames import read_frame
from lexsi_ds.models.lexsi.engine import LexsiEngine
from lexsi_ds.models.lexsi.scores import read_scores
from tests.lexsi.conftest import settings_for
from tests.lexsi.fake_platform import FakePlatform
from tests.lexsi.frames import loan_task, loans

RUN = "run_01a22dd8-6990-73a2-a9ee-e3ceae00bbb1"
Make = Callable[..., LexsiEngine]


def test_a_training_whose_stream_closes_early_is_waited_for(engine: LexsiEngine, platform: FakePlatform) -> None:
    platform.ending, platform.later_s = "closed", 2.5
    _, card = engine.train(loans(), loan_task(), run_id=RUN)
    assert card.chosen.parameters["model on the platform"] == "XGBoost_v1"


def test_a_training_that_leaves_no_model_is_no_success(engine: LexsiEngine, platform: FakePlatform, lexsi_home) -> None:
    platform.ending = "lost"
    before = set((lexsi_home / "models").glob("*")) if (lexsi_home / "models").exists() else set()
    with pytest.raises(PlatformFailed, match="no new model"):
        engine.train(loans(), loan_task(), run_id=RUN)
    assert set((lexsi_home / "models").glob("*")) == before, "half a model was left behind"


def test_a_model_that_is_still_being_built_is_not_taken(engine: LexsiEngine, platform: FakePlatform) -> None:
    def staged(status: str) -> dict:
        rows = [{"model_name": "XGBoost_v1", "status": status}]
        available = [{"model_name": "XGBoost"}]
        return {"success": True, "details": {"staged": rows, "available": available, "foundation_models": []}}

    empty = {"success": True, "details": {"staged": [], "available": [{"model_name": "XGBoost"}], "foundation_models": []}}
    path = "/v2/ai-models/get_all_models"
    platform.answers[path] = [empty, empty, staged("training"), staged("training"), staged("active")]
    _, card = engine.train(loans(), loan_task(), run_id=RUN)
    asked = [r.path for r in platform.requests].count(path)
    assert card.chosen.parameters["model on the platform"] == "XGBoost_v1" and asked >= 5


def test_a_failure_without_a_word_is_told_by_the_events(engine: LexsiEngine, platform: FakePlatform) -> None:
    platform.ending, platform.reason = "failed", ""
    with pytest.raises(PlatformFailed, match=r"Lexsi gave no reason.*Preparing data"):
        engine.train(loans(), loan_task(), run_id=RUN)
    platform.answers["/v2/project/upload_data_with_check"] = [(500, "application/json", b"")]
    event = {"event_id": "e9", "event_name": "train_model", "status": "failed", "message": "Quota of small compute is used up"}
    platform.answers["/v2/events/fetch"] = [{"success": True, "details": []}, {"success": True, "details": [event]}]
    with pytest.raises(PlatformFailed, match="Quota of small compute is used up") as caught:
        engine.train(loans(), loan_task(), run_id=RUN.replace("bbb1", "ddd1"))
    assert "uploading and training" in caught.value.where


def test_an_old_failure_is_not_taken_for_the_reason(engine: LexsiEngine, platform: FakePlatform) -> None:
    old = {"event_id": "e1", "event_name": "train_model", "status": "failed", "message": "an older failure"}
    platform.answers["/v2/events/fetch"] = [{"success": True, "details": [old]}]
    platform.answers["/v2/project/upload_data_with_check"] = [(500, "application/json", b"")]
    with pytest.raises(PlatformFailed, match="gave no reason"):
        engine.train(loans(), loan_task(), run_id=RUN)


def test_without_the_right_to_read_events_trainings_work_and_failures_are_told(
    engine: LexsiEngine, platform: FakePlatform
) -> None:
    platform.reads_events = False
    engine.train(loans(), loan_task(), run_id=RUN)
    platform.ending, platform.reason = "failed", "Column x is empty"
    with pytest.raises(PlatformFailed, match="Column x is empty"):
        engine.train(loans(), loan_task(), run_id=RUN.replace("bbb1", "ddd1"))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((401, "application/json", b'{"details": "Invalid access token"}'), "Invalid access token"),
        ((500, "application/json", b""), "Lexsi gave no reason"),
        ((422, "application/json", b'{"error": "no details"}'), "no details"),
        ((200, "application/json", b'{"success": false, "details": ""}'), "lacks access_token"),
        ((200, "application/json", b'{"access_token": "no-jwt"}'), "bearer token cannot be read"),
        ((200, "text/html", b"<html>maintenance</html>"), "error of its own"),
    ],
)
def test_a_sign_in_that_goes_wrong_is_told(engine: LexsiEngine, platform: FakePlatform, answer: tuple, said: str) -> None:
    platform.answers["/v2/access-token/authorize"] = [answer]
    with pytest.raises(PlatformFailed, match=said) as caught:
        engine.train(loans(), loan_task(), run_id=RUN)
    assert caught.value.where.startswith("Lexsi, ")


def test_a_platform_that_is_not_there_is_told(make_engine: Make) -> None:
    with pytest.raises(PlatformFailed, match="could not be reached"):
        make_engine(url="http://127.0.0.1:9").train(loans(), loan_task(), run_id=RUN)


def test_a_training_that_hangs_is_ended_by_the_clock(platform: FakePlatform, tmp_path) -> None:
    settings = settings_for(tmp_path, platform.url, LEXSI_TRAIN_TIMEOUT_S=20)
    pool = Pool(settings)
    platform.ending = "stalled"
    try:
        with pytest.raises(WorkerFailed) as caught:
            LexsiEngine(pool, settings).train(loans(), loan_task(), run_id=RUN)
    finally:
        pool.close()
    assert caught.value.kind == "timeout" and "LEXSI_TRAIN_TIMEOUT_S" in caught.value.to_do
    assert list((tmp_path / "models").glob("*")) == []


def test_a_stop_ends_the_waiting(engine: LexsiEngine, platform: FakePlatform) -> None:
    platform.ending = "stalled"
    cancel = Cancel()
    told: list[dict] = []

    def tell(message: dict) -> None:
        told.append(message)
        if "Preparing data" in message.get("text", ""):
            threading.Thread(target=cancel.set).start()

    with pytest.raises(Stopped):
        engine.train(loans(), loan_task(), run_id=RUN, cancel=cancel, tell=tell)
    platform.ending = "completed"
    engine.train(loans(), loan_task(), run_id=RUN.replace("bbb1", "ddd1"))


@pytest.mark.parametrize(
    ("tamper", "said"),
    [
        (lambda f: f.iloc[:-1], "rows were sent and"),
        (lambda f: pd.concat([f.iloc[:-1], f.iloc[:1]]), "not those that were sent"),
        (lambda f: f.assign(row_key=[f"x{i}" for i in range(len(f))]), "not those that were sent"),
        (lambda f: f.drop(columns="row_key"), "no column row_key"),
        (lambda f: f.drop(columns="pred_proba_AutoML"), "no probabilities"),
        (lambda f: f.assign(pred_proba_AutoML=f["pred_proba_AutoML"] * 100), "no probabilities"),
        (lambda f: f.assign(pred_proba_AutoML=None), "are no numbers"),
        (lambda f: f.assign(Predicted_value_AutoML=1 - f["Predicted_value_AutoML"]), "contradicts the predicted class"),
    ],
)
def test_scores_that_do_not_fit_are_refused(
    engine: LexsiEngine, platform: FakePlatform, tamper: Callable[[pd.DataFrame], pd.DataFrame], said: str, lexsi_home
) -> None:
    ref, _ = engine.train(loans(), loan_task(), run_id=RUN)
    platform.tamper = tamper
    before = set((lexsi_home / "predictions").glob("*")) if (lexsi_home / "predictions").exists() else set()
    with pytest.raises(LexsiError, match=said):
        engine.predict(ref, loans(50, first=900).drop(columns=["y", "amount"]))
    assert set((lexsi_home / "predictions").glob("*")) == before


def test_the_probability_of_the_predicted_class_is_turned_into_that_of_the_outcome(
    engine: LexsiEngine, platform: FakePlatform
) -> None:
    ref, _ = engine.train(loans(), loan_task(), run_id=RUN)
    rows = loans(50, first=900).drop(columns=["y", "amount"])
    plain = read_frame(engine.predict(ref, rows).path)
    platform.proba = ("Probability", "predicted")
    predictions = engine.predict(ref, rows)
    assert np.allclose(read_frame(predictions.path)["probability"], plain["probability"])
    assert any("predicted class" in note for note in predictions.notes)


def test_an_uploaded_column_is_never_taken_for_a_score() -> None:
    found = pd.DataFrame({"row_key": ["a", "b"], "prob_of_rain": [0.1, 0.2], "Predicted_value": [0, 1], "pred_proba": [0.3, 0.8]})
    scores = read_scores(found, ["b", "a"], "binary", frozenset({"row_key", "prob_of_rain"}))
    assert scores.values.tolist() == [0.8, 0.3]


def test_scores_are_fetched_again_when_the_bearer_token_ran_out_meanwhile(
    engine: LexsiEngine, platform: FakePlatform
) -> None:
    ref, _ = engine.train(loans(), loan_task(), run_id=RUN)
    real = platform.on_ai_models_download_tag_data
    calls: list[str] = []

    def expired_once(request):
        calls.append(request.query["tag"])
        return (401, "application/json", b'{"details": "Token expired"}') if len(calls) == 1 else real(request)

    platform.on_ai_models_download_tag_data = expired_once
    rows = loans(50, first=900).drop(columns=["y", "amount"])
    assert len(read_frame(engine.predict(ref, rows).path)) == 50 and len(calls) == 2


def test_an_expired_bearer_token_is_renewed_once(engine: LexsiEngine, platform: FakePlatform) -> None:
    real, issued = platform._bearer, []

    def short_first() -> str:
        platform.jwt_seconds = -5 if not issued else 3600
        issued.append(real())
        return issued[-1]

    platform._bearer = short_first
    engine.train(loans(), loan_task(), run_id=RUN)
    assert len(issued) == 2
