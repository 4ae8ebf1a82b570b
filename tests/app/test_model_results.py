"""Model results on the real application: every kind of model, decisions, training, new rows, the registry, fairness."""

from __future__ import annotations

import csv
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from components import session
from lexsi_ds.application import Application
from lexsi_ds.models.card import ModelCard
from lexsi_ds.services.model_training import TrainRequest
from lexsi_ds.settings import Settings
from tests.app.conftest import settled, words

pytestmark = pytest.mark.xdist_group("models-page")
ROWS = 300
HEAD = ["client", "tenure", "charge", "contract", "gender", "spent", "churn"]


def write_clients(path: Path, rows: int = ROWS, seed: int = 7, first: int = 0) -> Path:
    """Clients who leave more often when they pay much; what they spent follows charge and tenure."""
    rng = np.random.default_rng(seed)
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(HEAD)
        for i in range(rows):
            tenure, charge = int(rng.integers(1, 72)), round(float(rng.uniform(20, 110)), 2)
            contract = "month" if charge > 75 else "year" if tenure > 30 else "two"
            contract = str(rng.choice(["month", "year", "two"])) if rng.random() < 0.2 else contract
            churn = "Yes" if rng.random() < 0.05 + 0.6 * (charge > 70) else "No"
            spent = round(tenure * charge * float(rng.uniform(0.8, 1.2)), 2)
            out.writerow([f"K{first + i:04d}", tenure, charge, contract, rng.choice(["f", "m"]), spent, churn])
    return path


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    home = tmp_path_factory.mktemp("models-page") / "home"
    running = Application(Settings(home=home, sql_workers=1))
    actor = running.person()
    handle = running.catalog.import_source(actor, "files", "Clients", [write_clients(home.parent / "clients.csv")])
    running.set_active_source(actor, handle.source_id)
    running.catalog.mark_column(actor, handle.tables[0].dataset_id, "gender", protected=True)
    yield running
    running.close()


def trained(app: Application, **asked: Any) -> ModelCard:
    actor = app.person()
    return app.training.train(actor, app.catalog.handle(actor, app.active_source(actor) or ""), TrainRequest(**asked))


@pytest.fixture(scope="module")
def churn(app: Application) -> ModelCard:
    return trained(app, target="churn", model_type="Logistic", exclude=("spent",))


@pytest.fixture(scope="module")
def spent(app: Application) -> ModelCard:
    return trained(app, target="spent", model_type="Linear", exclude=("churn",))


@pytest.fixture(scope="module")
def contract(app: Application) -> ModelCard:
    return trained(app, target="contract", model_type="Logistic", exclude=("spent",))


def tab(at: Any, name: str) -> Any:
    at.session_state[session.MODEL_TAB] = name
    return settled(at.run(timeout=120))


def wait_for(app: Application, at: Any, name: str, kind: str) -> Any:
    """The page, once the work that it started has ended."""
    task = app.background.get(at.session_state["lexsi.held"].model_tasks[name])
    until = time.monotonic() + 120
    while task is not None and task.state == "running":
        assert time.monotonic() < until, "the work did not end"
        time.sleep(0.05)
    assert task is not None and task.kind == kind
    return settled(at.run(timeout=120))


def test_an_empty_page_offers_a_form_that_trains(app: Application, open_page) -> None:
    at = open_page(app, "models")
    settled(at.button(key="models-train").click().run())
    assert "Choose the column whose value is to be predicted" in words(at)
    target = next(s for s in at.selectbox if s.label == "What to predict")
    settled(target.set_value("churn").run(timeout=60))
    assert "Yes or no: churn is Yes" in words(at).replace("*", "")
    kind = next(s for s in at.selectbox if s.label == "Model type")
    settled(kind.set_value("Logistic").run(timeout=60))
    settled(at.button(key="train-go").click().run(timeout=60))
    at = wait_for(app, at, "train", "train")
    assert at.metric[0].label == "ROC AUC"
    assert len(app.models.list(app.person())) == 1
    app.delete_model(app.person(), app.models.list(app.person())[0].id)


def test_the_form_says_why_a_target_cannot_be_predicted(app: Application, open_page) -> None:
    at = open_page(app, "models")
    settled(at.button(key="models-train").click().run())
    settled(next(s for s in at.selectbox if s.label == "What to predict").set_value("client").run(timeout=60))
    assert "300 different values" in words(at)
    assert not [b for b in at.button if b.key == "train-go"]


def test_a_class_shows_its_figures_and_curves(app: Application, open_page, churn: ModelCard) -> None:
    at = open_page(app, "models", model=churn.id)
    assert [m.label for m in at.metric] == ["ROC AUC", "Gini", "KS", "Average precision", "Brier score", "Log loss"]
    assert "Draft" in words(at)
    assert len(at.get("plotly_chart")) == 4


def test_several_classes_show_their_confusion(app: Application, open_page, contract: ModelCard) -> None:
    at = open_page(app, "models", model=contract.id)
    assert [m.label for m in at.metric][:4] == ["ROC AUC", "Accuracy", "Balanced accuracy", "Macro F1"]
    (chart,) = at.get("plotly_chart")
    assert all(name in chart.proto.spec for name in ("month", "year", "two"))
    assert at.dataframe[0].value["Rows"].sum() == ROWS


def test_an_amount_shows_residuals_and_its_intervals(app: Application, open_page, spent: ModelCard) -> None:
    at = open_page(app, "models", model=spent.id)
    assert [m.label for m in at.metric] == ["R2", "RMSE", "Mean error", "Median error"]
    assert len(at.get("plotly_chart")) == 2
    assert "Intervals of predictions" in words(at)


def test_a_threshold_by_cost_is_shown_and_saved_with_a_name(app: Application, open_page, churn: ModelCard) -> None:
    at = tab(open_page(app, "models", model=churn.id), "Decision")
    at.session_state[f"decision-{churn.id}-miss"] = 20.0
    settled(at.run(timeout=60))
    labels = [m.label for m in at.metric][6:]
    assert labels == ["Threshold", "Flagged", "Precision", "Recall", "Errors cost"]
    with_outcome = at.dataframe[0].value.iloc[0]
    assert with_outcome["Rows"] == churn.positives
    settled(at.select_slider(key=f"decision-{churn.id}-ratio").set_value(30.0).run(timeout=60))
    assert at.number_input(key=f"decision-{churn.id}-miss").value == 30.0
    assert "flagging nobody would cost " + f"{30 * churn.positives:,}" in words(at)
    settled(at.select_slider(key=f"decision-{churn.id}-ratio").set_value(20.0).run(timeout=60))
    settled(at.button(key=f"decision-{churn.id}-save").click().run(timeout=60))
    saved = app.registry.entry(app.person(), churn.id).threshold
    assert saved is not None and saved.cost_false_negative == 20.0
    assert f"by cost (a false alarm 1, a miss 20), by {app.person().name}" in words(at)


def test_a_share_to_flag_is_kept_to(app: Application, open_page, churn: ModelCard) -> None:
    at = tab(open_page(app, "models", model=churn.id), "Decision")
    at.session_state[f"decision-{churn.id}-way"] = "rate"
    at.session_state[f"decision-{churn.id}-rate"] = 10.0
    settled(at.run(timeout=60))
    flagged = next(m for m in at.metric if m.label == "Flagged")
    assert 5.0 < float(flagged.value.rstrip("%")) <= 10.0


def test_a_file_is_scored_and_measured_when_outcomes_arrive(
    app: Application, open_page, churn: ModelCard, tmp_path: Path
) -> None:
    actor, later = app.person(), write_clients(tmp_path / "later.csv", 120, seed=9, first=5000)
    at = tab(open_page(app, "models", model=churn.id), "New data")
    at.session_state[f"score-{churn.id}-path"] = str(tmp_path / "nowhere.csv")
    settled(at.run())
    settled(at.button(key=f"score-{churn.id}-go").click().run())
    assert "There is no such file." in words(at)
    at.text_input(key=f"score-{churn.id}-path").set_value(str(later))
    settled(at.run())
    settled(at.button(key=f"score-{churn.id}-go").click().run(timeout=60))
    at = wait_for(app, at, f"score-{churn.id}", "score")
    newest = app.models.latest_predictions(actor, churn.id)
    assert newest is not None and newest.rows == 120
    assert "later: 120 rows" in words(at)
    assert later.is_file()
    at.session_state[f"backtest-{churn.id}-way"] = "file"
    settled(at.run())
    at.text_input(key=f"backtest-{churn.id}-path").set_value(str(later))
    settled(at.run())
    settled(at.button(key=f"backtest-{churn.id}-go").click().run(timeout=60))
    at = wait_for(app, at, f"backtest-{churn.id}", "backtest")
    said = words(at)
    assert "Promised and held" in said and "120 rows with an outcome" in said
    settled(at.button(key=f"scored-{newest.id}-show").click().run(timeout=60))
    assert "Rows 1 to 50 of 120" in words(at)


def test_predictions_of_an_amount_have_intervals(app: Application, open_page, spent: ModelCard, tmp_path: Path) -> None:
    app.scoring.file(app.person(), spent.id, write_clients(tmp_path / "more.csv", 60, seed=11, first=7000))
    at = tab(open_page(app, "models", model=spent.id), "Predictions")
    shown = at.dataframe[0].value
    assert {"Prediction", "Interval"} <= set(shown.columns) and "Probability" not in shown.columns
    assert all(" to " in text for text in shown["Interval"])


def test_the_rows_of_the_models_own_data_are_scored_by_models_that_did_not_see_them(
    app: Application, open_page, contract: ModelCard
) -> None:
    at = tab(open_page(app, "models", model=contract.id), "Predictions")
    settled(at.button(key=f"score-{contract.id}-own").click().run(timeout=60))
    wait_for(app, at, f"score-{contract.id}", "score")
    at = tab(at, "Predictions")
    shown = at.dataframe[0].value
    assert f"Rows 1 to 50 of {ROWS}" in words(at)
    assert set(shown["Says"]) <= {"month", "year", "two"} and set(shown["Scored"]) == {"out of fold"}


def test_own_rows_without_an_id_are_not_scored_as_if_they_were_new(app: Application, open_page, tmp_path: Path) -> None:
    actor, path = app.person(), write_clients(tmp_path / "nameless.csv")
    rows = [line.split(",") for line in path.read_text().splitlines()]
    path.write_text("\n".join(",".join([r[1], r[2], r[3], r[6]]) for r in rows))
    handle = app.catalog.import_source(actor, "files", "Nameless", [path])
    card = app.training.train(actor, handle, TrainRequest(target="churn", model_type="Logistic"))
    at = tab(open_page(app, "models", model=card.id), "Predictions")
    assert "cannot be told from new ones" in words(at)
    assert not [b for b in at.button if b.key == f"score-{card.id}-own"]


def test_a_file_without_a_column_is_refused_by_name(app: Application, open_page, churn: ModelCard, tmp_path: Path) -> None:
    lacking = tmp_path / "lacking.csv"
    lacking.write_text("client,tenure,contract\nZ1,5,month\n")
    at = tab(open_page(app, "models", model=churn.id), "New data")
    at.text_input(key=f"score-{churn.id}-path").set_value(str(lacking))
    settled(at.run())
    settled(at.button(key=f"score-{churn.id}-go").click().run(timeout=60))
    at = wait_for(app, at, f"score-{churn.id}", "score")
    assert "did not work" in words(at) and "charge" in words(at)


def test_a_model_is_described_validated_and_approved(app: Application, open_page, churn: ModelCard) -> None:
    actor = app.person()
    at = tab(open_page(app, "models", model=churn.id), "Model card")
    settled(at.button(key=f"registry-{churn.id}-validated").click().run())
    assert "It lacks an intended use" in words(at)
    seen = app.registry.entry(actor, churn.id).row_version
    at.text_input(key=f"registry-{churn.id}-owner-{seen}").set_value("Risk desk")
    at.text_area(key=f"registry-{churn.id}-use-{seen}").set_value("Whom to call")
    at.text_area(key=f"registry-{churn.id}-limits-{seen}").set_value("No refusals")
    settled(next(b for b in at.button if b.label == "Save description").click().run())
    for state in ("validated", "approved"):
        settled(at.button(key=f"registry-{churn.id}-{state}").click().run())
        assert app.registry.entry(actor, churn.id).state == state
    assert "Approved" in words(at)
    history = next(d.value for d in at.dataframe if "What" in d.value.columns)
    assert {"approved", "validated", "described"} <= set(history["What"])


def test_two_models_are_compared_on_their_rows(app: Application, open_page, churn: ModelCard) -> None:
    other = trained(app, target="churn", model_type="LightGBM", exclude=("spent",))
    at = tab(open_page(app, "models", model=churn.id), "Model card")
    settled(at.selectbox(key=f"compare-{churn.id}").set_value(other.id).run(timeout=120))
    said = words(at)
    assert f"paired on {ROWS} rows" in said
    figures = next(d.value for d in at.dataframe if churn.name in d.value.columns and "Figure" in d.value.columns)
    assert "ROC AUC" in set(figures["Figure"])


def test_a_report_is_made_in_the_background_and_can_be_downloaded(app: Application, open_page, churn: ModelCard) -> None:
    at = tab(open_page(app, "models", model=churn.id), "Model card")
    settled(at.button(key=f"registry-{churn.id}-report-make").click().run())
    at = wait_for(app, at, f"report-{churn.id}", "report")
    made = Path(at.session_state["lexsi.held"].model_files[f"report-{churn.id}"])
    assert b"<html" in made.read_bytes()[:300].lower()
    assert "Download report" in [b.proto.label for b in at.get("download_button")]


def test_groups_of_a_protected_column_stand_beside_each_other(app: Application, open_page, churn: ModelCard) -> None:
    at = tab(open_page(app, "models", model=churn.id), "Fairness")
    groups = next(d.value for d in at.dataframe if "Group" in d.value.columns)
    assert {"f", "m"} == set(groups["Group"])
    assert "Largest minus smallest group: share flagged" in words(at)
    assert groups["Rows"].sum() == ROWS
    assert "Where it errs more" in words(at)


def test_a_case_is_decided_otherwise_with_a_reason(app: Application, open_page, churn: ModelCard, tmp_path: Path) -> None:
    actor = app.person()
    app.scoring.file(actor, churn.id, write_clients(tmp_path / "cases.csv", 40, seed=3, first=9000))
    at = tab(open_page(app, "models", model=churn.id), "Predictions")
    case = at.dataframe[0].value.iloc[0, 1]
    settled(at.selectbox(key=f"override-{churn.id}-case").set_value(case).run())
    at.text_input(key=f"override-{churn.id}-decision").set_value("kept")
    settled(at.button(key=f"override-{churn.id}-save").click().run())
    assert "A decision needs a reason." in words(at)
    at.text_input(key=f"override-{churn.id}-reason").set_value("spoke with them")
    settled(at.button(key=f"override-{churn.id}-save").click().run())
    standing = app.overrides.current(actor, churn.id, case)
    assert standing is not None and standing.decision == "kept"
    assert at.dataframe[0].value.iloc[0]["Decided"] == "kept: spoke with them"
