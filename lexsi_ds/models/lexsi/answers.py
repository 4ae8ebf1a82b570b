"""What the platform answers about one row, copied into plain values at once: an SDK object carries the token.

The SDK's own type refuses fractional and missing outcomes, so such an answer is read from the endpoint itself.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from lexsi_ds.models.lexsi.session import Session

_POSITIVE = ("1", "1.0", "true", "yes")


@dataclass(frozen=True)
class Answer:
    """SHAP values by column on the way, similar rows as the platform gives them, and its words."""

    shap: dict[str, float]
    similar: list[dict[str, Any]]
    summary: str | None = None
    unread: list[str] = field(default_factory=list)
    """Columns whose SHAP value was no number."""


class Asker:
    """Asks about rows of one tag; remembers when the SDK's type cannot hold this model's answers."""

    def __init__(self, session: Session, project: Any, tag: str, model_name: str) -> None:
        self._session, self._project, self._tag, self._model = session, project, tag, model_name
        self._raw = False

    def ask(self, key: str, *, shap: bool = True, summary: bool = False) -> Answer:
        """One row. Each is a request that the platform charges for; the summary is another."""
        session, methods = self._session, ["shap"] if shap else []
        case = session.call("explaining a row", lambda: self._case(key, methods))
        values = _field(case, "shap_feature_importance")
        numbers, unread = _numbers(values)
        if shap and not numbers:
            raise session.failed("explaining a row", "The platform gave no SHAP values for this row")
        told = session.call("summarising a row", case.xai_summary) if summary and hasattr(case, "xai_summary") else None
        rows = _similar(case)
        return Answer(numbers, rows, session.clean(told).strip() or None if isinstance(told, str) else None, unread)

    def _case(self, key: str, methods: list[str]) -> Any:
        if not self._raw:
            try:
                return self._project.case_predict(
                    unique_identifier=key, tag=self._tag, model_name=self._model,
                    serverless_type=self._session.access.serverless, xai=methods,
                )  # fmt: skip
            except Exception as error:
                if type(error).__name__ != "ValidationError":
                    raise
                self._raw = True
        payload = {
            "project_name": self._project.project_name, "case_id": None, "unique_identifier": key, "tag": self._tag,
            "model_name": self._model, "instance_type": self._session.access.serverless, "risk_policies": False,
            "xai": methods,
        }  # fmt: skip
        where = importlib.import_module("lexsi_sdk.common.xai_uris").CASE_INFO_URI
        answer = self._project.api_client.post(where, payload)
        if not answer.get("success"):
            raise self._session.failed("explaining a row", str(answer.get("details") or ""))
        return answer.get("details") or {}


def _field(case: Any, name: str) -> Any:
    return case.get(name) if isinstance(case, Mapping) else getattr(case, name, None)


def _numbers(values: Any) -> tuple[dict[str, float], list[str]]:
    """SHAP values by column; of values by class those of the outcome."""
    if not isinstance(values, Mapping):
        return {}, []
    if values and all(isinstance(v, Mapping) for v in values.values()):
        values = next((v for k, v in values.items() if str(k).casefold() in _POSITIVE), {})
    numbers: dict[str, float] = {}
    unread: list[str] = []
    for name, value in values.items():
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = float("nan")
        if number == number and abs(number) != float("inf"):
            numbers[str(name)] = number
        else:
            unread.append(str(name))
    return numbers, unread


def _similar(case: Any) -> list[dict[str, Any]]:
    """Similar rows as plain dicts; the SDK gives a table, or a sentence where there are none."""
    found = case.xai_similar_cases() if hasattr(case, "xai_similar_cases") else _field(case, "similar_cases_data")
    if isinstance(found, pd.DataFrame):
        return [{str(k): v for k, v in row.items()} for row in found.to_dict("records")]
    return [dict(row) for row in found if isinstance(row, Mapping)] if isinstance(found, list) else []
