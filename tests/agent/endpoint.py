"""A scripted OpenAI-compatible endpoint over real HTTP on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

Entry = str | dict[str, Any] | int | Callable[[dict[str, Any]], str]


class Cut(str):
    """A reply that the endpoint ended at its longest length."""


class Raw(str):
    """A body that is sent as it stands."""


class Endpoint:
    """Answers each chat completion with the next entry: a text, a dict (as JSON text), a status, or a function of the request."""

    def __init__(self, script: Sequence[Entry]) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self._script = list(script)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """Base URL to configure."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Endpoint:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def prompts(self) -> str:
        """Everything that was sent, as one text."""
        return json.dumps(self.requests, ensure_ascii=False)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(body)
                outer.keys.append(self.headers.get("Authorization", ""))
                entry: Entry = (
                    outer._script.pop(0) if outer._script else {"thought": "", "final_answer": "Nothing more."}
                )
                if isinstance(entry, int):
                    self._send(entry, {"error": {"message": "no"}})
                    return
                if isinstance(entry, Raw):
                    self._send_bytes(200, entry.encode())
                    return
                finish = "length" if isinstance(entry, Cut) else "stop"
                text = entry(body) if callable(entry) else entry if isinstance(entry, str) else json.dumps(entry)
                self._send(
                    200,
                    {
                        "id": "x",
                        "object": "chat.completion",
                        "created": 0,
                        "model": body["model"],
                        "choices": [
                            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}
                        ],
                        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
                    },
                )

            def _send(self, status: int, body: dict[str, Any]) -> None:
                self._send_bytes(status, json.dumps(body).encode())

            def _send_bytes(self, status: int, data: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                return

        return Handler
