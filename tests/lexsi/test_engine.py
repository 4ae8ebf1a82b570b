"""The whole way over real HTTP: train, score, explain, similar rows; what was sent, and what the card says."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from lexsi_ds.errors import BadInput, ModelRefused
from lexsi_ds.models.engine import PREDICTION_COLUMNS, ModelEngine
from lexsi_ds.models.frames import read_frame
from lexsi_ds.models.lexsi.engine import LexsiEngine
from lexsi_ds.models.lexsi.folder import PlatformFolder
from lexsi_ds.models.task import Apart, Split
from tests.lexsi.fake_platform import FakePlatform
from tests.lexsi.frames import FEATURES, amount_task, loan_task, loans

RUN = "run_01a22dd8-6990-73a2-a9ee-e3ceae00bbb1"


def running(n: int = 120, first: int = 1000) -> pd.DataFrame:
    return loans(n, seed=4, first=first).drop(columns=["y", "amount"])


def test_it_is_a_model_engine(engine: LexsiEngine) -> None:
    known: ModelEngine = engine
    assert known is engine


def test_train_and_score(engine: LexsiEngine, platform: FakePlatform) -> None:
    told: list[dict] = []
    task = loan_task(apart=Apart(column="status", value="D", label="in debt"))
    ref, card = engine.train(loans(), task, run_id=RUN, tell=told.append)
    assert (card.engine, card.model_type, card.rows, card.run_id) == ("lexsi", "XGBoost", 300, RUN)
    assert card.chosen.parameters["model on the platform"] == "XGBoost_v1"
    assert card.chosen.parameters["project"] == "agentclass" + RUN[-8:]
    assert told and all(t["done"] <= t["total"] for t in told if "done" in t)
    predictions = engine.predict(ref, running())
    scores = read_frame(predictions.path)
    assert (predictions.rows, predictions.refits) == (120, 0) and len(scores) == 120
    assert tuple(scores.columns[:11]) == ("loan id", *PREDICTION_COLUMNS) and "status" in scores
    ranked = scores[scores["segment"] == "ranked"]
    assert predictions.ranked == len(ranked) == int((running()["status"] == "C").sum())
    assert ranked["probability"].is_monotonic_decreasing and list(ranked["rank"]) == list(range(1, len(ranked) + 1))
    assert set(scores["scored"]) == {"model"} and scores["probability_low"].isna().all()
    model = next(iter(next(iter(platform.projects.values())).models.values()))
    sent = platform.uploads()[-1][1]
    expected = dict(zip(sent["row_key"], model.scores(sent), strict=True))
    assert np.allclose(sorted(expected.values()), sorted(scores["probability"]))
    best = running().set_index("loan id").loc[scores["loan id"].iloc[0]]
    place = sent["balance_co"].tolist().index(best["balance & co"])
    assert expected[sent["row_key"].iloc[place]] == pytest.approx(scores["probability"].iloc[0])


def test_the_card_measures_what_was_held_out(engine: LexsiEngine, platform: FakePlatform) -> None:
    ref, card = engine.train(loans(), loan_task(), run_id=RUN)
    model = PlatformFolder(ref.folder)
    held = np.isfinite(model.held_out())
    assert held.sum() == 60
    y, p = model.training["_lexsi_target"].to_numpy()[held], model.held_out()[held]
    chosen, simple = card.candidates
    assert chosen.metrics.roc_auc.value == pytest.approx(roc_auc_score(y, p))
    assert simple.model_type == "Logistic" and card.baseline is simple
    assert card.auc_difference.value == pytest.approx(chosen.main.value - simple.main.value)
    trained = next(table for tag, table in platform.uploads() if tag.startswith("agenttrain"))
    assert len(trained) == 240, "a held-out row trained the model that it measures"
    assert any("Sent to the Lexsi platform" in note for note in card.notes)


def test_nothing_but_features_and_outcome_is_sent(engine: LexsiEngine, platform: FakePlatform) -> None:
    ref, _ = engine.train(loans(), loan_task(), run_id=RUN)
    engine.predict(ref, running())
    wire = ["row_key", "balance_co", "dur_e_mois", "frequency", "card"]
    (_, trained), (_, held), (_, scored) = platform.uploads()
    assert list(trained.columns) == [*wire, "y", "Prediction"]
    assert list(held.columns) == list(scored.columns) == wire
    keys = [*trained["row_key"], *held["row_key"], *scored["row_key"]]
    assert len(set(keys)) == len(keys) == 420 and all(k.isalnum() for k in keys)
    everything = b"".join(r.content + json.dumps(r.body).encode() for r in platform.requests)
    assert b"example.com" not in everything and b"loan id" not in everything and b"status\",\"C" not in everything


def test_explanations_add_up_and_say_what_the_platform_does_not_give(engine: LexsiEngine, platform: FakePlatform) -> None:
    ref, _ = engine.train(loans(), loan_task(), run_id=RUN)
    rows = running(3)
    for scale in ("probability", "log-odds"):
        cases = engine.explain(ref, rows, scale=scale)
        assert [c.case_id for c in cases] == ["1000", "1001", "1002"]
        for case in cases:
            assert case.scale == scale and "no base value" in case.method
            assert case.base_value + sum(d.contribution for d in case.drivers) == pytest.approx(case.prediction, abs=1e-9)
            assert case.base_margin + sum(d.margin for d in case.drivers) == pytest.approx(case.margin, abs=1e-9)
            assert {d.feature for d in case.drivers} == set(FEATURES)
            assert case.engine_summary == "The balance speaks against it." and case.display["status"] in ("C", "D")
    asked = platform.sent("ai-models/get_case_info_components")
    assert asked[0].body["xai"] == ["shap"] and asked[0].body["unique_identifier"].startswith("r")
    model = next(iter(next(iter(platform.projects.values())).models.values()))
    assert cases[0].base_margin == pytest.approx(model.base, abs=1e-6)


@pytest.mark.parametrize(("given", "named"), [("probability", "probability"), ("junk", "platform")])
def test_the_scale_of_shap_values_is_found_and_not_assumed(
    engine: LexsiEngine, platform: FakePlatform, given: str, named: str
) -> None:
    ref, _ = engine.train(loans(), loan_task(), run_id=RUN)
    platform.shap_scale = given
    case = engine.explain(ref, running(1))[0]
    assert case.scale == named
    assert case.base_value + sum(d.contribution for d in case.drivers) == pytest.approx(case.prediction, abs=1e-9)
    assert ("remainder" in case.method) is (named == "platform")


def test_similar_rows_are_training_rows_with_their_outcome(engine: LexsiEngine, platform: FakePlatform) -> None:
    frame = loans()
    ref, _ = engine.train(frame, loan_task(), run_id=RUN)
    found = engine.similar(ref, running(2), k=3)
    assert [len(f) for f in found] == [3, 3]
    outcome = dict(zip(frame["loan id"], frame["y"], strict=True))
    assert all(row["outcome"] == outcome[row["entity"]] for rows in found for row in rows)
    assert all(set(row) == {"entity", "distance", "outcome", "probability", "display"} for rows in found for row in rows)


def test_importance_is_the_platforms(engine: LexsiEngine) -> None:
    ref, _ = engine.train(loans(), loan_task(), run_id=RUN)
    overall = engine.explain_global(ref, running(50))
    assert overall.features[0].feature == "balance & co" and {f.feature for f in overall.features} == set(FEATURES)
    assert overall.rows == 0 and overall.case_ids == () and "no values per row" in overall.method


def test_training_rows_are_scored_by_what_did_not_see_them_or_say_so(engine: LexsiEngine, platform: FakePlatform) -> None:
    frame = loans()
    ref, _ = engine.train(frame, loan_task(), run_id=RUN)
    predictions = engine.predict(ref, frame.drop(columns="y"))
    scores = read_frame(predictions.path).set_index("loan id")
    assert scores["scored"].value_counts().to_dict() == {"in_sample": 240, "out_of_fold": 60}
    assert len(platform.uploads()[-1][1]) == 240, "held-out rows were sent again"
    assert any("flatter" in note for note in predictions.notes)
    model = PlatformFolder(ref.folder)
    kept = model.training.loc[np.isfinite(model.held_out())]
    assert np.allclose(scores.loc[kept["loan id"], "probability"], kept["_lexsi_probability"])


def test_every_row_is_scored_out_of_fold_where_the_task_needs_it(make_engine, platform: FakePlatform) -> None:
    engine = make_engine(lexsi_folds=3)
    frame = loans(150)
    ref, card = engine.train(frame, loan_task(out_of_fold=True), run_id=RUN)
    assert card.folds == 3 and len(platform.sent("users/xai_config_update")) == 3
    assert len(platform.sent("project/upload_data_with_check")) == 1
    sent = platform.requests.__len__()
    scores = read_frame(engine.predict(ref, frame.drop(columns="y")).path)
    assert set(scores["scored"]) == {"out_of_fold"} and len(platform.requests) == sent, "a training row was sent to be scored"
    case = engine.explain(ref, frame.head(1))[0]
    assert case.scored == "in_sample"


def test_amounts(engine: LexsiEngine, platform: FakePlatform) -> None:
    frame = loans().drop(columns="y")
    ref, card = engine.train(frame, amount_task(), run_id=RUN)
    assert card.chosen.main.value > 0.6 and card.baseline.model_type == "Linear"
    assert platform.sent("users/create_project")[0].body["project_type"] == "regression"
    scores = read_frame(engine.predict(ref, running()).path)
    assert scores["probability"].isna().all() and scores["prediction"].is_monotonic_decreasing
    assert card.conformal is not None and card.conformal.rows == 60 and card.credit is None
    half = (scores["prediction_high"] - scores["prediction_low"]) / 2
    assert np.allclose(half, card.conformal.half_width) and np.allclose(scores["prediction_high"] - half, scores["prediction"])
    cases = engine.explain(ref, running(3))
    assert cases[0].scale == "value"
    assert cases[0].base_value + sum(d.contribution for d in cases[0].drivers) == pytest.approx(cases[0].prediction)


def test_rows_held_out_by_time_are_the_last(engine: LexsiEngine) -> None:
    frame = loans()
    frame["granted"] = pd.date_range("2020-01-01", periods=len(frame), freq="D")
    ref, _ = engine.train(frame, loan_task(cutoff_column="granted", split=Split(by="time")), run_id=RUN)
    model = PlatformFolder(ref.folder)
    assert set(model.training.loc[np.isfinite(model.held_out()), "loan id"]) == set(range(241, 301))


@pytest.mark.parametrize(
    ("frame", "task", "said"),
    [
        (loans().assign(y=1), loan_task(), "nothing to tell apart"),
        (loans(30), loan_task(), "Too few rows"),
        (loans().assign(y=["a", "b", "c"] * 100), loan_task(classes=("a", "b", "c")), "several classes"),
        (pd.concat([loans(), loans(5)]), loan_task(), "different values of loan id"),
    ],
)
def test_what_cannot_carry_a_model_is_refused_before_anything_is_sent(
    engine: LexsiEngine, platform: FakePlatform, frame: pd.DataFrame, task, said: str
) -> None:
    with pytest.raises((ModelRefused, BadInput), match=said):
        engine.train(frame, task, run_id=RUN)
    assert platform.requests == []


def test_credit_words_and_rows_to_score_are_worked_out_here(engine: LexsiEngine, platform: FakePlatform) -> None:
    richer = running().assign(**{"balance & co": lambda f: f["balance & co"] + 4000})
    _, card = engine.train(loans(), loan_task(), run_id=RUN, to_score=richer)
    assert card.credit is not None and card.credit.gini == card.chosen.metrics.gini and len(card.credit.deciles) == 10
    assert card.comparability is not None and card.comparability.auc.value > 0.9 and card.headlines
    assert sum(len(table) for _, table in platform.uploads()) == 300, "rows to score were sent at training"
    assert any("Only granted loans" in warning for warning in card.warnings)


def test_a_threshold_decides_what_is_flagged(engine: LexsiEngine) -> None:
    ref, _ = engine.train(loans(), loan_task(), run_id=RUN)
    scores = read_frame(engine.predict(ref, running(), threshold=0.8).path)
    assert list(scores["prediction"]) == list((scores["probability"] >= 0.8).astype(int)) and 0 < scores["prediction"].sum() < 120


def test_a_leak_is_left_out_before_anything_is_sent(engine: LexsiEngine, platform: FakePlatform) -> None:
    frame = loans()
    frame["leak"] = frame["y"] * 2 + np.random.default_rng(0).normal(0, 0.01, len(frame))
    _, card = engine.train(frame, loan_task(*FEATURES, "leak"), run_id=RUN)
    assert {out.name for out in card.left_out} == {"leak"}
    assert all("leak" not in table.columns for _, table in platform.uploads())


def test_what_is_asked_for_is_translated(engine: LexsiEngine, platform: FakePlatform) -> None:
    _, card = engine.train(loans(), loan_task(), model_type="LightGBM", compute_type="T4.small", xai_method=["shap"], run_id=RUN)
    body = platform.sent("project/upload_data_with_check")[0].body
    assert body["metadata"]["model"] == card.model_type == "LGBoost" and body["instance_type"] == "small"
    assert body["metadata"]["explainability_method"] == ["shap"]
    assert any("T4.small" in note for note in card.notes)


def test_a_foundation_model_takes_its_own_branch_of_the_sdk(engine: LexsiEngine, platform: FakePlatform) -> None:
    with pytest.raises(BadInput, match="needs compute_type"):
        engine.train(loans(), loan_task(), model_type="TabPFN", run_id=RUN)
    assert platform.uploads() == []
    _, card = engine.train(loans(), loan_task(), model_type="tabpfn", compute_type="T4.small", run_id=RUN)
    body = platform.sent("project/upload_data_with_check")[0].body
    assert card.model_type == body["metadata"]["model"] == "TabPFN"
    assert (body["instance_type"], body["metadata"]["tunning_strategy"]) == ("T4.small", "inference")
    assert platform.sent("project/delete_data") == [], "the classic branch was taken, which deletes the file"


@pytest.mark.parametrize("model_type", ["EBM", "Prophet", "LinearRegression"])
def test_an_unknown_or_unfit_model_type_is_refused_before_anything_is_sent(
    engine: LexsiEngine, platform: FakePlatform, model_type: str
) -> None:
    with pytest.raises(BadInput, match=f"{model_type}"):
        engine.train(loans(), loan_task(), model_type=model_type, run_id=RUN)
    assert platform.requests == []


def test_a_model_type_that_the_account_is_not_offered_is_refused_before_an_upload(
    engine: LexsiEngine, platform: FakePlatform
) -> None:
    platform.classic = ["XGBoost"]
    with pytest.raises(BadInput, match="does not offer CatBoost"):
        engine.train(loans(), loan_task(), model_type="CatBoost", run_id=RUN)
    assert platform.uploads() == []
