"""A second stand-in, by other hands: the same calls through the same SDK. It scores nothing, so that part is filled in."""

from __future__ import annotations

import csv
import importlib.util
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lexsi_ds.errors import PlatformFailed
from lexsi_ds.jobs.pool import Pool
from lexsi_ds.models.frames import read_frame
from lexsi_ds.models.lexsi.engine import LexsiEngine
from tests.lexsi.conftest import settings_for
from tests.lexsi.frames import loan_task, loans

FILE = Path(__file__).resolve().parents[3] / "shared" / "tools" / "lexsi_fake_server.py"
RUN = "run_01a22dd8-6990-73a2-a9ee-e3ceae00bbb1"


def fake_class() -> Any:
    if not FILE.is_file():
        pytest.skip("the second stand-in is not beside this checkout")
    spec = importlib.util.spec_from_file_location("lexsi_fake_server", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.FakeLexsi


@pytest.fixture
def second() -> Iterator[Any]:
    """As it is."""
    with fake_class()() as fake:
        yield fake


@pytest.fixture
def scoring() -> Iterator[Any]:
    """With scores of the rows that were uploaded."""

    class Scoring(fake_class()):
        def route(self, method: str, path: str, query: dict, body: dict, parts: dict) -> Any:
            if path.lstrip("/") != "v2/ai-models/download_tag_data":
                return super().route(method, path, query, body, parts)
            rows = self.rows(self.tags[query["tag"].partition("_")[0]])
            made = io.StringIO()
            writer = csv.writer(made)
            writer.writerow(["row_key", "Predicted_value", "pred_proba"])
            for row in rows:
                p = 0.9 if float(row["balance_co"] or 0) < 2000 else 0.2
                writer.writerow([row["row_key"], int(p >= 0.5), p])
            return "text/csv", made.getvalue().encode()

    with Scoring() as fake:
        yield fake


def engine_of(pool: Pool, home: Path, fake: Any) -> LexsiEngine:
    return LexsiEngine(pool, settings_for(home, fake.url, token="t0ken"))


def test_its_scores_of_other_rows_are_refused(pool: Pool, lexsi_home: Path, second: Any) -> None:
    with pytest.raises(PlatformFailed, match="no column row_key"):
        engine_of(pool, lexsi_home, second).train(loans(), loan_task(), run_id=RUN)
    paths = [call["path"] for call in second.calls]
    assert "/v2/project/upload_data_with_check" in paths and paths[-1] == "/v2/ai-models/download_tag_data"
    body = next(c["body"] for c in second.calls if c["path"] == "/v2/project/upload_data_with_check")
    assert body["pred_label"] == "Prediction" and body["unique_identifier"] == "row_key"
    assert set(body["metadata"]["feature_exclude"]) == {"row_key", "y", "Prediction"}


def test_train_score_and_explain(pool: Pool, lexsi_home: Path, scoring: Any) -> None:
    engine = engine_of(pool, lexsi_home, scoring)
    ref, card = engine.train(loans(), loan_task(), run_id=RUN)
    assert card.chosen.parameters["model on the platform"] == "XGBoost_v1" and card.chosen.main.value > 0.6
    rows = loans(25, first=900).drop(columns=["y", "amount"])
    scores = read_frame(engine.predict(ref, rows).path).set_index("loan id")
    low = rows.set_index("loan id")["balance & co"] < 2000
    assert (scores.loc[low[low].index, "probability"] == 0.9).all() and len(scores) == 25
    cases = engine.explain(ref, rows.head(3))
    assert cases[0].scale == "platform" and cases[0].engine_summary == "Feature a raised the score."
    assert {d.feature: d.contribution for d in cases[0].drivers} == {"a": 0.4, "b": -0.1}
    assert [f.feature for f in engine.explain_global(ref, rows).features] == ["a", "b"]
    with pytest.raises(PlatformFailed, match="none that trained this model"):
        engine.similar(ref, rows.head(1))


def test_a_second_training_returns_to_the_project(pool: Pool, lexsi_home: Path, scoring: Any) -> None:
    engine = engine_of(pool, lexsi_home, scoring)
    engine.train(loans(), loan_task(), run_id=RUN)
    _, card = engine.train(loans(seed=3), loan_task(), model_type="CatBoost", run_id=RUN)
    assert card.chosen.parameters["model on the platform"] == "CatBoost_v2"
    body = next(c["body"] for c in scoring.calls if c["path"] == "/v2/users/xai_config_update")
    assert body["metadata"]["feature_include"] == ["balance_co", "dur_e_mois", "frequency", "card"]
    assert len(scoring.projects) == 1


@pytest.mark.parametrize(
    ("path", "answer", "said"),
    [
        ("/v2/project/upload_data_with_check", (500, b""), "Lexsi gave no reason"),
        ("/v2/project/upload_data_with_check", (200, {"success": True, "details": "d"}), "lacks event_id"),
        ("/v2/users/workspaces", (200, {"details": []}), "There are 0 workspaces"),
        ("/v2/users/create_project", (422, {"detail": "bad name"}), "bad name"),
    ],
)
def test_its_failures_are_told(pool: Pool, lexsi_home: Path, second: Any, path: str, answer: tuple, said: str) -> None:
    second.fail[path] = answer
    from lexsi_ds.errors import LexsiError

    with pytest.raises(LexsiError, match=said):
        engine_of(pool, lexsi_home, second).train(loans(), loan_task(), run_id=RUN)


def test_a_bucket(pool: Pool, lexsi_home: Path, second: Any) -> None:
    engine = engine_of(pool, lexsi_home, second)
    assert engine.register_bucket("con_01a2-abcdef123456", "us-east-1", "AKIA1", "secret") == "lexsidsabcdef123456"
