"""Training rows like a given one, with what became of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lexsi_ds.errors import BadInput
from lexsi_ds.explain.similar import similar_rows
from lexsi_ds.models.bundle import PROBABILITY, SavedModel
from tests.models.frames_for_tests import loan_task, loans, task_of, train_in


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> SavedModel:
    frame = loans()
    return train_in(tmp_path_factory.mktemp("models"), frame, loan_task(frame))


def test_a_twin_of_a_training_row_finds_it_first_with_outcome_and_out_of_fold_score(model: SavedModel) -> None:
    frame = loans()
    twin = frame.iloc[[17]].assign(loan_id=9_999)
    found = similar_rows(model, twin, 3)[0]
    assert len(found) == 3
    assert found[0]["entity"] == frame["loan_id"][17]
    assert found[0]["distance"] == pytest.approx(0, abs=1e-6)
    assert found[0]["outcome"] == frame["y"][17]
    assert found[0]["probability"] == model.training.set_index("loan_id")[PROBABILITY][frame["loan_id"][17]]
    assert found[0]["display"] == {"status": frame["status"][17]}
    assert [r["distance"] for r in found] == sorted(r["distance"] for r in found)


def test_a_training_row_is_never_its_own_neighbour(model: SavedModel) -> None:
    frame = loans()
    for i, found in enumerate(similar_rows(model, frame.head(20), 5)):
        assert len(found) == 5
        assert frame["loan_id"][i] not in [r["entity"] for r in found]


def test_distances_are_those_of_standardised_values_and_one_for_another_word(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(50, 10, 100), "w": ["u", "v"] * 50, "id": range(100)})
    frame["y"] = ((frame["a"] + rng.normal(0, 10, 100)) > 55).astype(int)
    model = train_in(tmp_path, frame, task_of(frame, entity="id", target="y"))
    row = pd.DataFrame({"id": [1_000], "a": [frame["a"].mean()], "w": ["u"]})
    found = {r["entity"]: r["distance"] for r in similar_rows(model, row, 99)[0]}
    steps = np.clip((frame["a"] - frame["a"].mean()) / frame["a"].std(ddof=0), -3, 3)
    expected = np.sqrt(steps**2 + (frame["w"] == "v"))
    assert found == pytest.approx({i: expected[i] for i in found}, abs=1e-6)


def test_more_neighbours_than_rows_and_fewer_than_one(model: SavedModel) -> None:
    assert len(similar_rows(model, loans(1, seed=5, first=1_000), 1_000)[0]) == 234
    with pytest.raises(BadInput):
        similar_rows(model, loans().head(1), 0)


@pytest.mark.parametrize("model_type", ["XGBoost", "Logistic"])
def test_neighbours_equal_brute_force_over_all_training_rows(tmp_path: Path, model_type: str) -> None:
    frame = loans()
    model = train_in(tmp_path, frame, loan_task(frame), model_type=model_type)
    new = loans(15, seed=5, first=1_000)
    names = list(model.encoding.names)
    both = pd.concat([frame, new], ignore_index=True)
    steps = []
    for name in names:
        if name == "frequency":
            words = both[name].where(both[name].isin(["monthly", "weekly", "after"]), None).fillna("missing")
            steps.append(np.stack([(words == w) / np.sqrt(2) for w in words.unique()], axis=1))
        else:
            values = both[name].astype(float)
            known = values[: len(frame)]
            steps.append(np.clip(((values - known.mean()) / known.std(ddof=0)).fillna(0), -3, 3).to_numpy()[:, None])
    space = np.concatenate(steps, axis=1)
    for place, found in enumerate(similar_rows(model, new, 4)):
        distances = np.sqrt(((space[: len(frame)] - space[len(frame) + place]) ** 2).sum(axis=1))
        nearest = np.argsort(distances, kind="stable")[:4]
        assert [r["entity"] for r in found] == frame["loan_id"].to_numpy()[nearest].tolist()
        assert [r["distance"] for r in found] == pytest.approx(distances[nearest].tolist(), abs=1e-6)
