"""Exact path-dependent TreeSHAP (Lundberg et al. 2020) of boosted trees, by whichever of two ways is sooner.

The library's own contributions cost the same for every row. Woodelf (Nadel & Wettenstein 2026) first works through the
trees and is then many times faster a row, so it takes over past a measured number of rows. It knows one margin and
numeric splits only: of several classes it would silently give the first, so it never gets any, nor categorical splits.
It may print, and stdout belongs to JSON: it is silenced.
"""

from __future__ import annotations

import contextlib
import io
import json
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import xgboost as xgb

CROSSOVER_ROWS = 2_500
"""Rows from which woodelf is faster: 2,300 to 3,200 measured for 100 to 200 trees of depth 5 and 6 on one thread."""
CROSSOVER_PAIRS = 60
"""The same for interactions, where the library needs tens of milliseconds a row."""
_LARGEST_GAP = 1e-4
OWN, FAST = "the library's own TreeSHAP", "woodelf's TreeSHAP"


def booster_of(estimator: Any) -> Any | None:
    """The booster inside an estimator of boosted trees, of XGBoost or LightGBM; None for any other model."""
    booster = getattr(estimator, "booster", None)
    return booster if booster is not None and hasattr(booster, "predict") else None


def suits_woodelf(booster: Any) -> bool:
    """Whether woodelf gives the values of this booster: one margin, no categorical split."""
    key = id(booster)
    known = _SUITS.get(key)
    if known is None or known[0] is not booster:
        known = (booster, _suits(booster))
        _SUITS[key] = known
        if len(_SUITS) > 64:
            _SUITS.pop(next(iter(_SUITS)))
    return known[1]


_SUITS: dict[int, tuple[Any, bool]] = {}


def woodelf_values(booster: Any, x: np.ndarray, margin: np.ndarray, base: float) -> np.ndarray | None:
    """SHAP values of encoded rows ``x`` (n, p) on the margin; None when they would not add up to ``margin`` (n,)."""
    frame = _frame(booster, x)
    with _silence():
        from woodelf import WoodelfExplainer

        values = np.asarray(WoodelfExplainer(booster).shap_values(frame, verbose=False), dtype=np.float64)
    gap = np.abs(base + values.sum(axis=1) - margin) / np.maximum(1.0, np.abs(margin))
    return values if gap.max() <= _LARGEST_GAP else None


def woodelf_pairs(booster: Any, x: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """SHAP interaction values of encoded rows, summed signed over the columns of a feature. Shape (n, f, f).

    The diagonal holds what is left of a feature's SHAP value, so that a row of the matrix adds up to it.
    """
    frame, size = _frame(booster, x), int(groups.max()) + 1
    with _silence():
        from woodelf import WoodelfExplainer

        explainer = WoodelfExplainer(booster)
        found: Any = explainer.shap_interaction_values(
            frame, as_df=True, exclude_zero_contribution_features=True, include_interaction_with_itself=False,
            verbose=False,
        )
        values = np.asarray(explainer.shap_values(frame, verbose=False), dtype=np.float64)
    result = np.zeros((len(x), size, size))
    table = np.asarray(found, dtype=np.float64)
    places = {name: place for place, name in enumerate(frame.columns)}
    for position, (first, second) in enumerate(found.columns):
        a, b = groups[places[first]], groups[places[second]]
        if a != b:
            result[:, a, b] += table[:, position]
    whole = np.zeros((len(x), size))
    np.add.at(whole.T, groups, values.T)
    own = np.arange(size)
    result[:, own, own] = whole - result.sum(axis=2)
    return result


def own_pairs(booster: Any, x: np.ndarray, groups: np.ndarray, output: int | None) -> np.ndarray:
    """The same from XGBoost itself; ``output`` chooses one of several classes."""
    found = booster.predict(xgb.DMatrix(x, nthread=1), pred_interactions=True).astype(np.float64)
    if found.ndim == 4:
        found = found[:, output or 0]
    return grouped_pairs(found[:, :-1, :-1], groups)


def one_class(booster: Any, place: int) -> Any:
    """The trees of one of several classes as a booster of one margin. LightGBM has no interactions, and the shap package's of
    several classes do not add up to its contributions; XGBoost's are of all classes at once, a second for ten rows."""
    return _one_of_xgboost(booster, place) if isinstance(booster, xgb.Booster) else _one_of_lightgbm(booster, place)


def _one_of_xgboost(booster: xgb.Booster, place: int) -> xgb.Booster:
    model = json.loads(bytes(booster.save_raw("json")))
    learner = model["learner"]
    grown = learner["gradient_booster"]["model"]
    own = [tree for tree, of in zip(grown["trees"], grown["tree_info"], strict=True) if of == place]
    grown["trees"] = [{**tree, "id": number} for number, tree in enumerate(own)]
    grown["tree_info"] = [0] * len(own)
    grown["iteration_indptr"] = list(range(len(own) + 1))
    grown["gbtree_model_param"]["num_trees"] = str(len(own))
    learner["learner_model_param"] |= {"num_class": "0", "num_target": "1", "base_score": "0E0"}
    learner["objective"] = {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "1"}}
    learner["attributes"] = {}
    alone = xgb.Booster({"nthread": 1})
    alone.load_model(bytearray(json.dumps(model).encode()))
    return alone


def _one_of_lightgbm(booster: Any, place: int) -> Any:
    import lightgbm as lgb

    classes = int(booster.num_model_per_iteration())
    head, *trees = booster.model_to_string().split("\nTree=")
    body, _, tail = trees[-1].partition("\nend of trees")
    trees[-1] = body
    own = [tree.partition("\n")[2] for number, tree in enumerate(trees) if number % classes == place]
    kept = [line for line in head.split("\n") if not line.startswith(("tree_sizes=", "num_class=", "num_tree_per", "objective="))]
    kept += ["num_class=1", "num_tree_per_iteration=1", "objective=regression", ""]
    text = "\n".join(kept) + "".join(f"\nTree={number}\n{tree}" for number, tree in enumerate(own))
    return lgb.Booster(model_str=f"{text}\nend of trees{tail}")


def grouped_pairs(pairs: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Pairs of encoded columns (n, p, p) summed signed to pairs of features (n, f, f)."""
    sums = np.zeros((len(groups), int(groups.max()) + 1))
    sums[np.arange(len(groups)), groups] = 1.0
    return np.einsum("af,nab,bg->nfg", sums, pairs, sums, optimize=True)


def base_of(booster: Any, columns: int) -> float:
    """The base value of a booster with one margin: the same for every row."""
    row = np.zeros((1, columns))
    if isinstance(booster, xgb.Booster):
        return float(booster.predict(xgb.DMatrix(row, nthread=1), pred_contribs=True)[0, -1])
    return float(np.asarray(booster.predict(row, pred_contrib=True))[0, -1])


def _suits(booster: Any) -> bool:
    if isinstance(booster, xgb.Booster):
        learner = json.loads(booster.save_config())["learner"]
        classes = int(learner["learner_model_param"].get("num_class", "0"))
        targets = int(learner["learner_model_param"].get("num_target", "1"))
        kinds = booster.feature_types or []
        return classes <= 1 and targets <= 1 and "c" not in kinds and learner["gradient_booster"]["name"] == "gbtree"
    text = booster.model_to_string()
    single = int(booster.num_model_per_iteration()) == 1
    return single and all(line == "num_cat=0" for line in text.splitlines() if line.startswith("num_cat="))


def _frame(booster: Any, x: np.ndarray) -> pd.DataFrame:
    """Rows as woodelf wants them; in single precision for XGBoost, as it compares them itself."""
    numbers = x.astype(np.float32) if isinstance(booster, xgb.Booster) else x
    return pd.DataFrame(numbers, columns=pd.Index(_names(x.shape[1])))


@lru_cache(maxsize=64)
def _names(count: int) -> list[str]:
    return [f"c{place}" for place in range(count)]


@contextlib.contextmanager
def _silence():
    with contextlib.redirect_stdout(io.StringIO()):
        yield
