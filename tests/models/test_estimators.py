"""Each estimator by one face: additive, the same after JSON, the same as its library, and clear where it is an extra."""

from __future__ import annotations

import sys
import types
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from interpret.glassbox import ExplainableBoostingClassifier
from sklearn.linear_model import LogisticRegression

from lexsi_ds.errors import BadInput, ModelRefused
from lexsi_ds.models.estimators import (
    Boosted,
    Light,
    Outcome,
    baseline,
    load,
    model_type_of,
    probability,
    recipe,
    softmax,
)

KINDS = {
    "binary": Outcome(),
    "multiclass": Outcome("multiclass", 4),
    "regression": Outcome("regression", 0),
}
FITTED = [(kind, name) for kind in KINDS for name in ("XGBoost", "LightGBM", "EBM", baseline(kind))]  # type: ignore[arg-type]


def data(kind: str, n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Eight columns with gaps and a signal with an interaction."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(n, 8))
    x[:, 3] = x[:, 3] > 0
    signal = x[:, 0] + x[:, 1] * x[:, 2] + 0.5 * rng.normal(size=n)
    x[rng.random(x.shape) < 0.05] = np.nan
    if kind == "regression":
        return x, 1000 + 250 * signal
    return x, (np.digitize(signal, [-1, 0, 1]) if kind == "multiclass" else signal > 0).astype(float)


@pytest.mark.parametrize(("kind", "name"), FITTED)
def test_it_adds_up_learns_and_is_the_same_after_json_and_when_fitted_again(
    kind: str, name: Any, tmp_path: Path
) -> None:
    x, y = data(kind)
    how = recipe(name, len(y), (0, 1), KINDS[kind])
    model = how.fit(x, y, 7)
    base, values = model.contributions(x)
    margin = model.margin(x)
    assert margin.shape == ((len(y), 4) if kind == "multiclass" else (len(y),))
    assert np.allclose(base + values.sum(axis=1), margin, atol=1e-4 * max(1.0, float(np.abs(margin).max())))
    model.save(tmp_path / "m.json")
    assert np.array_equal(load(tmp_path / "m.json", name).margin(x), margin)
    assert np.array_equal(how.fit(x, y, 7).margin(x), margin)
    if kind == "regression":
        assert np.corrcoef(margin, y)[0, 1] > 0.5
    else:
        guess = margin.argmax(axis=1) if kind == "multiclass" else margin > 0
        assert (guess == y).mean() > (0.5 if kind == "multiclass" else 0.7)
    holes = np.full((2, 8), np.nan)
    assert np.isfinite(model.margin(holes)).all()


def test_additive_curves_and_surfaces_are_those_of_interpret() -> None:
    x, y = data("binary", 2_500)
    how = recipe("EBM", len(y), ())
    ours = how.fit(x, y, 7)
    theirs = ExplainableBoostingClassifier(feature_types=["continuous"] * 8, n_jobs=1, random_state=7, **how.parameters)
    theirs.fit(x, y.astype(int))
    assert len(theirs.term_features_) == 13
    new = data("binary", 300)[0] * 1.7
    assert np.allclose(probability(ours.margin(new)), theirs.predict_proba(new)[:, 1], atol=1e-12)


def test_margins_are_those_of_the_libraries() -> None:
    x, y = data("multiclass")
    boosted = recipe("XGBoost", len(y), (), KINDS["multiclass"]).fit(x, y, 7)
    light = recipe("LightGBM", len(y), (), KINDS["multiclass"]).fit(x, y, 7)
    assert isinstance(boosted, Boosted)
    assert isinstance(light, Light)
    assert np.allclose(softmax(boosted.margin(x)), boosted.booster.predict(xgb.DMatrix(x)), atol=1e-5)
    assert np.allclose(softmax(light.margin(x)), lgb.Booster(model_str=light.text).predict(x), atol=1e-12)


def test_a_logistic_model_of_several_classes_is_scikit_learns() -> None:
    x, y = data("multiclass")
    filled = np.where(np.isnan(x), np.nanmedian(x, axis=0), x)
    model = recipe("Logistic", len(y), (), KINDS["multiclass"]).fit(filled, y, 7)
    design = (filled - filled.mean(axis=0)) / filled.std(axis=0)
    theirs = LogisticRegression(C=0.1, tol=1e-8, max_iter=500).fit(design, y)
    assert np.allclose(softmax(model.margin(filled)), theirs.predict_proba(design), atol=1e-6)


def test_a_name_is_read_whatever_its_case_and_a_linear_one_by_the_outcome() -> None:
    assert model_type_of("lightgbm") == "LightGBM"
    assert model_type_of("logistic", "regression") == "Linear"
    assert model_type_of("Linear", "binary") == "Logistic"
    assert model_type_of(" ") is None
    with pytest.raises(BadInput, match="CatBoost"):
        model_type_of("CatBoost")


@pytest.mark.parametrize("network", ["TabPFN", "TabICL"])
def test_a_network_that_is_not_installed_says_how_to_get_it(network: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    x, y = data("binary", 60)
    with pytest.raises(ModelRefused, match=rf"{network} is an extra: .*lexsi-ds\[{network.casefold()}\]"):
        recipe(network, 60, ()).fit(x, y, 7)


class _Package(types.ModuleType):
    """Stands where a network's package would: the same calls, a logistic model inside."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__spec__ = ModuleSpec(name, None)

    class TabICLClassifier(LogisticRegression):
        def __init__(self, random_state: int = 0, device: str = "cpu", n_estimators: int = 8) -> None:
            super().__init__()
            self.random_state, self.device, self.n_estimators = random_state, device, n_estimators

    class TabPFNClassifier:
        def __init__(self, **settings: Any) -> None:
            pass

        def fit(self, x: Any, y: Any) -> None:
            raise OSError("We couldn't connect to the hub to load this file")


def test_a_network_keeps_its_rows_scores_by_them_and_comes_back_from_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tabicl", _Package("tabicl"))
    x, y = data("multiclass", 80)
    x = np.nan_to_num(x)
    model = recipe("TabICL", 80, (), KINDS["multiclass"]).fit(x, y, 7)
    base, values = model.contributions(x[:5])
    assert np.allclose(base + values.sum(axis=1), model.margin(x[:5]), atol=1e-6)
    model.save(tmp_path / "m.json")
    assert np.allclose(load(tmp_path / "m.json", "TabICL").margin(x), model.margin(x))


def test_a_network_without_its_weights_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tabpfn", _Package("tabpfn"))
    x, y = data("binary", 60)
    model = recipe("TabPFN", 60, ()).fit(x, y, 7)
    with pytest.raises(ModelRefused, match=r"TabPFN could not be opened: We couldn't connect"):
        model.margin(x)
    with pytest.raises(ModelRefused, match="reads at most 5,000 rows"):
        recipe("TabPFN", 6_000, ()).fit(np.zeros((6_000, 2)), np.zeros(6_000), 7)
