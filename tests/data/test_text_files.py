"""Delimited text: delimiters, encodings, headers, types and missing values; every line read or counted."""

from __future__ import annotations

import os
from datetime import date, datetime
from pathlib import Path

import duckdb
import pytest

from lexsi_ds.errors import BadInput
from tests.data.conftest import Imported, Importing

_CZECH = "jméno;město;částka\nŽaneta Šťastná;Ústí nad Labem;1,5\nJiří Dvořák;Plzeň;22,75\nŘehoř Čech;Třebíč;3,10\n"
_WESTERN = "name;city\nJosé Muñoz;Málaga\nFrançois Lefèvre;Orléans\nJürgen Groß;Köln\n"


def _kept(read: Imported) -> list[str]:
    return Path(read.table()["rejected_path"]).read_text().splitlines()[1:]


@pytest.mark.parametrize(
    ("content", "name"),
    [("a,b\n1,x\n", "t.csv"), ("a;b\n1;x\n", "t.csv"), ("a\tb\n1\tx\n", "t.tsv"), ("a|b\n1|x\n", "t.txt")],
)
def test_the_delimiter_is_found(csv: Importing, content: str, name: str) -> None:
    assert csv(content, name).rows() == [(1, "x")]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_any_line_end_is_read(csv: Importing, ending: str) -> None:
    assert csv(ending.join(["a,b", "1,2", "3,4", ""])).rows() == [(1, 2), (3, 4)]


def test_mixed_line_ends_lose_no_line(csv: Importing) -> None:
    assert csv("a,b\r\n1,2\n3,4\r\n5,6\n").rows() == [(1, 2), (3, 4), (5, 6)]


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("utf-8", "utf-8"), ("utf-8-sig", "utf-8-sig"), ("utf-16", "utf-16"), ("utf-16-le", "utf-16-le"),
        ("cp1250", "cp1250"), ("iso8859_2", "iso8859_2"),
    ],
)  # fmt: skip
def test_czech_letters_survive_every_encoding(csv: Importing, encoding: str, said: str) -> None:
    read = csv((_CZECH * 4).replace("\njméno;město;částka", "").encode(encoding))
    assert read.rows()[0] == ("Žaneta Šťastná", "Ústí nad Labem", 1.5)
    assert list(read.types()) == ["jméno", "město", "částka"]
    assert read.table()["options"]["encoding"] == said


def test_western_letters_are_not_taken_for_czech_ones(csv: Importing) -> None:
    read = csv(_WESTERN.encode("latin-1"))
    assert ("José Muñoz", "Málaga") in read.rows()
    assert "a guess from its letters" in read.notes()


def test_an_encoding_can_be_chosen_and_must_fit(csv: Importing) -> None:
    assert csv("a\nñ\n".encode("cp1252"), encoding="cp1252").rows() == [("ñ",)]
    with pytest.raises(BadInput, match="not utf-8 all through"):
        csv("a\nñ\n".encode("cp1252"), encoding="utf-8")
    with pytest.raises(BadInput, match="no encoding named klingon"):
        csv("a\n1\n", encoding="klingon")


def test_lines_that_do_not_fit_are_counted_and_kept_in_a_file(csv: Importing) -> None:
    read = csv("a,b,c\n1,2,3\nnote,5\n6,7,8,9\n10,11,12\n")
    table = read.table()
    assert (table["rows"], table["rejected"]) == (2, 2)
    assert _kept(read) == ['3,MISSING COLUMNS,"note,5",,', '4,TOO MANY COLUMNS,"6,7,8,9",,']
    assert "2 lines could not be read" in read.notes()


def test_a_line_that_only_lacks_cells_at_its_end_is_filled_up_and_said(csv: Importing) -> None:
    read = csv("id,name,city,note\n1,Ann,Rome,\"x\ny\"\n2,Bob,Oslo\n\n3,Cid,Bonn,y\n4,Dan\n")
    assert read.rows() == [(1, "Ann", "Rome", "x\ny"), (2, "Bob", "Oslo", None), (3, "Cid", "Bonn", "y"), (4, "Dan", None, None)]
    assert "2 lines had fewer cells than there are columns (the first is line 4)" in read.notes()
    filled = "SHORT LINE READ WITH MISSING CELLS AT ITS END"
    assert _kept(read) == [f'4,{filled},"2,Bob,Oslo",,', f'7,{filled},"4,Dan",,']
    assert read.table()["rejected"] == 0 and read.table()["options"]["flagged"] == 2


@pytest.mark.parametrize("lines", ["2,Bob,Os\nlo,z\n", "Source: office, 2020\n", "2\n", "# a remark, in the middle\n"])
def test_a_short_line_that_may_be_something_else_is_not_filled_up(csv: Importing, lines: str) -> None:
    read = csv("id,name,city,note\n1,Ann,Rome,x\n" + lines + "3,Cid,Bonn,y\n4,Dan,Graz,q\n")
    assert [row[0] for row in read.rows()] == [1, 3, 4]
    assert read.table()["rejected"] == lines.count("\n")


def test_a_line_break_in_a_column_name_costs_no_row(csv: Importing) -> None:
    read = csv('"a ""q""","line\nbreak","😀"\n1,2,3\n4,5,6\n')
    assert read.rows() == [(1, 2, 3), (4, 5, 6)] and list(read.types()) == ['a "q"', "line break", "😀"]


def test_a_first_line_that_says_the_delimiter_is_no_name(csv: Importing) -> None:
    read = csv("sep=;\nid;name\n1;a,b\n2;c,d\n")
    assert list(read.types()) == ["id", "name"] and read.rows() == [(1, "a,b"), (2, "c,d")]


def test_blanks_between_delimiter_and_quote_are_no_part_of_a_name(csv: Importing) -> None:
    read = csv('id, "name", v\n1, "a, b", 2.5\n2, "c", 3.5\n')
    assert list(read.types()) == ["id", "name", "v"] and read.rows()[0] == (1, "a, b", 2.5)


def test_text_written_as_a_formula_is_read_as_the_text(csv: Importing) -> None:
    read = csv('id,code\n1,="00123"\n2,="00456"\n')
    assert read.rows() == [(1, "00123"), (2, "00456")] and "written as formulas" in read.notes()


def test_an_open_quote_does_not_swallow_the_rest_of_the_file(csv: Importing) -> None:
    read = csv('a,b,c\n1,"open,3\n' + "".join(f"{i},2,3\n" for i in range(5000)))
    assert read.table()["rows"] + read.table()["rejected"] == 5001
    assert read.table()["rejected"] <= 1


def test_when_no_line_fits_it_is_an_error(csv: Importing) -> None:
    with pytest.raises(BadInput, match="No line could be read as 2 columns"):
        csv('a,b\n"x" y,1\n"z" w,2\n')


def test_quotes_line_breaks_and_delimiters_inside_values_survive(csv: Importing) -> None:
    assert csv('a,b\n"x ""y"", z","line\nbreak"\n').rows() == [('x "y", z', "line\nbreak")]


def test_blanks_in_a_number_column_become_missing_and_are_reported(csv: Importing) -> None:
    read = csv("a,b\n1, \n2,3.5\n3,\n")
    assert read.rows() == [(1, None), (2, 3.5), (3, None)]
    assert "1 blank value of b became missing." in read.notes()


def test_codes_for_missing_become_missing_and_words_only_where_the_rest_are_numbers(csv: Importing) -> None:
    read = csv("n,t,band\n1,NA,None\nNA,x,High\n?,y,Low\nNone,?,None\n")
    assert read.rows() == [(1, None, "None"), (None, "x", "High"), (None, "y", "Low"), (None, None, "None")]
    assert "3 values of n such as ? or NA or None became missing." in read.notes()
    assert "2 values of t such as ? or NA became missing." in read.notes()


def test_codes_that_may_be_values_are_kept(csv: Importing) -> None:
    read = csv("country,strand\nNA,+\nDE,-\nFR,-\n")
    assert read.rows() == [("NA", "+"), ("DE", "-"), ("FR", "-")]


def test_leading_zeros_are_kept_as_text(csv: Importing) -> None:
    read = csv("zip,n,z\n01234,1,0\n99999,2,0.5\n")
    assert read.types() == {"zip": "VARCHAR", "n": "BIGINT", "z": "DOUBLE"}
    assert read.rows()[0][0] == "01234" and "leading zeros" in read.notes()


def test_a_late_odd_value_costs_the_type_but_no_row(csv: Importing) -> None:
    read = csv("a,b,c\n" + "".join(f"{i},{i},{i}\n" for i in range(12_000)) + "x,1.7,007\n")
    assert read.types() == {"a": "VARCHAR", "b": "DOUBLE", "c": "VARCHAR"}
    assert read.rows(sql="SELECT count(*), max(b) FROM data") == [(12_001, 11_999.0)]
    assert read.rows(sql="SELECT * FROM data WHERE a = 'x'") == [("x", 1.7, "007")]


def test_values_that_come_only_late_still_give_the_type(csv: Importing) -> None:
    read = csv("a,b\n" + ",1\n" * 12_000 + "2020-01-31,1\n")
    assert read.types()["a"] == "DATE" and read.column("a")["nulls"] == 12_000


def test_numbers_too_long_to_hold_stay_text(csv: Importing) -> None:
    assert csv("a\n12345678901234567890123\n1\n").rows() == [("12345678901234567890123",), ("1",)]


def test_decimal_commas_are_read_where_they_are_clear(csv: Importing) -> None:
    read = csv("a;b;c;d\n1.234,50;1,234;1.234;1\n2,75;5,678;2.000;2\n")
    assert read.rows() == [(1234.5, 1.234, 1234, 1), (2.75, 5.678, 2000, 2)]
    unclear = csv("a;b\n1,234;x\n5,678;y\n", "u.csv")
    assert unclear.types()["a"] == "VARCHAR" and "thousand or a decimal" in unclear.notes()


def test_thousands_with_commas_are_read_where_they_are_clear(csv: Importing) -> None:
    assert csv('a\n"1,234.50"\n12.00\n').rows() == [(1234.5,), (12.0,)]


def test_dates_are_read_when_day_and_month_can_be_told_apart(csv: Importing) -> None:
    read = csv("iso,ts,dot,dmy,mdy\n2020-01-02,2020-01-02 10:11:12,1.2.2020,13/02/2020,02/13/2020\n")
    assert read.rows() == [
        (date(2020, 1, 2), datetime(2020, 1, 2, 10, 11, 12), date(2020, 2, 1), date(2020, 2, 13), date(2020, 2, 13))
    ]
    assert read.result["today"] == "2020-02-13"


def test_an_ambiguous_date_stays_text_until_somebody_says_the_order(csv: Importing) -> None:
    text = "a,b\n01/02/2020,1\n03/04/2020,2\n"
    read = csv(text)
    assert read.types()["a"] == "VARCHAR" and "day and month cannot be told apart" in read.notes()
    assert csv(text, "u.csv", date_order="dmy").rows()[0] == (date(2020, 2, 1), 1)


def test_a_clear_date_column_settles_the_others_of_its_file(csv: Importing) -> None:
    assert csv("a,b\n01/02/2020,25/12/2019\n03/04/2020,26/12/2019\n").rows()[0][0] == date(2020, 2, 1)


def test_true_and_false_are_booleans_and_yes_and_no_stay_text(csv: Importing) -> None:
    assert csv("a,b,c\ntrue,Yes,1\nFALSE,No,0\n").types() == {"a": "BOOLEAN", "b": "VARCHAR", "c": "BIGINT"}


def test_odd_spellings_of_numbers_stay_text(csv: Importing) -> None:
    read = csv("a,b,c,d\n0x1F,1_000,inf,12%\n3,4,1.5,13\n")
    assert set(read.types().values()) == {"VARCHAR"}


def test_currency_percent_and_brackets_are_read_and_said(csv: Importing) -> None:
    read = csv('a;b;c;d\n$1,234.50;12%;(5.5);7-\n$-;13.5%;6;8\n"$ 3.00";0%;1;9\n')
    assert read.rows() == [(1234.5, 12.0, -5.5, -7), (0.0, 13.5, 6.0, 8), (3.0, 0.0, 1.0, 9)]
    assert "a: amounts in $" in read.notes() and "b: percent" in read.notes()


def test_repeated_and_empty_names_get_names_of_their_own(csv: Importing) -> None:
    read = csv("a,A,,b,\n1,2,3,4,5\n")
    assert list(read.types()) == ["a", "A_2", "column_3", "b", "column_5"]
    assert "A_2" in read.notes() and "2 columns without a name" in read.notes()


def test_a_file_without_names_gets_numbers_for_names(csv: Importing) -> None:
    read = csv("1,2,x\n3,4,y\n")
    assert read.rows() == [(1, 2, "x"), (3, 4, "y")] and "no line of column names" in read.notes()


def test_years_as_column_names_are_names(csv: Importing) -> None:
    assert list(csv("country,2010,2011\nCZ,1,2\nDE,3,4\n").types()) == ["country", "2010", "2011"]


def test_titles_and_comments_before_the_names_are_passed_over_and_said(csv: Importing) -> None:
    read = csv("Report 2020\n\n# made by hand,,\na,b,c\n1,2,3\n")
    assert read.rows() == [(1, 2, 3)] and "2 lines before the column names" in read.notes()


def test_only_names_make_a_table_without_rows(csv: Importing) -> None:
    read = csv("a,b,c\n")
    assert read.table()["rows"] == 0 and list(read.types()) == ["a", "b", "c"]


@pytest.mark.parametrize("content", [b"", b"\n  \n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused(csv: Importing, content: bytes) -> None:
    with pytest.raises(BadInput, match="empty"):
        csv(content)


@pytest.mark.parametrize(
    "content",
    [os.urandom(4096), b"PK\x03\x04" + os.urandom(500), b"PAR1" + bytes(100), b"SQLite format 3\x00" + bytes(100)],
)
def test_a_binary_file_named_csv_is_refused(csv: Importing, content: bytes) -> None:
    with pytest.raises(BadInput, match=r"not (a )?text") as refused:
        csv(content)
    assert refused.value.where == "t.csv" and refused.value.to_do


def test_ten_thousand_columns_are_refused(csv: Importing) -> None:
    line = ",".join(f"c{i}" for i in range(10_000))
    with pytest.raises(BadInput, match="10,000 columns; at most 2,000"):
        csv(f"{line}\n{line}\n")


def test_rows_keep_the_order_of_the_file(csv: Importing) -> None:
    numbers = [(i * 7919) % 100_003 for i in range(60_000)]
    read = csv("a\n" + "\n".join(map(str, numbers)) + "\n")
    assert [row[0] for row in read.rows()] == numbers


def test_parquet_keeps_its_types_and_rows(tmp_path: Path, importing: Importing, shared_data: Path) -> None:
    taxis = importing("files", shared_data / "files" / "yellow_tripdata_sample.parquet")
    assert taxis.table()["rows"] == 5000 and taxis.types()["tpep_pickup_datetime"] == "TIMESTAMP"


def test_a_broken_parquet_file_is_refused(tmp_path: Path, importing: Importing) -> None:
    good = tmp_path / "good.parquet"
    duckdb.sql("SELECT range AS a, 'x' AS b FROM range(1000)").write_parquet(str(good))
    assert importing("files", good).table()["rows"] == 1000
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(good.read_bytes()[:-40])
    with pytest.raises(BadInput, match="Parquet file cannot be read"):
        importing("files", cut)
    wrong = tmp_path / "wrong.parquet"
    wrong.write_text("hello")
    with pytest.raises(BadInput, match="not a Parquet file"):
        importing("files", wrong)
