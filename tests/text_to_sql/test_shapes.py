"""Questions about other rows and about groups as a whole, each against SQL written by hand on a bank small enough to check.

Existence, figures above an average, the first of each group, shares, changes, running totals and ranges.
"""

from __future__ import annotations

import pytest

from tests.text_to_sql.sources import Asked, asked

SHAPES = [
    ("accounts without a loan, just the number", "SELECT 6"),
    ("How many accounts have a loan?", "SELECT 24"),
    ("How many accounts have no loan?", "SELECT 6"),
    ("How many accounts have a loan but no card?", "SELECT 22"),
    ("How many accounts have neither a loan nor a card?", "SELECT 6"),
    (
        "How many accounts have all three: a loan, a card and at least one order?",
        "SELECT count(*) FROM account a WHERE a.account_id IN (SELECT account_id FROM loan) AND a.account_id IN"
        ' (SELECT account_id FROM disp JOIN card USING (disp_id)) AND a.account_id IN (SELECT account_id FROM "order")',
    ),
    (
        "How many accounts have at least 2 cards?",
        "SELECT count(*) FROM (SELECT account_id FROM disp JOIN card USING (disp_id) GROUP BY 1 HAVING count(*) >= 2)",
    ),
    ("How many loans are bigger than the average loan?", "SELECT count(*) FROM loan WHERE amount > 12500"),
    ("How many loans are above twice the average loan amount?", "SELECT count(*) FROM loan WHERE amount > 25000"),
    (
        "How many loans are larger than the average loan amount of their region?",
        "WITH l AS (SELECT amount, avg(amount) OVER (PARTITION BY A3) AS mean FROM loan JOIN account USING (account_id)"
        " JOIN district USING (district_id)) SELECT count(*) FROM l WHERE amount > mean",
    ),
    (
        "For every region show the district with the highest average salary.",
        "SELECT A3, district_id, A2, A11 FROM district d WHERE A11 = (SELECT max(A11) FROM district e WHERE e.A3 = d.A3)",
    ),
    (
        "largest loan of each status",
        "SELECT status, loan_id, amount FROM loan l WHERE amount = (SELECT max(amount) FROM loan m WHERE m.status = l.status)",
    ),
    (
        "For each status, which region has the most loans?",
        "WITH g AS (SELECT status, A3, count(*) AS n FROM loan JOIN account USING (account_id) JOIN district USING (district_id)"
        " GROUP BY ALL) SELECT status, A3, n FROM g WHERE n = (SELECT max(n) FROM g h WHERE h.status = g.status)",
    ),
    ("second largest loan", "SELECT 23, 23000"),
    (
        "loans by status in percent",
        "SELECT status, count(*), 100.0 * count(*) / (SELECT count(*) FROM loan) FROM loan GROUP BY 1",
    ),
    (
        "share of the total loan amount by status",
        "SELECT status, count(*), sum(amount), 100.0 * sum(amount) / (SELECT sum(amount) FROM loan) FROM loan GROUP BY 1",
    ),
    (
        "running total of loans by month",
        "SELECT m, n, (SELECT count(*) FROM loan WHERE date_trunc('month', date) <= m) FROM (SELECT date_trunc('month', date)::DATE"
        " AS m, count(*) AS n FROM loan GROUP BY 1)",
    ),
    (
        "loans by month and the change from the previous month",
        "SELECT DATE '1996-01-01', 21, NULL UNION ALL SELECT DATE '1996-02-01', 3, -18",
    ),
    (
        "number of loans by loan amount bands 0-5000, 5001-10000 and 10001+",
        "SELECT '0-5000', 5 UNION ALL SELECT '5001-10000', 5 UNION ALL SELECT '10001+', 14",
    ),
    (
        "number of loans by loan amount in steps of 10000",
        "SELECT 0, 9 UNION ALL SELECT 10000, 10 UNION ALL SELECT 20000, 5",
    ),
]


@pytest.mark.parametrize(("question", "gold"), SHAPES, ids=[q for q, _ in SHAPES])
def test_a_shape_gives_what_sql_written_by_hand_gives(mini: Asked, question: str, gold: str) -> None:
    got, wanted = mini.answer(question), mini.source.rows(gold)
    assert sorted(map(repr, map(_plain, got))) == sorted(map(repr, map(_plain, wanted)))


def _plain(row: tuple) -> tuple:
    return tuple(
        ""
        if v is None or v != v
        else round(float(v), 6)
        if isinstance(v, int | float) or hasattr(v, "as_tuple")
        else str(v)
        for v in row
    )


UNCLEAR = [
    "churned loans in percent by status",
    "running total of loans",
    "loans of bad payers in percent by region",
    "average loan amount in percent by region",
    "running total of the average loan amount by month",
    "loans by weekday and the change from the previous year",
    "How many loans are bigger than the average account?",
    "How many loans have no duration?",
]


@pytest.mark.parametrize("question", UNCLEAR)
def test_a_shape_that_does_not_fit_is_not_answered(mini: Asked, question: str) -> None:
    assert mini.read(question).kind in ("cannot_answer", "clarify", "off_topic")


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """Six people, three of whom lead others, and a table of pairs."""
    people = "(1, 'Ann', NULL, 900), (2, 'Bob', 1, 700), (3, 'Cid', 1, 650), (4, 'Dee', 2, 500), (5, 'Eve', 2, 400)"
    people += ", (6, 'Fay', 3, 300)"
    return asked(
        tmp_path_factory.mktemp("company"),
        {
            "employee": f"SELECT * FROM (VALUES {people}) AS t(employee_id, name, manager_id, salary)",
            "project": "SELECT n AS project_id, 'Project ' || n AS title FROM range(1, 4) AS t(n)",
            "assignment": "SELECT * FROM (VALUES (1, 1), (2, 1), (2, 2), (4, 1)) AS t(employee_id, project_id)",
        },
    )


ROLES = [
    ("How many employees have no manager?", "SELECT 1"),
    ("how many employees have a boss", "SELECT 5"),
    ("number of employees by manager", "SELECT 1, 'Ann', 2 UNION ALL SELECT 2, 'Bob', 2 UNION ALL SELECT 3, 'Cid', 1"),
    ("How many employees have no project?", "SELECT 3"),
    ("How many employees have at least 2 projects?", "SELECT 1"),
    ("how many projects have no employees", "SELECT 1"),
    ("who has the second highest salary", "SELECT 2, 'Bob', 700"),
    ("how many employees earn more than the average salary", "SELECT 3"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "gold"), ROLES, ids=[q for q, _ in ROLES])
def test_rows_of_the_same_table_and_pairs_are_told_of(company: Asked, question: str, gold: str) -> None:
    got, wanted = company.answer(question), company.source.rows(gold)
    assert sorted(map(repr, map(_plain, got))) == sorted(map(repr, map(_plain, wanted)))
