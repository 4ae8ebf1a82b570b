"""docs/predictive_tasks.md says what works: every example in it is read, and its two frames hold the rows that it says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from lexsi_ds.text_to_sql.reading import CannotAnswer, Clarify, Predictive
from tests.text_to_sql.sources import Asked, asked

PAGE = Path(__file__).resolve().parents[2] / "docs" / "predictive_tasks.md"
SHOP = {
    "customer": "SELECT n AS customer_id, DATE '2023-06-01' + CAST(n * 3 % 520 AS INTEGER) AS joined_on,"
    " ['France', 'Spain', 'Italy'][n % 3 + 1] AS country,"
    " CASE WHEN n > 160 THEN NULL ELSE ['low', 'medium', 'high'][n % 7 % 3 + 1] END AS risk_class FROM range(1, 201) AS t(n)",
    "orders": "SELECT n AS order_id, CASE WHEN n % 3 = 0 THEN n % 40 + 1 ELSE n * 7 % 200 + 1 END AS customer_id,"
    " DATE '2023-01-01' + CAST(n * 365 // 1000 AS INTEGER) AS placed_on, n % 50 + 1 AS amount, n % 11 = 0 AS returned"
    " FROM range(1, 2000) AS t(n)",
    "item": "SELECT n AS item_id, n % 1999 + 1 AS order_id, n % 5 + 1 AS pieces FROM range(1, 4000) AS t(n)",
    "subscription": "SELECT n AS subscription_id, n AS customer_id, DATE '2024-01-01' + CAST(n AS INTEGER) AS started_on,"
    " n % 4 * 10 AS price, n % 3 = 0 AS churned FROM range(1, 151) AS t(n)",
}
HOMES = {
    "house": "SELECT n AS house_id, DATE '2024-01-01' + CAST(n % 300 AS INTEGER) AS sold_on, 90000 + n * 7919 % 300000 AS price,"
    " n % 5 + 1 AS bedrooms, ['flat', 'villa', 'cottage'][n % 3 + 1] AS style, n % 3 = 1 AS renovated FROM range(1, 401) AS t(n)"
}


@dataclass(frozen=True)
class Example:
    """A row of the page."""

    question: str
    source: str
    outcome: str
    target: str
    learned: str
    scored: str


def examples() -> list[Example]:
    rows = [[c.strip() for c in line.strip().strip("|").split("|")] for line in PAGE.read_text(encoding="utf-8").splitlines()
            if line.startswith("|")]  # fmt: skip
    return [Example(*row) for row in rows if len(row) == 6 and row[0] not in ("Question", "---")]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Asked]:
    return {name: asked(tmp_path_factory.mktemp(name), made) for name, made in (("shop", SHOP), ("homes", HOMES))}


@pytest.mark.parametrize("example", examples(), ids=lambda e: e.question)
def test_a_documented_task_comes_out_as_the_page_says(example: Example, sources: dict[str, Asked]) -> None:
    source = sources[example.source]
    reading = source.read(example.question)
    if example.outcome == "asks back":
        assert isinstance(reading, Clarify), reading
        assert example.target in reading.question
        assert all(isinstance(source.read(option), Predictive) for option in reading.options)
        return
    if example.outcome == "cannot answer":
        assert isinstance(reading, CannotAnswer), reading
        assert example.target in reading.reason
        return
    assert isinstance(reading, Predictive), reading
    task = reading.task
    context, scored = source.source.query(task.context_sql), source.source.query(task.predict_sql)
    assert (task.kind, task.target_label) == (example.outcome, example.target)
    assert (len(context), len(scored)) == (int(example.learned), int(example.scored))
    assert context[task.target_column].notna().all()
    assert task.target_column not in scored
    again = source.predictive(task.statement).task
    assert source.source.rows(again.context_sql) == source.source.rows(task.context_sql)
    assert source.source.rows(again.predict_sql) == source.source.rows(task.predict_sql)


def test_the_page_has_examples_of_every_kind() -> None:
    found = examples()
    assert {e.outcome for e in found} == {"binary", "multiclass", "regression", "asks back", "cannot answer"}
    assert len(found) >= 18
