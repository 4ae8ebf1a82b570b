"""The component ``umap_embedding``: rows as points of a plane, those alike near each other.

UMAP (McInnes, Healy and Melville, 2018) where ``umap-learn`` is installed, else the first two principal components; the
answer says which. Must never: place a row by the target that its colour shows.
"""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA

from lexsi_ds.errors import BadInput
from lexsi_ds.insights.layer_frame import Sample

MAX_ROWS = 4_000
NEIGHBOURS, DISTANCE, SEED = 15, 0.1, 7
_LEAST = 10
Json = dict[str, Any]


def has_umap() -> bool:
    """Whether the optional package is there."""
    return importlib.util.find_spec("umap") is not None


def embedded(sample: Sample, y: pd.Series, target: str | None, say: Callable[[str], None]) -> Json:
    """The points, each with the target's value where there is one. Raises BadInput where there is nothing to place."""
    x = _matrix(sample)
    if x.shape[1] < 2 or len(x) < _LEAST:
        raise BadInput("There is too little to place: it takes ten rows and two features.", to_do="Look at what was left out.")
    method = "umap" if has_umap() else "pca"
    say(f"Placing {len(x):,} rows by {'UMAP' if method == 'umap' else 'principal components'}")
    places, more = _umap(x) if method == "umap" else _pca(x)
    colours = [None] * len(x) if target is None else [_value(v) for v in y]
    points = [
        {"x": float(f"{a:.5g}"), "y": float(f"{b:.5g}")} | ({} if target is None else {"target": c})
        for (a, b), c in zip(places, colours, strict=True)
    ]
    note = "" if method == "umap" else "umap-learn is not installed: these are the first two principal components."
    return {
        "method": method, "note": note, "target": target, "rows": len(points), "totalRows": sample.rows,
        "features": [f.name for f in sample.features], "parameters": more, "points": points,
    }


def _matrix(sample: Sample) -> np.ndarray:
    """Numbers by their spread around the median, words as one column each; nothing missing."""
    parts: list[np.ndarray] = []
    for feature in sample.features:
        values = pd.Series(sample.frame[feature.name])
        if feature.kind == "continuous":
            number = values.to_numpy(dtype="float64")
            known = number[~np.isnan(number)]
            spread = float(known.std()) if len(known) else 0.0
            if spread > 0:
                scaled = np.clip((number - np.median(known)) / spread, -5, 5)
                parts.append(np.nan_to_num(scaled)[:, None])
        else:
            words = pd.get_dummies(values.fillna("(missing)"), dtype=float).to_numpy()
            parts.append((words - words.mean(axis=0)) / np.sqrt(2))
    return np.hstack(parts) if parts else np.empty((len(sample.frame), 0))


def _pca(x: np.ndarray) -> tuple[np.ndarray, Json]:
    machine = PCA(n_components=2, random_state=SEED)
    places = machine.fit_transform(x)
    return places, {"explainedShare": [float(f"{v:.4g}") for v in machine.explained_variance_ratio_]}


def _umap(x: np.ndarray) -> tuple[np.ndarray, Json]:
    umap: Any = importlib.import_module("umap")
    settings: Json = {"n_neighbors": min(NEIGHBOURS, len(x) - 1), "min_dist": DISTANCE, "random_state": SEED}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        places = np.asarray(umap.UMAP(n_components=2, n_jobs=1, **settings).fit_transform(x))
    return places, settings


def _value(value: Any) -> Any:
    if value is None or pd.isna(value):
        return None
    return float(value) if isinstance(value, int | float | np.integer | np.floating) else str(value)
