"""The plain reading of a case: every number is a fact, and nothing is called a cause."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lexsi_ds.explain.cases import explain_cases
from lexsi_ds.explain.wording import NOT_CAUSES, case_sentence, number
from lexsi_ds.facts import check
from lexsi_ds.models.engine import CaseDriver, CaseExplanation
from lexsi_ds.models.task import TaskSpec
from tests.models.frames_for_tests import loan_task, loans, train_in

TASK: TaskSpec = loan_task(loans())


def driver(feature: str, contribution: float, value: Any, **more: Any) -> CaseDriver:
    fields = {"label": feature.replace("_", " "), "unit": None, "margin": contribution * 5, **more}
    return CaseDriver(feature=feature, contribution=contribution, value=value, **fields)


def case(*drivers: CaseDriver, **more: Any) -> CaseExplanation:
    fields: dict[str, Any] = {
        "case_id": "5314",
        "scale": "probability",
        "base_value": 0.132,
        "prediction": 0.7091,
        "base_margin": -1.9,
        "margin": 0.9,
        "scored": "model",
        "display": {},
    }
    return CaseExplanation(**{**fields, **more}, drivers=drivers)


LOWEST = driver(
    "balance_min",
    0.212,
    -3120.0,
    label="lowest balance before the loan",
    unit="CZK",
    lower_share=0.02,
    higher_share=0.975,
)


def test_the_reading_of_a_case_word_for_word() -> None:
    text, facts = case_sentence(
        case(
            LOWEST,
            driver("months", 0.09, 48, label="months to pay"),
            driver("frequency", -0.05, "monthly", label="statement frequency"),
            driver("small", 0.001, 1),
        ),
        TASK,
    )
    assert text == (
        "Loan 5314 is at 0.71, from a base of 0.13. Lowest balance before the loan of -3,120 CZK (among the lowest 3% of the "
        "loans it was trained on) raises it most, by 21 points; months to pay of 48 raises it by 9 points. "
        'Statement frequency "monthly" lowers it most, by 5 points. '
        "The model has learnt what goes together, not what causes it."
    )
    assert facts["balance_min.value"] == -3120
    assert facts["balance_min.share"] == 3
    assert facts["balance_min.points"] == 21
    assert (facts["prediction"], facts["base"], facts["case"]) == (0.71, 0.13, "5314")


@pytest.mark.parametrize("model_type", ["XGBoost", "Logistic"])
def test_every_number_of_real_readings_is_among_their_facts(tmp_path: Path, model_type: str) -> None:
    frame = loans()
    model = train_in(tmp_path, frame, loan_task(frame), model_type=model_type)
    rows = pd.concat([frame.head(30), loans(30, seed=5, first=1_000)], ignore_index=True)
    for found in explain_cases(model, rows, "probability") + explain_cases(model, rows, "log-odds"):
        assert found.summary
        checked = check(found.summary, found.facts)
        assert checked.removed == ()
        assert checked.text == found.summary
        assert found.summary.endswith(NOT_CAUSES)
        assert "caus" not in found.summary.removesuffix(NOT_CAUSES)
        assert (found.summary, found.facts) == case_sentence(found, model.card.task)


def test_a_number_that_is_no_fact_would_be_caught() -> None:
    text, facts = case_sentence(case(LOWEST), TASK)
    del facts["balance_min.points"]
    assert check(text, facts).removed


def test_labels_units_and_words_that_hold_numbers_are_facts_too() -> None:
    odd = driver("b90", 0.2, 12.5, label="balance over 90 days", unit="per 1000 CZK")
    text, facts = case_sentence(case(odd, driver("code", -0.1, "B 17")), TASK)
    assert check(text, facts).text == text


def test_missing_values_truths_and_ordinary_numbers_read_plainly() -> None:
    text, _ = case_sentence(
        case(
            driver("income", 0.2, None),
            driver("has_card", 0.1, True, label="has a card"),
            driver("age", -0.1, 41.0, lower_share=0.5, higher_share=0.45),
        ),
        TASK,
    )
    assert "A missing income raises it most" in text
    assert "has a card: yes raises it by 10 points" in text
    assert "Age of 41 lowers it most, by 10 points." in text


def test_one_point_is_singular_and_nothing_worth_a_point_is_said_so() -> None:
    text, _ = case_sentence(case(driver("a", 0.0096, 1.0)), TASK)
    assert "by 1 point." in text
    text, _ = case_sentence(case(driver("a", 0.004, 1.0)), TASK)
    assert text.endswith("No single feature moves it by a point." + NOT_CAUSES)


def test_a_training_row_is_said_to_be_one() -> None:
    text, _ = case_sentence(case(LOWEST, scored="out_of_fold"), TASK)
    origin = "It is a training row (finished loans): this score is out of fold, from models that did not see it."
    assert text.endswith(origin + NOT_CAUSES)


def test_the_log_odds_scale_is_named() -> None:
    text, facts = case_sentence(case(driver("a", 1.234, 2.0), scale="log-odds", prediction=0.9, base_value=-1.9), TASK)
    assert "is at 0.90 on the log-odds scale, from a base of -1.90" in text
    assert "by 1.23." in text
    assert check(text, facts).text == text


def test_numbers_are_printed_as_people_do() -> None:
    printed = [number(v)[0] for v in (-3120.0, 1234567.8, 48, 12.345, 1.234, 0.0456, -0.5)]
    assert printed == ["-3,120", "1,234,568", "48", "12.3", "1.23", "0.046", "-0.500"]
    assert number(12.345)[1] == 12.3


def test_features_that_share_credit_are_told_to_be_read_as_one() -> None:
    shared = driver("balance_mean", 0.2, 4200.0, label="mean balance", shares_with=("lowest balance",), higher_share=0.96)
    text, facts = case_sentence(case(shared), TASK)
    assert "Mean balance of 4,200 (among the lowest 4% of the loans it was trained on) raises it most, by 20 points." in text
    assert "Mean balance and lowest balance move together in the training data" in text
    assert check(text, facts).text == text
    assert "move together" not in case_sentence(case(LOWEST), TASK)[0]


def test_a_value_beyond_all_of_training_is_said_to_be_so() -> None:
    text, facts = case_sentence(case(driver("a", 0.2, 99.0, lower_share=1.0, higher_share=0.0)), TASK)
    assert "A of 99 (above all of the loans it was trained on) raises it most" in text
    assert check(text, facts).text == text
