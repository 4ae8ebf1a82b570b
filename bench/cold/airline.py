"""Operations of an invented airline with short, awkward names: seven tables and their questions."""

from __future__ import annotations

import random

from bench.cold.making import Rows, day, later

DDL = """
create table arpt(iata text primary key, city text, ctry text, rwy_cnt integer, elev_ft integer);
create table acft(tail_no text primary key, model text, seat_cnt integer, first_flown_dt date, ownership text);
create table flt(flt_id integer primary key, flt_no text, orig_iata text references arpt(iata),
  dest_iata text references arpt(iata),
  tail_no text references acft(tail_no), dep_dt date, dep_delay_min integer, flt_status text, dist_nm integer, fuel_kg real);
create table pax(pax_id integer primary key, last_nm text, nationality text, ff_tier text, birth_yr integer);
create table bkg(bkg_id integer primary key, pax_id integer references pax(pax_id), flt_id integer references flt(flt_id),
  cabin text, fare_usd real, booked_dt date, bag_cnt integer, channel text);
create table crew(crew_id integer primary key, crew_nm text, crew_role text, base_iata text references arpt(iata), hire_dt date);
create table flt_crew(flt_id integer references flt(flt_id), crew_id integer references crew(crew_id), duty_min integer);
"""


def rows(pick: random.Random) -> dict[str, Rows]:
    """Rows of each table."""
    ports: Rows = [
        ("OSL", "Oslo", "Norway", 2, 681),
        ("BGO", "Bergen", "Norway", 1, 170),
        ("ARN", "Stockholm", "Sweden", 3, 137),
        ("CPH", "Copenhagen", "Denmark", 3, 17),
        ("LHR", "London", "United Kingdom", 2, 83),
        ("LGW", "London", "United Kingdom", 1, 202),
        ("CDG", "Paris", "France", 4, 392),
        ("FRA", "Frankfurt", "Germany", 4, 364),
        ("JFK", "New York", "United States", 4, 13),
        ("HEL", "Helsinki", "Finland", 3, 179),
    ]
    planes: Rows = [
        (
            f"LN-{chr(65 + i % 26)}{chr(65 + i * 7 % 26)}X{i}",
            pick.choice(["A320", "A321", "B737", "B787", "E190"]),
            pick.choice([100, 150, 180, 180, 220, 290]),
            day(pick, "1999-01-01", "2022-12-31"),
            pick.choice(["owned", "leased"]),
        )
        for i in range(30)
    ]
    flights: Rows = []
    for i in range(1, 1801):
        a, b = pick.sample(ports, 2)
        status = pick.choice(["arrived"] * 12 + ["cancelled", "diverted"])
        late = None if status == "cancelled" else max(-12, int(pick.gauss(9, 24)))
        gone = day(pick, "2022-01-01", "2024-06-30")
        flights.append(
            (
                i,
                f"NX{pick.randint(100, 180)}",
                a[0],
                b[0],
                planes[pick.randint(0, 27)][0],
                gone,
                late,
                status,
                pick.randint(160, 3400),
                round(pick.uniform(1_500, 42_000), 1),
            )
        )
    people: Rows = [
        (
            i,
            pick.choice(["Berg", "Dahl", "Holm", "Lind", "Moe", "Ness", "Ruud", "Strand", "Vik"]),
            pick.choice(["Norwegian", "Swedish", "British", "German", "American"]),
            pick.choice(["none", "none", "silver", "gold", "platinum"]),
            pick.randint(1938, 2015),
        )
        for i in range(1, 1001)
    ]
    booked: Rows = []
    for i in range(1, 5001):
        one = pick.choice(flights)
        booked.append(
            (
                i,
                pick.randint(1, 940),
                one[0],
                pick.choice(["economy", "economy", "economy", "business", "first"]),
                round(pick.uniform(39, 2_900), 2),
                later(one[5], -pick.randint(1, 200)),
                pick.choice([0, 0, 1, 1, 2, 3]),
                pick.choice(["web", "app", "agency", "phone"]),
            )
        )
    crew: Rows = [
        (
            i,
            f"Crew {i}",
            pick.choice(["captain", "first officer", "purser", "steward"]),
            pick.choice(["OSL", "BGO", "CPH", "ARN"]),
            day(pick, "2000-01-01", "2024-01-31"),
        )
        for i in range(1, 81)
    ]
    duty: Rows = [(f[0], c, pick.randint(60, 620)) for f in flights for c in pick.sample(range(1, 76), 3)]
    return {"arpt": ports, "acft": planes, "flt": flights, "pax": people, "bkg": booked, "crew": crew, "flt_crew": duty}
