"""Loans and standing orders of the demo bank.

An outcome follows from the strain of the account and the weight of the payment on its income, plus chance: what a model
can learn before the loan is real, and limited. Must never let an outcome change what happened before the loan.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lexsi_ds.data.bank_people import END, N_ACCOUNTS, Accounts, Floats, Ints, day

_FINISHED = {12: 103, 24: 75, 36: 39, 48: 13, 60: 4}
_RUNNING = {12: 28, 24: 63, 36: 91, 48: 125, 60: 141}
_UNPAID, _IN_DEBT = 31, 45
_BY_YEAR = {1993: 20, 1994: 101, 1995: 90, 1996: 117, 1997: 196, 1998: 158}
_FIRST, _LAST = day("1993-07-05"), day("1998-12-08")
_FIRST_ID, _LAST_ID = 4_959, 7_308
_PAYMENT_MIN, _PAYMENT_MAX = 304, 9_847
BANKS = np.array(["AB", "CD", "EF", "GH", "IJ", "KL", "MN", "OP", "QR", "ST", "UV", "WX", "YZ"])
ORDER_KINDS = ("SIPO", "POJISTNE", "", "LEASING", "UVER")
"""What an order pays; an empty one does not say."""
_ORDER_COUNTS = {"SIPO": 3_502, "POJISTNE": 532, "": 1_379, "LEASING": 341, "UVER": 717}
_N_PAYERS = 3_758
"""Accounts with at least one order."""


@dataclass(frozen=True)
class Loans:
    """Loans by id. ``account`` is an index; ``trouble`` is the first missed payment (1-based), 0 when none is."""

    loan_id: Ints
    account: Ints
    granted: Ints
    duration: Ints
    payment: Ints
    status: npt.NDArray[np.str_]
    trouble: Ints

    @property
    def amount(self) -> Ints:
        """CZK."""
        return self.duration * self.payment


@dataclass(frozen=True)
class Orders:
    """Standing orders by account; ``kind`` indexes ``ORDER_KINDS``; ``cents`` is each payment in hellers."""

    order_id: Ints
    account: Ints
    kind: Ints
    cents: Ints
    bank: Ints
    partner: Ints


def add_months(days: Ints, months: Ints) -> Ints:
    """The same day of the month ``months`` later, or that month's last day."""
    dates = days.astype("datetime64[D]")
    start = dates.astype("datetime64[M]")
    target = start + months
    last = (target + 1).astype("datetime64[D]") - np.timedelta64(1, "D")
    return np.minimum(target.astype("datetime64[D]") + (dates - start.astype("datetime64[D]")), last).astype(np.int64)


def make_loans(rng: np.random.Generator, accounts: Accounts) -> Loans:
    """Draw the loans and how each goes."""
    duration, granted, finished = _terms(rng)
    account = _match_accounts(rng, accounts, granted)
    burden = np.clip(np.exp(rng.normal(np.log(0.23), 0.45, len(account))), 0.04, 0.6)
    payment = np.clip((accounts.income[account] * burden).round(), _PAYMENT_MIN, _PAYMENT_MAX).astype(np.int64)
    weight = np.log(payment / accounts.income[account])
    risk = 2.2 * accounts.strain[account] + 0.9 * (weight - weight.mean()) / weight.std()
    elapsed = np.minimum((END - granted) // 31, duration)
    risk = risk + rng.gumbel(0, 1, len(account))
    status = np.where(finished, "A", "C")
    late = np.where(elapsed < 3, -np.inf, risk + 0.9 * np.log(np.maximum(elapsed, 1)))
    status[_top(np.where(finished, risk, -np.inf), _UNPAID)] = "B"
    status[_top(np.where(finished, -np.inf, late), _IN_DEBT)] = "D"
    share = 0.15 + 0.75 * rng.random(len(account))
    bad = (status == "B") | (status == "D")
    trouble = np.where(bad, np.maximum(1, (share * elapsed).astype(np.int64)), 0)
    order = np.argsort(account, kind="stable")
    ids = np.concatenate([[0], 1 + np.sort(rng.choice(_LAST_ID - _FIRST_ID, len(account) - 1, replace=False))])
    loan_id = _FIRST_ID + ids
    paid = int(np.flatnonzero(status[order] == "A")[0])
    loan_id[[0, paid]] = loan_id[[paid, 0]]  # the first id is a loan that was paid, as in the original
    return Loans(
        loan_id, account[order], granted[order], duration[order], payment[order], status[order], trouble[order]
    )


def _top(score: Floats, k: int) -> Ints:
    return np.argsort(-score, kind="stable")[:k]


def _terms(rng: np.random.Generator) -> tuple[Ints, Ints, npt.NDArray[np.bool_]]:
    """Durations and dates such that exactly the finished ones end by the last day of the data."""
    days = np.arange(_FIRST, _LAST + 1)
    years = days.astype("datetime64[D]").astype("datetime64[Y]").astype(np.int64) + 1970
    weight = np.zeros(len(days))
    for year, count in _BY_YEAR.items():
        weight[years == year] = count / (years == year).sum()
    durations, granted, finished = [], [], []
    for counts, ended in ((_FINISHED, True), (_RUNNING, False)):
        for months, n in counts.items():
            fits = (add_months(days, np.full(len(days), months)) <= END) == ended
            p = weight * fits
            durations.append(np.full(n, months))
            granted.append(rng.choice(days, n, p=p / p.sum()))
            finished.append(np.full(n, ended))
    return np.concatenate(durations), np.concatenate(granted), np.concatenate(finished)


def _match_accounts(rng: np.random.Generator, accounts: Accounts, granted: Ints) -> Ints:
    """For each loan an account of its own, opened three months to two years before it, with a wage."""
    free = ~accounts.pension & (accounts.income > 7_000)
    chosen = np.zeros(len(granted), dtype=np.int64)
    for i in np.argsort(granted, kind="stable"):
        age = granted[i] - accounts.opened
        fits = np.flatnonzero(free & (age >= 95) & (age <= 720))
        if len(fits) == 0:
            fits = np.flatnonzero(free & (age >= 60))
        chosen[i] = fits[rng.integers(len(fits))]
        free[chosen[i]] = False
    return chosen


def make_orders(rng: np.random.Generator, accounts: Accounts, loans: Loans) -> Orders:
    """Draw standing orders; every loan account holds the order that repays its loan."""
    plain = np.setdiff1d(np.arange(N_ACCOUNTS), loans.account)
    pool = np.concatenate([loans.account, rng.choice(plain, _N_PAYERS - len(loans.account), replace=False)])
    account, kind, cents = [], [], []
    for index, name in enumerate(ORDER_KINDS):
        count = _ORDER_COUNTS[name]
        if name == "UVER":
            elsewhere = rng.choice(np.setdiff1d(pool, loans.account), count - len(loans.account), replace=False)
            who = np.concatenate([loans.account, elsewhere])
            price = np.concatenate([loans.payment * 100, 100 * rng.integers(400, 4_000, len(elsewhere))])
        else:
            who = rng.choice(pool, count, replace=False)
            price = _price(rng, name, accounts.income[who])
        account.append(who)
        kind.append(np.full(len(who), index))
        cents.append(price)
    who = np.concatenate(account)
    order = np.argsort(who, kind="stable")
    n = len(who)
    ids = 29_401 + np.sort(rng.choice(46_338 - 29_401, n, replace=False))
    return Orders(
        order_id=ids.astype(np.int64),
        account=who[order],
        kind=np.concatenate(kind)[order],
        cents=np.concatenate(cents)[order].astype(np.int64),
        bank=rng.integers(0, len(BANKS), n),
        partner=rng.integers(100_000, 99_994_200, n),
    )


def _price(rng: np.random.Generator, name: str, income: Floats) -> Ints:
    """A monthly payment in hellers, to the nearest 10 hellers."""
    low, high = {"SIPO": (0.08, 0.38), "POJISTNE": (0.01, 0.13), "": (0.02, 0.18), "LEASING": (0.04, 0.16)}[name]
    crowns = np.clip(income * rng.uniform(low, high, len(income)), 20, 14_500)
    return (crowns * 10).round().astype(np.int64) * 10
