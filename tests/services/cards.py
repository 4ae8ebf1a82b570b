"""A model card and predictions for tests of the services that keep them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from lexsi_ds.ids import new_id
from lexsi_ds.models.card import Candidate, Curve, FeatureStats, Interval, Metrics, ModelCard
from lexsi_ds.models.engine import ModelRef, Predictions
from lexsi_ds.models.frames import write_frame
from lexsi_ds.models.task import FeatureDef, TaskSpec

_HALF = Interval(value=0.5, low=0.4, high=0.6)
_METRICS = Metrics(roc_auc=_HALF, gini=_HALF, ks=_HALF, average_precision=_HALF, brier=_HALF, log_loss=_HALF)
_FEATURE = FeatureDef(name="amount", label="amount", kind="numeric")

TASK = TaskSpec(
    title="Loan default", question="Which loans default?", task_type="classification", target_column="bad",
    target_label="default", positive_meaning="status B or D", entity_column="loan_id", entity_table="loan",
    entity_label="loan", known_meaning="finished", unknown_meaning="running", context_sql="SELECT 1",
    predict_sql="SELECT 2", features=(_FEATURE,), display_columns=("status",),
)


def card(name: str = "XGBoost_v1", source_id: str = "con_a") -> ModelCard:
    """A card as an engine makes it."""
    logistic = Candidate(
        model_type="Logistic", metrics=_METRICS, roc=Curve(x=(0.0, 1.0), y=(0.0, 1.0)), calibration=(), parameters={},
        chosen=True,
    )
    return ModelCard(
        id=new_id("mdl"), name=name, created_at="2026-01-01T00:00:00+00:00", source_id=source_id, source_name="Bank",
        snapshot_id="snap_a", snapshot_number=1, run_id=None, task=TASK, model_type="Logistic", candidates=(logistic,),
        auc_difference=_HALF, why_chosen="It is as good.", left_out=(), rows=234, positives=31, folds=5, repeats=1,
        features=(FeatureStats(feature=_FEATURE, missing=0, distinct=9),), seed=0, warnings=(), versions={}, seconds=1.0,
    )


def trained(home: Path, made: ModelCard) -> ModelRef:
    """A model folder with the training rows that an engine keeps."""
    folder = home / "models" / made.id
    folder.mkdir(parents=True)
    (folder / "card.json").write_text(made.model_dump_json(), encoding="utf-8")
    rows = pd.DataFrame({"loan_id": [1, 2], "amount": [10.0, 20.0], "status": ["A", "B"], "_target": [0, 1]})
    write_frame(rows, folder / "oof.arrow")
    return ModelRef(id=made.id, folder=folder)


def scored(home: Path, frame: pd.DataFrame) -> Predictions:
    """A predictions file of an engine: ``frame`` holds the entity, probability, segment and display columns."""
    rank = frame.groupby("segment")["probability"].rank(ascending=False, method="first").astype("int64")
    whole = pd.DataFrame({
        "loan_id": frame["loan_id"], "rank": rank, "segment": frame["segment"],
        "prediction": (frame["probability"] >= 0.5).astype("int64"), "probability": frame["probability"],
        "probability_low": frame["probability"] * 0.9, "probability_high": frame["probability"], "rank_low": rank,
        "rank_high": rank, "top_share": 0.5, "scored": "model",
    })
    others = frame.drop(columns=["loan_id", "probability", "segment"])
    path = home / f"{new_id('prd')}.arrow"
    write_frame(pd.concat([whole, others], axis=1), path)
    return Predictions(path=path, rows=len(frame), ranked=int((frame["segment"] == "ranked").sum()), top_overlap=0.7)
