"""Cases and the beeswarm as the screens take them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lexsi_ds.explain import rows
from lexsi_ds.explain.cases import explain_cases, explain_global
from lexsi_ds.explain.shap_values import explain_rows, to_scale
from lexsi_ds.models.bundle import SavedModel
from lexsi_ds.models.engine import CaseExplanation, GlobalExplanation
from lexsi_ds.models.estimators import probability
from tests.models.frames_for_tests import loan_task, loans, train_in


@pytest.fixture(scope="module", params=["XGBoost", "Logistic"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SavedModel:
    frame = loans()
    return train_in(tmp_path_factory.mktemp("models"), frame, loan_task(frame), model_type=request.param)


@pytest.mark.parametrize("scale", ["probability", "log-odds"])
def test_a_case_adds_up_on_its_scale_and_on_the_margin(model: SavedModel, scale: str) -> None:
    frame = pd.concat([loans(10, seed=5, first=1_000), loans().head(3)], ignore_index=True)
    found = explain_cases(model, frame, scale)
    assert [c.case_id for c in found] == [str(i) for i in frame["loan_id"]]
    assert [c.scored for c in found] == ["model"] * 10 + ["out_of_fold"] * 3
    for case in found:
        assert case.scale == scale
        assert case.base_value + sum(d.contribution for d in case.drivers) == pytest.approx(case.prediction, abs=1e-6)
        assert case.base_margin + sum(d.margin for d in case.drivers) == pytest.approx(case.margin, abs=1e-4)
        sizes = [abs(d.contribution) for d in case.drivers]
        assert sizes == sorted(sizes, reverse=True)
        assert len(case.drivers) == 30
        assert set(case.display) == {"status"}
        assert CaseExplanation.model_validate_json(case.model_dump_json()) == case


def test_drivers_carry_values_as_a_person_reads_them_and_their_place(model: SavedModel) -> None:
    frame = loans(10, seed=5, first=1_000)
    frame.loc[0, "x05"] = np.nan
    frame["balance_min"] = frame["balance_min"].map(lambda v: f" {v} ")
    frame.loc[1, "balance_min"] = "-99999"
    first, second = ({d.feature: d for d in c.drivers} for c in explain_cases(model, frame.head(2), "probability"))
    assert first["x05"].value is None
    assert first["x05"].lower_share is None
    assert first["has_card"].value is bool(frame["has_card"][0])
    assert first["frequency"].value == frame["frequency"][0]
    assert second["balance_min"].value == -99_999
    assert (second["balance_min"].lower_share, second["balance_min"].higher_share) == (0, 1)
    known = loans()["x01"]
    assert first["x01"].lower_share == pytest.approx((known < frame["x01"][0]).mean())


def test_importance_is_the_mean_size_of_the_contributions_largest_first(model: SavedModel) -> None:
    frame = loans(150, seed=5, first=1_000)
    found = explain_global(model, frame, "probability")
    explained = explain_rows(model, frame)
    scaled = to_scale(explained.base, explained.values, "probability")
    expected = dict(zip(model.encoding.names, np.abs(scaled.contributions).mean(axis=0), strict=True))
    assert {f.feature: f.mean_abs for f in found.features} == pytest.approx(expected)
    sizes = [f.mean_abs for f in found.features]
    assert sizes == sorted(sizes, reverse=True)
    assert (found.rows, found.of_rows, len(found.case_ids)) == (150, 150, 150)
    assert all(len(f.contributions) == len(f.values) == len(f.raw) == 150 for f in found.features)
    assert GlobalExplanation.model_validate_json(found.model_dump_json()) == found


def test_colours_follow_the_rank_of_the_value_and_words_have_none(model: SavedModel) -> None:
    frame = loans(100, seed=5, first=1_000)
    features = {f.feature: f for f in explain_global(model, frame, "log-odds").features}
    colours = np.array(features["balance_min"].values, dtype=float)
    assert colours.min() == 0
    assert colours.max() == 1
    assert (np.argsort(colours) == np.argsort(frame["balance_min"].rank(method="average"))).all()
    assert set(features["frequency"].values) == {None}
    assert {i for i, v in enumerate(features["x05"].values) if v is None} == set(np.flatnonzero(frame["x05"].isna()))
    assert set(features["has_card"].values) == {0.0, 1.0}


def test_many_rows_are_sampled_evenly_along_the_score_and_the_same_each_time(
    model: SavedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "MOST_ROWS", 50)
    frame = loans(500, seed=5, first=1_000)
    found = explain_global(model, frame, "probability")
    assert (found.rows, found.of_rows) == (50, 500)
    mixed = frame.sample(frac=1, random_state=2)
    assert set(explain_global(model, mixed, "probability").case_ids) == set(found.case_ids)
    scores = pd.Series(probability(model.margin(model.prepare(frame))), index=frame["loan_id"].astype(str))
    drawn = scores.loc[list(found.case_ids)]
    assert drawn.max() >= scores.quantile(0.98)
    assert drawn.mean() == pytest.approx(scores.mean(), abs=0.01)
