"""Decimals of more than 38 digits in Parquet files: exact, whatever DuckDB makes of them."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lexsi_ds.errors import BadInput
from tests.data.conftest import Importing

ONES = "1" * 60


def write(path: Path, **columns: pa.Array) -> Path:
    pq.write_table(pa.table(dict(columns)), path)
    return path


def decimals(precision: int, scale: int, *values: str | None) -> pa.Array:
    return pa.array([None if v is None else Decimal(v) for v in values], type=pa.decimal256(precision, scale))


def test_wide_decimals_that_fit_stay_numbers_with_their_values(importing: Importing, tmp_path: Path) -> None:
    path = write(tmp_path / "w.parquet", i=pa.array([1, 2, 3, 4]), d=decimals(40, 2, "1.25", "2.50", "-3.00", None))
    made = importing("files", path)
    assert made.types() == {"i": "BIGINT", "d": "DECIMAL(38,2)"}
    assert made.rows() == [(1, Decimal("1.25")), (2, Decimal("2.50")), (3, Decimal("-3.00")), (4, None)]
    assert "d: declared as decimal(40,2); every value fits" in made.notes()


def test_longer_ones_come_over_as_text_digit_by_digit(importing: Importing, tmp_path: Path) -> None:
    path = write(
        tmp_path / "w.parquet", D=decimals(70, 0, ONES, "2", "-7"), d=pa.array(["a", "b", None]),
        small=decimals(60, 50, "0.00000000000000000000000000000000000000000000000001", "0", "-1.5"),
    )
    made = importing("files", path)
    assert made.rows() == [
        (ONES, "a", "0." + "0" * 49 + "1"), ("2", "b", "0." + "0" * 50), ("-7", None, "-1.5" + "0" * 49)
    ]
    assert set(made.types().values()) == {"VARCHAR"} and "D: declared as decimal(70,0); came over as text" in made.notes()


def test_those_inside_of_lists_are_refused_by_name(importing: Importing, tmp_path: Path) -> None:
    inner = pa.array([[Decimal("1.25")]], type=pa.list_(pa.decimal256(40, 2)))
    path = write(tmp_path / "w.parquet", i=pa.array([1]), prices=inner)
    with pytest.raises(BadInput, match=r"more than 38 digits.*prices"):
        importing("files", path)


def test_decimals_of_38_digits_are_left_to_duckdb(importing: Importing, tmp_path: Path) -> None:
    path = write(tmp_path / "w.parquet", d=pa.array([Decimal("1" * 38)], type=pa.decimal128(38, 0)))
    made = importing("files", path)
    assert made.rows() == [(Decimal("1" * 38),)] and "declared" not in made.notes()
