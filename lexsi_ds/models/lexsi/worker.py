"""What a worker process runs for the Lexsi engine. The only room that imports the SDK; frames and answers go by Arrow and JSON.

Must never let anything but a LexsiError with clean words leave, print, or keep a sign-in for the next task.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lexsi_ds.errors import LexsiError, WorkerFailed
from lexsi_ds.models.frames import read_frame, write_frame
from lexsi_ds.models.lexsi import cases, gate
from lexsi_ds.models.lexsi.connector import register_s3
from lexsi_ds.models.lexsi.folder import PlatformFolder, save
from lexsi_ds.models.lexsi.install import need_sdk
from lexsi_ds.models.lexsi.platform import deadline
from lexsi_ds.models.lexsi.scoring import score
from lexsi_ds.models.lexsi.session import Access, Say, Session, quiet_loggers
from lexsi_ds.models.lexsi.training import Wish, train_model
from lexsi_ds.models.task import TaskSpec
from lexsi_ds.models.training_card import Origin

log = logging.getLogger(__name__)


def check(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Whether the installed SDK has the calls that are used. Gives its version."""

    def work(session: Session) -> dict[str, Any]:
        version = need_sdk()
        gate.check(version)
        return {"version": version}

    return _guarded({"access": {"url": "", "token": ""}} | args, say, work)


def train(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Train on the platform and write ``folder``. Args: access, frame, task, wish, origin, folder, temporary, seconds."""

    def work(session: Session) -> dict[str, Any]:
        task = TaskSpec.model_validate(args["task"])
        wish = Wish(**{**args["wish"], "xai_method": tuple(args["wish"]["xai_method"])})
        until = deadline(float(args["seconds"]))
        frame, rows = read_frame(Path(args["frame"])), args.get("to_score")
        to_score = read_frame(Path(rows)) if rows else None
        made = train_model(session, frame, task, wish, Origin(**args["origin"]), until, to_score)
        save(Path(args["temporary"]), Path(args["folder"]), made.card, made.link, made.rows, made.scores, made.keys)
        return {"card": made.card.model_dump(mode="json")}

    return _guarded(args, say, work)


def predict(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Score every row of ``frame`` into the Arrow file ``out``. Gives counts and notes."""

    def work(session: Session) -> dict[str, Any]:
        model, frame = PlatformFolder(Path(args["folder"])), read_frame(Path(args["frame"]))
        scored = score(session, model, frame, args.get("compute"), args.get("threshold"))
        write_frame(scored.frame, Path(args["out"]))
        return {
            "rows": len(scored.frame), "ranked": scored.ranked, "top_overlap": 0.0, "refits": 0, "notes": list(scored.notes)
        }  # fmt: skip

    return _guarded(args, say, work)


def explain_cases(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Explain each row of ``rows``; the JSON goes to ``out``."""

    def work(session: Session) -> dict[str, Any]:
        model, rows = PlatformFolder(Path(args["folder"])), read_frame(Path(args["rows"]))
        found = cases.explain_cases(session, model, rows, args["scale"], summaries=bool(args.get("summaries", True)))
        return _written(args, {"cases": [case.model_dump(mode="json") for case in found]})

    return _guarded(args, say, work)


def explain_global(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Importance over the training rows; the JSON goes to ``out``."""

    def work(session: Session) -> dict[str, Any]:
        model = PlatformFolder(Path(args["folder"]))
        return _written(args, cases.explain_global(session, model, model.card.rows).model_dump(mode="json"))

    return _guarded(args, say, work)


def similar_cases(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Similar training rows for each row of ``rows``; the JSON goes to ``out``."""

    def work(session: Session) -> dict[str, Any]:
        model, rows = PlatformFolder(Path(args["folder"])), read_frame(Path(args["rows"]))
        return _written(args, {"similar": cases.similar_cases(session, model, rows, int(args["k"]))})

    return _guarded(args, say, work)


def connect(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Register an S3 bucket's keys. Gives the connector's id on the platform."""

    def work(session: Session) -> dict[str, Any]:
        keys = args["keys"]
        return {"id": register_s3(session, args["connector_id"], args["region"], keys["access"], keys["secret"])}

    return _guarded(args, say, work, secrets=tuple(args["keys"].values()))


def _written(args: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    Path(args["out"]).write_text(json.dumps(body), encoding="utf-8")
    return {}


def _guarded(
    args: dict[str, Any], say: Say, work: Callable[[Session], dict[str, Any]], secrets: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Run the work with a session of its own. What is no LexsiError becomes one whose words are clean, and no traceback is kept:
    its text could hold an address with a token in it."""
    quiet_loggers()
    session = Session(Access(**args["access"]), say)
    try:
        return work(session)
    except LexsiError:
        raise
    except MemoryError:
        raise
    except Exception as error:
        said = session.clean(f"{type(error).__name__}: {error}")[:200]
        for secret in secrets:
            said = said.replace(secret, "…")
        place = _where(error)
        log.error("unexpected in %s: %s", place, said)
        to_do = "Try again; home/logs/workers.log says more."
        raise WorkerFailed("error", "The Lexsi engine met an error that was not expected.", where=place, to_do=to_do) from None


def _where(error: BaseException) -> str:
    """Module and line of our own that it came from, without values."""
    place, step = "", error.__traceback__
    while step is not None:
        name = step.tb_frame.f_globals.get("__name__", "")
        if name.startswith("lexsi_ds."):
            place = f"{name.removeprefix('lexsi_ds.')}:{step.tb_lineno}"
        step = step.tb_next
    return place
