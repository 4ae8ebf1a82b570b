"""The guard alone: which texts it lets through."""

from __future__ import annotations

import time

import pytest

from lexsi_ds.data.guard import check
from lexsi_ds.errors import SqlRefused
from tests.security.corpus import ATTACKS, LEGIT
from tests.security.places import Places

TABLES = ("loan", 'Client "list" é', "order")


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused_with_a_reason(name: str, places: Places) -> None:
    with pytest.raises(SqlRefused) as refused:
        check(places.fill(ATTACKS[name]), TABLES)
    assert len(refused.value.what) > 10


@pytest.mark.parametrize("name", LEGIT)
def test_a_legitimate_query_passes_unchanged(name: str) -> None:
    sql = LEGIT[name][0]
    assert check(sql, TABLES) == sql.rstrip("; \n")


def test_there_are_enough_of_both() -> None:
    assert len(ATTACKS) >= 60
    assert len(LEGIT) >= 40


def test_an_unknown_table_names_the_nearest() -> None:
    with pytest.raises(SqlRefused, match=r"no table named lon\. Did you mean loan\?"):
        check("SELECT * FROM lon", TABLES)


def test_an_unknown_function_names_the_nearest() -> None:
    with pytest.raises(SqlRefused, match=r"function medain is not allowed\. Did you mean .*median"):
        check("SELECT medain(amount) FROM loan", TABLES)


@pytest.mark.parametrize("depth", [200, 3_000])
def test_deep_nesting_never_crashes(depth: int) -> None:
    try:
        check("SELECT " + "(" * depth + "1" + ")" * depth, TABLES)
    except SqlRefused as refused:
        assert "deep" in refused.what or "read" in refused.what


def test_a_long_list_is_read_in_time() -> None:
    sql = "SELECT count(*) FROM loan WHERE loan_id IN (" + ", ".join(map(str, range(10_000))) + ")"
    began = time.perf_counter()
    assert check(sql, TABLES) == sql
    assert time.perf_counter() - began < 5  # a hang, not a speed


@pytest.mark.parametrize("sql", ["SELECT '" + "a" * 200_000 + "'", "SELECT 1" + " " * 100_001 + "--"])
def test_a_text_that_is_too_long_is_refused(sql: str) -> None:
    with pytest.raises(SqlRefused):
        check(sql, TABLES)
