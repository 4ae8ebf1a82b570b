"""One DuckDB instance of a worker process, kept warm for the data it was opened on, and never after an error.

Closing takes longer than a small query, so it waits until the answer is out (``close_retired``, the worker's ``after_task``).
Must never: lend an instance for other data than it was opened on, or one that something went wrong in.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import duckdb


@dataclass
class Lent:
    """An instance for one task. ``spent`` says that the task left something in it, so that it is not used again."""

    instance: duckdb.DuckDBPyConnection
    spent: bool = False


class WarmInstance:
    """The instance that served last, and those to be closed."""

    def __init__(self) -> None:
        self._key: str | None = None
        self._instance: duckdb.DuckDBPyConnection | None = None
        self._retired: list[duckdb.DuckDBPyConnection] = []

    @contextlib.contextmanager
    def lent(self, key: str, opened: Callable[[], duckdb.DuckDBPyConnection], *, fresh: bool = False) -> Iterator[Lent]:
        """The warm instance when it is of this ``key``, else a new one; with ``fresh`` always a new one, used once."""
        instance = self._instance if self._key == key and not fresh else None
        if instance is None and self._instance is not None:
            self._retired.append(self._instance)
        self._key = self._instance = None
        lent = Lent(opened() if instance is None else instance, spent=fresh)
        try:
            yield lent
        except BaseException:
            self._retired.append(lent.instance)
            raise
        if lent.spent:
            self._retired.append(lent.instance)
        else:
            self._key, self._instance = key, lent.instance

    def close_retired(self) -> None:
        """Close what earlier tasks retired."""
        while self._retired:
            self._retired.pop().close()

    def release(self) -> None:
        """Close the warm instance too, to give its memory back."""
        if self._instance is not None:
            self._instance.close()
        self._key = self._instance = None
