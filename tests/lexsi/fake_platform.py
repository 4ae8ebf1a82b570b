"""A stand-in for the Lexsi platform on loopback, over real HTTP, written from the routes that the SDK calls.

It trains, scores and explains for real (``fake_models``), keeps projects apart, and can be slow, fail, answer nothing, close
its progress stream while a training still runs, or answer wrongly. Every request is kept.
"""

from __future__ import annotations

import base64
import json
import re
import threading
import time
import uuid
from collections.abc import Callable
from email.parser import BytesParser
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pandas as pd

from tests.lexsi.fake_models import PlatformError, table_of
from tests.lexsi.fake_routes import CLASSIC, FOUNDATION, Made, Project, Request, Routes


class FakePlatform(Routes):
    """Attributes set the scenario; they may be changed while it runs."""

    def __init__(self, token: str) -> None:
        self.token = token
        self.requests: list[Request] = []
        self.projects: dict[str, Project] = {}
        self.connectors: list[dict[str, Any]] = []
        self.bearers: list[str] = []
        self.jwt_seconds = 3600
        self.answers: dict[str, list[Made]] = {}
        """What to answer instead at a path, one after the other; the last stays."""
        self.ending = "completed"
        """How trainings end: completed; failed; closed (the stream ends while it runs and the model comes later); lost (the
        stream ends and no model ever comes); stalled (the stream says nothing any more)."""
        self.reason = ""
        self.later_s = 0.0
        self.step_s = 0.0
        self.deleted_files_are_gone = False
        self.reads_events = True
        self.proba = ("pred_proba_AutoML", "positive")
        self.tamper: Callable[[pd.DataFrame], pd.DataFrame] = lambda frame: frame
        self.shap_scale = "log-odds"
        self.fractional_truth = False
        self.classic, self.foundation = list(CLASSIC), list(FOUNDATION)
        self._lock = threading.RLock()
        platform = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: Any) -> None:
                pass

            def handle_any(self) -> None:
                platform.serve(self)

        for method in ("GET", "POST", "PUT", "DELETE"):
            setattr(Handler, f"do_{method}", Handler.handle_any)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> FakePlatform:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    # -- looking at it -----------------------------------------------------------------------------------------

    def sent(self, path: str) -> list[Request]:
        return [r for r in self.requests if r.path == f"/v2/{path}"]

    def uploads(self) -> list[tuple[str, pd.DataFrame]]:
        """Tag and table of every upload."""
        return [(r.query["tag"], table_of(r.content)) for r in self.sent("project/uploadfile_with_info")]

    # -- one request -------------------------------------------------------------------------------------------

    def serve(self, http: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(http.path)
        raw = http.rfile.read(int(http.headers.get("content-length") or 0))
        request = Request(
            http.command, parts.path, {k: v[0] for k, v in parse_qs(parts.query, keep_blank_values=True).items()}, None,
            http.headers.get("authorization"),
        )
        kind = http.headers.get("content-type", "")
        if kind.startswith("multipart/"):
            message = BytesParser(policy=default).parsebytes(b"content-type: " + kind.encode() + b"\r\n\r\n" + raw)
            part = next(iter(message.iter_parts()))
            request.filename, request.content = part.get_filename(), part.get_payload(decode=True)
        elif raw:
            request.body = json.loads(raw)
        with self._lock:
            self.requests.append(request)
        if request.path == "/v2/events/poll" and "/v2/events/poll" not in self.answers:
            self._stream(http, request)
            return
        try:
            made = self._answer(request)
        except PlatformError as error:
            made = {"success": False, "details": str(error)}
        status, kind, content = made if isinstance(made, tuple) else (200, "application/json", json.dumps(made).encode())
        http.send_response(status)
        http.send_header("content-type", kind)
        http.send_header("content-length", str(len(content)))
        http.end_headers()
        http.wfile.write(content)

    def _answer(self, request: Request) -> Made:
        with self._lock:
            planned = self.answers.get(request.path)
            if planned:
                return planned.pop(0) if len(planned) > 1 else planned[0]
        if request.path == "/v2/access-token/authorize":
            if request.body.get("access_token") != self.token:
                return 401, "application/json", b'{"details": "Invalid access token"}'
            return {"access_token": self._bearer()}
        if request.bearer not in {f"Bearer {b}" for b in self.bearers}:
            return 401, "application/json", b'{"details": "Not signed in"}'
        route = getattr(self, "on_" + re.sub(r"\W", "_", request.path.removeprefix("/v2/")), None)
        if route is None:
            return 404, "application/json", b'{"details": "no such route"}'
        return route(request)

    def _bearer(self) -> str:
        def part(value: dict[str, Any]) -> str:
            return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

        claims = {"exp": int(time.time()) + self.jwt_seconds, "n": uuid.uuid4().hex}
        made = f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part(claims)}.c2ln"
        self.bearers.append(made)
        return made

    def _stream(self, http: BaseHTTPRequestHandler, request: Request) -> None:
        project = self.projects[request.query["project_name"]]
        event = next(e for e in project.events if e["event_id"] == request.query["event_id"])
        http.send_response(200)
        http.send_header("content-type", "text/event-stream")
        http.send_header("connection", "close")
        http.end_headers()

        def frame(**more: Any) -> None:
            http.wfile.write(f"data: {json.dumps({'success': True, 'details': {**event, **more}})}\n\n".encode())
            http.wfile.flush()

        training = event["event_name"] != "run_model_on_data"
        frame(status="running", progress=25, message="Preparing data")
        time.sleep(self.step_s)
        if training and self.ending == "stalled":
            time.sleep(600)
        if training and self.ending in ("closed", "lost"):
            http.close_connection = True
            return
        frame(progress=100)
        http.wfile.write(b"data: [DONE]\n\n")
        http.close_connection = True
