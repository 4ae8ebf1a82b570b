"""Passwords and keys with marks in them: after everything that can go well and wrong, no file, log or text holds one."""

from __future__ import annotations

import json
import logging
import os
import traceback
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from lexsi_ds.agent.loop import AgentLoop
from lexsi_ds.application import Application
from lexsi_ds.data.connectors.scrub import scrub
from lexsi_ds.data.connectors.secrets import VAULT
from lexsi_ds.errors import BadInput, LexsiError
from lexsi_ds.ids import new_id
from lexsi_ds.services.access import LOCAL
from lexsi_ds.settings import Settings
from tests.agent.scripted import ScriptedPlanner, call
from tests.connectors.conftest import MARKERS, PASSWORD, WRONG, Store, mysql_config, postgres_config
from tests.connectors.servers import Server

pytestmark = pytest.mark.xdist_group("connectors")


def forms(secret: str) -> set[bytes]:
    """A secret as it may be written in SQL, JSON, a URL or a Python text."""
    texts = {secret, secret.replace("'", "''"), secret.replace("'", "\\'"), quote(secret, safe=""), quote_plus(secret),
             json.dumps(secret)[1:-1], repr(secret)[1:-1]}
    return {t.encode() for t in texts} | {t.encode("utf-16-le") for t in texts}


def assert_clean(where: str, body: bytes) -> None:
    for secret in MARKERS:
        for form in forms(secret):
            assert form not in body, f"a secret stands in {where}"


def files_of(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_no_secret_is_left_anywhere(
    tmp_path: Path, postgres: Server, mariadb: Server, nanio: Store, caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    app = Application(Settings(home=tmp_path / "home"))
    said: list[str] = []
    told: list[dict[str, object]] = []

    def attempt(work: Callable[[], object]) -> None:
        try:
            said.append(repr(work()))
        except LexsiError as error:
            said.append(f"{error} {error!r} {error.args} " + "".join(traceback.format_exception(error)))

    try:
        c = app.connectors
        good = {"postgres": postgres_config(postgres), "mysql": mysql_config(mariadb), "s3": nanio.config()}
        wrong = {"postgres": {"password": WRONG}, "mysql": {"password": WRONG}, "s3": {"aws_secret_access_key": WRONG}}
        for kind, config in good.items():
            tables = ["plain.csv", "sales_*.parquet"] if kind == "s3" else ["orders" if kind == "mysql" else "public.orders"]
            files = tables if kind == "s3" else []
            attempt(lambda k=kind, v=config, f=files: c.connect(LOCAL, k, {**v, **wrong[k]}, files=f))
            attempt(lambda k=kind, v=config, f=files: c.connect(LOCAL, k, {**v, "port": 1, "surplus": PASSWORD}, files=f))
            attempt(lambda k=kind, v=config: c.connect(LOCAL, k, {**v, "host": PASSWORD, "bucket": PASSWORD}))
            attempt(lambda k=kind, v=config, f=files: c.connect(LOCAL, k, v, files=f))
            connector = c.list(LOCAL)[0]
            attempt(lambda i=connector.id: c.list_connector_tables(LOCAL, i))
            attempt(lambda i=connector.id, t=tables: c.ingest_tables(LOCAL, i, t, tell=told.append))
            attempt(lambda i=connector.id: c.ingest_tables(LOCAL, i, ["no such.csv"]))
            attempt(lambda i=connector.id: c.refresh(LOCAL, i, tell=told.append))
            attempt(lambda i=connector.id: c.unlock(LOCAL, i, {"password": WRONG}))
            if kind != "mysql":
                attempt(lambda k=kind, v=config, f=files: c.connect(LOCAL, k, v, files=f, in_place=True))
                live = c.list(LOCAL)[0]
                attempt(lambda i=live.id, t=tables: c.ingest_tables(LOCAL, i, t, tell=told.append))
                handle = app.catalog.handle(LOCAL, live.id)
                said.append(handle.model_dump_json())
                for sql in ("SELECT * FROM nothing", "SELECT * FROM duckdb_secrets()", "SELECT 1/0", "SELECT CAST('x' AS INT)"):
                    attempt(lambda h=handle, s=sql: app.sql.run(h, s))
        for pid in app.pool.pids():
            said.append(Path(f"/proc/{pid}/environ").read_bytes().decode("latin-1"))
            said.append(Path(f"/proc/{pid}/cmdline").read_bytes().decode("latin-1"))
        seen = {path: path.read_bytes() for path in files_of(tmp_path)}
    finally:
        app.close()
    assert len(said) > 30 and told
    assert sum("Error" in text or "BadInput" in text for text in said) > 8
    for path, body in (seen | {path: path.read_bytes() for path in files_of(tmp_path)}).items():
        assert_clean(path.name, body)
    out, err = capfd.readouterr()
    for name, text in (("what was said", "\n".join(said)), ("progress", str(told)), ("the log", caplog.text), ("stdout", out),
                       ("stderr", err)):
        assert_clean(name, text.encode())
    assert any(path.name == "workers.log" for path in seen) and any(path.name == "store.sqlite" for path in seen)


def test_a_key_given_to_the_chat_tool_is_in_no_event_no_later_prompt_and_no_artifact(
    app: Application, nanio: Store, tmp_path: Path
) -> None:
    (tmp_path / "before.csv").write_text("a,b\n1,2\n")
    ctx = app.answering.context(app.catalog.import_source(LOCAL, "files", "b", [tmp_path / "before.csv"]), new_id("run"), tmp_path)
    planner = ScriptedPlanner([
        call("connect_datalake", **nanio.config(files=["nothing.csv"])),
        call("connect_datalake", **nanio.config(files=["plain.csv"], surplus=nanio.secret)),
        call("connect_datalake", **nanio.config(files=["plain.csv"])),
        call("inspect_data"),
    ])
    events = list(AgentLoop(planner).stream("Use my bucket lake", ctx))
    assert ctx.dataset.table("plain") is not None
    assert_clean("events", "\n".join(event.model_dump_json() for event in events if event.type != "tool_result").encode())
    assert_clean("results", "\n".join(event.model_dump_json() for event in events).encode())
    assert_clean("what the planner saw", repr(planner.seen).encode())


def test_only_variables_meant_for_connectors_may_be_named(
    app: Application, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = {k: v for k, v in postgres_config(postgres).items() if k != "password"}
    monkeypatch.setenv("LEXSI_DS_LLM_API_KEY", "must-not-travel")
    for name in ("LEXSI_DS_LLM_API_KEY", "PATH", "HOME", "lexsi_connector_x", "LEXSI_CONNECTOR_X\nPATH"):
        with pytest.raises(BadInput, match="do not read an environment variable"):
            app.connectors.connect(LOCAL, "postgres", {**config, "password_env": name})
    with pytest.raises(BadInput, match="is not set"):
        app.connectors.connect(LOCAL, "postgres", {**config, "password_env": "LEXSI_CONNECTOR_SHOP"})
    monkeypatch.setenv("LEXSI_CONNECTOR_SHOP", PASSWORD)
    kept = app.connectors.connect(LOCAL, "postgres", {**config, "password_env": "LEXSI_CONNECTOR_SHOP"})
    VAULT.forget(kept.id)
    assert app.connectors.get(LOCAL, kept.id).ready
    assert app.connectors.list_connector_tables(LOCAL, kept.id)


def test_after_a_restart_a_typed_password_is_asked_for_again(app: Application, postgres: Server) -> None:
    kept = app.connectors.connect(LOCAL, "postgres", postgres_config(postgres))
    VAULT.forget(kept.id)  # what the end of the process does
    assert not app.connectors.get(LOCAL, kept.id).ready
    with pytest.raises(BadInput, match="kept in memory only"):
        app.connectors.list_connector_tables(LOCAL, kept.id)
    with pytest.raises(BadInput, match="does not let this user in"):
        app.connectors.unlock(LOCAL, kept.id, {"password": WRONG})
    assert not app.connectors.get(LOCAL, kept.id).ready
    assert app.connectors.unlock(LOCAL, kept.id, {"password": PASSWORD}).ready
    assert app.connectors.list_connector_tables(LOCAL, kept.id)


@pytest.mark.parametrize("text", [
    f"could not connect: host=x password='{PASSWORD}' user=y", f"postgres://me:{quote(PASSWORD, safe='')}@db:5432/shop",
    f"https://b.s3.amazonaws.com/k?X-Amz-Signature=abcdef0123&X-Amz-Credential={MARKERS[2]}", f"SECRET '{PASSWORD}'",
    "AKIAABCDEFGHIJKLMNOP was refused", "Authorization: AWS4-HMAC-SHA256 Credential=AKIAX/2024, Signature=deadbeef",
])
def test_texts_are_scrubbed(text: str) -> None:
    clean = scrub(text, MARKERS)
    assert_clean("the text", clean.encode())
    for word in ("abcdef0123", "AKIAABCDEFGHIJKLMNOP", "deadbeef"):
        assert word not in clean


def test_a_workers_environment_has_no_variable_of_connectors(app: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    from lexsi_ds.jobs.limits import worker_environment

    given = {**os.environ, "AWS_SECRET_ACCESS_KEY": "x", "LEXSI_CONNECTOR_SHOP": "y", "PGPASSWORD": "z"}
    made = worker_environment(app.settings, app.settings.home, given)
    assert not {"AWS_SECRET_ACCESS_KEY", "LEXSI_CONNECTOR_SHOP", "PGPASSWORD"} & set(made)
