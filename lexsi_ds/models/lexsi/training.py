"""One training on the platform, from a context frame to a model folder: screen here, hold rows out, send, train, look,
score the rows held out, measure them here, write the card.

Must never send anything before the rows are screened and the SDK's signatures fit, or put a figure on the card that was not
measured on rows which the model did not see.
"""

from __future__ import annotations

import platform
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from urllib.parse import urlsplit

import numpy as np
import pandas as pd

from lexsi_ds import __version__
from lexsi_ds.errors import BadInput
from lexsi_ds.models.card import Candidate, ModelCard
from lexsi_ds.models.caveats import data_warnings
from lexsi_ds.models.lexsi.beside import beside
from lexsi_ds.models.lexsi.compute import compute_for
from lexsi_ds.models.lexsi.figures import Measured, baseline, measured
from lexsi_ds.models.lexsi.folder import Link
from lexsi_ds.models.lexsi.names import PlatformModel, platform_model, tag_name
from lexsi_ds.models.lexsi.platform import XAI_AT_TRAINING, Training, infer, train_on, upload
from lexsi_ds.models.lexsi.project import Place, place_for
from lexsi_ds.models.lexsi.rows import HELD_OUT, SEED, Rows, Split, splits, training_rows
from lexsi_ds.models.lexsi.scores import read_scores
from lexsi_ds.models.lexsi.session import Session
from lexsi_ds.models.lexsi.wire import Wire, fresh_keys
from lexsi_ds.models.task import TaskSpec
from lexsi_ds.models.training_card import Origin, feature_stats

NAME = "lexsi"


@dataclass(frozen=True)
class Wish:
    """What was asked for beside the task."""

    model_type: str | None = None
    compute: str | None = None
    xai_method: tuple[str, ...] = ()
    folds: int = 5


@dataclass(frozen=True)
class Trained:
    """All that goes into the model's folder. ``scores`` and ``keys``: a training row each."""

    card: ModelCard
    link: Link
    rows: Rows
    scores: np.ndarray
    keys: list[str]


class _Run:
    """One training while it is under way."""

    def __init__(
        self, session: Session, task: TaskSpec, rows: Rows, training: Training, place: Place, run_id: str
    ) -> None:
        self.session, self.task, self.rows, self.training, self.place, self.run_id = (
            session,
            task,
            rows,
            training,
            place,
            run_id,
        )
        self.scores = np.full(len(rows.y), np.nan)
        self.keys = [""] * len(rows.y)
        self.notes: list[str] = []

    def fit(self, here: np.ndarray, number: int) -> tuple[str, list[str]]:
        """Train on these rows; the model's name on the platform, and the rows' keys."""
        keys = fresh_keys(len(here))
        columns = {name: values[here] for name, values in self.rows.columns.items()}
        table = self.training.wire.frame(columns, keys, self.rows.y[here], self.task.kind)
        tag = tag_name("train", self.run_id, number)
        return train_on(self.session, self.place.project, self.training, tag, table), keys

    def hold_out(self, model: str, here: np.ndarray, number: int) -> list[str]:
        """Score these rows with a model that did not see them; gives their keys."""
        keys = fresh_keys(len(here))
        columns = {name: values[here] for name, values in self.rows.columns.items()}
        tag = tag_name("test", self.run_id, number)
        table = self.training.wire.frame(columns, keys)
        upload(self.session, self.place.project, tag, table)
        found = infer(self.session, self.place.project, tag, model, self.training.compute)
        sent = frozenset(map(str, table.columns))
        scores = read_scores(found, keys, self.task.kind, sent)
        self.scores[here] = scores.values
        self.notes += [note for note in scores.notes if note not in self.notes]
        return keys

    def remember(self, here: np.ndarray, keys: list[str]) -> None:
        """Which row has which key on the platform."""
        for place, key in zip(here.tolist(), keys, strict=True):
            self.keys[place] = key


def train_model(
    session: Session, frame: pd.DataFrame, task: TaskSpec, wish: Wish, origin: Origin, until: float,
    to_score: pd.DataFrame | None = None,
) -> Trained:  # fmt: skip
    """Train on the platform. Everything that can be refused here is refused before anything is sent. ``to_score`` are the
    rows that the model is for: compared here with those that trained, not sent."""
    began = time.perf_counter()
    model = platform_model(wish.model_type, task.task_type)
    xai_method = _known_methods(wish.xai_method)
    rows = training_rows(frame, task)
    parts = splits(rows, task, wish.folds)
    wire = Wire.of(rows.features, task.target_column)
    session.open()
    compute, said = compute_for(session, model, wish.compute)
    run_id = origin.run_id or origin.model_id
    place = place_for(session, task.task_type, run_id, wire)
    _offered(session, place, model)
    run = _Run(
        session, task, rows, Training(wire, model, compute, xai_method, until), place, _unique(run_id, origin.model_id)
    )
    name = _train(run, parts)
    session.stage(1, 1, "Measuring the rows that were held out")
    described = {
        "engine": "Lexsi platform", "model on the platform": name, "project": place.name, "compute": compute,
        "held out": f"{len(parts)} folds" if task.out_of_fold else f"{len(parts[0].held_out):,} rows ({HELD_OUT:.0%})",
    }  # fmt: skip
    amounts = task.kind == "regression"
    figures = measured(rows, baseline(rows, parts, amounts=amounts), run.scores, model.name, described, amounts=amounts)
    notes = (*rows.notes, *said, *run.notes, _sent(run, parts))
    more = beside(rows, task, run.scores, figures.candidates[0].metrics, to_score)
    card = _card(task, origin, rows, figures, model, len(parts), notes, time.perf_counter() - began)
    card = card.model_copy(update={
        "credit": more.credit, "conformal": more.conformal, "comparability": more.comparability,
        "warnings": (*card.warnings, *more.warnings),
    })  # fmt: skip
    link = Link(
        url=urlsplit(session.access.url).netloc, organization=session.access.organization, project=place.name, model=name,
        model_type=model.name, compute=compute, wire=wire, features=rows.features, folds=task.out_of_fold,
        widths=more.widths,
    )  # fmt: skip
    return Trained(card, link, rows, run.scores, run.keys)


def _train(run: _Run, parts: list[Split]) -> str:
    """Train the model that predicts, and score every held-out row with one that did not see it; gives the former's name."""
    everything = np.arange(len(run.rows.y))
    if not run.task.out_of_fold:
        run.session.stage(0, 2, "Training on the Lexsi platform")
        name, keys = run.fit(parts[0].train, 0)
        run.remember(parts[0].train, keys)
        run.session.stage(1, 2, "Scoring the rows that were held out")
        run.remember(parts[0].held_out, run.hold_out(name, parts[0].held_out, 0))
        return name
    steps = 2 * len(parts) + 1
    run.session.stage(0, steps, "Training on all rows on the Lexsi platform")
    name, keys = run.fit(everything, 0)
    run.remember(everything, keys)
    for number, split in enumerate(parts, start=1):
        run.session.stage(2 * number - 1, steps, f"Training without fold {number} of {len(parts)}")
        without, _ = run.fit(split.train, number)
        run.session.stage(2 * number, steps, f"Scoring fold {number} of {len(parts)}")
        run.hold_out(without, split.held_out, number)
    return name


def _offered(session: Session, place: Place, model: PlatformModel) -> None:
    offered = session.call("listing model types", place.project.available_models)
    if model.name not in offered:
        raise BadInput(
            f"The platform does not offer {model.name} to this account.", where="model_type",
            to_do=f"Use one of: {', '.join(map(str, offered[:30]))}.",
        )  # fmt: skip


def _known_methods(asked: tuple[str, ...]) -> tuple[str, ...]:
    unknown = [name for name in asked if name.casefold() not in XAI_AT_TRAINING]
    if unknown:
        raise BadInput(
            f"The platform does not prepare {', '.join(unknown)} at training.", where="xai_method",
            to_do=f"Use {', '.join(XAI_AT_TRAINING)}.",
        )  # fmt: skip
    return tuple(name.casefold() for name in asked)


def _unique(run_id: str, model_id: str) -> str:
    """What the tags of this training are called by: two trainings of one run must not share a tag."""
    return f"{run_id[-6:]}{model_id[-6:]}"


def _sent(run: _Run, parts: list[Split]) -> str:
    rows = len(run.rows.y)
    labelled = rows if run.task.out_of_fold else len(parts[0].train)
    times = f" ({len(parts) + 1} trainings)" if run.task.out_of_fold else ""
    return (
        f"Sent to the Lexsi platform: {len(run.rows.features)} features of {rows:,} rows and the outcome of {labelled:,} of them"
        f"{times}, under made-up row keys; no identifier and no masked column."
    )


def _card(
    task: TaskSpec, origin: Origin, rows: Rows, figures: Measured, model: PlatformModel, folds: int, notes: tuple[str, ...],
    seconds: float,
) -> ModelCard:  # fmt: skip
    positives = int(rows.y.sum()) if task.kind == "binary" else 0
    base = data_warnings(task, rows.y, len(rows.features))
    return ModelCard(
        id=origin.model_id,
        name=f"{model.name}_v{origin.version}",
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        source_id=origin.source_id,
        source_name=origin.source_name,
        snapshot_id=origin.snapshot_id,
        snapshot_number=origin.snapshot_number,
        run_id=origin.run_id,
        task=task,
        model_type=model.name,
        engine=NAME,
        candidates=figures.candidates,
        auc_difference=figures.difference,
        why_chosen=_why(model, figures),
        features=tuple(feature_stats(f, rows.columns[f.name]) for f in rows.features),
        left_out=(*task.left_out, *rows.left_out),
        rows=len(rows.y),
        positives=positives,
        folds=folds,
        repeats=1,
        seed=SEED,
        warnings=(*base, *_figure_warnings(figures), *rows.warnings),
        notes=notes,
        refits=0,
        versions={"lexsi-ds": __version__, "lexsi-sdk": version("lexsi-sdk"), "python": platform.python_version()},
        seconds=round(seconds, 3),
    )


def _why(model: PlatformModel, figures: Measured) -> str:
    ours, simple = figures.candidates
    what = "ROC AUC" if ours.main is getattr(ours.metrics, "roc_auc", None) else "R2"
    lead = figures.difference
    return (
        f"{model.name} of the Lexsi platform predicts: on {figures.rows:,} rows that it did not see, its {what} is "
        f"{ours.main.value:.3f} against {simple.main.value:.3f} of a {simple.model_type.lower()} baseline fitted here "
        f"(difference {lead.value:+.3f}, 95% interval {lead.low:+.3f} to {lead.high:+.3f})."
    )


def _figure_warnings(figures: Measured) -> list[str]:
    ours: Candidate = figures.candidates[0]
    said = [f"The figures come from {figures.rows:,} rows held out; the platform gives no bands, so ranks have none."]
    if figures.difference.low <= 0:
        said.append(
            "It is not shown to be better than the simple baseline on these rows; a simple model that is as good wins."
        )
    chance = 0.5 if hasattr(ours.metrics, "roc_auc") else 0.0
    if ours.main.low <= chance:
        said.append("Not shown to be better than chance on the rows held out.")
    return said
