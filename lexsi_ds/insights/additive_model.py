"""The component ``ebm_model`` with its ``ebm_graphs``: an explainable boosting machine of the target (interpret-core).

Lou, Caruana and Gehrke (2012, 2013): one curve a feature and a few surfaces of two, added up. It describes a dataset; the
models of Model results are trained apart from it. Must never: take a target of several classes for one of two.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import train_test_split

from lexsi_ds.data.handle import Column
from lexsi_ds.errors import BadInput
from lexsi_ds.insights.layer_frame import Feature, Sample

MAX_ROWS = 40_000
PAIRS = 5
_LEAST, _LEAST_EACH = 200, 20
_SEED = 7
Json = dict[str, Any]


def task_of(column: Column) -> str:
    """``binary`` or ``regression``. Raises BadInput for any other target."""
    if column.distinct == 2 and column.family in ("text", "boolean", "number"):
        return "binary"
    if column.family == "number" and column.distinct > 2:
        return "regression"
    raise BadInput(
        "The additive model is for a number or a choice of two.", where=column.name,
        to_do="Choose another target, or make a column of one of its values.",
    )


def fitted(sample: Sample, y: pd.Series, column: Column, say: Callable[[str], None]) -> tuple[Json, Json]:
    """(``ebm_model``, ``ebm_graphs``). Raises BadInput where there are too few rows or features."""
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    task = task_of(column)
    positive, outcome = _outcome(task, y)
    if not sample.features:
        raise BadInput("No other column can explain the target.", where=column.name, to_do="Look at what was left out.")
    if len(outcome) < _LEAST or (task == "binary" and min(outcome.sum(), len(outcome) - outcome.sum()) < _LEAST_EACH):
        raise BadInput(
            f"The target is known in {len(outcome):,} rows: too few, or one value is too rare.", where=column.name,
            to_do=f"It takes {_LEAST} rows and {_LEAST_EACH} of each value.",
        )
    train, test = train_test_split(
        np.arange(len(outcome)), test_size=0.2, random_state=_SEED, stratify=outcome if task == "binary" else None
    )
    settings: Json = {
        "outer_bags": 4 if len(train) < 20_000 else 2, "interactions": PAIRS if len(train) >= 1_000 else 0, "max_bins": 64,
        "max_rounds": 1_500, "learning_rate": 0.04,
    }
    made: Any = ExplainableBoostingClassifier if task == "binary" else ExplainableBoostingRegressor
    machine = made(
        feature_names=[f"f{i}" for i in range(len(sample.features))], feature_types=[f.kind for f in sample.features], n_jobs=1,
        random_state=_SEED, **settings,
    )
    x = sample.frame.to_numpy(dtype=object)
    say(f"Fitting {len(sample.features)} curves to {len(train):,} rows")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine.fit(x[train], outcome[train])
        seen = machine.predict_proba(x[test])[:, 1] if task == "binary" else machine.predict(x[test])
    score = roc_auc_score(outcome[test], seen) if task == "binary" else r2_score(outcome[test], seen)
    head: Json = {
        "task": task, "target": column.name, "scale": "log-odds" if task == "binary" else f"units of {column.name}",
        **({"positive": positive} if task == "binary" else {}),
    }
    model = head | {
        "rows": len(outcome), "totalRows": sample.rows, "intercept": float(np.atleast_1d(machine.intercept_)[0]),
        "holdout": {"metric": "auc" if task == "binary" else "r2", "value": float(score), "n": len(test)},
        "parameters": settings, "features": _terms(machine, sample.features),
    }
    return model, head | {"graphs": _graphs(machine, sample.features)}


def _outcome(task: str, y: pd.Series) -> tuple[str, np.ndarray]:
    if task == "regression":
        values = y.to_numpy(dtype="float64", na_value=np.nan)
        return "", np.where(np.isfinite(values), values, np.nanmedian(values[np.isfinite(values)]))
    text = y.astype(str)
    positive = min(text.unique(), key=lambda v: (int((text == v).sum()), v))
    return positive, (text == positive).to_numpy(dtype="int64")


def _terms(machine: Any, features: tuple[Feature, ...]) -> list[Json]:
    found = [
        {"name": " and ".join(features[i].name for i in term), "columns": [features[i].name for i in term], "index": number,
         "importance": float(weight), "type": _type(term, features)}
        for number, (term, weight) in enumerate(zip(machine.term_features_, machine.term_importances(), strict=True))
    ]
    return sorted(found, key=lambda t: -t["importance"])


def _type(term: Sequence[int], features: tuple[Feature, ...]) -> str:
    if len(term) > 1:
        return "interaction"
    return "date" if features[term[0]].date else features[term[0]].kind


def _graphs(machine: Any, features: tuple[Feature, ...]) -> list[Json]:
    weights = machine.term_importances()
    order = sorted(range(len(machine.term_features_)), key=lambda i: -float(weights[i]))
    return [_graph(machine, i, machine.term_features_[i], features) for i in order]


def _graph(machine: Any, number: int, term: Sequence[int], features: tuple[Feature, ...]) -> Json:
    """Scores by bin. ``names`` are the edges of numbers (one more than scores; dates in days since 1970), or the words."""
    scores = np.asarray(machine.term_scores_[number], dtype=float)
    errors = np.asarray(machine.standard_deviations_[number], dtype=float)
    counts = np.asarray(machine.bin_weights_[number], dtype=float)
    head: Json = {
        "name": " and ".join(features[i].name for i in term), "columns": [features[i].name for i in term],
        "type": _type(term, features), "index": number,
    }
    inside = tuple(slice(1, -1) for _ in term)
    if len(term) == 1:
        kept, wide = scores[inside], errors[inside]
        return head | {
            "names": _names(machine, term[0], 0), "scores": _list(kept), "lower": _list(kept - wide), "upper": _list(kept + wide),
            "counts": _list(counts[inside]), "missing": {"score": float(scores[0]), "count": float(counts[0])},
        }
    return head | {
        "names": [_names(machine, i, len(term) - 1) for i in term], "scores": [_list(line) for line in scores[inside]],
        "counts": [_list(line) for line in counts[inside]],
    }


def _names(machine: Any, feature: int, size: int) -> list[Any]:
    levels = machine.bins_[feature]
    bins = levels[min(size, len(levels) - 1)]
    if isinstance(bins, dict):
        return [word for word, _ in sorted(bins.items(), key=lambda pair: pair[1])]
    low, high = machine.feature_bounds_[feature]
    return _list(np.array([low, *np.asarray(bins, dtype=float), high]))


def _list(values: np.ndarray) -> list[float | None]:
    return [float(f"{v:.6g}") if np.isfinite(v) else None for v in values]

