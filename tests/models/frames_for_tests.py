"""Training frames for these tests: real files where they are present, and small synthetic ones with a known signal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lexsi_ds.models.bundle import SavedModel
from lexsi_ds.models.frames import write_frame
from lexsi_ds.models.task import FeatureDef, TaskSpec
from lexsi_ds.models.worker import train

FILES = Path(__file__).resolve().parents[3] / "shared" / "data" / "files"


def silent(message: dict[str, Any]) -> None:
    """Progress that nobody reads."""


def task_of(
    frame: pd.DataFrame, *, entity: str, target: str, features: list[str] | None = None, **more: Any
) -> TaskSpec:
    """A task over all other columns of a frame; kinds by dtype."""
    display = more.get("display_columns", ())
    names = features or [c for c in frame.columns if c not in (entity, target, *display)]
    fields: dict[str, Any] = {
        "title": "Test",
        "question": "q",
        "task_type": "classification",
        "target_column": target,
        "target_label": "default",
        "positive_meaning": "1",
        "entity_column": entity,
        "entity_table": "t",
        "entity_label": "loan",
        "known_meaning": "finished loans",
        "unknown_meaning": "running loans",
        "context_sql": "",
        "predict_sql": "",
        "features": tuple(FeatureDef(name=n, label=n.replace("_", " "), kind=_kind(frame[n])) for n in names),
    }
    return TaskSpec(**{**fields, **more})


def _kind(values: pd.Series) -> str:
    if pd.api.types.is_bool_dtype(values.dtype):
        return "boolean"
    return "numeric" if pd.api.types.is_numeric_dtype(values.dtype) else "categorical"


def loans(n: int = 234, seed: int = 0, first: int = 1) -> pd.DataFrame:
    """Loans with 30 features, some missing, some words, about 14% of them bad."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 26)), columns=[f"x{i:02}" for i in range(26)])
    frame["balance_min"] = rng.normal(2000, 3000, n).round()
    frame["duration"] = rng.choice([12, 24, 36, 48, 60], n)
    frame["frequency"] = rng.choice(["monthly", "weekly", "after"], n, p=[0.8, 0.15, 0.05])
    frame["has_card"] = rng.random(n) < 0.3
    frame.loc[rng.random(n) < 0.1, "x05"] = np.nan
    frame.loc[rng.random(n) < 0.05, "frequency"] = None
    margin = -2.4 - 0.0006 * (frame["balance_min"] - 2000) + 0.7 * frame["x01"] + 0.5 * (frame["frequency"] == "weekly")
    frame["y"] = (rng.random(n) < 1 / (1 + np.exp(-margin))).astype(int)
    frame.insert(0, "loan_id", np.arange(first, first + n))
    frame["status"] = np.where(rng.random(n) < 0.1, "D", "C")
    return frame


def loan_task(frame: pd.DataFrame, **more: Any) -> TaskSpec:
    """The task over ``loans``; status is shown and never a feature."""
    return task_of(frame, entity="loan_id", target="y", cutoff_column="date", display_columns=("status",), **more)


def telco() -> tuple[pd.DataFrame, TaskSpec]:
    """Telco churn as its file is read: blanks in TotalCharges stay text, gender is left out."""
    frame = pd.read_csv(data_file("Telco-Customer-Churn.csv"))
    frame["churned"] = (frame["Churn"] == "Yes").astype(int)
    features = [c for c in frame.columns if c not in ("customerID", "Churn", "churned", "gender")]
    task = task_of(frame, entity="customerID", target="churned", features=features, display_columns=("Churn",))
    kinds = {"TotalCharges": "numeric"}
    defs = tuple(f.model_copy(update={"kind": kinds.get(f.name, f.kind)}) for f in task.features)
    return frame, task.model_copy(update={"features": defs})


def titanic() -> tuple[pd.DataFrame, TaskSpec]:
    """All columns of the Titanic file are offered, keys and names too: the screen has to sort them out."""
    frame = pd.read_csv(data_file("titanic_kaggle.csv"))
    return frame, task_of(frame, entity="PassengerId", target="Survived")


def attrition() -> tuple[pd.DataFrame, TaskSpec]:
    """HR attrition with its constants; EmployeeNumber is offered although a row number is the entity."""
    frame = pd.read_csv(data_file("emp_attrition_ibm.csv"))
    frame["row"] = [f"r{i}" for i in range(len(frame))]
    return frame, task_of(frame, entity="row", target="Attrition")


def data_file(name: str) -> Path:
    path = FILES / name
    if not path.is_file():
        pytest.skip(f"{name} is not beside the repository")
    return path


def train_in(
    home: Path,
    frame: pd.DataFrame,
    task: TaskSpec,
    *,
    model_type: str | None = None,
    threads: int = 2,
    name: str = "mdl_test",
    budget_s: float = 1.0,
) -> SavedModel:
    """Run the handler as a worker would and open what it wrote. The small budget leaves the baseline, XGBoost and, for few
    rows, LightGBM."""
    write_frame(frame, home / f"{name}.arrow")
    args = {
        "frame": str(home / f"{name}.arrow"),
        "task": task.model_dump(mode="json"),
        "model_type": model_type,
        "origin": {"model_id": name},
        "folder": str(home / name),
        "temporary": str(home / f".tmp_{name}"),
        "threads": threads,
        "budget_s": budget_s,
    }
    train(args, silent)
    return SavedModel(home / name)
