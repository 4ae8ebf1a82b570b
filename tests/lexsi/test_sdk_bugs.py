"""Each trap of the SDK, met on purpose: ``docs/sdk_issues.md`` names the test that guards it."""

from __future__ import annotations

import importlib
import inspect
import re
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lexsi_ds.errors import LexsiError, PlatformFailed
from lexsi_ds.models.frames import read_frame
from lexsi_ds.models.lexsi.answers import _numbers
from lexsi_ds.models.lexsi.engine import LexsiEngine
from lexsi_ds.models.lexsi.session import Access, Session
from tests.lexsi.fake_platform import FakePlatform
from tests.lexsi.frames import FEATURES, amount_task, loan_task, loans

RUN = "run_01a22dd8-6990-73a2-a9ee-e3ceae00bbb1"
REPO = Path(__file__).resolve().parents[2]


def rows(n: int = 40) -> pd.DataFrame:
    return loans(n, seed=3, first=2000).drop(columns=["y", "amount"])


def test_the_prediction_label_is_always_there_and_never_a_feature(engine: LexsiEngine, platform: FakePlatform) -> None:
    engine.train(loans(), loan_task(), run_id=RUN)
    body = platform.sent("project/upload_data_with_check")[0].body
    trained = platform.uploads()[0][1]
    assert body["pred_label"] == "Prediction" and list(trained["Prediction"]) == list(trained["y"])
    assert "Prediction" in body["metadata"]["feature_exclude"] and "Prediction" not in body["metadata"]["feature_include"]


def test_a_feature_called_prediction_keeps_its_place(engine: LexsiEngine, platform: FakePlatform) -> None:
    frame = loans().rename(columns={"balance & co": "Prediction", "card": "row_key", "frequency": "Y"})
    engine.train(frame, loan_task("Prediction", "row_key", "durée (mois)"), run_id=RUN)
    trained = platform.uploads()[0][1]
    assert list(trained.columns) == ["row_key", "Prediction_2", "row_key_2", "dur_e_mois", "y", "Prediction"]
    assert sorted(trained["Prediction_2"])[:1] != [0]


def test_the_key_and_the_outcome_are_never_features(engine: LexsiEngine, platform: FakePlatform) -> None:
    engine.train(loans(), loan_task(), run_id=RUN)
    engine.train(loans(seed=1), loan_task(), run_id=RUN)
    bodies = [*platform.sent("project/upload_data_with_check"), *platform.sent("users/xai_config_update")]
    assert len(bodies) == 2
    for request in bodies:
        assert request.body["metadata"]["feature_include"] == ["balance_co", "dur_e_mois", "frequency", "card"]


def test_scoring_always_names_a_compute(engine: LexsiEngine, platform: FakePlatform) -> None:
    ref, _ = engine.train(loans(), loan_task(), run_id=RUN)
    engine.predict(ref, rows(), compute_type=None)
    engine.predict(ref, rows(), compute_type="medium")
    predictions = engine.predict(ref, rows(), compute_type="junk")
    used = [r.body["instance_type"] for r in platform.sent("ai-models/run_model_on_data")]
    assert used[-3:] == ["small", "medium", "small"] and any("junk" in note for note in predictions.notes)


def test_tags_survive_a_query_string_that_is_not_escaped(engine: LexsiEngine, platform: FakePlatform) -> None:
    ref, _ = engine.train(loans(), loan_task(), run_id="run_a&b=c #/é?")
    engine.predict(ref, rows())
    assert platform.uploads() and all(tag.isalnum() and tag.isascii() for tag, _ in platform.uploads())


def test_no_configuration_is_ever_deleted_because_there_is_no_such_call(engine: LexsiEngine) -> None:
    source = "".join(p.read_text(encoding="utf-8") for p in (REPO / "lexsi_ds" / "models" / "lexsi").glob("*.py"))
    assert "delete_config" not in source
    engine.train(loans(), loan_task("balance & co"), run_id=RUN)
    engine.train(loans(), loan_task(), run_id=RUN)


def test_what_the_sdk_prints_is_progress_and_not_output(
    engine: LexsiEngine, platform: FakePlatform, capfd: pytest.CaptureFixture[str]
) -> None:
    told: list[dict] = []
    engine.train(loans(), loan_task(), run_id=RUN, tell=told.append)
    texts = [t.get("text", "") for t in told]
    assert any("Training on the Lexsi platform" in t for t in texts) and not any("{" in t for t in texts)
    captured = capfd.readouterr()
    assert "Authenticated" not in captured.out + captured.err


def test_progress_lines_are_counted_inside_of_their_stage() -> None:
    told: list[dict] = []
    session = Session(Access("http://127.0.0.1:9", "t0ken-secret"), told.append)
    session.stage(1, 3, "Training")
    session.call("x", lambda: print("Config :-\n{\n 'a': 1\n}\nFitting t0ken-secret\nprogress: 40%"))
    assert told == [
        {"done": 100, "total": 300, "text": "Training", "stage": True}, {"text": "Fitting …"},
        {"done": 140, "total": 300, "text": "Fitting …"},
    ]


def test_a_deleted_first_upload_is_told_for_what_it_is(engine: LexsiEngine, platform: FakePlatform) -> None:
    platform.deleted_files_are_gone = True
    with pytest.raises(PlatformFailed, match="File was deleted"):
        engine.train(loans(), loan_task(), run_id=RUN)


def test_a_failure_is_not_hidden_by_the_tidying_after_it(engine: LexsiEngine, platform: FakePlatform) -> None:
    """After a failure the SDK deletes the file that it deleted before, and raises about that instead."""
    platform.deleted_files_are_gone, platform.ending = True, "failed"
    platform.reason = "Not enough memory for this table"
    real = platform.on_project_upload_data_with_check

    def keeps_file(request):
        for project in platform.projects.values():
            project.files.setdefault(request.body["metadata"]["path"], platform.sent("project/uploadfile_with_info")[0].content)
        made = real(request)
        for project in platform.projects.values():
            project.files.clear()
        return made

    platform.on_project_upload_data_with_check = keeps_file
    with pytest.raises(PlatformFailed, match="Not enough memory"):
        engine.train(loans(), loan_task(), run_id=RUN)


def test_a_fresh_project_has_no_models_and_no_error(engine: LexsiEngine, platform: FakePlatform) -> None:
    engine.train(loans(), loan_task(), run_id=RUN)
    first = platform.sent("ai-models/get_all_models")[0]
    assert first is not None and platform.projects


def test_fractional_and_missing_outcomes_of_a_row_can_be_read(engine: LexsiEngine, platform: FakePlatform) -> None:
    ref, _ = engine.train(loans(), amount_task(), run_id=RUN)
    platform.fractional_truth = True
    cases = engine.explain(ref, rows(3))
    assert len(cases) == 3 and {d.feature for d in cases[0].drivers} == set(FEATURES)
    asked = platform.sent("ai-models/get_case_info_components")
    assert len(asked) == 4, "each row is paid for once; only the first was asked for twice"


def test_shap_values_are_asked_for_as_a_list(engine: LexsiEngine, platform: FakePlatform) -> None:
    ref, _ = engine.train(loans(), loan_task(), run_id=RUN)
    engine.explain(ref, rows(3))
    engine.similar(ref, rows(1))
    assert [r.body["xai"] for r in platform.sent("ai-models/get_case_info_components")] == [["shap"]] * 3 + [[]]


def test_similar_rows_may_come_as_a_sentence(engine: LexsiEngine, platform: FakePlatform) -> None:
    ref, _ = engine.train(loans(), loan_task(), run_id=RUN)
    real = platform.on_ai_models_get_case_info_components

    def none_found(request):
        made = real(request)
        made["details"]["similar_cases_data"] = []
        return made

    platform.on_ai_models_get_case_info_components = none_found
    assert engine.similar(ref, rows(1)) == [[]]


def test_shap_values_by_class_are_read_of_the_outcome() -> None:
    assert _numbers({"0": {"a": -1.0}, "1": {"a": 1.0, "b": "x"}}) == ({"a": 1.0}, ["b"])
    assert _numbers({"a": "0.5", "b": None, "c": float("nan")}) == ({"a": 0.5}, ["b", "c"])
    assert _numbers("none") == ({}, [])


def test_numbers_and_words_reach_the_platform_as_they_are(engine: LexsiEngine, platform: FakePlatform) -> None:
    frame = loans()
    frame["code"] = np.where(frame["y"] + np.arange(len(frame)) % 3 > 1, "007", "a, \"b\"\n=1+1")
    frame["big"] = np.arange(len(frame)) * 1e9 + 0.5
    engine.train(frame, loan_task("balance & co", "code", "big").model_copy(update={
        "features": tuple(f.model_copy(update={"kind": "categorical"}) if f.name == "code" else f
                          for f in loan_task("balance & co", "code", "big").features)}), run_id=RUN)  # fmt: skip
    content = platform.sent("project/uploadfile_with_info")[0].content.decode()
    assert '"a, ""b""\n=1+1"' in content and ",007," in content


def test_every_call_is_by_name(engine: LexsiEngine) -> None:
    """Release 0.1.65 put a parameter between two others: callers by position broke."""
    source = "".join(p.read_text(encoding="utf-8") for p in (REPO / "lexsi_ds" / "models" / "lexsi").glob("*.py"))
    for method in ("upload_data", "train_model", "model_inference", "case_predict", "create_project", "create_data_connectors"):
        for first in re.findall(rf"\.{method}\(\s*([^\s)][^,)]*)", source):
            assert "=" in first, (method, first)


def test_an_answer_of_another_form_names_fields_and_no_values(engine: LexsiEngine, platform: FakePlatform) -> None:
    secret = "Ann's balance 4711"
    platform.answers["/v2/users/create_project"] = [{"success": True, "details": {"project_name": {"x": secret}, "metadata": {}}}]
    with pytest.raises(PlatformFailed, match="another form than lexsi-sdk reads: created_by") as caught:
        engine.train(loans(), loan_task(), run_id=RUN)
    assert secret not in str(caught.value)


def test_the_http_client_has_no_clock_so_the_worker_has_one() -> None:
    """The SDK waits for ever: a server that takes the request and never answers."""
    from lexsi_ds.errors import WorkerFailed
    from lexsi_ds.jobs.pool import Pool
    from tests.lexsi.conftest import settings_for

    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        import tempfile

        with tempfile.TemporaryDirectory() as home:
            settings = settings_for(Path(home), f"http://127.0.0.1:{deaf.getsockname()[1]}", LEXSI_TRAIN_TIMEOUT_S=15)
            pool = Pool(settings)
            try:
                with pytest.raises(WorkerFailed) as caught:
                    LexsiEngine(pool, settings).train(loans(), loan_task(), run_id=RUN)
            finally:
                pool.close()
    assert caught.value.kind == "timeout"


def test_two_trainings_at_once_do_not_mix(make_engine: Callable[..., LexsiEngine], platform: FakePlatform) -> None:
    engine, made, failed = make_engine(), {}, []

    def train(number: int) -> None:
        try:
            made[number] = engine.train(loans(seed=number), loan_task(), run_id=f"run_{number}0000000{number}")
        except LexsiError as error:
            failed.append(error)

    threads = [threading.Thread(target=train, args=(n,)) for n in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and len(made) == 2
    projects = {card.chosen.parameters["project"] for _, card in made.values()}
    assert len(projects) == 2
    for ref, _ in made.values():
        assert len(read_frame(engine.predict(ref, rows(20)).path)) == 20


def test_each_guard_that_the_document_names_is_a_test() -> None:
    page = (REPO / "docs" / "sdk_issues.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(test_\w+)`", page))
    known: set[str] = set()
    for path in Path(__file__).parent.glob("test_*.py"):
        module = importlib.import_module(f"tests.lexsi.{path.stem}")
        known |= {name for name, _ in inspect.getmembers(module, inspect.isfunction)}
    assert len(named) >= 20 and named <= known, named - known
    assert "lexsi_sdk" not in sys.modules
