"""Takes prediction files off the disk that nothing names any more: an engine's own files whose conversation or model is
gone, and folders of predictions that the store does not list.

Must never: remove a file that is younger than a run can be, or one that the store or a conversation still names.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from pathlib import Path

import sqlalchemy as sa

from lexsi_ds.services.home_files import HomeFiles
from lexsi_ds.services.prediction_file import beside
from lexsi_ds.store import tables as t
from lexsi_ds.store.db import Store
from lexsi_ds.store.models import ModelRows

_YOUNG_S = 6 * 3_600
"""What is younger may belong to a run that has not told the store of it yet."""


def sweep_predictions(folder: Path, files: HomeFiles, rows: ModelRows, store: Store) -> int:
    """Remove what is left over in the folder of predictions; returns how many files and folders went."""
    kept = {files.home / text for text in rows.paths()}
    kept |= {beside(path) for path in kept} | _remembered(store)
    oldest = time.time() - _YOUNG_S
    removed = 0
    for path in [*folder.glob("prd_*.arrow"), *folder.glob("pred_*"), *folder.glob(".tmp_*")]:
        with contextlib.suppress(FileNotFoundError):  # another process was first
            if path.resolve() in kept or path.stat().st_mtime > oldest:
                continue
            shutil.rmtree(path) if path.is_dir() else path.unlink()
            removed += 1
    return removed


def _remembered(store: Store) -> set[Path]:
    """Files that a conversation goes on from ("and the next ten?"), as long as the model of its list is there."""
    c = t.conversations.c
    with store.read() as db:
        memories = db.execute(sa.select(c.memory).where(c.deleted_at.is_(None), c.memory.is_not(None))).scalars().all()
        models = set(db.execute(sa.select(t.models.c.id)).scalars())
    lists = [(memory.get("kept") or {}) for memory in memories]
    return {Path(k["predictions_path"]).resolve() for k in lists if k.get("predictions_path") and k.get("model_id") in models}
