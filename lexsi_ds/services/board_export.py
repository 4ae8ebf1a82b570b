"""The board as one zip: the rows of each card as CSV, and the query that gave them. Whole rows, safe for a spreadsheet."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

import duckdb
import pyarrow as pa

from lexsi_ds.errors import NotFound
from lexsi_ds.services.access import Actor
from lexsi_ds.services.board import Board
from lexsi_ds.services.csv_text import csv_bytes


def archive(board: Board, actor: Actor, folder: Path) -> bytes:
    """All cards of a person. A card whose rows are gone is named in ``missing.txt``; ``folder`` holds what is written meanwhile."""
    out, missing = io.BytesIO(), []
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        cards = [pin for pin in board.list(actor) if pin.kind == "card"]
        for n, pin in enumerate(cards, 1):
            stem = re.sub(r"[^A-Za-z0-9]+", "_", pin.title).strip("_")[:60] or "card"
            try:
                package.writestr(f"{n:02d}_{stem}.csv", _csv(board.arrow_path(actor, pin.id), folder))
            except NotFound as error:
                missing.append(f"{pin.title}: {error}")
            result = pin.result or {}
            package.writestr(
                f"{n:02d}_{stem}.sql",
                f"-- {' '.join(pin.question.split())}\n-- data version {result.get('snapshot_number')}, {result.get('rows')} rows, "
                f"run {pin.refreshed_at:%Y-%m-%d %H:%M} UTC\n{pin.sql}\n",
            )
        if missing:
            package.writestr("missing.txt", "\n".join(missing))
    return out.getvalue()


def _csv(path: Path, folder: Path) -> bytes:
    folder.mkdir(parents=True, exist_ok=True)
    with (
        pa.memory_map(str(path)) as mapped, pa.ipc.open_stream(mapped) as reader,
        duckdb.connect(config={"autoinstall_known_extensions": False}) as db,
    ):
        db.register("rows", reader.read_all())
        columns = [(name, kind) for name, kind, *_ in db.execute("DESCRIBE rows").fetchall()]
        return csv_bytes(db, columns, "FROM rows", [], folder)
