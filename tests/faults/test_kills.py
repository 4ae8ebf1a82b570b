"""Kill -9 of a process under load, at random moments: nothing confirmed is lost, no decision is taken twice, every page opens."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from lexsi_ds import application as application_module
from lexsi_ds.application import Application
from lexsi_ds.jobs.pool import Pool
from lexsi_ds.services.model_training import TrainRequest
from lexsi_ds.settings import Settings
from tests.app.test_model_results import write_clients
from tests.conftest import REPO
from tests.faults.loaded import QUESTION, Confirmed

pytestmark = pytest.mark.xdist_group("faults")
PAGES = tuple(f"pages/{path.name}" for path in sorted((REPO / "pages").glob("*.py")))


def test_four_kills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _kill_many(tmp_path, 4, monkeypatch)


@pytest.mark.slow
def test_a_hundred_kills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _kill_many(tmp_path, int(os.environ.get("LEXSI_TEST_KILLS", "100")), monkeypatch)


def _kill_many(folder: Path, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(home=folder / "home", sql_workers=1)
    pool, rng, confirmed = Pool(settings), random.Random(11), Confirmed(folder / "confirmed")
    seen: dict[str, int] = {}
    first = Application(settings, pool)
    handle = first.catalog.import_source(first.person(), "files", "Clients", [write_clients(folder / "clients.csv")])
    first.training.train(first.person(), handle, TrainRequest(target="churn", model_type="Logistic"))
    first.set_active_source(first.person(), handle.source_id)
    _leave(first)
    for kill in range(times):
        command = [sys.executable, "-m", "tests.faults.loaded", str(settings.home), str(folder / "confirmed"), handle.source_id]
        process = subprocess.Popen(command, cwd=REPO, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        assert process.stdout is not None and process.stdout.readline() == b"at work\n"
        _await_lines(confirmed, len(confirmed.said()) + kill % 4)  # so that also a slow machine has something to lose
        time.sleep(rng.uniform(0, 1.0))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        app = Application(settings, pool)
        seen = _check(app, confirmed)
        print(f"kill {kill + 1}: {seen}", flush=True)
        if kill % 25 == 24 or kill == times - 1:
            _open_pages(app, monkeypatch)
        _leave(app)
    pool.close()
    print(f"{times} kills: {seen}")


def _await_lines(confirmed: Confirmed, wanted: int) -> None:
    ends = time.monotonic() + 20
    while len(confirmed.said()) < wanted and time.monotonic() < ends:
        time.sleep(0.02)


def _leave(app: Application) -> None:
    app.runs.close()
    app.store.close()


def _check(app: Application, confirmed: Confirmed) -> dict[str, int]:
    actor, lines = app.person(), confirmed.said()
    by: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        by.setdefault(line["kind"], []).append(line)
    assert not by.get("broke"), "work failed before the kill"
    for line in by.get("import", [])[-8:]:
        table = app.catalog.handle(actor, line["id"]).tables[0]
        assert table.rows == line["rows"] and len(app.catalog.preview(actor, line["id"], table.name, 5)) == 5
    for line in by.get("model", [])[-8:]:
        assert app.models.get(actor, line["id"]).card.id == line["id"]
    for line in by.get("turn", []):
        last = app.chats.events(actor, line["id"], 0, 0)[-1]
        assert (last["type"], last["state"], last["answer"]) == ("done", line["state"], line["answer"])
    over = {line["id"] for line in by.get("turn", [])}
    interrupted = [line for line in by.get("asked", []) if line["id"] not in over]
    for line in interrupted:
        assert app.chats.events(actor, line["id"], 0, 0)[-1]["state"] in ("interrupted", "answered")
    if interrupted:  # and can be asked again
        again = app.chats.ask(actor, interrupted[-1]["conversation"], QUESTION, by_source(app, actor))
        app.chats.stop(actor, again)
    decided = {line["id"] for line in by.get("decided", [])}
    for line in by.get("proposed", []):
        taken = [step for step in app.findings.history(actor, line["id"]) if step.action == "accepted"]
        assert len(taken) <= 1, "a decision was taken twice"
        assert line["id"] not in decided or len(taken) == 1, "a confirmed decision is lost"
    assert not app.chats.live(actor)
    return {kind: len(found) for kind, found in by.items()} | {"interrupted": len(interrupted)}


def by_source(app: Application, actor: Any) -> str:
    """The source that is asked."""
    found = app.active_source(actor)
    assert found is not None
    return found


def _open_pages(app: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(application_module, "_application", app)
    drawn = AppTest.from_file(str(REPO / "app.py"), default_timeout=60).run()
    for page in (None, *PAGES):
        if page is not None:
            drawn.switch_page(page).run()
        assert not drawn.exception, (page, drawn.exception)
        assert not [e.value for e in drawn.error], page
