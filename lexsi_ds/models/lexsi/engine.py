"""The engine that trains on the Lexsi platform: the same face as the local one, each call in a worker process.

Data leaves the machine, so it is chosen by a setting and never by itself. Must never: import the SDK here, hand a masked
column to a worker, or put the token anywhere but onto the worker's private pipe.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pandas as pd

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import BadInput, WorkerFailed
from lexsi_ds.ids import new_id
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.engine import CaseExplanation, GlobalExplanation, ModelRef, Predictions, origin_of
from lexsi_ds.models.frames import on_disk
from lexsi_ds.models.lexsi.folder import PlatformFolder, columns_of
from lexsi_ds.models.lexsi.install import need_sdk
from lexsi_ds.models.lexsi.withheld import masked_names, refuse_masked, without_masked
from lexsi_ds.models.task import TaskSpec
from lexsi_ds.settings import Settings

if TYPE_CHECKING:
    from lexsi_ds.jobs.cancel import Cancel
    from lexsi_ds.jobs.pool import Pool

Tell = Callable[[dict[str, Any]], None]
WORKER = "lexsi_ds.models.lexsi.worker"
_TIMEOUT = "The training may still run on the platform: look there before you train again. LEXSI_TRAIN_TIMEOUT_S sets the time."


class LexsiEngine:
    """Models of the Lexsi platform. What lies here of a model lies in ``home/models``, scores in ``home/predictions``."""

    name = "lexsi"

    def __init__(self, pool: Pool, settings: Settings) -> None:
        need_sdk()
        checked_url(settings.lexsi_url)
        self._pool, self._settings = pool, settings
        self._checked = False
        self.masked_of: Callable[[str], frozenset[str]] = lambda source_id: frozenset()
        """Names of a source's masked columns as they are marked now, case folded."""

    def check(self) -> str:
        """Compare the SDK's signatures with the calls that are made. BadInput names version and method; gives the version."""
        answer = self._pool.run("lexsi", f"{WORKER}:check", {})
        self._checked = True
        return str(answer["version"])

    def train(
        self,
        frame: pd.DataFrame,
        task: TaskSpec,
        *,
        model_type: str | None = None,
        compute_type: str | None = None,
        xai_method: Sequence[str] = (),
        handle: DatasetHandle | None = None,
        run_id: str | None = None,
        version: int = 1,
        to_score: pd.DataFrame | None = None,
        cancel: Cancel | None = None,
        tell: Tell | None = None,
    ) -> tuple[ModelRef, ModelCard]:
        """Train on the platform. Stop ends the waiting here, not the training there: the SDK cannot call it off."""
        task, frame = without_masked(task, frame, masked_names(handle))
        model_id = new_id("mdl")
        folder = self._settings.home / "models" / model_id
        folder.parent.mkdir(parents=True, exist_ok=True)
        origin = origin_of(handle, model_id, run_id, version)
        names = [task.entity_column, task.target_column, task.group_column, task.moment_column, task.score_column]
        names += [*task.display_columns, *(f.name for f in task.features)]
        with ExitStack() as files:
            rows = None if to_score is None else _few(to_score, names)
            args = {
                "frame": str(files.enter_context(on_disk(self._settings.home, _few(frame, names)))),
                "to_score": str(files.enter_context(on_disk(self._settings.home, rows))) if rows is not None else None,
                "task": task.model_dump(mode="json"),
                "wish": {
                    "model_type": model_type, "compute": compute_type, "xai_method": list(xai_method),
                    "folds": self._settings.lexsi_folds,
                },
                "origin": origin,
                "folder": str(folder),
                "temporary": f"{folder}.tmp",
                "seconds": self._settings.ml_timeout_s,
            }  # fmt: skip
            try:
                answer = self._run("train", args, cancel, tell, cleanup=folder)
            except WorkerFailed as error:
                raise (WorkerFailed("timeout", error.what, where=error.where, to_do=_TIMEOUT)
                       if error.kind == "timeout" else error) from None  # fmt: skip
        return ModelRef(id=model_id, folder=folder), ModelCard.model_validate(answer["card"])

    def predict(
        self,
        ref: ModelRef,
        frame: pd.DataFrame,
        *,
        compute_type: str | None = None,
        threshold: float | None = None,
        out: Path | None = None,
        cancel: Cancel | None = None,
        tell: Tell | None = None,
    ) -> Predictions:
        """Score every row; the Arrow file goes to ``out`` or to a new file under ``home/predictions``."""
        model = self._model(ref)
        path = out or self._settings.home / "predictions" / f"{new_id('prd')}.arrow"
        path.parent.mkdir(parents=True, exist_ok=True)
        with on_disk(self._settings.home, _needed(model, frame)) as source:
            args = {"folder": str(ref.folder), "frame": str(source), "out": str(path)}
            args |= {"compute": compute_type, "threshold": threshold}
            answer = self._run("predict", args, cancel, tell, cleanup=path)
        return Predictions(path=path, **{**answer, "notes": tuple(answer["notes"])})

    def explain(
        self,
        ref: ModelRef,
        rows: pd.DataFrame,
        *,
        scale: str = "probability",
        cancel: Cancel | None = None,
        tell: Tell | None = None,
    ) -> list[CaseExplanation]:
        """Explain each row, in order: one request a row and one for the platform's words."""
        answer = self._explain("explain_cases", ref, rows, {"scale": scale}, cancel, tell)
        return [CaseExplanation.model_validate(case) for case in answer["cases"]]

    def explain_global(
        self,
        ref: ModelRef,
        frame: pd.DataFrame,
        *,
        scale: str = "probability",
        cancel: Cancel | None = None,
        tell: Tell | None = None,
    ) -> GlobalExplanation:
        """Importance as the platform computed it at training; ``frame`` is not sent."""
        answer = self._explain("explain_global", ref, frame.head(0), {"scale": scale}, cancel, tell)
        return GlobalExplanation.model_validate(answer)

    def similar(
        self, ref: ModelRef, rows: pd.DataFrame, *, k: int = 5, cancel: Cancel | None = None, tell: Tell | None = None
    ) -> list[list[dict[str, Any]]]:
        """For each row at most k training rows that the platform calls similar."""
        return self._explain("similar_cases", ref, rows, {"k": k}, cancel, tell)["similar"]

    def register_bucket(
        self, connector_id: str, region: str, access_key: str, secret_key: str, *, cancel: Cancel | None = None
    ) -> str:
        """Register an S3 bucket's keys with the platform; gives its connector id there."""
        args = {"connector_id": connector_id, "region": region, "keys": {"access": access_key, "secret": secret_key}}
        return str(self._run("connect", args, cancel, None)["id"])

    def _model(self, ref: ModelRef) -> PlatformFolder:
        model = PlatformFolder(ref.folder)
        refuse_masked((f.name for f in model.link.features), self.masked_of(model.card.source_id))
        if model.link.url != urlsplit(self._settings.lexsi_url).netloc:
            raise BadInput(
                "This model lives on another Lexsi platform than the one that is set.", where=model.link.url,
                to_do="Set LEXSI_DS_LEXSI_URL to it.",
            )  # fmt: skip
        return model

    def _explain(
        self, handler: str, ref: ModelRef, rows: pd.DataFrame, more: dict[str, Any], cancel: Cancel | None, tell: Tell | None
    ) -> dict[str, Any]:
        model = self._model(ref)
        out = self._settings.home / "tmp" / f"{new_id('xai')}.json"
        with on_disk(self._settings.home, _needed(model, rows)) as path:
            args = {"folder": str(ref.folder), "rows": str(path), "out": str(out), **more}
            try:
                self._run(handler, args, cancel, tell, cleanup=out)
                return json.loads(out.read_text(encoding="utf-8"))
            finally:
                out.unlink(missing_ok=True)

    def _run(
        self, handler: str, args: dict[str, Any], cancel: Cancel | None, tell: Tell | None, *, cleanup: Path | None = None
    ) -> dict[str, Any]:
        s = self._settings
        if not self._checked:
            self.check()
        access = {
            "url": s.lexsi_url,
            "token": s.lexsi_access_token.get_secret_value() if s.lexsi_access_token else "",
            "organization": s.lexsi_organization,
            "workspace": s.lexsi_workspace,
            "project": s.lexsi_project,
            "compute": s.lexsi_compute,
            "serverless": s.lexsi_serverless,
        }
        return self._pool.run(
            "lexsi", f"{WORKER}:{handler}", {**args, "access": access}, cancel=cancel, tell=tell, cleanup=cleanup
        )


def _few(frame: pd.DataFrame, names: Sequence[str | None]) -> pd.DataFrame:
    """The named columns that are there."""
    return columns_of(frame, [c for c in dict.fromkeys(names) if c is not None and c in frame.columns])


def _needed(model: PlatformFolder, frame: pd.DataFrame) -> pd.DataFrame:
    """The columns that scoring reads; nothing else is written for the worker. What is missing, the worker says."""
    task = model.task
    names = [task.entity_column, *(f.name for f in model.link.features), *task.display_columns]
    names += [task.apart.column] if task.apart else []
    return _few(frame, names)


def checked_url(url: str) -> str:
    """The platform's address; BadInput unless it is https, or http to this machine, without a password in it."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        here = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        here = False
    if parts.username or parts.password or not host or not (parts.scheme == "https" or (parts.scheme == "http" and here)):
        raise BadInput(
            "The address of the Lexsi platform must be https:// and carry no password: a token travels to it.",
            where="LEXSI_DS_LEXSI_URL", to_do="Leave it unset for Lexsi's own.",
        )  # fmt: skip
    return url
