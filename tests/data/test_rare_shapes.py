"""Shapes that are rare and yet ordinary: dates with blanks, days as names, rare delimiters, files put behind each other."""

from __future__ import annotations

import io
from datetime import date, datetime

import pytest
import xlsxwriter

from lexsi_ds.data import fast_text, text_file
from tests.data.conftest import Importing


@pytest.mark.parametrize(
    ("values", "dates"),
    [
        (["3. 4. 2021", "13. 12. 2021"], [date(2021, 4, 3), date(2021, 12, 13)]),
        (["3.\u00a04.\u00a02021", "1. 1. 2020"], [date(2021, 4, 3), date(2020, 1, 1)]),
        (["3. 4. 2021 12:30", "13. 12. 2021 08:05"], [datetime(2021, 4, 3, 12, 30), datetime(2021, 12, 13, 8, 5)]),
    ],
)
def test_dates_with_blanks_between_their_parts(csv: Importing, values: list[str], dates: list[date]) -> None:
    assert [row[1] for row in csv("id;den\n" + "".join(f"{i};{v}\n" for i, v in enumerate(values))).rows()] == dates


def test_days_may_be_names_above_numbers(csv: Importing) -> None:
    read = csv("item,2021-01-01,2021-02-01\napples,1,2\npears,4,5\n")
    assert list(read.types()) == ["item", "2021-01-01", "2021-02-01"] and read.rows() == [("apples", 1, 2), ("pears", 4, 5)]


def test_cells_of_days_may_be_names_in_a_workbook(csv: Importing) -> None:
    held = io.BytesIO()
    with xlsxwriter.Workbook(held) as book:
        sheet, day = book.add_worksheet(), book.add_format({"num_format": "yyyy-mm-dd"})
        sheet.write(0, 0, "item")
        for month in (1, 2):
            sheet.write_datetime(0, month, datetime(2021, month, 1), day)
            sheet.write_row(month, 0, [f"i{month}", month, month + 10])
    read = csv(held.getvalue(), "t.xlsx")
    assert list(read.types()) == ["item", "2021-01-01", "2021-02-01"] and read.rows() == [("i1", 1, 11), ("i2", 2, 12)]


def test_days_above_days_are_data(csv: Importing) -> None:
    read = csv("Praha,2021-01-01,2021-02-01\nBrno,2021-03-01,2021-04-01\n")
    assert len(read.rows()) == 2


def test_a_rare_delimiter_that_cuts_every_line_wins_over_commas_in_texts(csv: Importing) -> None:
    read = csv("a~b~c\n1~x, y~2.5\n2~y, z~3.5\n3~q, r~1\n")
    assert read.types() == {"a": "BIGINT", "b": "VARCHAR", "c": "DOUBLE"}
    assert read.rows() == [(1, "x, y", 2.5), (2, "y, z", 3.5), (3, "q, r", 1.0)]


def test_a_rare_sign_within_texts_is_no_delimiter(csv: Importing) -> None:
    assert csv("a,b\n1,x~y\n2,z~w\n").rows() == [(1, "x~y"), (2, "z~w")]


def test_ragged_lines_of_two_columns_are_cut_and_kept_aside(csv: Importing) -> None:
    read = csv("id,v\n1,a\n2\n3,c,x\n4,d\n5,e,f,g\n6\n7,h,i\n")
    assert read.rows() == [(1, "a"), (4, "d")] and read.table()["rejected"] == 5


def test_text_with_a_comma_is_not_cut(csv: Importing) -> None:
    read = csv("Dear Sir, hello\nplain\nmore of it\na, b, c\nthe end\n")
    assert len(read.types()) == 1 and read.table()["rejected"] == 0


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("chunk", [4 << 20, 14, 15, 16, 17, 18])
def test_a_mark_within_files_put_behind_each_other_goes(
    csv: Importing, monkeypatch: pytest.MonkeyPatch, encoding: str, chunk: int
) -> None:
    monkeypatch.setattr(text_file, "_CHUNK", chunk)
    parts = "\ufeffid,v\n1,a\n\ufeffid,v\n2,b\n"
    content = parts.encode() if encoding == "utf-8-sig" else parts.encode("utf-16-le")
    read = csv(content)
    assert list(read.types()) == ["id", "v"] and read.rows() == [(1, "a"), (2, "b")]
    assert "1 byte order mark within the file left out" in read.notes() and "1 line repeats the column names" in read.notes()


def test_a_late_mark_in_a_large_file_is_seen(csv: Importing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_text, "FAST_FROM", 1 << 16)
    monkeypatch.setattr(fast_text, "_SAMPLE", 1 << 12)
    read = csv("id,v\n" + "1,a\n" * 20_000 + "\ufeffid,v\n2,b\n")
    assert read.table()["rows"] == 20_001 and read.rows(sql="SELECT DISTINCT id FROM data ORDER BY id") == [(1,), (2,)]


def test_a_brand_named_total_is_no_sum(csv: Importing) -> None:
    read = csv("brand,stations\nShell,1\nBP,2\nTotal,3\n")
    assert read.rows() == [("Shell", 1), ("BP", 2), ("Total", 3)]
    assert "The last row looks like a total (Total); it was kept." in read.notes()


def test_a_total_under_items_is_one(csv: Importing) -> None:
    read = csv("item,n\na,1\nb,2\nTotal,3\n")
    assert read.rows() == [("a", 1), ("b", 2)] and read.table()["rejected"] == 1


def test_na_beside_emea_is_a_region(csv: Importing) -> None:
    read = csv("country,region\nNamibia,Africa\nMexico,NA\nFrance,EMEA\n")
    assert [row[1] for row in read.rows()] == ["Africa", "NA", "EMEA"]


def test_na_among_other_words_is_missing(csv: Importing) -> None:
    read = csv("country,answer\nNamibia,Maybe\nMexico,NA\nFrance,EMEA\n")
    assert [row[1] for row in read.rows()] == ["Maybe", None, "EMEA"]
