"""Contributions and interactions of every estimator are those of the shap package or of its own library, by either way."""

from __future__ import annotations

from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import shap
import xgboost as xgb
from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

from lexsi_ds.explain import shap_values, tree_shap
from lexsi_ds.explain.shap_values import estimator_values
from lexsi_ds.explain.tree_shap import (
    FAST,
    OWN,
    booster_of,
    one_class,
    own_pairs,
    suits_woodelf,
    woodelf_pairs,
    woodelf_values,
)
from lexsi_ds.models.estimators import Additive, Boosted, Outcome, recipe

OUTCOMES = {"binary": Outcome(), "multiclass": Outcome("multiclass", 3), "regression": Outcome("regression", 0)}
GROUPS = np.array([0, 1, 2, 3, 4, 4, 4, 4])


def data(kind: str, n: int = 500) -> tuple[np.ndarray, np.ndarray]:
    """Numbers with gaps and one word in four columns, the last of them "missing"; a signal with an interaction."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 4))
    word = rng.integers(0, 4, n)
    signal = x[:, 0] + x[:, 1] * x[:, 2] + 0.8 * (word == 1) + 0.3 * rng.normal(size=n)
    x[rng.random(x.shape) < 0.08] = np.nan
    x = np.concatenate([x, np.eye(4)[word]], axis=1)
    if kind == "regression":
        return x, 100 + 20 * signal
    return x, (np.digitize(signal, [-0.7, 0.7]) if kind == "multiclass" else signal > 0.3).astype(float)


def fitted(name: Any, kind: str) -> tuple[Any, np.ndarray]:
    x, y = data(kind)
    return recipe(name, len(y), (0, 1, 2, 3), OUTCOMES[kind]).fit(x, y, 7), x


@pytest.mark.parametrize("name", ["XGBoost", "LightGBM"])
@pytest.mark.parametrize("kind", list(OUTCOMES))
def test_trees_are_explained_as_by_the_shap_package(name: str, kind: str) -> None:
    model, x = fitted(name, kind)
    base, values, how = estimator_values(model, x[:200])
    expected = shap.TreeExplainer(model.booster)(x[:200])
    assert how == OWN
    assert np.abs(values - expected.values).max() < 1e-4
    assert np.abs(base - np.broadcast_to(expected.base_values, base.shape)).max() < 1e-4


@pytest.mark.parametrize("name", ["XGBoost", "LightGBM"])
@pytest.mark.parametrize("kind", ["binary", "regression"])
def test_many_rows_are_explained_by_woodelf_as_by_the_shap_package(
    name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shap_values, "CROSSOVER_ROWS", 100)
    model, x = fitted(name, kind)
    base, values, how = estimator_values(model, x)
    expected = shap.TreeExplainer(model.booster)(x)
    size = max(1.0, float(np.abs(expected.values).max()))
    assert how == FAST
    assert np.abs(values - expected.values).max() < 1e-4 * size
    assert np.abs(base - np.broadcast_to(expected.base_values, base.shape)).max() < 1e-4 * size
    assert estimator_values(model, x[:50])[2] == OWN


def test_several_classes_never_go_to_woodelf_which_would_give_the_first_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shap_values, "CROSSOVER_ROWS", 1)
    for name in ("XGBoost", "LightGBM"):
        model, x = fitted(name, "multiclass")
        assert not suits_woodelf(booster_of(model))
        values, how = estimator_values(model, x)[1:]
        assert how == OWN
        assert values.shape == (500, 8, 3)


def test_splits_on_categories_never_go_to_woodelf_and_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shap_values, "CROSSOVER_ROWS", 1)
    x, y = data("binary")
    table = np.column_stack([x[:, :4], x[:, 4:].argmax(axis=1)])
    frame = pd.DataFrame(table, columns=list("abcde"))
    frame["e"] = frame["e"].astype(int).astype("category")
    matrix = xgb.DMatrix(frame, y, enable_categorical=True)
    booster = xgb.train({"objective": "binary:logistic", "max_depth": 3, "max_cat_to_onehot": 1}, matrix, 30)
    assert not suits_woodelf(booster)
    light = lgb.train({"objective": "binary", "verbosity": -1}, lgb.Dataset(table, y, categorical_feature=[4]), 30)
    assert not suits_woodelf(light)
    whole = booster.predict(matrix, pred_contribs=True)
    assert np.abs(whole.sum(axis=1) - booster.predict(matrix, output_margin=True)).max() < 1e-4
    assert np.abs(whole[:, :-1] - shap.TreeExplainer(booster).shap_values(matrix)).max() < 1e-4


def test_values_that_miss_the_margin_are_not_taken_from_woodelf() -> None:
    model, x = fitted("XGBoost", "binary")
    margin = model.margin(x)
    base = tree_shap.base_of(model.booster, x.shape[1])
    assert woodelf_values(model.booster, x, margin, base) is not None
    assert woodelf_values(model.booster, x, margin + 0.01, base) is None


def test_a_value_on_a_threshold_is_cut_as_xgboost_cuts_it() -> None:
    rng = np.random.default_rng(0)
    x = np.round(rng.normal(size=(400, 3)), 1) + 0.1
    y = (x[:, 0] > 0.3).astype(float)
    model = Boosted(xgb.train({"objective": "binary:logistic", "max_depth": 3}, xgb.DMatrix(x, y), 20))
    values = woodelf_values(model.booster, x, model.margin(x), tree_shap.base_of(model.booster, 3))
    assert values is not None
    assert np.abs(values - model.contributions(x)[1]).max() < 1e-4


@pytest.mark.parametrize("name", ["XGBoost", "LightGBM"])
@pytest.mark.parametrize("kind", ["binary", "regression"])
def test_interactions_are_those_of_the_shap_package_and_add_up(name: str, kind: str) -> None:
    model, x = fitted(name, kind)
    x = x[:120]
    found = woodelf_pairs(model.booster, x, GROUPS)
    expected = np.asarray(shap.TreeExplainer(model.booster).shap_interaction_values(x))
    size = max(1.0, float(np.abs(expected).max()))
    assert np.abs(found - tree_shap.grouped_pairs(expected, GROUPS)).max() < 1e-4 * size
    whole = np.zeros((len(x), 5))
    np.add.at(whole.T, GROUPS, model.contributions(x)[1].T)
    assert np.abs(found.sum(axis=2) - whole).max() < 1e-4 * size
    assert np.abs(found - found.transpose(0, 2, 1)).max() < 1e-4 * size


def test_interactions_of_one_class_are_those_of_the_shap_package() -> None:
    boosted, x = fitted("XGBoost", "multiclass")
    expected = np.asarray(shap.TreeExplainer(boosted.booster).shap_interaction_values(x[:40]))
    for place in range(3):
        found = own_pairs(boosted.booster, x[:40], GROUPS, place)
        assert np.abs(found - tree_shap.grouped_pairs(expected[..., place], GROUPS)).max() < 1e-4
        alone = woodelf_pairs(one_class(boosted.booster, place), x[:40], GROUPS)
        assert np.abs(alone - found).max() < 1e-4, "the trees of one class alone give what all of them give for it"
    light, x = fitted("LightGBM", "multiclass")
    for place in range(3):
        alone = one_class(light.booster, place)
        assert np.abs(alone.predict(x) - light.margin(x)[:, place]).max() < 1e-9
        found = woodelf_pairs(alone, x[:40], GROUPS)
        whole = np.zeros((40, 5))
        np.add.at(whole.T, GROUPS, light.contributions(x[:40])[1][:, :, place].T)
        assert np.abs(found.sum(axis=2) - whole).max() < 1e-4


@pytest.mark.parametrize("kind", ["binary", "regression"])
def test_an_ebm_is_explained_by_its_own_terms(kind: str) -> None:
    x, y = data(kind)
    how = recipe("EBM", len(y), (), OUTCOMES[kind])
    settings = {**how.parameters, "interactions": 2}
    machine_of = ExplainableBoostingRegressor if kind == "regression" else ExplainableBoostingClassifier
    machine = machine_of(feature_types=["continuous"] * 8, n_jobs=1, random_state=7, **settings)
    machine.fit(x, y if kind == "regression" else y.astype(int))
    from lexsi_ds.models.estimators import additive

    model = additive.fit(x, y, settings, OUTCOMES[kind], 7)
    assert isinstance(model, Additive)
    terms = machine.eval_terms(x)
    expected = np.zeros_like(x)
    for place, columns in enumerate(machine.term_features_):
        for column in columns:
            expected[:, column] += terms[:, place] / len(columns)
    base, values, _ = estimator_values(model, x)
    size = max(1.0, float(np.abs(expected).max()))
    assert np.abs(values - expected).max() < 1e-8 * size
    assert np.abs(base - machine.intercept_).max() < 1e-8 * size


@pytest.mark.parametrize("kind", list(OUTCOMES))
def test_a_linear_model_is_explained_as_by_the_shap_package(kind: str) -> None:
    name = "Linear" if kind == "regression" else "Logistic"
    model, x = fitted(name, kind)
    base, values, _ = estimator_values(model, x)
    design = model.standardise(x)
    explainer = shap.LinearExplainer((model.coefficients, model.intercept), shap.maskers.Independent(design, 10_000))
    expected = explainer(design)
    own = np.array(expected.values[:, :8])
    for place, flagged in enumerate(model.flagged):
        own[:, flagged] += expected.values[:, 8 + place]
    assert np.abs(values - own).max() < 1e-4
    assert np.abs(base - expected.base_values).max() < 1e-4
