"""Text files of a bucket in place: equal to a copy, cell by cell, or refused with the reason and what to do instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import BadInput, LexsiError
from lexsi_ds.services.access import LOCAL
from tests.connectors.conftest import Store

pytestmark = pytest.mark.xdist_group("connectors")
Rows = Callable[[Any, str], list[tuple[Any, ...]]]

EQUAL: dict[str, tuple[bytes, list[str], list[tuple[str, ...]]]] = {
    "digits.csv": (b"n,m\n9007199254740993,18446744073709551615\n5,6\n", ["n", "m"],
                   [("5", "6"), ("9007199254740993", "18446744073709551615")]),
    "miss.csv": (b"id,v\n1,?\n2,NA\n3,-\n4,7\n", ["id", "v"], [("1", "~"), ("2", "~"), ("3", "~"), ("4", "7")]),
    "comma.csv": (b"id;v\n1;1,5\n2;2,25\n3;4,5\n", ["id", "v"], [("1", "1.5"), ("2", "2.25"), ("3", "4.5")]),
    "pct.csv": (b"id,v\n1,5%\n2,7%\n", ["id", "v"], [("1", "5"), ("2", "7")]),
    "truth.csv": (b"id,b,c\n1,t,12:30\n2,f,13:00\n", ["id", "b", "c"], [("1", "t", "12:30"), ("2", "f", "13:00")]),
    "nohead.csv": (b"1,2.5,7\n2,3.5,8\n3,4.5,9\n", ["column_1", "column_2", "column_3"],
                   [("1", "2.5", "7"), ("2", "3.5", "8"), ("3", "4.5", "9")]),
    "dup.csv": (b"a,a,b\n1,x,2\n3,y,4\n", ["a", "a_2", "b"], [("1", "x", "2"), ("3", "y", "4")]),
    "amb.csv": (b"id,d\n1,01/02/2021\n2,03/04/2021\n", ["id", "d"], [("1", "01/02/2021"), ("2", "03/04/2021")]),
    "dmy.csv": (b"id,d\n1,31.01.2021\n2,03.04.2021\n", ["id", "d"], [("1", "2021-01-31"), ("2", "2021-04-03")]),
    "zip.csv": (b"zip,v\n00501,1\n10001,2\n", ["zip", "v"], [("00501", "1"), ("10001", "2")]),
}
REFUSED = {
    "rag.csv": (b"id,v\n1,a\n2,b\n3,c,d\n4,e\n", "not stand in the table"),
    "total.csv": (b"item,n\na,1\nb,2\nTotal,3\n", "not stand in the table"),
    "east.csv": ("id,jm\u00e9no\n1,\u017dofie\n2,\u0158eho\u0159\n".encode("cp1250"), "encoding"),
}


@pytest.mark.parametrize("in_place", [False, True], ids=["copied", "in place"])
def test_text_reads_equal_copied_and_in_place(app: Application, moto: Store, rows: Rows, in_place: bool) -> None:
    for key, (body, _, _) in EQUAL.items():
        moto.client.put_object(Bucket="lake", Key=f"text/{key}", Body=body)
    connector = app.connectors.connect(LOCAL, "s3", moto.config(prefix="text"), in_place=in_place)
    handle = app.connectors.ingest_tables(LOCAL, connector.id, list(EQUAL))
    for key, (_, names, expected) in EQUAL.items():
        table = handle.table(key.removesuffix(".csv"))
        assert table is not None and [c.name for c in table.columns] == names, key
        cells = ", ".join(f"""coalesce(regexp_replace(CAST("{n}" AS VARCHAR), '[.]0$', ''), '~')""" for n in names)
        assert rows(handle, f'SELECT {cells} FROM "{table.name}" ORDER BY ALL') == expected, key


def test_several_files_in_place_are_one_table_by_one_plan(app: Application, moto: Store, rows: Rows) -> None:
    for number, body in enumerate((b"id;v\n1;1,5\n", b"id;v\n2;2,25\n3;NA\n")):
        moto.client.put_object(Bucket="lake", Key=f"text/part_{number}.csv", Body=body)
    connector = app.connectors.connect(LOCAL, "s3", moto.config(prefix="text"), in_place=True)
    handle = app.connectors.ingest_tables(LOCAL, connector.id, ["part_*.csv"])
    assert rows(handle, "SELECT count(*), sum(v) FROM part") == [(3, 3.75)]


@pytest.mark.parametrize("key", REFUSED)
def test_text_that_would_read_otherwise_in_place_is_refused_with_the_reason(app: Application, moto: Store, key: str) -> None:
    body, reason = REFUSED[key]
    moto.client.put_object(Bucket="lake", Key=f"text/{key}", Body=body)
    connector = app.connectors.connect(LOCAL, "s3", moto.config(prefix="text"), in_place=True)
    with pytest.raises(BadInput, match=reason) as caught:
        app.connectors.ingest_tables(LOCAL, connector.id, [key])
    assert "Load it instead" in caught.value.to_do


@pytest.mark.parametrize("late", [b"id,d,n\n1,31.01.2021,5\n2,soon,6\n", b"id,d,n\n1,31.01.2021,5\n2,01.02.2021,many\n"])
def test_a_file_that_is_written_otherwise_later_is_an_error_and_never_a_missing_value(
    app: Application, moto: Store, rows: Rows, late: bytes
) -> None:
    moto.client.put_object(Bucket="lake", Key="text/changes.csv", Body=b"id,d,n\n1,31.01.2021,5\n2,01.02.2021,6\n")
    connector = app.connectors.connect(LOCAL, "s3", moto.config(prefix="text"), in_place=True)
    handle = app.connectors.ingest_tables(LOCAL, connector.id, ["changes.csv"])
    assert rows(handle, "SELECT CAST(max(d) AS VARCHAR), sum(n) FROM changes") == [("2021-02-01", 11)]
    moto.client.put_object(Bucket="lake", Key="text/changes.csv", Body=late)
    with pytest.raises(LexsiError, match="not written any more"):
        app.sql.run(handle, "SELECT max(d), sum(n), count(*) FROM changes")


JSON = {
    "codes.jsonl": (b'{"zip": "90010", "n": 5, "d": "2021-04-03"}\n{"zip": "10002", "n": 6, "d": "2021-04-04"}\n',
                    ["zip", "n", "d"], [("10002", "6", "2021-04-04"), ("90010", "5", "2021-04-03")]),
    "nested.json": (b'[{"id": 1, "a": {"b": "x", "c": 2.5}, "l": [1, 2]}, {"id": 2, "a": {"b": "y", "c": 3}, "l": []}]',
                    ["id", "a_b", "a_c", "l"], [("1", "x", "2.5", "[1,2]"), ("2", "y", "3", "[]")]),
    "large.jsonl": (b'{"n": 18446744073709551615, "v": "1E5"}\n{"n": 7, "v": "2E3"}\n', ["n", "v"],
                    [("18446744073709551615", "1E5"), ("7", "2E3")]),
}  # fmt: skip
NO_JSON = {
    "broken.jsonl": b'{"a": 1}\n{"a": 2\n{"a": 3}\n',
    "deep.json": b'{"page": 1, "rows": [{"a": 1}, {"a": 2}]}',
    "odd.json": b'[{"a": "x\\u0000"}, {"a": "y"}]',
}


@pytest.mark.parametrize("in_place", [False, True], ids=["copied", "in place"])
def test_json_reads_equal_copied_and_in_place(app: Application, moto: Store, rows: Rows, in_place: bool) -> None:
    for key, (body, _, _) in JSON.items():
        moto.client.put_object(Bucket="lake", Key=f"json/{key}", Body=body)
    connector = app.connectors.connect(LOCAL, "s3", moto.config(prefix="json"), in_place=in_place)
    handle = app.connectors.ingest_tables(LOCAL, connector.id, list(JSON))
    for key, (_, names, expected) in JSON.items():
        table = handle.table(key.partition(".")[0])
        assert table is not None and [c.name for c in table.columns] == names, key
        cells = ", ".join(f"""regexp_replace(CAST("{n}" AS VARCHAR), '[.]0$', '')""" for n in names)
        assert rows(handle, f'SELECT {cells} FROM "{table.name}" ORDER BY ALL') == expected, key


@pytest.mark.parametrize("key", NO_JSON)
def test_json_that_would_read_otherwise_in_place_is_refused(app: Application, moto: Store, key: str) -> None:
    moto.client.put_object(Bucket="lake", Key=f"json/{key}", Body=NO_JSON[key])
    connector = app.connectors.connect(LOCAL, "s3", moto.config(prefix="json"), in_place=True)
    with pytest.raises(BadInput, match="would not read as an import reads it") as caught:
        app.connectors.ingest_tables(LOCAL, connector.id, [key])
    assert "Load it instead" in caught.value.to_do
