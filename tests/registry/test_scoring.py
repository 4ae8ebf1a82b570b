"""A new file through a model that exists: matched, missing, new and retyped columns, unseen words, rows that trained it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import Ambiguous, BadInput, Denied, NotFound
from lexsi_ds.models.card import ModelCard
from lexsi_ds.services.access import Actor
from lexsi_ds.services.model_training import TrainRequest

from .conftest import ADA, write_loans


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    path = tmp_path / "fresh.csv"
    write_loans(path, 120, seed=5, first=9_001, outcome=False)
    return path


def _changed(path: Path, **changes) -> Path:
    frame = pd.read_csv(path)
    for name, value in changes.items():
        if value is None:
            frame = frame.drop(columns=name)
        else:
            frame[name] = value(frame) if callable(value) else value
    out = path.with_name(f"changed_{len(list(path.parent.iterdir()))}.csv")
    frame.to_csv(out, index=False)
    return out


def test_every_row_of_a_new_file_is_scored_ranked_and_kept(app: Application, model: ModelCard, fresh: Path) -> None:
    before = set((app.settings.home / "predictions").glob("prd_*.arrow"))
    scored = app.scoring.file(app.person(), model.id, fresh)
    assert (scored.rows, scored.ranked, scored.model_id, scored.name) == (120, 120, model.id, "fresh")
    assert all("rows to score and the 300 that trained" in note for note in scored.notes), "nothing is wrong with its columns"
    page, total = app.models.page(app.person(), scored.predictions_id, limit=200)
    assert total == 120 and set(page["loan_id"]) == set(pd.read_csv(fresh)["loan_id"]) and set(page["scored"]) == {"model"}
    assert page["probability"].is_monotonic_decreasing
    known = app.models.predictions(app.person(), scored.predictions_id)
    assert known.about is not None and known.about["table"] == "fresh" and known.about["kind"] == "file"
    assert set((app.settings.home / "predictions").glob("prd_*.arrow")) == before, "the engine's own file is not left behind"
    case = str(page["loan_id"].iloc[0])
    assert app.case_explanation(app.person(), model.id, case).prediction == pytest.approx(page["probability"].iloc[0])


def test_scores_equal_those_of_the_engine_on_the_same_rows(app: Application, model: ModelCard, fresh: Path) -> None:
    scored = app.scoring.file(app.person(), model.id, fresh)
    page, _ = app.models.page(app.person(), scored.predictions_id, sort="loan_id", limit=200)
    ref = app.models.ref(app.person(), model.id)
    direct = pd.read_csv(fresh)
    predicted = app.engine.predict(ref, direct, out=fresh.with_suffix(".arrow"))
    from lexsi_ds.models.frames import read_frame

    its = read_frame(predicted.path).sort_values("loan_id")
    np.testing.assert_allclose(page["probability"], its["probability"], atol=1e-12)


def test_columns_are_matched_whatever_case_and_punctuation_and_it_is_said(
    app: Application, model: ModelCard, fresh: Path
) -> None:
    plain = app.scoring.file(app.person(), model.id, fresh)
    spelled = fresh.with_name("spelled.csv")
    pd.read_csv(fresh).rename(columns={"balance": "Balance ", "loan_id": "Loan ID"}).assign(branch="x").to_csv(spelled, index=False)
    scored = app.scoring.file(app.person(), model.id, spelled)
    assert scored.columns.renamed["loan_id"] == "Loan ID" and scored.columns.new == ("branch",)
    assert any("Loan ID for loan_id" in note for note in scored.notes) and any("branch" in note for note in scored.notes)
    pages = [app.models.page(app.person(), s.predictions_id, limit=200)[0] for s in (plain, scored)]
    assert pages[0]["probability"].tolist() == pages[1]["probability"].tolist()


def test_a_missing_column_is_refused_by_name_or_counts_as_missing_when_that_is_chosen(
    app: Application, model: ModelCard, fresh: Path
) -> None:
    path = _changed(fresh, balance=None)
    with pytest.raises(BadInput, match=r"lacks 1 column of the \d+ .*: balance"):
        app.scoring.file(app.person(), model.id, path)
    scored = app.scoring.file(app.person(), model.id, path, fill_missing=True)
    assert scored.rows == 120 and scored.columns.missing == ("balance",) and "balance" in scored.notes[0]


def test_values_of_another_kind_are_refused_with_examples(app: Application, model: ModelCard, fresh: Path) -> None:
    path = _changed(fresh, duration=lambda f: f["duration"].astype(str).where(f.index > 1, "about a year"))
    with pytest.raises(BadInput, match=r"2 of 120 values of duration are not a number .'about a year'"):
        app.scoring.file(app.person(), model.id, path)
    scored = app.scoring.file(app.person(), model.id, path, fill_missing=True)
    assert scored.columns.unreadable == {"duration": 2} and any("2 values" in note for note in scored.notes)


def test_words_never_seen_and_rows_without_or_with_a_repeated_id_are_said(
    app: Application, model: ModelCard, fresh: Path
) -> None:
    path = _changed(fresh, frequency=lambda f: f["frequency"].where(f.index > 2, "daily"),
                    loan_id=lambda f: f["loan_id"].where(f.index > 1, "L99999"))
    notes = " ".join(app.scoring.file(app.person(), model.id, path).notes)
    assert "3 rows have a value of frequency that training never saw" in notes and "1 rows repeat an id" in notes
    numbered = app.scoring.file(app.person(), model.id, _changed(fresh, loan_id=None))
    assert numbered.columns.numbered and "rows were numbered" in " ".join(numbered.notes)
    assert app.models.case(app.person(), numbered.predictions_id, "row 120")["loan_id"] == "row 120"


def test_rows_that_trained_the_model_are_scored_by_models_that_did_not_see_them(
    app: Application, model: ModelCard, loans: Path
) -> None:
    scored = app.scoring.file(app.person(), model.id, loans)
    assert "300 of 300 rows trained the model" in " ".join(scored.notes)
    page, _ = app.models.page(app.person(), scored.predictions_id, limit=300)
    assert set(page["scored"]) == {"out_of_fold"}


def test_a_file_that_has_nothing_of_the_model_or_no_rows_is_refused(app: Application, model: ModelCard, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("fruit,price\napple,3\n", encoding="utf-8")
    with pytest.raises(BadInput, match="lacks"):
        app.scoring.file(app.person(), model.id, tmp_path / "other.csv", fill_missing=True)
    (tmp_path / "none.csv").write_text("loan_id,balance,duration,frequency\n", encoding="utf-8")
    with pytest.raises(BadInput):
        app.scoring.file(app.person(), model.id, tmp_path / "none.csv")
    with pytest.raises(NotFound, match="no such model"):
        app.scoring.file(app.person(), "XGBoost_v99", tmp_path / "other.csv")
    with pytest.raises(NotFound):
        app.scoring.file(ADA, model.id, tmp_path / "other.csv")
    with pytest.raises(Denied):
        app.scoring.file(Actor("local", "You", frozenset({"models:read"})), model.id, tmp_path / "other.csv")


def test_a_name_that_models_of_two_sources_have_is_asked_back(app: Application, model: ModelCard, tmp_path: Path) -> None:
    write_loans(tmp_path / "twin.csv", 100, seed=6)
    request = TrainRequest(target="bad", entity="loan_id", model_type="Logistic")
    twin = app.training.train(app.person(), app.catalog.throwaway(tmp_path / "twin.csv"), request)
    assert twin.name == "Logistic_v1"
    with pytest.raises(Ambiguous, match=f"models called Logistic_v1: .*{twin.id} of twin"):
        app.scoring.file(app.person(), "Logistic_v1", tmp_path / "twin.csv")


def test_one_row_alone_is_scored_as_it_is_among_others(app: Application, model: ModelCard, fresh: Path, tmp_path: Path) -> None:
    whole = app.scoring.file(app.person(), model.id, fresh)
    row = pd.read_csv(fresh).iloc[[40]]
    row.to_csv(tmp_path / "one.csv", index=False)
    alone = app.scoring.file(app.person(), model.id, tmp_path / "one.csv")
    case = str(row["loan_id"].iloc[0])
    found = [app.models.case(app.person(), s.predictions_id, case)["probability"] for s in (whole, alone)]
    assert alone.rows == 1 and found[0] == pytest.approx(found[1], abs=1e-12)


# -- training from a table -----------------------------------------------------------------------------------------------


def test_a_task_from_a_table_says_what_it_takes_and_leaves_out(app: Application, model: ModelCard) -> None:
    task = model.task
    assert (task.kind, task.target_column, task.entity_column, task.time_column) == ("binary", "y_bad", "loan_id", "granted")
    assert task.positive_meaning == "bad is yes" and [f.name for f in task.features] == ["balance", "duration", "frequency"]
    assert {out.name: out.reason for out in task.left_out} == {"sex": "protected", "granted": "date"}
    assert app.registry.history(app.person(), model.id)[0].via == "test"


def test_the_kind_of_a_target_follows_from_its_values(app: Application, tmp_path: Path) -> None:
    frame = write_loans(tmp_path / "x.csv", 60)
    frame["grade"] = np.resize(["A", "B", "C"], 60)
    frame["price"] = np.arange(60) * 1.5
    frame["flag"] = np.resize([0, 0, 1], 60)
    frame["word"] = [f"w{i}" for i in range(60)]
    frame["odd"] = np.resize(["it's", "x", "x"], 60)
    frame.to_csv(tmp_path / "kinds.csv", index=False)
    handle = app.catalog.throwaway(tmp_path / "kinds.csv")

    def task(target: str, **more):
        return app.training.task(app.person(), handle, TrainRequest(target=target, **more))

    assert (task("grade").kind, task("grade").classes) == ("multiclass", ("A", "B", "C"))
    assert task("price").kind == "regression" and task("flag").positive_meaning == "flag is 1"
    assert task("odd").positive_meaning == "odd is it's, the rarer of the two"
    assert task("grade", positive="b").positive_meaning == "grade is B"
    rows = app.sql.frame(handle, task("odd").context_sql)
    assert len(rows) == 60 and rows["y_odd"].sum() == 20
    for bad in ({"target": "nope"}, {"target": "granted"}, {"target": "bad", "positive": "maybe"}, {"target": "bad", "table": "t"},
                {"target": "grade", "task_type": "regression"}, {"target": "bad", "exclude": ("nope",)}):
        with pytest.raises(BadInput):
            app.training.task(app.person(), handle, TrainRequest(**bad))


def test_rows_without_an_id_keep_one_number_each_whether_they_train_or_are_scored(app: Application, tmp_path: Path) -> None:
    frame = write_loans(tmp_path / "x.csv", 80).drop(columns="loan_id")
    frame["balance"] = frame["balance"].round(0)
    frame.loc[5, "balance"] = frame.loc[4, "balance"]  # no column tells the rows apart
    frame.loc[frame.index % 3 == 0, "bad"] = None
    frame.to_csv(tmp_path / "nameless.csv", index=False)
    handle = app.catalog.throwaway(tmp_path / "nameless.csv")
    task = app.training.task(app.person(), handle, TrainRequest(target="bad", exclude=("granted",)))
    known, unknown = (app.sql.frame(handle, sql).set_index(task.entity_column) for sql in (task.context_sql, task.predict_sql))
    assert len(known) == 53 and len(unknown) == 27 and not set(known.index) & set(unknown.index)
    for number, balance in unknown["balance"].items():
        assert frame.loc[int(str(number)) - 1, "balance"] == balance and pd.isna(frame.loc[int(str(number)) - 1, "bad"])
