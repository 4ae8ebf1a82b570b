"""Years, figures and values that are said of two things at once: each is read for itself, or the question is not answered."""

from __future__ import annotations

import pytest

from lexsi_ds.data.same_rows import same_rows
from lexsi_ds.text_to_sql.reading import Analytic, Clarify
from tests.text_to_sql.sources import Asked, asked
from tests.text_to_sql.studio import STUDIO

_IN = "SELECT member_id FROM payments WHERE year(paid_on) = "
RIGHT = [
    ("how many members have payments in 2022 but not in 2023",
     f"SELECT count(*) FROM members WHERE member_id IN ({_IN} 2022) AND member_id NOT IN ({_IN} 2023)"),
    ("how many members have payments in 2023 and not in 2022",
     f"SELECT count(*) FROM members WHERE member_id IN ({_IN} 2023) AND member_id NOT IN ({_IN} 2022)"),
    ("how many members have payments in 2022 and 2023",
     f"SELECT count(*) FROM members WHERE member_id IN ({_IN} 2022) AND member_id IN ({_IN} 2023)"),
    ("how many members have card payments in 2022 but not in 2023",
     f"SELECT count(*) FROM members WHERE member_id IN ({_IN} 2022 AND method = 'card')"
     f" AND member_id NOT IN ({_IN} 2023 AND method = 'card')"),
    ("how many bookings were booked but not held in 2022",
     "SELECT count(*) FROM bookings WHERE year(booked_on) = 2022 AND year(held_on) <> 2022"),
    ("how many bookings were booked and held in 2023",
     "SELECT count(*) FROM bookings WHERE year(booked_on) = 2023 AND year(held_on) = 2023"),
    ("how many members joined but not left in 2021",
     "SELECT count(*) FROM members WHERE year(joined_on) = 2021 AND (left_on IS NULL OR year(left_on) <> 2021)"),
    ("which trainer has the highest average capacity",
     "SELECT trainer_name, avg(capacity) AS a FROM classes JOIN trainers USING (trainer_id) GROUP BY 1 ORDER BY 2 DESC LIMIT 1"),
]  # fmt: skip
REFUSED = [
    "average amount by number of bookings",
    "total capacity by number of trainers",
    "average hourly rate by number of different classes",
    "members with more than 2 payments in 2022 and 2023",
    "how many trainers are a woman and a man",
]


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return asked(tmp_path_factory.mktemp("two"), STUDIO)


@pytest.mark.parametrize(("question", "gold"), RIGHT, ids=[q for q, _ in RIGHT])
def test_what_is_said_of_two_gives_what_sql_written_by_hand_gives(studio: Asked, question: str, gold: str) -> None:
    reading = studio.analytic(question)
    got, wanted = studio.source.rows(reading.sql), studio.source.rows(gold)
    assert same_rows(got, wanted, ordered=False), (reading.reading, got[:5], wanted[:5])


@pytest.mark.parametrize("question", REFUSED)
def test_what_cannot_be_told_apart_is_not_answered(studio: Asked, question: str) -> None:
    assert not isinstance(studio.read(question), Analytic)


CHAINS = [
    (["number of payments by member's plan", "only card and cash"],
     "SELECT plan, count(*) FROM payments JOIN members USING (member_id) WHERE method IN ('card', 'cash') GROUP BY 1"),
    (["number of payments by method", "without card", "without cash"],
     "SELECT method, count(*) FROM payments WHERE method NOT IN ('card', 'cash') GROUP BY 1"),
    (["number of payments by method", "only card or cash", "without card"],
     "SELECT method, count(*) FROM payments WHERE method = 'cash' GROUP BY 1"),
    (["total payment amount by method", "top 2", "the average instead"],
     "SELECT method, avg(amount) FROM payments GROUP BY 1 ORDER BY 2 DESC LIMIT 2"),
]  # fmt: skip


@pytest.mark.parametrize(("questions", "gold"), CHAINS, ids=[c[-1] + str(n) for n, (c, _) in enumerate(CHAINS)])
def test_a_follow_up_keeps_what_it_does_not_replace(studio: Asked, questions: list[str], gold: str) -> None:
    reading = None
    for question in questions:
        reading = studio.analytic(question, previous=reading)
    assert reading is not None
    assert same_rows(studio.source.rows(reading.sql), studio.source.rows(gold), ordered=False), reading.reading


def test_a_follow_up_that_leaves_nothing_or_says_not_which_rows_is_not_answered(studio: Asked) -> None:
    card = studio.analytic("number of payments by method", previous=None)
    card = studio.analytic("only card", previous=card)
    assert not isinstance(studio.read("without card", previous=card), Analytic)
    top = studio.analytic("top 2", previous=studio.analytic("total payment amount by method"))
    assert not isinstance(studio.read("lowest first", previous=top), Analytic)


def test_rows_that_belong_to_none_do_not_come_first(tmp_path_factory: pytest.TempPathFactory) -> None:
    tables = {
        "vets": "SELECT * FROM (VALUES (1, 'Anna'), (2, 'Ben')) AS t(vet_id, vet_name)",
        "visits": "SELECT n AS visit_id, CASE WHEN n % 3 > 0 THEN n % 3 END AS vet_id, 10.0 + n % 3 + CASE WHEN n % 3 = 0 THEN 90"
        " ELSE 0 END AS fee FROM range(1, 31) AS t(n)",
        "gigs": "SELECT n AS gig_id, 12 + n % 10 AS start_hr, 30 + n % 5 * 30 AS duration_min FROM range(1, 41) AS t(n)",
    }
    vet = asked(tmp_path_factory.mktemp("vet"), tables)
    reading = vet.analytic("which vet has the highest average fee")
    assert [row[0] for row in vet.source.rows(reading.sql)] == ["Ben"]
    assert "without a vet left out" in reading.reading


def test_an_hour_behind_a_number_is_a_length_and_no_hour_of_the_day(tmp_path_factory: pytest.TempPathFactory) -> None:
    tables = {"gigs": "SELECT n AS gig_id, 12 + n % 10 AS StartHr, 30 + n % 5 * 30 AS DurMin FROM range(1, 41) AS t(n)"}
    gigs = asked(tmp_path_factory.mktemp("gigs"), tables)
    assert len(gigs.answer("gigs longer than 1 hour")) == len(gigs.source.rows("SELECT 1 FROM gigs WHERE DurMin > 60"))


def test_a_figure_per_one_that_has_two_readings_is_asked_with_both(studio: Asked) -> None:
    reading = studio.read("average amount per member")
    assert isinstance(reading, Clarify), reading
    assert set(reading.options) == {"average amount by member", "total amount by member"}
    assert all(isinstance(studio.read(o), Analytic) for o in reading.options)


@pytest.mark.parametrize(
    "question", ["total amount by members from Graz", "average monthly amount", "second largest payment method"]
)
def test_a_group_that_may_be_a_condition_or_a_period_is_not_guessed(studio: Asked, question: str) -> None:
    assert not isinstance(studio.read(question), Analytic)
