"""The command line as a person or a program uses it: real processes, JSON alone on stdout, exit status by state."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.agent.scripted import NORTH_STAR

REPO = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.xdist_group("demo")


def run(home: Path, *args: str, cwd: Path = REPO, **more: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"LEXSI_DS_HOME": str(home), "PYTHONPATH": str(REPO)} | more
    return subprocess.run(
        [sys.executable, "-m", "lexsi_ds", *args],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.fixture
def home(shared_home: Path, demo_handle) -> Path:
    """The shared home, with the demo bank built."""
    return shared_home


def test_how_many_accounts_takes_three_steps(home: Path) -> None:
    done = run(home, "ask", "How many accounts?", "--json")
    body = json.loads(done.stdout)
    assert done.returncode == 0 and body["state"] == "answered" and "4,500" in body["answer"]
    assert [s["tool"] for s in body["steps"]] == ["text_to_sql", "run_sql", "summarize_result"]
    assert body["result"]["rows"] == [[4500]] and body["result"]["row_count"] == 1 and not body["result"]["truncated"]
    assert "INFO" not in done.stderr, done.stderr
    assert body["predictions"] is None and body["xai"] is None and body["schema_version"] == 1 and body["sql"]
    nodes = {n["id"]: n for n in body["graph"]["nodes"]}
    assert list(nodes) == ["question-1", "sql-1", "frame-1", "narrative-1"] and nodes["sql-1"]["text"] == body["sql"]
    assert nodes["frame-1"]["rows"] == 1 and all(n["hash"] for n in nodes.values()) and body["graph"]["snapshot_id"]


def test_the_north_star_runs_its_ten_steps_and_says_what_day_one_asks(home: Path) -> None:
    done = run(home, "ask", NORTH_STAR, "--json")
    body = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert [s["tool"] for s in body["steps"]] == [
        "inspect_data",
        "query_kg",
        "text_to_sql",
        "run_sql",
        "run_sql",
        "train_tabular_model",
        "predict",
        "explain_prediction",
        "summarize_result",
    ]
    predictions = body["predictions"]
    assert predictions["row_count"] == 448 and predictions["ranked_count"] == 403 and len(predictions["top"]) == 10
    assert {row["status"] for row in predictions["top"]} == {"C"}
    probabilities = [row["probability"] for row in predictions["top"]]
    assert probabilities == sorted(probabilities, reverse=True)
    assert len(body["xai"]) == 10
    for case in body["xai"]:
        assert sum(d["contribution"] for d in case["drivers"]) + case["base_value"] == pytest.approx(
            case["prediction"], abs=1e-4
        )
        assert not any(
            "gender" in d["feature"] or "birth" in d["feature"] or "status" in d["feature"] for d in case["drivers"]
        )
    for word in ("403", "45", "apart", "refit", "ROC AUC", "234", "31"):
        assert word in body["answer"], word


def test_the_same_question_gives_the_same_answer_on_one_and_two_threads(home: Path) -> None:
    bodies = [json.loads(run(home, "ask", NORTH_STAR, "--json", LEXSI_DS_THREADS=t).stdout) for t in ("1", "2")]
    for body in bodies:
        body.pop("run_id")
        body["graph"] = [(n["id"], n["kind"], n["made_from"]) for n in body["graph"]["nodes"]]  # content names its own model
        for step in body["steps"]:
            step.pop("seconds")
            step["summary"] = re.sub(r"mdl_[\w-]+|XGBoost_v\d+|Logistic_v\d+", "MODEL", step["summary"])
    assert bodies[0] == bodies[1]


def test_the_meaning_of_life_is_refused_before_any_tool(home: Path) -> None:
    done = run(home, "ask", "What's the meaning of life?", "--json")
    body = json.loads(done.stdout)
    assert done.returncode == 2 and body["state"] == "refused" and body["steps"] == []


def test_explaining_a_paid_loan_says_that_it_trained_the_model(home: Path) -> None:
    body = json.loads(run(home, "ask", "Explain loan 4959", "--json").stdout)
    assert body["state"] == "answered" and body["xai"][0]["case_id"] == "4959"
    assert "training" in body["answer"] and "out of fold" in body["answer"] and "status A" in body["answer"]


def test_a_question_of_twenty_thousand_characters_is_refused_clearly(home: Path) -> None:
    done = run(home, "ask", "How many accounts? " * 1100, "--json")
    assert done.returncode == 2 and "characters" in json.loads(done.stdout)["answer"]


def test_a_file_of_questions_gives_an_object_a_line_in_order(home: Path, tmp_path: Path) -> None:
    lines = [
        '{"question": "How many accounts?"}',
        "not json",
        '{"question": "How many loans?", "context": "a hint"}',
        '{"context": "x"}',
    ]
    (tmp_path / "q.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = run(home, "ask", "--file", str(tmp_path / "q.jsonl"))
    bodies = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and [b["state"] for b in bodies] == ["answered", "failed", "answered", "failed"]
    assert bodies[2]["result"]["rows"] == [[682]]


def test_a_csv_file_is_a_data_set_of_its_own(home: Path, tmp_path: Path) -> None:
    (tmp_path / "fruit.csv").write_text("name,price\napple,3\npear,5\nplum,\n", encoding="utf-8")
    body = json.loads(run(home, "ask", "How many rows?", "--dataset", str(tmp_path / "fruit.csv"), "--json").stdout)
    assert body["state"] == "answered" and body["result"]["rows"] == [[3]]
    again = json.loads(
        run(home, "ask", "What is the average price?", "--dataset", str(tmp_path / "fruit.csv"), "--json").stdout
    )
    assert again["result"]["rows"][0][0] == 4.0


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.csv", b"", "empty"),
        ("binary.csv", bytes(range(256)) * 40, ""),
        ("missing.csv", None, ""),
    ],
)
def test_bad_files_get_a_clear_message(
    home: Path, tmp_path: Path, name: str, content: bytes | None, words: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    done = run(home, "ask", "How many rows?", "--dataset", str(tmp_path / name), "--json")
    body = json.loads(done.stdout)
    assert done.returncode == 1 and body["state"] == "failed" and words in body["answer"].casefold()
    assert "Traceback" not in done.stderr + done.stdout


def test_inspect_says_what_is_there(home: Path) -> None:
    body = json.loads(run(home, "inspect", "demo", "--json").stdout)
    assert {t["name"]: t["rows"] for t in body["tables"]} == {
        "account": 4500,
        "card": 892,
        "client": 5369,
        "disp": 5369,
        "district": 77,
        "loan": 682,
        "order": 6471,
        "trans": 1_056_320,
    }
    assert body["synthetic"] and body["today"] == "1998-12-31"
    text = run(home, "inspect", "demo")
    assert text.returncode == 0 and "loan (682 rows)" in text.stdout


def test_the_readme_commands_run(home: Path) -> None:
    commands = re.findall(r"^python -m lexsi_ds (.+)$", (REPO / "README.md").read_text(encoding="utf-8"), re.M)
    assert len(commands) >= 3
    servers = {"serve", "mcp"}
    assert servers <= set(commands), "they go on until they are stopped: the tests of the server start them"
    for command in commands:
        if command in servers:
            continue
        import shlex

        done = run(home, *shlex.split(command))
        assert done.returncode == 0 and done.stdout.strip(), done.stderr


def test_the_real_bank_gives_its_own_counts(home: Path, shared_data: Path) -> None:
    body = json.loads(run(home, "ask", NORTH_STAR, "--dataset", str(shared_data / "berka"), "--json").stdout)
    assert (
        body["state"] == "answered"
        and body["predictions"]["row_count"] == 448
        and body["predictions"]["ranked_count"] == 403
    )


def test_ctrl_c_stops_with_130_and_leaves_no_worker(home: Path) -> None:
    env = os.environ | {"LEXSI_DS_HOME": str(home), "PYTHONPATH": str(REPO)}
    process = subprocess.Popen(
        [sys.executable, "-m", "lexsi_ds", "ask", NORTH_STAR],
        cwd=REPO,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "Calling train_tabular_model" in line:
            break
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130


def test_the_app_and_the_command_line_share_one_home(home: Path, application) -> None:
    person = application.person()
    handle = application.catalog.ensure_demo(person)
    conversation = application.chats.new(person, handle.source_id)
    run_id = application.chats.ask(person, conversation, "How many loans?", handle.source_id)
    body = json.loads(run(home, "ask", "How many accounts?", "--json").stdout)
    assert body["state"] == "answered"
    events: list[dict] = []
    while not events or events[-1]["type"] != "done":
        events += application.chats.events(person, run_id, len(events), 1.0)
    assert events[-1]["state"] == "answered"


@pytest.mark.parametrize(
    "setting", [{"LEXSI_DS_MAX_COLUMNS": "many"}, {"LEXSI_DS_HOME": "/proc/nope"}, {"LEXSI_DS_LOG_LEVEL": "LOUD"}]
)
def test_a_setting_that_cannot_be_used_is_named(home: Path, setting: dict[str, str]) -> None:
    done = run(Path(setting.get("LEXSI_DS_HOME", home)), "ask", "How many accounts?", "--json", **setting)
    body = json.loads(done.stdout)
    assert done.returncode == 1 and body["state"] == "failed" and next(iter(setting)) in body["answer"]
    assert "Traceback" not in done.stderr


def test_a_reader_that_stops_early_is_no_error(home: Path) -> None:
    env = os.environ | {"LEXSI_DS_HOME": str(home), "PYTHONPATH": str(REPO)}
    command = f"{sys.executable} -m lexsi_ds inspect demo | head -n 1"
    done = subprocess.run(command, shell=True, cwd=REPO, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert "Traceback" not in done.stderr and "Demo bank" in done.stdout
