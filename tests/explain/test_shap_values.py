"""SHAP values are those of the shap library, add up to the margin, and belong to one source column each."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import shap

from lexsi_ds.errors import BadInput
from lexsi_ds.explain.shap_values import explain_rows, to_scale
from lexsi_ds.models.bundle import SavedModel
from lexsi_ds.models.estimators import Boosted, Logistic, probability
from lexsi_ds.models.scoring import score
from tests.models.frames_for_tests import loan_task, loans, silent, train_in


@pytest.fixture(scope="module")
def boosted(tmp_path_factory: pytest.TempPathFactory) -> SavedModel:
    frame = loans()
    return train_in(tmp_path_factory.mktemp("boosted"), frame, loan_task(frame), model_type="XGBoost")


@pytest.fixture(scope="module")
def linear(tmp_path_factory: pytest.TempPathFactory) -> SavedModel:
    frame = loans()
    return train_in(tmp_path_factory.mktemp("linear"), frame, loan_task(frame), model_type="Logistic")


@pytest.fixture(scope="module", params=["boosted", "linear"])
def model(request: pytest.FixtureRequest) -> SavedModel:
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def running() -> pd.DataFrame:
    """New rows with missing numbers, missing words and a word never seen."""
    frame = loans(80, seed=5, first=1_000)
    frame.loc[3, "frequency"] = "never seen"
    frame.loc[4, "x00"] = np.nan
    assert frame["x05"].isna().any()
    assert frame["frequency"].isna().any()
    return frame


def grouped(model: SavedModel, encoded: np.ndarray) -> np.ndarray:
    groups = model.encoding.groups
    return np.stack([encoded[:, groups == g].sum(axis=1) for g in range(len(model.encoding.features))], axis=1)


def test_tree_values_are_those_of_the_shap_library_with_missing_values_and_words(
    boosted: SavedModel, running: pd.DataFrame
) -> None:
    rows = boosted.prepare(running)
    assert isinstance(boosted.final, Boosted)
    assert np.isnan(rows.x).any()
    explained = shap.TreeExplainer(boosted.final.booster)(rows.x)
    found = explain_rows(boosted, running)
    assert np.abs(found.values - grouped(boosted, explained.values)).max() < 1e-4
    assert np.abs(found.base - explained.base_values).max() < 1e-4


def test_linear_values_are_those_of_the_shap_library(linear: SavedModel, running: pd.DataFrame) -> None:
    model = linear.final
    assert isinstance(model, Logistic)
    design = model.standardise(linear.prepare(running).x)
    training = model.standardise(linear.prepare(linear.training.assign(loan_id=-linear.training["loan_id"])).x)
    explainer = shap.LinearExplainer((model.coefficients, model.intercept), shap.maskers.Independent(training, 10_000))
    explained = explainer(design)
    columns = explained.values[:, : len(linear.encoding.groups)].copy()
    for place, column in enumerate(model.flagged):
        columns[:, column] += explained.values[:, len(linear.encoding.groups) + place]
    found = explain_rows(linear, running)
    assert np.abs(found.values - grouped(linear, columns)).max() < 1e-4
    assert np.abs(found.base - explained.base_values).max() < 1e-4


def test_values_live_in_an_explanation_with_one_column_a_feature(model: SavedModel, running: pd.DataFrame) -> None:
    found = explain_rows(model, running).explanation
    assert isinstance(found, shap.Explanation)
    assert found.shape == (80, 30)
    assert list(found.feature_names) == [f.label for f in model.features]
    place = model.encoding.names.index("frequency")
    assert found.data[3, place] == "never seen"
    assert found.data[:, model.encoding.names.index("has_card")].tolist() == running["has_card"].tolist()


def test_base_and_values_add_up_to_the_margin_of_new_and_of_training_rows(
    model: SavedModel, running: pd.DataFrame
) -> None:
    mixed = pd.concat([running, loans().head(60)], ignore_index=True)
    found = explain_rows(model, mixed)
    margin = model.margin(model.prepare(mixed))
    assert np.abs(found.base + found.values.sum(axis=1) - margin).max() < 1e-4
    for scale, expected in (("log-odds", margin), ("probability", probability(margin))):
        scaled = to_scale(found.base, found.values, scale)
        assert np.abs(scaled.base + scaled.contributions.sum(axis=1) - scaled.prediction).max() < 1e-9
        assert np.abs(scaled.prediction - expected).max() < 1e-4


def test_what_is_explained_is_what_was_predicted_also_out_of_fold(model: SavedModel, running: pd.DataFrame) -> None:
    mixed = pd.concat([running, loans().head(60)], ignore_index=True)
    scores = score(model, mixed, 2, silent).frame.set_index("loan_id")["probability"]
    found = explain_rows(model, mixed)
    scaled = to_scale(found.base, found.values, "probability")
    assert np.abs(scaled.prediction - scores.loc[mixed["loan_id"]].to_numpy()).max() < 1e-4


def test_a_training_row_is_not_explained_by_the_model_it_trained(model: SavedModel) -> None:
    row = loans().head(20)
    known = explain_rows(model, row)
    as_new = explain_rows(model, row.assign(loan_id=row["loan_id"] + 50_000))
    assert known.rows.trained.all()
    assert not as_new.rows.trained.any()
    assert np.abs(known.values - as_new.values).max() > 0.01


def test_the_probability_scale_keeps_order_and_signs_and_holds_where_margin_meets_base() -> None:
    base = np.array([-1.0, -1.0, 0.5])
    values = np.array([[2.0, -0.5], [0.7, -0.7], [1e-12, 0.0]])
    scaled = to_scale(base, values, "probability")
    assert np.isfinite(scaled.contributions).all()
    assert (np.sign(scaled.contributions) == np.sign(values)).all()
    low = probability(np.array([-1.0]))[0]
    assert scaled.contributions[1] == pytest.approx([0.7 * low * (1 - low), -0.7 * low * (1 - low)])
    assert scaled.base + scaled.contributions.sum(axis=1) == pytest.approx(scaled.prediction, abs=1e-12)


def test_an_unknown_scale_is_refused(model: SavedModel, running: pd.DataFrame) -> None:
    found = explain_rows(model, running)
    with pytest.raises(BadInput, match="logits"):
        to_scale(found.base, found.values, "logits")


def test_values_that_miss_the_margin_are_never_shown(linear: SavedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SavedModel, "margin", lambda self, rows: np.full(len(rows.x), 9.0))
    with pytest.raises(ArithmeticError, match="miss the margin"):
        explain_rows(linear, loans(5, seed=5, first=1_000))
