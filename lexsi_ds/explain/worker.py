"""What a worker process runs for explanations: handlers that take and give JSON, rows as Arrow files.

Each writes its answer to the file ``out``, since a beeswarm is more than a message should carry, and gives its size. Opened
models are kept for the next call, because a folder never changes; the pool takes them back when memory runs short.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import BaseModel

from lexsi_ds.errors import BadInput
from lexsi_ds.explain import cases
from lexsi_ds.explain.rows import MOST_ROWS
from lexsi_ds.explain.similar import similar_rows
from lexsi_ds.explain.views import VIEWS
from lexsi_ds.models.bundle import SavedModel
from lexsi_ds.models.frames import read_frame

Say = Callable[[dict[str, Any]], None]
_KEPT = 3
_opened: OrderedDict[str, SavedModel] = OrderedDict()
_last_rows: dict[tuple[str, int, int], pd.DataFrame] = {}
"""The kept rows read last, by file, size and time: a slider asks for the same ones again and again. Files of one call
(``frm_…``) are not kept."""


def view(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """One view of the model in ``folder``: ``view`` names it, ``options`` are its arguments, ``rows`` (may be absent) its
    rows; a value of ``results``, ``results_local`` or ``results_decision`` as JSON in ``out``."""
    compute = VIEWS.get(str(args["view"]))
    if compute is None:
        raise BadInput(f"There is no view {args['view']!r}.", to_do=f"Use one of: {', '.join(VIEWS)}.")
    found = compute(opened(args["folder"]), _rows(args), args.get("options", {}), say)
    return _write(args, found)


def explain_cases(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Explain each row of ``rows`` with the model in ``folder`` on ``scale``: ``{"cases": [CaseExplanation…]}`` in
    ``out``."""
    model, rows = opened(args["folder"]), read_frame(Path(args["rows"]))
    say({"text": f"Explaining {len(rows):,} cases"})
    found = cases.explain_cases(model, rows, args.get("scale", "probability"), args.get("output"))
    return _write(args, {"cases": [case.model_dump(mode="json") for case in found]})


def explain_global(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Importance and beeswarm over ``rows``: a GlobalExplanation in ``out``."""
    model, rows = opened(args["folder"]), read_frame(Path(args["rows"]))
    say({"text": f"Explaining {min(len(rows), MOST_ROWS):,} of {len(rows):,} rows"})
    return _write(args, cases.explain_global(model, rows, args.get("scale", "probability")))


def similar_cases(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """The ``k`` nearest training rows of each row of ``rows``: ``{"similar": [[…]…]}`` in ``out``."""
    model, rows = opened(args["folder"]), read_frame(Path(args["rows"]))
    say({"text": f"Looking for rows like {len(rows):,} cases"})
    return _write(args, {"similar": similar_rows(model, rows, int(args.get("k", 5)))})


def opened(folder: str) -> SavedModel:
    """The model in a folder, opened once."""
    path = Path(folder)
    if folder in _opened and (path / "card.json").is_file():
        _opened.move_to_end(folder)
        return _opened[folder]
    _opened[folder] = model = SavedModel(path)
    while len(_opened) > _KEPT:
        _opened.popitem(last=False)
    return model


def release() -> None:
    """Forget the opened models and rows; called when memory runs short."""
    _opened.clear()
    _last_rows.clear()


def _rows(args: dict[str, Any]) -> pd.DataFrame | None:
    if not args.get("rows"):
        return None
    path = Path(args["rows"])
    if path.name.startswith("frm_"):
        return read_frame(path)
    stat = path.stat()
    key = (str(path), stat.st_size, stat.st_mtime_ns)
    if key not in _last_rows:
        _last_rows.clear()
        _last_rows[key] = read_frame(path)
    return _last_rows[key]


def _write(args: dict[str, Any], answer: dict[str, Any] | BaseModel) -> dict[str, Any]:
    plain = answer.model_dump(mode="json") if isinstance(answer, BaseModel) else answer
    text = json.dumps(plain, allow_nan=False)
    Path(args["out"]).write_text(text, encoding="utf-8")
    return {"bytes": len(text)}
