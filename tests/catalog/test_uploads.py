"""Uploaded originals: kept as long as their source, counted, and swept when their process is gone. Real processes, killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import BadInput
from lexsi_ds.services.uploads import Uploads
from lexsi_ds.settings import Settings
from lexsi_ds.store.db import Store
from tests.catalog.conftest import ADA

REPO = Path(__file__).resolve().parents[2]
HOLDER = """
import sys
from pathlib import Path
from lexsi_ds.services.uploads import Uploads
from lexsi_ds.store.db import Store
uploads = Uploads(Path(sys.argv[1]), Store(sys.argv[2]))
folder = uploads.open()
(folder / "half.csv").write_text("a,b")
print(folder.name, flush=True)
sys.stdin.read()
"""
TEXT = "id,amount\n" + "\n".join(f"{i},{i * 3}" for i in range(2000))


def uploaded(app: Application, name: str = "sales.csv") -> Path:
    """An upload as the page makes it."""
    folder = app.uploads.open()
    (folder / name).write_text(TEXT)
    return folder


def imported(app: Application, folder: Path) -> str:
    """A source made of it; the import is over."""
    source = app.catalog.import_source(ADA, "files", "Sales", sorted(folder.iterdir())).source_id
    app.uploads.release(folder)
    return source


def test_the_originals_are_counted_read_again_and_go_with_their_source(app: Application) -> None:
    folder = uploaded(app)
    source = imported(app, folder)
    assert app.versions.uploaded(ADA, source) == len(TEXT)
    with_them = app.versions.disk_used(ADA, source)
    assert with_them == len(TEXT) + sum(t.path.stat().st_size for t in app.catalog.handle(ADA, source).tables)
    assert app.uploads.sweep() == 0
    assert app.versions.refresh(ADA, source).handle.snapshot_number == 2
    app.catalog.delete(ADA, source)
    assert not folder.exists()
    assert not list((app.settings.home / "uploads").iterdir())


def test_files_of_a_folder_of_the_person_stay(app: Application, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(TEXT)
    source = app.catalog.import_source(ADA, "files", "Mine", [tmp_path / "mine.csv"]).source_id
    assert app.versions.uploaded(ADA, source) == 0
    app.catalog.delete(ADA, source)
    assert (tmp_path / "mine.csv").is_file()


def test_what_two_sources_read_goes_with_the_second(app: Application) -> None:
    folder = uploaded(app)
    first, second = imported(app, folder), imported(app, folder)
    app.catalog.delete(ADA, first)
    assert (folder / "sales.csv").is_file()
    app.catalog.delete(ADA, second)
    assert not folder.exists()


def test_an_import_that_fails_and_a_wizard_that_is_left_keep_nothing(app: Application) -> None:
    folder = app.uploads.open()
    (folder / "x.docx").write_bytes(b"PK\x03\x04 no table")
    with pytest.raises(BadInput):
        app.catalog.import_source(ADA, "files", "Bad", [folder / "x.docx"])
    app.uploads.release(folder)
    assert not folder.exists()


def test_a_sweep_leaves_a_live_wizard_of_this_and_of_another_process(app: Application) -> None:
    mine = uploaded(app)
    command = [sys.executable, "-c", HOLDER, str(app.settings.home), app.settings.store_path_url]
    other = subprocess.Popen(command, cwd=REPO, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    theirs = app.settings.home / "uploads" / other.stdout.readline().strip()
    try:
        assert app.uploads.sweep() == 0
        assert (mine / "sales.csv").is_file() and (theirs / "half.csv").is_file()
    finally:
        other.send_signal(signal.SIGKILL)
        other.communicate()
    assert app.uploads.sweep() == 1
    assert mine.is_dir() and not theirs.exists()
    app.uploads.release(mine)
    assert not mine.exists()


def test_a_start_sweeps_what_a_killed_server_left_but_no_source_s_files(tmp_path: Path) -> None:
    first = Application(Settings(home=tmp_path, sql_workers=1))
    kept = uploaded(first)
    source = imported(first, kept)
    first.close()
    (tmp_path / "uploads" / "up_0199aaaa-0000-7000-8000-000000000009").mkdir()
    (tmp_path / "uploads" / "not ours").mkdir()
    second = Application(Settings(home=tmp_path, sql_workers=1))
    assert {p.name for p in (tmp_path / "uploads").iterdir()} == {kept.name, "not ours"}
    assert second.versions.refresh(ADA, source).handle.rows == 2000
    second.close()


def test_a_linked_home_keeps_its_originals(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    app = Application(Settings(home=tmp_path / "link", sql_workers=1))
    folder = tmp_path / "link" / "uploads" / uploaded(app).name
    source = app.catalog.import_source(ADA, "files", "Sales", sorted(folder.iterdir())).source_id
    app.uploads.release(folder.resolve())
    assert folder.exists() and app.versions.uploaded(ADA, source) == len(TEXT)
    app.close()
    store = Store(Settings(home=tmp_path / "link").store_path_url)
    assert Uploads(tmp_path / "link", store).sweep() == 0
    store.close()
