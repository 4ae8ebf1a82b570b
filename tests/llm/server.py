"""A scripted OpenAI-compatible server over real HTTP on loopback: good, slow, malformed, dropping, 429 and then fine.

It streams when it is asked to, in pieces of any size, so that a delta may end in the middle of a name, a number or a letter.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class Say:
    """A reply: text, native calls ``(name, arguments)``, or both."""

    text: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    piece: int = 7
    """Letters a delta."""
    pause: float = 0.0
    """Seconds between two deltas."""
    usage: tuple[int, int] | None = (10, 5)
    finish: str | None = None
    drop_after: int | None = None
    """Hang up after so many deltas."""
    mixed: bool = False
    """Send the deltas of several calls in turns."""
    end: bool = True
    """Whether the reply says that it is over."""


@dataclass(frozen=True)
class Status:
    """A refusal."""

    code: int
    message: str = "no"
    retry_after: str | None = None


@dataclass(frozen=True)
class Raw:
    """A body as it stands."""

    body: bytes
    kind: str = "application/json"


Entry = Say | Status | Raw | str | dict[str, Any]
Step = Entry | Callable[[dict[str, Any]], Entry]


@dataclass
class Server:
    """Answers each request with the next entry of the script; the last one is kept for all that follow."""

    script: Sequence[Step]
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    hung_up: threading.Event = field(default_factory=threading.Event)
    """Set once the other side ended a connection in the middle of a reply."""

    def __enter__(self) -> Server:
        self._left = list(self.script)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Base URL to configure."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def sent(self) -> str:
        """Everything that came in, as one text."""
        return json.dumps(self.requests, ensure_ascii=False)

    def next(self, body: dict[str, Any]) -> Entry:
        step = self._left.pop(0) if len(self._left) > 1 else self._left[0]
        return step(body) if callable(step) else step


def deltas(say: Say) -> list[dict[str, Any]]:
    """The deltas of a reply, in the order in which they are sent."""
    found: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    found += [{"content": part} for part in _pieces(say.text, say.piece)]
    calls = []
    for index, (name, arguments) in enumerate(say.calls):
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        head = {"index": index, "id": f"c{index}", "type": "function", "function": {"name": name, "arguments": ""}}
        calls.append([head, *({"index": index, "function": {"arguments": part}} for part in _pieces(text, say.piece))])
    if say.mixed:
        longest = max(map(len, calls), default=0)
        found += [{"tool_calls": [c[i]]} for i in range(longest) for c in calls if i < len(c)]
    else:
        found += [{"tool_calls": [part]} for c in calls for part in c]
    return found


def _pieces(text: str, size: int) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]


def _handler(outer: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            outer.requests.append(body)
            outer.keys.append(self.headers.get("Authorization", ""))
            outer.times.append(time.monotonic())
            entry = outer.next(body)
            if isinstance(entry, dict):
                entry = json.dumps(entry)
            if isinstance(entry, str):
                entry = Say(entry)
            try:
                if isinstance(entry, Status):
                    extra = {"Retry-After": entry.retry_after} if entry.retry_after else {}
                    self._body(entry.code, json.dumps({"error": {"message": entry.message}}).encode(), "application/json", extra)
                elif isinstance(entry, Raw):
                    self._body(200, entry.body, entry.kind, {})
                elif body.get("stream"):
                    self._stream(entry, body)
                else:
                    self._body(200, json.dumps(_whole(entry, body)).encode(), "application/json", {})
            except (BrokenPipeError, ConnectionResetError):
                outer.hung_up.set()

        def _body(self, code: int, data: bytes, kind: str, extra: dict[str, str]) -> None:
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            for name, value in extra.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, say: Say, body: dict[str, Any]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for i, delta in enumerate(deltas(say)):
                if say.drop_after is not None and i >= say.drop_after:
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                time.sleep(say.pause)
                self._event(_chunk(body, [{"index": 0, "delta": delta, "finish_reason": None}]))
            if say.end:
                self._event(_chunk(body, [{"index": 0, "delta": {}, "finish_reason": _finish(say)}]))
            if say.usage and (body.get("stream_options") or {}).get("include_usage"):
                self._event(_chunk(body, []) | {"usage": _usage(say)})
            if say.end:
                self._piece(b"data: [DONE]\n\n")
            self._piece(b"")

        def _event(self, chunk: dict[str, Any]) -> None:
            self._piece(f"data: {json.dumps(chunk)}\n\n".encode())

        def _piece(self, data: bytes) -> None:
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()

        def log_message(self, *_: object) -> None:
            return

    return Handler


def _chunk(body: dict[str, Any], choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": body["model"], "choices": choices}


def _whole(say: Say, body: dict[str, Any]) -> dict[str, Any]:
    calls = [
        {"id": f"c{i}", "type": "function", "function": {"name": n, "arguments": a if isinstance(a, str) else json.dumps(a)}}
        for i, (n, a) in enumerate(say.calls)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": say.text or None} | ({"tool_calls": calls} if calls else {})
    found = {"id": "x", "object": "chat.completion", "created": 0, "model": body["model"]}
    found["choices"] = [{"index": 0, "finish_reason": _finish(say), "message": message}]
    return found | ({"usage": _usage(say)} if say.usage else {})


def _finish(say: Say) -> str:
    return say.finish or ("tool_calls" if say.calls else "stop")


def _usage(say: Say) -> dict[str, int]:
    prompt, completion = say.usage or (0, 0)
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
