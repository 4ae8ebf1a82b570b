"""The app with the Lexsi engine: a question to an answer, the pages, a job of another engine, connectors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import BadInput
from lexsi_ds.models.choice import ChosenEngine
from lexsi_ds.services.access import LOCAL
from lexsi_ds.settings import Settings
from tests.app.conftest import PAGES, settled, words
from tests.lexsi.conftest import TOKEN, settings_for
from tests.lexsi.fake_platform import FakePlatform
from tests.lexsi.frames import loan_task, loans

QUESTION = (
    "For loans currently being repaid, which are likely to default? Show me the top 10 highest-risk loans and tell me why."
)


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Application, FakePlatform, list[dict[str, Any]], str]]:
    """An application whose one question was answered with a model of the platform."""
    home = tmp_path_factory.mktemp("home")
    with FakePlatform(TOKEN) as fake:
        app = Application(settings_for(home, fake.url))
        handle = app.catalog.ensure_demo(LOCAL)
        conversation = app.chats.new(LOCAL, handle.source_id)
        run = app.chats.ask(LOCAL, conversation, QUESTION, handle.source_id)
        events: list[dict[str, Any]] = []
        while not events or events[-1]["type"] != "done":
            events += app.chats.events(LOCAL, run, events[-1]["seq"] if events else 0, 5.0)
        yield app, fake, events, conversation
        app.close()


def test_a_question_is_answered_with_a_model_of_the_platform(answered) -> None:
    app, fake, events, _ = answered
    assert events[-1]["state"] == "answered", events[-1]
    answer = events[-1]["answer"]
    assert "XGBoost of the Lexsi platform" in answer and "10 of 403 ranked loans" in answer
    assert "nan" not in answer.lower().split() and "80% band" not in answer
    (card,) = app.models.list(LOCAL)
    assert card.engine == "lexsi" and card.chosen.parameters["engine"] == "Lexsi platform"
    assert any("Sent to the Lexsi platform" in note for note in events[-1]["caveats"])
    columns = {c for _, table in fake.uploads() for c in table.columns}
    assert columns and columns.isdisjoint({"loan_id", "account_id", "client_id", "birth_number", "gender", "status"})
    assert all(table["row_key"].str.match(r"r[0-9a-f]{10}n\d+$").all() for _, table in fake.uploads())


@pytest.mark.parametrize("page", ["models", "explorer"])
def test_the_pages_show_a_model_of_the_platform(answered, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    from streamlit.testing.v1 import AppTest

    app = answered[0]
    monkeypatch.setattr("lexsi_ds.application.get_application", lambda: app)
    monkeypatch.setattr("components.explain_work.PATIENCE", 60.0)  # wait for views that workers compute
    at = AppTest.from_file(str(Path(__file__).resolve().parents[2] / "app.py"), default_timeout=120)
    at.switch_page(PAGES[page])
    shown = words(settled(at.run()))
    assert "Lexsi platform" in shown
    assert "unknown to unknown" not in shown and "nan" not in shown.lower().split()


def test_the_chat_page_shows_the_answer(answered, monkeypatch: pytest.MonkeyPatch) -> None:
    from streamlit.testing.v1 import AppTest

    app, _, _, conversation = answered
    monkeypatch.setattr("lexsi_ds.application.get_application", lambda: app)
    at = AppTest.from_file(str(Path(__file__).resolve().parents[2] / "app.py"), default_timeout=60)
    at.query_params["conversation"] = conversation
    at.switch_page(PAGES["chat"])
    shown = words(settled(at.run()))
    assert "unknown to unknown" not in shown and "80%, over refits" not in shown


def test_columns_masked_now_are_asked_for_at_each_use(answered) -> None:
    app, fake, _, _ = answered
    (card,) = app.models.list(LOCAL)
    ref = app.models.ref(LOCAL, card.id)
    handle = app.catalog.handle(LOCAL, card.source_id)
    table = handle.table("loan")
    assert table is not None
    sent = len(fake.requests)
    app.catalog.mark_column(LOCAL, table.dataset_id, "payments", masked=True)
    try:
        with pytest.raises(BadInput, match="payments, which has been masked since"):
            app.engine.similar(ref, loans(1))
    finally:
        app.catalog.mark_column(LOCAL, table.dataset_id, "payments", masked=False)
    assert len(fake.requests) == sent


def test_with_the_local_engine_a_model_of_the_platform_is_left_alone(answered, pool) -> None:
    app, fake, _, _ = answered
    (card,) = app.models.list(LOCAL)
    engine = ChosenEngine(pool, Settings(home=app.settings.home))
    sent = len(fake.requests)
    ref = engine.open(card.id)
    for call in (engine.predict, engine.explain, engine.explain_global, engine.similar):
        with pytest.raises(BadInput, match="not switched on"):
            call(ref, loans(2))
    assert engine.name == "local" and engine.platform is None and len(fake.requests) == sent


def test_the_local_engine_still_trains_and_uses_its_own_models(tmp_path: Path, pool, platform: FakePlatform) -> None:
    local = ChosenEngine(pool, Settings(home=tmp_path))
    ref, card = local.train(loans(), loan_task(), model_type="Logistic")
    assert card.engine == "local" and platform.requests == []
    both = ChosenEngine(pool, settings_for(tmp_path, platform.url))
    assert both.predict(ref, loans(20, first=900)).rows == 20 and platform.requests == []


def test_connectors_know_the_platform_only_where_it_is_configured(answered, application) -> None:
    assert answered[0].connectors.register_bucket is not None
    assert application.connectors.register_bucket is None
