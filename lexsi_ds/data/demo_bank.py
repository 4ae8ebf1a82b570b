"""The synthetic bank: the eight tables of PKDD'99 with their columns, codes and row counts, drawn from a fixed seed.

The public copies of the original carry no clear licence, so this stands in for them. Every row is invented. Each part
draws from a stream of its own, in one order, and money is counted in integers: the content does not depend on threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lexsi_ds.data import bank_trans
from lexsi_ds.data.bank_loans import BANKS, ORDER_KINDS, Loans, Orders, make_loans, make_orders
from lexsi_ds.data.bank_people import Accounts, Cards, People, make_accounts, make_cards, make_people
from lexsi_ds.data.bank_places import make_places
from lexsi_ds.data.bank_schema import BankTable, bank_table, create_sql

Say = Callable[[dict[str, Any]], None]

SEED = 19_990_915
REVISION = 1
"""Raise it when the generator would draw other rows: banks of an older revision are then built anew."""
_PARTS = ("places", "accounts", "people", "loans", "orders", "cards", "trans", "finish")
_KINDS: dict[int, tuple[str, str | None, str | None]] = {
    bank_trans.OPENING: ("PRIJEM", "VKLAD", None),
    bank_trans.SALARY: ("PRIJEM", "PREVOD Z UCTU", None),
    bank_trans.PENSION: ("PRIJEM", "PREVOD Z UCTU", "DUCHOD"),
    bank_trans.CASH_IN: ("PRIJEM", "VKLAD", None),
    bank_trans.CASH_IN + 1: ("PRIJEM", "VKLAD", None),
    **{bank_trans.CASH_OUT + i: ("VYDAJ", "VYBER", None) for i in range(5)},
    bank_trans.CARD: ("VYDAJ", "VYBER KARTOU", None),
    bank_trans.FEE: ("VYDAJ", "VYBER", "SLUZBY"),
    bank_trans.PENALTY: ("VYDAJ", "VYBER", "SANKC. UROK"),
    bank_trans.INTEREST: ("PRIJEM", None, "UROK"),
    **{
        bank_trans.FIRST_ORDER + i: ("VYDAJ", "PREVOD NA UCET", symbol if symbol not in ("", "LEASING") else None)
        for i, symbol in enumerate(ORDER_KINDS)
    },
}
"""Type, operation and k_symbol of each slot of the ledger; as in the original, transfers for leasing do not say so."""
_CASH_TYPE_SHARE = 0.06
"""Share of cash withdrawals booked with type VYBER in place of VYDAJ."""


def write_demo_bank(con: duckdb.DuckDBPyConnection, say: Say) -> None:
    """Create the eight tables in ``con``'s current schema. About two seconds; ``say`` hears the share done."""

    def tell(share: float, text: str) -> None:
        say({"done": round(share, 3), "total": 1, "text": text})

    rngs = dict(zip(_PARTS, (np.random.Generator(np.random.PCG64(s)) for s in _seeds()), strict=True))
    tell(0.0, "Drawing accounts and people")
    places = make_places(rngs["places"])
    accounts = make_accounts(rngs["accounts"], places)
    people = make_people(rngs["people"], accounts, len(places.share))
    loans = make_loans(rngs["loans"], accounts)
    orders = make_orders(rngs["orders"], accounts, loans)
    cards = make_cards(rngs["cards"], accounts, people, loans.account, loans.granted)
    ledger = bank_trans.make_ledger(
        rngs["trans"], accounts, people, cards, loans, orders, lambda share: tell(0.5 * share, "Booking transactions")
    )
    tell(0.5, "Writing tables")
    write = {
        "district": {name: pa.array(values) for name, values in places.columns.items()},
        "account": _account_columns(accounts),
        "client": _client_columns(people),
        "disp": _disp_columns(accounts, people),
        "card": _card_columns(people, cards),
        "loan": _loan_columns(accounts, loans),
        "order": _order_columns(accounts, orders),
        "trans": _trans_columns(rngs["finish"], accounts, orders, ledger),
    }
    for done, (name, columns) in enumerate(write.items(), start=1):
        _insert(con, _table(name), columns)
        tell(0.5 + 0.5 * done / len(write), f"Wrote {name}")


def _seeds() -> list[np.random.SeedSequence]:
    return np.random.SeedSequence(SEED).spawn(len(_PARTS))


def _table(name: str) -> BankTable:
    table = bank_table(name)
    if table is None:
        raise KeyError(name)
    return table


def _insert(con: duckdb.DuckDBPyConnection, table: BankTable, columns: dict[str, Any]) -> None:
    con.execute(create_sql(table, f'"{table.name}"'))
    con.register("_made", pa.table({name: columns[name] for name in table.names}))
    con.execute(f'INSERT INTO "{table.name}" SELECT * FROM _made')
    con.unregister("_made")


def _dates(days: npt.NDArray[np.int64]) -> pa.Array:
    return pa.array(days.astype("datetime64[D]"))


def _money(cents: npt.NDArray[np.int64]) -> pa.Array:
    """Exact decimals from hellers: the integer's bits become the unscaled value."""
    wide = np.empty((len(cents), 2), dtype=np.int64)
    wide[:, 0], wide[:, 1] = cents, np.where(cents < 0, -1, 0)
    return pa.Array.from_buffers(pa.decimal128(12, 2), len(cents), [None, pa.py_buffer(wide.tobytes())])


def _codes(codes: npt.NDArray[np.int64], values: list[str | None]) -> pa.Array:
    return pa.array(values, type=pa.string()).take(pa.array(codes))


def _account_columns(accounts: Accounts) -> dict[str, Any]:
    return {
        "account_id": accounts.account_id,
        "district_id": accounts.district + 1,
        "frequency": accounts.frequency.tolist(),
        "date": _dates(accounts.opened),
    }


def _client_columns(people: People) -> dict[str, Any]:
    return {
        "client_id": people.client_id,
        "birth_number": people.birth_number,
        "gender": np.where(people.female, "F", "M").tolist(),
        "birth_date": _dates(people.born),
        "district_id": people.district + 1,
    }


def _disp_columns(accounts: Accounts, people: People) -> dict[str, Any]:
    return {
        "disp_id": people.disp_id,
        "client_id": people.client_id,
        "account_id": accounts.account_id[people.account],
        "type": np.where(people.owner, "OWNER", "DISPONENT").tolist(),
    }


def _card_columns(people: People, cards: Cards) -> dict[str, Any]:
    return {
        "card_id": cards.card_id,
        "disp_id": people.disp_id[cards.person],
        "type": cards.kind.tolist(),
        "issued": _dates(cards.issued),
    }


def _loan_columns(accounts: Accounts, loans: Loans) -> dict[str, Any]:
    return {
        "loan_id": loans.loan_id,
        "account_id": accounts.account_id[loans.account],
        "date": _dates(loans.granted),
        "amount": loans.amount,
        "duration": loans.duration,
        "payments": _money(loans.payment * 100),
        "status": loans.status.tolist(),
    }


def _order_columns(accounts: Accounts, orders: Orders) -> dict[str, Any]:
    return {
        "order_id": orders.order_id,
        "account_id": accounts.account_id[orders.account],
        "bank_to": BANKS[orders.bank].tolist(),
        "account_to": orders.partner,
        "amount": _money(orders.cents),
        "k_symbol": _codes(orders.kind, [symbol or None for symbol in ORDER_KINDS]),
    }


def _trans_columns(
    rng: np.random.Generator, accounts: Accounts, orders: Orders, ledger: bank_trans.Ledger
) -> dict[str, Any]:
    """Rows by day, as in the original file; ids ascend inside an account, so they give the order inside a day."""
    n = len(ledger.account)
    ids = np.cumsum(rng.integers(1, 6, n))
    bank, partner = _partners(rng, accounts, orders, ledger)
    kinds = [_KINDS[slot] for slot in range(bank_trans.SLOTS)]
    types = [kind[0] for kind in kinds] + ["VYBER"]
    cash = (ledger.slot >= bank_trans.CASH_OUT) & (ledger.slot < bank_trans.CARD)
    booked = np.where(cash & (rng.random(n) < _CASH_TYPE_SHARE), bank_trans.SLOTS, ledger.slot)
    by_day = np.lexsort((ids, ledger.day))
    slot = ledger.slot[by_day]
    partner = partner[by_day]
    return {
        "trans_id": ids[by_day],
        "account_id": accounts.account_id[ledger.account[by_day]],
        "date": _dates(ledger.day[by_day]),
        "type": _codes(booked[by_day], list(types)),
        "operation": _codes(slot, [kind[1] for kind in kinds]),
        "amount": _money(np.abs(ledger.cents[by_day])),
        "balance": _money(ledger.balance[by_day]),
        "k_symbol": _codes(slot, [kind[2] for kind in kinds]),
        "bank": _codes(bank[by_day] % (len(BANKS) + 1), [*BANKS.tolist(), None]),  # -1 becomes the last
        "account": pa.array(partner, mask=partner < 0),
    }


def _partners(
    rng: np.random.Generator, accounts: Accounts, orders: Orders, ledger: bank_trans.Ledger
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Bank and account of the other side of each transfer: the order's, or the payer of wage or pension; -1 is none."""
    shape = (len(accounts.account_id), bank_trans.SLOTS)
    bank = np.full(shape, -1, dtype=np.int64)
    partner = np.full(shape, -1, dtype=np.int64)
    bank[orders.account, bank_trans.FIRST_ORDER + orders.kind] = orders.bank
    partner[orders.account, bank_trans.FIRST_ORDER + orders.kind] = orders.partner
    for slot in (bank_trans.SALARY, bank_trans.PENSION):
        bank[:, slot] = rng.integers(0, len(BANKS), shape[0])
        partner[:, slot] = rng.integers(100_000, 99_994_200, shape[0])
    return bank[ledger.account, ledger.slot], partner[ledger.account, ledger.slot]
