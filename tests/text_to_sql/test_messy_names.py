"""Questions in plain words about columns with messy names, against SQL written by hand over the names as they are."""

from __future__ import annotations

import pytest

from lexsi_ds.text_to_sql.reading import Analytic
from tests.text_to_sql.messy import CLUB
from tests.text_to_sql.sources import Asked, asked

FIGURES = [
    ("how many women", "SELECT count(*) FROM members WHERE Gndr = 'F'"),
    ("number of girls", "SELECT count(*) FROM members WHERE Gndr = 'F'"),
    ("how many German members", "SELECT count(*) FROM members WHERE CtryCd = 'DE'"),
    ("members from France, how many?", "SELECT count(*) FROM members WHERE CtryCd = 'FR'"),
    ("how many inactive members", "SELECT count(*) FROM members WHERE NOT isactive"),
    ("how many members are not active", "SELECT count(*) FROM members WHERE NOT isactive"),
    ("how many active members", "SELECT count(*) FROM members WHERE isactive"),
    ("number of smokers", "SELECT count(*) FROM members WHERE Smoker = 'Y'"),
    ("how many members smoke", "SELECT count(*) FROM members WHERE Smoker = 'Y'"),
    ("number of non-smokers", "SELECT count(*) FROM members WHERE Smoker = 'N'"),
    ("average height of smokers", "SELECT avg(HeightCm) FROM members WHERE Smoker = 'Y'"),
    ("average height of members", "SELECT avg(HeightCm) FROM members"),
    ("total fees", "SELECT sum(FeeUSD) FROM bookings"),
    ("average discount", "SELECT avg(Disc_Pct) FROM bookings"),
    ("average duration of bookings", "SELECT avg(DurationMin) FROM bookings"),
    ("total price of all bookings", "SELECT sum(total_price) FROM bookings"),
    ("average total price", "SELECT avg(total_price) FROM bookings"),
    ("attendance rate", "SELECT 100.0 * count(*) FILTER (attended) / count(*) FROM bookings"),
    ("how many bookings were made by card", "SELECT count(*) FROM bookings WHERE PayMethod = 'card'"),
    ("how many bookings were made in March 2024", "SELECT count(*) FROM bookings WHERE month(BookDt) = 3"),
    ("how many venues were founded before 1950", "SELECT count(*) FROM venues WHERE founded < 1950"),
    ("how many venues were founded between 1930 and 1950", "SELECT count(*) FROM venues WHERE founded BETWEEN 1930 AND 1950"),
    ("venues founded before 1930 or after 1980, how many?", "SELECT count(*) FROM venues WHERE founded < 1930 OR founded > 1980"),
    ("number of venues not founded before 1950", "SELECT count(*) FROM venues WHERE founded >= 1950"),
    ("number of venues since 1960", "SELECT count(*) FROM venues WHERE founded >= 1960"),
    ("how many venues have a budget above 150 million", "SELECT count(*) FROM venues WHERE budget_musd > 150"),
    ("how many venues have a budget above 150", "SELECT count(*) FROM venues WHERE budget_musd > 150"),
    ("how many members are taller than 185 cm", "SELECT count(*) FROM members WHERE HeightCm > 185"),
    ("how many members are taller than 1.85 m", "SELECT count(*) FROM members WHERE HeightCm > 185"),
]
FIRST = [
    ("oldest member", "SELECT MbrID FROM members ORDER BY BirthDt LIMIT 1"),
    ("youngest member", "SELECT MbrID FROM members ORDER BY BirthDt DESC LIMIT 1"),
    ("tallest member", "SELECT MbrID FROM members ORDER BY HeightCm DESC LIMIT 1"),
    ("oldest venue", "SELECT VenueNo FROM venues ORDER BY founded LIMIT 1"),
    ("newest venue", "SELECT VenueNo FROM venues ORDER BY founded DESC LIMIT 1"),
    ("biggest venue", "SELECT VenueNo FROM venues ORDER BY stadiumcapacity DESC LIMIT 1"),
    ("most expensive venue", "SELECT VenueNo FROM venues ORDER BY budget_musd DESC LIMIT 1"),
]
GROUPS = [
    ("members by country", "SELECT CtryCd, count(*) FROM members GROUP BY 1"),
    ("members by plan", "SELECT PlanTyp, count(*) FROM members GROUP BY 1"),
    ("gold members by gender", "SELECT Gndr, count(*) FROM members WHERE PlanTyp = 'gold' GROUP BY 1"),
    ("venues by year founded", "SELECT founded, count(*) FROM venues GROUP BY 1"),
    ("number of venues by decade", "SELECT founded // 10 * 10, count(*) FROM venues GROUP BY 1"),
    ("bookings by payment method", "SELECT PayMethod, count(*) FROM bookings GROUP BY 1"),
]
REFUSED = [
    "average score",  # no column has a score
    "average number of minutes",
    "how many films are there",
    "total founded",  # years add up to nothing
    "bookings never made",  # every booking was made: the words that deny it are not passed over
    "average hight in miles per member",
]


@pytest.fixture(scope="module")
def club(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return asked(tmp_path_factory.mktemp("club"), CLUB)


@pytest.mark.parametrize(("question", "sql"), FIGURES, ids=[q for q, _ in FIGURES])
def test_a_figure_is_found_by_plain_words(club: Asked, question: str, sql: str) -> None:
    assert float(str(club.number(question))) == pytest.approx(float(club.source.rows(sql)[0][0]), rel=1e-9)


@pytest.mark.parametrize(("question", "sql"), FIRST, ids=[q for q, _ in FIRST])
def test_a_superlative_finds_its_column(club: Asked, question: str, sql: str) -> None:
    assert club.answer(question)[0][0] == club.source.rows(sql)[0][0]


@pytest.mark.parametrize(("question", "sql"), GROUPS, ids=[q for q, _ in GROUPS])
def test_groups_are_found_by_short_names(club: Asked, question: str, sql: str) -> None:
    assert sorted((r[0], r[-1]) for r in club.answer(question)) == sorted(club.source.rows(sql))


@pytest.mark.parametrize("question", REFUSED)
def test_words_without_a_meaning_stop_it(club: Asked, question: str) -> None:
    assert not isinstance(club.read(question), Analytic)


def test_a_negated_word_is_no_misspelling_of_the_column(club: Asked) -> None:
    reading = club.analytic("how many members are inactive")
    assert not any("was read as" in c for c in reading.caveats)
    assert "not is active" in reading.reading


def test_what_millions_are_kept_in_is_said(club: Asked) -> None:
    assert "kept in millions" in club.analytic("venues with a budget above 150 million").reading


def test_two_columns_of_one_short_name_are_not_told_apart_by_guessing(tmp_path) -> None:
    select = "SELECT n AS game_id, n % 5 AS home_goals, n % 3 AS away_goals FROM range(1, 31) AS t(n)"
    games = asked(tmp_path, {"games": select})
    assert not isinstance(games.read("average goals"), Analytic)
    assert games.number("average home goals") == 2.0


def test_distances_in_two_units_keep_their_units(tmp_path) -> None:
    select = "SELECT n AS trip_id, n * 1.6 AS distance_km, n * 1.0 AS distance_mi FROM range(1, 31) AS t(n)"
    trips = asked(tmp_path, {"trips": select})
    assert {c.label for c in trips.model.columns} >= {"distance km", "distance mi"}


def test_a_line_s_own_amount_is_its_revenue(tmp_path) -> None:
    lines = asked(tmp_path, {
        "sales": "SELECT n AS ord_no, DATE '2024-01-01' + CAST(n AS INTEGER) AS Ord_Dt, n % 4 + 1 AS Ord_Qty, n * 0.5 AS Unit_Prc,"
                 " 10 AS Disc_Pct, (n % 4 + 1) * n * 0.45 AS Net_Amt FROM range(1, 51) AS t(n)",
    })  # fmt: skip
    assert float(str(lines.number("revenue"))) == pytest.approx(float(lines.source.rows("SELECT sum(Net_Amt) FROM sales")[0][0]))


def test_only_what_rows_themselves_are_called_names_them(tmp_path) -> None:
    films = asked(tmp_path, {
        "movies": "SELECT n AS movie_id, 'Film ' || n AS movie_title, 'Director ' || n % 5 AS director_name"
                  " FROM range(1, 31) AS t(n)",
    })  # fmt: skip
    assert films.model.table("movies").names == ("movie_title",)
    assert len(films.answer("number of movies per director")) == 5


AIR = {
    "airlines": "SELECT n AS airline_id, 'Air ' || n AS name FROM range(1, 4) AS t(n)",
    "flights": "SELECT n AS flight_id, n % 3 + 1 AS airline_id, ['landed', 'cancelled', 'landed', 'late'][n % 4 + 1] AS status,"
    " 100 + n AS distance_km FROM range(1, 61) AS t(n)",
    "bookings": "SELECT n AS booking_id, n % 60 + 1 AS flight_id, n % 5 = 0 AS cancelled, ['first', 'economy'][n % 2 + 1] AS class"
    " FROM range(1, 201) AS t(n)",
    "lounges": "SELECT n AS lounge_id, n % 3 + 1 AS airline_id, ['Rome', 'Oslo'][n % 2 + 1] AS city FROM range(1, 11) AS t(n)",
}


@pytest.fixture(scope="module")
def air(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return asked(tmp_path_factory.mktemp("air"), AIR)


def test_a_rate_of_other_rows_is_not_taken_for_the_share_of_those_named(air: Asked) -> None:
    rows = air.answer("share of cancelled flights per airline")
    wanted = air.source.rows(
        "SELECT a.name, 100.0 * count(*) FILTER (status = 'cancelled') / count(*) FROM flights f JOIN airlines a USING (airline_id)"
        " GROUP BY 1"
    )
    assert {r[0]: pytest.approx(r[-1]) for r in rows} == dict(wanted)


def test_a_rate_of_what_is_cancelled_is_called_so(air: Asked) -> None:
    reading = air.analytic("cancellation rate by class")
    assert reading.reading.startswith("Cancellation rate of bookings")
    assert {r[-1] for r in air.source.rows(reading.sql)} == {20.0}


def test_rows_that_those_counted_do_not_point_to_stop_it(air: Asked) -> None:
    assert not isinstance(air.read("number of flights of lounges in Rome"), Analytic)


def test_who_is_at_the_end_of_a_value_is_a_row(club: Asked) -> None:
    wanted = club.source.rows("SELECT MbrID FROM members WHERE Gndr = 'F' ORDER BY HeightCm DESC LIMIT 1")
    assert club.answer("tallest woman")[0][0] == wanted[0][0]


RENTAL = {
    "STATION": "SELECT n AS STN_ID, 'Station ' || n AS STN_NM, ['Oslo', 'Bergen'][n % 2 + 1] AS CITY_NM, 5 + n AS DOCK_CNT"
    " FROM range(1, 21) AS t(n)",
    "TRIP": "SELECT n AS TRIP_ID, n % 20 + 1 AS STN_ID, ['city', 'cargo'][n % 2 + 1] AS BIKE_TYP, n % 3 = 0 AS NoShow,"
    " CASE WHEN n % 4 > 0 THEN 1990 + n % 30 END AS built FROM range(1, 121) AS t(n)",
}


@pytest.fixture(scope="module")
def rental(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return asked(tmp_path_factory.mktemp("rental"), RENTAL)


def test_a_no_show_is_not_a_number(rental: Asked) -> None:
    assert rental.number("number of no shows") == 40


def test_what_a_column_counts_is_added_up(rental: Asked) -> None:
    assert rental.number("how many docks are there") == sum(5 + n for n in range(1, 21))


def test_a_column_keeps_its_name_though_another_has_such_a_value(rental: Asked) -> None:
    assert sorted((r[0], r[-1]) for r in rental.answer("stations by city")) == [("Bergen", 10), ("Oslo", 10)]
    reading = rental.read("trips by station city")
    assert not isinstance(reading, Analytic) or "bike type" not in reading.reading


def test_sorts_of_things_are_not_counted_as_the_things(rental: Asked) -> None:
    assert not isinstance(rental.read("how many bikes are there"), Analytic)
    assert len(rental.answer("trips by bike type")) == 2


def test_years_have_no_months(rental: Asked) -> None:
    assert len(rental.answer("trips per decade built")) == 4  # three decades, and those without a year
    assert not isinstance(rental.read("trips by month built"), Analytic)


def test_still_is_not_passed_over_where_rows_end(tmp_path) -> None:
    select = (
        "SELECT n AS employee_id, ['Sales', 'IT'][n % 2 + 1] AS dept_name,"
        " CASE WHEN n % 3 = 0 THEN DATE '2024-01-01' END AS left_date FROM range(1, 31) AS t(n)"
    )
    staff = asked(tmp_path, {"employees": select})
    assert staff.number("how many employees are in Sales") == 15
    reading = staff.read("how many employees are still in Sales")
    assert not isinstance(reading, Analytic) or staff.source.rows(reading.sql)[0][-1] == 10
