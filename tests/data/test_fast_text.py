"""The quick way for large clean files: the same table as the careful way, whatever comes late."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from bench.files_ingest import _ROW
from lexsi_ds.data import fast_text
from lexsi_ds.data.fast_text import scan_bytes
from lexsi_ds.data.number_runs import NumberRuns, OddNumbers
from tests.data.conftest import Importing

_ROWS = 4_000  # more than the sample holds
_HEADER = "id,qty,price,day,at,ok,word\n"


def _body(rows: int = _ROWS) -> str:
    lines = (
        f"{i},{i % 90},{i / 4:.2f},20{10 + i % 12}-0{1 + i % 9}-1{i % 9},2020-01-02 10:{i % 60:02}:00,"
        f"{'true' if i % 2 else 'false'},w{i % 7}\n"
        for i in range(rows)
    )
    return "".join(lines)


_BODY = _body()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Take the quick way for any size; notes whether the careful one had to be taken after all."""
    monkeypatch.setattr(fast_text, "FAST_FROM", 0)
    monkeypatch.setattr(fast_text, "_SAMPLE", 20_000)
    seen: list[bool] = []
    careful = fast_text.read_text

    def count(con, path, *rest):
        seen.append(path.parent.name.startswith("sample_"))
        return careful(con, path, *rest)

    monkeypatch.setattr(fast_text, "read_text", count)
    return seen


def test_a_clean_file_is_read_once_with_its_types(csv: Importing, quick: list[bool]) -> None:
    read = csv(_HEADER + _BODY)
    assert quick == [True], "only the sample was read the careful way"
    assert read.types() == {
        "id": "BIGINT", "qty": "BIGINT", "price": "DOUBLE", "day": "DATE", "at": "TIMESTAMP", "ok": "BOOLEAN", "word": "VARCHAR"
    }  # fmt: skip
    assert read.rows(sql="SELECT count(*), sum(id), min(rowid = id) FROM data") == [(_ROWS, _ROWS * (_ROWS - 1) // 2, True)]
    assert read.table()["options"]["said"] == "comma, utf-8, header on line 1"


@pytest.mark.parametrize(
    ("line", "column", "kind", "value"),
    [
        ("1.7,1,1,2020-01-01,2020-01-02 10:00:00,true,w", "id", "DOUBLE", "1.7"),
        ("007,1,1,2020-01-01,2020-01-02 10:00:00,true,w", "id", "VARCHAR", "007"),
        ("-007,1,1,2020-01-01,2020-01-02 10:00:00,true,w", "id", "VARCHAR", "-007"),
        ("1_000,1,1,2020-01-01,2020-01-02 10:00:00,true,w", "id", "VARCHAR", "1_000"),
        ("x,1,1,2020-01-01,2020-01-02 10:00:00,true,w", "id", "VARCHAR", "x"),
        ("1,1,nan,2020-01-01,2020-01-02 10:00:00,true,w", "price", "DOUBLE", None),
        ("1,1,inf,2020-01-01,2020-01-02 10:00:00,true,w", "price", "VARCHAR", "inf"),
        ("1,1,1,2020-01-01 05:00,2020-01-02 10:00:00,true,w", "day", "TIMESTAMP", "2020-01-01 05:00:00"),
        ("1,1,1,infinity,2020-01-02 10:00:00,true,w", "day", "VARCHAR", "infinity"),
        ("1,1,1,2020-01-01,2020-01-02 10:00:00+02,true,w", "at", "VARCHAR", "2020-01-02 10:00:00+02"),
        ("1,1,1,2020-01-01,2020-01-02 10:00:00.5-05,true,w", "at", "VARCHAR", "2020-01-02 10:00:00.5-05"),
        ("1,1,1,2020-01-01,2020-01-02 10:00:00,1,w", "ok", "VARCHAR", "1"),
        ("1,1,1,2020-01-01,2020-01-02 10:00:00,true,?", "word", "VARCHAR", None),
        ("1,1,1,2020-01-01,2020-01-02 10:00:00,true,  ", "word", "VARCHAR", None),
        ("1E5,1,1,2020-01-01,2020-01-02 10:00:00,true,w", "id", "VARCHAR", "1E5"),
        ("1,1,12345678901234567.89,2020-01-01,2020-01-02 10:00:00,true,w", "price", "VARCHAR", "12345678901234567.89"),
        ("1,1,999999999999999.99,2020-01-01,2020-01-02 10:00:00,true,w", "price", "VARCHAR", "999999999999999.99"),
        ("1,1,-0.1234567890123456789,2020-01-01,2020-01-02 10:00:00,true,w", "price", "VARCHAR", "-0.1234567890123456789"),
        ("9007199254740993,1,1,2020-01-01,2020-01-02 10:00:00,true,w", "id", "BIGINT", "9007199254740993"),
    ],
)
def test_a_late_odd_value_is_read_as_the_careful_way_reads_it(
    csv: Importing, quick: list[bool], line: str, column: str, kind: str, value: str | None
) -> None:
    read = csv(_HEADER + _BODY + line + "\n")
    found = read.rows(sql=f'SELECT CAST("{column}" AS VARCHAR) FROM data ORDER BY rowid DESC LIMIT 1')
    assert (read.types()[column], found, read.table()["rows"]) == (kind, [(value,)], _ROWS + 1)
    assert quick[0] and quick[-1] is False, "it should have been read again"


def test_late_ragged_and_empty_lines_are_counted(csv: Importing, quick: list[bool]) -> None:
    read = csv(_HEADER + _BODY + "1,2\n" + ",,,,,,\n" + "5,5,5,2020-01-01,2020-01-02 10:00:00,true,w\n")
    assert (read.table()["rows"], read.table()["rejected"]) == (_ROWS + 1, 1)
    assert "1 empty row" in read.notes() and Path(read.table()["rejected_path"]).is_file()


def test_codes_with_leading_zeros_in_text_do_not_stop_the_quick_way(csv: Importing, quick: list[bool]) -> None:
    body = "".join(f'{i},0{i % 100:03},"a, b"\n' for i in range(_ROWS * 2))
    read = csv("n,code,t\n" + body)
    assert quick == [True] and read.types() == {"n": "BIGINT", "code": "VARCHAR", "t": "VARCHAR"}


def test_bytes_are_counted_alike_wherever_chunks_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("01,5\n-02,003\n0.5,0\n10,07\n" * 50)
    counts = set()
    for size in (3, 4, 5, 7, 64, 1 << 20):
        monkeypatch.setattr(fast_text, "_CHUNK", size)
        counts.add(scan_bytes(path, ","))
    assert len(counts) == 1 and counts.pop().zeros == 200


def test_decimals_as_programs_write_them_do_not_stop_the_quick_way(csv: Importing, quick: list[bool]) -> None:
    values = [repr(((i * 7919) % 10_007) / 10_007 / 10 ** (i % 4)) for i in range(_ROWS * 2)]
    read = csv("n,x\n" + "".join(f"{i},{v}\n" for i, v in enumerate(values)))
    assert quick == [True] and read.types() == {"n": "BIGINT", "x": "DOUBLE"}
    assert read.rows(sql="SELECT x FROM data ORDER BY n") == [(float(v),) for v in values]


def test_a_late_balance_beside_decimals_of_programs_is_seen(csv: Importing, quick: list[bool]) -> None:
    values = [repr(((i * 7919) % 10_007) / 10_007) for i in range(_ROWS * 2)]
    read = csv("n,x\n" + "".join(f"{i},{v}\n" for i, v in enumerate(values)) + "9,999999999999999.99\n")
    assert quick[-1] is False and read.rows(sql="SELECT x FROM data ORDER BY rowid DESC LIMIT 1") == [("999999999999999.99",)]


_HASHES = ("95272e7", '"12e5"', "0123e12", "7.1234567890123456789", "12345678901234567890e1", "9e9x", '"a 1e5 b,2E5,c"')


def test_texts_that_look_like_odd_numbers_do_not_stop_the_quick_way(csv: Importing, quick: list[bool]) -> None:
    rows = [f"{i},{i / 4},{_HASHES[i % 7] if i % 50 == 0 else f'w{i}'}\n" for i in range(_ROWS * 2)]
    read = csv("n,x,hash\n" + "".join(rows))
    assert quick == [True] and read.types() == {"n": "BIGINT", "x": "DOUBLE", "hash": "VARCHAR"}
    assert read.rows(sql="SELECT count(*), count(*) FILTER (WHERE hash = '12e5') FROM data") == [(_ROWS * 2, 23)]


def test_an_odd_number_beside_texts_that_look_alike_is_seen(csv: Importing, quick: list[bool]) -> None:
    rows = [f"{i},{_HASHES[i % 7] if i % 50 == 0 else f'w{i}'}\n" for i in range(_ROWS * 2)]
    read = csv("n,hash\n" + "".join(rows) + "12e5,w\n")
    assert quick[-1] is False and read.types()["n"] == "VARCHAR"


def test_the_file_of_the_bench_is_read_the_quick_way_however_its_hashes_fall(
    csv: Importing, quick: list[bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "made.csv"
    falls = "CASE WHEN id % 997 = 7 THEN '952720912701310482834544797583e7' ELSE token END AS token"
    duckdb.sql(f"COPY (SELECT * REPLACE ({falls}) FROM ({_ROW} FROM range({_ROWS}))) TO '{made}' (HEADER)")
    looked = []
    monkeypatch.setattr(fast_text, "scan_bytes", lambda *args, **kw: looked.append(scan_bytes(*args, **kw)) or looked[-1])
    read = csv(made.read_text())
    assert quick == [True], "one pass by DuckDB: only the sample was read the careful way"
    assert len(looked) == 1, "and one pass over the bytes"
    assert read.table()["rows"] == _ROWS and read.types()["token"] == "VARCHAR" and looked[0].odd.codes == 5


@pytest.mark.parametrize(
    ("cell", "odd"),
    [
        ("1E5", True), ("12e003", True), ("1.5E5", False), ("a1E5", False), ("1E5a", False), ("1E1000", False), ("-1E5", False),
        ("0.1234567890123456", True), ("0.0000123456789012345", False), ("1234567890.5000000000000", False),
        ("x12.345678901234567890", False), ("1.23456789012345678.9", False), ("12345678901234567890", False),
    ],
)  # fmt: skip
def test_odd_numbers_are_found_wherever_chunks_end(cell: str, odd: bool) -> None:
    data = f"abc,17,2.5\n{cell},1\n9,2".encode()
    for size in range(1, 40):
        runs = NumberRuns(ord(","), decimals=True, whole=True)
        parts = [data[i : i + size] for i in range(0, len(data), size)]
        found = sum((runs.count(part) for part in [*parts, b"\n"]), OddNumbers())
        assert found.codes + found.decimals == odd, size
