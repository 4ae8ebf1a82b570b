"""Tables as they lie in files: with totals, notes, units, other tables under them; compressed; under a wrong name."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from datetime import date, datetime
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
import xlsxwriter

from lexsi_ds.data import archives
from lexsi_ds.data.plan import ReadPlan, plan_options
from lexsi_ds.data.planning import plan, preview
from lexsi_ds.errors import BadInput
from tests.data.conftest import Imported, Importing


def _kept(read: Imported, name: str | None = None) -> list[str]:
    return Path(read.table(name)["rejected_path"]).read_text().splitlines()[1:]


def test_a_total_that_adds_up_is_no_row_and_is_kept_apart(csv: Importing) -> None:
    read = csv('region;amount;n\nNorth;1.010,50;1\nSouth;20,00;2\nTotal;1.030,50;3\n')
    assert read.rows() == [("North", 1010.5, 1), ("South", 20.0, 2)]
    assert "The last row is a total (Total: the sum of the rows above in amount)" in read.notes()
    assert _kept(read) == [',TOTAL UNDER THE TABLE,"Total;1.030,50;3",3,']


def test_a_total_among_numbers_of_rows_costs_no_type(csv: Importing) -> None:
    read = csv("id,rate\n1,0.5\n2,0.7\n3,0.6\nCelkem,0.6\n")
    assert read.types()["id"] == "BIGINT" and read.table()["rejected"] == 1


def test_notes_and_totals_can_be_kept_as_rows(csv: Importing) -> None:
    read = csv("region,n\nnorth,1\nsouth,2\nTotal,3\n", keep_below=True)
    assert read.rows()[-1] == ("Total", 3)


def test_notes_under_a_table_cost_no_type(csv: Importing) -> None:
    read = csv("id;name;amount\n1;a;1,5\n2;b;2,5\n3;c;3,5\n;;\nSource: office;;\n* revised;;\n")
    assert read.rows()[0] == (1, "a", 1.5) and read.table()["rows"] == 3
    assert [line.split(",")[1:3] for line in _kept(read)] == [
        ["NOTE UNDER THE TABLE", "Source: office;;"], ["NOTE UNDER THE TABLE", "* revised;;"],
    ]  # fmt: skip


def test_last_rows_with_one_value_are_rows_when_they_are_like_the_others(csv: Importing) -> None:
    assert csv("name,n,m\na,1,2\nb,,\nc,3,4\nd,5,6\n").table()["rows"] == 4
    assert csv("k,v\nx,\ny,1\nz,\n").table()["rows"] == 3
    assert csv("n,t,d\n1,v0,5\n2,v1,6\n3,v1,7\n,v0,\n").rows()[-1] == (None, "v0", None)


def test_tables_under_each_other_are_tables_of_their_own(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("id;město\n1;Ústí\n2;Třebíč\n\nCeny\nkód;cena\nx;1,5\ny;2,5\n".encode("cp1250"))
    read = importing("files", path)
    assert read.rows("t") == [(1, "Ústí"), (2, "Třebíč")]
    assert read.rows("t_2") == [("x", 1.5), ("y", 2.5)] and list(read.types("t_2")) == ["kód", "cena"]
    assert "2 tables stand under each other here; this is number 2" in read.notes("t_2")
    first, second = (ReadPlan.model_validate(p) for p in plan([path], {})["plans"])
    assert (first.member, second.member, second.header_lines) == (None, "table 2", (6,))
    assert preview(path, second).rows == (("x", 1.5), ("y", 2.5))
    again = importing("files", path, **plan_options([first, second.change_column(1, name="price")]))
    assert list(again.types("t_2")) == ["kód", "price"]


@pytest.mark.parametrize(
    "content",
    ["a,b\n1,x\n\n2,y\n3,z\n", "a,b\n1,x\n2,y\n\na,b\n3,z\n4,w\n",
     "name,city\nAnn,Rome\n\nBob,Oslo\nCid,Bonn\n", "a,b\n\n1,2\n3,4\n"],
)  # fmt: skip
def test_a_blank_line_alone_does_not_cut_a_table(csv: Importing, content: str) -> None:
    assert len(csv(content).result["tables"]) == 1


def test_units_under_the_names_are_a_part_of_them(csv: Importing) -> None:
    assert list(csv("name,weight,height\n,kg,cm\nAnn,70,180\nBob,80.5,175\n").types()) == ["name", "weight kg", "height cm"]


def test_a_sheet_with_titles_total_and_notes_is_read_as_its_table(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet("Data")
        sheet.write(0, 0, "Report 2020")
        sheet.write_row(3, 1, ["id", "name", "amount", "day"])
        for i in range(5):
            sheet.write_row(4 + i, 1, [i + 1, f"n{i}", 1.5 * i])
            sheet.write_datetime(4 + i, 4, datetime(2020, 1, 1 + i), book.add_format({"num_format": "dd.mm.yyyy"}))
        sheet.write(9, 1, "Total")
        sheet.write_formula(9, 3, "=SUM(D5:D9)", None, 15.0)
        sheet.write(11, 1, "Source: ledger")
    read = importing("files", path)
    assert read.rows()[1] == (2, "n1", 1.5, date(2020, 1, 2)) and read.table()["rows"] == 5
    assert read.types() == {"id": "BIGINT", "name": "VARCHAR", "amount": "DOUBLE", "day": "DATE"}
    assert read.table()["options"]["header_lines"] == [4]


def test_sheets_of_one_column_or_one_row_and_hidden_ones_are_read(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        one, names, hidden = (book.add_worksheet(n) for n in ("One", "Names", "Hidden"))
        book.add_worksheet("Nothing")
        one.write_column(0, 0, ["x", 5, 6])
        names.write_row(0, 0, ["id", "v"])
        hidden.write_row(0, 0, ["k", "v"])
        hidden.write_row(1, 0, ["a", 1])
        hidden.hide()
    read = importing("files", path)
    assert read.rows("t_one") == [(5,), (6,)] and read.rows("t_hidden") == [("a", 1)]
    assert list(read.types("t_names")) == ["id", "v"] and read.table("t_names")["rows"] == 0
    assert "Empty, not read: sheet Nothing" in " ".join(read.result["notes"])


def test_merged_cells_hold_for_all_their_rows_and_group_names_for_their_columns(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet("M")
        sheet.merge_range(0, 0, 1, 0, "Region")
        sheet.merge_range(0, 1, 0, 2, "2019")
        sheet.write_row(1, 1, ["Sales", "Cost"])
        for r in range(2):
            sheet.merge_range(2 + 2 * r, 0, 3 + 2 * r, 0, f"R{r}")
            sheet.write_row(2 + 2 * r, 1, [r, r + 0.5])
            sheet.write_row(3 + 2 * r, 1, [r + 10, r + 10.5])
    read = importing("files", path)
    assert list(read.types()) == ["Region", "2019 Sales", "2019 Cost"]
    assert read.rows() == [("R0", 0, 0.5), ("R0", 10, 10.5), ("R1", 1, 1.5), ("R1", 11, 11.5)]


def test_two_tables_of_a_sheet_are_two_tables(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet("T")
        for n, row in enumerate([("id", "name", "v"), (1, "a", 1.5), (2, "b", 2.5), (), (), ("code", "price"), ("x", 3.5)]):
            sheet.write_row(n, 0, row)
        sheet.write_row(7, 0, ("y", 4.5))
    read = importing("files", path)
    assert read.rows("t") == [(1, "a", 1.5), (2, "b", 2.5)] and read.rows("t_2") == [("x", 3.5), ("y", 4.5)]


def _zstd(content: bytes) -> bytes:
    return pa.compress(content, "zstd", asbytes=True)


@pytest.mark.parametrize(
    ("ending", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress), ("zst", _zstd)]
)
def test_compressed_files_are_read_and_bombs_are_refused(
    tmp_path: Path, importing: Importing, monkeypatch: pytest.MonkeyPatch, ending: str, pack
) -> None:
    path = tmp_path / f"t.csv.{ending}"
    if ending == "zst":
        duckdb.sql(f"COPY (SELECT 1 AS id, 'a' AS v UNION ALL SELECT 2, 'b') TO '{path}' (FORMAT csv, COMPRESSION zstd)")
    else:
        path.write_bytes(pack(b"id,v\n1,a\n2,b\n"))
    assert importing("files", path).rows("t") == [(1, "a"), (2, "b")]
    other = tmp_path / f"j.jsonl.{ending}"
    if ending != "zst":
        other.write_bytes(pack(json.dumps({"a": 1}).encode() + b"\n" + json.dumps({"a": 2}).encode() + b"\n"))
        assert importing("files", other).rows("j") == [(1,), (2,)]
        path.write_bytes(pack(b"id,v\n1,a\n2,b\n")[:-9])
        with pytest.raises(BadInput, match="cannot be read"):
            importing("files", path)
    monkeypatch.setattr(archives, "_RATIO_FROM", 1 << 20)
    bomb = tmp_path / f"b.csv.{ending}"
    if ending == "zst":
        duckdb.sql(f"COPY (SELECT 1 AS a FROM range(4000000)) TO '{bomb}' (FORMAT csv, COMPRESSION zstd)")
    else:
        bomb.write_bytes(pack(b"a\n" + b"1\n" * 4_000_000))
    with pytest.raises(BadInput, match="times its size"):
        importing("files", bomb)


def test_text_under_the_name_of_a_workbook_is_read_and_a_web_page_is_refused(tmp_path: Path, importing: Importing) -> None:
    (tmp_path / "t.xls").write_text("id\tname\n1\ta\n2\tb\n")
    assert importing("files", tmp_path / "t.xls").rows() == [(1, "a"), (2, "b")]
    (tmp_path / "w.xls").write_text("<html><table>\n<tr><td>1</td></tr></table></html>")
    with pytest.raises(BadInput, match="web page or XML under the name of a workbook"):
        importing("files", tmp_path / "w.xls")


def test_the_list_deep_in_an_answer_is_the_table(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"response": {"data": {"items": [{"id": 1, "v": 1.5}, {"id": 2, "v": None}]}, "page": 1}}))
    read = importing("files", path)
    assert read.rows() == [(1, 1.5), (2, None)] and "The rows are the list response.data.items" in read.notes()


def test_two_json_files_are_read_at_once(tmp_path: Path, importing: Importing) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.json").write_text(json.dumps([{"k": name}, {"k": name * 2}]))
    read = importing("files", tmp_path)
    assert [read.rows(name)[1] for name in ("a", "b", "c")] == [("aa",), ("bb",), ("cc",)]


def test_columns_told_by_blanks_are_read(csv: Importing) -> None:
    assert csv("id name v\n1 a 1.5\n2  b 2.5\n3 c 3.5\n", "t.txt").rows() == [(1, "a", 1.5), (2, "b", 2.5), (3, "c", 3.5)]
    read = csv("id    name     v\n1     Ann Lee  1.5\n2     Bob      2.5\n3     Cid Roe  3.25\n", "t.txt")
    assert read.rows()[0] == (1, "Ann Lee", 1.5) and "told by two or more blanks" in read.notes()


_FIXED = (
    "ID   NAME      CITY      AMOUNT\n0001 Ann Lee   New York    12.50\n0002 Bob       Rome       100.00\n"
    "0003 Cid Roe   San Jose     3.25\n"
)


def test_columns_of_fixed_width_are_cut_and_said(tmp_path: Path, csv: Importing) -> None:
    read = csv(_FIXED, "t.txt")
    assert list(read.types()) == ["ID", "NAME", "CITY", "AMOUNT"]
    assert read.rows()[:2] == [("0001", "Ann Lee", "New York", 12.5), ("0002", "Bob", "Rome", 100.0)]
    assert "they begin at 1, 6, 16, 26" in read.notes()
    assert ReadPlan.model_validate(plan([tmp_path / "t.txt"], {})["plans"][0]).said.startswith("columns of fixed width")


def test_where_columns_of_fixed_width_begin_can_be_chosen(csv: Importing, tmp_path: Path) -> None:
    content = "0001Ann  20200131 12.50\n0002Bobby20200201100.00\n0003Cid  20200202  3.25\n"
    assert "All lines are equally long" in csv(content.replace(" ", "x"), "t.dat").notes()
    read = csv(content, "t.dat", cuts=(1, 5, 10, 18), header=False)
    assert read.rows()[1] == ("0002", "Bobby", 20200201, 100.0)


def test_a_line_with_a_letter_where_columns_were_cut_is_kept_whole_apart(csv: Importing) -> None:
    body = "".join(f"{i:04} {'A B' if i % 2 else 'Cid'}       Town{i % 5}    {i * 1.25:8.2f}\n" for i in range(400))
    read = csv("ID   NAME      TOWN     AMOUNT\n" + body + "0400 A very long name of Town    1.00\n", "t.txt")
    assert (read.table()["rows"], read.table()["rejected"]) == (400, 1)
    assert "0400 A very long name of Town" in _kept(read)[0]


@pytest.mark.parametrize("content", ["t\n" + "2020-01-01 10:00\n" * 50, "n\n" + "1 234\n" * 50, "name\n" + "Ann Lee\n" * 50])
def test_one_column_with_blanks_in_its_values_is_not_cut(csv: Importing, content: str) -> None:
    assert len(csv(content, "t.txt").types()) == 1


def test_items_of_a_json_list_that_are_no_objects_are_kept_apart(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "t.json"
    path.write_text('[{"a": 1}, 5, {"a": 2}]')
    read = importing("files", path)
    assert read.rows() == [(1,), (2,)] and _kept(read) == [",NOT A JSON OBJECT,5,2,"]


def test_single_blanks_within_words_do_not_shift_names_over_cells(csv: Importing) -> None:
    lines = [f"{i:07d}  {'Widget ' + 'abc'[i % 3]:<19}  {i * 3:>4}  {i * 1.25:>7.2f}" for i in range(1, 12)]
    head, rule = "Item No  Description          Qty   Price", "-------  -------------------  ----  -------"
    for text in ([head, *lines], [head, rule, *lines]):
        read = csv("\n".join(text) + "\n", name="stock.txt")
        assert read.types() == {"Item No": "VARCHAR", "Description": "VARCHAR", "Qty": "BIGINT", "Price": "DOUBLE"}
        assert read.rows()[0] == ("0000001", "Widget b", 3, 1.25) and len(read.rows()) == 11


@pytest.mark.parametrize("last", ["", ";;;\nSource: us;;;\n"])
def test_titles_above_two_columns_that_a_spreadsheet_filled_up_are_no_data(csv: Importing, last: str) -> None:
    read = csv("Company report;;;\nPeriod: Jan;;;\n;;;\nName;Value;;\nA;1,5;;\nB;2,25;;\nC;n/a;;\n" + last)
    assert read.types() == {"Name": "VARCHAR", "Value": "DOUBLE"}
    assert read.rows(sql="SELECT * FROM data WHERE Value IS NOT NULL") == [("A", 1.5), ("B", 2.25)]


def test_words_in_two_columns_are_no_titles(csv: Importing) -> None:
    assert csv("Name;Value\nA;\nB;\nC;3\n").rows() == [("A", None), ("B", None), ("C", 3)]
