"""The real bank's text files: quirks of the raw data, and the shape of the demo bank."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexsi_ds.data.bank_schema import TABLES
from lexsi_ds.data.sniff import paths_kind
from lexsi_ds.errors import BadInput
from tests.data.conftest import Imported, Importing

_LOAN = '"loan_id";"account_id";"date";"amount";"duration";"payments";"status"\n5314;1787;930705;96396;12;8033.00;"B"\n'
_CLIENT = '"client_id";"birth_number";"district_id"\n1;"706213";18\n2;"110820";1\n'
_DISTRICT = (
    "A1;A2;A3;A4;A5;A6;A7;A8;A9;A10;A11;A12;A13;A14;A15;A16\n"
    '69;"Jesenik";"north Moravia";42821;4;13;5;1;3;48.4;8173;?;7.01;124;?;1358\n'
)
_TRANS = (
    '"trans_id";"account_id";"date";"type";"operation";"amount";"balance";"k_symbol";"bank";"account"\n'
    '1;2;930101;"PRIJEM";"VKLAD";700.00;700.00;"";;\n'
    '2;2;930131;"PRIJEM";"";1.10;701.10;"UROK";;\n'
    '3;2;930201;"VYDAJ";"PREVOD NA UCET";10.05;691.05;" ";"YZ";"87144583"\n'
)
_CARD = '"card_id";"disp_id";"type";"issued"\n1005;9285;"classic";931107 00:00:00\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "bank"
    made.mkdir()
    for name, text in {
        "loan": _LOAN,
        "client": _CLIENT,
        "district": _DISTRICT,
        "trans_part": _TRANS,
        "card": _CARD,
    }.items():
        (made / f"{name}.asc").write_text(text)
    return made


def test_two_digit_years_are_of_the_last_century(folder: Path, importing: Importing) -> None:
    bank = importing("pkdd", folder)
    assert bank.rows("client", "SELECT birth_date::VARCHAR, gender FROM data") == [
        ("1970-12-13", "F"), ("1911-08-20", "M"),
    ]  # fmt: skip
    assert bank.rows("loan", "SELECT date::VARCHAR FROM data") == [("1993-07-05",)]
    assert bank.rows("card", "SELECT issued::VARCHAR FROM data") == [("1993-11-07",)]
    assert bank.result["today"] == "1993-11-07"


def test_question_marks_and_blanks_are_missing(folder: Path, importing: Importing) -> None:
    bank = importing("pkdd", folder)
    assert bank.rows("district", "SELECT A12, A15, A16, district_id FROM data") == [(None, None, 1358, 69)]
    assert bank.rows("trans", "SELECT k_symbol, operation FROM data ORDER BY trans_id") == [
        (None, "VKLAD"), ("UROK", None), (None, "PREVOD NA UCET"),
    ]  # fmt: skip


def test_what_is_there_is_imported_and_what_is_missing_is_said(folder: Path, importing: Importing) -> None:
    bank = importing("pkdd", folder)
    assert [t["name"] for t in bank.result["tables"]] == ["card", "client", "district", "loan", "trans"]
    assert bank.result["missing"] == ["account", "disp", "order"]
    assert "account, disp, order" in bank.result["notes"][0]
    assert "trans_part.asc" in bank.notes("trans")


def test_comma_separated_variants_read_the_same(folder: Path, importing: Importing) -> None:
    (folder / "loan.asc").unlink()
    (folder / "loan.csv").write_text(_LOAN.replace(";", ",").replace('"', "").replace("930705", "1993-07-05"))
    loan = importing("pkdd", folder).rows("loan", "SELECT date::VARCHAR, amount, payments::VARCHAR, status FROM data")
    assert loan == [("1993-07-05", 96396, "8033.00", "B")]


def test_a_value_that_does_not_fit_becomes_missing_and_is_counted(folder: Path, importing: Importing) -> None:
    (folder / "loan.asc").write_text(_LOAN + '5315;1788;931345;10;"x";1.00;"A"\n')
    bank = importing("pkdd", folder)
    assert bank.rows("loan", "SELECT date, duration FROM data WHERE loan_id = 5315") == [(None, None)]
    assert "1 value of date" in bank.notes("loan") and "1 value of duration" in bank.notes("loan")


def test_the_files_can_be_named_one_by_one(folder: Path, importing: Importing) -> None:
    files = sorted(folder.iterdir())
    assert paths_kind(files) == "pkdd" and paths_kind([folder]) == "pkdd" and paths_kind(files[:2]) == "files"
    assert len(importing("pkdd", *files).result["tables"]) == 5


def test_a_folder_without_the_banks_tables_is_refused(tmp_path: Path, importing: Importing) -> None:
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(BadInput, match="None of the bank's tables"):
        importing("pkdd", tmp_path)
    (tmp_path / "loan.csv").write_text("a,b\n1,2\n")
    with pytest.raises(BadInput, match="columns of the bank's table loan"):
        importing("pkdd", tmp_path)


@pytest.fixture
def real(shared_data: Path, importing: Importing) -> Imported:
    return importing("pkdd", shared_data / "berka")


def test_the_real_files_have_their_known_counts_and_sums(real: Imported) -> None:
    rows = {t["name"]: t["rows"] for t in real.result["tables"]}
    assert rows == {
        "account": 4500, "card": 892, "client": 5369, "disp": 5369, "district": 77, "loan": 682, "order": 6471,
        "trans": 49_102,
    }  # fmt: skip
    assert real.rows("loan", "SELECT sum(amount), count(*) FILTER (WHERE amount <> duration * payments) FROM data") == [
        (103_261_740, 0)
    ]
    assert dict(real.rows("loan", "SELECT status, count(*) FROM data GROUP BY 1")) == {
        "A": 203, "B": 31, "C": 403, "D": 45,
    }  # fmt: skip
    assert dict(real.rows("client", "SELECT gender, count(*) FROM data GROUP BY 1")) == {"F": 2645, "M": 2724}
    assert real.rows("client", "SELECT min(year(birth_date)), max(year(birth_date)) FROM data") == [(1911, 1987)]
    assert real.result["today"] == "1998-12-29"
    assert real.result["missing"] == [] and all(t["rejected"] == 0 for t in real.result["tables"])


def test_the_real_bank_has_the_demo_banks_shape_comments_and_marks(real: Imported) -> None:
    for table in TABLES:
        assert list(real.types(table.name).items()) == [(c.name, c.type) for c in table.columns]
        assert all(c["comment"] for c in real.table(table.name)["columns"])
    assert real.column("birth_number", "client")["masked"]
    assert real.column("birth_number", "client")["minimum"] is None
    assert real.column("gender", "client")["protected"] and real.column("birth_date", "client")["protected"]
    assert real.column("account_id", "loan")["identifier"] and not real.column("amount", "loan")["identifier"]
