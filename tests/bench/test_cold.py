"""Invented databases asked cold: the golds hold, and a sample of the questions is answered or honestly not."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from bench.asking import ask_once
from bench.cases import judge
from bench.cold.__main__ import DATABASES
from bench.cold.making import cases, write
from lexsi_ds.application import Application

CASES = {c["id"]: c for name in DATABASES for c in cases(name)}
ANSWERED = (
    "hospital-11", "hospital-16", "hospital-18", "hospital-32", "airline-09", "airline-11", "airline-14", "saas-10", "saas-13",
    "saas-16", "saas-18", "saas-20", "saas-21",
    "insurance-13", "insurance-20", "insurance-23",
)  # fmt: skip
"""One of each kind: length of stay, never done, an order behind, a code as a key, roles of links, churn and revenue by their
shape, lateness, days until something is done, and a month that is a value of some column too."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("cold")
    for name, database in DATABASES.items():
        write(database, made / f"{name}.sqlite")
    return made


def test_every_gold_runs_and_gives_rows(folder: Path) -> None:
    for case in CASES.values():
        con = sqlite3.connect(folder / f"{case['db']}.sqlite")
        assert case["kind"] in ("ambiguous", "unanswerable") or case["readings"], case["id"]
        assert all(con.execute(gold).fetchone() for gold in case["readings"]), case["id"]
        con.close()


def test_a_database_is_the_same_each_time(folder: Path, tmp_path: Path) -> None:
    write(DATABASES["saas"], tmp_path / "again.sqlite")
    dumps = []
    for path in (folder / "saas.sqlite", tmp_path / "again.sqlite"):
        con = sqlite3.connect(path)
        dumps.append(list(con.iterdump()))
        con.close()
    assert dumps[0] == dumps[1]


@pytest.mark.parametrize("case_id", ANSWERED)
def test_a_question_nobody_tuned_for_is_answered_as_its_gold_is(
    application: Application, folder: Path, tmp_path: Path, case_id: str
) -> None:
    case = CASES[case_id]
    handle = application.catalog.throwaway(folder / f"{case['db']}.sqlite")
    verdict = judge(case, ask_once(application, handle, case["question"], tmp_path), folder)
    assert verdict.outcome == "right", verdict


def test_a_figure_of_what_was_received_is_not_taken_by_another_date(
    application: Application, folder: Path, tmp_path: Path
) -> None:
    handle = application.catalog.throwaway(folder / "insurance.sqlite")
    verdict = judge(CASES["insurance-35"], ask_once(application, handle, CASES["insurance-35"]["question"], tmp_path), folder)
    assert verdict.outcome in ("right", "abstained", "asked"), verdict


@pytest.mark.parametrize("case_id", [i for i, c in CASES.items() if c["kind"] == "unanswerable"])
def test_what_the_data_does_not_hold_is_not_answered(
    application: Application, folder: Path, tmp_path: Path, case_id: str
) -> None:
    case = CASES[case_id]
    handle = application.catalog.throwaway(folder / f"{case['db']}.sqlite")
    assert judge(case, ask_once(application, handle, case["question"], tmp_path), folder).outcome == "right"
