"""What a dictionary says is offered to the semantic model; a person takes it or sets it aside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import BadInput
from lexsi_ds.settings import Settings

ROWS = "loan_id,grade,amount,secret\n1,A,100,x\n2,B,200,y\n3,A,300,x\n4,B,400,y\n5,A,500,x\n6,C,600,y\n"
TOLD = """# Words

| Column | Meaning |
|---|---|
| grade | Risk grade. A = safe, B = doubtful, Z = unheard of |
| amount | Sum granted |
"""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    made = Application(Settings(home=tmp_path_factory.mktemp("suggesting")))
    yield made
    made.close()


@pytest.fixture
def source(app: Application, tmp_path: Path) -> Iterator[str]:
    """A small source, and a dictionary of it in the library."""
    actor = app.person()
    (tmp_path / "loans.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "words.md").write_text(TOLD, encoding="utf-8")
    handle = app.catalog.import_source(actor, "files", "Loans", [tmp_path / "loans.csv"])
    document = app.documents.add(actor, tmp_path / "words.md", "words.md").document
    yield handle.source_id
    app.documents.delete(actor, document.id)


def places(app: Application, source_id: str) -> list[tuple[str, str]]:
    return [(s.place, s.text) for s in app.document_suggestions.list(app.person(), source_id)]


def ask(app: Application, source_id: str, question: str) -> str | None:
    actor = app.person()
    conversation = app.chats.new(actor, source_id)
    run_id = app.chats.ask(actor, conversation, question, source_id)
    events: list = []
    while not events or events[-1]["type"] != "done":
        events = app.chats.events(actor, run_id, 0, 5)
    return events[-1]["answer"]


def test_what_a_dictionary_says_of_known_columns_and_codes_is_offered(app: Application, source: str) -> None:
    assert places(app, source) == [
        ("loans.grade", "Risk grade. A = safe, B = doubtful, Z = unheard of"), ("loans.grade = A", "safe"),
        ("loans.grade = B", "doubtful"), ("loans.amount", "Sum granted"),
    ]  # fmt: skip


def test_accepting_changes_the_model_and_is_offered_no_more(app: Application, source: str) -> None:
    actor, suggesting = app.person(), app.document_suggestions
    assert "2" not in (ask(app, source, "How many doubtful loans are there?") or "")
    version = suggesting.accept(actor, source, [s.id for s in suggesting.list(actor, source)])
    assert version == 1 and places(app, source) == []
    view = app.semantics.view(actor, source)
    grade = view.model.column("loans", "grade")
    assert grade is not None and grade.comment.startswith("Risk grade")
    assert {m.value: m.label for m in grade.values} == {"A": "safe", "B": "doubtful"}
    assert "sum granted" in (view.model.column("loans", "amount") or grade).synonyms
    assert "2" in (ask(app, source, "How many doubtful loans are there?") or "")
    with pytest.raises(BadInput, match="not there any more"):
        suggesting.accept(actor, source, ["0" * 32])


def test_what_is_set_aside_stays_so_until_it_is_asked_for_again(app: Application, source: str) -> None:
    actor, suggesting = app.person(), app.document_suggestions
    first = suggesting.list(actor, source)[0]
    suggesting.set_aside(actor, source, [first.id])
    assert len(places(app, source)) == 3 and app.semantics.view(actor, source).version == 0
    assert suggesting.offer_again(actor, source) == 1 and len(places(app, source)) == 4


def test_masked_columns_get_no_suggestion(app: Application, source: str, tmp_path: Path) -> None:
    actor = app.person()
    handle = app.catalog.handle(actor, source)
    app.catalog.mark_column(actor, handle.tables[0].dataset_id, "grade", masked=True)
    assert [place for place, _ in places(app, source)] == ["loans.amount"]
