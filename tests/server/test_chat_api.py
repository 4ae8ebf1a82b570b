"""The chat API over real HTTP: frames, detaching and coming back, cancelling, answering, and what is refused."""

from __future__ import annotations

import threading

import httpx2
import pytest

from lexsi_ds.agent import events as ev
from lexsi_ds.application import Application
from tests.server.conftest import Served, Slow, ask, frames, serving, until

pytestmark = pytest.mark.xdist_group("demo")


def first_frames(slow: Slow, question: str, most: int = 2) -> list[dict]:
    """Ask, read some frames, and close the stream."""
    text = ""
    with slow.served.client() as client, client.stream("POST", "/api/chat", json={"question": question}) as answer:
        for piece in answer.iter_text():
            text += piece
            if len(frames(text[: text.rfind("\n\n") + 2])) >= most:
                break
    return frames(text[: text.rfind("\n\n") + 2])


def state(served: Served, run_id: str) -> str:
    with served.client() as client:
        return client.get(f"/api/runs/{run_id}").json()["state"]


def test_health_needs_nothing(bank: Served) -> None:
    with bank.client() as client:
        answer = client.get("/health")
    assert answer.status_code == 200 and answer.json()["status"] == "ok"


def test_a_question_streams_the_events_of_its_run_in_the_frames_of_the_seed(bank: Served, demo_handle) -> None:
    answer = ask(bank, "How many accounts?", source_id=demo_handle.source_id)
    got = frames(answer.text)
    assert answer.headers["content-type"].startswith("text/event-stream") and answer.headers["cache-control"] == "no-store"
    assert got[0]["type"] == "run" and got[0]["run_id"] == answer.headers["x-run-id"]
    run_id, events = got[0]["run_id"], got[1:]
    assert [e["_id"] for e in events] == [f"{run_id}:{n}" for n in range(1, len(events) + 1)]
    tools = [e for e in events if e["type"] == "tool"]
    assert [t["name"] for t in tools] == ["text_to_sql", "run_sql", "summarize_result"]
    assert tools[0]["argument"] == "How many accounts?"
    assert '{"type": "tool", "name": "text_to_sql", "argument": "How many accounts?"' in answer.text
    assert events[-1]["type"] == "done" and events[-1]["state"] == "answered" and "4,500" in events[-1]["answer"]
    stored = bank.app.chats.events(bank.app.person(), run_id)
    assert [e["type"] for e in events] == [e["type"] for e in stored], "the app draws the same events"
    for event in events:
        ev.parse({name: value for name, value in event.items() if name != "_id"})
    graph = events[-1]["graph"]
    assert [(n["id"], n["made_from"]) for n in graph["nodes"]] == [
        ("question-1", []), ("sql-1", ["question-1"]), ("frame-1", ["sql-1"]), ("narrative-1", ["frame-1"])
    ]
    assert graph["snapshot_id"] == demo_handle.snapshot_id and all(n["hash"] for n in graph["nodes"])
    assert graph["nodes"][2]["artifact_id"] in [i for e in events for i in e.get("artifact_ids", ())]
    assert not stored[-1].get("graph"), "it is read from the run, not stored again"


def test_a_conversation_goes_on(bank: Served, demo_handle) -> None:
    first = frames(ask(bank, "How many loans by status?", source_id=demo_handle.source_id).text)
    second = frames(ask(bank, "and only for amounts over 100000?", conversation_id=first[0]["conversation_id"]).text)
    assert second[0]["conversation_id"] == first[0]["conversation_id"]
    turns = bank.app.chats.turns(bank.app.person(), first[0]["conversation_id"])
    assert [t.question for t in turns] == ["How many loans by status?", "and only for amounts over 100000?"]


@pytest.mark.parametrize("way", ["post", "get", "after"])
def test_a_client_that_comes_back_gets_what_it_missed_and_nothing_twice(slow: Slow, way: str) -> None:
    seen = first_frames(slow, "slow one")
    run_id, last = seen[0]["run_id"], seen[-1]["_id"]
    assert state(slow.served, run_id) == "running", "closing the stream detaches, it does not cancel"
    threading.Timer(0.2, slow.agent.go.set).start()
    with slow.served.client() as client:
        if way == "post":  # what a fetch-based client does: the same request again
            answer = client.post("/api/chat", json={"question": "slow one"}, headers={"Last-Event-ID": last})
        elif way == "get":
            answer = client.get(f"/api/runs/{run_id}/events", headers={"Last-Event-ID": last})
        else:
            answer = client.get(f"/api/runs/{run_id}/events?after={last.rpartition(':')[2]}")
    rest = frames(answer.text)
    assert rest[0] == {"type": "run", "run_id": run_id}
    assert [e["type"] for e in rest[1:]] == ["delta", "done"] and rest[-1]["answer"] == "You asked: slow one"
    assert len(slow.agent.asked) == 1, "no second run was started"


def test_a_run_that_nobody_listens_to_is_cancelled_after_a_while(slow: Slow) -> None:
    run_id = first_frames(slow, "left alone")[0]["run_id"]
    until(lambda: state(slow.served, run_id) == "stopped")


def test_a_run_that_somebody_listens_to_is_not_cancelled(slow: Slow) -> None:
    threading.Timer(2.5, slow.agent.go.set).start()  # longer than runs are left alone here
    assert frames(ask(slow.served, "long one").text)[-1]["state"] == "answered"


def test_a_run_of_the_app_is_never_cancelled_for_want_of_clients(slow: Slow) -> None:
    app, person = slow.served.app, slow.served.app.person()
    own = app.chats.ask(person, app.chats.new(person, slow.source_id), "asked in the app", slow.source_id)
    other = first_frames(slow, "asked here")[0]["run_id"]
    with slow.served.client() as client, client.stream("GET", f"/api/runs/{own}/events") as answer:
        next(answer.iter_text())
    until(lambda: state(slow.served, other) == "stopped")
    assert state(slow.served, own) == "running"
    slow.agent.go.set()
    until(lambda: state(slow.served, own) == "answered")


def test_cancel_stops_a_run_and_leaves_one_that_is_over_alone(slow: Slow) -> None:
    run_id = first_frames(slow, "stop me")[0]["run_id"]
    with slow.served.client() as client:
        assert client.post(f"/api/runs/{run_id}/cancel").json()["state"] == "stopped"
        assert client.post(f"/api/runs/{run_id}/cancel").json()["state"] == "stopped"
    slow.agent.go.set()
    done = frames(ask(slow.served, "another").text)[0]["run_id"]
    with slow.served.client() as client:
        assert client.post(f"/api/runs/{done}/cancel").json()["state"] == "answered"


def test_an_answer_to_what_was_asked_back_goes_on_in_the_conversation(slow: Slow) -> None:
    slow.agent.go.set()
    asked = frames(ask(slow.served, "which one").text)
    assert asked[-1]["state"] == "needs_clarification" and [e for e in asked if e["type"] == "ask"]
    run_id = asked[0]["run_id"]
    with slow.served.client() as client:
        by_number = frames(client.post(f"/api/runs/{run_id}/answer", json={"option": 2}).text)
        by_text = frames(client.post(f"/api/runs/{run_id}/answer", json={"answer": "a third one"}).text)
        beyond = client.post(f"/api/runs/{run_id}/answer", json={"option": 3})
        nothing = client.post(f"/api/runs/{by_text[0]['run_id']}/answer", json={"option": 1})
    assert by_number[-1]["answer"] == "You asked: the second one" and by_text[-1]["answer"] == "You asked: a third one"
    assert by_number[0]["conversation_id"] == asked[0]["conversation_id"]
    assert beyond.status_code == nothing.status_code == 400 and "2 options" in beyond.json()["error"]["message"]


def test_a_busy_conversation_and_a_busy_server_say_so(slow: Slow) -> None:
    conversation = first_frames(slow, "one")[0]["conversation_id"]
    busy = ask(slow.served, "two", conversation_id=conversation)
    assert busy.status_code == 409 and busy.json()["error"]["code"] == "busy"
    first_frames(slow, "three")
    full = ask(slow.served, "four")
    assert full.status_code == 429 and full.json()["error"]["code"] == "too_many_runs" and full.headers["retry-after"]


BAD = [
    ({"question": ""}, 400, "bad_input"),
    ({"question": " \n"}, 400, "bad_input"),
    ({"question": "x" * 5000}, 400, "bad_input"),
    ({"question": 7}, 400, "bad_input"),
    ({}, 400, "bad_input"),
    ({"question": "hi", "model": "x"}, 400, "bad_input"),
    ({"question": "hi", "source_id": "con_../../etc"}, 404, "not_found"),
    ({"question": "hi", "conversation_id": "conv_x"}, 404, "not_found"),
]


@pytest.mark.parametrize(("body", "status", "code"), BAD)
def test_a_body_that_does_not_fit_is_refused_with_what_to_do(slow: Slow, body: dict, status: int, code: str) -> None:
    with slow.served.client() as client:
        answer = client.post("/api/chat", json=body)
    assert answer.status_code == status and answer.json()["error"]["code"] == code
    assert answer.json()["error"]["message"] and "Traceback" not in answer.text and not slow.agent.asked


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[1]", b"null", b'"x"', b"\xff\xfe", b'{"question": "a", "question": 1}', b"[" * 5000]
)
def test_what_is_no_json_object_is_refused(slow: Slow, raw: bytes) -> None:
    with slow.served.client(**{"Content-Type": "application/json"}) as client:
        answer = client.post("/api/chat", content=raw)
    assert answer.status_code == 400 and "Send a JSON object" in answer.json()["error"]["toDo"]


def test_a_form_of_another_site_cannot_post(slow: Slow) -> None:
    with slow.served.client(**{"Content-Type": "text/plain"}) as client:
        answer = client.post("/api/chat", content=b'{"question": "hi"}')
    assert answer.status_code == 400 and answer.json()["error"]["where"] == "Content-Type" and not slow.agent.asked


@pytest.mark.parametrize("announced", [True, False])
def test_a_body_that_is_too_large_is_cut_off(slow: Slow, announced: bool) -> None:
    body = b'{"question": "' + b"x" * 400_000 + b'"}'
    content = body if announced else iter([body[:100_000], body[100_000:]])
    with slow.served.client(**{"Content-Type": "application/json"}) as client:
        answer = client.post("/api/chat", content=content)
    assert answer.status_code == 413 and answer.json()["error"]["code"] == "too_large"


@pytest.mark.parametrize(
    "last", ["x", "1", "run_x:1", "run_01a22e94-6cff-7391-b7d7-c143cfafd562:-1", "conv_1:1", ":", "9" * 400]
)
def test_a_last_event_id_of_elsewhere_starts_nothing(slow: Slow, last: str) -> None:
    with slow.served.client() as client:
        answer = client.post("/api/chat", json={"question": "hi"}, headers={"Last-Event-ID": last})
    assert answer.status_code == 400 and not slow.agent.asked


def test_an_unknown_run_is_not_found_by_any_door(slow: Slow) -> None:
    run_id = "run_01a22e94-6cff-7391-b7d7-c143cfafd562"
    with slow.served.client() as client:
        answers = [
            client.get(f"/api/runs/{run_id}"),
            client.get(f"/api/runs/{run_id}/events"),
            client.post(f"/api/runs/{run_id}/cancel"),
            client.post(f"/api/runs/{run_id}/answer", json={"option": 1}),
            client.post("/api/chat", json={"question": "hi"}, headers={"Last-Event-ID": f"{run_id}:1"}),
        ]
    assert {a.status_code for a in answers} == {404}
    assert {a.json()["error"]["message"] for a in answers} == {"There is no such run."}


def test_other_addresses_and_methods_are_told_in_json(bank: Served) -> None:
    with bank.client() as client:
        nowhere, wrong = client.get("/etc/passwd"), client.get("/api/chat")
    assert nowhere.status_code == 404 and nowhere.json()["error"]["code"] == "no_such_address"
    assert wrong.status_code == 405 and wrong.headers["allow"] == "POST"


def test_a_bug_shows_no_traceback(slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(slow.served.app.chats, "ask", broken)
    answer = ask(slow.served, "hi")
    assert answer.status_code == 500 and answer.json()["error"]["code"] == "internal"
    assert "secret" not in answer.text and "Traceback" not in answer.text


def test_somebody_elses_run_is_not_there(slow: Slow) -> None:
    with serving(slow.served.app) as keyed:
        run_id = first_frames(slow, "mine")[0]["run_id"]
        with keyed.client("key-of-ben-000000000000000000") as ben:
            answers: list[httpx2.Response] = [
                ben.get(f"/api/runs/{run_id}"),
                ben.get(f"/api/runs/{run_id}/events"),
                ben.post(f"/api/runs/{run_id}/cancel"),
            ]
    assert {a.status_code for a in answers} == {404} and state(slow.served, run_id) == "running"


def test_two_clients_read_one_run(slow: Slow) -> None:
    run_id = first_frames(slow, "shared")[0]["run_id"]
    texts: list[str] = []

    def read() -> None:
        with slow.served.client() as client:
            texts.append(client.get(f"/api/runs/{run_id}/events").text)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    threading.Timer(0.3, slow.agent.go.set).start()
    for reader in readers:
        reader.join(20)
    assert len(texts) == 2 and texts[0] == texts[1] and frames(texts[0])[-1]["state"] == "answered"


def test_the_application_of_a_server_says_where_to_get_data_when_there_is_none(tmp_path) -> None:
    from lexsi_ds.settings import Settings

    app = Application(Settings(home=tmp_path / "empty", sql_workers=1))
    try:
        with serving(app) as served:
            answer = ask(served, "How many accounts?")
    finally:
        app.close()
    assert answer.status_code == 404 and "--dataset demo" in answer.json()["error"]["toDo"]
