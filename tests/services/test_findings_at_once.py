"""Exactly one decision, however many threads and processes press at once."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.errors import Conflict
from lexsi_ds.services.access import ALL_RIGHTS, Actor
from lexsi_ds.services.findings import Findings
from lexsi_ds.store.db import Store

from .conftest import ADA, OwnsAll, Shelf

DECISIONS = ("accepted", "rejected")


@pytest.fixture
def findings(store: Store, shelf: Shelf, sql: SqlRunner) -> Findings:
    return Findings(store, shelf, sql, OwnsAll())


def _proposed(findings: Findings, shelf: Shelf) -> str:
    table = shelf.put("SELECT 1 AS amount")
    return findings.propose(ADA, dataset_id=table.dataset_id, title="T", statement="S.").id


def test_eight_people_decide_at_once_and_one_wins(findings: Findings, shelf: Shelf) -> None:
    for _ in range(5):
        finding_id = _proposed(findings, shelf)
        won, lost, gate = [], [], threading.Barrier(8)

        def press(n: int, finding_id: str = finding_id, won=won, lost=lost, gate=gate) -> None:
            actor = Actor(f"p{n}", f"Person {n}", ALL_RIGHTS)
            gate.wait()
            try:
                won.append(findings.decide(actor, finding_id, 1, DECISIONS[n % 2]))
            except Conflict:
                lost.append(n)

        threads = [threading.Thread(target=press, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(won), len(lost)) == (1, 7)
        steps = findings.history(ADA, finding_id)
        assert [s.action for s in steps] == ["proposed", won[0].review]
        assert findings.get(ADA, finding_id) == won[0]


def test_one_person_clicks_eight_times_at_once_and_each_click_sees_the_one_decision(
    findings: Findings, shelf: Shelf
) -> None:
    finding_id = _proposed(findings, shelf)
    seen, gate = [], threading.Barrier(8)

    def press() -> None:
        gate.wait()
        seen.append(findings.decide(ADA, finding_id, 1, "accepted"))

    threads = [threading.Thread(target=press) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8 and len({f.row_version for f in seen}) == 1
    assert [s.action for s in findings.history(ADA, finding_id)] == ["proposed", "accepted"]


_PROCESS = """
import sys, pathlib, time
from lexsi_ds.errors import Conflict
from lexsi_ds.services.access import ALL_RIGHTS, Actor
from lexsi_ds.services.findings import Findings
from lexsi_ds.store.db import Store
from tests.services.conftest import OwnsAll
url, folder, name, decision, *ids = sys.argv[1:]
findings = Findings(Store(url), None, None, OwnsAll())
findings.counts(Actor(name, name, ALL_RIGHTS))
(pathlib.Path(folder) / f"{name}.ready").touch()
while not (pathlib.Path(folder) / "go").exists():
    time.sleep(0.001)
for finding_id in ids:
    try:
        findings.decide(Actor(name, name, ALL_RIGHTS), finding_id, 1, decision)
        print("won")
    except Conflict:
        print("conflict")
"""


def test_two_processes_decide_at_once_and_one_wins(
    store: Store, findings: Findings, shelf: Shelf, tmp_path: Path
) -> None:
    ids = [_proposed(findings, shelf) for _ in range(20)]
    started = [
        subprocess.Popen(
            [sys.executable, "-c", _PROCESS, store.url.render_as_string(hide_password=False), str(tmp_path), name, decision, *ids],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for name, decision in zip(("ada", "ben"), DECISIONS, strict=True)
    ]
    while not all((tmp_path / f"{name}.ready").exists() for name in ("ada", "ben")):
        assert all(process.poll() is None for process in started), started[0].stderr
    (tmp_path / "go").touch()
    results = []
    for process in started:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        results.append(out.split())
    for finding_id, outcome in zip(ids, zip(*results, strict=True), strict=True):
        assert sorted(outcome) == ["conflict", "won"]
        steps = findings.history(ADA, finding_id)
        assert len(steps) == 2 and steps[1].person == ("ada" if outcome[0] == "won" else "ben")
        assert findings.get(ADA, finding_id).review == steps[1].action


def test_a_decision_survives_a_restart(store: Store, findings: Findings, shelf: Shelf, sql: SqlRunner) -> None:
    finding_id = _proposed(findings, shelf)
    decided = findings.decide(ADA, finding_id, 1, "accepted", note="Kept.")
    store.close()
    reopened = Store(store.url.render_as_string(hide_password=False))
    reopened.migrate()
    assert Findings(reopened, shelf, sql, OwnsAll()).get(ADA, finding_id) == decided
    reopened.close()


def test_a_check_that_ran_while_somebody_decided_is_kept_and_so_is_the_decision(
    store: Store, shelf: Shelf, sql: SqlRunner
) -> None:
    table = shelf.put("SELECT 1 AS amount")
    decided = []

    class Slow(SqlRunner):
        """Decides in the middle of the first check that is run again."""

        def __init__(self) -> None:
            self.calls = 0

        def frame_on_table(self, *args, **kwargs):
            self.calls += 1
            if self.calls == 2:
                decided.append(findings.decide(ADA, finding.id, 1, "accepted"))
            return sql.frame_on_table(*args, **kwargs)

    findings = Findings(store, shelf, Slow(), OwnsAll())
    finding = findings.propose(
        ADA, dataset_id=table.dataset_id, title="T", statement="S.", check_sql="SELECT * FROM dataset WHERE amount < 0"
    )
    checked = findings.run_check(ADA, finding.id)
    assert decided and (checked.review, checked.verdict, checked.row_version) == ("accepted", "holds", 3)
    assert checked.last_check is not None and finding.last_check is not None
    assert checked.last_check.ran_at > finding.last_check.ran_at


def test_a_check_of_an_older_text_is_dropped(store: Store, shelf: Shelf, sql: SqlRunner) -> None:
    table = shelf.put("SELECT 1 AS amount")

    class Slow(SqlRunner):
        def __init__(self) -> None:
            self.calls = 0

        def frame_on_table(self, *args, **kwargs):
            self.calls += 1
            if self.calls == 2:
                findings.edit(ADA, finding.id, 1, check_sql="SELECT * FROM dataset WHERE amount > 0")
            return sql.frame_on_table(*args, **kwargs)

    findings = Findings(store, shelf, Slow(), OwnsAll())
    finding = findings.propose(
        ADA, dataset_id=table.dataset_id, title="T", statement="S.", check_sql="SELECT * FROM dataset WHERE amount < 0"
    )
    checked = findings.run_check(ADA, finding.id)
    assert (checked.version, checked.verdict) == (2, "violated")
    assert [s.action for s in findings.history(ADA, finding.id)] == ["proposed", "edited"]
