"""The guard alone: which texts it lets through."""

from __future__ import annotations

import random

import duckdb
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


_PIECES = [
    "SELECT 1", "'", "''", "'a'", '"', '""', "/*", "*/", "--", "\n", "\r", "\t", "$$", "$a$", "E'", "\\", "x'", "U&'", "n'", ";",
    "COPY loan TO 'x'", "read_text('x')", "(", ")", "FROM loan", "é", "\u00a0", ",", "||", "`", "#", "1e5", "$1", "?",
]


def test_whatever_passes_is_one_select_for_duckdb_and_calls_nothing_unlisted() -> None:
    """Random cuttings of quotes, comments and calls, the same ones each time."""
    chance, passed = random.Random(7), 0
    with duckdb.connect() as con:
        for _ in range(4_000):
            sql = "SELECT 1 " + " ".join(chance.choice(_PIECES) for _ in range(chance.randint(1, 8)))
            try:
                text = check(sql, TABLES)
            except SqlRefused:
                continue
            passed += 1
            try:
                statements = con.extract_statements(text)
            except duckdb.Error:
                continue
            assert [each.type for each in statements] == [duckdb.StatementType.SELECT], sql
            assert '"function_name":"read_text"' not in str(con.execute("SELECT json_serialize_sql(?)", [text]).fetchone())
    assert passed > 100


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


def test_a_long_list_passes() -> None:
    sql = "SELECT count(*) FROM loan WHERE loan_id IN (" + ", ".join(map(str, range(10_000))) + ")"
    assert check(sql, TABLES) == sql


@pytest.mark.parametrize("sql", ["SELECT '" + "a" * 200_000 + "'", "SELECT 1" + " " * 100_001 + "--"])
def test_a_text_that_is_too_long_is_refused(sql: str) -> None:
    with pytest.raises(SqlRefused):
        check(sql, TABLES)
