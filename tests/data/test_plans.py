"""Plans: every guess is shown before use, can be changed, wins when changed, and is what the import then does."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from lexsi_ds.data.plan import ReadPlan, plan_options
from lexsi_ds.data.planning import plan, preview
from lexsi_ds.errors import NotFound
from tests.data.conftest import Importing

_AUSTRIA = "Bericht\nStand;1.1.2020\n\n\n\nName;Größe;Tag\nZoë;1,5;01.02.2020\nJürgen;2;13.02.2020\n".encode("cp1252")


def _plans(*paths: Path) -> list[ReadPlan]:
    return [ReadPlan.model_validate(p) for p in plan(list(paths), {})["plans"]]


@pytest.fixture
def austria(tmp_path: Path) -> Path:
    path = tmp_path / "at.csv"
    path.write_bytes(_AUSTRIA)
    return path


def test_a_plan_says_its_guesses_in_one_line(austria: Path) -> None:
    (found,) = _plans(austria)
    assert found.said == "semicolon, cp1252, decimal comma, day first, header on line 6"
    assert [(c.name, c.type) for c in found.columns] == [("Name", "text"), ("Größe", "decimal"), ("Tag", "date")]
    assert found.header_lines == (6,) and not found.chosen and not found.partial


def test_what_is_chosen_wins_in_the_preview_and_in_the_import(austria: Path, importing: Importing) -> None:
    (found,) = _plans(austria)
    changed = found.change_column(1, type="text", name="size").change_column(2, include=False)
    shown = preview(austria, changed)
    assert shown.columns == ("Name", "size") and shown.rows == (("Zoë", "1,5"), ("Jürgen", "2"))
    read = importing("files", austria, **plan_options([changed]))
    assert read.types() == {"Name": "VARCHAR", "size": "VARCHAR"} and "Left out by choice: Tag" in read.notes()
    assert read.table()["options"]["plan"]["columns"][1]["chosen"] == ["type", "name"]
    assert read.table()["options"]["said"].startswith("semicolon, cp1252")


def test_delimiter_header_and_encoding_can_be_changed(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("x~y\n1~ž\n2~š\n".encode("cp1250"))
    (found,) = _plans(path)
    changed = found.change(delimiter="~", encoding="cp1250", header=False)
    assert preview(path, changed).rows == (("x", "y"), ("1", "ž"), ("2", "š"))
    assert importing("files", path, **plan_options([changed])).rows() == [("x", "y"), ("1", "ž"), ("2", "š")]
    with pytest.raises(ValueError, match="cannot be set: table"):
        found.change(table="x")


def test_header_lines_can_be_chosen(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "t.csv"
    path.write_text("note,x\nmore,y\na,b\nkg,m\n1,2\n")
    (found,) = _plans(path)
    changed = found.change(header_lines=(3, 4))
    assert preview(path, changed).columns == ("a kg", "b m")
    read = importing("files", path, **plan_options([changed]))
    assert read.rows() == [(1, 2)] and read.table()["options"]["header_lines"] == [3, 4]


def test_a_repeated_outlier_is_suggested_and_applied_only_when_taken(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "t.csv"
    path.write_text("t,n,ok\n" + "".join(f"{-200 if i % 10 == 0 else i % 30},{i},{i % 5}\n" for i in range(200)))
    (found,) = _plans(path)
    (suggestion,) = found.suggestions
    assert (suggestion.column, suggestion.values, suggestion.count) == ("t", ("-200",), 20)
    assert importing("files", path, **plan_options([found])).column("t")["nulls"] == 0
    taken = found.take(suggestion)
    read = importing("files", path, **plan_options([taken]))
    assert read.column("t")["nulls"] == 20 and read.types()["t"] == "BIGINT"
    assert preview(path, taken).rows[0][0] is None
    assert importing("files", path, **plan_options([found.change(missing=("-200",))])).column("t")["nulls"] == 20


def test_ambiguous_dates_are_a_question_and_the_answer_is_used(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "t.csv"
    path.write_text("d,n\n01/02/2020,1\n03/04/2020,2\n")
    (found,) = _plans(path)
    (question,) = found.suggestions
    assert (question.kind, question.values) == ("date_order", ("dmy", "mdy"))
    read = importing("files", path, **plan_options([found.change_column(0, date_order="mdy")]))
    assert read.rows()[0] == (date(2020, 1, 2), 1)
    assert read.table()["options"]["said"].endswith("month first, header on line 1")


def test_a_chosen_type_makes_what_does_not_fit_missing_and_says_how_many(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "t.csv"
    path.write_text("v,w\n" + "".join(f"{i},x\n" for i in range(20)) + "broken,x\n")
    (found,) = _plans(path)
    assert found.columns[0].type == "text" and found.suggestions[0].values == ("broken",)
    read = importing("files", path, **plan_options([found.change_column(0, type="integer")]))
    assert read.types()["v"] == "BIGINT" and "1 value of v did not fit the chosen type" in read.notes()


def test_personal_data_and_keys_are_flagged_and_flags_can_be_changed(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "t.csv"
    path.write_text("customer_id,email,age\n" + "".join(f"{i},a{i}@b.cz,{20 + i}\n" for i in range(30)))
    (found,) = _plans(path)
    flags = {c.name: (c.identifier, c.masked, c.protected) for c in found.columns}
    assert flags == {"customer_id": (True, False, False), "email": (False, True, False), "age": (False, False, True)}
    read = importing("files", path, **plan_options([found.change_column(1, masked=False).change_column(0, masked=True)]))
    assert not read.column("email")["masked"] and read.column("customer_id")["masked"]


def test_long_files_are_planned_from_their_beginning(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("a,b\n" + "1,x\n" * 2_000_000 + "odd,y\n")
    (found,) = _plans(path)
    assert found.partial and found.columns[0].type == "integer"


def test_one_bad_file_does_not_hide_the_others(tmp_path: Path, austria: Path) -> None:
    (tmp_path / "bad.xlsx").write_bytes(b"PK\x03\x04 no workbook")
    plans = {p.path.name: p for p in _plans(tmp_path)}
    assert plans["at.csv"].error is None and "cannot be read" in (plans["bad.xlsx"].error or "")
    assert "cannot be read" in plans["bad.xlsx"].said


def test_a_table_that_is_not_in_the_file_is_not_found(tmp_path: Path, austria: Path) -> None:
    (found,) = _plans(austria)
    with pytest.raises(NotFound):
        preview(austria, found.model_copy(update={"member": "sheet"}))
