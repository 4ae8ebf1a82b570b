"""Kept rows are found by case id whatever the id's type, and other rows have another fingerprint."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from lexsi_ds.models.frames import write_frame
from lexsi_ds.services.explanation_cache import ExplanationCache
from lexsi_ds.services.explanation_rows import ExplanationRows
from lexsi_ds.services.explanations import Told


def _kept(folder: Path, ids: list) -> ExplanationRows:
    write_frame(pd.DataFrame({"id": ids[:1], "x": [0], "_lexsi_target": [1]}), folder / "oof.arrow")
    rows = ExplanationRows(folder / "kept", folder, "id")
    rows.keep(pd.DataFrame({"id": ids, "x": range(len(ids))}))
    return rows


@pytest.mark.parametrize("ids", [[7, 8, 9], ["7", "8", "9"], [7.0, 8.0, 9.0]])
def test_a_case_is_found_by_its_id_as_text(tmp_path: Path, ids: list) -> None:
    rows = _kept(tmp_path, ids)
    found = rows.find(["9", "8", "none", "-1", "1e3"])
    assert {case: frame["x"].tolist() for case, frame in found.items()} == {"9": [2], "8": [1]}
    assert list(found["9"].columns) == ["id", "x"]
    assert rows.find(["7"])["7"]["x"].tolist() == [0]


def test_other_rows_have_another_fingerprint(tmp_path: Path) -> None:
    rows = _kept(tmp_path, [1, 2])
    first = rows.fingerprint()
    rows.keep(pd.DataFrame({"id": [1, 2, 3], "x": [0, 1, 2]}))
    assert rows.fingerprint() != first
    assert rows.fingerprint("training") == "training"
    assert rows.path("training") == tmp_path / "oof.arrow"
    cache = ExplanationCache(tmp_path / "cache")
    paths = {cache.path("mdl_x", "case", {"case": c}, r) for c in ("1", "2") for r in (first, rows.fingerprint())}
    assert len(paths) == 4


def test_half_a_file_is_computed_again(tmp_path: Path) -> None:
    cache = ExplanationCache(tmp_path)
    path = cache.path("mdl_x", "case", {}, "rows")
    path.parent.mkdir(parents=True)
    path.write_text('{"case": ')
    assert cache.read(path, Told) is None
    assert not path.exists()
