"""The quick way for large clean files: the same table as the careful way, whatever comes late."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexsi_ds.data import fast_text
from lexsi_ds.data.fast_text import scan_bytes
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
