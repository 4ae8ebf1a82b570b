"""A run store on plain sqlite3, for tests of the registry: what `jobs.runstore.RunStore` asks for, and no more."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexsi_ds.errors import Busy

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs(id TEXT PRIMARY KEY, conversation_id TEXT, boot TEXT, question TEXT, state TEXT,
  cancel INT DEFAULT 0, started REAL, beat REAL, ended REAL, meta TEXT);
CREATE UNIQUE INDEX IF NOT EXISTS one_live ON runs(conversation_id) WHERE state IN ('queued', 'running');
CREATE TABLE IF NOT EXISTS events(run_id TEXT, seq INT, ts REAL, type TEXT, body TEXT, PRIMARY KEY(run_id, seq));
"""
_LIVE = "state IN ('queued', 'running')"


@dataclass(frozen=True)
class Record:
    id: str
    conversation_id: str
    boot: str
    question: str
    state: str
    cancel: bool
    started: float
    beat: float
    ended: float | None
    meta: dict[str, Any]


class SqliteRuns:
    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.executescript(_SCHEMA)
        self._lock = threading.RLock()

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def _read(self, sql: str, *values: Any) -> list[Any]:
        with self._lock:
            return self._db.execute(sql, values).fetchall()

    def insert_run(
        self, run_id: str, conversation_id: str, boot: str, question: str, meta: dict[str, Any], started: float,
    ) -> None:
        row = (run_id, conversation_id, boot, question, "running", 0, started, started, None, json.dumps(meta))
        try:
            with self._write() as db:
                db.execute("INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?)", row)
        except sqlite3.IntegrityError as error:
            raise Busy("This conversation is still at work on a question.") from error

    def put_event(self, run_id: str, seq: int, ts: float, kind: str, body: dict[str, Any]) -> None:
        with self._write() as db:
            db.execute("INSERT INTO events VALUES (?,?,?,?,?)", (run_id, seq, ts, kind, json.dumps(body)))

    def finish(self, run_id: str, seq: int, ts: float, body: dict[str, Any]) -> bool:
        with self._write() as db:
            return self._end(db, run_id, seq, ts, body)

    def close_interrupted(self, run_id: str, ts: float) -> bool:
        with self._write() as db:
            (last,) = db.execute("SELECT coalesce(max(seq), 0) FROM events WHERE run_id = ?", (run_id,)).fetchone()
            return self._end(db, run_id, last + 1, ts, {"state": "interrupted"})

    def _end(self, db: sqlite3.Connection, run_id: str, seq: int, ts: float, body: dict[str, Any]) -> bool:
        done = db.execute(f"UPDATE runs SET state = ?, ended = ? WHERE id = ? AND {_LIVE}", (body["state"], ts, run_id))
        if done.rowcount:
            db.execute("INSERT INTO events VALUES (?,?,?,?,?)", (run_id, seq, ts, "done", json.dumps(body)))
        return bool(done.rowcount)

    def events(self, run_id: str, after: int = 0) -> list[dict[str, Any]]:
        rows = self._read("SELECT * FROM events WHERE run_id = ? AND seq > ? ORDER BY seq", run_id, after)
        return [{"run_id": r[0], "seq": r[1], "ts": r[2], "type": r[3], **json.loads(r[4])} for r in rows]

    def run(self, run_id: str) -> Record | None:
        rows = self._records("WHERE id = ?", run_id)
        return rows[0] if rows else None

    def live_runs(self) -> list[Record]:
        return self._records(f"WHERE {_LIVE} ORDER BY started")

    def _records(self, where: str, *values: Any) -> list[Record]:
        rows = self._read(f"SELECT * FROM runs {where}", *values)
        return [Record(*row[:5], bool(row[5]), *row[6:9], json.loads(row[9])) for row in rows]

    def set_state(self, run_id: str, state: str, ended: float | None = None) -> None:
        with self._write() as db:
            db.execute(f"UPDATE runs SET state = ?, ended = ? WHERE id = ? AND {_LIVE}", (state, ended, run_id))

    def beat(self, run_ids: Iterable[str], ts: float) -> None:
        with self._write() as db:
            db.executemany("UPDATE runs SET beat = ? WHERE id = ?", [(ts, run_id) for run_id in run_ids])

    def request_cancel(self, run_id: str) -> None:
        with self._write() as db:
            db.execute(f"UPDATE runs SET cancel = 1 WHERE id = ? AND {_LIVE}", (run_id,))

    def cancel_requested(self, run_ids: Iterable[str]) -> set[str]:
        return {run_id for run_id in run_ids if self._read("SELECT 1 FROM runs WHERE id = ? AND cancel = 1", run_id)}
