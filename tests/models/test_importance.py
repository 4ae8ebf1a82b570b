"""Permutation importance on the card: held-out rows, the features that carry the outcome first, equal to plain code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from lexsi_ds.models import bundle
from lexsi_ds.models.bundle import TARGET
from lexsi_ds.models.permutation import SEED, drawn
from tests.explain import models_for_tests


@pytest.mark.parametrize(("kind", "figure"), [("binary", "ROC AUC"), ("multiclass", "log likelihood"), ("regression", "R2")])
def test_the_card_says_what_shuffling_each_feature_costs(kind: str, figure: str) -> None:
    card = models_for_tests.model(kind).card
    drops = {i.feature: i.drop for i in card.importance}
    assert set(drops) == {f.feature.name for f in card.features}
    assert {i.figure for i in card.importance} == {figure}
    assert {"size", "district", "total"} & {i.feature for i in card.importance[:2]}
    assert card.importance[0].drop.low > 0
    assert [i.drop.value for i in card.importance] == sorted((i.drop.value for i in card.importance), reverse=True)
    assert abs(drops["noise"].value) < 0.3 * card.importance[0].drop.value


def test_a_drop_is_the_auc_of_unseen_rows_minus_that_of_shuffled_ones() -> None:
    model = models_for_tests.model("binary", "Logistic")
    training, folds = model.training, model.folds
    y = training[TARGET].to_numpy(dtype=float)
    x = model.prepare(training).x[drawn(y, 2_000, True)]
    place = model.encoding.names.index("district")
    columns = np.flatnonzero(model.encoding.groups == place)

    def auc(rows: np.ndarray) -> float:
        score = np.empty(len(y))
        for fold in range(folds.count):
            here = folds.of[:, 0] == fold
            score[here] = model.fold_models[folds.model(0, fold)].margin(rows[here])
        return float(roc_auc_score(y, score))

    rng, drops = np.random.default_rng([SEED, place]), []
    for _ in range(5):
        changed = x.copy()
        changed[:, columns] = x[rng.permutation(len(x))][:, columns]
        drops.append(auc(x) - auc(changed))
    told = next(i.drop.value for i in model.card.importance if i.feature == "district")
    assert told == pytest.approx(np.mean(drops), abs=1e-9)


def test_places_of_training_rows_are_made_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model = models_for_tests.model("binary", "Logistic")
    made: list[bool] = []
    real = bundle.places_of
    monkeypatch.setattr(bundle, "places_of", lambda *given: made.append(True) or real(*given))
    model.__dict__.pop("_places_kept", None)
    first = model.prepare(model.training).position
    again = model.prepare(model.training.iloc[::-1].reset_index(drop=True)).position
    assert len(made) == 1
    assert first.tolist() == list(range(len(first))) and again.tolist() == first.tolist()[::-1]
    new = model.training.head(3).assign(home_id=[-1, -2, -3])
    assert model.prepare(new).position.tolist() == [-1, -1, -1]
