"""What a worker process runs for explanations: handlers that take and give JSON, rows as Arrow files.

Each writes its answer to the file ``out``, since a beeswarm is more than a message should carry, and gives its size.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lexsi_ds.explain import cases
from lexsi_ds.explain.similar import similar_rows
from lexsi_ds.models.bundle import SavedModel
from lexsi_ds.models.frames import read_frame

Say = Callable[[dict[str, Any]], None]


def explain_cases(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Explain each row of ``rows`` with the model in ``folder`` on ``scale``: ``{"cases": [CaseExplanation…]}`` in
    ``out``."""
    model, rows = SavedModel(Path(args["folder"])), read_frame(Path(args["rows"]))
    say({"text": f"Explaining {len(rows):,} cases"})
    found = cases.explain_cases(model, rows, args.get("scale", "probability"))
    return _write(args, {"cases": [case.model_dump(mode="json") for case in found]})


def explain_global(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Importance and beeswarm over ``rows``: a GlobalExplanation in ``out``."""
    model, rows = SavedModel(Path(args["folder"])), read_frame(Path(args["rows"]))
    say({"text": f"Explaining {min(len(rows), cases.MOST_ROWS):,} of {len(rows):,} rows"})
    return _write(args, cases.explain_global(model, rows, args.get("scale", "probability")).model_dump(mode="json"))


def similar_cases(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """The ``k`` nearest training rows of each row of ``rows``: ``{"similar": [[…]…]}`` in ``out``."""
    model, rows = SavedModel(Path(args["folder"])), read_frame(Path(args["rows"]))
    say({"text": f"Looking for rows like {len(rows):,} cases"})
    return _write(args, {"similar": similar_rows(model, rows, int(args.get("k", 5)))})


def _write(args: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(answer, allow_nan=False)
    Path(args["out"]).write_text(text, encoding="utf-8")
    return {"bytes": len(text)}
