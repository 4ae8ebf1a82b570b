"""``train`` and ``score`` as a person or a program uses them: real processes, JSON alone on stdout, exit status by outcome."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from .conftest import write_loans

REPO = Path(__file__).resolve().parents[2]


def run(home: Path, *args: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"LEXSI_DS_HOME": str(home), "PYTHONPATH": str(REPO)}
    return subprocess.run(
        [sys.executable, "-m", "lexsi_ds", *args], cwd=REPO, env=env, capture_output=True, text=True, timeout=240, check=False
    )


@pytest.fixture(scope="module")
def cli_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cli")


@pytest.fixture(scope="module")
def trained(cli_home: Path, loans: Path) -> dict:
    done = run(cli_home, "train", str(loans), "--target", "bad", "--entity", "loan_id", "--model-type", "Logistic", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_train_prints_one_object_with_the_card(trained: dict) -> None:
    assert trained["schema_version"] == 1 and trained["state"] == "trained" and trained["name"] == "Logistic_v1"
    card = trained["card"]
    assert card["rows"] == 300 and card["id"] == trained["model_id"] and card["task"]["target_column"] == "y_bad"


def test_score_writes_every_row_and_prints_one_object(cli_home: Path, trained: dict, tmp_path: Path) -> None:
    write_loans(tmp_path / "new.csv", 80, seed=3, first=7_000, outcome=False)
    out = tmp_path / "scores.csv"
    done = run(cli_home, "score", str(tmp_path / "new.csv"), "--model", "Logistic_v1", "--out", str(out), "--json")
    assert done.returncode == 0, done.stderr
    body = json.loads(done.stdout)
    assert body["state"] == "scored" and body["model_id"] == trained["model_id"] and body["out"] == str(out)
    assert body["predictions"]["row_count"] == 80 and len(body["predictions"]["top"]) == 10
    written = pd.read_csv(out)
    assert len(written) == 80 and written["probability"].is_monotonic_decreasing
    assert written["loan_id"].tolist()[:10] == [row["loan_id"] for row in body["predictions"]["top"]]


def test_score_says_in_words_what_must_be_known_first(cli_home: Path, trained: dict, tmp_path: Path) -> None:
    write_loans(tmp_path / "new.csv", 30, seed=3, first=7_000)
    pd.read_csv(tmp_path / "new.csv").assign(colour="red").to_csv(tmp_path / "new.csv", index=False)
    done = run(cli_home, "score", str(tmp_path / "new.csv"), "--model", trained["model_id"])
    assert done.returncode == 0 and "30 rows" in done.stdout and "colour" in done.stdout


@pytest.mark.parametrize(("args", "words"), [
    (["score", "{loans}", "--model", "Nope"], "no such model"),
    (["score", "{missing}", "--model", "Logistic_v1"], ""),
    (["score", "{loans}", "--model", "Logistic_v1", "--out", "/nonexistent/x.csv"], "folder"),
    (["train", "{loans}", "--target", "nope"], "no column"),
])
def test_what_cannot_be_done_is_said_and_ends_with_one(
    cli_home: Path, trained: dict, loans: Path, tmp_path: Path, args: list[str], words: str
) -> None:
    filled = [a.format(loans=loans, missing=tmp_path / "missing.csv") for a in args]
    done = run(cli_home, *filled, "--json")
    assert done.returncode == 1 and words in json.loads(done.stdout)["answer"].casefold()
    assert "Traceback" not in done.stderr + done.stdout


def test_data_that_cannot_carry_a_model_is_refused_with_two(cli_home: Path, tmp_path: Path) -> None:
    (tmp_path / "few.csv").write_text("a,b,y\n" + "\n".join(f"{i},{i * 2},{i % 2}" for i in range(9)), encoding="utf-8")
    done = run(cli_home, "train", str(tmp_path / "few.csv"), "--target", "y", "--json")
    body = json.loads(done.stdout)
    assert done.returncode == 2 and body["state"] == "refused" and "rows" in body["answer"]
    (tmp_path / "one.csv").write_text("a,y\n" + "\n".join(f"{i},no" for i in range(50)), encoding="utf-8")
    done = run(cli_home, "train", str(tmp_path / "one.csv"), "--target", "y")
    assert done.returncode == 2 and "nothing to tell apart" in done.stdout


def test_the_documented_commands_are_understood() -> None:
    from lexsi_ds.__main__ import _parser

    text = (REPO / "docs" / "models_registry.md").read_text("utf-8")
    commands = re.findall(r"^python -m lexsi_ds (.+)$", text, re.M)
    assert len(commands) == 3
    for command in commands:
        assert callable(_parser().parse_args(shlex.split(command)).command)


def test_ten_rows_of_one_column_are_refused_for_their_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEXSI_DS_HOME", str(tmp_path / "home"))
    (tmp_path / "ten.csv").write_text("a,y\n" + "".join(f"{i},{i % 2}\n" for i in range(10)))
    done = subprocess.run(
        [sys.executable, "-m", "lexsi_ds", "train", str(tmp_path / "ten.csv"), "--target", "y"], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stdout + done.stderr
    assert "10" in done.stdout and "Exclude fewer" not in done.stdout + done.stderr
