"""Pins outlive their conversation, run again on fresh data, and are one person's own; thumbs keep their reason."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import BadInput, Conflict, Denied, LexsiError, NotFound
from lexsi_ds.services.access import ALL_RIGHTS, Actor
from lexsi_ds.services.board_export import archive
from lexsi_ds.settings import Settings

BEN = Actor("ben", "Ben", ALL_RIGHTS)
READER = Actor("local", "You", frozenset({"chats:read", "datasets:read"}))


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    made = Application(Settings(home=tmp_path_factory.mktemp("board"), sql_workers=1))
    yield made
    made.close()


@pytest.fixture
def shop(app: Application, tmp_path: Path) -> tuple[str, Path]:
    """A source of its own, and the file it was read from."""
    path = tmp_path / "sales.csv"
    path.write_text("sale_id,region,email,amount\n1,north,a@x.org,10\n2,south,b@x.org,20\n3,north,c@x.org,30\n", encoding="utf-8")
    return app.catalog.import_source(app.person(), "files", "Shop", [path]).source_id, path


Asked = Callable[..., tuple[str, list[dict[str, Any]]]]


@pytest.fixture
def ask(app: Application, shop: tuple[str, Path]) -> Asked:
    """``ask(question, given=...)``: run id and events, once it is over."""

    def asked(question: str, given: dict[str, Any] | None = None) -> tuple[str, list[dict[str, Any]]]:
        actor = app.person()
        run_id = app.chats.ask(actor, app.chats.new(actor, shop[0]), question, shop[0], given=given)
        events: list[dict[str, Any]] = []
        while not events or events[-1]["type"] != "done":
            events = app.chats.events(actor, run_id, 0, 5)
        return run_id, events

    return asked


def rows_of(events: list[dict[str, Any]]) -> str:
    return next(e["artifact_ids"][0] for e in events if e["type"] == "tool_result" and e["name"] == "run_sql")


def test_a_card_runs_again_on_fresh_data_and_outlives_its_conversation(app: Application, shop, ask: Asked) -> None:
    actor, (source_id, path) = app.person(), shop
    run_id, events = ask("Total amount by region")
    pin = app.board.pin_card(actor, rows_of(events), "Amounts", view={"kind": "line", "x": "region", "y": "total"})
    before = app.board.rows(actor, pin.id)
    app.chats.delete(actor, app.chats.run(actor, run_id).conversation_id)
    path.write_text(path.read_text() + "4,west,d@x.org,40\n", encoding="utf-8")
    app.versions.refresh(actor, source_id)
    assert len(app.board.rows(actor, pin.id)) == len(before) == 2, "nothing changes by itself"
    after = app.board.refresh(actor, pin.id)
    assert len(app.board.rows(actor, pin.id)) == 3 and after.result is not None and pin.result is not None
    assert (pin.result["snapshot_number"], after.result["snapshot_number"]) == (1, 2)
    assert after.view is not None and after.view["kind"] == "line" and after.title == "Amounts"
    files = list((app.settings.home / "pins" / pin.id).iterdir())
    assert len(files) == 1, "the rows of before go"


def test_a_failed_run_keeps_the_rows_and_says_why(app: Application, shop, ask: Asked) -> None:
    actor, (source_id, path) = app.person(), shop
    _, events = ask("Total amount by region")
    pin = app.board.pin_card(actor, rows_of(events), "Amounts")
    path.write_text("sale_id,place\n1,north\n", encoding="utf-8")
    app.versions.refresh(actor, source_id)
    with pytest.raises(LexsiError):
        app.board.refresh(actor, pin.id)
    kept = app.board.get(actor, pin.id)
    assert kept.error and len(app.board.rows(actor, pin.id)) == 2 and kept.result == pin.result


def test_masked_columns_stay_hidden_when_a_card_runs_again(app: Application, shop, ask: Asked) -> None:
    actor, (source_id, _) = app.person(), shop
    _, events = ask("all rows", given={"kind": "sql", "sql": "SELECT sale_id, email FROM sales ORDER BY 1"})
    pin = app.board.pin_card(actor, rows_of(events), "Rows")
    app.catalog.mark_column(actor, app.catalog.handle(actor, source_id).tables[0].dataset_id, "email", masked=True)
    app.board.refresh(actor, pin.id)
    assert "x.org" not in app.board.rows(actor, pin.id).to_csv()


def test_a_question_is_asked_with_its_parameters_and_keeps_the_last_values(app: Application, shop) -> None:
    actor = app.person()
    values = {"amount": "5", "region": "north"}
    pin = app.board.pin_question(actor, shop[0], "Sales above {amount} in {region}", "Large sales", values)
    assert app.board.asked(actor, pin.id) == (shop[0], "Sales above 5 in north")
    assert app.board.asked(actor, pin.id, {"amount": "15", "other": "x"})[1] == "Sales above 15 in north"
    assert app.board.get(actor, pin.id).parameters == {"amount": "15", "region": "north"}
    with pytest.raises(BadInput, match="amount"):
        app.board.asked(actor, pin.id, {"amount": " "})
    with pytest.raises(BadInput, match="region"):
        app.board.pin_question(actor, shop[0], "In {region}", "x", {})


def test_pins_have_an_order_a_title_and_one_owner(app: Application, shop, ask: Asked) -> None:
    actor = app.person()
    for pin in app.board.list(actor):
        app.board.unpin(actor, pin.id)
    ids = [app.board.pin_question(actor, shop[0], f"Question {i}", "").id for i in range(3)]
    app.board.move(actor, ids[2], -1)
    app.board.move(actor, ids[0], -1)
    assert [p.id for p in app.board.list(actor)] == [ids[0], ids[2], ids[1]]
    app.board.rename(actor, ids[0], "  First  ")
    assert app.board.get(actor, ids[0]).title == "First"
    for use in (app.board.get, app.board.unpin, app.board.rows, app.board.refresh):
        with pytest.raises(NotFound):
            use(BEN, ids[0])
    _, events = ask("Total amount by region")
    with pytest.raises(NotFound):
        app.board.pin_card(BEN, rows_of(events), "theirs")
    with pytest.raises(Denied):
        app.board.unpin(READER, ids[0])
    app.board.unpin(actor, ids[1])
    assert [p.id for p in app.board.list(actor)] == [ids[0], ids[2]]
    with pytest.raises(Conflict):
        app.board._rows.change(actor.id, ids[0], 1, title="stale")


def test_the_board_goes_out_as_whole_csv_files_with_their_queries(app: Application, shop, ask: Asked, tmp_path: Path) -> None:
    actor = app.person()
    for pin in app.board.list(actor):
        app.board.unpin(actor, pin.id)
    _, events = ask("all", given={"kind": "sql", "sql": "SELECT i, '=1+1' AS risky FROM range(1000) t(i)"})
    app.board.pin_card(actor, rows_of(events), "Many rows / all")
    package = zipfile.ZipFile(io.BytesIO(archive(app.board, actor, tmp_path)))
    assert package.namelist() == ["01_Many_rows_all.csv", "01_Many_rows_all.sql"]
    lines = package.read("01_Many_rows_all.csv").decode().splitlines()
    assert len(lines) == 1001 and lines[1].endswith("'=1+1") and b"range(1000)" in package.read("01_Many_rows_all.sql")


def test_sql_of_a_person_is_a_turn_like_any_other_and_refused_where_it_must_be(app: Application, shop, ask: Asked) -> None:
    _, events = ask("mine", given={"kind": "sql", "sql": "SELECT region, COUNT(*) AS n FROM sales GROUP BY 1 ORDER BY 1;"})
    assert events[-1]["state"] == "answered" and events[-1]["reading"] == "Your own SQL, run as it stands."
    frame = app.chats.artifact(app.person(), rows_of(events)).frame()
    assert frame.to_dict("list") == {"region": ["north", "south"], "n": [2, 1]}
    for sql in ("DROP TABLE sales", "SELECT * FROM read_csv('/etc/passwd')", "SELECT 1; SELECT 2", "SELECT nothing FROM sales"):
        _, events = ask("mine", given={"kind": "sql", "sql": sql})
        assert events[-1]["state"] != "answered", sql


def test_masked_columns_are_hidden_in_sql_of_a_person(app: Application, shop, ask: Asked) -> None:
    actor = app.person()
    app.catalog.mark_column(actor, app.catalog.handle(actor, shop[0]).tables[0].dataset_id, "email", masked=True)
    _, events = ask("mine", given={"kind": "sql", "sql": "SELECT s.*, upper(email) AS e FROM sales s"})
    assert "x.org" not in app.chats.artifact(actor, rows_of(events)).frame().to_csv().casefold()


def test_a_thumb_keeps_its_reason_and_can_be_taken_back(app: Application, ask: Asked) -> None:
    actor = app.person()
    run_id, _ = ask("Total amount by region")
    app.feedback.rate(actor, run_id, "up")
    app.feedback.rate(actor, run_id, "down", "  Wrong   number ")
    kept = app.feedback.of_runs(actor, [run_id])[run_id]
    assert (kept.thumb, kept.reason) == ("down", "Wrong number")
    with pytest.raises(NotFound):
        app.feedback.rate(BEN, run_id, "up")
    with pytest.raises(BadInput, match="500"):
        app.feedback.rate(actor, run_id, "down", "x" * 501)
    app.feedback.rate(actor, run_id, None)
    assert app.feedback.of_runs(actor, [run_id]) == {}


def test_conversations_are_found_by_the_words_of_their_questions(app: Application, ask: Asked, shop) -> None:
    actor = app.person()
    run_id, _ = ask("Total amount in the région of zebras")
    conversation = app.chats.run(actor, run_id).conversation_id
    app.chats.rename(actor, conversation, "Quarterly figures")
    for words in ("ZEBRAS region", "quarterly", "figures zebras"):
        assert [c.id for c in app.chats.search(actor, words)] == [conversation]
    assert app.chats.search(actor, "zebras unicorns") == () and app.chats.search(BEN, "zebras") == ()
    assert len(app.chats.search(actor, " ")) == len(app.chats.list(actor))


def test_how_a_result_is_drawn_is_kept_with_its_run(app: Application, ask: Asked) -> None:
    actor = app.person()
    run_id, _ = ask("Total amount by region")
    app.chats.draw_as(actor, run_id, {"kind": "scatter", "x": "a", "y": "b"})
    turn = app.chats.turns(actor, app.chats.run(actor, run_id).conversation_id)[0]
    assert turn.view == {"kind": "scatter", "x": "a", "y": "b"}
    with pytest.raises(NotFound):
        app.chats.draw_as(BEN, run_id, {})
