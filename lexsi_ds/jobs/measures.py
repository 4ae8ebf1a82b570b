"""What is counted of this process for an operator, and the one line that the log holds for each turn.

Must never: hold a value of the data, a question, a name of a person or a table; labels are states and doors, few and known.
"""

from __future__ import annotations

import json
import logging
from typing import Any

from prometheus_client import Counter, Gauge, Histogram

log = logging.getLogger("lexsi_ds.turn")
_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600)

TURNS = Counter("lexsi_turns", "Questions that ended, by how.", ["state"])
TURN_SECONDS = Histogram("lexsi_turn_seconds", "Seconds from the question to its end.", buckets=_SECONDS)
TURN_TOKENS = Counter("lexsi_turn_tokens", "Tokens that the language model read and wrote.", ["kind"])
TOOL_CALLS = Counter("lexsi_tool_calls", "Tool calls of ended questions.")
LIVE_RUNS = Gauge("lexsi_live_runs", "Questions at work in this process.")
TASKS = Counter("lexsi_tasks", "Background tasks that ended, by kind and how.", ["kind", "state"])
LIVE_TASKS = Gauge("lexsi_live_tasks", "Background tasks at work in this process.")
REFUSED = Counter("lexsi_refused", "Requests refused because a cap was reached.", ["cap"])
REQUESTS = Counter("lexsi_http_requests", "HTTP requests, by status.", ["status"])
SESSIONS = Gauge("lexsi_sessions", "Browser tabs that are connected.")


def turn_over(run_id: str, body: dict[str, Any], seconds: float) -> None:
    """Count a question that ended, and write its line: JSON, numbers and a state only."""
    state, usage = str(body.get("state")), dict(body.get("usage") or {})
    TURNS.labels(state).inc()
    TURN_SECONDS.observe(seconds)
    TOOL_CALLS.inc(int(body.get("tool_calls") or 0))
    tokens = {kind: int(usage.get(f"{kind}_tokens") or 0) for kind in ("prompt", "completion")}
    for kind, count in tokens.items():
        TURN_TOKENS.labels(kind).inc(count)
    line = {"turn": run_id, "state": state, "seconds": round(seconds, 3), "tool_calls": int(body.get("tool_calls") or 0)}
    log.info(json.dumps(line | {f"{kind}_tokens": count for kind, count in tokens.items()}))
