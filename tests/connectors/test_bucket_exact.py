"""Files of a bucket, copied and in place: values that DuckDB alone would read wrong are exact, left out by name, or refused."""

from __future__ import annotations

import io
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lexsi_ds.application import Application
from lexsi_ds.services.access import LOCAL
from tests.connectors.conftest import Store

pytestmark = pytest.mark.xdist_group("connectors")
Rows = Callable[[Any, str], list[tuple[Any, ...]]]


def put(store: Store, key: str, **columns: pa.Array) -> None:
    buffer = io.BytesIO()
    pq.write_table(pa.table(dict(columns)), buffer)
    store.client.put_object(Bucket="lake", Key=f"shop/{key}", Body=buffer.getvalue())


def test_wide_decimals_of_a_bucket_are_exact_when_copied_and_left_out_by_name_in_place(
    app: Application, moto: Store, rows: Rows
) -> None:
    kind = pa.decimal256(40, 2)
    put(moto, "wide_1.parquet", i=pa.array([1, 2]), d=pa.array([Decimal("1.25"), Decimal("-3.00")], type=kind))
    put(moto, "wide_2.parquet", i=pa.array([3]), d=pa.array([Decimal("2.50")], type=kind))
    copied = app.connectors.connect(LOCAL, "s3", moto.config())
    handle = app.connectors.ingest_tables(LOCAL, copied.id, ["wide_*.parquet", "wide_1.parquet"])
    assert rows(handle, "SELECT i, CAST(d AS VARCHAR) FROM wide ORDER BY i") == [(1, "1.25"), (2, "-3.00"), (3, "2.50")]
    assert rows(handle, "SELECT CAST(sum(d) AS VARCHAR) FROM wide_1") == [("-1.75",)]
    assert "d: declared as decimal(40,2)" in "\n".join(app.catalog.notes(LOCAL, copied.id))
    live = app.connectors.connect(LOCAL, "s3", moto.config(), in_place=True)
    handle = app.connectors.ingest_tables(LOCAL, live.id, ["wide_*.parquet"])
    assert [c.name for c in handle.tables[0].columns] == ["i"] and rows(handle, "SELECT sum(i) FROM wide") == [(6,)]
    assert "d: left out in place" in "\n".join(app.catalog.notes(LOCAL, live.id))
