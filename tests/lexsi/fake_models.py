"""What the fake platform trains: a linear model on the uploaded table, so that its scores and SHAP values are real ones."""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression, Ridge


class PlatformError(Exception):
    """What the platform says when it cannot train."""


@dataclass
class LinearModel:
    """Coefficients on centred columns; words are encoded by their order in training."""

    name: str
    key: str
    label: str
    features: list[str]
    words: dict[str, list[str]]
    means: np.ndarray
    model: LogisticRegression | Ridge
    regression: bool
    rows: pd.DataFrame

    @classmethod
    def fit(cls, name: str, table: pd.DataFrame, config: dict, features: list[str], regression: bool) -> LinearModel:
        if config.get("pred_label") is None:
            raise PlatformError("KeyError: None")
        if config["pred_label"] not in table.columns:
            raise PlatformError("#03-013 Target must have >=2 classes")
        key, label = config["unique_identifier"], config["true_label"]
        if not regression and table[label].nunique() < 2:
            raise PlatformError("#03-013 Target must have >=2 classes")
        words = {c: sorted(table[c].dropna().astype(str).unique()) for c in features if table[c].dtype == object or
                 pd.api.types.is_string_dtype(table[c].dtype)}
        made = cls(name, key, label, features, words, np.zeros(len(features)), Ridge(), regression, table)
        x = made.encoded(table)
        made.means = x.mean(axis=0)
        scales = np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0)
        estimator = Ridge() if regression else LogisticRegression(max_iter=500)
        estimator.fit((x - made.means) / scales, table[label])
        estimator.coef_ = estimator.coef_ / scales
        made.model = estimator
        return made

    def encoded(self, table: pd.DataFrame) -> np.ndarray:
        columns = []
        for name in self.features:
            if name in self.words:
                codes = {word: i for i, word in enumerate(self.words[name])}
                columns.append([codes.get(str(v), -1) for v in table[name]])
            else:
                columns.append(pd.to_numeric(table[name], errors="coerce").fillna(0.0).tolist())
        return np.array(columns, dtype=float).T.reshape(len(table), len(self.features))

    def margin(self, table: pd.DataFrame) -> np.ndarray:
        return self.shap(table).sum(axis=1) + self.base

    @property
    def base(self) -> float:
        return float(np.ravel(self.model.intercept_)[0])

    def shap(self, table: pd.DataFrame) -> np.ndarray:
        return (self.encoded(table) - self.means) * np.ravel(self.model.coef_)

    def scores(self, table: pd.DataFrame) -> np.ndarray:
        margin = self.margin(table)
        return margin if self.regression else 1 / (1 + np.exp(-margin))

    def nearest(self, row: pd.DataFrame, k: int = 4) -> list[dict]:
        distance = np.abs(self.encoded(self.rows) - self.encoded(row)).sum(axis=1)
        order = np.argsort(distance, kind="stable")[:k]
        return [{self.key: str(self.rows[self.key].iloc[i]), "distance": float(distance[i])} for i in order]


def table_of(content: bytes) -> pd.DataFrame:
    """An uploaded CSV file."""
    return pd.read_csv(io.BytesIO(content), dtype_backend="numpy_nullable").convert_dtypes()
