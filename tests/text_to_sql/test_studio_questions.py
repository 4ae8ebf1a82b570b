"""Questions on a studio with members, classes, bookings and payments: each gives what SQL by hand gives, or is not answered.

Time between dates, ages, two things set against each other, differences, ratios, figures of the first rows, moving averages.
"""

from __future__ import annotations

import pytest

from lexsi_ds.data.same_rows import same_rows
from lexsi_ds.text_to_sql.reading import Analytic
from tests.text_to_sql.sources import Asked, asked
from tests.text_to_sql.studio import STUDIO

_PAID = "SELECT member_id FROM payments WHERE method"
_LEVEL = "SELECT member_id FROM bookings JOIN classes USING (class_id) WHERE level"
RIGHT = [
    # time between dates, ages
    ("average number of days between booking and holding", "SELECT avg(held_on - booked_on) FROM bookings"),
    ("average days from booking to holding by level",
     "SELECT level, avg(held_on - booked_on) FROM bookings JOIN classes USING (class_id) GROUP BY 1"),
    ("how many bookings were held more than 30 days after they were booked",
     "SELECT count(*) FROM bookings WHERE held_on - booked_on > 30"),
    ("how many bookings took longer than 30 days from booking to holding",
     "SELECT count(*) FROM bookings WHERE held_on - booked_on > 30"),
    ("bookings held within 3 days of booking", "SELECT booking_id FROM bookings WHERE held_on - booked_on <= 3"),
    ("average age of members by plan",
     "SELECT plan, avg(date_sub('year', birth_date, (SELECT max(held_on) FROM bookings))) FROM members GROUP BY 1"),
    ("how many members are older than 40",
     "SELECT count(*) FROM members WHERE date_sub('year', birth_date, (SELECT max(held_on) FROM bookings)) > 40"),
    # two things of a row
    ("how many members have more bookings than payments",
     "SELECT count(*) FROM members m WHERE (SELECT count(*) FROM bookings b WHERE b.member_id = m.member_id)"
     " > (SELECT count(*) FROM payments p WHERE p.member_id = m.member_id)"),
    ("members with more card than cash payments",
     "SELECT member_id FROM members m WHERE (SELECT count(*) FROM payments p WHERE p.member_id = m.member_id AND method = 'card')"
     " > (SELECT count(*) FROM payments p WHERE p.member_id = m.member_id AND method = 'cash')"),
    ("members with fewer bookings in 2023 than in 2022",
     "SELECT member_id FROM members m WHERE (SELECT count(*) FROM bookings b WHERE b.member_id = m.member_id AND year(booked_on)"
     " = 2023) < (SELECT count(*) FROM bookings b WHERE b.member_id = m.member_id AND year(booked_on) = 2022)"),
    ("how many members live in a different city than their branch",
     "SELECT count(*) FROM members m JOIN branches b USING (branch_id) WHERE m.city <> b.city"),
    ("members who have both card and cash payments",
     f"SELECT member_id FROM members WHERE member_id IN ({_PAID} = 'card') AND member_id IN ({_PAID} = 'cash')"),
    ("how many members have booked both a beginner and an advanced class",
     f"SELECT count(*) FROM members WHERE member_id IN ({_LEVEL} = 'beginner') AND member_id IN ({_LEVEL} = 'advanced')"),
    ("how many members have either card or cash payments",
     f"SELECT count(*) FROM members WHERE member_id IN ({_PAID} IN ('card', 'cash'))"),
    ("members with only card payments",
     f"SELECT member_id FROM members WHERE member_id IN ({_PAID} = 'card') AND member_id NOT IN ({_PAID} <> 'card')"),
    # what belongs to what
    ("number of trainers by supervisor",
     "SELECT supervisor_id, count(*) FROM trainers WHERE supervisor_id IS NOT NULL GROUP BY 1"),
    ("how many trainers do not have a supervisor", "SELECT count(*) FROM trainers WHERE supervisor_id IS NULL"),
    ("how many classes have at least one booking that was not attended",
     "SELECT count(*) FROM classes WHERE class_id IN (SELECT class_id FROM bookings WHERE attended = 'no')"),
    ("members who never booked", "SELECT member_id FROM members WHERE member_id NOT IN (SELECT member_id FROM bookings)"),
    ("how many members have not left", "SELECT count(*) FROM members WHERE left_on IS NULL"),
    ("members not from Graz", "SELECT member_id FROM members WHERE city <> 'Graz'"),
    ("number of members in branches with trainers",
     "SELECT count(*) FROM members WHERE branch_id IN (SELECT branch_id FROM trainers)"),
    ("members without payments since 2023",
     "SELECT member_id FROM members WHERE member_id NOT IN (SELECT member_id FROM payments WHERE paid_on >= '2023-01-01')"),
    ("first booking of each member",
     "SELECT member_name, booking_id FROM (SELECT *, rank() OVER (PARTITION BY member_id ORDER BY booked_on) AS r FROM bookings)"
     " JOIN members USING (member_id) WHERE r = 1"),
    # differences and ratios
    ("how many more bookings were there in 2022 than in 2023",
     "SELECT count(*) FILTER (year(booked_on) = 2022) - count(*) FILTER (year(booked_on) = 2023) FROM bookings"),
    ("difference between the average hourly rate of men and women",
     "SELECT avg(hourly_rate) FILTER (gender = 'male') - avg(hourly_rate) FILTER (gender = 'female') FROM trainers"),
    ("difference between the largest and the smallest hourly rate", "SELECT max(hourly_rate) - min(hourly_rate) FROM trainers"),
    ("members per 1000 residents by city of the branch",
     "SELECT city, 1000.0 * sum((SELECT count(*) FROM members m WHERE m.branch_id = b.branch_id)) / sum(residents)"
     " FROM branches b GROUP BY 1"),
    # figures of the first rows, of groups, moving averages
    ("total of the five largest payments", "SELECT sum(amount) FROM (SELECT amount FROM payments ORDER BY 1 DESC LIMIT 5)"),
    ("average capacity of the three smallest classes",
     "SELECT avg(capacity) FROM (SELECT capacity FROM classes ORDER BY 1 LIMIT 3)"),
    ("what share of the total amount do the top 10 members have",
     "SELECT 100.0 * sum(s) FILTER (r <= 10) / sum(s) FROM (SELECT sum(amount) AS s, row_number() OVER (ORDER BY sum(amount) DESC)"
     " AS r FROM payments GROUP BY member_id)"),
    ("average number of bookings per month in 2022", "SELECT count(*) / 12.0 FROM bookings WHERE year(booked_on) = 2022"),
    ("how many plans have more than 13 members", "SELECT 1"),
    ("3-month moving average of the number of bookings",
     "SELECT m, n, avg(n) OVER (ORDER BY m ROWS 2 PRECEDING) FROM (SELECT date_trunc('month', booked_on)::DATE AS m, count(*) AS n"
     " FROM bookings GROUP BY 1)"),
    # conditions on shares, groups by the end of a figure
    ("plans where more than 25% of the members have left",
     "SELECT plan, 100.0 * count(left_on) / count(*) FROM members GROUP BY 1 HAVING count(left_on) * 4 > count(*)"),
    ("level with the highest average capacity", "SELECT level, avg(capacity) FROM classes GROUP BY 1 ORDER BY 2 DESC LIMIT 1"),
    ("what percentage of bookings were booked in 2022",
     "SELECT 100.0 * count(*) FILTER (year(booked_on) = 2022) / count(*) FROM bookings"),
    ("payment amount by method", "SELECT method, sum(amount) FROM payments GROUP BY 1"),
    ("hourly rate by gender", "SELECT gender, avg(hourly_rate) FROM trainers GROUP BY 1"),
]  # fmt: skip
REFUSED = [
    "how many trainers are not supervisors",  # whom nobody points to; not: who point to nobody
    "members who only booked beginner classes",
    "average number of bookings per day",
    "capacity by level",
    "days between booking and moon",
    "how much more do plus members pay than basic members",
    "members with both card and gold payments",
    "members who live in a different planet than their branch",
    "average booking per 1000 residents",
]


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return asked(tmp_path_factory.mktemp("studio"), STUDIO)


@pytest.mark.parametrize(("question", "gold"), RIGHT, ids=[q for q, _ in RIGHT])
def test_a_question_on_the_studio_gives_what_sql_written_by_hand_gives(studio: Asked, question: str, gold: str) -> None:
    reading = studio.analytic(question)
    got, wanted = studio.source.rows(reading.sql), studio.source.rows(gold)
    assert same_rows(got, wanted, ordered=False), (reading.reading, got[:5], wanted[:5])


@pytest.mark.parametrize("question", REFUSED)
def test_a_question_on_the_studio_that_is_not_clear_is_not_answered(studio: Asked, question: str) -> None:
    assert not isinstance(studio.read(question), Analytic)


def test_the_latest_rows_are_called_latest(studio: Asked) -> None:
    assert "latest only" in studio.analytic("latest payment").reading


def test_an_age_says_on_which_day_it_is_taken(studio: Asked) -> None:
    assert "ages on 20" in studio.analytic("average age of members").reading
