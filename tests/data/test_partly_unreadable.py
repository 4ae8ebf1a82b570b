"""One file that cannot be read does not keep the others out; it is said, and a folder stays a folder for the next refresh."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from lexsi_ds.application import Application
from lexsi_ds.data.ingest import ingest
from lexsi_ds.data.plan import plan_options
from lexsi_ds.data.planning import plan
from lexsi_ds.errors import BadInput
from lexsi_ds.settings import Settings

GOOD = "id,amount\n" + "".join(f"{i},{i * 2}\n" for i in range(20))


def broken(folder: Path) -> list[Path]:
    """Files that cannot be read, each for a reason of its own."""
    contents = {"empty.csv": b"", "cut.zip": b"PK\x03\x04 cut off", "noise.csv": bytes(range(256)) * 4, "x.parquet": b"PAR0 no"}
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return sorted(folder / name for name in contents)


@pytest.mark.parametrize("name", ["empty.csv", "cut.zip", "noise.csv", "x.parquet"])
@pytest.mark.parametrize("as_folder", [True, False])
def test_the_rest_is_planned_and_loaded_and_the_bad_one_is_named(tmp_path: Path, name: str, as_folder: bool) -> None:
    for path in broken(tmp_path):
        if path.name != name:
            path.unlink()
    (tmp_path / "sales.csv").write_text(GOOD)
    paths = [tmp_path] if as_folder else sorted(tmp_path.iterdir())
    plans = {p["path"].rpartition("/")[2]: p for p in plan(paths, {})["plans"]}
    assert plans[name]["error"] and not plans["sales.csv"]["error"]
    (tmp_path / ".into").mkdir()
    made = ingest({"kind": "files", "paths": [str(p) for p in paths], "into": str(tmp_path / ".into")}, lambda _: None)
    assert [(t["name"], t["rows"]) for t in made["tables"]] == [("sales", 20)]
    assert [n for n in made["notes"] if n.startswith("Left out") and name in n]


def test_a_bad_member_of_an_archive_is_left_out(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("good.csv", GOOD)
        archive.writestr("bad.parquet", b"nothing of the kind")
    found = plan([tmp_path / "all.zip"], {})["plans"]
    assert {p["member"]: bool(p["error"]) for p in found} == {"good.csv": False, "bad.parquet": True}
    (tmp_path / "into").mkdir()
    made = ingest({"kind": "files", "paths": [str(tmp_path / "all.zip")], "into": str(tmp_path / "into")}, lambda _: None)
    assert [t["name"] for t in made["tables"]] == ["good"] and any("bad.parquet" in n for n in made["notes"])


def test_nothing_but_bad_files_is_an_error_that_says_why(tmp_path: Path) -> None:
    broken(tmp_path)
    (tmp_path / ".into").mkdir()
    with pytest.raises(BadInput):
        plan([tmp_path / "empty.csv", tmp_path / "x.parquet"], {})
    with pytest.raises(BadInput):
        ingest({"kind": "files", "paths": [str(tmp_path)], "into": str(tmp_path / ".into")}, lambda _: None)


def test_a_refresh_of_a_folder_finds_new_files_beside_a_bad_one(tmp_path: Path) -> None:
    folder = tmp_path / "drop"
    folder.mkdir()
    broken(folder)
    (folder / "sales.csv").write_text(GOOD)
    app = Application(Settings(home=tmp_path / "home", sql_workers=1))
    try:
        me = app.person()
        plans = app.catalog.plan_files(me, [folder])
        handle = app.catalog.import_source(
            me, "files", "Drop", [folder], options=plan_options([p for p in plans if not p.error])
        )
        assert [t.name for t in handle.tables] == ["sales"]
        (folder / "customers.csv").write_text("id,name\n1,Ada\n2,Ben\n")
        again = app.versions.refresh(me, handle.source_id).handle
        assert sorted(t.name for t in again.tables) == ["customers", "sales"]
        (folder / "sales.csv").write_bytes(b"")
        with pytest.raises(BadInput, match="empty"):  # a table that was there does not go without a word
            app.versions.refresh(me, handle.source_id)
        assert app.catalog.handle(me, handle.source_id).snapshot_number == 2
    finally:
        app.close()
