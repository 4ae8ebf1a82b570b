"""A process to be killed: imports, asks, trains and decides at once, and writes down what was confirmed. HOME CONFIRMED SOURCE."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lexsi_ds.application import Application
from lexsi_ds.ids import new_id
from lexsi_ds.services.model_training import TrainRequest
from lexsi_ds.settings import Settings

QUESTION = "How many clients by churn?"


class Confirmed:
    """A file of what a person was told is done; a line is whole or not there."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()

    def say(self, **what: Any) -> None:
        """Write a line that outlives this process."""
        with self._lock, self._path.open("ab") as file:
            file.write(json.dumps(what).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def said(self) -> list[dict[str, Any]]:
        """Every line."""
        return [json.loads(line) for line in self._path.read_bytes().splitlines()] if self._path.exists() else []


def main() -> None:
    """Work until killed."""
    home, confirmed, source_id = Path(sys.argv[1]), Confirmed(Path(sys.argv[2])), sys.argv[3]
    app = Application(Settings(home=home, sql_workers=1))
    actor = app.person()
    handle = app.catalog.handle(actor, source_id)
    table = handle.tables[0]

    def ingest() -> None:
        name, rows = new_id("job"), 20_000
        path = home.parent / f"{name}.csv"
        path.write_text("a,b\n" + "".join(f"{i},x{i}\n" for i in range(rows)))
        made = app.catalog.import_source(actor, "files", name, [path])
        confirmed.say(kind="import", id=made.source_id, rows=rows)

    def chat() -> None:
        conversation = app.chats.new(actor, source_id)
        run, seen = app.chats.ask(actor, conversation, QUESTION, source_id), 0
        confirmed.say(kind="asked", id=run, conversation=conversation)
        while not (events := app.chats.events(actor, run, seen, 2.0)) or events[-1]["type"] != "done":
            seen += len(events)
        confirmed.say(kind="turn", id=run, state=events[-1]["state"], answer=events[-1]["answer"])

    def train() -> None:
        made = app.training.train(actor, handle, TrainRequest(target="churn", model_type="Logistic"))
        confirmed.say(kind="model", id=made.id)

    def decide() -> None:
        title = new_id("fnd")
        found = app.findings.propose(
            actor, dataset_id=table.dataset_id, title=title, statement=f"{title} holds.", source_id=source_id,
            check_sql=f"SELECT * FROM {table.name} WHERE churn IS NULL",
        )
        confirmed.say(kind="proposed", id=found.id, version=found.row_version)
        app.findings.decide(actor, found.id, found.row_version, "accepted")
        confirmed.say(kind="decided", id=found.id)

    lines = confirmed.said()
    decided = {line["id"] for line in lines if line["kind"] == "decided"}
    for line in lines:  # who saw no answer decides again
        if line["kind"] == "proposed" and line["id"] not in decided:
            app.findings.decide(actor, line["id"], line["version"], "accepted")
            confirmed.say(kind="decided", id=line["id"])
    for work in (ingest, chat, train, decide):
        threading.Thread(target=_forever, args=(work, confirmed), daemon=True).start()
    print("at work", flush=True)
    threading.Event().wait()


def _forever(work: Callable[[], None], confirmed: Confirmed) -> None:
    try:
        while True:
            work()
    except Exception as error:
        confirmed.say(kind="broke", at=work.__name__, error=repr(error))


if __name__ == "__main__":
    main()
