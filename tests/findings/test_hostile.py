"""Checks, texts and names of people who mean harm: none reads beyond its data set, outlives its limits or hides what it is."""

from __future__ import annotations

import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import BadInput, LexsiError, SqlRefused
from lexsi_ds.services import finding_band
from tests.findings.conftest import ADA, Importing

REFUSED = [
    "SELECT * FROM read_csv('/etc/passwd')", "SELECT * FROM '/etc/passwd'", "SELECT * FROM read_blob('/proc/self/environ')",
    "SELECT * FROM glob('/*')", "COPY dataset TO '/tmp/x'", "ATTACH '/tmp/x.duckdb'", "INSTALL httpfs", "SET memory_limit='90GB'",
    "SELECT * FROM duckdb_settings()", "SELECT * FROM duckdb_tables()", "SELECT * FROM information_schema.tables",
    "SELECT * FROM query_table('other')", "SELECT * FROM query('SELECT 1')", "SELECT getenv('HOME')", "PRAGMA database_list",
    "SELECT * FROM other", "SELECT * FROM dataset JOIN other USING (sale_id)", "SELECT * FROM main.other",
    "SELECT (SELECT count(*) FROM other) FROM dataset", "WITH dataset AS (SELECT 1) SELECT * FROM dataset; SELECT 1",
    "SELECT * FROM dataset; DROP TABLE dataset", "1) AS v; DROP TABLE data; --", "SELECT * FROM sqlite_scan('/x', 'y')",
    "CREATE TABLE x AS SELECT 1", "UPDATE dataset SET price = 1", "EXPLAIN ANALYZE SELECT 1", "CALL pragma_version()",
    "SELECT * FROM dataset LIMIT 0",
]


@pytest.mark.parametrize("sql", REFUSED)
def test_a_check_that_reaches_out_is_refused_and_nothing_is_kept(app: Application, importing: Importing, sql: str) -> None:
    dataset = importing()
    importing("other")
    for call in (
        lambda: app.findings.propose(ADA, dataset_id=dataset, title="T", statement="S.", check_sql=sql),
        lambda: app.findings.propose(
            ADA, dataset_id=dataset, title="T", statement="S.", band=finding_band.band_of(sql, 1.0, None)
        ),
    ):
        with pytest.raises(LexsiError):
            call()
    assert app.findings.of_dataset(ADA, dataset) == ()


@pytest.mark.parametrize("sql", [
    "SELECT * FROM dataset WHERE length(repeat('x', 2000000000)) > 0",
    "SELECT * FROM dataset WHERE (SELECT max(a.i * b.i) FROM range(3000000) a(i), range(3000000) b(i)) > 0",
])
def test_a_check_that_eats_memory_or_spins_ends_as_an_error_and_the_next_one_runs(
    app: Application, importing: Importing, sql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = importing()
    monkeypatch.setattr(app.sql, "_settings", app.settings.model_copy(update={"sql_timeout_s": 3.0}), raising=False)
    finding = app.findings.propose(ADA, dataset_id=dataset, title="T", statement="S.", check_sql=sql)
    assert finding.verdict == "error" and finding.last_check is not None and finding.last_check.failure_count is None
    after = app.findings.propose(
        ADA, dataset_id=dataset, title="U", statement="S.", check_sql="SELECT * FROM dataset WHERE price < 0"
    )
    assert after.verdict == "holds"


@pytest.mark.parametrize("char", ["\u202e", "\u200b", "\u2066", "\x00", "\x1b", "\ufeff", "\U000e0041", "\u00ad", "\r\n"])
def test_characters_that_hide_or_turn_text_are_not_kept(app: Application, importing: Importing, char: str) -> None:
    dataset = importing()
    kept = app.findings.propose(ADA, dataset_id=dataset, title=f"A{char}B", statement=f"S{char}T.")
    assert char not in kept.title + kept.statement and kept.title in ("AB", "A B")
    app.datasets.describe(ADA, dataset, text=f"D{char}E")
    text = app.datasets.describe_dataset(ADA, dataset)["datasetContext"]
    assert char == "\r\n" or char not in text
    if char != "\r\n":
        with pytest.raises((BadInput, SqlRefused)):
            app.findings.propose(ADA, dataset_id=dataset, title="T", statement="S.", check_sql=f"SELECT * FROM dataset -- {char}")
