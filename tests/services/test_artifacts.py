from __future__ import annotations

import csv
import hashlib
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa

from lexsi_ds.errors import BadInput, Denied, NotFound
from lexsi_ds.ids import new_id
from lexsi_ds.models.frames import write_frame
from lexsi_ds.services.access import Actor
from lexsi_ds.services.artifacts import Artifacts
from lexsi_ds.store import tables as t
from lexsi_ds.store.db import Store

from .conftest import ADA, BEN

FRAME = pd.DataFrame({"status": ["A", "=B"], "n": [3, 4], "share": [1 / 3, np.nan]})


@pytest.fixture
def artifacts(store: Store, home: Path) -> Artifacts:
    return Artifacts(store, home)


@pytest.fixture
def run_id() -> str:
    return new_id("run")


def test_a_frame_comes_back_as_it_was(artifacts: Artifacts, run_id: str, store: Store, home: Path) -> None:
    artifact_id = artifacts.sink(ADA).save_frame(run_id, FRAME, {"tool": "run_sql", "row_count": 2})
    found = Artifacts(Store(store.url.render_as_string(hide_password=False)), home).get(ADA, artifact_id)
    pd.testing.assert_frame_equal(found.frame(), FRAME)
    told = {"tool": "run_sql", "row_count": 2, "sha256": hashlib.sha256(found.path.read_bytes()).hexdigest()}
    assert (found.kind, found.run_id, found.meta) == ("frame", run_id, told)
    with pytest.raises(BadInput):
        found.json()


def test_a_value_comes_back_as_it_was(artifacts: Artifacts, run_id: str) -> None:
    body = {"hits": [{"label": "Ústí", "score": 0.5}], "n": None}
    found = artifacts.get(ADA, artifacts.sink(ADA).save_json(run_id, body, {"tool": "query_kg"}))
    assert found.json() == body
    with pytest.raises(BadInput):
        found.frame()


def test_a_frame_of_mixed_values_is_kept_as_text(artifacts: Artifacts, run_id: str) -> None:
    mixed = pd.DataFrame({1: [1, "x", None], "n": [1, 2, 3]})
    found = artifacts.get(ADA, artifacts.sink(ADA).save_frame(run_id, mixed, {"tool": "run_sql"})).frame()
    assert found["n"].tolist() == [1, 2, 3] and found["1"].tolist()[:2] == ["1", "x"] and found["1"].isna().tolist()[2]


def test_a_file_that_a_tool_wrote_is_kept_even_when_the_next_query_writes_a_new_one(
    artifacts: Artifacts, run_id: str
) -> None:
    path = artifacts.folder(run_id) / "sql_1.arrow"
    write_frame(FRAME, path)
    artifact_id = artifacts.sink(ADA).save_frame(run_id, path, {"tool": "run_sql"})
    other = path.with_suffix(".tmp")
    write_frame(FRAME.head(1), other)
    other.replace(path)
    assert len(artifacts.get(ADA, artifact_id).frame()) == 2
    path.unlink()
    assert len(artifacts.get(ADA, artifact_id).frame()) == 2


def test_a_file_outside_of_the_home_is_not_taken(artifacts: Artifacts, run_id: str, home: Path) -> None:
    with pytest.raises(BadInput, match="home"):
        artifacts.sink(ADA).save_frame(run_id, Path("/etc/passwd"), {"tool": "run_sql"})
    assert artifacts.of_run(ADA, run_id) == ()
    assert not list(artifacts.folder(run_id).iterdir())


def test_what_cannot_be_kept_leaves_nothing(artifacts: Artifacts, run_id: str) -> None:
    with pytest.raises(TypeError):
        artifacts.sink(ADA).save_json(run_id, {"x": object()}, {"tool": "run_sql"})
    assert artifacts.of_run(ADA, run_id) == () and not list(artifacts.folder(run_id).iterdir())


def test_artifacts_of_a_run_come_in_the_order_they_were_made(artifacts: Artifacts, run_id: str) -> None:
    sink = artifacts.sink(ADA)
    made = [sink.save_json(run_id, i, {"tool": "t"}) for i in range(5)]
    assert [a.id for a in artifacts.of_run(ADA, run_id)] == made
    assert artifacts.of_run(BEN, run_id) == ()


@pytest.mark.parametrize("bad", [
    "", "art_1", "../store.sqlite", "art_../../../etc/passwd", "art_01900000-0000-7000-8000-000000000000",
    "run_01900000-0000-7000-8000-000000000000",
])
def test_an_id_that_is_none_of_ours_is_not_found(artifacts: Artifacts, bad: str) -> None:
    with pytest.raises(NotFound):
        artifacts.get(ADA, bad)


@pytest.mark.parametrize("bad", ["", "run_1", "../x", "run_../../../x", "art_01900000-0000-7000-8000-000000000000"])
def test_a_folder_is_made_for_run_ids_only(artifacts: Artifacts, home: Path, bad: str) -> None:
    with pytest.raises(NotFound):
        artifacts.folder(bad)
    with pytest.raises(NotFound):
        artifacts.sink(ADA).save_json(bad, 1, {"tool": "t"})
    assert not (home / "runs").exists()


def test_an_artifact_is_its_owners_alone(artifacts: Artifacts, run_id: str) -> None:
    artifact_id = artifacts.sink(ADA).save_json(run_id, 1, {"tool": "t"})
    with pytest.raises(NotFound):
        artifacts.get(BEN, artifact_id)
    with pytest.raises(NotFound):
        artifacts.csv(BEN, artifact_id)
    nobody = Actor("ada", "Ada", frozenset())
    with pytest.raises(Denied):
        artifacts.get(nobody, artifact_id)
    with pytest.raises(Denied):
        artifacts.sink(nobody)


@pytest.mark.parametrize("planted", ["../../../../../etc/passwd", "/etc/passwd", "runs/../../secret", ""])
def test_a_planted_path_opens_nothing_outside_of_the_home(
    artifacts: Artifacts, run_id: str, store: Store, planted: str, home: Path
) -> None:
    (home.parent / "secret").write_text("{}")
    artifact_id = artifacts.sink(ADA).save_json(run_id, 1, {"tool": "t"})
    with store.write() as db:
        db.execute(sa.update(t.artifacts).values(path=planted))
    with pytest.raises(NotFound):
        artifacts.get(ADA, artifact_id)


def test_a_link_that_leaves_the_home_is_not_followed(artifacts: Artifacts, run_id: str, home: Path) -> None:
    artifact_id = artifacts.sink(ADA).save_json(run_id, 1, {"tool": "t"})
    (file,) = artifacts.folder(run_id).iterdir()
    file.unlink()
    file.symlink_to("/etc/passwd")
    with pytest.raises(NotFound):
        artifacts.get(ADA, artifact_id)


def test_a_file_that_is_gone_is_told(artifacts: Artifacts, run_id: str) -> None:
    artifact_id = artifacts.sink(ADA).save_json(run_id, 1, {"tool": "t"})
    for file in artifacts.folder(run_id).iterdir():
        file.unlink()
    with pytest.raises(NotFound, match="not there any more"):
        artifacts.get(ADA, artifact_id)
    assert artifacts.of_run(ADA, run_id) == ()


def test_the_download_of_a_frame_holds_all_its_rows(artifacts: Artifacts, run_id: str) -> None:
    big = pd.DataFrame({"i": range(30_000), "t": "=1"})
    data = artifacts.csv(ADA, artifacts.sink(ADA).save_frame(run_id, big, {"tool": "run_sql"}))
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8"), newline="")))
    assert [int(r["i"]) for r in rows] == list(range(30_000)) and {r["t"] for r in rows} == {"'=1"}


def test_a_midnight_leaves_as_a_date_and_a_moment_as_iso(tmp_path: Path) -> None:
    import duckdb

    from lexsi_ds.services.csv_text import csv_bytes

    with duckdb.connect() as db:
        db.execute("CREATE TABLE t AS SELECT TIMESTAMP '1998-12-31' AS day, TIMESTAMP '1998-12-31 13:05:00' AS moment")
        columns = [(name, kind) for name, kind, *_ in db.execute("DESCRIBE t").fetchall()]
        assert csv_bytes(db, columns, "FROM t", [], tmp_path) == b"day,moment\n1998-12-31,1998-12-31T13:05:00\n"
