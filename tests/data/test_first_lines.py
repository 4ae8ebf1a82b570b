"""The first lines of a text file: titles and comments beside names and rows that only look like them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.data.conftest import Imported, Importing


def kept(read: Imported) -> list[str]:
    return Path(read.table()["rejected_path"]).read_text().splitlines()[1:]


@pytest.mark.parametrize(
    ("content", "names", "rows"),
    [
        ("#channel,members\n#general,10\n#random,20\ndev,5\n", ["#channel", "members"],
         [("#general", 10), ("#random", 20), ("dev", 5)]),
        ("#,name,score\n1,Ann,7\n2,Bob,9\n", ["#", "name", "score"], [(1, "Ann", 7), (2, "Bob", 9)]),
        ("#id,tag\n#1,x\n#2,y\n3,z\n", ["#id", "tag"], [("#1", "x"), ("#2", "y"), ("3", "z")]),
        ("#ffffff,white\n#000000,black\n#ff0000,red\n", ["column_1", "column_2"],
         [("#ffffff", "white"), ("#000000", "black"), ("#ff0000", "red")]),
        ("#id,name\n1,Ann\n2,Bob\n", ["id", "name"], [(1, "Ann"), (2, "Bob")]),
    ],
)  # fmt: skip
def test_lines_that_begin_with_a_hash_and_fit_the_table_are_in_it(
    csv: Importing, content: str, names: list[str], rows: list[tuple[object, ...]]
) -> None:
    read = csv(content)
    assert (list(read.types()), read.rows()) == (names, rows)


def test_titles_and_comments_are_kept_with_their_lines(csv: Importing) -> None:
    read = csv("# source: office, 2021\n\nReport\nid,name,score\n1,Ann,7\n2,Bob,9\n")
    assert read.rows() == [(1, "Ann", 7), (2, "Bob", 9)]
    assert [line.split(",", 2) for line in kept(read)] == [
        ["1", "TITLE OR COMMENT ABOVE THE TABLE", '"# source: office, 2021",,'],
        ["3", "TITLE OR COMMENT ABOVE THE TABLE", "Report,,"],
    ]
    assert "2 lines before the column names (titles or comments) not read as data; kept" in read.notes()


def test_a_remark_with_as_many_cells_as_the_table_is_no_name(csv: Importing) -> None:
    read = csv("# office, 2021\nid,value\n1,2.5\n2,3.5\n")
    assert read.rows() == [(1, 2.5), (2, 3.5)] and kept(read)[0].startswith("1,TITLE OR COMMENT")
