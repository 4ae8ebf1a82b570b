"""The client of OpenAI-compatible endpoints over real HTTP: streams, tries again, stops, counts, and keeps the key to itself."""

from __future__ import annotations

import json
import logging
import threading
import time
from pathlib import Path

import pytest

from lexsi_ds.errors import EndpointFailed, Stopped
from lexsi_ds.llm import ledger
from lexsi_ds.llm.client import LLMClient
from lexsi_ds.llm.prices import price_of
from lexsi_ds.llm.redaction import redact
from lexsi_ds.llm.wire import ToolOffer
from tests.llm.server import Raw, Say, Server, Status

KEY = "sk-very-secret-0123456789"
LOOK = ToolOffer("look", "Look at a table.", {"type": "object", "properties": {"table": {"type": "string"}}})


def client(server: Server, **kw) -> LLMClient:
    return LLMClient(server.url, "scripted", KEY, **{"timeout_s": 20, **kw})


def ask(llm: LLMClient, **kw):
    return llm.complete("system", [{"role": "user", "content": "question"}], **kw)


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 1000])
def test_a_streamed_text_is_put_together_and_handed_out_as_it_comes(piece: int) -> None:
    text, heard = "Žluťoučký kůň: 4,500 accounts.", []
    with Server([Say(text, piece=piece)]) as server:
        llm = client(server)
        reply = ask(llm, on_text=heard.append)
    assert reply.text == text == "".join(heard) and (piece > 30 or len(heard) > 3)
    assert (reply.prompt_tokens, reply.completion_tokens, reply.counted, reply.cut) == (10, 5, True, False)
    assert server.requests[0]["temperature"] == 0 and server.requests[0]["stream_options"] == {"include_usage": True}
    assert {k: llm.usage[k] for k in ("prompt_tokens", "completion_tokens", "requests")} == {
        "prompt_tokens": 10, "completion_tokens": 5, "requests": 1,
    }  # fmt: skip


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("piece", [1, 2, 5, 11, 1000])
def test_several_native_calls_come_whole_however_their_deltas_are_split(piece: int, mixed: bool) -> None:
    wanted = [("look", {"table": "účet"}), ("look", {"table": "loan", "k": 1.5}), ("look", {})]
    with Server([Say("Let me see.", tuple(wanted), piece=piece, mixed=mixed)]) as server:
        reply = ask(client(server), tools=(LOOK,))
    assert [(c.name, c.args()) for c in reply.calls] == wanted and len({c.id for c in reply.calls}) == 3
    assert server.requests[0]["tools"][0]["function"]["name"] == "look"


def test_arguments_that_are_no_json_say_what_is_wrong() -> None:
    with Server([Say(calls=(("look", '{"table": "lo'),))]) as server:
        (call,) = ask(client(server), tools=(LOOK,)).calls
    with pytest.raises(ValueError, match="look are not valid JSON"):
        call.args()


def test_an_endpoint_that_does_not_stream_is_understood() -> None:
    def whole(body):
        return Raw(json.dumps({"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "Whole."}}]}).encode())

    with Server([whole]) as server:
        reply = ask(client(server))
    assert reply.text == "Whole." and not reply.counted and reply.prompt_tokens > 0


@pytest.mark.parametrize("name", ["stream_options", "temperature", "parallel_tool_calls", "stream"])
def test_what_an_endpoint_does_not_know_is_left_out_from_then_on(name: str) -> None:
    def answer(body):
        return Status(400, f"Unsupported parameter: '{name}'") if name in body else Say("Fine.")

    with Server([answer]) as server:
        llm = client(server)
        assert [ask(llm, tools=(LOOK,)).text, ask(llm.for_run(), tools=(LOOK,)).text] == ["Fine.", "Fine."]
    assert [name in body for body in server.requests] == [True, False, False]


def test_longest_replies_go_by_the_newer_name_where_the_older_is_refused() -> None:
    def answer(body):
        return Status(400, "'max_tokens' is not supported") if "max_tokens" in body else Say("Fine.")

    with Server([answer]) as server:
        ask(client(server), max_tokens=50)
    assert server.requests[1]["max_completion_tokens"] == 50


def test_429_is_waited_for_as_long_as_it_says_and_then_fine() -> None:
    with Server([Status(429, retry_after="1"), Say("Fine.")]) as server:
        assert ask(client(server)).text == "Fine."
    assert server.times[1] - server.times[0] >= 0.9


@pytest.mark.parametrize("script", [[Status(503), Say("Fine.")], [Status(500), Status(502), Say("Fine.")]])
def test_5xx_is_tried_again_with_back_off(script) -> None:
    with Server(script) as server:
        assert ask(client(server)).text == "Fine."
    gaps = [b - a for a, b in zip(server.times, server.times[1:], strict=False)]
    assert len(server.times) == len(script) and all(gap > 0.2 for gap in gaps)


def test_it_gives_up_after_three_tries() -> None:
    with Server([Status(503)]) as server, pytest.raises(EndpointFailed, match="status 503"):
        ask(client(server))
    assert len(server.requests) == 3


def test_a_refused_key_is_not_tried_again() -> None:
    with Server([Status(401, f"Incorrect API key provided: {KEY}")]) as server, pytest.raises(EndpointFailed) as caught:
        ask(client(server))
    assert len(server.requests) == 1 and KEY not in str(caught.value)


@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_stream_that_breaks_off_is_asked_for_again(after: int) -> None:
    with Server([Say("A long reply that ends.", drop_after=after), Say("Fine.")]) as server:
        assert ask(client(server)).text == "Fine."
    assert len(server.requests) == 2


def test_a_stream_that_ends_without_saying_so_broke_off() -> None:
    with Server([Say("Half a rep", end=False), Say("Whole reply.")]) as server:
        assert ask(client(server)).text == "Whole reply."


def test_what_was_shown_already_is_not_asked_for_again() -> None:
    heard: list[str] = []
    with Server([Say("A long reply that ends.", drop_after=3)]) as server, pytest.raises(EndpointFailed, match="broke off"):
        ask(client(server), on_text=heard.append)
    assert heard and len(server.requests) == 1


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"{}", b"[]", b'{"choices": 5}', b'{"choices": []}', b'{"choices": [{"message": null}]}', b"\xff\xfe"],
)
def test_a_malformed_body_is_an_error_or_an_empty_reply_never_a_crash(body: bytes) -> None:
    with Server([Raw(body)]) as server:
        try:
            assert ask(client(server)).text == ""
        except EndpointFailed as error:
            assert error.to_do


@pytest.mark.parametrize("body", [b"data: {not json}\n\n", b"data: [1]\n\ndata: [DONE]\n\n", b": ping\n\n", b"event: x\n\n"])
def test_a_malformed_stream_is_an_error_never_a_crash(body: bytes) -> None:
    with Server([Raw(body, "text/event-stream")]) as server, pytest.raises(EndpointFailed):
        ask(client(server, retries=0))


def test_a_stream_that_trickles_ends_with_its_time() -> None:
    with Server([Say("x" * 400, piece=1, pause=0.05)]) as server:
        started = time.monotonic()
        with pytest.raises(EndpointFailed, match="in time"):
            ask(client(server), within_s=0.6)
        assert time.monotonic() - started < 5
        assert server.hung_up.wait(10)


def test_stop_ends_the_wait_and_the_connection_in_the_middle_of_a_stream() -> None:
    stopped = threading.Event()

    def stop() -> None:
        if stopped.is_set():
            raise Stopped

    with Server([Say("x" * 400, piece=1, pause=0.05)]) as server:
        llm = client(server).for_run(stop=stop)
        threading.Timer(0.3, stopped.set).start()
        started = time.monotonic()
        with pytest.raises(Stopped):
            ask(llm)
        assert time.monotonic() - started < 5
        assert server.hung_up.wait(10)


def test_a_reply_cut_at_its_longest_says_so() -> None:
    with Server([Say("Half", finish="length")]) as server:
        assert ask(client(server)).cut


def test_tokens_are_estimated_where_the_endpoint_does_not_say_them() -> None:
    with Server([Say("x" * 320, usage=None)]) as server:
        reply = ask(client(server))
    assert not reply.counted and 90 < reply.completion_tokens < 110


def test_the_ledger_holds_what_left_word_for_word_with_every_try_and_no_key(tmp_path: Path, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    kept = ledger.FileLedger(tmp_path / "ledger.jsonl")
    with Server([Status(503), Say("Fine."), Say(calls=(("look", {}),)), Status(404, f"no model for {KEY}")]) as server:
        llm = client(server).for_run(record=kept)
        ask(llm, purpose="plan")
        ask(llm, tools=(LOOK,))
        with pytest.raises(EndpointFailed) as caught:
            ask(llm)
        found = ledger.read(kept.path)
        assert [json.loads(s.body) for s in found] == server.requests
        assert [s.reply for s in found] == ["", "Fine.", "", ""] and found[2].calls[0]["name"] == "look"
        assert found[0].purpose == "plan" and found[1].prompt_tokens == 10 and "404" in found[3].problem
    everything = kept.path.read_text() + caplog.text + str(caught.value) + repr(llm) + repr(found)
    assert KEY not in everything and server.keys[0] == f"Bearer {KEY}"


def test_what_looks_like_a_key_is_hidden_wherever_it_stands() -> None:
    text = "use sk-abcdefgh12345, Bearer tok.en and http://ann:pw123@host/v1, not my-secret"
    shown = redact(text, ["my-secret"])
    assert not [w for w in ("abcdefgh", "tok.en", "pw123", "my-secret") if w in shown] and "host/v1" in shown


def test_a_price_is_never_invented() -> None:
    table = {"m": {"prompt": 2, "completion": 8}, "broken": {"prompt": "x"}}
    known = price_of(table, "m")
    assert known is not None and known.of({"prompt_tokens": 500_000, "completion_tokens": 250_000}) == 3.0
    assert price_of(table, "other") is None and price_of(table, "broken") is None
