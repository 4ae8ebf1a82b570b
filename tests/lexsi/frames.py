"""Loans with a known signal, and what a task over them says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from lexsi_ds.models.task import FeatureDef, TaskSpec


def loans(n: int = 300, seed: int = 0, first: int = 1) -> pd.DataFrame:
    """Loans whose default follows their balance; names that a query string would not carry."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"loan id": np.arange(first, first + n)})
    frame["balance & co"] = rng.normal(2000, 900, n).round()
    frame["durée (mois)"] = rng.choice([12.0, 24.0, 36.0, 48.0], n)
    frame.loc[rng.random(n) < 0.05, "durée (mois)"] = np.nan
    frame["frequency"] = rng.choice(["monthly", "weekly", "after"], n)
    frame["card"] = rng.random(n) < 0.4
    frame["email"] = [f"person{i}@example.com" for i in range(first, first + n)]
    margin = -0.3 - 0.002 * (frame["balance & co"] - 2000) + 0.5 * frame["card"]
    frame["y"] = (rng.random(n) < 1 / (1 + np.exp(-margin))).astype(int)
    frame["amount"] = (3 * frame["balance & co"] + 500 * frame["card"] + rng.normal(0, 1200, n)).round(2)
    frame["status"] = np.where(rng.random(n) < 0.1, "D", "C")
    return frame


FEATURES = ("balance & co", "durée (mois)", "frequency", "card")
_KINDS = {"frequency": "categorical", "card": "boolean", "email": "categorical"}


def loan_task(*features: str, **more: Any) -> TaskSpec:
    """Default of loans, or another target, from these features."""
    fields: dict[str, Any] = {
        "title": "Loan default", "question": "q", "task_type": "classification", "target_column": "y", "target_label": "default",
        "positive_meaning": "not paid", "entity_column": "loan id", "entity_table": "loan", "entity_label": "loan",
        "known_meaning": "finished loans", "unknown_meaning": "running loans", "context_sql": "", "predict_sql": "",
        "display_columns": ("status",),
        "features": tuple(
            FeatureDef(name=n, label=n, kind=_KINDS.get(n, "numeric")) for n in features or FEATURES
        ),
    }
    return TaskSpec(**{**fields, **more})


def amount_task(**more: Any) -> TaskSpec:
    """The amount of a loan."""
    return loan_task(task_type="regression", target_column="amount", target_label="amount", **more)
