"""The access token, the bearer token and a bucket's key: after everything that can go well and wrong, nothing holds one."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import LexsiError
from lexsi_ds.jobs.pool import Pool
from lexsi_ds.models.engine import ModelRef
from lexsi_ds.models.lexsi.engine import LexsiEngine
from lexsi_ds.models.lexsi.session import Access, Session, quiet_loggers
from tests.lexsi.conftest import TOKEN, settings_for
from tests.lexsi.fake_platform import FakePlatform
from tests.lexsi.frames import loan_task, loans

KEY_ID, KEY = "AKIAMARKERMARKER1234", "mark3r/S3cret+key="
RUN = "run_01a22dd8-6990-73a2-a9ee-e3ceae00bbb1"


def forms(secret: str) -> set[bytes]:
    texts = {secret, quote(secret, safe=""), quote_plus(secret), secret.replace("'", "\\'"), repr(secret)[1:-1]}
    return {t.encode() for t in texts} | {t.encode("utf-16-le") for t in texts}


def test_no_secret_is_left_anywhere(
    platform: FakePlatform, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    settings = settings_for(tmp_path, platform.url)
    pool = Pool(settings)
    app = Application(settings, pool)
    engine = app.engine.platform
    assert isinstance(engine, LexsiEngine)
    said: list[str] = []

    def attempt(work: Callable[[], object]) -> object:
        try:
            made = work()
            said.append(repr(made))
            return made
        except LexsiError as error:
            said.append(f"{error} {error!r} {error.args} {error.where} {error.to_do}" + "".join(traceback.format_exception(error)))
            return None

    told: list[dict] = []
    rows = loans(20, first=900).drop(columns=["y", "amount"])
    made = attempt(lambda: engine.train(loans(), loan_task(), run_id=RUN, tell=told.append))
    assert isinstance(made, tuple) and isinstance(made[0], ModelRef)
    ref = made[0]
    for call in (engine.predict, engine.explain, engine.similar, engine.explain_global):
        attempt(lambda c=call: c(ref, rows))
    attempt(lambda: engine.register_bucket("con_0199-aa", "us-east-1", KEY_ID, KEY))
    bearer = platform.bearers[-1]
    leaks = [TOKEN, f"token={bearer}", f"Authorization: Bearer {bearer}", f"'{TOKEN}'", quote(TOKEN, safe="")]
    for number, leak in enumerate(leaks):
        for path in ("/v2/users/create_project", "/v2/ai-models/run_model_on_data"):
            platform.answers[path] = [(500, "text/plain", leak.encode())]
        platform.answers["/v2/linkservices/create"] = [(500, "text/plain", f"{leak} {KEY_ID} {KEY}".encode())]
        attempt(lambda n=number: engine.train(loans(), loan_task(), run_id=f"run_{n}", tell=told.append))
        attempt(lambda: engine.predict(ref, rows))
        attempt(lambda: engine.register_bucket("con_0199-ab", "us-east-1", KEY_ID, KEY))
        platform.answers.clear()
        platform.ending, platform.reason = "failed", leak
        attempt(lambda n=number: engine.train(loans(), loan_task(), run_id=f"run_9{n}", tell=told.append))
        platform.ending = "completed"
    platform.answers["/v2/access-token/authorize"] = [(401, "text/plain", TOKEN.encode())]
    attempt(lambda: engine.predict(ref, rows))
    app.close()
    captured = capfd.readouterr()
    texts = "\n".join([*said, caplog.text, captured.out, captured.err, repr(told), repr(settings), repr(engine.__dict__)])
    assert len(said) >= 25
    for secret in (TOKEN, *platform.bearers, KEY, KEY_ID):
        for form in forms(secret):
            assert form not in texts.encode(), f"a secret was said: {secret[:8]}"
            for path in tmp_path.rglob("*"):
                if path.is_file():
                    assert form not in path.read_bytes(), f"a secret stands in {path.name}"
    assert any(path.name == "store.sqlite" for path in tmp_path.rglob("*"))


def test_the_http_clients_log_shows_no_address(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    before = {name: logging.getLogger(name).level for name in ("httpx", "httpcore")}
    try:
        quiet_loggers()
        logging.getLogger("httpx").info("HTTP Request: GET https://x/download_tag_data?token=eyJhbGciOi.abc.def")
        logging.getLogger("httpcore.http11").debug("send_request_headers Authorization: Bearer x")
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
    assert caplog.text == ""


def test_what_is_said_is_scrubbed_of_tokens_in_every_spelling() -> None:
    session = Session(Access("https://x", TOKEN), lambda message: None)
    jwt = "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE3fQ.c2ln"
    for text in (TOKEN, quote(TOKEN, safe=""), f"?token={jwt}&x", f"Bearer {jwt}", TOKEN.replace("'", "\\'")):
        cleaned = session.clean(f"before {text} after")
        assert TOKEN not in cleaned and jwt not in cleaned and "mark3r" not in cleaned and cleaned.startswith("before ")
    assert TOKEN not in repr(Access("https://x", TOKEN)) and TOKEN not in repr(session)
