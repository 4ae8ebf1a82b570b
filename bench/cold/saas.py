"""Subscriptions of an invented software company: six tables and their questions."""

from __future__ import annotations

import random

from bench.cold.making import Rows, day, later

DDL = """
create table accounts(account_id integer primary key, company_name text, industry text, country text, employees integer,
  created_at date, account_manager text);
create table plans(plan_id integer primary key, plan_name text, monthly_price real, support_level text);
create table subscriptions(subscription_id integer primary key, account_id integer references accounts(account_id),
  plan_id integer references plans(plan_id), started_on date, cancelled_on date, seats integer, discount_pct real,
  billing_cycle text);
create table users(user_id integer primary key, account_id integer references accounts(account_id), email text, user_role text,
  last_login date, is_active integer);
create table invoices(invoice_id integer primary key, subscription_id integer references subscriptions(subscription_id),
  issued_on date, due_on date, paid_on date, amount_eur real, status text);
create table tickets(ticket_id integer primary key, account_id integer references accounts(account_id),
  user_id integer references users(user_id), opened_on date, closed_on date, priority text, csat_score integer, topic text);
"""


def rows(pick: random.Random) -> dict[str, Rows]:
    """Rows of each table."""
    accounts: Rows = [
        (
            i,
            f"Firm {i:03d}",
            pick.choice(["retail", "logistics", "banking", "education", "energy"]),
            pick.choice(["Germany", "Austria", "Switzerland", "Poland", "Spain"]),
            pick.choice([8, 25, 60, 140, 400, 1200]),
            day(pick, "2019-01-01", "2024-09-30"),
            pick.choice(["Amira", "Bruno", "Chloe", "Dario", None]),
        )
        for i in range(1, 401)
    ]
    plans: Rows = [
        (1, "Free", 0.0, "community"),
        (2, "Starter", 29.0, "email"),
        (3, "Team", 99.0, "email"),
        (4, "Business", 249.0, "phone"),
        (5, "Enterprise", 899.0, "dedicated"),
    ]
    subs: Rows = []
    for i in range(1, 601):
        one = pick.choice(accounts[:360])
        start = later(one[5], pick.randint(0, 120))
        end = later(start, pick.randint(20, 700)) if pick.random() < 0.35 else None
        subs.append(
            (
                i,
                one[0],
                pick.randint(1, 4),
                start,
                end,
                pick.choice([1, 3, 5, 10, 25, 80]),
                pick.choice([0, 0, 0, 10, 15, 25]),
                pick.choice(["monthly", "monthly", "annual"]),
            )
        )
    users: Rows = [
        (
            i,
            pick.randint(1, 400),
            f"u{i}@example.com",
            pick.choice(["admin", "editor", "editor", "viewer"]),
            day(pick, "2023-06-01", "2024-11-30") if pick.random() < 0.9 else None,
            pick.choice([1, 1, 1, 0]),
        )
        for i in range(1, 1501)
    ]
    invoices: Rows = []
    for i in range(1, 3001):
        one = pick.choice(subs[:560])
        sent = later(one[3], pick.randint(0, 400))
        due = later(sent, 30)
        paid = later(sent, pick.randint(2, 55)) if pick.random() < 0.88 else None
        state = "paid" if paid else pick.choice(["open", "open", "written off"])
        invoices.append((i, one[0], sent, due, paid, round(pick.uniform(9, 6_000), 2), state))
    tickets: Rows = []
    for i in range(1, 1601):
        who = pick.choice(users)
        came = day(pick, "2022-01-01", "2024-11-30")
        done = later(came, pick.choice([0, 0, 1, 1, 2, 3, 5, 12])) if pick.random() < 0.93 else None
        tickets.append(
            (
                i,
                who[1],
                who[0],
                came,
                done,
                pick.choice(["low", "normal", "normal", "high", "urgent"]),
                pick.choice([None, 1, 2, 3, 4, 4, 5, 5]) if done else None,
                pick.choice(["billing", "login", "bug", "feature request"]),
            )
        )
    return {
        "accounts": accounts,
        "plans": plans,
        "subscriptions": subs,
        "users": users,
        "invoices": invoices,
        "tickets": tickets,
    }
