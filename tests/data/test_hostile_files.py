"""Files made at random with known truth, damaged ones, and ones made to do harm: a table or a clear error, never more."""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

import pytest

from lexsi_ds.errors import BadInput, LexsiError
from tests.data.conftest import Importing
from tests.data.mutations import damage, judge, make, read_back


def test_files_written_in_any_way_read_back_equal_or_say_where_not(tmp_path: Path) -> None:
    verdicts = {seed: judge(*make(seed)[:2], tmp_path) for seed in range(5000, 5040)}
    states = Counter(v.state for v in verdicts.values())
    assert not states["silent"], {seed: v.detail for seed, v in verdicts.items() if v.state == "silent"}
    assert states["equal"] >= 38, verdicts


def test_damaged_files_end_in_a_table_or_a_clear_error(tmp_path: Path) -> None:
    for seed in range(7000, 7025):
        try:
            read_back(damage(make(seed)[0], random.Random(seed)), tmp_path)
        except LexsiError as error:
            assert error.what and error.where, seed


def test_bytes_of_zero_are_left_out_and_said(csv: Importing) -> None:
    read = csv(b"a,b\n1,x\x00y\n2,z\n")
    assert read.rows() == [(1, "xy"), (2, "z")] and "1 NUL byte left out" in read.notes()


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_found(csv: Importing, encoding: str) -> None:
    read = csv("name;n\nŽižka;1,5\nKöln;2\n".encode(encoding))
    assert read.rows() == [("Žižka", 1.5), ("Köln", 2.0)] and read.table()["options"]["encoding"] == encoding


def test_a_sparse_file_of_two_gigabytes_is_refused_at_once(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "sparse.csv"
    with path.open("wb") as file:
        file.truncate(2 << 30)
    with pytest.raises(BadInput, match="binary file"):
        importing("files", path)


def test_pipes_and_folders_named_as_files_are_no_files(tmp_path: Path, importing: Importing) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(BadInput, match="not a file"):
        importing("files", tmp_path / "pipe.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(BadInput, match="no table in this folder"):
        importing("files", tmp_path / "folder.csv")


def test_a_header_of_many_thousand_columns_is_refused(tmp_path: Path, importing: Importing) -> None:
    for delimiter in ",;\t":
        (tmp_path / "t.csv").write_text(delimiter.join(f"c{i}" for i in range(10_000)) + "\n")
        with pytest.raises(BadInput, match="10,000 columns"):
            importing("files", tmp_path / "t.csv")


def test_a_very_long_field_is_read_whole(csv: Importing) -> None:
    read = csv("a,b\n1,x\n2," + "y" * 5_000_000 + "\n3,z\n")
    assert read.rows(sql="SELECT a, length(b) FROM data") == [(1, 1), (2, 5_000_000), (3, 1)]


def test_names_of_columns_are_never_taken_for_orders(csv: Importing) -> None:
    name = "a\"; DROP TABLE data; --"
    read = csv(f"\"{name.replace(chr(34), chr(34) * 2)}\",'b'\n1,2\n")
    assert next(iter(read.types())) == name and read.rows() == [(1, 2)]


def test_lines_that_repeat_the_names_are_set_aside_with_their_numbers(csv: Importing) -> None:
    read = csv("a,b\n1,x\na,b\n2,y\n")
    assert read.rows() == [(1, "x"), (2, "y")] and read.table()["rejected"] == 1
    assert '3,REPEATS THE HEADER,"a,b"' in Path(read.table()["rejected_path"]).read_text()


def test_a_row_that_only_says_it_is_a_total_is_kept_and_said(csv: Importing) -> None:
    read = csv("region,n\nnorth,1\nsouth,2\nTotal,5\n")
    assert read.table()["rows"] == 3 and "looks like a total (Total)" in read.notes()
