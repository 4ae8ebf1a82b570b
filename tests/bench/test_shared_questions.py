"""A sample of the questions beside this checkout, through `bench.cases` and `bench.bird`: no wrong answer among them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import bird, cases

pytestmark = pytest.mark.xdist_group("demo")
EASY = ("bank-01", "bank-02", "bank-06", "chinook-01", "houses-01", "hr-01", "telco-01")


@pytest.fixture(scope="module")
def questions(shared_data: Path) -> Path:
    path = shared_data.parent / "cases" / "questions.jsonl"
    if not path.is_file():
        pytest.skip("the shared questions are not beside this checkout")
    return path


def test_a_sample_of_the_cases_is_answered_and_not_wrong(application, shared_data: Path, questions: Path, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in questions.read_text(encoding="utf-8").splitlines()]
    judged = cases.run([c for c in lines if c["id"] in EASY], shared_data, application, tmp_path, "none")
    assert {j.id: j.verdict.outcome for j in judged} == dict.fromkeys(EASY, "right")


def test_a_sample_of_bird_is_not_wrong_and_names_its_questions(application, shared_data: Path, tmp_path: Path) -> None:
    items = json.loads((shared_data / "bird_financial_half.json").read_text(encoding="utf-8"))["questions"]
    sample = [i for i in items if i["question_id"] in (114, 140, 184)]
    judged = bird.run(sample, shared_data / bird.DATABASE, application, tmp_path, {}, "none")
    assert [(j.id, j.verdict.outcome) for j in judged] == [("114", "right"), ("140", "right"), ("184", "right")]


def test_every_disputed_gold_is_a_question_of_the_file_and_runs_otherwise(shared_data: Path) -> None:
    items = json.loads((shared_data / "bird_financial_half.json").read_text(encoding="utf-8"))["questions"]
    golds = {i["question_id"]: i["SQL"] for i in items}
    database = shared_data / bird.DATABASE
    for number, entry in bird.load_disputed().items():
        assert entry["reason"] and number in golds
        if corrected := entry.get("corrected"):
            ours = cases.gold_rows(database, corrected, "financial")
            assert ours and ours != cases.gold_rows(database, golds[number], "financial")
