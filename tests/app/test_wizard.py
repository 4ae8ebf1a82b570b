"""Bringing files in: planned, looked at, changed, loaded; and the doors for databases and buckets."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components import connector_form, session, wizard
from lexsi_ds.application import Application
from lexsi_ds.data.connectors.kinds import kind_of
from lexsi_ds.settings import Settings
from tests.app.conftest import settled, words

pytestmark = pytest.mark.xdist_group("pages")
UNTIDY = "Sales of the shop\nprinted 2026-01-31\n\ncode;day;amount;temp\n" + "\n".join(
    f"{i:05d};{1 + i % 28:02d}.03.2025;{i},{i % 10};{-200 if i % 9 == 0 else 20 + i % 5}" for i in range(200)
)


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Application]:
    running = Application(Settings(home=tmp_path / "home", sql_workers=1))
    yield running
    running.close()


def wait_for(app: Application, at: Any) -> Any:
    """Until the tasks of the page are over; then the page as it is."""
    until = time.monotonic() + 60
    while app.background.running() and time.monotonic() < until:
        time.sleep(0.05)
    return settled(at.run(timeout=60))


def opened(app: Application, open_page, folder: Path) -> Any:
    """The second step, for a file of this folder."""
    app.prepare_demo = lambda actor: None  # type: ignore[method-assign]
    at = open_page(app, "connect")
    at.text_input(key=session.FOLDER_PATH).set_value(str(folder / "sales.csv")).run(timeout=60)
    settled(at.button(key="connect-folder-load").click().run(timeout=60))
    return wait_for(app, at)


def test_an_untidy_file_is_shown_changed_and_loaded(app: Application, open_page, tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text(UNTIDY, encoding="cp1252")
    at = opened(app, open_page, tmp_path)
    said = words(at)
    assert "Check how it was read" in said
    assert "semicolon" in said and "decimal comma" in said and "header on line 4" in said
    preview = at.dataframe[0].value
    assert list(preview.columns) == ["code", "day", "amount", "temp"]
    assert preview["code"].iloc[1] == "00001"
    state = at.session_state["lexsi.held"].wizard
    key = session.wkey("plan", 0, "missing", state.round)
    settled(at.multiselect(key=key).set_value(["-200"]).run(timeout=60))
    assert at.dataframe[0].value["temp"].isna().sum() == 12
    assert "-200 missing" in words(at)
    settled(at.button(key="wizard-next").click().run(timeout=60))
    settled(at.text_input(key="wizard-name").set_value("Shop").run(timeout=60))
    settled(at.button(key="wizard-load").click().run(timeout=60))
    at = wait_for(app, at)
    handle = app.active_handle(app.person())
    assert handle is not None and handle.name == "Shop"
    columns = {c.name: c for c in handle.tables[0].columns}
    assert handle.rows == 200 and columns["temp"].nulls == 23
    assert [columns[n].type for n in ("code", "day", "amount")] == ["VARCHAR", "DATE", "DOUBLE"]
    assert at.session_state["lexsi.held"].wizard is None
    assert "Shop" in words(at)


def test_a_changed_delimiter_changes_the_preview_and_back_imports_nothing(
    app: Application, open_page, tmp_path: Path
) -> None:
    (tmp_path / "sales.csv").write_text(UNTIDY)
    at = opened(app, open_page, tmp_path)
    state = at.session_state["lexsi.held"].wizard
    settled(at.selectbox(key=session.wkey("plan", 0, "delimiter", state.round)).set_value("|").run(timeout=60))
    assert len(at.dataframe[0].value.columns) == 1
    settled(at.button(key="wizard-back").click().run(timeout=60))
    assert at.session_state["lexsi.held"].wizard is None
    assert app.catalog.sources(app.person()) == []
    assert (tmp_path / "sales.csv").exists(), "only copies that were uploaded go"


def test_a_file_that_cannot_be_read_is_said_before_anything_is_imported(
    app: Application, open_page, tmp_path: Path
) -> None:
    (tmp_path / "sales.csv").write_bytes(b"")
    at = opened(app, open_page, tmp_path)
    said = words(at)
    assert "empty" in said and ("cannot be read" in said or "could not be looked at" in said)
    assert app.catalog.sources(app.person()) == []


def test_edits_of_the_columns_table_become_choices_of_the_plan(app: Application, tmp_path: Path) -> None:
    path = tmp_path / "sales.csv"
    path.write_text(UNTIDY)
    plan = app.catalog.plan_files(app.person(), [path])[0]
    edited = {0: {"Name": "id", "Masked": True}, 1: {"Dates": "Month first"}, 2: {"Read": False}, 3: {"Missing": "-200, 99"}}
    columns = wizard.with_edits(plan, edited).columns
    assert (columns[0].name, columns[0].masked, columns[2].include) == ("id", True, False)
    assert (columns[1].date_order, columns[3].missing) == ("mdy", ("-200", "99"))


def test_what_is_not_available_is_said_and_not_offered(app: Application, open_page) -> None:
    app.prepare_demo = lambda actor: None  # type: ignore[method-assign]
    at = open_page(app, "connect")
    assert "Not available yet: Snowflake, Azure SQL, Delta Sharing, Fivetran." in words(at)
    keys = {b.key for b in at.button}
    assert {"connect-postgres", "connect-mysql", "connect-s3"} <= keys
    assert "connect-snowflake" not in keys


def test_a_database_that_does_not_answer_is_said_and_the_password_is_gone(app: Application, open_page) -> None:
    app.prepare_demo = lambda actor: None  # type: ignore[method-assign]
    at = open_page(app, "connect")
    settled(at.button(key="connect-postgres").click().run(timeout=60))
    for name, value in (("host", "127.0.0.1"), ("database", "shop"), ("user", "reader")):
        at.text_input(key=f"connector-{name}").set_value(value)
    at.number_input(key="connector-port").set_value(9)
    at.text_input(key="connector-secret-password-0").set_value("hunter2-secret")
    at.button(key="connector-test").click().run(timeout=60)
    at = wait_for(app, at)
    assert "It could not be opened" in words(at)
    assert "hunter2" not in words(at) + str(at.session_state)
    assert at.text_input(key="connector-secret-password-1").value == ""
    assert at.text_input(key="connector-host").value == "127.0.0.1"
    assert app.connectors.list(app.person()) == []


def test_only_names_of_connector_variables_are_taken_for_variables(monkeypatch) -> None:
    typed = {"connector-secret-password-0": "$ecret"}
    monkeypatch.setattr(session, "read", lambda key, default=None: typed.get(key, default))
    monkeypatch.setattr(session, "forget", lambda *keys: [typed.pop(k, None) for k in keys])
    assert connector_form.take_secrets(kind_of("postgres"), 0) == {"password": "$ecret"}
    assert typed == {}
    typed["connector-secret-password-0"] = "$LEXSI_CONNECTOR_SHOP"
    assert connector_form.take_secrets(kind_of("postgres"), 0) == {"password_env": "LEXSI_CONNECTOR_SHOP"}


def test_a_bad_file_and_one_of_another_type_are_said_and_the_rest_loads_from_the_folder(
    app: Application, open_page, tmp_path: Path
) -> None:
    folder = tmp_path / "drop"
    folder.mkdir()
    (folder / "sales.csv").write_text(UNTIDY)
    (folder / "empty.csv").write_bytes(b"")
    (folder / "letter.docx").write_bytes(b"PK no table")
    app.prepare_demo = lambda actor: None  # type: ignore[method-assign]
    at = open_page(app, "connect")
    at.text_input(key=session.FOLDER_PATH).set_value(str(folder)).run(timeout=60)
    settled(at.button(key="connect-folder-load").click().run(timeout=60))
    at = wait_for(app, at)
    for _ in range(2):
        said = words(at)
        assert "1 file is left out, as it cannot be read." in said and "empty.csv: This file is empty." in said.replace("*", "")
        assert "letter.docx" in said
        if at.button(key="wizard-back") and "wizard-next" in [b.key for b in at.button]:
            settled(at.button(key="wizard-next").click().run(timeout=60))
    settled(at.button(key="wizard-load").click().run(timeout=60))
    wait_for(app, at)
    handle = app.active_handle(app.person())
    assert handle is not None and [t.name for t in handle.tables] == ["sales"]
    (folder / "more.csv").write_text("a,b\n1,2\n3,4\n")
    refreshed = app.versions.refresh(app.person(), handle.source_id).handle
    assert sorted(t.name for t in refreshed.tables) == ["more", "sales"]


def test_an_option_that_was_only_drawn_is_not_a_choice(app: Application, open_page, tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text(UNTIDY)
    at = opened(app, open_page, tmp_path)
    plan = at.session_state["lexsi.held"].wizard.plans[0]
    assert [wizard.shown_value(plan, o) for o in ("delimiter", "header_line", "missing")] == [";", 4, []]
    fired = {"key": wizard.shown_value(plan, "header_line")}
    state = at.session_state["lexsi.held"].wizard
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wizard, "current", lambda: state)
        patch.setattr(session, "read", lambda key, default=None: fired[key])
        wizard.set_option(0, "header_line", "key")
        assert state.plans[0].chosen == () and state.round == 0
        fired["key"] = 5
        wizard.set_option(0, "header_line", "key")
        assert set(state.plans[0].chosen) == {"header", "header_lines"} and state.round == 1


def test_a_total_is_kept_and_blanks_are_trimmed_from_the_form(app: Application, open_page, tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("kind,n\nA,1\nA ,2\nB,3\nTotal,6\n")
    at = opened(app, open_page, tmp_path)
    assert len(at.dataframe[0].value) == 3
    state = at.session_state["lexsi.held"].wizard
    settled(at.checkbox(key=session.wkey("plan", 0, "keep_below", state.round)).check().run(timeout=60))
    assert list(at.dataframe[0].value["kind"]) == ["A", "A ", "B", "Total"]
    settled(next(b for b in at.button if b.label == "Trim the blanks").click().run(timeout=60))
    assert list(at.dataframe[0].value["kind"]) == ["A", "A", "B", "Total"]
    plan = at.session_state["lexsi.held"].wizard.plans[0]
    assert plan.keep_below and plan.columns[0].trim


def test_columns_of_fixed_width_are_cut_where_the_form_says(app: Application, open_page, tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("AB12\nCD34\nEF56\nGH78\n")
    at = opened(app, open_page, tmp_path)
    state = at.session_state["lexsi.held"].wizard
    settled(at.text_input(key=session.wkey("plan", 0, "cuts", state.round)).set_value("1, 3").run(timeout=60))
    frame = at.dataframe[0].value
    assert frame.shape[1] == 2 and "columns of fixed width" in words(at)
    state = at.session_state["lexsi.held"].wizard
    settled(at.text_input(key=session.wkey("plan", 0, "cuts", state.round)).set_value("").run(timeout=60))
    assert at.dataframe[0].value.shape[1] == 1
