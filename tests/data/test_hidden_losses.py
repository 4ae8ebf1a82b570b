"""What other readers lose in silence is kept or said: numbers too large, repeated keys, blanks around words, codes of a sheet."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter

from lexsi_ds.data.plan import ReadPlan, plan_options
from lexsi_ds.data.planning import plan
from tests.data.conftest import Importing


@pytest.mark.parametrize("body", ["1e309\n2\n3\n4\n", "5\n6,0\n".replace(",", ".") + "-1E400\n7\n"])
def test_a_number_too_large_to_hold_is_kept_as_it_stands(csv: Importing, body: str) -> None:
    read = csv("x;y\n" + "".join(f"{line};a\n" for line in body.split()))
    assert [x for x, _ in read.rows()] == body.split() and read.types()["x"] == "VARCHAR"
    assert "x was kept as text: 1 value is larger than any number that can be held" in read.notes()


def test_a_column_chosen_to_be_a_number_rejects_what_is_too_large(csv: Importing) -> None:
    read = csv("x,y\n1e309,a\n2.5,b\n1e308,c\n", columns={"0": {"type": "decimal"}})
    assert [x for x, _ in read.rows()] == [None, 2.5, 1e308] and "1 value of x did not fit" in read.notes()
    assert read.table()["options"]["flagged"] == 1


def test_a_late_number_too_large_does_not_become_infinite(csv: Importing) -> None:
    read = csv("x\n" + "1.5\n" * 12_000 + "1e999\n")
    assert read.types() == {"x": "VARCHAR"} and read.rows(sql="SELECT x FROM data ORDER BY rowid DESC LIMIT 1") == [("1e999",)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", '[{"a": 1, "b": "x", "a": 2}, {"a": 3, "b": "y"}]'),
        ("l.jsonl", '{"a": 1, "b": "x", "a": 2}\n{"a": 3, "b": "y"}\n'),
        ("w.json", '{"n": 2, "rows": [{"a": 1, "b": "x", "a": 2}, {"a": 3, "b": "y"}]}'),
    ],
)
def test_a_repeated_key_of_an_object_is_said_and_kept(csv: Importing, name: str, content: str) -> None:
    read = csv(content, name)
    assert read.rows() == [(1, "x"), (3, "y")] and read.types() == {"a": "BIGINT", "b": "VARCHAR"}
    assert "Repeated in 1 object: a. The first value was read" in read.notes()
    assert (read.table()["rejected"], read.table()["options"]["flagged"]) == (0, 1)
    assert "A KEY IS REPEATED" in Path(read.table()["rejected_path"]).read_text()


def test_numbers_that_a_sheet_shows_with_leading_zeros_stay_codes(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "codes.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        zips, parts = (book.add_format({"num_format": code}) for code in ("00000", r"00\-000"))
        for sheet in (book.add_worksheet("Plain"), book.add_worksheet("Ä & B")):
            sheet.write_row(0, 0, ["zip", "post", "n", "rate"])
            for row, (zip_code, post) in enumerate([(123, 1234), (45678, 99999), (7, 123456), (None, 5)], 1):
                sheet.write(row, 0, zip_code, zips)
                sheet.write(row, 1, post, parts if sheet.name != "Plain" else None)
                sheet.write(row, 2, row, book.add_format({"num_format": "0"}))
                sheet.write(row, 3, row / 4, book.add_format({"num_format": "0.00"}))
    read = importing("files", path)
    plain, other = (t["name"] for t in read.result["tables"])
    assert read.rows(plain) == [
        ("00123", 1234, 1, 0.25), ("45678", 99999, 2, 0.5), ("00007", 123456, 3, 0.75), (None, 5, 4, 1.0)
    ]  # fmt: skip
    assert [post for _, post, *_ in read.rows(other)] == ["01-234", "99-999", "123-456", "00-005"]
    assert read.types(plain) == {"zip": "VARCHAR", "post": "BIGINT", "n": "BIGINT", "rate": "DOUBLE"}


def test_blanks_around_words_are_said_and_trimmed_only_by_choice(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "pad.csv"
    path.write_text("kind;n;word\nA;1;x\nA ;2;y\n B;3;z\nA;4;x\n")
    (found,) = (ReadPlan.model_validate(p) for p in plan([path], {})["plans"])
    said = "2 values of kind have blanks around them, so that one category more is told apart than there is."
    assert [(s.kind, s.column, s.count, s.said) for s in found.suggestions] == [("trim", "kind", 2, said)]
    read = importing("files", path)
    assert [kind for kind, *_ in read.rows()] == ["A", "A ", " B", "A"] and said in read.notes() and "word have" not in read.notes()
    taken = found.take(found.suggestions[0])
    read = importing("files", path, **plan_options([taken]))
    assert [kind for kind, *_ in read.rows()] == ["A", "A", "B", "A"]
    assert "Blanks around 2 values of kind were trimmed by choice." in read.notes()


def test_texts_of_a_parquet_file_are_trimmed_by_choice(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "pad.parquet"
    duckdb.sql(f"COPY (SELECT unnest(['A', 'A ', ' ']) AS kind) TO '{path}'")
    read = importing("files", path, columns={"0": {"trim": True}})
    assert read.rows() == [("A",), ("A",), (None,)]


def test_names_that_come_twice_in_a_parquet_file_are_numbered_with_a_note(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "twice.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], names=["A B", "A B", "c"]), path)
    read = importing("files", path)
    assert read.types() == {"A B": "BIGINT", "A B_1": "BIGINT", "c": "BIGINT"}
    assert "Column names that came twice were numbered: A B_1." in read.notes()
