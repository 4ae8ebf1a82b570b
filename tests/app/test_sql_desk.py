"""The editor's SQL: read only, and nothing of a masked column comes out by any way of writing it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import SqlRefused
from lexsi_ds.services.column_shapes import ColumnShapes
from lexsi_ds.services.sql_desk import SqlDesk
from lexsi_ds.settings import Settings

pytestmark = pytest.mark.xdist_group("pages")
LEAKS = (
    "SELECT * FROM people",
    "SELECT p.email AS x FROM orders o JOIN people p USING (id)",
    "SELECT upper(email) AS x FROM people",
    "WITH z AS (SELECT * FROM people) SELECT email FROM z",
    "SELECT people FROM people",
    "SELECT (SELECT max(email) FROM people) AS x",
    "SELECT * FROM (orders JOIN people USING (id))",
    "SELECT list(email) AS x FROM people",
    "SELECT id FROM orders UNION ALL SELECT email FROM people",
)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    folder = tmp_path_factory.mktemp("desk")
    people = "\n".join(f"{i},secret{i}@example.org,{i * 1.5},2020-{1 + i % 12:02d}-03" for i in range(120))
    (folder / "people.csv").write_text(f"id,email,amount,day\n{people}")
    (folder / "orders.csv").write_text("oid,id\n" + "\n".join(f"{i},{i % 50}" for i in range(100)))
    running = Application(Settings(home=folder / "home", sql_workers=1))
    handle = running.catalog.import_source(
        running.person(), "files", "Shop", [folder / "people.csv", folder / "orders.csv"]
    )
    table = handle.table("people")
    assert table is not None
    running.catalog.mark_column(running.person(), table.dataset_id, "email", masked=True)
    running.set_active_source(running.person(), handle.source_id)
    yield running
    running.close()


@pytest.mark.parametrize("sql", LEAKS)
def test_a_masked_value_never_comes_out(app: Application, sql: str) -> None:
    source = app.active_source(app.person()) or ""
    rows = SqlDesk(app.catalog, app.sql).run(app.person(), source, sql).arrow().to_pylist()
    assert rows
    assert "secret" not in str(rows) and "example.org" not in str(rows)


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE people",
        "SELECT * FROM read_csv('/etc/passwd')",
        "WITH people AS (SELECT * FROM people) SELECT email FROM people",
        "SELECT * FROM people TABLESAMPLE 5 ROWS",
    ],
)
def test_what_writes_reads_files_or_hides_a_masked_table_is_refused(app: Application, sql: str) -> None:
    with pytest.raises(SqlRefused):
        SqlDesk(app.catalog, app.sql).run(app.person(), app.active_source(app.person()) or "", sql)


def test_columns_have_small_counts_that_add_up_and_masked_ones_have_none(app: Application) -> None:
    handle = app.active_handle(app.person())
    assert handle is not None
    people = handle.table("people")
    assert people is not None
    shapes = ColumnShapes(app.settings.home, app.sql)
    found = shapes.of(people)
    assert "email" not in found
    assert sum(found["amount"]) == sum(found["day"]) == 120
    assert shapes.ready(people) and shapes.of(people) == found
