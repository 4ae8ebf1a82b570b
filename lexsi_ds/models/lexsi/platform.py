"""Training and scoring on the platform: an upload, a call that blocks, and a look at what came of it.

Must never: pass a position where the SDK has names, send the outcome of rows to be scored, or hand on a score whose row is
not the one that was sent.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import pandas as pd

from lexsi_ds.errors import LexsiError, PlatformFailed
from lexsi_ds.models.lexsi.events import explained, seen_events
from lexsi_ds.models.lexsi.names import PlatformModel
from lexsi_ds.models.lexsi.project import configuration, new_model, staged
from lexsi_ds.models.lexsi.session import Session
from lexsi_ds.models.lexsi.wire import KEY, PREDICTION, Wire

XAI_AT_TRAINING = ("shap", "lime", "support_set")


@dataclass(frozen=True)
class Training:
    """What is trained: the columns, the model, where it computes, which explanations are prepared, and until when."""

    wire: Wire
    model: PlatformModel
    compute: str
    xai_method: tuple[str, ...]
    until: float
    """``time.monotonic`` of the deadline."""


def train_on(session: Session, project: Any, training: Training, tag: str, frame: pd.DataFrame) -> str:
    """Upload a labelled table and train on it; gives the model's name on the platform once it is there.

    A fresh project configures itself with the first upload and trains at once; one with a configuration takes the upload
    and is told to train.
    """
    config = configuration(session, project)
    before, seen = set(staged(session, project)), seen_events(session, project)
    try:
        if config is None:
            _first_upload(session, project, training, tag, frame)
        else:
            upload(session, project, tag, frame)
            _train_again(session, project, training, tag, config)
    except PlatformFailed as error:
        raise explained(session, project, error, seen) from None
    return new_model(session, project, before, seen, training.model.name, training.until)


def _first_upload(session: Session, project: Any, training: Training, tag: str, frame: pd.DataFrame) -> None:
    wire, model = training.wire, training.model
    config = {
        # The SDK takes its branch for foundation models by another key than it documents.
        ("model_name" if model.foundation else "model"): model.name,
        "unique_identifier": KEY,
        "true_label": wire.label,
        "tag": tag,
        "pred_label": PREDICTION,
        "feature_exclude": [PREDICTION],
        "drop_duplicate_uid": False,
        "handle_errors": False,
        "feature_encodings": wire.encodings(),
        "handle_data_imbalance": False,
        "sample_percentage": None,
        "xai_method": list(training.xai_method),
    }
    more = {"tunning_strategy": "inference"} if model.foundation else {}
    session.call(
        "uploading and training",
        lambda: project.upload_data(data=frame, tag=tag, config=config, compute_type=training.compute, **more),
    )


def _train_again(session: Session, project: Any, training: Training, tag: str, config: dict[str, Any]) -> None:
    wire, metadata = training.wire, config["metadata"]
    used = {f.wire for f in wire.features}
    known = [*metadata["feature_include"], *metadata["feature_exclude"]]
    encoded = {n: how for n, how in wire.encodings().items() if n in metadata["feature_encodings"]}
    data_config: dict[str, Any] = {
        "tags": [tag],
        # Left out, the SDK would make features of everything, the key and the outcome too.
        "feature_exclude": [name for name in dict.fromkeys(known) if name not in used],
        "drop_duplicate_uid": False,
        "use_optuna": False,
        "handle_data_imbalance": False,
        "unique_identifier": KEY,
        "true_label": wire.label,
        "pred_label": PREDICTION,
    }
    data_config |= {"feature_encodings": encoded} if encoded else {}
    data_config |= {"xai_method": list(training.xai_method)} if training.xai_method else {}
    more = {"tunning_strategy": "inference"} if training.model.foundation else {}
    session.call(
        "training",
        lambda: project.train_model(
            training_strategy="simple", model=training.model.name, compute_type=training.compute, data_config=data_config,
            **more,
        ),
    )  # fmt: skip


def upload(session: Session, project: Any, tag: str, frame: pd.DataFrame) -> None:
    """Upload a table to a project that has its configuration, and see that its tag is there."""
    session.call("uploading", lambda: project.upload_data(data=frame, tag=tag))
    tags = session.call("listing tags", project.all_tags)
    if not isinstance(tags, list) or tag not in tags:
        raise session.failed("uploading", "The upload ended without an error, but its tag is not in the project")


def infer(session: Session, project: Any, tag: str, model_name: str, compute: str) -> pd.DataFrame:
    """Score an uploaded tag; the table as the platform gives it."""
    seen = seen_events(session, project)
    try:
        found = session.call(
            "scoring", lambda: project.model_inference(compute_type=compute, tag=tag, model_name=model_name)
        )
    except PlatformFailed as error:
        # The SDK fetches the scores with the bearer token it had before they were computed; it may be over by then.
        again = _fetched(session, project, f"{tag}_{model_name}_Inference")
        if again is None:
            raise explained(session, project, error, seen) from None
        return again
    if not isinstance(found, pd.DataFrame):
        raise session.failed("scoring", "The platform's answer is no table")
    return found


def _fetched(session: Session, project: Any, tag: str) -> pd.DataFrame | None:
    try:
        found = session.call("fetching scores", lambda: project.get_tag_data(tag=tag))
    except LexsiError:
        return None
    return found if isinstance(found, pd.DataFrame) and len(found) else None


def deadline(seconds: float) -> float:
    """When to stop waiting: a little before the worker's own clock ends it, so that the reason is told."""
    return time.monotonic() + max(1.0, seconds - max(3.0, 0.02 * seconds))
