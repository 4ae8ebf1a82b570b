"""Questions that a model must answer are told by their meaning, and a word that has no part in them stops them."""

from __future__ import annotations

import pytest

from tests.text_to_sql.sources import Asked

NORTH_STAR = "For loans currently being repaid, which are likely to default? Show me the top 10 highest-risk loans and tell me why."
LOANS = [
    "which running loans will probably go bad",
    "predict default for active loans",
    "rank the open loans by default risk, top 10, with reasons",
    "who is at risk of not paying back",
    "Which current loans are at the highest risk of default?",
    "Show the riskiest running loans and explain why",
    "Which of the loans still being repaid might not be paid back?",
    "List the ten running loans most likely to go unpaid and why",
    "Which borrowers are likely to default?",
    "Score the running loans for default risk",
    "what is the probability of default for loans in repayment?",
    "Forecast defaults among active loans and tell me the reasons",
    "which outstanding loans should we worry about?",
    "loans that are currently running: who won't pay back?",
    "identify the highest-risk loans",
    "Which customers with running loans are in danger of defaulting?",
    "chance of default of every open loan, highest first",
]
CUSTOMERS = [
    "Which customers are likely to churn? Top 20 and why",
    "Who is going to leave us? Show 20 and tell me why",
    "predict which customers will churn, top 20, with reasons",
    "rank current customers by churn risk",
    "Which subscribers are at risk of leaving?",
    "who will probably cancel?",
    "churn probability per customer, top 20",
    "list the 20 customers most likely to leave and explain why",
    "Which of our clients are about to churn, and why?",
    "Give me the top 20 churn risks and the drivers",
    "customers at highest risk of churning",
    "who might quit soon",
    "Predict churn",
]


@pytest.mark.parametrize("question", [NORTH_STAR, *LOANS])
def test_loan_default_is_asked_for(bank: Asked, question: str) -> None:
    task = bank.predictive(question).task
    assert (task.entity_table, task.target_column, task.target_label) == ("loan", "y_default", "default")
    assert not task.out_of_fold


@pytest.mark.parametrize("question", CUSTOMERS)
def test_churn_is_asked_for(telco: Asked, question: str) -> None:
    task = telco.predictive(question).task
    assert (task.entity_column, task.target_column, task.out_of_fold) == ("customerID", "y_churn", True)


def test_how_many_and_why_are_heard(bank: Asked, telco: Asked) -> None:
    north = bank.predictive(NORTH_STAR)
    assert (north.top_k, north.wants_why) == (10, True)
    assert "running loans (status C or D)" in north.reading
    assert "finished loans (status A or B)" in north.reading
    assert ("currently being repaid", "running loans (status C or D)") in {(e.words, e.became) for e in north.evidence}
    plain = bank.predictive("predict default for active loans, top 25")
    assert (plain.top_k, plain.wants_why) == (25, False)
    assert telco.predictive("Which customers are likely to churn? Top 20 and why").top_k == 20


def test_any_yes_no_column_can_be_predicted_when_it_is_named(staff: Asked, telco: Asked) -> None:
    assert staff.predictive("Which employees are likely to leave the company?").task.target_column == "y_attrition"
    assert staff.predictive("predict attrition, top 15 and why").top_k == 15
    assert (
        telco.predictive("Which customers are likely to have paperless billing?").task.target_column
        == "y_paperless_billing"
    )


def test_a_value_of_the_rows_narrows_who_is_listed_but_not_who_is_learned_from(telco: Asked, staff: Asked) -> None:
    task = telco.predictive("Which month-to-month customers are likely to churn?").task
    listed = telco.source.query(task.predict_sql)
    assert set(listed["Contract"]) == {"Month-to-month"}
    assert len(telco.source.query(task.context_sql)) == 7043
    sales = staff.predictive("Who in Sales is at risk of leaving?").task
    assert len(staff.source.query(sales.predict_sql)) == 354
    assert "Department = Sales" in sales.unknown_meaning


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("Which customers are going to leave us next month?", "next"),
        ("Which customers will churn because of the weather?", "weather"),
        ("predict churn for customers in Berlin", "Berlin"),
    ],
)
def test_a_word_without_a_part_stops_a_prediction(telco: Asked, question: str, word: str) -> None:
    reading = telco.read(question)
    assert reading.kind == "cannot_answer"
    assert any(word in w for w in reading.words)


@pytest.mark.parametrize(
    "question",
    [
        "which loans are likely to default in 1999?",
        "predict the amount of next year's loans",
        "which accounts will be closed next year?",
        "will interest rates rise?",
        "forecast the number of transactions",
    ],
)
def test_what_no_outcome_covers_is_not_predicted(bank: Asked, question: str) -> None:
    assert bank.read(question).kind in ("cannot_answer", "off_topic")


def test_counting_past_outcomes_is_no_prediction(bank: Asked, telco: Asked) -> None:
    assert bank.read("How many loans defaulted?").kind == "analytic"
    assert telco.read("How many customers churned?").kind == "analytic"
    assert telco.read("churn rate by contract").kind == "analytic"


def test_the_mode_can_be_forced(bank: Asked) -> None:
    assert bank.read("default of running loans", mode="predictive").kind == "predictive"
    assert bank.read("which running loans will probably go bad", mode="analytic").kind == "cannot_answer"
    assert bank.read("How many accounts?", mode="predictive").kind == "cannot_answer"
