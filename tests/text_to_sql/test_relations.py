"""Questions whether two things go together, questions of risk that name no outcome, and several questions in one."""

from __future__ import annotations

import pytest

from tests.text_to_sql.sources import Asked


def test_what_goes_with_an_event_is_its_rate_by_group_and_no_cause_is_claimed(staff: Asked) -> None:
    rows = staff.answer("Does overtime go with attrition?")
    assert {(bool(o), n, k): round(rate, 1) for o, n, k, rate in rows} == {
        (True, 416, 127): 30.5,
        (False, 1054, 110): 10.4,
    }
    assert "not what causes what" in staff.analytic("Is attrition related to overtime?").reading
    assert staff.answer("Is attrition related to overtime?") == rows


def test_two_figures_are_not_set_against_each_other(staff: Asked) -> None:
    assert staff.read("does age affect income?").kind == "cannot_answer"


@pytest.mark.parametrize("question", ["Who in Sales should worry us?", "Which people in sales are at risk?"])
def test_risk_without_an_outcome_means_the_event_that_is_recorded(staff: Asked, question: str) -> None:
    reading = staff.predictive(question)
    assert reading.task.target_column == "y_attrition"
    assert any("the outcome that is recorded here" in e.became for e in reading.evidence)
    assert len(staff.source.query(reading.task.predict_sql)) == 354


def test_several_questions_in_one_are_offered_one_by_one(staff: Asked) -> None:
    reading = staff.read("Does overtime go with attrition? Who in Sales should worry us?")
    assert reading.kind == "clarify"
    assert reading.options == ("Does overtime go with attrition?", "Who in Sales should worry us?")


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("Which loans have the highest default rate?", "loans"),
        ("how many loans have the highest amount", "amount"),
        ("average loan amount status", "status"),
        ("loans by duration in years", "years"),
        ("how many clients live in different districts", "different"),
        ("average balance of accounts in Prague", "balance"),
        ("total unemployment rate in 1996", "total"),
        ("average order amount by purpose and bank", "bank"),
    ],
)
def test_an_asked_for_word_without_a_part_stops_the_answer(bank: Asked, question: str, word: str) -> None:
    reading = bank.read(question)
    assert reading.kind == "cannot_answer", reading
    assert word in reading.words


def test_years_beside_a_figure_are_dates_where_no_column_is_named(bank: Asked) -> None:
    assert bank.answer("average loan amount between 1995 and 1997 by year")[0][0] == 1995
    assert len(bank.answer("average loan amount between 1995 and 1997 by year")) == 3


def test_both_ends_of_a_figure_are_two_figures(staff: Asked, bank: Asked) -> None:
    assert staff.answer("age of the youngest and the oldest employee") == [(18, 60)]
    assert bank.answer("smallest and largest monthly payment") == [(304.0, 9910.0)]
    assert [r[0] for r in bank.answer("the oldest client")] == [4714]


def test_a_name_of_several_tables_is_asked_about_even_when_one_is_nearer(tmp_path) -> None:
    from tests.text_to_sql.sources import asked

    tables = {
        "artist": "SELECT n AS artist_id, 'Group ' || n AS name FROM range(1, 30) AS t(n)",
        "album": "SELECT n AS album_id, n % 29 + 1 AS artist_id, CASE WHEN n = 3 THEN 'Group 7' ELSE 'Album ' || n END AS title"
        " FROM range(1, 60) AS t(n)",
        "track": "SELECT n AS track_id, n % 59 + 1 AS album_id, n * 10 AS length FROM range(1, 400) AS t(n)",
    }
    source = asked(tmp_path, tables)
    reading = source.read("how many tracks are by Group 7")
    assert reading.kind in ("clarify", "cannot_answer")
    assert (
        source.number("number of tracks with artist name Group 7")
        == source.source.rows("SELECT count(*) FROM track JOIN album USING (album_id) WHERE artist_id = 7")[0][0]
    )
