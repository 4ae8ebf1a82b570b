"""Who gets in: hosts, origins and tokens, at every door of the server."""

from __future__ import annotations

import socket

import pytest
from pydantic import SecretStr

from lexsi_ds.errors import BadInput
from lexsi_ds.server.guard import Doors
from lexsi_ds.server.identity import Identity, bearer_of
from lexsi_ds.services.access import LOCAL
from tests.server.conftest import ADA, KEYS, TOKEN, Served, serving

pytestmark = pytest.mark.xdist_group("demo")
PATHS = [("POST", "/api/chat"), ("GET", "/api/runs/run_x"), ("POST", "/mcp"), ("GET", "/mcp"), ("GET", "/health")]

HOSTS = [
    ("127.0.0.1", True),
    ("127.0.0.1:8502", True),
    ("localhost:1", True),
    ("LOCALHOST", True),
    ("[::1]:80", True),
    ("[::1]", True),
    ("evil.example", False),
    ("evil.example:8502", False),
    ("127.0.0.1.evil.example", False),
    ("localhost.evil.example", False),
    ("127.0.0.1@evil.example", False),
    ("evil.example/127.0.0.1", False),
    ("", False),
    ("10.0.0.7", False),
    ("[::1", False),
    ("localhost:8502:8502", False),
    ("localhost:x", False),
    ("127.1", False),
    ("2130706433", False),
    ("localhost\t", True),
    ("[evil.example]", False),
    ("ds.example.org", False),
]


@pytest.mark.parametrize(("host", "fits"), HOSTS)
def test_only_names_of_this_server_are_hosts(host: str, fits: bool) -> None:
    assert Doors.of("127.0.0.1", (), ()).host_fits(host) is fits


def test_a_server_on_all_addresses_takes_literal_addresses_and_named_hosts_alone() -> None:
    doors = Doors.of("0.0.0.0", ("ds.example.org", ""), ())
    assert doors.host_fits("10.0.0.7:8502") and doors.host_fits("ds.example.org") and doors.host_fits("[fe80::1]:8502")
    assert not doors.host_fits("evil.example") and not doors.host_fits("")


ORIGINS = [
    ("http://127.0.0.1:8502", True),
    ("http://localhost:8502", True),
    ("https://app.example.org", True),
    ("http://127.0.0.1:8501", False),
    ("http://evil.example", False),
    ("http://127.0.0.1:8502.evil.example", False),
    ("null", False),
    ("https://app.example.org.evil.example", False),
    ("file://", False),
    ("", False),
    ("http://app.example.org", False),
    ("javascript://127.0.0.1:8502", False),
]


@pytest.mark.parametrize(("origin", "fits"), ORIGINS)
def test_only_own_pages_and_named_origins_may_call(origin: str, fits: bool) -> None:
    assert Doors.of("127.0.0.1", (), ("https://app.example.org/",)).origin_fits(origin, "127.0.0.1:8502") is fits


@pytest.mark.parametrize(("method", "path"), PATHS)
def test_a_name_turned_to_this_address_gets_nothing(bank: Served, method: str, path: str) -> None:
    with bank.client(Host="evil.example") as client:
        answer = client.request(method, path, json={"question": "hi"} if method == "POST" else None)
    assert answer.status_code == 421 and answer.json()["error"]["code"] == "unknown_host"


@pytest.mark.parametrize(("method", "path"), PATHS)
def test_a_page_of_another_site_gets_nothing(bank: Served, method: str, path: str) -> None:
    with bank.client(Origin="https://evil.example") as client:
        answer = client.request(method, path, json={"question": "hi"} if method == "POST" else None)
    assert answer.status_code == 403 and answer.json()["error"]["code"] == "unknown_origin"
    assert "access-control-allow-origin" not in answer.headers


def test_a_second_host_header_is_no_way_in(bank: Served) -> None:
    port = int(bank.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as wire:
        wire.sendall(b"GET /api/runs/x HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
        answer = wire.makefile("rb").read()
    assert answer.startswith((b"HTTP/1.1 421", b"HTTP/1.1 400"))


WRONG = [
    None,
    "wrong",
    TOKEN[:-1],
    TOKEN + "x",
    TOKEN.upper(),
    "key-of-nobody-00000000000000000",
    "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.",
]


@pytest.mark.parametrize("token", WRONG)
def test_where_a_token_is_demanded_nothing_else_gets_in(bank: Served, token: str | None) -> None:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    with serving(bank.app, token=TOKEN) as served, served.client(**headers) as client:
        assert client.get("/health").status_code == 200
        for method, path in PATHS[:-1]:
            answer = client.request(method, path, json={"question": "hi"} if method == "POST" else None)
            assert answer.status_code == 401 and answer.headers["www-authenticate"].startswith("Bearer")
            assert answer.json()["error"]["code"] == "unauthorized" and TOKEN not in answer.text


@pytest.mark.parametrize("header", [f"Basic {TOKEN}", TOKEN, f"bearer{TOKEN}", "Bearer", f"Bearer {TOKEN} {TOKEN}"])
def test_a_header_of_another_form_does_not_get_in(bank: Served, header: str) -> None:
    with serving(bank.app, token=TOKEN) as served, served.client(Authorization=header) as client:
        assert client.get("/api/runs/run_x").status_code == 401


def test_the_right_token_and_a_key_get_in(bank: Served) -> None:
    with serving(bank.app, token=TOKEN) as served:
        for token in (TOKEN, *KEYS):
            with served.client(token) as client:
                assert client.get("/api/runs/run_x").status_code == 404


def test_a_wrong_token_is_refused_also_where_none_is_needed(bank: Served) -> None:
    with bank.client("some-token-of-another-server-0123") as client:
        answer = client.get("/api/runs/run_x")
    assert answer.status_code == 401 and 'error="invalid_token"' in answer.headers["www-authenticate"]


def test_who_is_who() -> None:
    identity = Identity(LOCAL, SecretStr(TOKEN), KEYS.get, "http://x/mcp", True)
    assert identity.actor(TOKEN) == LOCAL and identity.actor("key-of-ada-000000000000000000") == ADA
    assert identity.actor(None) is None and identity.actor("") is None and identity.actor("\udcff") is None
    assert Identity(LOCAL, None, None, "http://x/mcp", False).actor(None) == LOCAL
    assert bearer_of(None) is None and bearer_of("bearer  x ") == "x" and bearer_of("Basic x") == ""
    assert TOKEN not in repr(identity) and TOKEN not in repr(identity.user(TOKEN, LOCAL))


def test_a_token_that_can_be_guessed_is_refused_at_the_start() -> None:
    with pytest.raises(BadInput, match="fewer than 24"):
        Identity(LOCAL, SecretStr("secret"), None, "http://x/mcp", True)
