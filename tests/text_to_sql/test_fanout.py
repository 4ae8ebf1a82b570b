"""Figures of a parent over the rows of its children, durations of two dates, directions and owners: right, asked or refused."""

from __future__ import annotations

import pytest

from lexsi_ds.data.same_rows import same_rows
from lexsi_ds.knowledge.model import Relationship
from lexsi_ds.text_to_sql import fanout
from lexsi_ds.text_to_sql.doubt import NotUnderstood
from lexsi_ds.text_to_sql.logical import JoinStep, Logical, Measure, Ref
from lexsi_ds.text_to_sql.reading import Analytic, Clarify
from tests.text_to_sql.sources import Asked, asked

PORTS = {
    "ports": "SELECT * FROM (VALUES (1, 'Kiel', 10.0), (2, 'Oslo', 20.0), (3, 'Riga', 30.0)) AS t(port_id, port_name, depth_m)",
    "depots": "SELECT * FROM (VALUES (1, 'North', 'Lund'), (2, 'South', 'Malmo')) AS t(depot_id, depot_name, town)",
    "ferries": "SELECT n AS ferry_id, 'Ferry ' || n AS ferry_name, DATE '2001-01-01' + CAST(n * 90 AS INTEGER) AS commissioned_on,"
    " DATE '2011-01-01' + CAST(n * 50 AS INTEGER) AS inspected_on, 100.0 + n % 7 AS weight_tons, n % 2 + 1 AS depot_id"
    " FROM range(1, 11) AS t(n)",
    "captains": "SELECT n AS captain_id, 'Captain ' || n AS captain_name, n % 2 + 1 AS depot_id FROM range(1, 7) AS t(n)",
    "trips": "SELECT n AS trip_id, n % 10 + 1 AS ferry_id, n % 6 + 1 AS captain_id, n % 3 + 1 AS origin_port_id,"
    " (n + 1 + n % 2) % 3 + 1 AS destination_port_id, DATE '2023-01-01' + CAST(n AS INTEGER) AS departed_on,"
    " DATE '2023-01-01' + CAST(n + n % 5 AS INTEGER) AS arrived_on, 40 + n % 50 AS loading_min,"
    " ['done', 'open'][n % 2 + 1] AS status, 5.0 + n % 11 AS fare_amount FROM range(1, 121) AS t(n)",
}


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    made = asked(tmp_path_factory.mktemp("ports"), PORTS)
    ways = [Relationship(child="trips", child_column=f"{way}_port_id", parent="ports", parent_column="port_id",
                         role=f"the trip's {way} port") for way in ("origin", "destination")]  # fmt: skip
    made.model = made.model.model_copy(update={"relationships": (*made.model.relationships, *ways)})
    return made


_TO = "trips JOIN ports ON port_id = destination_port_id"
RIGHT = [
    ("how many trips went to Oslo", f"SELECT count(*) FROM {_TO} WHERE port_name = 'Oslo'"),
    ("how many trips from Kiel", "SELECT count(*) FROM trips JOIN ports ON port_id = origin_port_id WHERE port_name = 'Kiel'"),
    ("number of trips from Kiel to Riga", f"SELECT count(*) FROM {_TO} WHERE port_name = 'Riga' AND origin_port_id = 1"),
    ("average duration of trips in days", "SELECT avg(arrived_on - departed_on) FROM trips"),
    ("how many trips took longer than 2 days", "SELECT count(*) FROM trips WHERE arrived_on - departed_on > 2"),
    ("average loading time by status", "SELECT status, avg(loading_min) FROM trips GROUP BY 1"),
    ("how many trips have a loading time over an hour", "SELECT count(*) FROM trips WHERE loading_min > 60"),
    ("total weight of ferries", "SELECT sum(weight_tons) FROM ferries"),
    ("total fare amount of open trips", "SELECT sum(fare_amount) FROM trips WHERE status = 'open'"),
    ("the most common status of trips",
     "SELECT status, count(*) FROM trips GROUP BY 1 QUALIFY rank() OVER (ORDER BY count(*) DESC) = 1"),
    ("number of trips by ferry's depot", "SELECT depot_name, count(*) FROM trips JOIN ferries USING (ferry_id) JOIN depots USING"
     " (depot_id) GROUP BY 1"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "gold"), RIGHT, ids=[q for q, _ in RIGHT])
def test_what_is_read_gives_what_sql_written_by_hand_gives(ports: Asked, question: str, gold: str) -> None:
    reading = ports.analytic(question)
    got, wanted = ports.source.rows(reading.sql), ports.source.rows(gold)
    assert same_rows(got, wanted, ordered=False), (reading.reading, got[:5], wanted[:5])


@pytest.mark.parametrize(
    ("question", "option"),
    [("which depot has the most trips", "which ferry's depot has the most trips"),
     ("oldest ferry", "ferry with the earliest commissioned on"),
     ("how many depots have no trips", "how many depots have no captain's trips")],
)  # fmt: skip
def test_two_readings_are_offered_and_each_can_be_read(ports: Asked, question: str, option: str) -> None:
    reading = ports.read(question)
    assert isinstance(reading, Clarify) and option in reading.options, reading
    assert all(isinstance(ports.read(o), Analytic) for o in reading.options)


def test_a_total_of_a_parents_figure_over_its_children_is_refused(ports: Asked) -> None:
    step = JoinStep(alias="ferries", table="ferries", left=Ref(alias="trips", table="trips", column="ferry_id"), column="ferry_id")
    weight = Ref(alias="ferries", table="ferries", column="weight_tons")
    for fn in ("sum", "average", "median"):
        figure = Measure(fn=fn, name="w", label="w", ref=weight)
        both = Measure(fn=fn, name="d", label="d", parts=(figure, figure), made="ratio")
        for measure in (figure, both):
            with pytest.raises(NotUnderstood):
                fanout.check(Logical(table="trips", joins=(step,), measures=(measure,)), ports.model)
    highest = Measure(fn="maximum", name="w", label="w", ref=weight)
    fanout.check(Logical(table="trips", joins=(step,), measures=(highest,)), ports.model)


def test_a_yes_or_no_is_no_figure(tmp_path_factory: pytest.TempPathFactory) -> None:
    tables = {"fines": "SELECT n AS fine_id, n % 2 AS paid, 5.0 + n AS amount FROM range(1, 41) AS t(n)"}
    fines = asked(tmp_path_factory.mktemp("fines"), tables)
    assert not isinstance(fines.read("total paid fines"), Analytic)
    assert fines.number("total amount of paid fines") == 5.0 * 20 + 400


def test_a_state_said_of_what_is_to_come_is_predicted_or_counted_by_choice(ports: Asked) -> None:
    reading = ports.read("which trips will be done")
    assert isinstance(reading, Clarify), reading
    assert [ports.read(o).kind for o in reading.options] == ["predictive", "analytic"]
