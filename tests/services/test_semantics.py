"""Saved semantic models and taught words behind the service: versions, conflicts, rights, and the next question."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import BadInput, Conflict, Denied, NotFound
from lexsi_ds.knowledge.model import LearnedWord, SemanticModel
from lexsi_ds.knowledge.osi_edit import change_column
from lexsi_ds.services.access import LOCAL, Actor
from lexsi_ds.services.semantics import Semantics
from lexsi_ds.settings import Settings

CSV = "sale_id,region,freight,day,email\n" + "".join(
    f"{n},{'north' if n % 3 else 'south'},{n}.5,2024-01-{n % 28 + 1:02d},p{n}@x.org\n" for n in range(1, 61)
)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    made = Application(Settings(home=tmp_path_factory.mktemp("home"), sql_workers=1))
    yield made
    made.close()


@pytest.fixture
def handle(app: Application, tmp_path: Path) -> DatasetHandle:
    path = tmp_path / "sales.csv"
    path.write_text(CSV)
    return app.catalog.import_source(LOCAL, "files", "Sales", [path])


@pytest.fixture
def semantics(app: Application) -> Semantics:
    return app.semantics


def model(app: Application, handle: DatasetHandle) -> SemanticModel:
    return app.knowledge(handle).model


def freight(app: Application, handle: DatasetHandle):
    column = model(app, handle).column("sales", "freight")
    assert column is not None
    return column


def with_unit(unit: str):
    return lambda document, now: change_column(document, now, "sales", "freight", lambda c: c.model_copy(update={"unit": unit}))


def test_a_saved_version_holds_from_the_next_question_on_and_an_earlier_one_can_be_taken_back(app, handle, semantics) -> None:
    source = handle.source_id
    assert (semantics.view(LOCAL, source).version, freight(app, handle).unit) == (0, None)
    assert semantics.edit(LOCAL, source, with_unit("EUR"), 0) == 1
    assert freight(app, handle).unit == "EUR"
    assert semantics.edit(LOCAL, source, with_unit("CZK"), 1) == 2
    assert freight(app, handle).unit == "CZK"
    assert semantics.revert(LOCAL, source, 1, 2) == 3
    assert freight(app, handle).unit == "EUR"
    assert semantics.revert(LOCAL, source, 0, 3) == 4
    assert freight(app, handle).unit is None
    history = semantics.view(LOCAL, source).history
    assert [(v.version, v.how, v.person_name) for v in history] == [
        (4, "back to derived", "You"), (3, "back to version 1", "You"), (2, "edited", "You"), (1, "edited", "You"),
    ]  # fmt: skip
    assert history[2].changes == ("sales.freight: unit CZK, was EUR",)
    assert '+                data: \'{"lexsi_ds": {"role": "measure", "unit": "CZK"' in semantics.diff(LOCAL, source, 2)


def test_a_file_with_an_error_is_not_saved_and_neither_is_one_from_an_old_version(app, handle, semantics) -> None:
    text = semantics.text(LOCAL, handle.source_id)
    with pytest.raises(BadInput, match=r"1 error; nothing was saved. Line .* did you mean 'freight'"):
        semantics.save(LOCAL, handle.source_id, text.replace("expression: freight\n", "expression: fright\n"), 0)
    assert semantics.view(LOCAL, handle.source_id).version == 0
    assert semantics.save(LOCAL, handle.source_id, text.replace("label: freight", "label: carriage"), 0) == 1
    with pytest.raises(Conflict, match="Version 1 was saved meanwhile"):
        semantics.save(LOCAL, handle.source_id, text, 0)
    assert freight(app, handle).label == "carriage"


def test_a_taught_word_is_understood_until_it_is_forgotten(app, handle, semantics) -> None:
    source, meaning = handle.source_id, LearnedWord(id="", words="", table="sales", column="freight")
    word = semantics.learn(LOCAL, source, "  Exposure ", meaning)
    assert (word.words, word.meaning) == ("exposure", "sales.freight")
    assert "exposure" in freight(app, handle).synonyms
    assert [w.words for w in model(app, handle).learned] == ["exposure"]
    assert "exposure" not in semantics.text(LOCAL, source)
    assert [(w.words, w.record.person_name, w.stale) for w in semantics.view(LOCAL, source).words] == [("exposure", "You", False)]
    again = semantics.learn(LOCAL, source, "exposure", meaning.model_copy(update={"column": "region", "value": "north"}))
    assert "exposure" not in freight(app, handle).synonyms
    assert [h.value for h in app.knowledge(handle).values.lookup("exposure")] == ["north"]
    semantics.forget(LOCAL, source, again.id)
    assert model(app, handle).learned == ()
    assert app.knowledge(handle).values.lookup("exposure") == ()


def test_words_cannot_mean_what_is_not_there_or_is_masked(app, handle, semantics) -> None:
    source = handle.source_id
    column = next(t for t in handle.tables).column("email")
    assert column is not None and column.masked
    for meaning in (
        LearnedWord(id="", words="", table="sales", column="nothing"),
        LearnedWord(id="", words="", table="sales", column="email", value="p1@x.org"),
        LearnedWord(id="", words="", metric="nothing"),
    ):
        with pytest.raises(NotFound):
            semantics.learn(LOCAL, source, "x", meaning)
    with pytest.raises(BadInput):
        semantics.learn(LOCAL, source, " ! ", LearnedWord(id="", words="", table="sales"))


def test_others_may_neither_read_nor_change(handle, semantics) -> None:
    other = Actor("eve", "Eve", LOCAL.rights)
    reader = Actor(LOCAL.id, "Rea", frozenset({"datasets:read"}))
    meaning = LearnedWord(id="", words="", table="sales")
    with pytest.raises((Denied, NotFound)):
        semantics.view(other, handle.source_id)
    for actor in (other, reader):
        with pytest.raises((Denied, NotFound)):
            semantics.learn(actor, handle.source_id, "x", meaning)
        with pytest.raises((Denied, NotFound)):
            semantics.edit(actor, handle.source_id, with_unit("EUR"), 0)
    assert semantics.view(reader, handle.source_id).version == 0


def test_a_column_that_a_new_import_lacks_is_stale_and_kept(app, handle, semantics, tmp_path) -> None:
    source = handle.source_id
    semantics.edit(LOCAL, source, with_unit("EUR"), 0)
    semantics.learn(LOCAL, source, "exposure", LearnedWord(id="", words="", table="sales", column="freight"))
    path = tmp_path / "sales.csv"
    path.write_text("\n".join(",".join(x for i, x in enumerate(line.split(",")) if i != 2) for line in CSV.splitlines()) + "\n")
    newer = app.catalog.reimport(LOCAL, source, [path])
    view = semantics.view(LOCAL, source)
    assert [(s.what, s.why) for s in view.stale] == [("sales.freight", "there is no such column any more")]
    assert [w.stale for w in view.words] == [True]
    assert model(app, newer).column("sales", "freight") is None
    assert all(i.level == "warning" for i in semantics.check(LOCAL, source, semantics.text(LOCAL, source)))
    number = semantics.edit(
        LOCAL, source, lambda d, m: change_column(d, m, "sales", "region", lambda c: c.model_copy(update={"label": "area"})), 1
    )
    assert "name: freight" in semantics.text(LOCAL, source) and number == 2


def test_verified_questions_are_kept_only_when_their_sql_runs(app, handle, semantics) -> None:
    source = handle.source_id
    with pytest.raises(BadInput, match="does not run"):
        semantics.verify(LOCAL, source, "How many sales?", "SELECT count(*) FROM sold", 0)
    assert semantics.verify(LOCAL, source, "How many sales?", "SELECT count(*) FROM sales", 0) == 1
    assert [v.question for v in model(app, handle).verified] == ["How many sales?"]
    assert semantics.unverify(LOCAL, source, "How many sales?", 1) == 2
    assert model(app, handle).verified == ()
