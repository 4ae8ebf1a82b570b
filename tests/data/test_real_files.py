"""Real files, as they come from statistical offices, research and exports: rows, names, types and cells worked out by hand.

The numbers were taken from the raw bytes with other tools (grep, wc, Python's csv module, the sheet's own XML).
"""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import pytest

from lexsi_ds.data.plan import ReadPlan, plan_options
from lexsi_ds.data.planning import plan
from tests.data.conftest import Importing


@pytest.fixture
def files(shared_data: Path) -> Path:
    return shared_data / "files"


def _plan(path: Path) -> ReadPlan:
    (found,) = plan([path], {})["plans"]
    return ReadPlan.model_validate(found)


def test_an_election_result_with_titles_and_three_lines_of_names(files: Path, importing: Importing) -> None:
    read = importing("files", files / "btw17_kerg.csv")
    assert read.table()["options"]["said"] == "semicolon, utf-8 with BOM, header on lines 6 to 8"
    assert (read.table()["rows"], read.table()["rejected"]) == (316, 0)  # 299 constituencies, 16 states, 1 country
    names = list(read.types())
    assert len(names) == 191 and names[:4] == ["Nr", "Gebiet", "gehört zu", "Wahlberechtigte Erststimmen Endgültig"]
    assert names[19:23] == [
        f"Christlich Demokratische Union Deutschlands {votes} {when}"
        for votes in ("Erststimmen", "Zweitstimmen") for when in ("Endgültig", "Vorperiode")
    ]  # fmt: skip
    assert names[-1] == "Übrige Zweitstimmen Vorperiode"
    assert set(read.types().values()) == {"BIGINT", "VARCHAR"} and read.types()["Gebiet"] == "VARCHAR"
    voters = '"Wahlberechtigte Erststimmen Endgültig"'
    assert read.rows(sql=f"SELECT {voters} FROM data WHERE Gebiet = 'Bundesgebiet'") == [(61_688_485,)]
    assert read.rows(sql=f'SELECT sum({voters}) FROM data WHERE "gehört zu" <> 99') == [(61_688_485,)]
    assert read.rows()[0][:5] == (1, "Flensburg – Schleswig", 1, 228471, 226944)
    assert read.rows()[-1][-1] == 246_393
    assert "16 empty rows" in read.notes() and "5 lines before the column names" in read.notes()


def test_air_quality_with_decimal_commas_and_trailing_emptiness(files: Path, importing: Importing) -> None:
    found = _plan(files / "AirQualityUCI.csv")
    assert found.said == "semicolon, utf-8, decimal comma, day first, header on line 1"
    read = importing("files", files / "AirQualityUCI.csv")
    assert (read.table()["rows"], len(read.types())) == (9357, 15)
    assert read.types()["Date"] == "DATE" and read.types()["PT08.S1(CO)"] == "BIGINT" and read.types()["AH"] == "DOUBLE"
    assert read.rows()[0] == (
        date(2004, 3, 10), "18.00.00", 2.6, 1360, 150, 11.9, 1046, 166, 1056, 113, 1692, 1268, 13.6, 48.9, 0.7578
    )  # fmt: skip
    assert read.rows()[-1][:3] == (date(2005, 4, 4), "14.00.00", 2.2)
    assert read.rows(sql="SELECT round(sum(AH), 4) FROM data") == [(-63979.4573,)]
    assert "114 empty rows" in read.notes() and "2 columns with neither a name nor a value" in read.notes()


def test_air_quality_suggests_its_code_for_missing(files: Path, importing: Importing) -> None:
    found = _plan(files / "AirQualityUCI.csv")
    suggested = {s.column: s.values for s in found.suggestions}
    assert len(suggested) == 13 and set(suggested.values()) == {("-200",)}
    read = importing("files", files / "AirQualityUCI.csv", **plan_options([found.change(missing=("-200",))]))
    assert (read.column("CO(GT)")["nulls"], read.column("AH")["nulls"]) == (1683, 366)
    assert read.types()["Date"] == "DATE" and read.column("Time")["nulls"] == 0
    assert read.types()["NMHC(GT)"] == "BIGINT" and read.rows()[-1][4] is None


def test_bikes_with_a_degree_sign_and_days_first(files: Path, importing: Importing) -> None:
    assert _plan(files / "SeoulBikeData.csv").said == "comma, cp1252, day first, header on line 1"
    read = importing("files", files / "SeoulBikeData.csv")
    assert read.table()["rows"] == 8760 and list(read.types())[4] == "Temperature(°C)"
    assert read.rows()[0] == (
        1, date(2017, 12, 1), 254, 0, -5.2, 37, 2.2, 2000, -17.6, 0.0, 0.0, 0.0, "Winter", "No Holiday", "Yes"
    )  # fmt: skip
    assert read.rows()[-1][1:4] == (date(2018, 11, 30), 584, 23)
    assert read.rows(sql='SELECT sum("Rented Bike Count") FROM data') == [(6_172_314,)]


def test_a_workbook_of_sales(files: Path, importing: Importing) -> None:
    assert _plan(files / "Financial Sample.xlsx").said == "Excel, header on row 1"
    read = importing("files", files / "Financial Sample.xlsx")
    assert read.table()["name"] == "financial_sample" and read.table()["rows"] == 700
    assert list(read.types()) == [
        "Segment", "Country", "Product", "Discount Band", "Units Sold", "Manufacturing Price", "Sale Price", "Gross Sales",
        "Discounts", "Sales", "COGS", "Profit", "Date", "Month Number", "Month Name", "Year",
    ]  # fmt: skip
    assert read.rows()[0] == (
        "Government", "Canada", "Carretera", "None", 1618.5, 3, 20, 32370.0, 0.0, 32370.0, 16185.0, 16185.0,
        date(2014, 1, 1), 1, "January", 2014,
    )  # fmt: skip
    assert read.rows()[-1][8:13] == (3250.8, 18421.2, 5418.0, 13003.2, date(2014, 5, 1))


def test_customers_with_blanks_for_new_ones(files: Path, importing: Importing) -> None:
    read = importing("files", files / "Telco-Customer-Churn.csv")
    assert (read.table()["rows"], len(read.types())) == (7043, 21)
    assert read.types()["TotalCharges"] == "DOUBLE" and read.column("TotalCharges")["nulls"] == 11
    assert "11 blank values of TotalCharges became missing." in read.notes()
    assert {c["name"] for c in read.table()["columns"] if c["protected"]} == {"gender", "SeniorCitizen"}
    assert {c["name"] for c in read.table()["columns"] if c["identifier"]} == {"customerID"}
    assert read.rows()[0][:6] == ("7590-VHVEG", "Female", 0, "Yes", "No", 1) and read.rows()[-1][-2] == 6844.5


def test_staff_behind_a_byte_order_mark(files: Path, importing: Importing) -> None:
    read = importing("files", files / "emp_attrition_ibm.csv")
    assert (read.table()["rows"], len(read.types()), next(iter(read.types()))) == (1470, 35, "Age")
    assert {c["name"] for c in read.table()["columns"] if c["protected"]} == {"Age", "Gender", "MaritalStatus"}
    assert read.rows()[0][:6] == (41, "Yes", "Travel_Rarely", 1102, "Sales", 1)
    assert read.rows()[-1][-4:] == (4, 3, 1, 2)


def test_passengers_with_commas_and_quotes_in_their_names(files: Path, importing: Importing) -> None:
    read = importing("files", files / "titanic_kaggle.csv")
    assert read.table()["rows"] == 891 and read.types()["Age"] == "DOUBLE" and read.types()["Ticket"] == "VARCHAR"
    assert [read.column(c)["nulls"] for c in ("Age", "Cabin", "Embarked")] == [177, 687, 2]
    assert read.column("Name")["masked"]
    found = read.rows(sql="SELECT Name FROM data WHERE PassengerId = 889")
    assert found == [('Johnston, Miss. Catherine Helen "Carrie"',)]


def test_houses_with_quoted_ids_and_compact_dates(files: Path, importing: Importing) -> None:
    read = importing("files", files / "kc_house_data.csv")
    assert read.table()["rows"] == 21_613
    assert {n: read.types()[n] for n in ("id", "date", "price", "floors", "zipcode")} == {
        "id": "VARCHAR", "date": "DATE", "price": "DOUBLE", "floors": "DOUBLE", "zipcode": "BIGINT"
    }  # fmt: skip
    assert read.rows(sql="SELECT count(*) FROM data WHERE id LIKE '0%'") == [(2059,)]
    assert read.rows(sql="SELECT CAST(sum(price) AS BIGINT) FROM data") == [(11_672_925_008,)]
    assert read.rows()[0][:3] == ("7129300520", date(2014, 10, 13), 221900.0)


def test_taxis_keep_the_types_of_their_parquet_file(files: Path, importing: Importing) -> None:
    read = importing("files", files / "yellow_tripdata_sample.parquet")
    assert (read.table()["rows"], len(read.types()), read.types()["VendorID"]) == (5000, 20, "INTEGER")
    assert read.rows()[0][:5] == (2, datetime(2025, 2, 8, 10, 7, 10), datetime(2025, 2, 8, 10, 11, 15), 1.0, 0.88)
