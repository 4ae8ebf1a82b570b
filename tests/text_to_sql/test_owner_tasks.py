"""An outcome that another table holds: asked of customers, recorded of their subscriptions."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexsi_ds.text_to_sql.reading import Clarify
from tests.text_to_sql.sources import Asked, asked

CUSTOMER = "SELECT n AS customer_id, ['France', 'Spain'][n % 2 + 1] AS country FROM range(1, 121) AS t(n)"
ONE = (
    "SELECT n AS subscription_id, n + 10 AS customer_id, DATE '2023-01-01' + CAST(n AS INTEGER) AS started_on, n % 4 * 10 AS price,"
    " CASE WHEN n <= 80 THEN n % 3 = 0 END AS churned FROM range(1, 111) AS t(n)"
)
MANY = (
    "SELECT n AS subscription_id, n % 100 + 1 AS customer_id, DATE '2023-01-01' + CAST(n AS INTEGER) AS started_on,"
    " n % 4 * 10 AS price, n % 3 = 0 AS churned FROM range(1, 301) AS t(n)"
)
VISITS = (
    "SELECT n AS visit_id, n % 120 + 1 AS customer_id, DATE '2022-12-01' + CAST(n % 120 AS INTEGER) AS seen_on"
    " FROM range(1, 2001) AS t(n)"
)


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return asked(tmp_path_factory.mktemp("one"), {"customer": CUSTOMER, "subscription": ONE, "visit": VISITS})


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return asked(tmp_path_factory.mktemp("many"), {"customer": CUSTOMER, "subscription": MANY, "visit": VISITS})


@pytest.mark.parametrize(
    "question",
    ["Which customers are likely to churn?", "predict which customers will churn", "predict churn for each customer",
     "predict the churned of each customer"],
)  # fmt: skip
def test_where_each_has_one_its_outcome_is_theirs(single: Asked, question: str) -> None:
    task = single.predictive(question).task
    assert (task.entity_table, task.entity_column, task.entity_label) == ("customer", "customer_id", "customer")
    known = single.source.query(task.context_sql)
    truth = dict(single.source.rows("SELECT customer_id, churned FROM subscription WHERE churned IS NOT NULL"))
    assert {c: bool(y) for c, y in zip(known["customer_id"], known["y_churned"], strict=True)} == truth
    assert len(single.source.query(task.predict_sql)) == 30
    assert any("without one are left out" in note for note in task.notes)
    assert task.statement.startswith("predict churn FOR EACH customer")
    again = single.predictive(task.statement).task
    assert again.entity_table == "customer"
    assert single.source.rows(again.context_sql) == single.source.rows(task.context_sql)
    assert single.source.rows(again.predict_sql) == single.source.rows(task.predict_sql)


def test_features_come_from_before_the_start_of_the_subscription(single: Asked) -> None:
    task = single.predictive("Which customers are likely to churn?").task
    seen = single.source.query(task.context_sql).set_index("customer_id")
    wanted = dict(single.source.rows(
        "SELECT s.customer_id, count(v.visit_id) FROM subscription AS s LEFT JOIN visit AS v ON v.customer_id = s.customer_id"
        " AND v.seen_on < s.started_on WHERE s.churned IS NOT NULL GROUP BY 1"
    ))  # fmt: skip
    assert seen["visit_count"].to_dict() == wanted
    assert {(o.table, o.name): o.reason for o in task.left_out}["customer", "country"] == "undated"


def test_where_one_can_have_several_it_is_asked_which_counts(several: Asked) -> None:
    reading = several.read("Which customers are likely to churn?")
    assert isinstance(reading, Clarify), reading
    assert reading.options == ("Predict churn for each subscription", "Predict churn of the last subscription for each customer")
    each, last = (several.predictive(option).task for option in reading.options)
    assert (each.entity_table, len(several.source.query(each.context_sql))) == ("subscription", 300)
    known = several.source.query(last.context_sql)
    truth = dict(several.source.rows("SELECT customer_id, arg_max(churned, started_on) FROM subscription GROUP BY 1"))
    assert {c: bool(y) for c, y in zip(known["customer_id"], known["y_churned"], strict=True)} == truth
    assert several.source.rows(several.predictive(last.statement).task.context_sql) == several.source.rows(last.context_sql)


def test_rows_of_one_customer_stay_together(several: Asked) -> None:
    task = several.predictive("Predict churn for each subscription").task
    assert task.group_column == "customer_id"
    assert "customer_id" in several.source.query(task.context_sql)


def test_tables_that_do_not_belong_together_are_not_joined_by_force(tmp_path: Path) -> None:
    machine = "SELECT n AS machine_id, n % 3 = 0 AS churned FROM range(1, 50) AS t(n)"
    apart = asked(tmp_path, {"customer": CUSTOMER, "machine": machine})
    assert apart.read("Which customers are likely to churn?").kind != "predictive"
