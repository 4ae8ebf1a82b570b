"""What a run made has an address: pages of rows, whole CSV, JSON; whose it is, what is masked and too large hold there too."""

from __future__ import annotations

import csv
import io

import pytest

from lexsi_ds.server import artifact_api
from tests.server.conftest import Served, ask, frames

pytestmark = pytest.mark.xdist_group("demo")


@pytest.fixture(scope="module")
def made(bank: Served, demo_handle) -> dict[str, str]:
    """A run's id, and those of its query's rows and of its reading."""
    events = frames(ask(bank, "Number of loans by status", source_id=demo_handle.source_id).text)
    found = {e["name"]: e["artifact_ids"][0] for e in events if e["type"] == "tool_result" and e["artifact_ids"]}
    return {"run": events[0]["run_id"], "rows": found["run_sql"], "reading": found["text_to_sql"]}


def get(bank: Served, run_id: str, artifact_id: str, query: str = "", token: str | None = None):
    with bank.client(token) as client:
        return client.get(f"/api/runs/{run_id}/artifacts/{artifact_id}{query}")


def test_rows_come_in_pages_and_as_a_whole_csv(bank: Served, made) -> None:
    whole = get(bank, made["run"], made["rows"]).json()
    assert whole["row_count"] == len(whole["rows"]) == 4 and not whole["truncated"] and whole["tool"] == "run_sql"
    page = get(bank, made["run"], made["rows"], "?offset=1&limit=2").json()
    assert page["rows"] == whole["rows"][1:3] and page["truncated"] and page["row_count"] == 4
    answer = get(bank, made["run"], made["rows"], "?format=csv")
    assert answer.headers["content-type"].startswith("text/csv") and answer.headers["cache-control"] == "no-store"
    told = list(csv.reader(io.StringIO(answer.text.lstrip("\ufeff"))))
    assert told[0] == [c["name"] for c in whole["columns"]] and len(told) == 5
    reading = get(bank, made["run"], made["reading"]).json()
    assert reading["kind"] == "json" and "SELECT" in reading["content"]["sql"]


def test_what_is_not_there_and_what_is_not_yours_are_told_alike(bank: Served, made, demo_handle) -> None:
    other = frames(ask(bank, "How many cards?", source_id=demo_handle.source_id).text)[0]["run_id"]
    unknown = get(bank, made["run"], made["rows"][:-1] + ("0" if made["rows"][-1] != "0" else "1"))
    for run_id, artifact_id in ((other, made["rows"]), (made["run"], "..%2F..%2Fetc%2Fpasswd"), (made["run"], "art_x")):
        answer = get(bank, run_id, artifact_id)
        assert answer.status_code == unknown.status_code == 404
    strange = get(bank, made["run"], made["rows"], token="key-of-ben-000000000000000000")
    nothing = get(bank, "run_" + made["run"][4:][::-1], made["rows"], token="key-of-ben-000000000000000000")
    assert strange.status_code == nothing.status_code == 404 and strange.json() == nothing.json()


@pytest.mark.parametrize("query", ["?format=xlsx", "?limit=10001", "?limit=-1", "?offset=x", "?path=/etc/passwd"])
def test_a_wrong_query_says_what_is_wrong(bank: Served, made, query: str) -> None:
    answer = get(bank, made["run"], made["rows"], query)
    assert answer.status_code == 400 and answer.json()["error"]["code"] == "bad_input"
    assert get(bank, made["run"], made["reading"], "?format=csv").status_code == 400


def test_what_is_too_large_is_refused(bank: Served, made, monkeypatch) -> None:
    monkeypatch.setattr(artifact_api, "MOST_BYTES", 20)
    for query in ("", "?format=csv"):
        answer = get(bank, made["run"], made["rows"], query)
        assert answer.status_code == 413 and answer.json()["error"]["code"] == "too_large"


@pytest.mark.parametrize(("sql", "left"), [
    ("SELECT city, person FROM people", {"city"}), ("SELECT person AS p FROM people", set()), ("SELECT city FROM people", None),
])
def test_values_of_masked_columns_stay(bank: Served, tmp_path, sql: str, left) -> None:
    app = bank.app
    (tmp_path / "people.csv").write_text("city,person\n" + "".join(f"Brno,secret-{i}\n" for i in range(9)))
    handle = app.catalog.import_source(app.person(), "files", "people", [tmp_path / "people.csv"])
    app.catalog.mark_column(app.person(), handle.tables[0].dataset_id, "person", masked=True)
    conversation = app.chats.new(app.person(), handle.source_id)
    run_id = app.chats.ask(app.person(), conversation, "mine", handle.source_id, given={"kind": "sql", "sql": sql})
    events = []
    while not events or events[-1]["type"] != "done":
        events = app.chats.events(app.person(), run_id, 0, 5)
    rows = next(a for e in events if e["type"] == "tool_result" and e["name"] == "run_sql" for a in e["artifact_ids"])
    body, text = get(bank, run_id, rows), get(bank, run_id, rows, "?format=csv")
    assert "secret-" not in body.text and "secret-" not in text.text
    if left is None:
        assert len(body.json()["rows"]) == 9 and text.status_code == 200
    else:
        assert body.json()["rows"] == [] and body.json()["row_count"] == 9 and body.json()["notes"] and text.status_code == 400
