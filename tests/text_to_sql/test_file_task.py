"""Prediction tasks on files of one table and on small sources of other shapes: the writer knows keys and dates, no data set."""

from __future__ import annotations

import pytest

from lexsi_ds.models.task import TaskSpec
from tests.text_to_sql.sources import Asked, asked


def reasons(task: TaskSpec) -> dict[str, str]:
    return {o.name: o.reason for o in task.left_out}


def test_churn_uses_the_one_table_and_says_that_nothing_proves_when(telco: Asked) -> None:
    task = telco.predictive("Which customers are likely to churn? Top 20 and why").task
    context, predict = telco.source.query(task.context_sql), telco.source.query(task.predict_sql)
    assert (len(context), int(context["y_churn"].sum())) == (7043, 1869)
    assert len(predict) == 5174
    assert not predict["Churn"].any()
    assert task.out_of_fold
    assert task.cutoff_column is None
    notes = " ".join(task.notes)
    assert "nothing proves that their columns were known before the outcome" in notes
    assert "each score is out of fold" in notes
    assert "11 blank values of TotalCharges count as missing." in notes
    assert context["TotalCharges"].isna().sum() == 11
    why = reasons(task)
    assert (why["gender"], why["SeniorCitizen"], why["customerID"], why["Churn"]) == (
        "protected",
        "protected",
        "identifier",
        "target",
    )


def test_text_and_boolean_yes_no_give_the_same_rows(telco: Asked, telco_text: Asked) -> None:
    sizes = []
    for source in (telco, telco_text):
        task = source.predictive("Which customers are likely to churn?").task
        context = source.source.query(task.context_sql)
        sizes.append((len(context), int(context["y_churn"].sum()), len(source.source.query(task.predict_sql))))
    assert sizes[0] == sizes[1] == (7043, 1869, 5174)


def test_attrition_leaves_out_constants_keys_and_protected_columns(staff: Asked) -> None:
    why = reasons(staff.predictive("Which employees are likely to leave?").task)
    assert {n for n, r in why.items() if r == "protected"} >= {"Age", "Gender", "MaritalStatus"}
    assert {n for n, r in why.items() if r == "constant"} >= {"EmployeeCount", "StandardHours"}
    assert why["EmployeeNumber"] == "identifier"


ORDERS = {
    "customer": "SELECT n AS customer_id, DATE '2020-01-01' + CAST(n AS INTEGER) AS signup_date,"
    " CASE WHEN n % 4 = 0 THEN 'gold' ELSE 'basic' END AS plan, CASE WHEN n <= 40 THEN n % 3 = 0 END AS churned,"
    " n % 7 AS seats, n % 2 = 0 AS is_married FROM range(1, 61) AS t(n)",
    "visits": "SELECT n AS visit_id, n % 60 + 1 AS customer_id, DATE '2020-01-01' + CAST(n % 90 AS INTEGER) AS visited_on,"
    " n % 11 AS pages, n % 2 = 0 AS on_mobile FROM range(1, 601) AS t(n)",
    "notes": "SELECT n AS note_id, n AS customer_id, n % 5 AS stars FROM range(1, 61) AS t(n)",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """Customers with dated visits and undated notes; the last twenty have no outcome yet."""
    return asked(tmp_path_factory.mktemp("shop"), ORDERS)


def test_rows_without_an_outcome_are_the_ones_to_score(shop: Asked) -> None:
    task = shop.predictive("Which customers are likely to churn?").task
    assert not task.out_of_fold
    assert len(shop.source.query(task.context_sql)) == 40
    predict = shop.source.query(task.predict_sql)
    assert list(predict["customer_id"]) == list(range(41, 61))
    assert task.cutoff_column == "signup_date"


def test_dated_children_count_strictly_before_the_date_and_undated_ones_do_not(shop: Asked) -> None:
    task = shop.predictive("Which customers are likely to churn?").task
    frame = shop.source.query(task.context_sql).set_index("customer_id")
    expected = shop.source.rows(
        "SELECT c.customer_id, count(v.visit_id), sum(v.pages), count(*) FILTER (WHERE v.on_mobile) FROM customer c JOIN visits v"
        " ON v.customer_id = c.customer_id AND v.visited_on < c.signup_date GROUP BY ALL"
    )
    assert expected
    for customer, count, pages, mobile in expected:
        if customer in frame.index:
            seen = frame.loc[customer]
            assert (seen["visits_count"], seen["visits_on_mobile_count"]) == (count, mobile)
            assert seen["visits_pages_avg"] == pytest.approx(pages / count)
    left = {(o.table, o.name): o.reason for o in task.left_out}
    assert left["notes", "stars"] == "undated"
    assert left["customer", "is_married"] == "protected"


def test_rows_of_a_table_without_a_key_are_numbered_the_same_in_both_frames(tmp_path) -> None:
    rows = "SELECT n % 5 AS score, n % 7 AS visits, n % 2 = 0 AS churned FROM range(100) AS t(n)"
    source = asked(tmp_path, {"people": rows})
    task = source.predictive("which people are likely to churn?").task
    context, scored = source.source.query(task.context_sql), source.source.query(task.predict_sql)
    number = task.entity_column
    assert context[number].is_unique
    assert len(context) == 100
    assert len(scored) == 50
    both = scored.merge(context, on=number, suffixes=("", "_known"))
    assert len(both) == 50
    assert (both["score"] == both["score_known"]).all()
    assert (both["visits"] == both["visits_known"]).all()
    assert not both["y_churned"].any()
    assert any("No column tells" in note for note in task.notes)


def test_names_with_quotes_and_spaces_run(tmp_path) -> None:
    rows = 'SELECT n AS "Customer ID", n % 9 AS "Pages ""read""", n % 3 AS "order", n % 2 = 0 AS Churned FROM range(1, 81) AS t(n)'
    source = asked(tmp_path, {'my "odd" table': rows})
    task = source.predictive("Which customers are likely to churn?").task
    assert len(source.source.query(task.context_sql)) == 80
    assert len(source.source.query(task.predict_sql)) == 40
    assert source.number("How many customers churned?") == 40
