"""The parts that a model's SQL goes through: what of a schema it sees, which values are linked, how results and votes compare."""

from __future__ import annotations

import pytest

from lexsi_ds.knowledge.model import VerifiedQuestion
from lexsi_ds.text_to_sql.model.budget import tokens_of
from lexsi_ds.text_to_sql.model.checking import checked, known_values, unknown_value
from lexsi_ds.text_to_sql.model.describe import in_words, joins_of, shape_of
from lexsi_ds.text_to_sql.model.linking import linked_values
from lexsi_ds.text_to_sql.model.prompt import join_line
from lexsi_ds.text_to_sql.model.relevance import similar_questions
from lexsi_ds.text_to_sql.model.reply import honest_line, taken_apart
from lexsi_ds.text_to_sql.model.result import Result, agree, shown
from lexsi_ds.text_to_sql.model.slice import schema_slice
from lexsi_ds.text_to_sql.model.voting import verdict
from tests.text_to_sql.sources import Asked, asked, mini_bank


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """Five tables in a chain, one that has nothing to do with them, and one with very many columns."""
    wide = ", ".join(f"i % 7 AS gauge_{n}" for n in range(300))
    return asked(
        tmp_path_factory.mktemp("shop"),
        {
            "country": "SELECT i AS country_id, 'Land ' || i AS country_name FROM range(5) r(i)",
            "city": "SELECT i AS city_id, i % 5 AS country_id, 'Town ' || i AS city_name FROM range(40) r(i)",
            "client": "SELECT i AS client_id, i % 40 AS city_id, CASE WHEN i % 2 = 0 THEN 'gold' ELSE 'silver' END AS tier"
            " FROM range(90) r(i)",
            "purchase": "SELECT i AS purchase_id, i % 90 AS client_id, i * 2.5 AS amount,"
            " DATE '2024-01-01' + CAST(i % 300 AS INT) AS day FROM range(400) r(i)",
            "machine": f"SELECT i AS machine_id, {wide} FROM range(50) r(i)",
        },
    )


@pytest.fixture(scope="module")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return asked(tmp_path_factory.mktemp("mini"), mini_bank())


def part_of(source: Asked, question: str, tokens: int):
    linked = linked_values(question, source.model, source.values)
    known = known_values(source.values, source.model)
    return schema_slice(question, source.source.handle, source.model, linked, known, tokens)


def test_a_schema_that_fits_is_shown_whole(mini: Asked) -> None:
    part = part_of(mini, "anything at all", 6000)
    assert part.whole and part.tables == tuple(t.name for t in mini.source.handle.tables)


def test_a_slice_holds_what_the_question_is_about_and_what_joins_it_within_its_size(shop: Asked) -> None:
    part = part_of(shop, "total purchase amount by country name", 450)
    assert not part.whole and tokens_of(part.text) <= 450
    assert {"purchase", "client", "city", "country"} <= set(part.tables) and "machine" not in part.tables
    assert "amount" in part.columns["purchase"] and "country_name" in part.columns["country"]
    ends = {(r.child, r.child_column) for r in part.links}
    assert {("purchase", "client_id"), ("client", "city_id"), ("city", "country_id")} <= ends
    assert all(r.child_column in part.columns[r.child] and r.parent_column in part.columns[r.parent] for r in part.links)
    assert any("purchase.client_id = client.client_id" in join_line(r) for r in part.links)


def test_a_table_of_very_many_columns_is_cut_to_those_asked_about(shop: Asked) -> None:
    part = part_of(shop, "average gauge 217 of the machines", 300)
    assert "machine" in part.tables and "gauge_217" in part.columns["machine"] and "machine_id" in part.columns["machine"]
    assert "more columns are not listed" in part.text and tokens_of(part.text) <= 330


def test_a_value_brings_its_column_into_the_slice(shop: Asked) -> None:
    part = part_of(shop, "how many are gold", 220)
    assert "tier" in part.columns["client"] and "'gold'" in part.text


def test_words_are_linked_to_the_values_they_stand_for(shop: Asked) -> None:
    found = {(v.words, v.table, v.column, v.value) for v in linked_values("Gold clients of town 7", shop.model, shop.values)}
    assert ("Gold", "client", "tier", "gold") in found and ("town 7", "city", "city_name", "Town 7") in found


def test_values_of_a_masked_column_are_never_linked_or_listed(shop: Asked) -> None:
    masked = shop.model.model_copy(
        update={"columns": tuple(c.model_copy(update={"masked": c.name == "tier"}) for c in shop.model.columns)}
    )
    hidden = Asked(shop.source, masked, shop.values)  # the index was made before the column was masked
    assert not linked_values("gold clients", masked, shop.values)
    assert ("client", "tier") not in known_values(shop.values, masked)
    text = part_of(hidden, "gold clients", 6000).text
    assert "'gold'" not in text and "identifies persons" in text


def test_the_verified_questions_nearest_come_first_and_strange_ones_not_at_all() -> None:
    asked_before = ("average loan by region", "cards by type", "loans by status in 1997")
    known = [VerifiedQuestion(question=q, sql="SELECT 1") for q in asked_before]
    assert [v.question for v in similar_questions("loans by status", known)] == [asked_before[2], asked_before[0]]
    assert not similar_questions("weather tomorrow", known)


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("Reading: x\n```sql\nSELECT 1\n```", "SELECT 1"),
        ("Sure!\n```\nWITH a AS (SELECT 1) SELECT * FROM a;\n``` Hope it helps", "WITH a AS (SELECT 1) SELECT * FROM a;"),
        ("SELECT 2", "SELECT 2"),
        ("```sql\nSELECT 3", "SELECT 3"),
        ("```python\nimport os\n```", ""),
        ("I would select the loans.", ""),
        ("", ""),
    ],
)
def test_sql_is_found_in_a_reply(text: str, sql: str) -> None:
    assert taken_apart(text).sql == sql


def test_a_reply_that_declines_says_why() -> None:
    assert taken_apart("NONE: there is no weather").declined == "there is no weather"
    assert taken_apart("Maybe.").declined is None


def test_a_line_with_numbers_of_its_own_is_left_out() -> None:
    assert honest_line("Loans of 1997", "loans in 1997", "SELECT 1") and not honest_line("76 loans failed", "loans", "SELECT 1")


def result(rows: list[tuple], numeric: tuple[bool, ...]) -> Result:
    return Result(len(rows), tuple(f"c{i}" for i in range(len(numeric))), numeric, tuple(rows))


def test_results_agree_whatever_the_order_and_with_further_columns() -> None:
    two = result([("a", 1.0), ("b", 2.0)], (False, True))
    assert agree(two, result([(2.0, "b", 9), (1.0, "a", 8)], (True, False, True)))
    assert not agree(two, result([("a", 1.0), ("b", 2.1)], (False, True)))
    assert not agree(two, result([("a", 1.0)], (False, True)))


def test_figures_side_by_side_agree_with_the_same_figures_one_below_the_other() -> None:
    long = result([("yes", 10, 79.65), ("no", 20, 64.43)], (False, True, True))
    assert agree(long, result([(64.43, 79.65)], (True, True))) and agree(result([(79.65, 64.43)], (True, True)), long)
    assert not agree(long, result([(64.43, 79.0)], (True, True))) and not agree(long, result([(79.65,)], (True,)))


def test_a_list_of_names_does_not_agree_with_figures_for_the_same_names() -> None:
    assert not agree(result([("a", 1.0), ("b", 2.0)], (False, True)), result([("a",), ("b",)], (False,)))


def test_a_hidden_result_is_told_by_its_size_alone() -> None:
    one = result([("secret",)], (False,))
    assert shown(one, hidden=True) == "1 row" and shown(one, hidden=False) == "secret"


ONE, TWO, THREE = (result([(n,)], (True,)) for n in (1, 2, 3))


@pytest.mark.parametrize(
    ("parser", "drafts", "declined", "holds", "settled"),
    [
        (ONE, [ONE], 0, "parser", True),
        (ONE, [TWO], 0, "parser", False),
        (ONE, [TWO, TWO], 0, "ask", True),
        (ONE, [TWO, THREE, None], 0, "parser", True),
        (ONE, [TWO, ONE], 0, "parser", True),
        (ONE, [None, None, None], 0, "parser", True),
        (None, [ONE], 0, "none", False),
        (None, [ONE, ONE], 0, "model", True),
        (None, [ONE, TWO, ONE], 0, "model", True),
        (None, [ONE, TWO, THREE], 0, "none", True),
        (None, [ONE, None, None], 2, "none", True),
        (None, [], 0, "none", False),
    ],
)
def test_the_vote(parser, drafts, declined: int, holds: str, settled: bool) -> None:
    found = verdict(parser, drafts, declined, 3)
    assert (found.holds, found.settled) == (holds, settled)


def test_one_draft_that_is_all_that_was_wanted_is_taken() -> None:
    assert verdict(None, [ONE], 0, 1).holds == "model" and verdict(ONE, [TWO], 0, 1).holds == "parser"


def test_names_that_the_query_makes_itself_are_no_unknown_columns(mini: Asked) -> None:
    inner = "SELECT status AS s, count(*) AS n FROM loan GROUP BY ALL"
    sql = f"WITH t AS ({inner}) SELECT s, n / sum(n) OVER () AS part FROM t ORDER BY part"
    assert checked(sql, mini.source.handle) == sql


def test_a_value_in_the_wrong_case_is_told_with_the_right_one(shop: Asked) -> None:
    known = known_values(shop.values, shop.model)
    assert "Did you mean 'gold'?" in unknown_value("SELECT 1 FROM client c WHERE c.tier = 'Gold'", shop.source.handle, known)
    assert not unknown_value("SELECT 1 FROM client WHERE tier IN ('gold', 'silver')", shop.source.handle, known)


def test_a_query_is_told_in_words_with_its_joins_and_those_that_are_none(shop: Asked) -> None:
    sql = "SELECT c.tier, sum(p.amount) AS total FROM purchase p JOIN client c ON p.client_id = c.client_id GROUP BY 1"
    assert "from purchase, client" in in_words(sql)
    links, odd = joins_of(sql, shop.source.handle, shop.model)
    assert [(r.child, r.parent) for r in links] == [("purchase", "client")] and not odd
    _, odd = joins_of(sql.replace("c.client_id", "c.city_id"), shop.source.handle, shop.model)
    assert odd == ("purchase.client_id = client.city_id",)
    assert shape_of(sql, Result(2, ("tier", "total"), (False, True), (("a", 1), ("b", 2)))) == (("tier",), "total")


@pytest.mark.xdist_group("demo")
def test_binding_a_query_reads_no_row(application, demo_handle) -> None:
    """A query that would fail on its first row binds: nothing was run."""
    from lexsi_ds.text_to_sql.model.drafting import Bench

    bench = Bench(demo_handle, {}, lambda sql, s: application.sql.run(demo_handle, sql, timeout_s=s), lambda: None)
    bench.bound("SELECT CAST(status AS INTEGER) AS x FROM loan ORDER BY x", 20)
