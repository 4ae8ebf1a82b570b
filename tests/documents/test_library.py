"""Files become text in a worker, whole or not at all; the library keeps, finds and forgets them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexsi_ds.errors import BadInput, Conflict, Denied, NotFound, WorkerFailed
from lexsi_ds.jobs.pool import Pool
from lexsi_ds.services.access import ALL_RIGHTS, Actor
from lexsi_ds.services.documents import Documents, passages_of, telling_lines
from lexsi_ds.services.workspaces import Workspaces
from lexsi_ds.settings import Settings
from lexsi_ds.store.db import Store
from tests.documents.conftest import ADA, BEN, Put
from tests.documents.files import pdf, word, word_bomb

TABLE = (("Code", "Meaning"), ("A", "paid | done"))
HTML = (
    "<html><head><title>Terms</title><script>alert('x')</script><style>p{}</style></head><body><h1>Fees</h1>"
    "<p>See <a href='http://evil.example/?q=1'>here</a><img src='http://evil.example/p.png' alt='logo'></p>"
    "<table><tr><th>Code</th><th>Meaning</th></tr><tr><td>A</td><td>paid</td></tr></table></body></html>"
)


@pytest.mark.parametrize(
    ("name", "content", "kind", "title", "has"),
    [
        ("a.md", "# Rules\n\nPremium means above 300000.", "markdown", "Rules", ["Premium means above 300000."]),
        ("a.txt", "Žluťoučký kůň".encode("cp1250"), "text", "", ["Žluťoučký kůň"]),
        ("a.TXT", "\ufeffmarked".encode(), "text", "", ["marked"]),
        ("a.json", '{"loan": {"status": "state"}}', "json", "", ['{"loan": {"status": "state"}}']),
        ("a.csv", "column;meaning\r\nstatus;state\r\n", "csv", "", ["column;meaning\nstatus;state"]),
        ("a.pdf", pdf([["Fees are 45 CZK."], ["Page two."]]), "pdf", "", ["Fees are 45 CZK.", "Page two."]),
        ("a.docx", word("Manual", ["First."], TABLE), "word", "Manual", ["# Manual", "First.", "| A | paid \\| done |"]),
        ("a.html", HTML, "html", "Terms", ["# Fees", "| A | paid |", "See here"]),
    ],
)  # fmt: skip
def test_every_kind_becomes_its_whole_text(
    library: Documents, put: Put, name: str, content: str | bytes, kind: str, title: str, has: list[str]
) -> None:
    document = put(name, content).document
    text = library.text(ADA, document.id)
    assert (document.kind, document.title, document.chars) == (kind, title, len(text))
    assert all(part in text for part in has), text


def test_nothing_of_a_page_is_kept_that_could_run_or_fetch(library: Documents, put: Put) -> None:
    text = library.text(ADA, put("a.html", HTML).document.id)
    assert not any(word in text for word in ("script", "alert", "evil.example", "<", "style"))


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.exe", b"MZ", "not read as documents"),
        ("a.doc", b"\xd0\xcf", "Old Word files"),
        ("a.pdf", b"no pdf at all", "no PDF"),
        ("a.pdf", b"%PDF-1.4 and then nothing", "could not be read"),
        ("a.pdf", pdf([[], []]), "holds no text"),
        ("a.docx", b"PK\x03\x04 broken", "no Word file"),
        ("a.docx", word_bomb(), "unpacks to 300 MB"),
        ("a.txt", b"\x00\x01\x02binary", "not text"),
        ("a.txt", b"   \n ", "holds no text"),
        ("a.md", b"a" * 3 * 2**20, "3.0 MB; 2 are the most"),
        ("a.md", b"word " * 20_000, "characters of text; 50,000 are the most"),
        ("a.html", b"<div>" * 60_000 + b"deep", "nested too deeply"),
        ("...", b"x", "no name"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words_and_nothing_is_kept(
    library: Documents, put: Put, name: str, content: bytes, says: str
) -> None:
    with pytest.raises((BadInput, WorkerFailed)) as refused:
        put(name, content)
    assert says in str(refused.value) or isinstance(refused.value, WorkerFailed)
    assert library.list(ADA) == ()


def test_pages_that_are_pictures_are_said(put: Put) -> None:
    assert put("a.pdf", pdf([["Text."], []])).document.notes == ("1 of 2 pages hold no text; they may be pictures.",)


def test_a_file_of_the_same_name_replaces_and_the_same_file_is_left_alone(library: Documents, put: Put) -> None:
    first = put("rules.md", "one")
    assert (first.became, put("rules.md", "one").became) == ("new", "same")
    second = put("rules.md", "two")
    assert second.became == "replaced" and second.document.id != first.document.id
    assert [library.text(ADA, d.id) for d in library.list(ADA)] == ["two\n"]
    put("rules.md", "three", shelf="Policies")
    assert [d.name for d in library.list(ADA)] == ["Policies/rules.md", "library/rules.md"]


def test_names_lose_folders_and_control_characters(put: Put) -> None:
    assert put("../../etc/pass\x07wd.md", "x").document.path == "pass wd.md"
    with pytest.raises(BadInput, match="shelf"):
        put("a.md", "x", shelf="../up")


def test_a_document_is_its_librarys_own_and_is_gone_when_deleted(library: Documents, put: Put) -> None:
    document = put("a.md", "secret words here").document
    for use in (library.get, library.text, library.delete):
        with pytest.raises(NotFound):
            use(BEN, document.id)
    assert library.list(BEN) == () and library.search(BEN, "secret words") == ()
    library.delete(ADA, document.id)
    assert library.list(ADA) == () and library.search(ADA, "secret words") == ()
    with pytest.raises(NotFound):
        library.text(ADA, document.id)


def test_reading_needs_its_right_and_so_does_writing(library: Documents, put: Put) -> None:
    document = put("a.md", "x").document
    reader = Actor("ada", "Ada", frozenset({"datasets:read"}))
    assert library.text(reader, document.id) == "x\n"
    with pytest.raises(Denied):
        library.delete(reader, document.id)
    with pytest.raises(Denied):
        put("b.md", "x", actor=reader)
    with pytest.raises(Denied):
        library.list(Actor("ada", "Ada", frozenset()))


def test_search_ranks_passages_by_the_words_they_share(library: Documents, put: Put) -> None:
    filler = "\n\n".join(f"Paragraph {i} speaks of branches and opening hours at length." * 4 for i in range(30))
    put("long.md", f"# Handbook\n\n{filler}\n\nThe fee for late payments is 45 CZK.\n\n{filler}")
    put("other.md", "# Cards\n\nGold cards have no yearly fee.")
    hits = library.search(ADA, "What is the fee for late payments?")
    assert hits[0].document.path == "long.md" and "late payments is 45" in hits[0].passage
    assert hits[0].score > hits[1].score and len(hits[0].passage) < 2500
    assert library.search(ADA, "zebra") == ()


def test_passages_are_the_whole_text() -> None:
    text = "a\n\n" * 800 + "b" * 9000 + "\n\nend\n"
    parts = passages_of(text)
    assert all(text[at : at + len(part)] == part for at, part in parts)
    assert "".join(part for _, part in parts).replace("\n", "") == text.replace("\n", "")


def test_the_lines_that_tell_most_are_shown_of_a_passage() -> None:
    passage = "# Loans\n\n| loan | x |\nPremium loans are loans above 300000.\n\nOther."
    assert telling_lines(passage, "How many premium loans are there?") == "Premium loans are loans above 300000."
    assert telling_lines(passage, "zebra") == passage


def test_a_missing_document_is_told_with_near_names(library: Documents, put: Put) -> None:
    put("handbook.md", "x")
    assert library.named(ADA, "Library", "HANDBOOK.md").path == "handbook.md"
    with pytest.raises(NotFound, match=r"library/handbook\.md"):
        library.named(ADA, "library", "handbok.md")


def test_members_of_a_workspace_share_its_library(store: Store, document_pool: Pool, tmp_path: Path) -> None:
    workspaces = Workspaces(store)
    shared = workspaces.create(ADA, "Risk")
    workspaces.set_member(ADA, shared.id, "ben", "member")

    def library_of(actor: Actor) -> str:
        found = workspaces.active(actor)
        return found.id if found is not None else actor.id

    library = Documents(store, document_pool, Settings(home=tmp_path), library_of)
    (tmp_path / "a.md").write_text("shared words here")
    document = library.add(ADA, tmp_path / "a.md", "a.md").document
    assert library.text(BEN, document.id) == "shared words here\n" and library.search(BEN, "shared words")
    eve = Actor("eve", "Eve", ALL_RIGHTS)
    assert library.list(eve) == ()
    with pytest.raises(NotFound):
        library.delete(eve, document.id)


def test_a_workspace_with_documents_is_not_deleted_until_it_is_said_that_they_may_go(
    store: Store, document_pool: Pool, tmp_path: Path
) -> None:
    workspaces = Workspaces(store)
    mine = workspaces.create(ADA, "Risk")
    library = Documents(store, document_pool, Settings(home=tmp_path), lambda _: mine.id)
    (tmp_path / "a.md").write_text("words")
    kept = [library.add(ADA, tmp_path / "a.md", f"{name}.md").document for name in "abcd"]
    with pytest.raises(Conflict, match=r"4 documents .* library/a\.md, library/b\.md, library/c\.md and 1 more"):
        workspaces.delete(ADA, mine.id)
    assert [w.name for w in workspaces.list(ADA)] == ["Risk"] and library.text(ADA, kept[0].id) == "words\n"
    workspaces.delete(ADA, mine.id, with_documents=True)
    assert workspaces.list(ADA) == () and library.list(ADA) == ()
    empty = workspaces.create(ADA, "Empty")
    workspaces.delete(ADA, empty.id)
    assert workspaces.list(ADA) == ()
