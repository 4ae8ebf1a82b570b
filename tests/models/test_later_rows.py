"""A known entity at another moment is a new row: a customer at a later cut-off is scored, not taken for the row that trained."""

from __future__ import annotations

import pandas as pd
import pytest

from lexsi_ds.models.bundle import positions
from lexsi_ds.models.task import FeatureDef, TaskSpec


def task(cutoff: str | None) -> TaskSpec:
    return TaskSpec(
        title="Orders", question="q", task_type="classification", target_column="y", target_label="orders", positive_meaning="",
        entity_column="customer_id", entity_table="customer", entity_label="customer", cutoff_column=cutoff, known_meaning="",
        unknown_meaning="", context_sql="", predict_sql="",
        features=(FeatureDef(name="orders_count", label="orders", kind="numeric"),),
    )  # fmt: skip


def frame(ids: list[int], day: str | None) -> pd.DataFrame:
    made = pd.DataFrame({"customer_id": ids, "orders_count": 1})
    return made if day is None else made.assign(cutoff_date=pd.Timestamp(day))


@pytest.mark.parametrize(
    ("day", "cutoff", "found"),
    [
        ("2024-10-02", "cutoff_date", [1, 0, -1]),
        ("2024-12-31", "cutoff_date", [-1, -1, -1]),
        (None, "cutoff_date", [1, 0, -1]),
        ("2024-12-31", None, [1, 0, -1]),
    ],
)
def test_the_moment_tells_rows_of_one_entity_apart(day: str | None, cutoff: str | None, found: list[int]) -> None:
    training = frame([7, 8], "2024-10-02")
    assert positions(frame([8, 7, 9], day), training, task(cutoff)).tolist() == found
