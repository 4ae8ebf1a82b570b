"""Features of events: each equals a count made in pandas, none sees a row on or after the cut-off, and only so many are made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lexsi_ds.models.task import TaskSpec
from lexsi_ds.text_to_sql import feature_budget
from tests.text_to_sql.sources import Asked, asked

ROWS = 300
"""Customers: enough of either class that every rule has room."""


def tables(late: str = "0") -> dict[str, str]:
    """Customers, their orders, the orders' items and the products of those. ``late`` is added to what comes on or after the
    customer's date, so that two sources differ there only."""
    return {
        "customer": f"SELECT n AS customer_id, DATE '2022-01-01' + CAST(n % 200 AS INTEGER) AS review_date,"
        f" (n * 37) % 900 + 100 AS credit_amount, (n * 7919) % 10 < 4 AS churned FROM range(1, {ROWS + 1}) AS t(n)",
        "orders": f"""SELECT o.n AS order_id, o.customer_id, o.placed_on, o.k + {late_of(late)} * 1000 AS amount,
            CASE WHEN {late_of(late)} > 0 THEN 'later' ELSE ['web', 'store', 'phone'][o.n % 7 % 3 + 1] END AS channel,
            o.n % 5 = 0 OR {late_of(late)} > 0 AS returned
            FROM (SELECT n, (n * 31) % {ROWS} + 1 AS customer_id, (n * 17) % 97 + 1 AS k,
              DATE '2021-01-01' + CAST((n * 13) % 600 AS INTEGER) AS placed_on FROM range(1, 6001) AS t(n)) AS o
            JOIN (SELECT n AS customer_id, DATE '2022-01-01' + CAST(n % 200 AS INTEGER) AS day FROM range(1, {ROWS + 1}) AS t(n))
              AS c
              ON c.customer_id = o.customer_id""",
        "item": "SELECT n AS item_id, n % 6000 + 1 AS order_id, n % 40 + 1 AS product_id, n % 4 + 1 AS pieces,"
        " (n * 3) % 50 + 0.5 AS unit_weight FROM range(1, 15001) AS t(n)",
        "product": "SELECT n AS product_id, 'P' || n AS product_name, n % 3 AS shelf FROM range(1, 41) AS t(n)",
    }


def late_of(late: str) -> str:
    return f"(CASE WHEN o.placed_on >= c.day THEN {late} ELSE 0 END)"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return asked(tmp_path_factory.mktemp("shop"), tables())


@pytest.fixture(scope="module")
def task(shop: Asked) -> TaskSpec:
    return shop.predictive("predict churn for each customer").task


def frames(shop: Asked) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    return tuple(shop.source.query(f"SELECT * FROM {name}") for name in ("customer", "orders", "item"))  # type: ignore[return-value]


def expected(shop: Asked) -> pd.DataFrame:
    """Every feature of orders and items by another way: pandas, customer by customer."""
    customers, orders, items = frames(shop)
    for frame, name in ((customers, "review_date"), (orders, "placed_on")):
        frame[name] = pd.to_datetime(frame[name])
    shares = orders.merge(customers, on="customer_id").query("placed_on < review_date")["channel"].value_counts()
    top = sorted(shares.index, key=lambda v: (-shares[v], v))[:2]
    found = []
    for who in customers.itertuples():
        mine = orders[(orders["customer_id"] == who.customer_id) & (orders["placed_on"] < who.review_date)]
        mine = mine.sort_values(["placed_on", "order_id"])
        ago = (who.review_date - mine["placed_on"]).dt.days
        near, before = mine[ago <= 90], mine[(ago > 90) & (ago <= 180)]
        row = {"customer_id": who.customer_id, "orders_count": len(mine), "orders_days_since_last": ago.min()}
        for days in (30, 90, 365):
            row[f"orders_count_{days}d"] = (ago <= days).sum()
            row[f"orders_amount_sum_{days}d"] = mine["amount"][ago <= days].sum()
        row["orders_count_trend_90d"] = len(near) - len(before)
        row["orders_amount_trend_90d"] = near["amount"].sum() - before["amount"].sum()
        amount = mine["amount"]
        row |= {f"orders_amount_{fn}": getattr(amount, fn)() for fn in ("sum", "min", "max")}
        row["orders_amount_avg"] = amount.mean()
        row["orders_amount_last"] = amount.iloc[-1] if len(mine) else np.nan
        row["orders_amount_avg_to_credit_amount"] = amount.mean() / who.credit_amount if len(mine) else np.nan
        row["orders_channel_distinct"] = mine["channel"].nunique()
        row["orders_returned_count"] = int(mine["returned"].sum())
        row["orders_returned_share"] = mine["returned"].mean() if len(mine) else np.nan
        row |= {f"orders_channel_{v}_share": (mine["channel"] == v).mean() if len(mine) else np.nan for v in top}
        bought = items.merge(mine[["order_id", "placed_on"]], on="order_id")
        row["item_count"] = len(bought)
        row["item_product_id_distinct"] = bought["product_id"].nunique()
        row["item_unit_weight_avg"] = bought["unit_weight"].mean()
        found.append(row)
    return pd.DataFrame(found).set_index("customer_id")


def test_every_feature_equals_a_count_in_pandas(shop: Asked, task: TaskSpec) -> None:
    seen = shop.source.query(task.context_sql).set_index("customer_id")
    wanted = expected(shop)
    names = {f.name for f in task.features}
    checked = [c for c in wanted.columns if c in names]
    assert len(checked) >= 24, sorted(set(wanted.columns) - names)
    assert {n for n in names if n.startswith("orders_")} <= set(wanted.columns) | {"orders_amount_min", "orders_amount_max"}
    for name in checked:
        left = seen[name].astype(float).reindex(wanted.index)
        np.testing.assert_allclose(left, wanted[name].astype(float), rtol=1e-9, atol=1e-9, equal_nan=True, err_msg=name)


def test_rows_on_or_after_the_cut_off_change_no_feature(shop: Asked, task: TaskSpec, tmp_path: Path) -> None:
    changed = asked(tmp_path, tables(late="7919"))
    after = changed.predictive("predict churn for each customer").task
    sums = "SELECT sum(amount), count(DISTINCT channel) FROM orders"
    assert shop.source.rows(sums) != changed.source.rows(sums)
    assert [f.name for f in after.features] == [f.name for f in task.features]
    assert after.context_sql == task.context_sql
    left, right = shop.source.query(task.context_sql), changed.source.query(after.context_sql)
    pd.testing.assert_frame_equal(left, right)
    pd.testing.assert_frame_equal(shop.source.query(task.predict_sql), changed.source.query(after.predict_sql))


def test_items_take_the_date_of_their_order_and_undated_products_stay_out(task: TaskSpec) -> None:
    count = next(f for f in task.features if f.name == "item_count")
    assert "JOIN orders" in count.expression
    assert "orders.placed_on < customer.review_date" in count.expression
    assert count.tables == ("item", "orders")
    assert not any("shelf" in f.name for f in task.features)


def test_each_definition_reads_as_a_sentence_and_as_sql(task: TaskSpec) -> None:
    made = {f.name: f for f in task.features}
    assert made["orders_count_90d"].label == "orders in the last 90 days before the customer"
    assert made["orders_amount_avg_to_credit_amount"].unit == "times"
    assert all(f.label and f.expression and f.tables for f in task.features)
    assert "INTERVAL 90 DAY" in made["orders_amount_sum_90d"].expression


def test_the_definition_of_a_feature_gives_its_values_when_run_by_itself(shop: Asked, task: TaskSpec) -> None:
    seen = shop.source.query(task.context_sql).set_index("customer_id")
    for feature in task.features:
        if "JOIN" in feature.expression or feature.tables != ("orders",):
            continue
        sql, of = feature.expression.split(" FROM orders WHERE ")
        joined = f"FROM orders JOIN customer USING (customer_id) WHERE {of}"
        alone = shop.source.query(f"SELECT customer_id, {sql} AS v {joined} GROUP BY 1")
        values = alone.set_index("customer_id")["v"].astype(float)
        assert len(values) > 50
        seen_of = seen[feature.name].astype(float).reindex(values.index)
        np.testing.assert_allclose(seen_of, values, rtol=1e-9, atol=1e-9, err_msg=feature.name)


def test_few_rows_get_few_features_and_it_is_said(tmp_path: Path) -> None:
    small = tables()
    small["customer"] += " WHERE n <= 60"
    small["orders"] = f"SELECT * FROM ({small['orders']}) WHERE customer_id <= 60"
    small["item"] = f"SELECT i.* FROM ({small['item']}) AS i JOIN ({small['orders']}) AS o USING (order_id)"
    source = asked(tmp_path, small)
    task = source.predictive("predict churn for each customer").task
    of_events = [f for f in task.features if f.tables != ("customer",)]
    assert len(of_events) == feature_budget.LEAST
    assert {"orders_count", "orders_amount_sum", "item_count"} <= {f.name for f in of_events}
    assert any("features that can be made" in note for note in task.notes)
    assert task.features == source.predictive("predict churn for each customer").task.features


def test_a_column_called_like_a_feature_keeps_its_own_values(tmp_path: Path) -> None:
    more = tables()
    more["customer"] = f"SELECT *, customer_id % 9 AS \"Orders_Count\" FROM ({more['customer']})"
    source = asked(tmp_path, more)
    task = source.predictive("predict churn for each customer").task
    names = [f.name for f in task.features]
    assert {"Orders_Count", "orders_count_before"} <= set(names)
    assert len({n.casefold() for n in names}) == len(names)
    seen = source.source.query(task.context_sql)
    assert list(seen["Orders_Count"]) == list(seen["customer_id"] % 9)
    plain = dict(source.source.rows(
        "SELECT customer_id, count(order_id) FROM customer LEFT JOIN orders USING (customer_id)"
        " WHERE placed_on < review_date OR placed_on IS NULL GROUP BY 1"
    ))  # fmt: skip
    assert all(plain.get(who, 0) == n for who, n in zip(seen["customer_id"], seen["orders_count_before"], strict=True))
