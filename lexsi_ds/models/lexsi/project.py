"""The project that a run works in: found or made, its stored configuration compared, its models listed.

A project's configuration cannot be removed, so a run gets a project of its own, and one that is returned to must fit.
Must never take an upload for a success before the model, the tag or the column is seen.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import pandas as pd

from lexsi_ds.errors import BadInput, PlatformFailed
from lexsi_ds.models.lexsi.events import FAILED, RUNNING, recent_events
from lexsi_ds.models.lexsi.names import project_name
from lexsi_ds.models.lexsi.session import Session
from lexsi_ds.models.lexsi.wire import KEY, PREDICTION, Wire

POLL_S = 1.0
GRACE = 5
"""Looks at a project where nothing runs and no model appears, before it is said that there is none."""
_BUILDING = (*RUNNING, "training", "building", "in progress")
_MOST_PROJECTS = 20


@dataclass(frozen=True)
class Place:
    """An opened project, and whether it has a configuration already."""

    project: Any
    name: str
    config: dict[str, Any] | None


def organization(session: Session) -> Any:
    """The organization that the settings name."""
    lexsi, name = session.open(), session.access.organization
    try:
        return session.call("opening the organization", lambda: lexsi.organization(organization_name=name))
    except PlatformFailed as error:
        if "organization not found" in error.what.casefold():
            raise BadInput(
                "There is no such organization.", where=name, to_do="Set LEXSI_DS_LEXSI_ORGANIZATION."
            ) from None
        raise


def workspace(session: Session) -> Any:
    """The workspace that the settings name, or the only one there is."""
    owner = organization(session)
    listed = session.call("listing workspaces", owner.workspaces)
    names = [str(n) for n in listed["user_workspace_name"]] if isinstance(listed, pd.DataFrame) else []
    wanted = session.access.workspace or (names[0] if len(names) == 1 else None)
    if wanted is None or wanted not in names:
        raise BadInput(
            "There is no such workspace." if wanted else f"There are {len(names)} workspaces.", where=wanted or "Lexsi",
            to_do=f"Set LEXSI_DS_LEXSI_WORKSPACE to one of: {', '.join(names[:10]) or 'none yet; make one first'}.",
        )  # fmt: skip
    return session.call("opening the workspace", lambda: owner.workspace(workspace_name=wanted))


def opened(session: Session, name: str) -> Any:
    """A project by name; PlatformFailed when it is gone."""
    found = _find(session, workspace(session), name)
    if found is None:
        raise BadInput(
            "The project of this model is not on the Lexsi platform any more.", where=name, to_do="Train it again."
        )
    return found


def place_for(session: Session, task_type: str, run_id: str, wire: Wire) -> Place:
    """The project to train in: the one the settings name if it fits, else this run's, else a further one of this run."""
    where = workspace(session)
    if session.access.project:
        found = _find(session, where, session.access.project) or _create(
            session, where, session.access.project, task_type
        )
        config = configuration(session, found)
        if (why := misfit(config, wire)) is not None:
            raise BadInput(
                f"This project's configuration does not fit, and cannot be removed: {why}.", where=session.access.project,
                to_do="Unset LEXSI_DS_LEXSI_PROJECT, or name another project.",
            )  # fmt: skip
        return Place(found, session.access.project, config)
    name = ""
    for attempt in range(1, _MOST_PROJECTS + 1):
        name = project_name(task_type, run_id, attempt)
        found = _find(session, where, name)
        if found is None:
            return Place(_create(session, where, name, task_type), name, None)
        config = configuration(session, found)
        if misfit(config, wire) is None:
            return Place(found, name, config)
    raise BadInput("This run has made many projects already.", where=name, to_do="Start a new run.")


def configuration(session: Session, project: Any) -> dict[str, Any] | None:
    """What the platform keeps of the first upload; None for a fresh project."""
    found = session.call("reading the configuration", project.config)
    return found if isinstance(found, dict) else None


def misfit(config: dict[str, Any] | None, wire: Wire) -> str | None:
    """Why a stored configuration cannot serve these columns; None when it can."""
    if config is None:
        return None
    metadata = config.get("metadata") or {}
    lacking = [n for n in _NEEDED if n not in metadata]
    if lacking:
        return f"it lacks {', '.join(lacking)}"
    if (config.get("unique_identifier"), config.get("true_label")) != (KEY, wire.label):
        return f"it identifies rows by {config.get('unique_identifier')} and predicts {config.get('true_label')}"
    known = {*metadata["feature_include"], *metadata["feature_exclude"]}
    unknown = [f.wire for f in wire.features if f.wire not in known]
    if unknown:
        return f"it does not know {', '.join(unknown[:5])}"
    if PREDICTION not in known:
        return f"it has no {PREDICTION} column to leave out"
    if metadata.get("test_tags"):
        return "it has test tags of its own, which cannot be taken away"
    wanted = [name for name in _STICKY if metadata.get(name)]
    return f"it has {', '.join(wanted)} switched on, which cannot be switched off" if wanted else None


_NEEDED = ("feature_include", "feature_exclude", "feature_encodings", "drop_duplicate_uid", "tags", "test_tags", "use_optuna",
           "handle_data_imbalance")  # fmt: skip
_STICKY = ("drop_duplicate_uid", "use_optuna", "handle_data_imbalance")


def staged(session: Session, project: Any) -> dict[str, str]:
    """Models of a project by name, with their status. A fresh project has none, at which the SDK trips."""
    try:
        frame = session.call("listing models", project.models)
    except PlatformFailed as error:
        if "lacks status" in error.what:
            return {}
        raise
    if not isinstance(frame, pd.DataFrame) or not {"model_name", "status"} <= set(frame.columns):
        raise session.failed("listing models", "The platform's answer is no list of models")
    return dict(zip(frame["model_name"].astype(str), frame["status"].astype(str).str.casefold(), strict=True))


def new_model(session: Session, project: Any, before: set[str], seen: frozenset[str], model: str, until: float) -> str:
    """The model that a training left behind. The SDK returns when its stream closes, also while the training still runs."""
    quiet = 0
    while True:
        now = staged(session, project)
        fresh = [name for name in now if name not in before]
        done = [name for name in fresh if now[name] not in _BUILDING]
        if done:
            return next((n for n in reversed(done) if n.casefold().startswith(model.casefold())), done[-1])
        events = recent_events(session, project, seen)
        running = bool(fresh) or any(event.status in RUNNING for event in events)
        failed = [event for event in events if event.status in FAILED]
        if failed and not running:
            raise session.failed("training", failed[-1].message)
        quiet = 0 if running else quiet + 1
        if quiet > GRACE:
            raise session.failed(
                "training", "The training came to an end, but the project has no new model", "Train again."
            )
        if time.monotonic() > until:
            raise session.failed(
                "training", "The training still runs on the platform, but the time for it is over here",
                "Raise LEXSI_TRAIN_TIMEOUT_S, or look at the project on the platform.",
            )  # fmt: skip
        session.say({"text": session.told or "Waiting for the platform to finish the training"})
        time.sleep(POLL_S)


def _find(session: Session, where: Any, name: str) -> Any | None:
    try:
        found = session.call("opening the project", lambda: where.project(project_name=name))
    except PlatformFailed as error:
        if "project not found" in error.what.casefold():
            return None
        raise
    return _tabular(found, name)


def _create(session: Session, where: Any, name: str, task_type: str) -> Any:
    def create() -> Any:
        return where.create_project(project_name=name, modality="tabular", project_type=task_type)

    return _tabular(session.call("creating the project", create), name)


def _tabular(project: Any, name: str) -> Any:
    if not hasattr(project, "case_predict"):
        raise BadInput("This project is not one for tables.", where=name, to_do="Name a tabular project.")
    return project
