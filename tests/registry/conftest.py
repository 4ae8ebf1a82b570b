from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lexsi_ds.application import Application
from lexsi_ds.models.card import ModelCard
from lexsi_ds.services.access import ALL_RIGHTS, Actor
from lexsi_ds.services.model_training import TrainRequest
from lexsi_ds.settings import Settings

ADA = Actor("ada", "Ada", ALL_RIGHTS)
BEN = Actor("ben", "Ben", ALL_RIGHTS)


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """A real application with a home of its own, for all tests of the registry."""
    made = Application(Settings(home=tmp_path_factory.mktemp("registry"), sql_workers=1))
    yield made
    made.close()


@pytest.fixture
def home(app: Application) -> Path:
    return app.settings.home


def write_loans(path: Path, n: int = 300, seed: int = 0, first: int = 1, *, outcome: bool = True) -> pd.DataFrame:
    """Loans whose outcome hangs on three columns; written as CSV, given back as they were drawn."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "loan_id": [f"L{i:05}" for i in range(first, first + n)], "balance": rng.normal(2000, 900, n).round(2),
        "duration": rng.choice([12, 24, 36, 48], n), "frequency": rng.choice(["monthly", "weekly", "once"], n, p=[0.6, 0.3, 0.1]),
        "sex": rng.choice(["F", "M"], n), "granted": pd.Timestamp("1996-01-01") + pd.to_timedelta(np.arange(n) * 3, unit="D"),
    })
    margin = -1.2 - 0.0012 * (frame["balance"] - 2000) + 0.03 * (frame["duration"] - 30) + (frame["frequency"] == "weekly")
    frame["bad"] = np.where(rng.random(n) < 1 / (1 + np.exp(-margin)), "yes", "no")
    (frame if outcome else frame.drop(columns="bad")).to_csv(path, index=False)
    return frame


@pytest.fixture(scope="session")
def loans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("loans") / "loans.csv"
    write_loans(path)
    return path


@pytest.fixture(scope="session")
def model(app: Application, loans: Path) -> ModelCard:
    """A logistic model on the loans, trained once for all tests."""
    handle = app.catalog.throwaway(loans)
    request = TrainRequest(target="bad", entity="loan_id", model_type="Logistic", time_column="granted")
    return app.training.train(app.person(), handle, request, via="test")
