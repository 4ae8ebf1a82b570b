"""How a turn feels: its first event, Stop in the middle of a query, a training, SHAP values and words, and how a prompt grows.

Run: python -m bench.chat [--times 5]. A home of its own, the demo bank, and a scripted model over HTTP for what needs one.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.main import NORTH_STAR, say
from lexsi_ds.application import Application
from lexsi_ds.settings import Settings
from tests.llm.server import Say, Server

LONG_SQL = "SELECT sum(a.i * b.i % 7) AS s FROM range(1000000) AS a(i), range(1000000) AS b(i)"
Events = list[dict[str, Any]]


def p95(values: list[float]) -> float:
    """The 95th percentile by nearest rank."""
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]


class Turns:
    """Questions to one application, in conversations of their own."""

    def __init__(self, app: Application) -> None:
        self.app, self.actor = app, app.person()
        self.source = app.catalog.ensure_demo(self.actor).source_id

    def ask(self, question: str, given: dict[str, Any] | None = None) -> str:
        """Start a run."""
        conversation = self.app.chats.new(self.actor, self.source)
        return self.app.chats.ask(self.actor, conversation, question, self.source, given=given)

    def until(self, run_id: str, seen: Callable[[dict[str, Any]], bool]) -> Events:
        """All events once one of them is as wanted, or the run is over."""
        events: Events = []
        while not any(seen(e) or e["type"] == "done" for e in events):
            events += self.app.chats.events(self.actor, run_id, len(events), 5)
        return events

    def first_event(self, question: str) -> float:
        """Seconds from the question to its first event; the run goes on to its end after."""
        started = time.perf_counter()
        run_id = self.ask(question)
        self.until(run_id, lambda e: True)
        seconds = time.perf_counter() - started
        self.until(run_id, lambda e: False)
        return seconds

    def stopped(
        self, question: str, at: Callable[[dict[str, Any]], bool], after_s: float, given: dict[str, Any] | None = None
    ) -> float | None:
        """Seconds from Stop to the last event; None when the run was over before."""
        run_id = self.ask(question, given)
        self.until(run_id, at)
        time.sleep(after_s)
        started = time.perf_counter()
        self.app.chats.stop(self.actor, run_id)
        events = self.until(run_id, lambda e: False)
        seconds = time.perf_counter() - started
        return seconds if events[-1]["state"] == "stopped" else None


def called(tool: str) -> Callable[[dict[str, Any]], bool]:
    """Whether an event says that this tool was called."""
    return lambda e: e["type"] == "tool" and e["name"] == tool


def bench_stop(turns: Turns, talking: Turns, times: int) -> None:
    """Stop in each of four moments, so many times each."""
    long = {"kind": "sql", "sql": LONG_SQL}
    moments: dict[str, Callable[[], float | None]] = {
        "a query": lambda: turns.stopped("a long query", called("run_sql"), 0.5, long),
        "a training": lambda: turns.stopped(NORTH_STAR, called("train_tabular_model"), 0.5),
        "SHAP values": lambda: turns.stopped(NORTH_STAR, called("explain_prediction"), 0.02),
        "a model's words": lambda: talking.stopped("How many accounts?", lambda e: e["type"] == "delta", 0.2),
    }
    every: list[float] = []
    for name, stop in moments.items():
        found = [s for _ in range(times) if (s := stop()) is not None]
        every += found
        told = f"{p95(found):.2f} s, {len(found)} of {times}" if found else "was over before"
        say(f"Stop in the middle of {name}: p95, stopped", told, "at most 1 s")
    say(f"Stop, all {len(every)}: p95", f"{p95(every):.2f} s", "at most 1 s")


def bench_prompt(app: Application, server: Server) -> None:
    """Characters that leave at each step of a run of ten queries, over 10 rows and over 10 million."""
    turns = Turns(app)
    for rows in (10, 10_000_000):
        before = len(server.requests)
        turns.until(turns.ask(f"grow {rows}"), lambda e: False)
        sizes = [len(json.dumps(r, ensure_ascii=False)) for r in server.requests[before:]]
        say(f"prompt of step 1, 2, 6 and last, {rows:,} rows each", " ".join(f"{sizes[i]:,}" for i in (0, 1, 5, -1)), "bounded")


def model(body: dict[str, Any]) -> Say:
    """Counts, then talks for long; or makes ten queries of so many rows."""
    texts = [str(m.get("content") or "") for m in body["messages"]]
    looks = sum(text.startswith("Observation of") for text in texts)
    if "grow" in texts[1] and looks < 10:
        rows = int(texts[1].split()[-1])
        sql = f"SELECT i, i * {looks + 2} AS many, 'row ' || i AS name FROM range({rows}) AS r(i)"
        return Say(json.dumps({"tool": "run_sql", "args": {"sql": sql}}))
    if not looks:
        return Say(json.dumps({"tool": "run_sql", "args": {"sql": "SELECT count(*) AS n FROM account"}}))
    words = "Done." if "grow" in texts[1] else "There are 4,500 accounts. " + "And so on. " * 2000
    return Say(json.dumps({"final_answer": words}), piece=20, pause=0.0 if "grow" in texts[1] else 0.02)


def main() -> None:
    """Print all lines."""
    parser = argparse.ArgumentParser(prog="python -m bench.chat")
    parser.add_argument("--times", type=int, default=5, help="times each moment is stopped in (default: 5)")
    times = parser.parse_args().times
    load = os.getloadavg()[0]
    say("load of the machine before", f"{load:.1f} on {os.cpu_count()} cores", "")
    with tempfile.TemporaryDirectory() as folder, Server([model]) as server:
        app = Application(Settings(home=Path(folder) / "home"))
        talks = Application(
            Settings(home=Path(folder) / "home", llm_base_url=server.url, llm_model="scripted", llm_tools="json")
        )
        try:
            turns = Turns(app)
            turns.first_event("How many loans?")  # what a new process learns once
            firsts = [turns.first_event("How many accounts?") for _ in range(4 * times)]
            told = f"{sorted(firsts)[len(firsts) // 2]:.3f} s, {p95(firsts):.3f} s"
            say(f"first event of a turn, {len(firsts)} turns: median, p95", told, "at most 0.2 s")
            bench_stop(turns, Turns(talks), times)
            bench_prompt(talks, server)
        finally:
            talks.close()
            app.close()


if __name__ == "__main__":
    main()
