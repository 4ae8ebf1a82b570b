"""What a worker process runs for models: handlers that take and give JSON, with frames as Arrow files.

Must never print, and never leave half a model folder behind under its final name.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lexsi_ds.models.bundle import SavedModel, save
from lexsi_ds.models.frames import read_frame, write_frame
from lexsi_ds.models.scoring import score
from lexsi_ds.models.task import TaskSpec
from lexsi_ds.models.training import BUDGET_S, Origin, train_model

Say = Callable[[dict[str, Any]], None]


def train(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Train and write ``folder``. Args: frame, task, model_type, origin, folder, temporary, threads; budget_s and to_score
    (the frame of rows to score) may be given. Gives the card."""
    task = TaskSpec.model_validate(args["task"])
    frame = read_frame(Path(args["frame"]))
    to_score = read_frame(Path(args["to_score"])) if args.get("to_score") else None
    parts = train_model(
        frame, task, args.get("model_type"), Origin(**args["origin"]), int(args["threads"]), say,
        budget_s=float(args.get("budget_s") or BUDGET_S), to_score=to_score,
    )  # fmt: skip
    save(parts, Path(args["temporary"]), Path(args["folder"]))
    return {"card": parts.card.model_dump(mode="json")}


def predict(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Score every row of ``frame`` with the model in ``folder`` into the Arrow file ``out``; ``threshold`` may be given.
    Gives counts, notes and how the rows compare with those that trained."""
    model = SavedModel(Path(args["folder"]))
    scored = score(model, read_frame(Path(args["frame"])), int(args["threads"]), say, args.get("threshold"))
    write_frame(scored.frame, Path(args["out"]))
    return {
        "rows": len(scored.frame),
        "ranked": scored.ranked,
        "top_overlap": scored.top_overlap,
        "refits": scored.refits,
        "notes": list(scored.notes),
        "comparability": scored.comparability.model_dump(mode="json") if scored.comparability else None,
    }
