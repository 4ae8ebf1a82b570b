"""Accounts, clients, dispositions and cards of the demo bank, and the traits that drive how an account behaves.

The traits (income, strain) are never written to a table: a model can only see what they did to the transactions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lexsi_ds.data.bank_places import Places

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

N_ACCOUNTS = 4_500
N_SHARED = 869
"""Accounts with a second person."""
N_CLIENTS = N_ACCOUNTS + N_SHARED
N_WOMEN = 2_645
N_MOVED = 409
"""Owners who live in another district than their account's."""
N_CARDS = 892
N_LOAN_CARDS, N_EARLY_LOAN_CARDS = 170, 36
"""Cards of loan owners, and those of them issued before the loan."""
_OPENED = {1993: 1139, 1994: 439, 1995: 661, 1996: 1363, 1997: 898}
_FREQUENCY = {"POPLATEK MESICNE": 4167, "POPLATEK TYDNE": 240, "POPLATEK PO OBRATU": 93}
_CARD_TYPES = {"junior": 145, "gold": 88}


def day(text: str) -> int:
    """Days since 1970 of an ISO date."""
    return int(np.datetime64(text, "D").astype(np.int64))


START, END = day("1993-01-01"), day("1998-12-31")


@dataclass(frozen=True)
class Accounts:
    """Accounts by id, with traits: ``income`` in CZK a month, ``strain`` standard normal, high when short of money."""

    account_id: Ints
    district: Ints
    frequency: npt.NDArray[np.str_]
    opened: Ints
    income: Floats
    strain: Floats
    pension: Flags
    salary_transfer: Flags


@dataclass(frozen=True)
class People:
    """Clients and dispositions, one row each in one order; ``account`` is the index of the account."""

    client_id: Ints
    disp_id: Ints
    account: Ints
    owner: Flags
    female: Flags
    born: Ints
    district: Ints

    @property
    def birth_number(self) -> list[str]:
        """YYMMDD, the month plus 50 for women."""
        dates = self.born.astype("datetime64[D]")
        year = dates.astype("datetime64[Y]").astype(np.int64) + 1970
        month = dates.astype("datetime64[M]").astype(np.int64) % 12 + 1
        dom = (dates - dates.astype("datetime64[M]")).astype(np.int64) + 1
        numbers = (year - 1900) * 10_000 + (month + 50 * self.female) * 100 + dom
        return [f"{n:06d}" for n in numbers.tolist()]


@dataclass(frozen=True)
class Cards:
    """Cards; ``person`` is the index of the disposition."""

    card_id: Ints
    person: Ints
    kind: npt.NDArray[np.str_]
    issued: Ints


def spread_ids(rng: np.random.Generator, n: int, dense: int, last: int) -> Ints:
    """``n`` ascending ids: the first four fifths close together below ``dense``, the rest thin up to ``last``."""
    head = n * 4 // 5
    low = np.concatenate([[1, 2], 3 + np.sort(rng.choice(dense - 3, head - 2, replace=False))])
    high = dense + 1 + np.sort(rng.choice(last - dense - 1, n - head - 1, replace=False))
    return np.concatenate([low, high, [last]]).astype(np.int64)


def make_accounts(rng: np.random.Generator, places: Places) -> Accounts:
    """Draw accounts and their traits."""
    n = N_ACCOUNTS
    opened = np.concatenate(
        [rng.integers(day(f"{y}-01-01"), day(f"{y}-12-30"), count) for y, count in _OPENED.items()]
    )
    district = rng.choice(len(places.share), n, p=0.5 * places.share + 0.5 / len(places.share))
    pension = rng.random(n) < 0.17
    wage = 15_500 * (places.salary[district] / 9_000) ** 0.6 * np.exp(rng.normal(0, 0.45, n))
    income = np.where(pension, 5_900 * np.exp(rng.normal(0, 0.18, n)), np.clip(wage, 4_000, 70_000))
    return Accounts(
        account_id=spread_ids(rng, n, 3_837, 11_382),
        district=district.astype(np.int64),
        frequency=rng.permutation(np.repeat(list(_FREQUENCY), list(_FREQUENCY.values()))),
        opened=rng.permutation(opened),
        income=income,
        strain=rng.normal(0, 1, n),
        pension=pension,
        salary_transfer=~pension & (rng.random(n) < 0.24),
    )


def make_people(rng: np.random.Generator, accounts: Accounts, n_districts: int) -> People:
    """Draw the people: an owner for each account, a second person for some, right after the owner."""
    shared = np.zeros(N_ACCOUNTS, dtype=bool)
    shared[rng.choice(N_ACCOUNTS, N_SHARED, replace=False)] = True
    account = np.repeat(np.arange(N_ACCOUNTS), 1 + shared)
    owner = np.concatenate([[True], account[1:] != account[:-1]])
    disp_id = spread_ids(rng, N_CLIENTS, 4_520, 13_690)
    female = rng.permutation(np.arange(N_CLIENTS) < N_WOMEN)
    district = accounts.district[account].copy()
    moved = rng.choice(np.flatnonzero(owner), N_MOVED, replace=False)
    district[moved] = (district[moved] + rng.integers(1, n_districts, N_MOVED)) % n_districts
    return People(
        client_id=disp_id + np.where(disp_id > 9_000, 308, 0),
        disp_id=disp_id,
        account=account,
        owner=owner,
        female=female,
        born=_births(rng, accounts, account, owner),
        district=district,
    )


def _births(rng: np.random.Generator, accounts: Accounts, account: Ints, owner: Flags) -> Ints:
    """Owners were at least 16 when they opened the account; pensioners are at least 55; all born 1911 to 1987."""
    n = len(account)
    working = day("1934-01-01") + rng.random(n) * (day("1981-06-01") - day("1934-01-01"))
    retired = day("1911-08-20") + (1 - rng.random(n) ** 2) * (day("1937-12-31") - day("1911-08-20"))
    second = day("1925-01-01") + rng.random(n) * (day("1987-09-27") - day("1925-01-01"))
    born = np.where(owner, np.where(accounts.pension[account], retired, working), second).astype(np.int64)
    latest = np.where(owner, accounts.opened[account] - 16 * 366, day("1987-09-27"))
    return np.minimum(born, latest - rng.integers(0, 700, n))


def make_cards(
    rng: np.random.Generator, accounts: Accounts, people: People, loan_account: Ints, loan_day: Ints
) -> Cards:
    """Draw cards for owners: a fixed number to loan owners, a few of those before the loan."""
    owner_of = np.flatnonzero(people.owner)
    granted = np.full(N_ACCOUNTS, -1, dtype=np.int64)
    granted[loan_account] = loan_day
    early_from = accounts.opened[loan_account] + 30
    can_be_early = np.flatnonzero(loan_day - early_from > 60)
    early = rng.choice(can_be_early, N_EARLY_LOAN_CARDS, replace=False)
    can_be_late = np.setdiff1d(np.flatnonzero(loan_day < END - 60), early)
    late = rng.choice(can_be_late, N_LOAN_CARDS - N_EARLY_LOAN_CARDS, replace=False)
    young = people.born[owner_of] > day("1973-01-01")
    weight = np.where(granted < 0, np.where(young, 3.0, 1.0), 0.0)
    others = rng.choice(N_ACCOUNTS, N_CARDS - N_LOAN_CARDS, replace=False, p=weight / weight.sum())
    holder = np.concatenate([loan_account[early], loan_account[late], others])
    low = np.concatenate([early_from[early], loan_day[late] + 10, accounts.opened[others] + 120])
    high = np.concatenate([loan_day[early] - 1, np.full(len(late) + len(others), END - 2)])
    low = np.minimum(np.maximum(low, day("1993-11-07")), high)
    issued = (low + (1 - rng.random(len(holder)) ** 1.7) * (high - low)).astype(np.int64)
    person = owner_of[holder]
    kind = _card_kinds(rng, accounts.income[holder], issued - people.born[person])
    order = np.argsort(person, kind="stable")
    ids = 1 + np.sort(rng.choice(1_247, N_CARDS, replace=False))
    return Cards(ids.astype(np.int64), person[order], kind[order], issued[order])


def _card_kinds(rng: np.random.Generator, income: Floats, age_days: Ints) -> npt.NDArray[np.str_]:
    """Junior for the youngest, gold for some of the best paid, classic for the rest."""
    kind = np.full(len(income), "classic", dtype="<U7")
    kind[np.argsort(age_days, kind="stable")[: _CARD_TYPES["junior"]]] = "junior"
    appeal = np.log(income) + rng.normal(0, 0.4, len(income))
    appeal[kind == "junior"] = -np.inf
    kind[np.argsort(-appeal, kind="stable")[: _CARD_TYPES["gold"]]] = "gold"
    return kind
