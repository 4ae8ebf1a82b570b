"""Connect data: the opened source right under its card, sizes that say what they are, a second look before versions go."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components import connect, problems, session, sources
from lexsi_ds.application import Application
from lexsi_ds.data.raw_rows import rejected_note
from lexsi_ds.jobs.endings import rebuilt
from lexsi_ds.settings import Settings
from tests.app.conftest import REPO, settled, words

pytestmark = pytest.mark.xdist_group("pages")


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Application]:
    running = Application(Settings(home=tmp_path / "home", sql_workers=1))
    me = running.person()
    folder = running.uploads.open()
    (folder / "a.csv").write_text("id,amount\n" + "\n".join(f"{i},{i * 3}" for i in range(300)))
    running.catalog.import_source(me, "files", "Uploaded", [folder / "a.csv"])
    running.uploads.release(folder)
    (tmp_path / "b.csv").write_text("k,v\n1,2\n3,4\n")
    for name in ("First", "Last"):
        running.catalog.import_source(me, "files", name, [tmp_path / "b.csv"])
    yield running
    running.close()


def by_name(app: Application) -> dict[str, Any]:
    return {s.name: s for s in app.catalog.sources(app.person())}


def test_the_opened_source_is_a_group_of_its_own_among_the_cards() -> None:
    assert sources.grouped(["a", "b", "c"], "b") == [["a"], ["b"], ["c"]]
    assert sources.grouped(["a", "b", "c"], "a") == [["a"], ["b", "c"]]
    assert sources.grouped(["a", "b"], None) == [["a", "b"]]


def test_what_an_opened_source_holds_comes_before_the_next_card(app: Application, open_page) -> None:
    found = by_name(app)
    order = [s.id for s in app.catalog.sources(app.person())]
    opened = found["First"].id
    at = open_page(app, "connect", source=opened)
    keys = [b.key for b in at.button]
    after = order[order.index(opened) + 1]
    radio = next(r for r in at.radio if r.key == session.PREVIEW_TABLE)
    flat = [getattr(e, "key", None) for e in at.main]
    assert flat.index(f"source-{opened}-open") < flat.index(radio.key) < flat.index(f"source-{after}-open"), keys


def test_a_card_says_rows_and_what_is_on_disk_with_the_uploaded_files(app: Application, open_page) -> None:
    at = open_page(app, "connect")
    said = words(at)
    me, source = app.person(), by_name(app)["Uploaded"]
    uploaded = app.versions.uploaded(me, source.id)
    assert uploaded > 1000 and f"on disk, {uploaded / 1000:.1f} kB of it uploaded files" in said
    assert "Files, 1 table, 300 rows" in said
    helps = [m.proto.help for m in at.markdown if "on disk" in m.value]
    assert helps and all("half a megabyte" in text for text in helps)


def test_old_versions_go_only_after_a_second_look(app: Application, open_page) -> None:
    me, source = app.person(), by_name(app)["First"]
    app.versions.refresh(me, source.id)
    at = open_page(app, "connect", source=source.id)
    at.session_state[session.wkey("tabs", source.id)] = ":gray[Versions]"
    settled(at.run(timeout=60))
    settled(at.button(key=f"versions-{source.id}-prune").click().run(timeout=60))
    assert "Delete version 1 of First for good? Nothing relies on it." in words(at)
    assert len(app.versions.list(me, source.id)) == 2
    settled(at.button(key=f"versions-{source.id}-keep").click().run(timeout=60))
    assert "for good?" not in words(at) and len(app.versions.list(me, source.id)) == 2
    settled(at.button(key=f"versions-{source.id}-prune").click().run(timeout=60))
    settled(at.button(key=f"versions-{source.id}-sure").click().run(timeout=60))
    assert [v.number for v in app.versions.list(me, source.id)] == [2]


def test_the_upload_limit_is_said_with_the_way_for_larger_files(app: Application, open_page) -> None:
    config = tomllib.loads((REPO / ".streamlit" / "config.toml").read_text())
    assert config["server"]["maxUploadSize"] == 500
    said = words(open_page(app, "connect"))
    assert f"of any size. The way for files above {connect.upload_limit():,} MB" in said


def test_an_unexpected_error_has_one_short_id_for_the_screen_and_the_log(caplog: pytest.LogCaptureFixture) -> None:
    short = problems.log_id(ValueError("secret 123"), "The sources")
    assert f"Log id {short}" in problems.unknown("The sources", short) and short in caplog.text
    caplog.clear()
    error = rebuilt({"class": None, "kind": "error", "log": "ValueError: secret 456"}, "ingest")
    said = str(error)
    assert "secret" not in said and "Log id " in said
    assert said.split("Log id ")[1][:4] in caplog.text


def test_notes_count_in_proper_english() -> None:
    assert rejected_note(1) == "1 line could not be read and is kept in a file with the reason."
    assert rejected_note(2000) == "2,000 lines could not be read and are kept in a file with the reason."
