"""Transactions of the demo bank: six years, month by month, for all accounts at once.

Each month an account earns, pays its orders, spends what it can spare (or more, when it is short), and closes with a
fee, penalty interest when it was overdrawn, and interest. Money is counted in hellers as integers, so every balance is
exactly the one before plus or minus the amount. Must never use a loan's outcome before the loan was granted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lexsi_ds.data.bank_loans import ORDER_KINDS, Loans, Orders
from lexsi_ds.data.bank_people import END, N_ACCOUNTS, Accounts, Cards, Floats, Ints, People

N_TRANS = 1_056_320
_MONTHS = 72

OPENING, SALARY, PENSION, CASH_IN = 0, 1, 2, 3
FIRST_ORDER = 5
CASH_OUT, CARD, FEE, PENALTY, INTEREST = 10, 15, 16, 17, 18
SLOTS = 19
"""What can be booked in a month, in the order it is booked within a day: opening deposit, salary, pension, two cash
deposits, five kinds of orders, five cash withdrawals, a card withdrawal, fee, penalty interest, interest."""


@dataclass(frozen=True)
class Ledger:
    """All transactions by account and time. ``cents`` is signed; ``slot`` says what it was."""

    account: Ints
    day: Ints
    slot: Ints
    cents: Ints
    balance: Ints


@dataclass
class _Plan:
    """What each account does every month; arrays over accounts, order arrays over (account, order kind)."""

    accounts: Accounts
    orders: Ints
    order_from: Ints
    loan: Ints
    loans: Loans
    card_from: Ints
    fee: Ints
    cushion: Floats
    unrest: Floats
    withdrawals: Floats


def make_ledger(
    rng: np.random.Generator,
    accounts: Accounts,
    people: People,
    cards: Cards,
    loans: Loans,
    orders: Orders,
    tell: Callable[[float], None],
) -> Ledger:
    """Run all months and bring the number of transactions to exactly ``N_TRANS``. ``tell`` gets the share done."""
    plan = _make_plan(rng, accounts, people, cards, loans, orders)
    balance = np.zeros(N_ACCOUNTS, dtype=np.int64)
    parts: list[tuple[Ints, Ints, Ints, Ints]] = []
    starts = np.arange("1993-01", "1999-02", dtype="datetime64[M]").astype("datetime64[D]").astype(np.int64)
    for month in range(_MONTHS):
        first, last = int(starts[month]), int(starts[month + 1]) - 1
        parts.append(_month(rng, plan, balance, month, first, last))
        tell((month + 1) / _MONTHS)
    account, when, slot, cents = (np.concatenate(column) for column in zip(*parts, strict=True))
    return _to_exact_count(rng, account, when, slot, cents)


def _make_plan(
    rng: np.random.Generator, accounts: Accounts, people: People, cards: Cards, loans: Loans, orders: Orders
) -> _Plan:
    n = N_ACCOUNTS
    amounts = np.zeros((n, len(ORDER_KINDS)), dtype=np.int64)
    amounts[orders.account, orders.kind] = orders.cents
    loan = np.full(n, -1, dtype=np.int64)
    loan[loans.account] = np.arange(len(loans.account))
    card_from = np.full(n, END + 1, dtype=np.int64)
    card_from[people.account[cards.person]] = cards.issued
    strain = accounts.strain
    fees = {"POPLATEK MESICNE": 1_460, "POPLATEK TYDNE": 3_000, "POPLATEK PO OBRATU": 10_000}
    return _Plan(
        accounts=accounts,
        orders=amounts,
        order_from=accounts.opened[:, None] + rng.integers(15, 75, amounts.shape),
        loan=loan,
        loans=loans,
        card_from=card_from,
        fee=np.array([fees[f] for f in accounts.frequency.tolist()], dtype=np.int64),
        cushion=np.exp(0.25 - 0.8 * strain + rng.normal(0, 0.25, n)),
        unrest=0.16 + 0.14 * np.logaddexp(0, strain + rng.normal(0, 0.4, n)),
        withdrawals=np.clip(rng.gamma(4.0, 0.33, n) + 0.3, 0.4, 4.0),
    )


def _month(
    rng: np.random.Generator, plan: _Plan, balance: Ints, month: int, first: int, last: int
) -> tuple[Ints, Ints, Ints, Ints]:
    """One month of every account that is open; moves ``balance`` on. Returns account, day, slot, signed hellers."""
    accounts = plan.accounts
    who = np.flatnonzero(accounts.opened <= last)
    n = len(who)
    cents = np.zeros((n, SLOTS), dtype=np.int64)
    days = np.full((n, SLOTS), last, dtype=np.int64)
    opened = accounts.opened[who]
    new = opened >= first
    cents[:, OPENING] = np.where(new, rng.integers(2, 12, n) * 10_000, 0)
    days[:, OPENING] = np.maximum(opened, first)
    income = _earn(rng, plan, who, first, cents, days)
    _pay_orders(rng, plan, who, balance[who], month, first, cents, days)
    _spend(rng, plan, who, balance[who], income, first, last, cents, days)
    began = (days >= opened[:, None]) & (days <= last)
    cents[~began] = 0
    opening = accounts.opened[who] < first
    cents[:, FEE] = np.where(opening & (rng.random(n) < 0.87), -plan.fee[who], 0)
    lowest, close = _run_days(balance[who], cents, days)
    cents[:, PENALTY] = np.where(lowest < 0, -np.maximum(100, (-lowest) // 200), 0)
    close += cents[:, PENALTY]
    cents[:, INTEREST] = np.where(close > 0, (close * 4 // 1200) // 10 * 10, 0)
    balance[who] = close + cents[:, INTEREST]
    row, slot = np.nonzero(cents)
    return who[row], days[row, slot], slot, cents[row, slot]


def _earn(
    rng: np.random.Generator, plan: _Plan, who: Ints, first: int, cents: Ints, days: Ints
) -> Floats:
    """Book the month's income; returns it in hellers. Strained accounts miss a month now and then."""
    accounts = plan.accounts
    n = len(who)
    strain = accounts.strain[who]
    gap = rng.random(n) < 0.01 + 0.07 / (1 + np.exp(-(strain - 1.2) * 1.6))
    trouble = _in_trouble(plan, who, first)
    swing = np.exp(rng.normal(0, 0.05 + 0.05 * np.logaddexp(0, strain), n))
    crowns = np.where(gap, 0.0, accounts.income[who] * swing * np.where(trouble, 0.62, 1.0))
    pension, transfer = accounts.pension[who], accounts.salary_transfer[who]
    cash = ~pension & ~transfer
    split = np.where(rng.random(n) < 0.22, rng.uniform(0.3, 0.7, n), 1.0)
    cents[:, SALARY] = np.where(transfer, crowns.round() * 100, 0)
    cents[:, PENSION] = np.where(pension, np.where(gap, 0, accounts.income[who]).round() * 100, 0)
    cents[:, CASH_IN] = np.where(cash, (crowns * split / 100).round() * 10_000, 0)
    cents[:, CASH_IN + 1] = np.where(cash, (crowns * (1 - split) / 100).round() * 10_000, 0)
    days[:, SALARY] = first + 8 + who % 7
    days[:, PENSION] = first + 4 + who % 10
    days[:, CASH_IN : CASH_IN + 2] = first + rng.integers(2, 17, (n, 2))
    return cents[:, SALARY : FIRST_ORDER].sum(axis=1).astype(np.float64)


def _in_trouble(plan: _Plan, who: Ints, first: int) -> npt.NDArray[np.bool_]:
    """Accounts whose loan payments have begun to fail by this month."""
    loan = plan.loan[who]
    has = (loan >= 0) & (plan.loans.trouble[loan] > 0)
    since = plan.loans.granted[loan] + plan.loans.trouble[loan] * 30
    return has & (first >= since)


def _pay_orders(
    rng: np.random.Generator, plan: _Plan, who: Ints, balance: Ints, month: int, first: int, cents: Ints, days: Ints
) -> None:
    """Book the standing orders, as far as the bank still covers them.

    The loan's order runs from the month after it was granted until it is paid.
    """
    slots = slice(FIRST_ORDER, FIRST_ORDER + len(ORDER_KINDS))
    days[:, slots] = first + 4 + (who[:, None] * 3 + np.arange(len(ORDER_KINDS))) % 9
    runs = days[:, slots] >= plan.order_from[who]
    runs &= (balance > -0.6 * 100 * plan.accounts.income[who])[:, None]
    uver = ORDER_KINDS.index("UVER")
    loan = plan.loan[who]
    has = loan >= 0
    granted = plan.loans.granted[loan].astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    number = (month + 276) - granted  # 276 months from 1970 to 1993
    due = (number >= 1) & (number <= plan.loans.duration[loan])
    trouble = plan.loans.trouble[loan]
    missed = (trouble > 0) & ((number == trouble) | ((number > trouble) & (rng.random(len(who)) < 0.5)))
    runs[:, uver] = np.where(has, due & ~missed, runs[:, uver])
    days[:, FIRST_ORDER + uver] = np.where(has, first + 11, days[:, FIRST_ORDER + uver])
    cents[:, slots] = np.where(runs, -plan.orders[who], 0)


def _spend(
    rng: np.random.Generator,
    plan: _Plan,
    who: Ints,
    balance: Ints,
    income: Floats,
    first: int,
    last: int,
    cents: Ints,
    days: Ints,
) -> None:
    """Book cash and card withdrawals: what lies above the account's cushion, and at least what it lives on."""
    n = len(who)
    usual = plan.accounts.income[who] * 100
    orders = -cents[:, FIRST_ORDER:CASH_OUT].sum(axis=1)
    spare = balance + income - orders - plan.cushion[who] * usual
    fresh = plan.accounts.opened[who] >= first
    living = usual * 0.22 * np.exp(rng.normal(0, plan.unrest[who], n))
    wish = np.maximum(0.75 * spare * np.exp(rng.normal(0, plan.unrest[who], n)), living)
    left = balance + income - orders
    overdraft = usual * 0.7 / (1 + np.exp(2.4 - 2.0 * plan.accounts.strain[who]))
    wish = np.minimum(wish, np.maximum(left + overdraft, 0.2 * living))
    broke = left < -0.25 * usual
    wish = np.where(fresh, 0.0, np.where(broke, 0.1 * living, wish))
    width = CARD - CASH_OUT
    count = np.clip(rng.poisson(plan.withdrawals[who]), 0, width)
    share = rng.uniform(0.5, 1.5, (n, width)) * (np.arange(width) < count[:, None])
    share /= np.maximum(share.sum(axis=1, keepdims=True), 1e-9)
    cents[:, CASH_OUT:CARD] = -(share * wish[:, None] / 10_000).round().astype(np.int64) * 10_000
    payday = np.where(balance < wish + orders, 18, 1)  # who has little in hand waits for the month's income
    days[:, CASH_OUT:CARD] = first + np.minimum(rng.integers(payday[:, None], 29, (n, width)), last - first)
    days[:, CARD] = first + rng.integers(1, 28, n)
    swipe = (days[:, CARD] >= plan.card_from[who]) & (rng.random(n) < 0.47) & ~broke
    cents[:, CARD] = np.where(swipe, -rng.integers(3, 40, n) * 10_000, 0)


def _run_days(balance: Ints, cents: Ints, days: Ints) -> tuple[Ints, Ints]:
    """Lowest balance in the month and the balance at its end, before penalty and interest."""
    key = days * SLOTS + np.arange(SLOTS)
    order = np.argsort(key, axis=1, kind="stable")
    path = balance[:, None] + np.cumsum(np.take_along_axis(cents, order, axis=1), axis=1)
    return np.minimum(path.min(axis=1), balance), path[:, -1].copy()


def _to_exact_count(rng: np.random.Generator, account: Ints, when: Ints, slot: Ints, cents: Ints) -> Ledger:
    """Add small cash withdrawals on well-filled accounts, or take some out, until the count is exact."""
    short = N_TRANS - len(account)
    if short < 0:
        cash = np.flatnonzero((slot >= CASH_OUT) & (slot < CARD))
        keep = np.ones(len(account), dtype=bool)
        keep[rng.choice(cash, -short, replace=False)] = False
        account, when, slot, cents = account[keep], when[keep], slot[keep], cents[keep]
    elif short > 0:
        ledger = _sorted(account, when, slot, cents)
        rich = np.flatnonzero((_lowest_from_here(ledger) > 2_000_000) & (ledger.slot == CASH_OUT) & (ledger.day < END))
        at = rng.choice(rich, short, replace=short > len(rich))
        account = np.concatenate([account, ledger.account[at]])
        when = np.concatenate([when, ledger.day[at]])
        slot = np.concatenate([slot, np.full(short, CASH_OUT + 4)])
        cents = np.concatenate([cents, -10_000 * rng.integers(1, 4, short)])
    return _sorted(account, when, slot, cents)


def _sorted(account: Ints, when: Ints, slot: Ints, cents: Ints) -> Ledger:
    order = np.lexsort((slot, when, account))
    account, when, slot, cents = account[order], when[order], slot[order], cents[order]
    running = np.cumsum(cents)
    first = np.flatnonzero(np.concatenate([[True], account[1:] != account[:-1]]))
    before = np.repeat(running[first] - cents[first], np.diff(np.append(first, len(account))))
    return Ledger(account, when, slot, cents, running - before)


def _lowest_from_here(ledger: Ledger) -> Ints:
    """For each transaction the lowest balance of its account from there on, in hellers."""
    offset = ledger.account * np.int64(1 << 40)
    return np.minimum.accumulate((ledger.balance + offset)[::-1])[::-1] - offset

