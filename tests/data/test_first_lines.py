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


def test_ragged_lines_are_cut_where_the_names_are_and_the_wrong_ones_kept(csv: Importing) -> None:
    content = "id,street,city,n\n1,Main,Praha,5\n2,Main, 5,Brno,6\n3,Long,Plzen\n4,Side,Zlin,7\n5\n6,End,Olomouc,9,,\n"
    read = csv(content)
    whole = [(1, "Main", "Praha", 5), (4, "Side", "Zlin", 7), (6, "End", "Olomouc", 9)]
    assert sorted(read.rows()) == sorted([*whole, (3, "Long", "Plzen", None)])
    assert list(read.types()) == ["id", "street", "city", "n"]
    assert any("2,Main, 5,Brno,6" in line for line in kept(read))


def test_sentences_with_commas_stay_one_column(csv: Importing) -> None:
    read = csv("text\nHello, you\nOne, two, three, four\nNone at all\nYes\n")
    assert list(read.types()) == ["text"] and read.table()["rows"] == 4


def test_lines_wider_than_the_names_are_set_aside_where_others_fit(csv: Importing) -> None:
    rows = [f"{i},Main {i},Praha,{i}" if i % 3 == 0 else f"{i},Main, {i},Brno,{i}" for i in range(30)]
    read = csv("id,street,city,n\n" + "\n".join(rows) + "\n")
    assert read.table()["rejected"] == 20
    assert read.rows()[:2] == [(0, "Main 0", "Praha", 0), (3, "Main 3", "Praha", 3)]


def test_names_are_not_shifted_where_every_line_has_a_mark_too_many(csv: Importing) -> None:
    read = csv("id,price,qty\n1,1,5,3\n2,2,5,4\n3,3,5,5\n")
    assert read.rows() == [(1, 1, 5, 3), (2, 2, 5, 4), (3, 3, 5, 5)]
    assert list(read.types()) == ["column_1", "column_2", "column_3", "column_4"]
    assert "which name belongs to which column" in read.notes() and "id, price, qty" in read.notes()


def test_rows_with_names_of_their_own_keep_them(csv: Importing) -> None:
    read = csv("x,y\nr1,1,2\nr2,3,4\nr3,5,6\n")
    assert list(read.types()) == ["row_name", "x", "y"] and read.rows()[0] == ("r1", 1, 2)
