"""Sums, averages, ends, groups, filters, order and limits over one table, against SQL written by hand."""

from __future__ import annotations

import pytest

from tests.text_to_sql.sources import Asked

TELCO = [
    ("average monthly charges by contract", "SELECT Contract, avg(MonthlyCharges) FROM t GROUP BY 1"),
    ("What is the mean tenure?", "SELECT avg(tenure) FROM t"),
    ("median monthly charges per payment method", "SELECT PaymentMethod, median(MonthlyCharges) FROM t GROUP BY 1"),
    ("highest and lowest monthly charges", "SELECT max(MonthlyCharges), min(MonthlyCharges) FROM t"),
    ("number of customers by internet service and contract", "SELECT InternetService, Contract, count(*) FROM t GROUP BY 1, 2"),
    ("how many churned customers have a two year contract", "SELECT count(*) FROM t WHERE Churn AND Contract = 'Two year'"),
    ("sum of total charges", "SELECT sum(TRY_CAST(TotalCharges AS DOUBLE)) FROM t"),
    ("average tenure of customers who have not churned", "SELECT avg(tenure) FROM t WHERE NOT Churn"),
    ("How many customers have monthly charges above 100?", "SELECT count(*) FROM t WHERE MonthlyCharges > 100"),
    ("customers with tenure between 10 and 12: count", "SELECT count(*) FROM t WHERE tenure BETWEEN 10 AND 12"),
    ("how many customers with dsl or fiber optic are there",
     "SELECT count(*) FROM t WHERE InternetService IN ('DSL', 'Fiber optic')"),
    ("how many senior citizens churned", "SELECT count(*) FROM t WHERE SeniorCitizen = 1 AND Churn"),
    ("churn rate by contract", "SELECT Contract, 100.0 * avg(Churn::INT) FROM t GROUP BY 1"),
    ("Which contract has the highest churn rate?",
     "SELECT 'Month-to-month', max(r) FROM (SELECT 100.0 * avg(Churn::INT) r FROM t GROUP BY Contract)"),
    ("top 3 customers by total charges",
     "SELECT customerID, TRY_CAST(TotalCharges AS DOUBLE) x FROM t ORDER BY x DESC NULLS LAST LIMIT 3"),
    ("Which contract has the most customers?", "SELECT Contract, count(*) n FROM t GROUP BY 1 ORDER BY n DESC LIMIT 1"),
    ("contracts with more than 1600 customers", "SELECT Contract, count(*) n FROM t GROUP BY 1 HAVING n > 1600"),
    ("What percentage of customers churned?", "SELECT 100.0 * avg(Churn::INT) FROM t"),
    ("share of women among customers", "SELECT 100.0 * avg((gender = 'Female')::INT) FROM t"),
    ("how many different payment methods are there", "SELECT count(DISTINCT PaymentMethod) FROM t"),
]  # fmt: skip
STAFF = [
    ("headcount by department", "SELECT Department, count(*) FROM t GROUP BY 1"),
    ("average monthly income by job role", "SELECT JobRole, avg(MonthlyIncome) FROM t GROUP BY 1"),
    ("attrition rate by department", "SELECT Department, 100.0 * avg(Attrition::INT) FROM t GROUP BY 1"),
    ("how many employees in sales left", "SELECT count(*) FROM t WHERE Department = 'Sales' AND Attrition"),
    ("number of employees older than 50", "SELECT count(*) FROM t WHERE Age > 50"),
    ("average age by marital status", "SELECT MaritalStatus, avg(Age) FROM t GROUP BY 1"),
    ("five highest monthly incomes with employee number",
     "SELECT EmployeeNumber, MonthlyIncome FROM t ORDER BY MonthlyIncome DESC, EmployeeNumber LIMIT 5"),
]  # fmt: skip
HOUSES = [
    ("average price by number of bedrooms", "SELECT bedrooms, avg(price) FROM t GROUP BY 1"),
    ("how many homes in May 2014", "SELECT count(*) FROM t WHERE date LIKE '201405%'"),
    ("how many waterfront homes are there", "SELECT count(*) FROM t WHERE waterfront = 1"),
    ("number of homes built before 1920", "SELECT count(*) FROM t WHERE yr_built < 1920"),
    ("average price of homes with a grade of at least 11", "SELECT avg(price) FROM t WHERE grade >= 11"),
    ("number of homes by month",
     "SELECT CAST(date_trunc('month', strptime(date, '%Y%m%dT%H%M%S')) AS DATE), count(*) FROM t GROUP BY 1"),
]  # fmt: skip


def _same(ours: list[tuple], theirs: list[tuple]) -> None:
    assert len(ours) == len(theirs)
    left = [[*row] for row in ours]
    for row in theirs:
        match = next((r for r in left if all(any(_equal(a, b) for b in r) for a in row)), None)
        assert match is not None, f"{row} is not in {ours[:5]}"
        left.remove(match)


def _equal(a: object, b: object) -> bool:
    if isinstance(a, int | float) and isinstance(b, int | float):
        return a == pytest.approx(b, rel=1e-9)
    return a == b


def _check(asked: Asked, table: str, question: str, sql: str) -> None:
    _same(asked.answer(question), asked.source.rows(sql.replace("FROM t", f"FROM {table}")))


@pytest.mark.parametrize(("question", "sql"), TELCO)
def test_telco(telco: Asked, question: str, sql: str) -> None:
    _check(telco, "telco_customer_churn", question, sql)


@pytest.mark.parametrize(("question", "sql"), STAFF)
def test_staff(staff: Asked, question: str, sql: str) -> None:
    _check(staff, "emp_attrition_ibm", question, sql)


@pytest.mark.parametrize(("question", "sql"), HOUSES)
def test_houses(houses: Asked, question: str, sql: str) -> None:
    _check(houses, "kc_house_data", question, sql)


def test_yes_and_no_are_understood_whether_stored_as_text_or_boolean(telco: Asked, telco_text: Asked) -> None:
    for question in (
        "how many customers churned?",
        "How many customers with Churn = Yes?",
        "customers who have not churned, count",
    ):
        assert telco.number(question) == telco_text.number(question)
    assert telco_text.analytic("how many customers churned?").string_filters == (("data_2024", "Churn", "Yes"),)


def test_a_figure_is_not_grouped_by_its_every_value(telco: Asked) -> None:
    reading = telco.read("number of customers by monthly charges")
    assert reading.kind == "cannot_answer"
    assert "too many to group by" in reading.reason


def test_missing_values_are_said_beside_the_sum(telco: Asked) -> None:
    assert (
        "11 values are missing in telco_customer_churn.TotalCharges and not counted."
        in telco.analytic("sum of total charges").caveats
    )


def test_results_have_readable_names_and_quote_only_what_must_be(bank: Asked) -> None:
    sql = bank.analytic("total order amount per receiving bank").sql
    assert 'FROM "order"' in sql
    assert "total_order_amount" in sql
    assert '"amount"' not in sql


def test_groups_come_in_a_fixed_order_with_ties_broken(telco: Asked) -> None:
    sql = telco.analytic("customers by contract").sql
    assert "ORDER BY\n  customers DESC NULLS LAST,\n  contract ASC" in sql or "customers DESC" in sql
    assert [row[0] for row in telco.answer("customers by contract")] == ["Month-to-month", "Two year", "One year"]
