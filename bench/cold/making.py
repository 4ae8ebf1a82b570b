"""Makes the invented databases and their questions, the same ones each time: a seed a database, nothing from outside."""

from __future__ import annotations

import datetime as dt
import random
import sqlite3
from pathlib import Path
from typing import Any, Protocol

Rows = list[tuple[Any, ...]]
KINDS = {"s": "simple", "m": "moderate", "a": "ambiguous", "u": "unanswerable"}


class Database(Protocol):
    """A module that describes one database."""

    @property
    def DDL(self) -> str:  # noqa: N802
        """Its tables."""
        ...

    def rows(self, pick: random.Random) -> dict[str, Rows]:
        """Rows of each table."""
        ...


def day(pick: random.Random, first: str, end: str) -> str:
    """A day from ``first`` up to, and without, ``end``."""
    start = dt.date.fromisoformat(first)
    return (start + dt.timedelta(pick.randrange((dt.date.fromisoformat(end) - start).days))).isoformat()


def later(date: str, days: int) -> str:
    """So many days after a date."""
    return (dt.date.fromisoformat(date) + dt.timedelta(days)).isoformat()


def write(database: Database, path: Path, seed: int = 8) -> None:
    """The database as an SQLite file, which must not exist yet."""
    con = sqlite3.connect(path)
    try:
        con.executescript(database.DDL)
        for table, rows in database.rows(random.Random(seed)).items():
            con.executemany(f"insert into {table} values({','.join('?' * len(rows[0]))})", rows)
        con.commit()
    finally:
        con.close()


def cases(name: str) -> list[dict[str, Any]]:
    """The questions about a database, in the form that `bench.cases` reads.

    Its file has a line each: ``kind|question|gold``, where ``##`` stands between golds that are all right, and ``|ordered`` may
    follow.
    """
    made = []
    lines = Path(__file__).with_name(f"{name}.txt").read_text(encoding="utf-8").splitlines()
    for n, line in enumerate(lines, 1):
        order = ["ordered"] if line.endswith("|ordered") else []
        kind, question, golds = line.removesuffix("|ordered").split("|", 2)
        made.append(
            {
                "id": f"{name}-{n:02d}",
                "db": name,
                "question": question,
                "kind": KINDS[kind],
                "gold": None,
                "readings": [g for g in golds.split("##") if g],
                "ordered": "ordered" in order,
            }
        )
    return made
