"""Many findings at once: each with its own outcome, to a file and back."""

from __future__ import annotations

import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import BadInput
from lexsi_ds.services import finding_band
from lexsi_ds.services.finding_batch import FindingBatch
from tests.findings.conftest import ADA, POSITIVE, Importing


@pytest.fixture
def batch(app: Application) -> FindingBatch:
    return FindingBatch(app.findings, app.datasets)


def test_each_of_many_has_its_own_outcome(app: Application, batch: FindingBatch, importing: Importing) -> None:
    dataset = importing()
    made = [app.findings.propose(ADA, dataset_id=dataset, title=f"R{i}", statement="S.") for i in range(4)]
    app.findings.retire(ADA, made[1].id, 1)
    app.findings.edit(ADA, made[2].id, 1, statement="Other.")
    outcomes = batch.decide(ADA, [(f.id, 1) for f in made] + [("fnd_no", 1)], "accepted", note="All at once.")
    assert [o.done for o in outcomes] == [True, False, False, True, False]
    assert [o.title for o in outcomes] == ["R0", "R1", "R2", "R3", "fnd_no"] and "edited it" in outcomes[2].said
    assert [app.findings.get(ADA, f.id).review for f in made] == ["accepted", "pending", "pending", "accepted"]


def test_findings_go_to_a_file_and_come_back_as_proposals(
    app: Application, batch: FindingBatch, importing: Importing
) -> None:
    dataset, other = importing("sales"), importing("copies")
    first = app.findings.propose(ADA, dataset_id=dataset, title="Prices: above 0", statement="Ž, “price”.", check_sql=POSITIVE)
    band = finding_band.band_of("SELECT avg(price) AS value, count(*) AS n FROM dataset", 1.0, None)
    second = app.findings.propose(
        ADA, dataset_id=dataset, title="Mean", statement="M.", band=band, columns=("price",), depends_on=(first.id,)
    )
    app.findings.decide(ADA, first.id, 1, "accepted")
    text = batch.to_yaml(ADA, [app.findings.get(ADA, f.id) for f in (first, second)])
    same = batch.from_yaml(ADA, text.replace("dataset: sales", f"dataset: {dataset}"))
    assert [(o.done, o.said) for o in same] == [(True, "there already")] * 2
    copied = batch.from_yaml(ADA, text.replace("dataset: sales", f"dataset: {other}"))
    assert all(o.done for o in copied), copied
    back = [app.findings.get(ADA, o.finding_id or "") for o in copied]
    assert [f.review for f in back] == ["pending", "pending"], "a file's word is no review"
    assert (back[0].statement, back[0].check_sql) == (first.statement, POSITIVE)
    assert back[1].band == band and back[1].depends_on == (back[0].id,) and back[1].verdict == "holds"


def test_what_is_wrong_in_a_file_is_told_item_by_item(app: Application, batch: FindingBatch, importing: Importing) -> None:
    dataset = importing()
    text = f"""
findings:
  - {{dataset: {dataset}, title: Good, statement: It is good.}}
  - {{dataset: {dataset}, title: No sentence}}
  - {{dataset: nowhere, title: T, statement: S.}}
  - {{dataset: {dataset}, title: Bad, statement: S., check_sql: "SELECT * FROM read_text('/etc/passwd')"}}
  - {{dataset: {dataset}, title: Odd, statement: S., owner: me}}
  - {{dataset: {dataset}, title: Rests, statement: S., depends_on: [Nothing]}}
"""
    assert [o.done for o in batch.from_yaml(ADA, text)] == [True, False, False, False, False, False]
    assert [f.title for f in app.findings.of_dataset(ADA, dataset)] == ["Good"]


@pytest.mark.parametrize("text", [
    "", "findings: 3", "findings: [1]", "- a", "{", "findings: !!python/object/apply:os.system ['true']",
    "a: &a [x, x]\nb: &b [*a, *a]\nfindings: [*b]", "findings:\n  - {title: \x00}", "[" * 5000, "x" * 2_100_000,
])
def test_a_file_that_is_none_is_refused(batch: FindingBatch, text: str) -> None:
    with pytest.raises(BadInput):
        batch.from_yaml(ADA, text)


def test_a_written_result_stands_in_the_trail_with_its_rows_and_version(app: Application, importing: Importing) -> None:
    dataset = importing()
    _, source = app.datasets.resolve(ADA, dataset)
    handle = app.catalog.handle(ADA, source.id)
    sql = "SELECT * FROM sales"
    app.exports.result(ADA, app.sql.run(handle, sql), handle, sql, "csv")
    lines, _ = app.audit.lines(ADA, action="download", limit=1)
    assert (lines[0].person, lines[0].target, lines[0].detail["rows"]) == ("ada", source.id, 4)
    assert handle.snapshot_id in lines[0].detail["snapshot"]
