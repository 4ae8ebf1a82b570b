"""Parts of an answer as files: the script runs in a process of its own and gives the stored numbers; the report loads nothing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import BadInput, Denied, NotFound
from lexsi_ds.services.access import ALL_RIGHTS, Actor
from lexsi_ds.services.node_script import Step, literal, script

from .conftest import asked

pytestmark = pytest.mark.xdist_group("demo")


def _unpacked(app: Application, run_id: str, node: str, folder: Path) -> Path:
    made = app.node_exports.script(app.person(), run_id, node)
    with zipfile.ZipFile(made.path) as file:
        assert file.testzip() is None and not any(".." in name or name.startswith("/") for name in file.namelist())
        file.extractall(folder)
    assert made.bytes == made.path.stat().st_size and not (made.path.parent / "parts").exists()
    return folder


def _run(folder: Path) -> tuple[int, dict[str, dict], str]:
    """Run the script away from this code; its exit status and what it says of each part."""
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "LEXSI_DS_HOME")}
    done = subprocess.run([sys.executable, "-I", "recreate.py"], cwd=folder, env=env, capture_output=True, text=True, timeout=300,
                          check=False)
    return done.returncode, {line["node"]: line for line in map(json.loads, done.stdout.splitlines())}, done.stderr


def test_the_script_of_an_explanation_trains_scores_and_explains_again_with_the_stored_numbers(
    application: Application, predicted: str, tmp_path: Path
) -> None:
    folder = _unpacked(application, predicted, "explanation-1", tmp_path)
    status, said, errors = _run(folder)
    assert status == 0, (said, errors)
    assert list(said) == ["frame-1", "frame-2", "model-1", "predictions-1", "explanation-1"]
    assert all(s["same"] for s in said.values())
    assert (said["frame-1"]["rows"], said["predictions-1"]["rows"], said["explanation-1"]["cases"]) == (234, 448, 10)
    card = application.models.get(application.person(), str(
        application.lineage.of_run(application.person(), predicted).node("model-1").about_id
    ))
    assert said["model-1"]["value"] == pytest.approx(next(c for c in card.candidates if c.chosen).main.value, abs=1e-9)
    names = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert not any(n.startswith(("code/lexsi_ds/settings", "code/lexsi_ds/store", "code/lexsi_ds/services")) for n in names)
    assert "snapshot/table_1.parquet" in names and "== " not in (folder / "requirements.txt").read_text()


def test_the_script_of_a_query_needs_no_model_and_tells_when_the_data_is_another(
    application: Application, counted: str, tmp_path: Path
) -> None:
    folder = _unpacked(application, counted, "sql-1", tmp_path)
    assert not (folder / "code").exists() and "scikit-learn" not in (folder / "requirements.txt").read_text()
    assert pq.read_table(folder / "snapshot" / "table_1.parquet").num_rows == 682, "the whole table"
    status, said, errors = _run(folder)
    assert status == 0 and said["frame-1"] == {"node": "frame-1", "same": True, "rows": 4, "largest_difference": 0.0}, errors
    path = folder / "snapshot" / "table_1.parquet"
    pq.write_table(pq.read_table(path).slice(5), path)
    status, said, _ = _run(folder)
    assert status == 1 and not said["frame-1"]["same"]


def test_a_finding_is_checked_again(application: Application, demo_handle, counted: str, tmp_path: Path) -> None:
    me = application.person()
    draft = application.draft_finding(me, counted, demo_handle.source_id)
    assert draft is not None
    application.propose_finding(me, draft)
    status, said, errors = _run(_unpacked(application, counted, "finding-1", tmp_path))
    assert status == 0 and said["finding-1"]["same"] and said["finding-1"]["violating"] == 0, (said, errors)


def test_masked_values_are_in_no_export(application: Application, demo_handle, tmp_path: Path) -> None:
    """The demo's birth number is masked: rows that hang on it are refused, tables beside it hide it, the report shows none."""
    me, births = application.person(), application.sql.frame(demo_handle, "SELECT birth_number FROM client LIMIT 40")
    plain = asked(application, demo_handle.source_id, "How many clients are there per district?")
    graph = application.lineage.of_run(me, plain)
    folder = _unpacked(application, plain, graph.nodes[-1].id, tmp_path)
    assert _run(folder)[0] == 0
    tables = [pq.read_table(p) for p in (folder / "snapshot").iterdir()]
    hidden = next(t for t in tables if "birth_number" in t.column_names)
    assert set(hidden["birth_number"].to_pylist()) == {"•••"} and hidden.num_rows == 5369
    run_id = application.chats.ask(
        me, application.chats.new(me, demo_handle.source_id), "SQL", demo_handle.source_id,
        given={"kind": "sql", "sql": "SELECT client_id, birth_number FROM client"},
    )
    while application.chats.events(me, run_id, 0, 1.0)[-1]["type"] != "done":
        pass
    body = application.node_exports.report(me, run_id, "frame-1").decode()
    assert "masked values (birth_number)" in body and not any(str(b) in body for b in births["birth_number"])
    folder = _unpacked(application, run_id, "frame-1", tmp_path / "own")
    stored = pq.read_table(folder / "expected" / "frame-1.parquet")["birth_number"].to_pylist()
    assert _run(folder)[0] == 0 and set(stored) == {"•••"}


def test_rows_that_hang_on_masked_values_are_refused_with_the_column(application: Application, demo_handle) -> None:
    app, me, graph = application, application.person(), None
    run_id = asked(app, demo_handle.source_id, "How many loans by status?")
    graph = app.lineage.of_run(me, run_id)
    touching = "SELECT count(*) AS n FROM client WHERE birth_number > 500000"
    nodes = tuple(n.model_copy(update={"text": touching}) if n.kind == "sql" else n for n in graph.nodes)
    fake = replace_lineage(app, graph.model_copy(update={"nodes": nodes}))
    before = set((app.settings.home / "tmp" / "exports").glob("*/parts"))
    with pytest.raises(BadInput, match=r"masked values \(birth_number"):
        fake.script(me, run_id, "frame-1")
    left, end = set[Path](), time.monotonic() + 60
    while time.monotonic() < end:  # other tests export into the same home meanwhile: theirs go, one left behind would stay
        if not (left := set((app.settings.home / "tmp" / "exports").glob("*/parts")) - before):
            break
        time.sleep(0.5)
    assert not left, "nothing half made is left"


def replace_lineage(app: Application, graph):
    """The exports of an application in which every run has this graph."""
    import copy

    made = copy.copy(app.node_exports)
    made._lineage = type("Fixed", (), {"of_run": lambda self, actor, run_id: graph})()  # pyright: ignore[reportAttributeAccessIssue]
    return made


@pytest.mark.parametrize("node", ["explanation-1", "narrative-1"])
def test_the_report_stands_alone_and_says_how_it_was_made(application: Application, predicted: str, node: str) -> None:
    body = application.node_exports.report(application.person(), predicted, node).decode()
    assert "default-src &#x27;none&#x27;" in body or "default-src 'none'" in body
    assert not re.findall(r"<(?:script|img|link|iframe|form)\b|https?://", body)
    assert "How this was made" in body and "The first 100 of 234 rows." in body and "The first 100 of 448 rows." in body
    graph = application.lineage.of_run(application.person(), predicted)
    assert all(n.hash in body for n in graph.behind(node) if n.hash)


def test_words_of_the_question_are_text_in_report_and_script(application: Application, demo_handle, tmp_path: Path) -> None:
    question = 'How many loans by status? <script>alert(1)</script> """ {x} \\'
    run_id = asked(application, demo_handle.source_id, "How many loans by status?")
    graph = application.lineage.of_run(application.person(), run_id)
    nodes = tuple(n.model_copy(update={"text": question, "title": question} if n.kind == "question" else {}) for n in graph.nodes)
    fake = replace_lineage(application, graph.model_copy(update={"nodes": nodes}))
    body = fake.report(application.person(), run_id, "narrative-1").decode()
    assert "<script>" not in body and "&lt;script&gt;" in body
    with zipfile.ZipFile(fake.script(application.person(), run_id, "question-1").path) as file:
        file.extractall(tmp_path)
    assert _run(tmp_path)[0] == 0


@pytest.mark.parametrize("text", ['SELECT 1', 'a"""b', 'back\\slash', 'ends"', "two\nlines", "nul\x00", "cr\r\n", '{x} "" \u2028'])
def test_a_text_is_a_literal_that_gives_itself(text: str) -> None:
    import ast

    assert ast.literal_eval(literal(text)) == text
    ast.parse(script(text, text, {text: "table_1.parquet"}, [Step(node="frame-1", does="query", sql=text)]))


def test_exports_need_the_right_and_the_owner_and_leave_a_line(application: Application, counted: str) -> None:
    me = application.person()
    for export in (application.node_exports.script, application.node_exports.report):
        with pytest.raises(Denied):
            export(replace(me, rights=frozenset({"chats:read", "findings:read"})), counted, "frame-1")
        with pytest.raises(NotFound):
            export(Actor("eve", "Eve", ALL_RIGHTS), counted, "frame-1")
        export(me, counted, "frame-1")
    lines, _ = application.audit.lines(me, action="download", limit=2)
    assert [(line.target, line.person) for line in lines] == [(f"frame-1 of {counted}", me.id)] * 2
    assert {line.detail["rows"] for line in lines} == {682, 4} and all(line.detail["snapshot"] for line in lines)
