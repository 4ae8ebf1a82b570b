"""The chat API: ask, listen, come back, answer what was asked back, cancel. The events are those that the app draws.

A run goes on when its stream closes; `clients` decides for how long. Must never: start a second run for a client that came back
with ``Last-Event-ID``.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial, wraps
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from lexsi_ds.application import Application
from lexsi_ds.errors import BadInput, LexsiError, NotFound
from lexsi_ds.server.artifact_api import MOST_BYTES, ArtifactTooLarge, served
from lexsi_ds.server.clients import Clients
from lexsi_ds.server.failures import failure, failure_of, response, status_of
from lexsi_ds.server.frames import KEEP_ALIVE, frame, opening, position
from lexsi_ds.services.access import Actor

log = logging.getLogger(__name__)
MOST_BODY = 256 * 1024
_WAIT_S = 1.0
_QUIET_S = 15.0
_LISTENERS = anyio.CapacityLimiter(256)
Endpoint = Callable[[Request], Awaitable[Response]]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


_BodyT = TypeVar("_BodyT", bound=_Body)


class Asking(_Body):
    """The body of ``POST /api/chat``."""

    question: str
    conversation_id: str | None = None
    """A conversation to go on with; a new one is begun otherwise."""
    source_id: str | None = None
    """The source to ask; that of the conversation, else the active one otherwise."""


class Answering(_Body):
    """The body of ``POST /api/runs/{id}/answer``: one of the options by its number from 1, or a text."""

    option: int | None = Field(default=None, ge=1)
    answer: str | None = None

    @model_validator(mode="after")
    def _one(self) -> Answering:
        if (self.option is None) == (self.answer is None):
            raise ValueError("give either option or answer")
        return self


def _told(endpoint: Callable[..., Awaitable[Response]]) -> Callable[..., Awaitable[Response]]:
    """Errors of the core as JSON with their status; anything else is a bug: logged, and told without details."""

    @wraps(endpoint)
    async def safe(self: ChatApi, request: Request) -> Response:
        try:
            return await endpoint(self, request)
        except _TooLarge:
            return response(413, failure("too_large", f"The body is larger than {MOST_BODY // 1024} kB.", to_do="Send less."))
        except ArtifactTooLarge:
            to_do = "Ask for fewer rows with offset and limit, or download it in the app."
            return response(413, failure("too_large", f"It is larger than {MOST_BYTES // 2**20} MB.", to_do=to_do))
        except LexsiError as error:
            more = {"retry_after": "1"} if status_of(error) in (429, 503) else {}
            return response(status_of(error), failure_of(error), **more)
        except Exception:
            log.exception("%s %s failed", request.method, request.url.path)
            return response(500, failure("internal", "Something went wrong.", to_do="The server's log has the details."))

    return safe


class _TooLarge(Exception):
    """A body beyond the limit."""


class ChatApi:
    """The routes under ``/api``."""

    def __init__(self, app: Application, clients: Clients) -> None:
        self._app, self._clients = app, clients

    def routes(self) -> list[Route]:
        """What is served."""
        return [
            Route("/api/chat", self.chat, methods=["POST"]),
            Route("/api/runs/{run_id}", self.run, methods=["GET"]),
            Route("/api/runs/{run_id}/events", self.events, methods=["GET"]),
            Route("/api/runs/{run_id}/artifacts/{artifact_id}", self.artifact, methods=["GET"]),
            Route("/api/runs/{run_id}/answer", self.answer, methods=["POST"]),
            Route("/api/runs/{run_id}/cancel", self.cancel, methods=["POST"]),
        ]

    @_told
    async def chat(self, request: Request) -> Response:
        """Ask a question and stream its run; with ``Last-Event-ID``, go on with the run that it names."""
        actor = actor_of(request)
        if last := request.headers.get("last-event-id"):
            return await self._stream(actor, *position(last))
        asked = await _read(request, Asking)
        return await self._start(actor, asked.question, asked.conversation_id, asked.source_id)

    @_told
    async def answer(self, request: Request) -> Response:
        """Answer what a run asked back: the conversation goes on in a new run, which is streamed."""
        actor, run_id = actor_of(request), request.path_params["run_id"]
        given = await _read(request, Answering)
        conversation_id, source_id, text = await _thread(self._answered, actor, run_id, given)
        return await self._start(actor, text, conversation_id, source_id)

    @_told
    async def events(self, request: Request) -> Response:
        """Stream a run from the start, or behind ``Last-Event-ID`` (or ``?after=N``)."""
        actor, run_id = actor_of(request), request.path_params["run_id"]
        after = 0
        if last := request.headers.get("last-event-id"):
            named, after = position(last if ":" in last else f"{run_id}:{last}")
            if named != run_id:
                raise BadInput("The Last-Event-ID is of another run.", where="Last-Event-ID", to_do="Leave it out.")
        elif given := request.query_params.get("after"):
            after = position(f"{run_id}:{given}")[1]
        return await self._stream(actor, run_id, after)

    @_told
    async def run(self, request: Request) -> Response:
        """What became of a run so far."""
        events = await _thread(self._app.chats.events, actor_of(request), request.path_params["run_id"])
        return JSONResponse(_state(request.path_params["run_id"], events))

    @_told
    async def artifact(self, request: Request) -> Response:
        """What a step of a run made: rows, or a JSON value."""
        named = (request.path_params["run_id"], request.path_params["artifact_id"])
        kind, body = await _thread(served, self._app, actor_of(request), *named, dict(request.query_params))
        headers = {"cache-control": "no-store"}
        if kind.startswith("text/csv"):
            headers["content-disposition"] = f'attachment; filename="{named[1]}.csv"'
        return Response(body, media_type=kind, headers=headers)

    @_told
    async def cancel(self, request: Request) -> Response:
        """Stop a run and wait a moment for its end; one that is over stays as it is."""
        actor, run_id = actor_of(request), request.path_params["run_id"]
        await _thread(self._app.chats.stop, actor, run_id)
        return JSONResponse(_state(run_id, await _thread(self._app.chats.events, actor, run_id)))

    # -- inside ----------------------------------------------------------------------------------------------------

    async def _start(self, actor: Actor, question: str, conversation_id: str | None, source_id: str | None) -> Response:
        if self._clients.full():
            body = failure("too_many_runs", "This server answers as many questions as it may at once.",
                           to_do="Ask again in a moment, or raise LEXSI_DS_SERVE_MAX_RUNS.")
            return response(429, body, retry_after="2")
        conversation_id, run_id = await _thread(self._ask, actor, question, conversation_id, source_id)
        self._clients.expect(run_id, partial(self._app.chats.stop, actor, run_id))
        return self._streaming(actor, run_id, 0, conversation_id)

    def _ask(
        self, actor: Actor, question: str, conversation_id: str | None, source_id: str | None
    ) -> tuple[str, str]:
        chats = self._app.chats
        if not question.strip():
            raise BadInput("The question is empty.", where="question", to_do="Write a question.")
        about = chats.get(actor, conversation_id).source_id if conversation_id else None
        source = source_id or about or self._app.active_source(actor)
        if source is None:
            raise NotFound("There is no data yet.", to_do="Connect data in the app, or serve with --dataset demo.")
        self._app.catalog.handle(actor, source)  # says so before a run is started
        conversation = conversation_id or chats.new(actor, source)
        return conversation, chats.ask(actor, conversation, question, source)

    def _answered(self, actor: Actor, run_id: str, given: Answering) -> tuple[str, str | None, str]:
        """Conversation, source and text of an answer."""
        events = self._app.chats.events(actor, run_id)
        ask = next((e for e in reversed(events) if e["type"] == "ask"), None)
        if ask is None:
            raise BadInput("This run asked nothing back.", where=run_id[:60], to_do="Ask a question with POST /api/chat.")
        text = given.answer
        if given.option is not None:
            options = ask.get("options") or []
            if given.option > len(options):
                raise BadInput(f"There are {len(options)} options.", where="option", to_do="Give the number of one, from 1.")
            text = options[given.option - 1]
        run = self._app.chats.run(actor, run_id)
        return run.conversation_id, run.meta.get("source_id"), text or ""

    async def _stream(self, actor: Actor, run_id: str, after: int) -> Response:
        await _thread(self._app.chats.events, actor, run_id)  # whose it is, before the stream begins
        return self._streaming(actor, run_id, after, None)

    def _streaming(self, actor: Actor, run_id: str, after: int, conversation_id: str | None) -> Response:
        headers = {"cache-control": "no-store", "x-accel-buffering": "no", "x-run-id": run_id}
        if conversation_id:
            headers["x-conversation-id"] = conversation_id
        frames = self._frames(actor, run_id, after, conversation_id)
        return StreamingResponse(frames, media_type="text/event-stream", headers=headers)

    async def _frames(self, actor: Actor, run_id: str, after: int, conversation_id: str | None) -> AsyncIterator[bytes]:
        with self._clients.listening(run_id):
            yield opening(run_id, conversation_id)
            quiet = anyio.current_time()
            while True:
                read = partial(self._app.chats.events, actor, run_id, after, _WAIT_S)
                events = await anyio.to_thread.run_sync(read, abandon_on_cancel=True, limiter=_LISTENERS)
                for event in events:
                    after = event["seq"]
                    if event["type"] != "done":
                        yield frame(event)
                    else:
                        yield frame(event | {"graph": await _thread(self._graph, actor, run_id)})
                        self._clients.over(run_id)
                        return
                if events:
                    quiet = anyio.current_time()
                elif anyio.current_time() - quiet > _QUIET_S:
                    quiet = anyio.current_time()
                    yield KEEP_ALIVE

    def _graph(self, actor: Actor, run_id: str) -> dict[str, Any] | None:
        """How the answer was made; None where that cannot be told: the answer does not wait for it."""
        try:
            return self._app.lineage.of_run(actor, run_id).model_dump(mode="json", exclude={"run_id"})
        except LexsiError:
            return None


def actor_of(request: Request) -> Actor:
    """Who asks, as the guard found."""
    return request.state.actor


def _state(run_id: str, events: list[dict[str, Any]]) -> dict[str, Any]:
    last = events[-1] if events else None
    done = last if last is not None and last["type"] == "done" else {}
    return {"run_id": run_id, "state": done.get("state", "running"), "answer": done.get("answer"), "events": len(events)}


async def _thread(work: Callable[..., Any], *args: Any) -> Any:
    return await anyio.to_thread.run_sync(partial(work, *args))


async def _read(request: Request, kind: type[_BodyT]) -> _BodyT:
    """The body, whole and of the right shape. Raises BadInput that says what does not fit."""
    if request.headers.get("content-type", "").partition(";")[0].strip().casefold() != "application/json":
        raise BadInput("The body must be JSON.", where="Content-Type", to_do="Send Content-Type: application/json.")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST_BODY:
            raise _TooLarge
    try:
        return kind.model_validate_json(bytes(body))
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part)[:60] for part in found["loc"]) or "body"
        known = ", ".join(kind.model_fields)
        raise BadInput(f"{found['msg']}.", where=place, to_do=f"Send a JSON object with {known}.") from None
