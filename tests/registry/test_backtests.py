"""Backtests: outcomes from a file and from a newer snapshot, figures equal to scikit-learn's, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import brier_score_loss, roc_auc_score

from lexsi_ds.application import Application
from lexsi_ds.errors import BadInput, NotFound
from lexsi_ds.models.card import ModelCard
from lexsi_ds.services.model_backtests import OutcomeFile
from lexsi_ds.services.model_scoring import FileScore
from lexsi_ds.services.model_training import TrainRequest
from lexsi_ds.services.outcome_reading import task_outcome
from tests.services.cards import TASK

from .conftest import write_loans


@pytest.fixture(scope="module")
def later(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pd.DataFrame]:
    """New loans as they are scored, and with the outcome that they come to have."""
    folder = tmp_path_factory.mktemp("later")
    frame = write_loans(folder / "later.csv", 400, seed=11, first=20_001, outcome=False)
    return folder / "later.csv", frame


@pytest.fixture(scope="module")
def scored(app: Application, model: ModelCard, later: tuple[Path, pd.DataFrame]) -> FileScore:
    return app.scoring.file(app.person(), model.id, later[0])


def _outcomes(folder: Path, frame: pd.DataFrame, name: str = "outcomes.csv") -> Path:
    frame.to_csv(folder / name, index=False)
    return folder / name


def test_figures_are_those_of_scikit_learn_on_the_rows_with_an_outcome(
    app: Application, model: ModelCard, scored: FileScore, later: tuple[Path, pd.DataFrame], tmp_path: Path
) -> None:
    known = later[1].iloc[:300]
    path = _outcomes(tmp_path, known[["loan_id", "bad", "granted"]])
    test = app.backtests.run(app.person(), model.id, file=OutcomeFile(path=path), predictions_id=scored.predictions_id)
    page, _ = app.models.page(app.person(), scored.predictions_id, limit=400)
    both = page.merge(known[["loan_id", "bad"]], on="loan_id")
    y, p = (both["bad"] == "yes").astype(int), both["probability"]
    held = test.held
    assert held.metrics is not None and (held.rows, held.positives) == (300, int(y.sum()))
    assert held.metrics.roc_auc.value == pytest.approx(roc_auc_score(y, p))  # pyright: ignore[reportAttributeAccessIssue]
    assert held.metrics.brier.value == pytest.approx(brier_score_loss(y, p))  # pyright: ignore[reportAttributeAccessIssue]
    assert held.observed == pytest.approx(y.mean()) and held.predicted == pytest.approx(p.mean())
    assert (test.predicted_rows, test.without_outcome, test.not_predicted, test.trained) == (400, 100, 0, False)
    assert held.flagged == int((p >= test.threshold).sum()) and held.hits == int(((p >= test.threshold) & (y == 1)).sum())
    assert sum(b.n for b in held.bins) == 300 and sum(period.rows for period in held.periods) == 300
    assert 2 <= len(held.periods) <= 12 and [x.period for x in held.periods] == sorted(x.period for x in held.periods)
    assert test.promised == model.chosen.main and "on the card" in test.sentence


def test_a_backtest_is_kept_with_the_model_and_listed_newest_first(
    app: Application, model: ModelCard, scored: FileScore, later: tuple[Path, pd.DataFrame], tmp_path: Path
) -> None:
    path = _outcomes(tmp_path, later[1][["loan_id", "bad"]])
    told, which = OutcomeFile(path=path), scored.predictions_id
    run = [app.backtests.run(app.person(), model.id, file=told, predictions_id=which) for _ in "ab"]
    assert list(app.backtests.list(app.person(), model.id))[:2] == [run[1], run[0]]
    assert run[0].source == "outcomes" and run[0].person_name == "You"


def test_a_model_that_is_worse_than_promised_is_said_to_be_so_and_noise_is_not(
    app: Application, model: ModelCard, scored: FileScore, later: tuple[Path, pd.DataFrame], tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    shuffled = later[1].assign(bad=rng.permutation(later[1]["bad"].to_numpy()))
    worse = app.backtests.run(app.person(), model.id, predictions_id=scored.predictions_id,
                              file=OutcomeFile(path=_outcomes(tmp_path, shuffled[["loan_id", "bad"]], "shuffled.csv")))
    assert "worse than promised by more than the noise" in worse.sentence
    same = app.backtests.run(app.person(), model.id, predictions_id=scored.predictions_id,
                             file=OutcomeFile(path=_outcomes(tmp_path, later[1][["loan_id", "bad"]], "true.csv")))
    assert "worse than promised" not in same.sentence


def test_outcomes_in_other_words_and_columns_are_read_as_told(
    app: Application, model: ModelCard, scored: FileScore, later: tuple[Path, pd.DataFrame], tmp_path: Path
) -> None:
    known = later[1].assign(result=np.where(later[1]["bad"] == "yes", "loss", "paid"))[["loan_id", "result"]]
    known.loc[:9, "result"] = None
    path = _outcomes(tmp_path, known, "words.csv")
    with pytest.raises(BadInput, match="does not say the outcome"):
        app.backtests.run(app.person(), model.id, file=OutcomeFile(path=path), predictions_id=scored.predictions_id)
    told = OutcomeFile(path=path, outcome="result", positive="loss")
    test = app.backtests.run(app.person(), model.id, file=told, predictions_id=scored.predictions_id)
    assert test.held.rows == 390 and test.held.positives == int((known["result"] == "loss").sum())


def test_outcomes_of_other_rows_or_too_few_are_said(
    app: Application, model: ModelCard, scored: FileScore, later: tuple[Path, pd.DataFrame], tmp_path: Path
) -> None:
    other = later[1].assign(loan_id=[f"X{i}" for i in range(400)])[["loan_id", "bad"]]
    with pytest.raises(BadInput, match="None of the predicted rows"):
        app.backtests.run(app.person(), model.id, predictions_id=scored.predictions_id,
                          file=OutcomeFile(path=_outcomes(tmp_path, other, "other.csv")))
    few = app.backtests.run(app.person(), model.id, predictions_id=scored.predictions_id,
                            file=OutcomeFile(path=_outcomes(tmp_path, later[1][["loan_id", "bad"]].head(4), "few.csv")))
    assert few.held.metrics is None and "not enough to judge" in few.sentence
    with pytest.raises(NotFound):
        app.backtests.list(app.person(), "mdl_00000000-0000-7000-8000-000000000000")


def test_a_newer_snapshot_in_which_predicted_rows_have_outcomes_is_a_backtest(app: Application, tmp_path: Path) -> None:
    frame = write_loans(tmp_path / "book.csv", 500, seed=2)
    frame.assign(bad=frame["bad"].where(frame.index < 300)).to_csv(tmp_path / "book.csv", index=False)
    handle = app.catalog.import_source(app.person(), "files", "Book", [tmp_path / "book.csv"])
    request = TrainRequest(target="bad", entity="loan_id", model_type="Logistic", time_column="granted")
    card = app.training.train(app.person(), handle, request)
    assert card.rows == 300
    rows = app.sql.frame(handle, card.task.predict_sql)
    assert len(rows) == 200
    ref = app.models.ref(app.person(), card.id)
    predictions = app.models.save_predictions(
        app.person(), card.id, app.engine.predict(ref, rows), None, handle.snapshot_id
    )
    with pytest.raises(BadInput, match="None of the predicted rows"):
        app.backtests.run(app.person(), card.id)
    frame.assign(bad=frame["bad"].where(frame.index < 420)).to_csv(tmp_path / "book.csv", index=False)
    app.catalog.reimport(app.person(), handle.source_id)
    assert app.registry.entry(app.person(), card.id).stale is not None
    test = app.backtests.run(app.person(), card.id)
    assert test.predictions_id == predictions and test.source == "Book, version 2"
    assert (test.held.rows, test.without_outcome, test.not_predicted, test.trained) == (120, 80, 300, False)
    page, _ = app.models.page(app.person(), predictions, limit=200)
    both = page.merge(frame.iloc[:420][["loan_id", "bad"]], on="loan_id")
    assert test.held.metrics is not None
    auc = roc_auc_score((both["bad"] == "yes").astype(int), both["probability"])
    assert test.held.metrics.roc_auc.value == pytest.approx(auc)  # pyright: ignore[reportAttributeAccessIssue]


def test_the_outcome_and_the_known_rows_of_a_task_are_read_from_its_query() -> None:
    sql = """WITH target_rows AS (SELECT loan.* FROM loan WHERE loan.status IN ('A', 'B'))
    SELECT target_rows.loan_id, CASE WHEN target_rows.status = 'B' THEN 1 ELSE 0 END AS bad, target_rows.amount FROM target_rows"""
    found = task_outcome(TASK.model_copy(update={"context_sql": sql}))
    assert found == ("CASE WHEN status = 'B' THEN 1 ELSE 0 END", "(status IN ('A', 'B'))", ("status",))
    nested = "SELECT loan_id, (SELECT max(x) FROM other) AS bad FROM loan"
    for other in (nested, "not sql at all (", "SELECT loan_id FROM loan"):
        assert task_outcome(TASK.model_copy(update={"context_sql": other})) is None
