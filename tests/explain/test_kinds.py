"""Several classes and amounts are explained like yes and no: additive on each scale, in words, and out of fold."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lexsi_ds.errors import BadInput
from lexsi_ds.explain.cases import explain_cases, explain_global
from lexsi_ds.explain.counterfactuals import counterfactuals
from lexsi_ds.explain.dependence import dependence
from lexsi_ds.explain.importance import importance
from lexsi_ds.explain.interactions import interactions
from lexsi_ds.explain.profiles import profile
from lexsi_ds.explain.residuals import residuals
from lexsi_ds.explain.scales import softmax
from lexsi_ds.explain.shap_values import explain_rows
from lexsi_ds.explain.similar import similar_rows
from lexsi_ds.explain.subset import subset
from lexsi_ds.explain.threshold import threshold_view
from lexsi_ds.explain.wanted import Wanted
from lexsi_ds.explain.what_if import what_if
from lexsi_ds.facts import check
from tests.explain.models_for_tests import model, rows
from tests.models.frames_for_tests import silent

KINDS = [("multiclass", "XGBoost"), ("multiclass", "LightGBM"), ("regression", "XGBoost"), ("regression", "EBM")]


def mixed() -> pd.DataFrame:
    return pd.concat([rows(20, seed=5, first=1_000), rows().head(10)], ignore_index=True)


@pytest.mark.parametrize(("kind", "name"), KINDS)
def test_a_case_adds_up_says_which_class_and_cites_only_facts(kind: str, name: str) -> None:
    found = model(kind, name)
    margin = found.margin(found.prepare(mixed()))
    for scale in ("probability", "log-odds"):
        cases = explain_cases(found, mixed(), scale)
        for place, case in enumerate(cases):
            total = case.base_value + sum(d.contribution for d in case.drivers)
            assert total == pytest.approx(case.prediction, rel=1e-6, abs=1e-6)
            assert check(case.summary or "", case.facts).removed == ()
            assert case.scored == ("model" if place < 20 else "out_of_fold")
            if kind == "regression":
                assert (case.scale, case.output) == ("value", None)
                assert case.prediction == pytest.approx(margin[place], rel=1e-5)
            else:
                best = int(margin[place].argmax())
                assert case.output == found.card.task.classes[best]
                assert f'"{case.output}"' in (case.summary or "")
                expected = softmax(margin)[place, best] if scale == "probability" else margin[place, best]
                assert case.prediction == pytest.approx(expected, abs=1e-4)


def test_a_class_can_be_asked_for_and_an_unknown_one_is_refused() -> None:
    found = model("multiclass")
    cases = explain_cases(found, mixed(), "probability", "cheap")
    shares = softmax(found.margin(found.prepare(mixed())))
    assert {c.output for c in cases} == {"cheap"}
    assert [c.prediction for c in cases] == pytest.approx(shares[:, 0].tolist(), abs=1e-5)
    with pytest.raises(BadInput, match="no class"):
        explain_cases(found, mixed(), "probability", "free")


@pytest.mark.parametrize(("kind", "name"), KINDS)
def test_every_global_view_is_there(kind: str, name: str) -> None:
    found, frame = model(kind, name), rows(200, seed=5, first=1_000)
    overall = explain_global(found, frame, "probability")
    view = importance(found, frame, "probability", silent, repeats=2)
    assert overall.features[0].feature == view.features[0].feature in ("size", "district")
    assert view.features[0].loss.low > 0
    assert view.figure == ("R2" if kind == "regression" else "log likelihood")
    pairs = interactions(found, frame)
    explained = explain_rows(found, frame, overall.output)
    assert np.trace(np.array(pairs.matrix)) > 0
    assert dependence(found, frame, "size", "probability").y == pytest.approx(
        explained.on("probability").contributions[:, found.encoding.names.index("size")].tolist()
    )
    line = profile(found, frame, "district", "probability", output=overall.output)
    assert {"north", "south", "west", None} == set(line.grid)
    assert sum(line.shares) == pytest.approx(1)


def test_an_amount_is_told_in_its_own_units() -> None:
    case = explain_cases(model("regression"), mixed(), "probability")[0]
    assert case.summary is not None
    assert case.summary.startswith(f"Home {case.case_id} is put at a price of {case.prediction:,.0f}, from a base of")
    assert "point" not in case.summary
    part = subset(case, model("regression").card.task, top=2)
    assert part.base_value + part.shown_total + part.rest_total == pytest.approx(part.prediction)
    assert check(part.sentence, part.facts).removed == ()


def test_neighbours_tell_the_class_or_the_amount() -> None:
    frame = rows()
    for kind, target in (("multiclass", "band"), ("regression", "price")):
        near = similar_rows(model(kind), frame.iloc[[3]].assign(home_id=9_999), 3)[0]
        assert near[0]["entity"] == frame["home_id"][3]
        assert near[0]["outcome"] == frame[target][3]
        assert near[0]["probability"] is not None


def test_counterfactuals_reach_a_class_and_an_amount() -> None:
    frame = rows(60, seed=5, first=1_000)
    several, amount = model("multiclass"), model("regression")
    cheap = softmax(several.margin(several.prepare(frame)))[:, 0]
    row = frame.iloc[[int(cheap.argmax())]]
    found = counterfactuals(several, row, ["size", "district", "lift"], silent, wanted=Wanted(output="dear"))
    assert found.found
    assert all(f.prediction >= 0.5 for f in found.found)
    low = frame.iloc[[int(amount.margin(amount.prepare(frame)).argmin())]]
    reached = counterfactuals(amount, low, ["size", "lift"], silent, wanted=Wanted(low=170_000))
    assert reached.found
    assert all(f.prediction >= 170_000 for f in reached.found)
    with pytest.raises(BadInput, match="bound"):
        counterfactuals(amount, low, ["size"], silent)


def test_what_if_of_an_amount_is_in_its_units_and_of_a_class_stays_with_the_class() -> None:
    row = rows(5, seed=5, first=1_000).iloc[[0]]
    amount = what_if(model("regression"), row, {"size": 140}, "probability")
    assert amount.after.prediction > amount.before.prediction + 20_000
    assert check(amount.sentence, amount.facts).removed == ()
    several = what_if(model("multiclass"), row, {"size": 140, "district": "south"}, "probability")
    assert several.before.output == several.after.output


def test_residuals_are_out_of_fold_and_a_threshold_needs_two_outcomes() -> None:
    found = model("regression")
    view = residuals(found)
    expected = rows()["price"].to_numpy() - found.margin(found.prepare(found.training))
    assert view.rmse == pytest.approx(np.sqrt((expected**2).mean()), rel=1e-6)
    assert view.mean.low <= view.mean.value <= view.mean.high
    assert sum(b.rows for b in view.bins) == view.rows == 300
    gaps = [abs(p.actual - p.predicted) for p in view.largest]
    assert gaps[0] == pytest.approx(np.abs(expected).max())
    with pytest.raises(BadInput, match="two sides"):
        threshold_view(found, None, 1, 1)
    with pytest.raises(BadInput, match="amount"):
        residuals(model("multiclass"))
