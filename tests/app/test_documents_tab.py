"""The tab Documents on the real application: empty, filled, refused, read in parts, searched, suggestions taken, deleted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components import documents_tab, session
from lexsi_ds.application import Application
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.settings import Settings
from tests.app.conftest import settled, words

pytestmark = pytest.mark.xdist_group("pages")
TOLD = "# Words\n\n| Column | Meaning |\n|---|---|\n| grade | Risk grade. A = safe, B = doubtful |\n\nThe late fee is 45 CZK.\n"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    folder = tmp_path_factory.mktemp("documents-tab")
    (folder / "loans.csv").write_text("loan_id,grade\n1,A\n2,B\n3,A\n4,B\n5,A\n", encoding="utf-8")
    running = Application(Settings(home=folder / "home", sql_workers=1))
    handle = running.catalog.import_source(running.person(), "files", "Loans", [folder / "loans.csv"])
    running.set_active_source(running.person(), handle.source_id)
    yield running
    running.close()


def tab(app: Application, open_page) -> Any:
    at = open_page(app, "connect")
    at.session_state[session.wkey("tabs", app.active_source(app.person()))] = ":gray[Documents]"
    return settled(at.run(timeout=60))


def put(app: Application, folder: Path, name: str, content: str) -> str:
    (folder / "upload").write_text(content, encoding="utf-8")
    return app.documents.add(app.person(), folder / "upload", name).document.id


def test_an_empty_library_says_what_it_is_for(app: Application, open_page) -> None:
    said = words(tab(app, open_page))
    assert "Handbooks, data dictionaries, policies" in said and "What they say of this source" not in said


def test_several_files_are_read_and_a_bad_one_keeps_no_other_out(app: Application, tmp_path: Path) -> None:
    good, bad, folder = tmp_path / "good", tmp_path / "bad", app.uploads.open()
    good.write_text(TOLD, encoding="utf-8")
    bad.write_bytes(b"PK broken")
    named = [(bad, "bad.docx"), (good, "words.md")]
    told = documents_tab._add_all(app, app.person(), folder, "library", named, Cancel(), lambda _: None)
    assert [(name, became) for name, became, _ in told] == [("bad.docx", "refused"), ("words.md", "new")]
    assert "no Word file" in told[0][2] and not folder.exists()


def test_suggestions_are_offered_taken_and_gone(app: Application, open_page, tmp_path: Path) -> None:
    put(app, tmp_path, "words.md", TOLD)
    at = tab(app, open_page)
    assert "3 suggestions for Loans" in words(at)
    settled(at.get_by_key("suggestions-accept").click().run(timeout=60))
    source_id = str(app.active_source(app.person()))
    assert app.semantics.view(app.person(), source_id).version == 1
    assert "Nothing that the semantic model does not say already" in words(tab(app, open_page))


def test_passages_are_found_and_drawn_as_plain_letters(app: Application, open_page, tmp_path: Path) -> None:
    put(app, tmp_path, "evil.md", "The zebra fee ![x](http://evil.example/p.png) **bold** <b>tag</b>")
    at = tab(app, open_page)
    at.get_by_key(documents_tab._SEARCH).set_value("zebra fee").run(timeout=60)
    assert any("![x](http://evil.example/p.png)" in t.value for t in settled(at).text)
    assert not [m.value for m in at.markdown if "evil.example" in m.value]


def test_a_long_document_is_read_in_parts_and_deleted_for_good(app: Application, open_page, tmp_path: Path) -> None:
    for each in app.documents.list(app.person()):
        app.documents.delete(app.person(), each.id)
    document_id = put(app, tmp_path, "long.md", "first line\n" + "x" * 50 + "\n" * 2 + "word " * 10_000 + "last words")
    at = tab(app, open_page)
    key = session.wkey("documents", "list", hash((document_id,)))
    at.session_state[key] = {"selection": {"rows": [0], "columns": [], "cells": []}}
    settled(at.run(timeout=60))
    assert "Part 1 of 3" in words(at) and any(c.value.startswith("first line") for c in at.code)
    settled(at.get_by_key(session.wkey("documents", document_id, "sure")).click().run(timeout=60))
    assert app.documents.list(app.person()) == ()
