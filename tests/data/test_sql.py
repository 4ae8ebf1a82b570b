"""Results of queries: every type arrives in pandas, files are whole, errors say what is near and no path."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.errors import BadInput, LexsiError, SqlFailed, SqlRefused
from lexsi_ds.jobs.pool import Pool
from tests.jobs.making import bank, settings


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> DatasetHandle:
    return bank(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def sql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlRunner]:
    its = settings(tmp_path_factory.mktemp("home"), sql_workers=1)
    pool = Pool(its)
    yield SqlRunner(pool, its)
    pool.close()


VALUES = {
    "huge integer": ("sum(i) FROM range(5) t(i)", 10, "int64"),
    "too huge an integer": ("170141183460469231731687303715884105727::HUGEINT", 1.7014118346046923e38, "float64"),
    "decimal": ("12.50::DECIMAL(10, 2)", 12.5, "float64"),
    "whole decimal": ("7::DECIMAL(18, 0)", 7, "int64"),
    "date": ("DATE '2020-02-29'", pd.Timestamp("2020-02-29"), "datetime64[ms]"),
    "timestamp": ("TIMESTAMP '2020-02-29 12:00:00'", pd.Timestamp("2020-02-29 12:00"), "datetime64[us]"),
    "timestamp with zone": ("TIMESTAMPTZ '2020-02-29 12:00:00+02'", pd.Timestamp("2020-02-29 10:00", tz="UTC"), None),
    "time": ("TIME '10:30:00'", None, None),
    "interval": ("INTERVAL 3 DAY", None, None),
    "list": ("[1, 2]", None, None),
    "struct": ("{'a': 1, 'd': DATE '2020-01-01'}", None, None),
    "map": ("map {'a': 1}", None, None),
    "enum": ("'a'::ENUM('a', 'b')", "a", None),
    "uuid": ("'4ee7f7d3-4839-4995-91d1-5fa44af4ef51'::UUID", "4ee7f7d3-4839-4995-91d1-5fa44af4ef51", None),
    "blob": ("'a'::BLOB", b"a", None),
    "bits": ("'101'::BIT", None, None),
    "null": ("NULL", None, None),
    "json": ("'{\"a\": 1}'::JSON", '{"a": 1}', None),
    "union": ("1::UNION(n INTEGER, t VARCHAR)", "1", None),
    "infinite date": ("'infinity'::DATE", None, None),
    "date before Christ": ("'0044-03-15 (BC)'::DATE", None, None),
    "infinite timestamp": ("'-infinity'::TIMESTAMP", None, None),
    "not a number": ("'nan'::DOUBLE", None, "float64"),
    "boolean": ("true", True, "bool"),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_value_of_any_type_arrives_and_can_be_shown(name: str, sql: SqlRunner, source: DatasetHandle) -> None:
    expression, expected, dtype = VALUES[name]
    frame = sql.frame(source, f"SELECT {expression}")
    assert frame.shape == (1, 1)
    assert frame.to_string()
    if expected is not None:
        assert frame.iloc[0, 0] == expected
    if dtype is not None:
        assert str(frame.dtypes.iloc[0]) == dtype


def test_columns_carry_their_names_and_types_also_twice_the_same(sql: SqlRunner, source: DatasetHandle) -> None:
    result = sql.run(source, "SELECT 1 AS a, 'x' AS a, 2.5::DECIMAL(4, 1) AS \"b c\"")
    assert [(column.name, column.type) for column in result.columns] == [
        ("a", "INTEGER"),
        ("a", "VARCHAR"),
        ("b c", "DECIMAL(4,1)"),
    ]
    assert list(result.frame().columns) == ["a", "a", "b c"]


def test_a_result_is_whole_and_its_head_is_its_first_rows(sql: SqlRunner, source: DatasetHandle) -> None:
    result = sql.run(source, "SELECT i, i * 2 AS j FROM range(200000) t(i) ORDER BY i")
    assert result.row_count == 200_000
    assert result.arrow().num_rows == 200_000
    assert result.frame()["j"].sum() == 2 * sum(range(200_000))
    assert result.head(3)["i"].tolist() == [0, 1, 2]


def test_an_empty_result_keeps_its_columns(sql: SqlRunner, source: DatasetHandle) -> None:
    frame = sql.frame(source, "SELECT * FROM loan WHERE false")
    assert list(frame.columns) == ["loan_id", "amount", "status", "granted", "rate", "note"]
    assert len(frame) == 0


def test_the_file_is_where_it_was_asked_for_and_no_partial_one_stays(
    sql: SqlRunner,
    source: DatasetHandle,
    tmp_path: Path,
) -> None:
    result = sql.run(source, "FROM loan", out=tmp_path / "deep" / "rows.arrow")
    assert result.path == tmp_path / "deep" / "rows.arrow"
    assert [path.name for path in result.path.parent.iterdir()] == ["rows.arrow"]


def test_a_small_query_leaves_no_file(sql: SqlRunner, source: DatasetHandle) -> None:
    sql.frame(source, "FROM loan")
    before = set(sql._pool.scratch.rglob("*.arrow"))
    sql.frame(source, "FROM loan")
    assert set(sql._pool.scratch.rglob("*.arrow")) == before


def test_one_table_is_seen_as_dataset_and_under_its_name(sql: SqlRunner, source: DatasetHandle) -> None:
    loan = source.tables[0]
    result = sql.run_on_table(loan, "SELECT count(*) FROM dataset JOIN loan USING (loan_id)")
    assert result.frame().iloc[0, 0] == 12
    with pytest.raises(SqlRefused, match="no table named order"):
        sql.run_on_table(loan, 'SELECT * FROM "order"')
    named = loan.model_copy(update={"name": "Dataset"})
    assert sql.frame_on_table(named, "SELECT max(loan_id) FROM dataset").iloc[0, 0] == 11


FAILURES = {
    "SELECT ammount FROM loan": 'Did you mean "amount"',
    "SELECT l.statuss FROM loan l": 'Did you mean "status"',
    "SELECT status, sum(amount) FROM loan": "GROUP BY",
    "SELECT sum(status) FROM loan": "No function matches",
    "SELECT note::INT FROM loan": "try_cast",
    "SELECT * FROM loan WHERE granted > 'soon'": "date",
}


@pytest.mark.parametrize("text", FAILURES)
def test_a_failing_query_says_what_is_near_and_neither_path_nor_value(
    text: str,
    sql: SqlRunner,
    source: DatasetHandle,
) -> None:
    with pytest.raises(SqlFailed) as failed:
        sql.run(source, text)
    said = str(failed.value)
    assert FAILURES[text] in said
    assert not any(secret in said for secret in ("_lexsi_", ".duckdb", "/", "'n1'", "n11", "LINE 1"))


def test_a_broken_data_file_says_whose_it_is(sql: SqlRunner, source: DatasetHandle, tmp_path: Path) -> None:
    broken = tmp_path / "broken.duckdb"
    broken.write_bytes(b"not a database" * 1000)
    with pytest.raises(BadInput, match="data file of table loan cannot be opened") as failed:
        sql.run_on_table(source.tables[0].model_copy(update={"path": broken}), "SELECT 1 FROM dataset")
    assert str(tmp_path) not in str(failed.value)


def test_after_an_error_the_same_snapshot_works_on(sql: SqlRunner, source: DatasetHandle) -> None:
    for _ in range(5):
        with pytest.raises(LexsiError):
            sql.run(source, "SELECT nope FROM loan")
        assert sql.frame(source, "SELECT count(*) FROM loan").iloc[0, 0] == 12
        assert sql.frame(source, "PIVOT loan ON status USING count(*) GROUP BY granted").shape == (12, 5)


def test_any_number_of_processes_read_a_snapshot_at_once(sql: SqlRunner, source: DatasetHandle) -> None:
    sql.frame(source, "FROM loan")
    with duckdb.connect(str(source.tables[0].path), read_only=True) as con:
        assert con.execute("SELECT count(*) FROM data").fetchone() == (12,)


def test_times_are_read_in_utc_whatever_the_machine(sql: SqlRunner, source: DatasetHandle) -> None:
    frame = sql.frame(source, "SELECT (TIMESTAMPTZ '2020-06-01 23:30:00-02')::DATE AS d")
    assert frame.loc[0, "d"].date() == date(2020, 6, 2)


def test_a_worker_of_the_smallest_memory_still_answers(source: DatasetHandle, tmp_path: Path) -> None:
    its = settings(tmp_path, sql_workers=1, sql_memory_mb=512)
    pool = Pool(its)
    try:
        assert SqlRunner(pool, its).frame(source, "SELECT sum(amount) FROM loan").iloc[0, 0] == 6600
    finally:
        pool.close()
