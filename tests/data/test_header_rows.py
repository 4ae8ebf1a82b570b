"""Where names end and data begins: line breaks within names, and first rows that have words where values should be."""

from __future__ import annotations

from pathlib import Path

import pytest
import xlsxwriter

from lexsi_ds.data import fast_text
from tests.data.conftest import Importing

_DOUBT = "it was read as data"


@pytest.mark.parametrize(
    ("content", "names", "first", "rows"),
    [
        ('"Customer\nID",Region,"Sales\n(EUR)"\n1,R1,10.5\n2,R2,21\n3,R3,31.5\n',
         ["Customer ID", "Region", "Sales (EUR)"], (1, "R1", 10.5), 3),
        ('"Počet\nkusů";Cena\n1;1,5\n2;2,5\n', ["Počet kusů", "Cena"], (1, 1.5), 2),
        ('\n\n"a\nb","c"\n1,2\n3,4\n', ["a b", "c"], (1, 2), 2),
        ('"Report\nof sales",,\n\nid,v,w\n1,2,3\n4,5,6\n7,8,9\n', ["id", "v", "w"], (1, 2, 3), 3),
        ('Report "of\n pipes"\nid,"v\nx",w\n1,2,3\n4,5,6\n7,8,9\n', ["id", "v x", "w"], (1, 2, 3), 3),
        ('"a\r\nb",c\r\n1,2\r\n3,4\r\n', ["a b", "c"], (1, 2), 2),
        ('id,"the \\"big\\" name","multi\nline"\n1,a,2\n2,b,3\n', ["id", 'the "big" name', "multi line"], (1, "a", 2), 2),
        ('"g\nx",,"h\ny",\na,b,"c\nd",e\n1,2,3,4\n5,6,7,8\n9,10,11,12\n',
         ["g x a", "g x b", "h y c d", "h y e"], (1, 2, 3, 4), 3),
    ],
)  # fmt: skip
def test_line_breaks_in_names_and_titles_cost_no_row(
    csv: Importing, content: str, names: list[str], first: tuple[object, ...], rows: int
) -> None:
    read = csv(content)
    assert (list(read.types()), read.rows()[0], read.table()["rows"]) == (names, first, rows)


def test_line_breaks_in_names_cost_no_row_of_a_large_file(csv: Importing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_text, "FAST_FROM", 1_000)
    body = "".join(f"{i},{i}.5,w{i}\n" for i in range(2_000))
    read = csv(f'"Report\nof x",,\n\n"id\nno","va\nlue",t\n{body}')
    assert list(read.types()) == ["id no", "va lue", "t"] and read.table()["options"]["lines"] is None
    assert (read.rows()[0], read.rows()[-1], read.table()["rows"]) == ((0, 0.5, "w0"), (1999, 1999.5, "w1999"), 2_000)


def test_line_breaks_in_names_of_a_sheet_cost_no_row(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["Customer\nID", "Sales\n(EUR)"])
        for r in range(1, 6):
            sheet.write_row(r, 0, [r, r * 1.5])
    read = importing("files", path)
    assert list(read.types()) == ["Customer ID", "Sales (EUR)"]
    assert read.rows() == [(1, 1.5), (2, 3.0), (3, 4.5), (4, 6.0), (5, 7.5)]


_TEN = "".join(f"R{i},{i * 10},{i * 7}\n" for i in range(1, 21))


@pytest.mark.parametrize(
    ("content", "names", "first", "rows"),
    [
        (f"region,q1,q2\nTotal UK,suppressed,suppressed\n{_TEN}", ["region", "q1", "q2"],
         ("Total UK", "suppressed", "suppressed"), 21),
        (f"city,pop,n\nUnknown place,see note,see note\n{_TEN}", ["city", "pop", "n"],
         ("Unknown place", "see note", "see note"), 21),
        (f",q1,q2\nNorth,tbd,tbd\n{_TEN}", ["column_1", "q1", "q2"], ("North", "tbd", "tbd"), 21),
        (f"sample,lead,zinc\nS1,<0.5,<0.1\n{_TEN}", ["sample", "lead", "zinc"], ("S1", "<0.5", "<0.1"), 21),
        (f"name,a,b\nPraha,*,*\nBrno,*,*\n{_TEN}", ["name", "a", "b"], ("Praha", "*", "*"), 22),
        ("k,v\na,true\nb,false\nc,0\nd,1\n", ["k", "v"], ("a", "true"), 4),
    ],
)  # fmt: skip
def test_first_rows_with_words_for_values_stay_rows(
    csv: Importing, content: str, names: list[str], first: tuple[str, ...], rows: int
) -> None:
    read = csv(content)
    assert (list(read.types()), read.rows()[0], read.table()["rows"]) == (names, first, rows)


@pytest.mark.parametrize(
    "head",
    ["name,email,age\n", ",email,age\n", "name,,age\n", "name,email,email\n"],
)
def test_an_email_never_becomes_the_name_of_a_column(csv: Importing, head: str) -> None:
    people = "".join(f"P{i},p{i}@x.cz,{20 + i}\n" for i in range(20))
    read = csv(f"{head}Ann,ann@x.cz,unknown\n{people}")
    assert not any("@" in name or "Ann" in name for name in read.types())
    assert read.rows()[0] == ("Ann", "ann@x.cz", "unknown") and read.table()["rows"] == 21
    without = csv(f"Ann,ann@x.cz,unknown\n{people}")
    assert list(without.types()) == ["column_1", "column_2", "column_3"] and without.table()["rows"] == 21
    assert without.column("column_2")["masked"]


def test_an_email_in_a_table_of_text_is_no_name(csv: Importing) -> None:
    read = csv("Ann,ann@x.cz\nBob,bob@x.cz\nCy,cy@x.cz\n")
    assert list(read.types()) == ["column_1", "column_2"] and read.table()["rows"] == 3


def test_a_doubtful_second_line_of_names_is_said_and_can_be_chosen(csv: Importing) -> None:
    content = "time,place\nwhen,where\n1,2\n3,4\n5,6\n"
    read = csv(content)
    assert read.rows()[0] == ("when", "where") and _DOUBT in read.notes()
    chosen = csv(content, header_lines=[1, 2])
    assert list(chosen.types()) == ["time when", "place where"] and chosen.rows() == [(1, 2), (3, 4), (5, 6)]
    assert _DOUBT not in csv("a,b\n1,2\n3,4\n5,6\n").notes()


def test_units_groups_and_gaps_still_belong_to_the_names(csv: Importing) -> None:
    assert list(csv("time,temp\ns,degC\n1,20.5\n2,21.5\n3,22\n").types()) == ["time s", "temp degC"]
    assert list(csv(",Sales,Costs\nRegion,EUR,EUR\nN,1,2\nS,3,4\nE,5,6\n").types()) == ["Region", "Sales EUR", "Costs EUR"]
    assert list(csv("Region,Sales,Sales\n,Q1,Q2\nN,1,2\nS,3,4\nE,5,6\n").types()) == ["Region", "Sales Q1", "Sales Q2"]
    assert list(csv("Region,Money,\n,net,share\nN,1,2\nS,3,4\nE,5,6\n").types()) == ["Region", "Money net", "Money share"]
