"""A new file through an existing model from chat: fetch its rows, score, say what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexsi_ds.agent import events as ev
from lexsi_ds.agent.planners.scoring import ScoringAsked, scoring_asked
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.ids import new_id
from lexsi_ds.models.card import ModelCard
from lexsi_ds.services.model_training import TrainRequest

from .conftest import write_loans


@pytest.fixture(scope="module")
def book(app: Application, tmp_path_factory: pytest.TempPathFactory) -> tuple[DatasetHandle, ModelCard]:
    """A connected source with a model, and a second one that is called "New loans"."""
    folder = tmp_path_factory.mktemp("chat")
    write_loans(folder / "chat_book.csv", 200, seed=12)
    write_loans(folder / "new_loans.csv", 50, seed=13, first=60_000, outcome=False)
    handle = app.catalog.import_source(app.person(), "files", "Chat book", [folder / "chat_book.csv"])
    app.catalog.import_source(app.person(), "files", "New loans", [folder / "new_loans.csv"])
    request = TrainRequest(target="bad", entity="loan_id", model_type="Logistic")
    return handle, app.training.train(app.person(), handle, request)


def _ask(app: Application, handle: DatasetHandle, question: str, folder: Path) -> list[ev.Event]:
    ctx = app.answering.context(handle, new_id("run"), folder)
    return list(app.answering.loop(ctx).stream(question, ctx))


def test_score_a_source_with_a_model_takes_three_steps_and_answers(
    app: Application, book: tuple[DatasetHandle, ModelCard], tmp_path: Path
) -> None:
    handle, card = book
    events = _ask(app, handle, f"Score New loans with {card.id}", tmp_path)
    done = events[-1]
    assert isinstance(done, ev.Done) and done.state == "answered", done
    called = [e.name for e in events if isinstance(e, ev.ToolCalled)]
    assert called == ["read_rows_to_score", "predict", "summarize_result"]
    assert "50" in str(done.answer)
    latest = app.models.latest_predictions(app.person(), card.id)
    assert latest is not None and latest.rows == 50


def test_what_does_not_fit_is_said_and_nothing_is_scored(
    app: Application, book: tuple[DatasetHandle, ModelCard], tmp_path: Path
) -> None:
    handle, card = book
    (tmp_path / "fruit.csv").write_text("fruit,price\napple,3\npear,4\n", encoding="utf-8")
    app.catalog.import_source(app.person(), "files", "Fruit", [tmp_path / "fruit.csv"])
    done = _ask(app, handle, f"score fruit using model {card.id}", tmp_path)[-1]
    assert isinstance(done, ev.Done) and done.state == "cannot_answer" and "lacks 3 columns" in str(done.answer)


def test_only_known_names_are_heard(app: Application, book: tuple[DatasetHandle, ModelCard], tmp_path: Path) -> None:
    handle, card = book
    ctx = app.answering.context(handle, new_id("run"), tmp_path)
    source = app.scoring.source_id(app.person(), "new LOANS")
    assert source is not None
    for question in (f"Score New loans with {card.id}", f"please rate the file new loans using the model {card.id}."):
        assert scoring_asked(question, ctx) == ScoringAsked(card.id, source)
    assert scoring_asked(f"Score this data with {card.id}", ctx) == ScoringAsked(card.id, None)
    for question in ("Score New loans with XGBoost_v77", f"Score /etc/passwd with {card.id}", "How many loans are there with A?"):
        assert scoring_asked(question, ctx) is None
