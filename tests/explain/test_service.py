"""Explanations as the pages take them: real workers, kept on disk under their model, rows and arguments."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import BadInput, NotFound, Stopped
from lexsi_ds.explain.results import Cohort, Condition
from lexsi_ds.explain.tree_shap import woodelf_values
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.models.card import ModelCard
from lexsi_ds.services.access import LOCAL
from lexsi_ds.settings import Settings
from tests.models.frames_for_tests import loan_task, loans


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory):
    """A registered model of 234 loans that has scored 300 others."""
    app = Application(Settings(home=tmp_path_factory.mktemp("home")))
    frame = loans()
    ref, card = app.engine.train(frame, loan_task(frame), model_type="XGBoost")
    kept = app.models.register(LOCAL, ref, card, None)
    app.explanations.keep_rows(LOCAL, kept.id, _new())
    yield app, kept
    app.close()


def _new() -> pd.DataFrame:
    frame = loans(300, seed=5, first=1_000)
    frame.loc[0, "frequency"] = "=cmd()"
    return frame


def _computed(app: Application, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the views that workers are asked for from now on."""
    asked: list[str] = []
    real = app.pool.run

    def run(lane: Any, do: str, args: dict[str, Any], **more: Any) -> dict[str, Any]:
        asked.append(args.get("view", do))
        return real(lane, do, args, **more)

    monkeypatch.setattr(app.pool, "run", run)
    return asked


def test_a_view_is_computed_once_for_its_rows_and_arguments(trained, monkeypatch: pytest.MonkeyPatch) -> None:
    app, card = trained
    asked = _computed(app, monkeypatch)
    views = app.explanations.views(LOCAL, card.id)
    first = views.importance()
    assert views.importance() == first
    assert asked == ["importance"]
    cohort = Cohort(conditions=(Condition(column="balance_min", operator=">", value=2_000),))
    part = views.importance(cohort=cohort)
    assert asked == ["importance", "importance"]
    assert part.basis.of_rows == int((_new()["balance_min"] > 2_000).sum())
    app.explanations.keep_rows(LOCAL, card.id, _new().head(250))
    assert app.explanations.views(LOCAL, card.id).importance().basis.of_rows == 250
    app.explanations.keep_rows(LOCAL, card.id, _new())


def test_every_view_comes_back_through_a_worker(trained) -> None:
    app, card = trained
    views = app.explanations.views(LOCAL, card.id)
    assert views.interactions().pairs
    assert views.dependence("balance_min").partner
    assert "weekly" in views.profile("frequency").grid
    assert len(views.ranges().features) == 30
    assert views.what_if("1005", {"balance_min": 9_000}).changes[0].after == 9_000
    assert views.threshold(1, 5).chosen.scored_rows == 300
    assert views.slices().sentence
    assert views.fairness(["frequency"]).columns[0].groups
    with pytest.raises(BadInput, match="amount"):
        views.residuals()


def test_counterfactuals_of_a_case_are_kept(trained, monkeypatch: pytest.MonkeyPatch) -> None:
    app, card = trained
    views = app.explanations.views(LOCAL, card.id)
    riskiest = max(app.explanations.cases(LOCAL, card.id, [str(i) for i in range(1_000, 1_300)]), key=lambda t: t.case.prediction)
    asked = _computed(app, monkeypatch)
    found = views.counterfactuals(riskiest.case.case_id, ["balance_min", "x01"])
    assert found.found
    assert views.counterfactuals(riskiest.case.case_id, ["balance_min", "x01"]) == found
    assert asked == ["counterfactuals"]


def test_contributions_as_csv_hold_every_row_add_up_and_start_no_formula(trained) -> None:
    app, card = trained
    app.explanations.keep_rows(LOCAL, card.id, _new().assign(loan_id=lambda f: "=" + f["loan_id"].astype(str)))
    try:
        text = app.explanations.views(LOCAL, card.id).contributions_csv()
    finally:
        app.explanations.keep_rows(LOCAL, card.id, _new())
    path = app.settings.home / "c.csv"
    path.write_bytes(text)
    table = duckdb.sql(f"SELECT * FROM read_csv('{path}', header = true)").df()
    assert len(table) == 300
    assert table["loan_id"].str.startswith("'=").all()
    parts = [c for c in table.columns if c.endswith("(contribution)")]
    assert len(parts) == 30
    assert (table["base value"] + table[parts].sum(axis=1) - table["prediction"]).abs().max() < 1e-4


def test_a_case_is_found_among_scored_and_training_rows_and_nowhere_else(trained) -> None:
    app, card = trained
    new = app.explanations.case(LOCAL, card.id, "1005").case
    old = app.explanations.case(LOCAL, card.id, "7").case
    assert (new.scored, old.scored) == ("model", "out_of_fold")
    with pytest.raises(NotFound):
        app.explanations.case(LOCAL, card.id, "99999")
    with pytest.raises(NotFound):
        app.explanations.case(LOCAL, card.id, "x'); DROP TABLE loans; --")


def test_several_cases_are_explained_in_one_go_and_are_the_same_alone(trained, monkeypatch: pytest.MonkeyPatch) -> None:
    app, card = trained
    asked = _computed(app, monkeypatch)
    many = app.explanations.cases(LOCAL, card.id, ["1101", "1102", "9"], "log-odds")
    assert asked == ["cases"]
    assert app.explanations.case(LOCAL, card.id, "1102", "log-odds") == many[1]
    assert asked == ["cases"]


def test_a_subset_of_drivers_keeps_the_headline(trained) -> None:
    app, card = trained
    case = app.explanations.case(LOCAL, card.id, "1005").case
    part = app.explanations.subset(LOCAL, card.id, "1005", ["x01", "balance_min"])
    assert part.prediction == case.prediction
    assert part.base_value + part.shown_total + part.rest_total == pytest.approx(case.prediction)
    assert {d.feature for d in part.shown} == {"x01", "balance_min"}
    assert part.rest_count == 28


def test_a_view_can_be_stopped(trained) -> None:
    app, card = trained
    cancel = Cancel()
    cancel.set()
    with pytest.raises(Stopped):
        app.explanations.views(LOCAL, card.id).importance(scale="log-odds", cancel=cancel)
    told: list[dict[str, Any]] = []
    app.explanations.views(LOCAL, card.id).importance(scale="log-odds", tell=told.append)
    assert any(m.get("total") == 30 for m in told)


def test_deleting_a_model_deletes_its_explanations(tmp_path: Path) -> None:
    app = Application(Settings(home=tmp_path))
    try:
        frame = loans()
        ref, card = app.engine.train(frame, loan_task(frame), model_type="Logistic")
        kept: ModelCard = app.models.register(LOCAL, ref, card, None)
        app.explanations.overall(LOCAL, kept.id)
        assert list((tmp_path / "explanations" / kept.id).glob("*.json"))
        app.delete_model(LOCAL, kept.id)
        assert not (tmp_path / "explanations" / kept.id).exists()
    finally:
        app.close()


def test_woodelf_prints_nothing(trained, capfd: pytest.CaptureFixture[str]) -> None:
    from lexsi_ds.explain.tree_shap import base_of, booster_of
    from lexsi_ds.models.bundle import SavedModel

    app, card = trained
    model = SavedModel(app.models.ref(LOCAL, card.id).folder)
    booster, x = booster_of(model.final), model.prepare(_new()).x
    assert woodelf_values(booster, x, model.final.margin(x), base_of(booster, x.shape[1])) is not None
    assert capfd.readouterr().out == ""


def test_an_explanation_does_not_wait_for_a_training(trained) -> None:
    app, card = trained
    frame, under_way, go_on = loans(), threading.Event(), threading.Event()

    def hold(_: dict[str, Any]) -> None:
        under_way.set()
        go_on.wait(120)

    training = threading.Thread(target=lambda: app.engine.train(frame, loan_task(frame), model_type="Logistic", tell=hold))
    training.start()
    found: list[Any] = []
    asking = threading.Thread(
        target=lambda: found.append(app.explanations.views(LOCAL, card.id).dependence("balance_min", scale="log-odds"))
    )
    try:
        assert under_way.wait(60)
        asking.start()
        asking.join(60)
        assert found and training.is_alive(), "the explanation came while the worker of trainings was held"
    finally:
        go_on.set()
        training.join(60)
        asking.join(60)
