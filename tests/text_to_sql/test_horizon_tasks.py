"""Outcomes within days: who trains at which day, what decides, what is never seen, and what cannot be learned."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from lexsi_ds.models.task import TaskSpec
from lexsi_ds.text_to_sql.reading import CannotAnswer, Clarify
from tests.text_to_sql.sources import Asked, asked

LAST = "2024-12-30"
"""The last order: order 1999 of 2000, 365 days after the first of 2024."""


def tables(noise: str = "0") -> dict[str, str]:
    """Customers, of whom some order often and some seldom; ``noise`` is added to the amounts of the last 90 days."""
    return {
        "customer": "SELECT n AS customer_id, DATE '2023-06-01' + CAST(n * 3 % 520 AS INTEGER) AS joined_on,"
        " ['France', 'Spain', 'Italy'][n % 3 + 1] AS country, n % 7 * 10 AS points FROM range(1, 201) AS t(n)",
        "orders": f"""SELECT n AS order_id, CASE WHEN n % 3 = 0 THEN n % 40 + 1 ELSE n * 7 % 200 + 1 END AS customer_id, placed_on,
            n % 50 + 1 + CASE WHEN placed_on > DATE '2024-10-01' THEN {noise} ELSE 0 END AS amount
            FROM (SELECT n, DATE '2023-01-01' + CAST(n * 365 // 1000 AS INTEGER) AS placed_on FROM range(1, 2000) AS t(n))""",
        "visit": "SELECT n AS visit_id, n % 200 + 1 AS customer_id, DATE '2023-01-01' + CAST(n % 700 AS INTEGER) AS seen_on"
        " FROM range(1, 3000) AS t(n)",
    }


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return asked(tmp_path_factory.mktemp("horizon"), tables())


@pytest.fixture(scope="module")
def task(shop: Asked) -> TaskSpec:
    return shop.predictive("Which customers will order in the next 90 days?").task


def test_the_label_is_what_happened_in_the_window_after_the_cut_off(shop: Asked, task: TaskSpec) -> None:
    customers, orders = (shop.source.query(f"SELECT * FROM {t}") for t in ("customer", "orders"))
    last = pd.to_datetime(orders["placed_on"]).max()
    train = last + pd.Timedelta(days=1) - pd.Timedelta(days=90)
    there = customers[pd.to_datetime(customers["joined_on"]) < train]["customer_id"]
    inside = orders[(pd.to_datetime(orders["placed_on"]) >= train) & (pd.to_datetime(orders["placed_on"]) <= last)]
    wanted = {int(c): int(c in set(inside["customer_id"])) for c in there}
    seen = shop.source.query(task.context_sql)
    assert dict(zip(seen["customer_id"], seen[task.target_column], strict=True)) == wanted
    assert 0 < sum(wanted.values()) < len(wanted) < len(customers)
    assert set(pd.to_datetime(seen["cutoff_date"])) == {train}
    scored = shop.source.query(task.predict_sql)
    assert set(pd.to_datetime(scored["cutoff_date"])) == {last + pd.Timedelta(days=1)}
    assert set(scored["customer_id"]) == set(customers[pd.to_datetime(customers["joined_on"]) <= last]["customer_id"])
    assert task.target_column not in scored


def test_features_end_before_the_cut_off_of_either_frame(shop: Asked, task: TaskSpec) -> None:
    orders = shop.source.query("SELECT * FROM orders")
    orders["placed_on"] = pd.to_datetime(orders["placed_on"])
    for sql in (task.context_sql, task.predict_sql):
        seen = shop.source.query(sql).set_index("customer_id")
        cutoff = pd.to_datetime(seen["cutoff_date"]).iloc[0]
        mine = orders[orders["placed_on"] < cutoff]
        counts = mine.groupby("customer_id").size().reindex(seen.index, fill_value=0)
        assert list(seen["orders_count"]) == list(counts)
        recent = mine[mine["placed_on"] >= cutoff - pd.Timedelta(days=90)].groupby("customer_id")["amount"].sum()
        assert list(seen["orders_amount_sum_90d"]) == list(recent.reindex(seen.index, fill_value=0))


def test_the_label_window_and_later_reach_no_feature(shop: Asked, task: TaskSpec, tmp_path: Path) -> None:
    other = asked(tmp_path, tables(noise="123456"))
    changed = other.predictive("Which customers will order in the next 90 days?").task
    assert changed.context_sql == task.context_sql
    pd.testing.assert_frame_equal(shop.source.query(task.context_sql), other.source.query(changed.context_sql))


def test_columns_that_nobody_dated_stay_out_until_a_person_approves(task: TaskSpec) -> None:
    left = {(o.table, o.name): (o.reason, o.approvable) for o in task.left_out}
    assert left["customer", "country"] == ("undated", True)
    assert left["customer", "points"] == ("undated", True)
    assert "customer_age_days" in {f.name for f in task.features}


def test_cut_offs_windows_and_who_is_left_out_are_said(task: TaskSpec) -> None:
    said = " ".join(task.notes)
    assert "Rows that train stand at 2024-10-02" in said
    assert "the last date of orders" in said
    assert "do not train: the 90 days from there are not over" in said
    assert "is not known yet" in said
    assert task.cutoff_column == "cutoff_date"
    assert task.positive_meaning == "at least one order from the cut-off to 90 days after it"


@pytest.mark.parametrize(
    ("question", "column", "only"),
    [
        ("Which customers will order again in the next 90 days?", "y_orders_90d", None),
        ("who will buy in the next 90 days", "y_orders_90d", None),
        ("predict which customers will place another order within the next 3 months, top 20 and why", "y_orders_90d", None),
        ("predict orders in the next 90 days for each customer", "y_orders_90d", None),
        ("Which customers will not order in the next 60 days?", "y_no_orders_60d", None),
        ("which customers in France will order in the next 90 days", "y_orders_90d", "France"),
        ("predict no orders in the next 60 days FOR EACH customer WHERE country = Spain", "y_no_orders_60d", "Spain"),
        ("Which customers are likely to visit in the next month?", "y_visit_30d", None),
    ],
)
def test_questions_and_written_forms_of_an_event_within_days(shop: Asked, question: str, column: str, only: str | None) -> None:
    reading = shop.predictive(question)
    task = reading.task
    assert (task.target_column, task.entity_table, task.kind) == (column, "customer", "binary")
    scored = shop.source.query(task.predict_sql)
    countries = shop.source.query("SELECT customer_id, country FROM customer").set_index("customer_id")["country"]
    assert set(countries.loc[scored["customer_id"]]) == ({only} if only else set(countries))
    assert reading.top_k == (20 if "top 20" in question else 10)
    again = shop.predictive(task.statement).task
    assert (again.context_sql, again.predict_sql) == (task.context_sql, task.predict_sql)


def test_not_ordering_is_the_other_side_of_ordering(shop: Asked) -> None:
    yes = shop.source.query(shop.predictive("predict orders in the next 60 days for each customer").task.context_sql)
    no = shop.source.query(shop.predictive("predict no orders in the next 60 days for each customer").task.context_sql)
    assert list(yes["y_orders_60d"]) == [1 - v for v in no["y_no_orders_60d"]]


@pytest.mark.parametrize(
    ("question", "measure"),
    [
        ("How many orders will each customer place in the next 90 days?", "size"),
        ("predict the number of orders of each customer in the next 90 days", "size"),
        ("how much will each customer spend in the next 90 days, top 5 and why?", "sum"),
        ("predict total amount of orders in the next 90 days for each customer", "sum"),
    ],
)
def test_how_many_and_how_much_within_days_are_figures(shop: Asked, question: str, measure: str) -> None:
    task = shop.predictive(question).task
    assert task.kind == "regression"
    orders = shop.source.query("SELECT * FROM orders")
    orders["placed_on"] = pd.to_datetime(orders["placed_on"])
    seen = shop.source.query(task.context_sql).set_index("customer_id")
    train = pd.to_datetime(seen["cutoff_date"]).iloc[0]
    inside = orders[orders["placed_on"] >= train].groupby("customer_id")["amount"].agg(measure)
    assert list(seen[task.target_column]) == list(inside.reindex(seen.index, fill_value=0))
    assert shop.predictive(task.statement).task.context_sql == task.context_sql


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("Which customers will order in the next 2 years?", "look ahead"),
        ("estimate next month's sales per store", "not forecast"),
        ("predict total amount in the next 90 days", "not forecast"),
        ("predict the average amount of orders in the next 90 days for each customer", "no part"),
        ("Which customers will complain about orders in the next 90 days?", "no part"),
    ],
)
def test_what_cannot_be_learned_is_refused_in_words(shop: Asked, question: str, word: str) -> None:
    reading = shop.read(question)
    assert isinstance(reading, CannotAnswer), reading
    assert word in reading.reason


def test_an_outcome_without_a_date_cannot_be_asked_within_days(telco: Asked) -> None:
    reading = telco.read("Which customers will churn in the next 90 days?")
    assert isinstance(reading, CannotAnswer)
    assert "nothing here says when churn happens" in reading.reason


def test_two_kinds_of_buying_are_asked_about(tmp_path: Path) -> None:
    more = tables()
    more["purchase"] = more["orders"].replace("order_id", "purchase_id")
    reading = asked(tmp_path, more).read("who will buy in the next 90 days")
    assert isinstance(reading, Clarify)
    assert len(reading.options) == 2


def test_odd_names_of_tables_and_columns_run(tmp_path: Path) -> None:
    source = asked(
        tmp_path,
        {
            "customers": 'SELECT n AS "Customer ID", n % 3 AS "order" FROM range(1, 121) AS t(n)',
            'sales "orders"': 'SELECT n AS "Order ID", n * 7 % 90 + 1 AS "Customer ID",'
            ' DATE \'2023-01-01\' + CAST(n // 3 AS INTEGER) AS "Placed on",'
            ' n % 5 + 1 AS "Amount ""net""", [\'it\'\'s\', \'a b\', \'x\'][n % 3 + 1] AS "group"'
            " FROM range(1, 1800) AS t(n)",
        },
    )
    orders = next(t for t in source.model.tables if t.name != "customers")
    reading = source.read(f"predict {orders.plural} in the next 10 days for each customer")
    assert reading.kind == "predictive", reading
    task = reading.task
    assert len(source.source.query(task.context_sql)) == len(source.source.query(task.predict_sql)) == 90
    assert any("share" in f.name for f in task.features)
