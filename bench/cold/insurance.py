"""Motor and home insurance of an invented insurer: six tables. Written after the rules that the other three asked for."""

from __future__ import annotations

import random

from bench.cold.making import Rows, day, later

DDL = """
create table agents(agent_id integer primary key, agent_name text, region text, joined_on date, commission_pct real);
create table holders(holder_id integer primary key, full_name text, gender text, birth_date date, town text, is_vip integer);
create table policies(policy_no text primary key, holder_id integer references holders(holder_id),
  agent_id integer references agents(agent_id), product text, start_date date, end_date date, annual_premium real,
  payment_mode text);
create table claims(claim_id integer primary key, policy_no text references policies(policy_no), incident_date date,
  reported_date date, settled_date date, cause text, claimed_amt real, paid_amt real, status text, adjuster_id integer
  references adjusters(adjuster_id));
create table adjusters(adjuster_id integer primary key, adjuster_name text, office text, grade integer);
create table premium_payments(payment_id integer primary key, policy_no text references policies(policy_no), due_date date,
  received_date date, amount real, method text);
"""


def rows(pick: random.Random) -> dict[str, Rows]:
    """Rows of each table."""
    agents: Rows = [
        (
            i,
            f"Agent {n}",
            pick.choice(["North", "South", "East", "West"]),
            day(pick, "2008-01-01", "2021-12-31"),
            pick.choice([4, 5, 6.5, 8]),
        )
        for i, n in enumerate("Ash Beck Cole Dean East Fox Gold Hart Ivey Judd Kerr Lane Mills Nash".split(), 1)  # noqa: SIM905
    ]
    holders: Rows = [
        (
            i,
            f"{pick.choice(['Amy', 'Ben', 'Cat', 'Dan', 'Eva'])} {pick.choice(['Ball', 'Cook', 'Dale', 'Earl', 'Ferr'])} {i}",
            pick.choice(["female", "male"]),
            day(pick, "1940-01-01", "2004-12-31"),
            pick.choice(["Bath", "Derby", "Luton", "Truro"]),
            pick.choice([0, 0, 0, 0, 1]),
        )
        for i in range(1, 701)
    ]
    policies: Rows = []
    for i in range(1, 1101):
        start = day(pick, "2019-01-01", "2024-06-30")
        end = later(start, pick.randint(60, 900)) if pick.random() < 0.4 else None
        policies.append(
            (
                f"P{10000 + i}",
                pick.randint(1, 640),
                pick.randint(1, 13),
                pick.choice(["motor", "home", "travel", "pet"]),
                start,
                end,
                round(pick.uniform(90, 1900), 2),
                pick.choice(["monthly", "yearly", "quarterly"]),
            )
        )
    claims: Rows = []
    for i in range(1, 1601):
        policy = pick.choice(policies[:900])
        happened = later(policy[4], pick.randint(1, 500))
        reported = later(happened, pick.choice([0, 1, 1, 2, 5, 20, 40]))
        status = pick.choice(["open", "paid", "paid", "paid", "rejected"])
        asked = round(pick.uniform(80, 14000), 2)
        claims.append(
            (
                i,
                policy[0],
                happened,
                reported,
                later(reported, pick.randint(3, 120)) if status != "open" else None,
                pick.choice(["theft", "storm", "fire", "collision", "water damage"]),
                asked,
                round(asked * pick.uniform(0.3, 1), 2) if status == "paid" else None,
                status,
                pick.randint(1, 9) if pick.random() < 0.9 else None,
            )
        )
    adjusters: Rows = [
        (i, f"Adjuster {n}", pick.choice(["Leeds", "Bristol"]), pick.randint(1, 4))
        for i, n in enumerate("Aldo Bea Carl Dot Ernie Flo Gus Hope Iris Jon".split(), 1)  # noqa: SIM905
    ]
    paid: Rows = []
    for i in range(1, 4001):
        policy = pick.choice(policies)
        due = later(policy[4], 30 * pick.randint(0, 20))
        came = later(due, pick.randint(-10, 25)) if pick.random() < 0.93 else None
        paid.append(
            (
                i,
                policy[0],
                due,
                came,
                round(pick.uniform(10, 480), 2),
                pick.choice(["card", "bank transfer", "direct debit"]),
            )
        )
    return {
        "agents": agents,
        "holders": holders,
        "policies": policies,
        "adjusters": adjusters,
        "claims": claims,
        "premium_payments": paid,
    }
