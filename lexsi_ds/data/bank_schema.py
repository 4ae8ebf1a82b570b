"""The eight tables of the PKDD'99 bank: columns, types, what each column means, and which columns need care.

The generated demo bank and the real files both end in exactly this shape, so nothing above can tell them apart by
schema. Must never hold data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mark = Literal["", "identifier", "masked", "protected"]
"""What a column needs: a key is an identifier, a masked column names a person, a protected one stays out of models."""


@dataclass(frozen=True)
class BankColumn:
    """One column: name, DuckDB type, meaning in one line, and its mark."""

    name: str
    type: str
    comment: str
    mark: Mark = ""


@dataclass(frozen=True)
class BankTable:
    """One table and its columns, in order."""

    name: str
    comment: str
    columns: tuple[BankColumn, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Column names in order."""
        return tuple(c.name for c in self.columns)


def _key(name: str, comment: str) -> BankColumn:
    return BankColumn(name, "BIGINT", comment, "identifier")


MONEY = "DECIMAL(12,2)"
"""Exact, so that a sum is the same on one thread and on two."""

ACCOUNT = BankTable(
    "account",
    "Bank accounts; one row an account.",
    (
        _key("account_id", "Key of the account."),
        _key("district_id", "District of the branch that keeps the account."),
        BankColumn(
            "frequency",
            "VARCHAR",
            "How often statements are issued: POPLATEK MESICNE monthly, POPLATEK TYDNE weekly, POPLATEK PO OBRATU "
            "after each transaction.",
        ),
        BankColumn("date", "DATE", "Day the account was opened."),
    ),
)
CARD = BankTable(
    "card",
    "Credit cards issued to a disposition; one row a card.",
    (
        _key("card_id", "Key of the card."),
        _key("disp_id", "Disposition (person on an account) that holds the card."),
        BankColumn("type", "VARCHAR", "Kind of card: junior, classic or gold."),
        BankColumn("issued", "DATE", "Day the card was issued."),
    ),
)
CLIENT = BankTable(
    "client",
    "People; one row a client.",
    (
        _key("client_id", "Key of the client."),
        BankColumn(
            "birth_number", "VARCHAR", "Czech birth number YYMMDD, with 50 added to the month for women.", "masked"
        ),
        BankColumn("gender", "VARCHAR", "Sex read from the birth number: F or M.", "protected"),
        BankColumn("birth_date", "DATE", "Day of birth read from the birth number.", "protected"),
        _key("district_id", "District where the client lives."),
    ),
)
DISP = BankTable(
    "disp",
    "Dispositions: which client may use which account.",
    (
        _key("disp_id", "Key of the disposition."),
        _key("client_id", "The client."),
        _key("account_id", "The account."),
        BankColumn("type", "VARCHAR", "OWNER, or DISPONENT who may only use it; only owners take loans."),
    ),
)
DISTRICT = BankTable(
    "district",
    "Districts and their demographic figures; one row a district.",
    (
        _key("district_id", "Key of the district (A1 in the raw file)."),
        BankColumn("A2", "VARCHAR", "Name of the district."),
        BankColumn("A3", "VARCHAR", "Region of the district."),
        BankColumn("A4", "BIGINT", "Number of inhabitants."),
        BankColumn("A5", "BIGINT", "Municipalities with fewer than 500 inhabitants."),
        BankColumn("A6", "BIGINT", "Municipalities with 500 to 1,999 inhabitants."),
        BankColumn("A7", "BIGINT", "Municipalities with 2,000 to 9,999 inhabitants."),
        BankColumn("A8", "BIGINT", "Municipalities with 10,000 inhabitants or more."),
        BankColumn("A9", "BIGINT", "Number of cities."),
        BankColumn("A10", "DOUBLE", "Urban inhabitants, percent of all."),
        BankColumn("A11", "BIGINT", "Average salary, CZK a month."),
        BankColumn("A12", "DOUBLE", "Unemployment rate in 1995, percent."),
        BankColumn("A13", "DOUBLE", "Unemployment rate in 1996, percent."),
        BankColumn("A14", "BIGINT", "Entrepreneurs per 1,000 inhabitants."),
        BankColumn("A15", "BIGINT", "Crimes committed in 1995."),
        BankColumn("A16", "BIGINT", "Crimes committed in 1996."),
    ),
)
LOAN = BankTable(
    "loan",
    "Loans granted; at most one an account.",
    (
        _key("loan_id", "Key of the loan."),
        _key("account_id", "Account that the loan was granted to."),
        BankColumn("date", "DATE", "Day the loan was granted."),
        BankColumn("amount", "BIGINT", "Amount of the loan, CZK; duration times payments."),
        BankColumn("duration", "BIGINT", "Duration of the loan, months."),
        BankColumn("payments", MONEY, "Monthly payment, CZK."),
        BankColumn(
            "status",
            "VARCHAR",
            "A finished and paid, B finished and not paid, C running and fine so far, D running and in debt.",
        ),
    ),
)
ORDER = BankTable(
    "order",
    "Standing payment orders; one row an order.",
    (
        _key("order_id", "Key of the order."),
        _key("account_id", "Account that pays."),
        BankColumn("bank_to", "VARCHAR", "Bank of the recipient, two letters."),
        _key("account_to", "Account of the recipient."),
        BankColumn("amount", MONEY, "Amount of each payment, CZK."),
        BankColumn(
            "k_symbol",
            "VARCHAR",
            "What is paid: SIPO household, POJISTNE insurance, LEASING leasing, UVER loan; missing when not said.",
        ),
    ),
)
TRANS = BankTable(
    "trans",
    "Transactions on accounts; one row a transaction.",
    (
        _key("trans_id", "Key of the transaction."),
        _key("account_id", "Account that it was booked on."),
        BankColumn("date", "DATE", "Day it was booked."),
        BankColumn("type", "VARCHAR", "PRIJEM credit, VYDAJ withdrawal, VYBER withdrawal in cash."),
        BankColumn(
            "operation",
            "VARCHAR",
            "VKLAD cash in, PREVOD Z UCTU from another bank, VYBER cash out, PREVOD NA UCET to another bank, "
            "VYBER KARTOU card withdrawal; missing for interest.",
        ),
        BankColumn("amount", MONEY, "Amount, CZK; always positive, the sign is in type."),
        BankColumn("balance", MONEY, "Balance of the account after the transaction, CZK."),
        BankColumn(
            "k_symbol",
            "VARCHAR",
            "What it was for: POJISTNE insurance, SLUZBY statement fee, UROK interest earned, SANKC. UROK penalty "
            "interest for a negative balance, SIPO household, DUCHOD pension, UVER loan payment; missing if not said.",
        ),
        BankColumn("bank", "VARCHAR", "Bank of the partner, two letters."),
        _key("account", "Account of the partner."),
    ),
)

TABLES: tuple[BankTable, ...] = (ACCOUNT, CARD, CLIENT, DISP, DISTRICT, LOAN, ORDER, TRANS)
"""All eight, by name."""


def bank_table(name: str) -> BankTable | None:
    """The table of this name; None when the bank has none."""
    return next((t for t in TABLES if t.name == name.casefold()), None)


def create_sql(table: BankTable, name: str) -> str:
    """DDL that creates ``table`` as ``name`` (a quoted, possibly qualified identifier)."""
    columns = ", ".join(f'"{c.name}" {c.type}' for c in table.columns)
    return f"CREATE TABLE {name} ({columns})"
