"""The synthetic bank: counts and codes of the original, consistent balances, and a signal that can be learned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lexsi_ds.data.bank_schema import TABLES
from lexsi_ds.data.demo_bank import write_demo_bank


def _bank(threads: int) -> duckdb.DuckDBPyConnection:
    con = duckdb.connect(config={"threads": threads})
    write_demo_bank(con, lambda _: None)
    return con


@pytest.fixture(scope="module")
def bank() -> Iterator[duckdb.DuckDBPyConnection]:
    con = _bank(2)
    yield con
    con.close()


def _one(bank: duckdb.DuckDBPyConnection, sql: str) -> Any:
    row = bank.execute(sql).fetchone()
    assert row is not None
    return row[0] if len(row) == 1 else row


def _counts(bank: duckdb.DuckDBPyConnection, sql: str) -> dict[Any, int]:
    return dict(bank.execute(sql).fetchall())


def test_has_the_rows_columns_and_types_of_the_schema(bank: duckdb.DuckDBPyConnection) -> None:
    rows = {t.name: _one(bank, f'SELECT count(*) FROM "{t.name}"') for t in TABLES}
    assert rows == {
        "account": 4500, "card": 892, "client": 5369, "disp": 5369, "district": 77, "loan": 682, "order": 6471,
        "trans": 1_056_320,
    }  # fmt: skip
    for table in TABLES:
        found = bank.execute(f'DESCRIBE "{table.name}"').fetchall()
        assert [(r[0], r[1]) for r in found] == [(c.name, c.type) for c in table.columns]


def test_has_the_codes_and_counts_of_the_original(bank: duckdb.DuckDBPyConnection) -> None:
    assert _counts(bank, "SELECT frequency, count(*) FROM account GROUP BY 1") == {
        "POPLATEK MESICNE": 4167, "POPLATEK TYDNE": 240, "POPLATEK PO OBRATU": 93,
    }  # fmt: skip
    assert _counts(bank, "SELECT gender, count(*) FROM client GROUP BY 1") == {"F": 2645, "M": 2724}
    assert _counts(bank, "SELECT type, count(*) FROM disp GROUP BY 1") == {"OWNER": 4500, "DISPONENT": 869}
    assert _counts(bank, "SELECT status, count(*) FROM loan GROUP BY 1") == {"A": 203, "B": 31, "C": 403, "D": 45}
    assert set(_counts(bank, "SELECT type, count(*) FROM card GROUP BY 1")) == {"junior", "classic", "gold"}
    assert set(_counts(bank, "SELECT type, count(*) FROM trans GROUP BY 1")) == {"PRIJEM", "VYDAJ", "VYBER"}
    assert set(_counts(bank, "SELECT operation, count(*) FROM trans GROUP BY 1")) == {
        "VKLAD", "PREVOD Z UCTU", "VYBER", "PREVOD NA UCET", "VYBER KARTOU", None,
    }  # fmt: skip
    assert set(_counts(bank, "SELECT k_symbol, count(*) FROM trans GROUP BY 1")) == {
        "POJISTNE", "SLUZBY", "UROK", "SANKC. UROK", "SIPO", "DUCHOD", "UVER", None,
    }  # fmt: skip
    assert set(_counts(bank, 'SELECT k_symbol, count(*) FROM "order" GROUP BY 1')) == {
        "SIPO", "POJISTNE", "LEASING", "UVER", None,
    }  # fmt: skip


def test_keys_are_unique_and_every_foreign_key_leads_somewhere(bank: duckdb.DuckDBPyConnection) -> None:
    for table in TABLES:
        key = table.names[0]
        assert _one(bank, f'SELECT count(*) - count(DISTINCT "{key}") FROM "{table.name}"') == 0
    links = [
        ("account", "district_id", "district"), ("card", "disp_id", "disp"), ("client", "district_id", "district"),
        ("disp", "client_id", "client"), ("disp", "account_id", "account"), ("loan", "account_id", "account"),
        ("order", "account_id", "account"), ("trans", "account_id", "account"),
    ]  # fmt: skip
    for child, key, parent in links:
        lost = _one(bank, f'SELECT count(*) FROM "{child}" WHERE "{key}" NOT IN (SELECT "{key}" FROM "{parent}")')
        assert lost == 0, (child, key)


def test_each_balance_is_the_one_before_plus_or_minus_the_amount(bank: duckdb.DuckDBPyConnection) -> None:
    wrong = _one(
        bank,
        """SELECT count(*) FROM (SELECT balance, amount, type,
             lag(balance, 1, 0) OVER (PARTITION BY account_id ORDER BY date, trans_id) AS before FROM trans)
           WHERE balance <> before + CASE type WHEN 'PRIJEM' THEN amount ELSE -amount END OR amount <= 0""",
    )
    assert wrong == 0


def test_dates_stay_inside_six_years_and_after_the_account_was_opened(bank: duckdb.DuckDBPyConnection) -> None:
    first, last = _one(bank, "SELECT min(date)::VARCHAR, max(date)::VARCHAR FROM trans")
    assert first >= "1993-01-01" and last == "1998-12-31"
    early = "SELECT count(*) FROM {0} x JOIN account a USING (account_id) WHERE x.date < a.date"
    assert _one(bank, early.format("trans")) == 0
    assert _one(bank, early.format("loan")) == 0
    born = _one(bank, "SELECT min(birth_date)::VARCHAR, max(birth_date)::VARCHAR FROM client")
    assert born[0] >= "1911-01-01" and born[1] <= "1987-12-31"


def test_birth_number_says_the_same_as_sex_and_birth_date(bank: duckdb.DuckDBPyConnection) -> None:
    wrong = _one(
        bank,
        """SELECT count(*) FROM client WHERE birth_number <> strftime(birth_date, '%y')
             || lpad((month(birth_date) + CASE gender WHEN 'F' THEN 50 ELSE 0 END)::VARCHAR, 2, '0')
             || strftime(birth_date, '%d')""",
    )
    assert wrong == 0


def test_loans_are_one_an_account_and_finished_exactly_when_their_time_is_up(bank: duckdb.DuckDBPyConnection) -> None:
    assert _one(bank, "SELECT count(DISTINCT account_id) FROM loan") == 682
    assert _one(bank, "SELECT count(*) FROM loan WHERE amount <> duration * payments") == 0
    assert (
        _one(
            bank,
            """SELECT count(*) FROM loan WHERE (date + to_months(duration::INTEGER) <= DATE '1998-12-31')
                 <> (status IN ('A', 'B'))""",
        )
        == 0
    )
    assert _one(bank, "SELECT status FROM loan WHERE loan_id = 4959") == "A"
    assert _one(bank, "SELECT min(loan_id), max(loan_id) FROM loan") >= (4959, 5641)


def test_every_loan_account_holds_the_order_that_repays_it(bank: duckdb.DuckDBPyConnection) -> None:
    held = _one(
        bank,
        """SELECT count(*) FROM loan l WHERE EXISTS (SELECT 1 FROM "order" o WHERE o.account_id = l.account_id
             AND o.k_symbol = 'UVER' AND o.amount = l.payments)""",
    )
    assert held == 682


def test_repayments_come_after_the_loan_and_paid_loans_have_all_of_them(bank: duckdb.DuckDBPyConnection) -> None:
    repaid = bank.execute(
        """SELECT l.status, l.duration, count(t.trans_id), count(*) FILTER (WHERE t.date <= l.date)
           FROM loan l LEFT JOIN trans t ON t.account_id = l.account_id AND t.k_symbol = 'UVER'
           GROUP BY l.loan_id, l.status, l.duration"""
    ).fetchall()
    assert all(before == 0 for *_, before in repaid)
    assert all(count == duration for status, duration, count, _ in repaid if status == "A")
    assert all(count < duration for status, duration, count, _ in repaid if status == "B")


def test_only_some_cards_of_loan_owners_were_issued_before_the_loan(bank: duckdb.DuckDBPyConnection) -> None:
    cards, early = _one(
        bank,
        """SELECT count(*), count(*) FILTER (WHERE c.issued < l.date) FROM card c JOIN disp d USING (disp_id)
           JOIN loan l USING (account_id) WHERE d.type = 'OWNER'""",
    )
    assert (cards, early) == (170, 36)
    assert _one(bank, "SELECT count(*) FROM card JOIN disp USING (disp_id) WHERE disp.type <> 'OWNER'") == 0


def test_content_is_the_same_on_one_thread_and_on_two(bank: duckdb.DuckDBPyConnection) -> None:
    with _bank(1) as other:
        for table in TABLES:
            columns = ", ".join(f'"{name}"' for name in table.names)
            sql = f'SELECT sum(hash(rowid, {columns})), count(*) FROM "{table.name}"'
            assert _one(bank, sql) == _one(other, sql), table.name


def test_what_happened_before_a_loan_tells_something_of_its_outcome(bank: duckdb.DuckDBPyConnection) -> None:
    frame = bank.execute(
        """SELECT any_value(l.status) AS status, any_value(l.amount) AS amount, any_value(l.duration) AS duration,
             any_value(l.payments)::DOUBLE AS payments, any_value(l.date - a.date) AS age, avg(t.balance) AS mean,
             min(t.balance)::DOUBLE AS least, sum(CASE t.type WHEN 'PRIJEM' THEN t.amount ELSE 0 END)::DOUBLE AS income,
             count(*) FILTER (WHERE t.k_symbol = 'SANKC. UROK') AS penalties
           FROM loan l JOIN account a USING (account_id) JOIN trans t ON t.account_id = l.account_id AND t.date < l.date
           WHERE l.status IN ('A', 'B') GROUP BY l.loan_id ORDER BY l.loan_id"""
    ).fetch_df()
    frame["burden"] = frame.payments / (frame.income / frame.age * 30)
    outcome = (frame.status == "B").to_numpy()
    features = frame.drop(columns="status").to_numpy(float)
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.3))
    scores = [
        roc_auc_score(
            outcome,
            cross_val_predict(
                model, features, outcome, cv=StratifiedKFold(5, shuffle=True, random_state=seed), method="predict_proba"
            )[:, 1],
        )
        for seed in range(3)
    ]
    assert len(frame) == 234
    assert 0.72 < float(np.mean(scores)) < 0.9
