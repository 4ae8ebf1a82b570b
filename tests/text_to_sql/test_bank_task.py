"""The bank's prediction task: who trains, who is scored, what was known when, and what is left out for which reason."""

from __future__ import annotations

import pandas as pd
import pytest

from lexsi_ds.knowledge.load import semantic_model
from lexsi_ds.models.task import TaskSpec
from lexsi_ds.text_to_sql.predictive import build_task
from tests.text_to_sql.sources import Asked, asked, mini_bank


def task_of(asked: Asked, approved: frozenset[str] = frozenset()) -> TaskSpec:
    outcome = next(o for o in asked.model.outcomes if o.id == "loan_default")
    return build_task(asked.source.handle, asked.model, outcome, asked.source.query, question="q", approved=approved)


@pytest.fixture(scope="module")
def mini_task(mini: Asked) -> TaskSpec:
    return task_of(mini)


def row(asked: Asked, sql: str, loan: int) -> pd.Series:
    frame = asked.source.query(sql)
    return frame[frame["loan_id"] == loan].iloc[0]


def test_finished_loans_train_and_running_ones_are_scored(bank: Asked) -> None:
    task = task_of(bank)
    context, predict = bank.source.query(task.context_sql), bank.source.query(task.predict_sql)
    assert (len(context), int(context["y_default"].sum())) == (234, 31)
    assert predict["status"].value_counts().to_dict() == {"C": 403, "D": 45}
    assert "y_default" not in predict.columns
    assert list(context["loan_id"]) == sorted(context["loan_id"])
    assert context["loan_id"].is_unique
    assert task.apart is not None
    assert (task.apart.column, task.apart.value, task.apart.label) == ("status", "D", "in debt already")


def test_both_frames_carry_exactly_key_features_and_display(bank: Asked) -> None:
    task = task_of(bank)
    expected = {task.entity_column, *(f.name for f in task.features), *task.display_columns}
    assert set(bank.source.query(task.predict_sql).columns) == expected
    assert set(bank.source.query(task.context_sql).columns) == {*expected, "y_default"}
    assert task.display_columns == ("status", "date", "amount")
    guarded = bank.source.query(task.guarded_sql)
    assert list(guarded.columns) == [task.entity_column, "gender"], "apart: no preview or narrative is about them"
    assert len(guarded) == len(bank.source.query(task.context_sql)) and guarded["gender"].notna().all()


def test_status_sex_and_age_are_never_features(bank: Asked) -> None:
    names = " ".join(f.name for f in task_of(bank).features)
    for word in ("status", "gender", "birth", "sex"):
        assert word not in names


def test_every_feature_reads_like_a_sentence_and_shows_its_sql(bank: Asked) -> None:
    by_name = {f.name: f for f in task_of(bank).features}
    lowest = by_name["trans_balance_min"]
    assert (lowest.label, lowest.unit) == ("lowest balance before the loan", "CZK")
    assert "trans.date < loan.date" in lowest.expression
    assert by_name["account_age_days"].unit == "days"
    assert all(f.label and f.expression and f.tables for f in by_name.values())


def test_the_sql_has_a_clause_a_line_and_a_cte_a_table(bank: Asked) -> None:
    sql = task_of(bank).context_sql
    for line in (
        "WITH target_rows AS (",
        "card_before AS (",
        "trans_before AS (",
        "FROM target_rows",
        "ORDER BY target_rows.loan_id",
    ):
        assert line in sql.splitlines()


def test_what_happens_on_the_loans_day_or_later_is_not_seen(mini: Asked, mini_task: TaskSpec) -> None:
    # Loan 1 is granted on 1996-01-11: transactions 1 to 3 come before, 4 on the day, 5 after.
    seen = row(mini, mini_task.context_sql, 1)
    assert seen["trans_count"] == 3
    assert seen["trans_amount_in"] == 500
    assert seen["trans_amount_out"] == 300
    assert seen["trans_balance_avg"] == pytest.approx((500 + 300 + 200) / 3)
    assert (seen["trans_balance_min"], seen["trans_balance_last"]) == (200, 200)
    assert seen["trans_sanction_interest_count"] == 1
    assert seen["trans_days_since_last"] == 1
    assert (seen["trans_count_90d"], seen["trans_amount_net_90d"]) == (2, -300)


def test_cards_count_when_issued_before_the_loan_to_anyone_on_the_account(mini: Asked, mini_task: TaskSpec) -> None:
    # Of account 1: card 1 before, card 2 on the day, card 3 (the disponent's) before. Card 4 of account 2 comes after.
    assert row(mini, mini_task.context_sql, 1)["card_count"] == 2
    assert row(mini, mini_task.context_sql, 2)["card_count"] == 0


def test_loans_without_history_keep_their_row_and_it_is_said(mini: Asked, mini_task: TaskSpec) -> None:
    bare = row(mini, mini_task.predict_sql, 20)
    assert bare["trans_count"] == 0
    assert pd.isna(bare["trans_balance_min"])
    assert "22 of 24 loans have no transactions before their date." in mini_task.notes


def test_an_account_opened_after_the_loan_is_not_seen(tmp_path) -> None:
    tables = mini_bank()
    tables["account"] = (
        f"SELECT * REPLACE (CASE WHEN account_id = 3 THEN DATE '1999-01-01' ELSE date END AS date) FROM ({tables['account']})"
    )
    late = asked(tmp_path, tables)
    task = task_of(late)
    assert pd.isna(row(late, task.context_sql, 3)["account_frequency"])
    assert row(late, task.context_sql, 4)["account_frequency"] == "POPLATEK MESICNE"
    assert "For 1 of 24 loans the account is dated later: its columns are missing there." in task.notes


def reasons(task: TaskSpec) -> dict[tuple[str, str], tuple[str, bool]]:
    return {(o.table, o.name): (o.reason, o.approvable) for o in task.left_out}


def test_each_left_out_column_has_its_reason(bank: Asked) -> None:
    why = reasons(task_of(bank))
    assert why["loan", "status"] == ("target", False)
    assert why["loan", "account_id"] == ("identifier", False)
    assert why["loan", "date"] == ("date", False)
    assert why["district", "A11"] == ("undated", True)
    assert why["order", "amount"] == ("undated", True)
    assert why["disp", "type"] == ("undated", False)
    assert why["client", "gender"] == ("protected", True)
    assert why["client", "birth_date"] == ("protected", True)
    assert why["client", "birth_number"] == ("masked", False)


def test_planted_columns_are_left_out_with_the_reason(tmp_path) -> None:
    tables = mini_bank()
    tables["loan"] = f"""SELECT *,
        CASE WHEN status IN ('A', 'B') THEN loan_id * 1.5 END AS recovered_amount,
        CASE WHEN status IN ('A', 'B') THEN loan_id % 5 ELSE 0 END AS reminders,
        CASE WHEN status = 'B' THEN DATE '1999-01-01' END AS written_off_on,
        date + CAST(loan_id AS INTEGER) AS closed_on,
        CAST(NULL AS INTEGER) AS nothing, 7 AS seven, 'note ' || loan_id AS remark, loan_id % 2 AS senior_citizen
        FROM ({tables["loan"]})"""
    tables["rating"] = "SELECT n AS rating_id, n AS account_id, n % 4 AS points FROM range(1, 31) AS t(n)"
    why = reasons(task_of(asked(tmp_path, tables)))
    assert why["loan", "recovered_amount"][0] == "post_outcome"
    assert why["loan", "reminders"][0] == "post_outcome"
    assert why["loan", "written_off_on"][0] == "post_outcome"
    assert why["loan", "closed_on"][0] == "post_outcome"
    assert why["loan", "nothing"][0] == "all_null"
    assert why["loan", "seven"][0] == "constant"
    assert why["loan", "remark"][0] == "identifier"
    assert why["loan", "senior_citizen"] == ("protected", True)
    assert why["rating", "points"] == ("undated", True)


def test_what_is_filled_only_where_the_outcome_happened_is_left_out(tmp_path) -> None:
    tables = mini_bank()
    grown = " UNION ALL ".join(
        f"SELECT * REPLACE (loan_id + {100 * i} AS loan_id) FROM ({tables['loan']})" for i in range(4)
    )
    tables["loan"] = f"SELECT *, CASE WHEN status IN ('B', 'D') THEN loan_id END AS loss FROM ({grown})"
    assert reasons(task_of(asked(tmp_path, tables)))["loan", "loss"] == ("post_outcome", False)


def test_a_person_can_put_undated_and_protected_columns_back(mini: Asked) -> None:
    task = task_of(mini, frozenset({"district.A11", "client.gender", "order.amount"}))
    frame = mini.source.query(task.context_sql)
    assert len(frame) == 12
    names = {f.name for f in task.features}
    assert {"district_A11", "client_gender", "order_amount_sum"} <= names
    first = frame[frame["loan_id"] == 1].iloc[0]
    assert (first["client_gender"], first["district_A11"], first["order_amount_sum"]) == ("M", 8002, 100)
    assert ("district", "A12") in reasons(task)


def test_a_history_that_a_person_marked_masked_is_left_out(mini: Asked) -> None:
    table = mini.source.handle.table("trans")
    assert table is not None
    columns = tuple(c.model_copy(update={"masked": True}) if c.name == "balance" else c for c in table.columns)
    tables = tuple(
        t.model_copy(update={"columns": columns}) if t.name == "trans" else t for t in mini.source.handle.tables
    )
    handle = mini.source.handle.model_copy(update={"tables": tables})
    model = semantic_model(handle, mini.source.query)
    task = build_task(handle, model, model.outcomes[0], mini.source.query, question="q")
    assert ("trans", "balance") in {(o.table, o.name) for o in task.left_out if o.reason == "masked"}
    assert not any("balance" in f.name for f in task.features)
