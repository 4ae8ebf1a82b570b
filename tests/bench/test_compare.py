"""The comparison of results that the question runner judges by: lenient where its sources say so, strict elsewhere."""

from __future__ import annotations

from datetime import datetime

import pytest

from bench.compare import same_rows


@pytest.mark.parametrize(
    ("ours", "gold", "ordered"),
    [
        ([(1, "a"), (2, "b")], [("b",), ("a",)], False),
        ([("a", 1.000001)], [(1.0, "a")], False),
        ([(True,)], [("Yes",)], False),
        ([(datetime(2022, 1, 1), 5)], [("2022-01", 5)], False),
        ([("Ann", "Lee", 3)], [("Ann Lee", 3)], False),
        ([(None,)], [(None,)], False),
        ([("1996-01-01", 3), ("1996-02-01", 4)], [(1, 3), (2, 4)], False),
        ([(1, 3), (2, 4)], [("1996-01", 3), ("1996-02", 4)], False),
        ([], [], True),
    ],
)
def test_equal_results(ours: list, gold: list, ordered: bool) -> None:
    assert same_rows(ours, gold, ordered=ordered)


@pytest.mark.parametrize(
    ("ours", "gold", "ordered"),
    [
        ([(2,), (1,)], [(1,), (2,)], True),
        ([(1,), (1,)], [(1,)], False),
        ([(1.001,)], [(1.0,)], False),
        ([(1, 2)], [(1, 2, 3)], False),
        ([(1, "a"), (2, "b")], [(1, "b"), (2, "a")], False),
        ([(0.5,)], [(50.0,)], False),
        ([("1996-01-01", 3), ("1997-02-01", 4)], [(1, 3), (2, 4)], False),
        ([("1996-01-01", 3), ("1996-02-01", 4)], [(1, 3), (3, 4)], False),
        ([("1996-01-01",), ("1996-02-01",)], [("1997-01-01",), ("1997-02-01",)], False),
    ],
)
def test_unequal_results(ours: list, gold: list, ordered: bool) -> None:
    assert not same_rows(ours, gold, ordered=ordered)
