"""Errors as programs get them: a code to go by, what happened, where, and what to do. Must never: carry a traceback.
"""

from __future__ import annotations

from typing import Any

from starlette.responses import JSONResponse

from lexsi_ds.errors import (
    Ambiguous,
    BadInput,
    Busy,
    Conflict,
    Denied,
    EndpointFailed,
    LexsiError,
    ModelRefused,
    NotFound,
    PlatformFailed,
    SqlFailed,
    SqlRefused,
    WorkerFailed,
)

_STATUS: tuple[tuple[type[LexsiError], int], ...] = (
    (NotFound, 404), (Denied, 403), (Conflict, 409), (Busy, 409), (BadInput, 400), (SqlRefused, 400), (SqlFailed, 400),
    (ModelRefused, 422), (WorkerFailed, 503), (EndpointFailed, 502), (PlatformFailed, 502),
)
_CODES: tuple[tuple[type[LexsiError], str], ...] = (
    (Busy, "busy"), (SqlRefused, "sql_refused"), (SqlFailed, "sql_failed"), (ModelRefused, "model_refused"),
    (WorkerFailed, "worker_failed"), (EndpointFailed, "endpoint_failed"),
)


def failure(code: str, message: str, *, where: str = "", to_do: str = "", **more: Any) -> dict[str, Any]:
    """The body of an error."""
    body: dict[str, Any] = {"code": code, "message": message}
    body |= {name: value for name, value in (("where", where), ("toDo", to_do)) if value}
    return {"error": body | more}


def failure_of(error: LexsiError) -> dict[str, Any]:
    """The body for an error of the core."""
    code = error.code if error.code != "error" else next((c for kind, c in _CODES if isinstance(error, kind)), "error")
    more = {"candidates": list(error.candidates)} if isinstance(error, Ambiguous) else {}
    return failure(code, error.what, where=error.where, to_do=error.to_do, **more)


def status_of(error: LexsiError) -> int:
    """The HTTP status for an error of the core."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def response(status: int, body: dict[str, Any], **headers: str) -> JSONResponse:
    """An error as an HTTP response that no cache keeps."""
    kept = {name.replace("_", "-"): value for name, value in headers.items()}
    return JSONResponse(body, status, headers={"cache-control": "no-store"} | kept)
