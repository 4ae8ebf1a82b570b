"""JSON objects over a socket between server and worker, one a frame. Rows never travel here: they go into Arrow files.

Must never unpickle: a worker that runs strangers' SQL must not be able to run code in the server.
"""

from __future__ import annotations

import contextlib
import json
import selectors
import socket
import struct
from typing import Any

MAX_FRAME = 32 * 2**20
# Not select(): it refuses descriptors above 1024, which a busy server has.
_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)
_LENGTH = struct.Struct(">I")


class FrameTooLargeError(ValueError):
    """The object does not fit into a frame; what is that large belongs into a file."""


class Channel:
    """One end of the pair. Raises ``EOFError`` when the other end is gone."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def fileno(self) -> int:
        """For ``selectors``."""
        return self._sock.fileno()

    def send(self, body: dict[str, Any]) -> None:
        """Send one object; NaN is refused, since JSON has none."""
        data = json.dumps(body, allow_nan=False, separators=(",", ":")).encode()
        if len(data) > MAX_FRAME:
            raise FrameTooLargeError(f"{len(data)} bytes")
        try:
            self._sock.sendall(_LENGTH.pack(len(data)) + data)
        except OSError as error:
            raise EOFError from error

    def poll(self, timeout: float) -> bool:
        """Whether something can be read within ``timeout`` seconds (a frame, or the end)."""
        with _Selector() as selector:
            try:
                selector.register(self._sock, selectors.EVENT_READ)
            except ValueError as error:
                raise EOFError from error
            return bool(selector.select(max(0.0, timeout)))

    def receive(self) -> dict[str, Any]:
        """The next object; waits for it."""
        (length,) = _LENGTH.unpack(self._exactly(_LENGTH.size))
        if length > MAX_FRAME:
            raise EOFError
        return json.loads(self._exactly(length))

    def _exactly(self, count: int) -> bytes:
        parts = bytearray()
        while len(parts) < count:
            try:
                piece = self._sock.recv(min(count - len(parts), 1 << 20))
            except OSError as error:
                raise EOFError from error
            if not piece:
                raise EOFError
            parts += piece
        return bytes(parts)

    def end(self) -> None:
        """Send nothing more: the other end's next ``receive`` raises ``EOFError``."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Close this end."""
        self._sock.close()
