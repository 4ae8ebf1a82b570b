"""A question back at the command line: a person at the terminal answers it, ``--answer`` does for a program."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.llm.server import Say, Server
from tests.test_cli import REPO, run

pytestmark = pytest.mark.xdist_group("demo")
QUESTION, CHOSEN = "average exposure by status", "average loan amount by status"


@pytest.fixture
def home(shared_home: Path, demo_handle) -> Path:
    return shared_home


def options(home: Path) -> list[str]:
    body = json.loads(run(home, "ask", QUESTION, "--json").stdout)
    assert body["state"] == "needs_clarification"
    return body["options"]


def test_without_a_terminal_the_options_and_the_way_to_answer_are_printed_and_the_number_answers(home: Path) -> None:
    asked = run(home, "ask", QUESTION)
    number = options(home).index(CHOSEN) + 1
    assert asked.returncode == 0 and f"  {number}. {CHOSEN}" in asked.stdout
    assert f"python -m lexsi_ds ask '{QUESTION}' --dataset demo --answer 1" in asked.stdout
    answered = run(home, "ask", QUESTION, "--answer", str(number), "--json")
    body = json.loads(answered.stdout)
    assert answered.returncode == 0 and body["state"] == "answered" and "AVG" in body["sql"].upper()


def test_an_option_that_is_not_there_is_refused(home: Path) -> None:
    wrong = run(home, "ask", QUESTION, "--answer", "77")
    assert wrong.returncode == 1 and "options" in wrong.stderr and "--answer 77" in wrong.stderr


@pytest.mark.parametrize("typed", ["1\n", "\n"])
def test_a_person_at_the_terminal_is_asked_and_what_waits_is_resumed(home: Path, typed: str) -> None:
    def model(body) -> Say:
        told = json.dumps(body["messages"])
        if "The user answered: All loans" not in told:
            return Say(json.dumps({"tool": "ask_user", "args": {"question": "Which ones?", "options": ["All loans", "All cards"]}}))
        if "Observation of run_sql" not in told:
            return Say(json.dumps({"tool": "run_sql", "args": {"sql": "SELECT count(*) AS n FROM loan"}}))
        return Say(json.dumps({"final_answer": "There are 682 loans."}))

    with Server([model]) as server:
        env = os.environ | {
            "LEXSI_DS_HOME": str(home), "LEXSI_DS_LLM_BASE_URL": server.url, "LEXSI_DS_LLM_MODEL": "m",
            "LEXSI_DS_LLM_TOOLS": "json",
        }  # fmt: skip
        ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "lexsi_ds", "ask", "How many are there of them?"]
        with subprocess.Popen(command, cwd=REPO, env=env, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE) as process:
            os.close(theirs)
            seen = ""
            while "Your answer" not in seen:
                seen += os.read(ours, 4096).decode()
            os.write(ours, typed.encode())
            assert process.stdout is not None
            out = process.stdout.read().decode()
            os.close(ours)
        assert process.wait() == 0
    assert "Which ones?" in out and "1. All loans" in out
    assert ("There are 682 loans." in out) is (typed != "\n") and ("--answer 1" in out) is (typed == "\n")
