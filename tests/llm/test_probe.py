"""What an endpoint can do is seen, said and remembered; and an endpoint is asked once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lexsi_ds.errors import BadInput, EndpointFailed
from lexsi_ds.llm.client import LLMClient
from lexsi_ds.llm.probe import probe
from lexsi_ds.llm.verdicts import Verdicts
from lexsi_ds.services.access import LOCAL
from lexsi_ds.services.llm_choice import LLMChoices, checked_url
from lexsi_ds.settings import Settings
from lexsi_ds.store.db import Store
from scripts import llm_probe
from tests.llm.server import Say, Server, Status

DECISION = '{"tool": "count_rows", "args": {"table": "loan"}}'


def able(body: dict[str, Any]) -> Say | Status:
    """An endpoint with native calls."""
    if not body.get("tools"):
        return Say(f"Sure: {DECISION}")
    if body["messages"][-1]["role"] == "tool":
        return Say("682 rows.")
    both = "card" in body["messages"][-1]["content"]
    return Say(calls=tuple(("count_rows", {"table": t}) for t in (("loan", "card") if both else ("loan",))))


def unable(body: dict[str, Any]) -> Say | Status:
    """One that writes its calls as text."""
    return Say(DECISION)


def refusing(body: dict[str, Any]) -> Say | Status:
    """One that does not take tools at all."""
    return Status(400, "tools are not supported") if body.get("tools") else Say(DECISION)


def seen(answer):
    with Server([answer]) as server:
        return probe(LLMClient(server.url, "m", retries=0))


def test_native_calls_are_seen_with_several_at_once() -> None:
    verdict = seen(able)
    assert (verdict.native, verdict.several, verdict.json, verdict.counts, verdict.mode) == (True, True, True, True, "native")


@pytest.mark.parametrize("answer", [unable, refusing])
def test_an_endpoint_without_them_decides_in_json(answer) -> None:
    verdict = seen(answer)
    assert (verdict.native, verdict.json, verdict.mode) == (False, True, "json") and verdict.notes


def test_a_wrong_tool_is_no_native_call() -> None:
    def wrong(body):
        return Say(calls=(("today", {}),)) if body.get("tools") else Say("no")

    assert not seen(wrong).native and not seen(wrong).json


def test_a_dead_endpoint_has_no_verdict(tmp_path: Path) -> None:
    with pytest.raises(EndpointFailed, match="cannot be reached"):
        probe(LLMClient("http://127.0.0.1:9/v1", "m", retries=0))


def test_the_script_prints_its_verdict_and_remembers_it(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(llm_probe, "get_settings", lambda: Settings(home=tmp_path))
    with Server([able]) as server:
        assert llm_probe.main(["--tools", "--base-url", server.url, "--model", "m"]) == 0
        assert "verdict: native" in capsys.readouterr().out
        assert Verdicts(tmp_path).get(server.url, "m") is not None
        assert llm_probe.main(["--tools", "--json", "--base-url", server.url, "--model", "m"]) == 0
        assert json.loads(capsys.readouterr().out)["native"] is True
    assert llm_probe.main(["--tools"]) == 1 and "No endpoint" in capsys.readouterr().err


@pytest.fixture
def choices(tmp_path: Path):
    settings = Settings(home=tmp_path)
    store = Store(settings.store_path_url)
    store.migrate()
    yield LLMChoices(settings, store)
    store.close()


def test_an_endpoint_is_asked_once_for_an_address_and_a_model(choices) -> None:
    with Server([able]) as server:
        choices.choose(LOCAL, server.url, "m")
        for _ in range(2):
            llm = choices.client(LOCAL)
            assert choices.native(LOCAL, llm)() is True
        asked = len(server.requests)
        assert asked == 5
        choices.choose(LOCAL, server.url, "m", tools="json")
        assert choices.native(LOCAL, choices.client(LOCAL))() is False and len(server.requests) == asked


def test_a_typed_key_is_used_and_nowhere_on_disk(choices, tmp_path: Path, caplog) -> None:
    caplog.set_level("DEBUG")
    with Server([able]) as server:
        choices.choose(LOCAL, server.url, "m", key="my-own-secret-key")
        assert choices.test(LOCAL).ok and choices.has_key(LOCAL)
        assert server.keys[0] == "Bearer my-own-secret-key"
        choices.choose(LOCAL, server.url, "m2")
        choices.test(LOCAL)
        assert server.keys[-1] == "Bearer my-own-secret-key"
        choices.go_offline(LOCAL)
        assert choices.client(LOCAL) is None and choices.label(LOCAL) == "Offline"
        choices.choose(LOCAL, server.url, "m")
        assert not choices.has_key(LOCAL)
    kept = b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    assert b"my-own-secret-key" not in kept and "my-own-secret-key" not in caplog.text + repr(choices.of(LOCAL))


def test_the_environments_key_never_goes_to_an_address_that_a_person_typed(tmp_path: Path) -> None:
    with Server([able]) as server:
        settings = Settings(home=tmp_path, llm_base_url="http://127.0.0.1:9/v1", llm_model="m", llm_api_key="env-secret-key")  # pyright: ignore
        store = Store(settings.store_path_url)
        store.migrate()
        choices = LLMChoices(settings, store)
        choices.choose(LOCAL, server.url, "m")
        assert choices.test(LOCAL).ok and "env-secret" not in "".join(server.keys)
        choices.use_environment(LOCAL)
        assert choices.of(LOCAL) == choices.environment
        store.close()


def test_where_people_may_not_choose_the_environment_holds(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, llm_choice=False, llm_base_url="http://127.0.0.1:9/v1", llm_model="m")
    store = Store(settings.store_path_url)
    store.migrate()
    with pytest.raises(BadInput):
        LLMChoices(settings, store).choose(LOCAL, "http://127.0.0.1:1/v1", "x")
    store.close()


@pytest.mark.parametrize("url", ["", "ftp://x/v1", "file:///etc", "http://", "http://u:p@h/v1", "http://h/v1?key=1", "http://h /"])
def test_an_address_that_is_none_or_holds_a_secret_is_refused(url: str) -> None:
    with pytest.raises(BadInput):
        checked_url(url)


def test_prices_are_kept_and_checked(choices) -> None:
    choices.set_prices(LOCAL, {"m": {"prompt": 2.5, "completion": 10}})
    assert choices.prices(LOCAL) == {"m": {"prompt": 2.5, "completion": 10.0}}
    with pytest.raises(BadInput):
        choices.set_prices(LOCAL, {"m": {"prompt": -1, "completion": 10}})
