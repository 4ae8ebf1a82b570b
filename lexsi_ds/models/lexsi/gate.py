"""Which calls of the SDK are used, with which parameters, and whether the installed version takes them.

The SDK moved parameters between releases (``docs/sdk_issues.md``), so every call is by keyword and checked by its signature
before anything is sent. Must never let a mismatch become a TypeError in the middle of a training.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lexsi_ds.errors import BadInput
from lexsi_ds.models.lexsi.install import COMMAND, VERSION


@dataclass(frozen=True)
class Used:
    """One method of the SDK and the parameters that are passed to it."""

    place: str
    """``module:Class.method`` below ``lexsi_sdk``."""
    passed: tuple[str, ...] = ()

    @property
    def method(self) -> str:
        """``Class.method``."""
        return self.place.partition(":")[2]


_TABULAR, _PROJECT = "core.tabular:TabularProject", "core.project:Project"
CALLS: tuple[Used, ...] = (
    Used("client.client:APIClient.post", ("uri", "payload")),
    Used("core.lexsi:LEXSI.login", ("sdk_access_token",)),
    Used("core.lexsi:LEXSI.organization", ("organization_name",)),
    Used("core.lexsi:LEXSI.available_pod_servers", ("type",)),
    Used("core.lexsi:LEXSI.available_node_servers", ("type",)),
    Used("core.organization:Organization.workspaces"),
    Used("core.organization:Organization.workspace", ("workspace_name",)),
    Used(
        "core.organization:Organization.create_data_connectors",
        ("data_connector_name", "data_connector_type", "s3_config"),
    ),
    Used("core.organization:Organization.list_data_connectors"),
    Used("core.workspace:Workspace.project", ("project_name",)),
    Used("core.workspace:Workspace.create_project", ("project_name", "modality", "project_type")),
    Used(f"{_TABULAR}.config"),
    Used(f"{_TABULAR}.available_models"),
    Used(f"{_TABULAR}.upload_data", ("data", "tag", "config", "compute_type", "tunning_strategy")),
    Used(f"{_TABULAR}.train_model", ("training_strategy", "model", "compute_type", "data_config", "tunning_strategy")),
    Used(f"{_TABULAR}.model_inference", ("compute_type", "tag", "model_name")),
    Used(f"{_TABULAR}.case_predict", ("unique_identifier", "tag", "model_name", "serverless_type", "xai")),
    Used("core.tabular:CaseTabular.xai_summary"),
    Used("core.tabular:CaseTabular.xai_similar_cases"),
    Used(f"{_PROJECT}.models"),
    Used(f"{_PROJECT}.model_summary", ("model_name",)),
    Used(f"{_PROJECT}.all_tags"),
    Used(f"{_PROJECT}.get_tag_data", ("tag",)),
    Used(f"{_PROJECT}.events"),
)


def check(version: str, find: Callable[[str], object | None] | None = None, calls: tuple[Used, ...] = CALLS) -> None:
    """Compare every used call with the SDK's. Raises BadInput that names the version and each method that does not fit."""
    find = find or _find
    wrong = [said for used in calls if (said := _mismatch(used, find(used.place))) is not None]
    if wrong:
        raise BadInput(
            f"lexsi-sdk {version} does not fit this engine, which is written for {VERSION}: {'; '.join(wrong)}.",
            where="lexsi-sdk",
            to_do=f"Run: {COMMAND}.",
        )


def _mismatch(used: Used, method: object | None) -> str | None:
    if not callable(method):
        return f"{used.method} is not there"
    parameters = inspect.signature(method).parameters
    unknown = [name for name in used.passed if not _takes(parameters, name)]
    if unknown:
        return f"{used.method} has no parameter {', '.join(unknown)}"
    needed = [
        name
        for name, parameter in parameters.items()
        if name not in ("self", *used.passed) and parameter.default is parameter.empty and parameter.kind in _NAMED
    ]
    return f"{used.method} also needs {', '.join(needed)}" if needed else None


_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_ONLY)


def _takes(parameters: Mapping[str, inspect.Parameter], name: str) -> bool:
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return True
    return name in parameters and parameters[name].kind is not inspect.Parameter.POSITIONAL_ONLY


def _find(place: str) -> object | None:
    """The SDK's method of this place; None when a part of the way is missing."""
    module, _, path = place.partition(":")
    try:
        found: Any = importlib.import_module(f"lexsi_sdk.{module}")
        for name in path.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError):
        return None
    return found
