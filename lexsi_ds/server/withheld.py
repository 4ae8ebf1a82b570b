"""What stays here of a result: values of masked columns. Every door through which rows leave for another program asks this.

Must never: let a value out because a query gave its column another name.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pandas as pd

from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import LexsiError
from lexsi_ds.jobs.cancel import Cancel

HELD_BACK = "Rows are held back: the query reads columns that identify persons and are masked."


def masked_names(handle: DatasetHandle) -> frozenset[str]:
    """The masked columns of a source, case aside."""
    return frozenset(c.name.casefold() for t in handle.tables for c in t.columns if c.masked)


def without(frame: pd.DataFrame, masked: Collection[str]) -> pd.DataFrame:
    """The columns that are not masked."""
    return frame.loc[:, [str(c).casefold() not in masked for c in frame.columns]]


def rows_may_leave(app: Application, handle: DatasetHandle, sql: str, cancel: Cancel | None = None) -> bool:
    """Whether a query's rows may leave: it would run as well on tables without the masked columns."""
    if not masked_names(handle):
        return True
    try:
        app.sql.run_without_masked(handle, sql, cancel=cancel).path.unlink(missing_ok=True)
    except LexsiError:
        return False
    return True


def case_of(case: dict[str, Any], masked: Collection[str]) -> dict[str, Any]:
    """A case's explanation as JSON; display columns are left out, since they may hold what is masked."""
    drivers = [
        {"feature": d["feature"], "label": d["label"], "value": d["value"], "contribution": d["contribution"]}
        for d in case["drivers"] if d["feature"].casefold() not in masked
    ]
    return {
        "caseId": case["case_id"], "scale": case["scale"], "baseValue": case["base_value"], "prediction": case["prediction"],
        "drivers": drivers, "summary": case["summary"],
    }
