"""The catalog on the real application: refresh, compare, relationships, SQL, downloads, and a refusal to delete."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from components import exports, session, sql_box, sql_editor, sql_words, versions
from lexsi_ds.application import Application
from lexsi_ds.services.exports import CSV_STYLES
from lexsi_ds.settings import Settings
from tests.app.conftest import settled, words

pytestmark = pytest.mark.xdist_group("pages")


def write_shop(folder: Path, orders: int) -> None:
    """Customers and their orders; a customer has a name that must stay hidden."""
    folder.mkdir(exist_ok=True)
    people = "\n".join(f"{i},person{i}@example.org,{'north' if i % 2 else 'south'}" for i in range(1, 61))
    (folder / "customer.csv").write_text(f"customer_id,email,region\n{people}\n")
    rows = "\n".join(f"{i},{1 + i % 60},{i * 2.5}" for i in range(1, orders + 1))
    (folder / "orders.csv").write_text(f"order_id,customer_id,amount\n{rows}\n")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Application, Path]]:
    folder = tmp_path_factory.mktemp("catalog")
    write_shop(folder / "shop", 200)
    running = Application(Settings(home=folder / "home", sql_workers=1))
    handle = running.catalog.import_source(running.person(), "files", "Shop", [folder / "shop"])
    running.set_active_source(running.person(), handle.source_id)
    yield running, folder / "shop"
    running.close()


def tab(app: Application, open_page, name: str) -> Any:
    """The connect page with this tab of the active source open."""
    at = open_page(app, "connect")
    at.session_state[session.wkey("tabs", app.active_source(app.person()))] = f":gray[{name}]"
    return settled(at.run(timeout=60))


def wait_for(app: Application, at: Any) -> Any:
    until = time.monotonic() + 60
    while app.background.running() and time.monotonic() < until:
        time.sleep(0.05)
    return settled(at.run(timeout=60))


def test_columns_show_how_values_are_spread_and_take_a_target_and_a_meaning(shop, open_page) -> None:
    app, _ = shop
    at = tab(app, open_page, "Tables")
    at.session_state[session.PREVIEW_TABLE] = "orders"
    settled(at.run(timeout=60))
    shown = at.dataframe[0].value.set_index("Column")
    assert sum(shown.loc["amount", "Values"]) == 200
    table = app.active_handle(app.person()).table("orders")
    settled(at.selectbox(key=session.wkey("target", table.dataset_id, table.version)).set_value("amount").run(timeout=60))
    settled(at.text_input(key=session.wkey("about", table.dataset_id, table.version)).set_value("An order").run(timeout=60))
    described = app.datasets.describe_dataset(app.person(), table.dataset_id)
    assert (described["targetColumn"], described["datasetContext"]) == ("amount", "An order")


def test_relationships_are_drawn_rejected_and_taken_back(shop, open_page) -> None:
    app, _ = shop
    at = tab(app, open_page, "Relationships")
    assert "orders" in words(at) and "Found" in words(at)
    source = app.active_source(app.person())
    ends = next(r.ends for r in app.relations.of(app.person(), source).relations)
    key = session.wkey("relation", source, *ends)
    settled(at.button(key=f"{key}-reject").click().run(timeout=60))
    assert "Rejected" in words(at)
    assert not [r for r in app.relations.of(app.person(), source).relations if r.usable and r.ends == ends]
    settled(at.button(key=f"{key}-forget").click().run(timeout=60))
    assert [r for r in app.relations.of(app.person(), source).relations if r.usable and r.ends == ends]


def test_sql_runs_read_only_with_counts_and_is_refused_in_words(shop, open_page) -> None:
    app, _ = shop
    at = tab(app, open_page, "SQL")
    source = app.active_source(app.person())
    sql = "SELECT c.email, o.* FROM orders o JOIN customer c USING (customer_id)"
    at.session_state["lexsi.held"].desk = sql_editor.begin(app, app.person(), source, sql)
    at = wait_for(app, at)
    assert "200 rows" in words(at)
    assert set(at.dataframe[0].value["email"]) == {"•••"}, "masked when it was read"
    at.session_state["lexsi.held"].desk = sql_editor.begin(app, app.person(), source, "DROP TABLE orders")
    at = wait_for(app, at)
    assert "It did not run." in words(at)
    assert app.active_handle(app.person()).rows == 260


def test_the_editor_is_given_the_names_of_the_source_as_sql_takes_them(shop) -> None:
    app, _ = shop
    given = sql_words.words(app.active_handle(app.person()))
    tables = {t["name"]: t for t in given["tables"]}
    assert set(tables) == {"customer", "orders"}
    assert [c["sql"] for c in tables["orders"]["columns"]][:2] == ["order_id", "customer_id"]
    assert [c["name"] for c in tables["customer"]["columns"] if c["masked"]] == ["email"]
    assert sql_words.quoted("order") == '"order"' and sql_words.quoted('a "b') == '"a ""b"'
    assert "GROUP BY" in given["keywords"]


def test_what_the_script_sends_is_taken_as_text_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    for sent, taken in ((None, ""), ({"run": 5}, ""), ({"run": "SELECT 1"}, "SELECT 1"), ({"run": "x" * 30_000}, "x" * 20_000)):
        monkeypatch.setattr(session, "read", lambda key, default=None, sent=sent: sent)
        assert sql_box.given("k", "run") == taken


def test_every_format_holds_every_row(shop) -> None:
    app, _ = shop
    actor, handle = app.person(), app.active_handle(app.person())
    sql = "SELECT order_id, amount FROM orders"
    result = app.sql.run(handle, sql)

    def write(form, style):
        return app.exports.result(actor, result, handle, sql, form, style=style)

    german = CSV_STYLES["Semicolon, decimal comma, for Excel"]
    made = {form: exports._bytes(write, form, german)() for form in ("csv", "parquet", "xlsx")}
    rows = list(csv.reader(io.StringIO(made["csv"].decode("utf-8-sig")), delimiter=";"))
    assert made["csv"].startswith(b"\xef\xbb\xbf") and rows[1] == ["1", "2,5"] and len(rows) == 201
    assert pq.read_table(io.BytesIO(made["parquet"])).num_rows == 200
    book = pd.read_excel(io.BytesIO(made["xlsx"]), sheet_name=None, engine="calamine")
    assert len(book["Result"]) == 200 and sql in book["About"].to_string()


def test_a_refresh_makes_a_version_that_can_be_compared_and_the_old_one_deleted(shop, open_page) -> None:
    app, folder = shop
    source = app.active_source(app.person())
    write_shop(folder, 230)
    at = open_page(app, "connect")
    settled(at.button(key=f"source-{source}-refresh").click().run(timeout=60))
    at = wait_for(app, at)
    assert app.active_handle(app.person()).snapshot_number == 2
    assert "Version 2" in words(at)
    at = tab(app, open_page, "Versions")
    changes = next(d.value for d in at.dataframe if "Before" in d.value.columns)
    assert ["orders", "Rows", "200", "230"] in changes[["Table", "What", "Before", "After"]].values.tolist()
    settled(at.selectbox(key=f"versions-{source}-rows").set_value("orders").run(timeout=60))
    assert "By order_id: **30** came, **0** went, **0** changed." in words(at)
    settled(at.button(key=f"versions-{source}-prune").click().run(timeout=60))
    settled(at.button(key=f"versions-{source}-sure").click().run(timeout=60))
    assert len(app.versions.list(app.person(), source)) == 1


def test_differences_name_columns_that_came_went_and_changed(shop) -> None:
    app, _ = shop
    handle = app.active_handle(app.person())
    table = handle.table("orders")
    less = table.model_copy(update={"columns": table.columns[:2]})
    other = handle.model_copy(update={"tables": (less,)})
    said = [(c["Table"], c["What"]) for c in versions.differences(handle, other)]
    assert ("customer", "Table went") in said and ("orders", "Column amount went") in said
    assert versions.differences(handle, handle) == []


def _finding(app):
    """The accepted finding of these tests, made once."""
    actor, handle = app.person(), app.active_handle(app.person())
    if not app.findings.list(actor):
        app.findings.propose(
            actor, dataset_id=handle.table("orders").dataset_id, title="No order is free", statement="Each order costs something.",
            check_sql="SELECT * FROM dataset WHERE amount <= 0", source_id=handle.source_id,
        )
        made = app.findings.list(actor)[0]
        app.findings.decide(actor, made.id, made.row_version, "accepted")
    return app.findings.list(actor)[0]


def test_a_source_that_something_relies_on_says_so_and_stays(shop, open_page) -> None:
    app, _ = shop
    actor, handle = app.person(), app.active_handle(app.person())
    _finding(app)
    at = open_page(app, "connect")
    settled(at.button(key=f"source-{handle.source_id}-delete").click().run(timeout=60))
    at.button(key=f"source-{handle.source_id}-sure").click().run(timeout=60)
    assert "cannot be deleted" in words(at) and "No order is free" in words(at)
    assert app.catalog.sources(actor)


def test_a_finding_is_edited_with_its_new_check_tried_first(shop, open_page) -> None:
    app, _ = shop
    actor = app.person()
    finding = _finding(app)
    at = open_page(app, "findings", finding=finding.id)
    settled(at.button(key=f"finding-{finding.id}-edit").click().run(timeout=60))
    assert "Nothing is changed yet." in words(at)
    key = f"edit-{finding.id}-check"
    settled(at.text_area(key=key).set_value("SELECT * FROM dataset WHERE amount < 10").run(timeout=60))
    assert "3 rows" in words(at) and "would violate it now" in words(at) and "It goes back to review" in words(at)
    at.text_area(key=key).set_value("DELETE FROM dataset").run(timeout=60)
    assert not at.exception and at.error
    settled(at.text_area(key=key).set_value("SELECT * FROM dataset WHERE amount < 10").run(timeout=60))
    settled(at.button(key=f"edit-{finding.id}-save").click().run(timeout=60))
    edited = app.findings.get(actor, finding.id)
    assert (edited.verdict, edited.last_check.failure_count, edited.review) == ("violated", 3, "pending")
