"""Columns as numbers, words, truths and ids."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lexsi_ds.errors import BadInput
from lexsi_ds.models.frames import (
    as_numbers,
    as_truths,
    as_words,
    canonical_order,
    entity_keys,
    is_date,
    plain,
    read_frame,
    write_frame,
)


def test_numbers_are_read_from_text_decimals_truths_and_nullable_columns() -> None:
    cases = [
        (pd.Series(["1.5", " ", "", None, "x", " 2 "]), [1.5, None, None, None, None, 2], 1),
        (pd.Series([Decimal("1.25"), None], dtype=object), [1.25, None], 0),
        (pd.Series([True, False]), [1, 0], 0),
        (pd.Series([True, None], dtype=object), [1, None], 0),
        (pd.Series([1, None], dtype="Int64"), [1, None], 0),
        (pd.Series([np.inf, -np.inf, 3.0]), [None, None, 3], 0),
        (pd.Series([None, None], dtype=object), [None, None], 0),
    ]
    for values, expected, unreadable in cases:
        numbers, bad = as_numbers(values)
        assert [None if np.isnan(v) else v for v in numbers] == expected
        assert bad == unreadable


def test_words_and_ids_do_not_depend_on_how_a_number_is_stored() -> None:
    for values in (
        pd.Series([7, 12]),
        pd.Series([7.0, 12.0]),
        pd.Series(["7", "12"]),
        pd.Series([7, 12], dtype="Int64"),
    ):
        assert list(entity_keys(values)) == ["7", "12"]
        assert list(as_words(values)) == ["7", "12"]
    assert list(as_words(pd.Series([" a ", " ", None, True, 1.5]))) == ["a", None, None, "true", "1.5"]


def test_truths_are_read_from_words_and_the_rest_is_counted() -> None:
    truths, bad = as_truths(pd.Series(["Yes", "n", "TRUE", "0", None, "perhaps"]))
    assert [None if np.isnan(v) else v for v in truths] == [1, 0, 1, 0, None, None]
    assert bad == 1


def test_ids_sort_as_numbers_when_all_are_and_as_text_otherwise() -> None:
    assert list(canonical_order(np.array(["10", "9", "100"], dtype=object))) == [1, 0, 2]
    assert list(canonical_order(np.array(["10", "9", "b"], dtype=object))) == [0, 1, 2]


def test_dates_are_dates_whatever_holds_them() -> None:
    assert is_date(pd.Series(pd.date_range("2020-01-01", periods=2)))
    assert is_date(pd.Series([datetime.date(2020, 1, 1), None], dtype=object))
    assert not is_date(pd.Series(["2020"]))
    assert not is_date(pd.Series([1, 2]))


def test_cells_become_json_values() -> None:
    cells = [
        np.int64(3),
        np.float64("nan"),
        pd.NaT,
        pd.Timestamp("2020-01-02"),
        np.bool_(True),
        Decimal("1.5"),
        "x",
        None,
    ]
    assert [plain(c) for c in cells] == [3, None, None, "2020-01-02T00:00:00", True, 1.5, "x", None]


def test_a_frame_comes_back_from_disk_as_it_was(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": [True, False], "d": [1.5, np.nan]})
    write_frame(frame, tmp_path / "f.arrow")
    pd.testing.assert_frame_equal(read_frame(tmp_path / "f.arrow"), frame)


def test_a_column_of_mixed_values_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="odd"):
        write_frame(pd.DataFrame({"odd": [1, "x", b"y"]}), tmp_path / "f.arrow")
