"""Every gold of the demo bank's questions: a second query agrees, it is not trivial, and no two questions share it by accident."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from bench.compare import same_rows
from bench.pkdd.items import Item, bank, load, rows
from lexsi_ds.agent.tools import REGISTRY

ITEMS = load()
GOLDEN = [i for i in ITEMS if i.gold]
SHARED_CASES = Path(__file__).resolve().parents[3] / "shared" / "cases" / "questions.jsonl"


@pytest.fixture(scope="module")
def con():
    made = bank()
    yield made
    made.close()


def test_there_are_enough_questions_and_each_has_its_own_id() -> None:
    assert len(ITEMS) >= 170
    assert len({i.id for i in ITEMS}) == len(ITEMS)


def test_each_data_question_has_a_gold_and_a_differently_written_check() -> None:
    data = [i for i in ITEMS if i.expect in ("answer", "finding") and not i.calls]
    assert data and all(i.gold and i.check for i in data)
    assert [i.id for i in GOLDEN if _squeezed(i.gold) == _squeezed(i.check)] == []


@pytest.mark.parametrize("item", GOLDEN, ids=lambda i: i.id)
def test_a_second_query_gives_the_golds_rows(con, item: Item) -> None:
    gold = rows(con, item.gold or "")
    assert same_rows(rows(con, item.check or ""), gold, ordered=item.ordered)
    assert gold and any(cell not in (None, 0) for row in gold for cell in row), "the gold is trivial"


def test_no_two_different_questions_have_the_same_rows(con) -> None:
    by_rows: dict[str, set[str]] = {}
    for item in GOLDEN:
        by_rows.setdefault(repr(rows(con, item.gold or "")), set()).add(_squeezed(item.gold))
    assert [sorted(golds) for golds in by_rows.values() if len(golds) > 1] == []


@pytest.mark.parametrize("item", [i for i in ITEMS if i.readings], ids=lambda i: i.id)
def test_other_good_readings_run(con, item: Item) -> None:
    assert all(rows(con, sql) for sql in item.readings)


@pytest.mark.parametrize("item", [i for i in ITEMS if i.expect == "predict"], ids=lambda i: i.id)
def test_the_rows_of_a_task_are_there_and_do_not_overlap(con, item: Item) -> None:
    known, unknown, positive = (set(rows(con, sql)) for sql in (item.task.known, item.task.unknown, item.task.positive))
    assert positive and positive < known and unknown and not known & unknown


def test_the_cases_to_explain_are_loans_of_the_bank(con) -> None:
    cases = [c for i in ITEMS for c in i.task.cases]
    assert cases and all(rows(con, f"SELECT 1 FROM loan WHERE loan_id = {int(c)}") for c in cases)


def test_every_tool_has_a_happy_and_an_error_path() -> None:
    worked = {c.tool for i in ITEMS if i.calls and i.expect != "tool_error" for c in i.calls}
    failed = {i.calls[-1].tool for i in ITEMS if i.expect == "tool_error"}
    assert failed == set(REGISTRY)
    assert worked == set(REGISTRY) - {"connect_datalake"}, "a store to connect to is in the tests of connectors"


def test_no_question_is_copied_from_the_shared_cases() -> None:
    if not SHARED_CASES.is_file():
        pytest.skip("the shared questions are not beside this checkout")
    theirs = {_squeezed(json.loads(line)["question"]) for line in SHARED_CASES.read_text(encoding="utf-8").splitlines()}
    assert not theirs & {_squeezed(turn) for i in ITEMS for turn in i.asked}


def test_questions_are_asked_once_unless_they_are_judged_for_something_else() -> None:
    again = Counter((tuple(_squeezed(t) for t in i.asked), i.expect) for i in ITEMS if not i.calls)
    assert [key for key, n in again.items() if n > 1] == []


def _squeezed(text: str | None) -> str:
    return re.sub(r"\W+", " ", text or "").casefold().strip()
