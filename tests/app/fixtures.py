"""Payloads as the core makes them, for pure component tests and for screen states that are hard to reach.

The figures are invented; only their shapes count.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lexsi_ds.data.handle import Column, DatasetHandle, Table
from lexsi_ds.explain.results import Basis, Dependence, FeatureImportance, ImportanceView, Interactions, Pair, Profile
from lexsi_ds.explain.results_local import (
    Change,
    Counterfactual,
    Counterfactuals,
    Doubt,
    FeatureRange,
    FeatureRanges,
    WhatIf,
)
from lexsi_ds.models.card import CalibrationBin, Candidate, Curve, FeatureStats, Interval, Metrics, ModelCard
from lexsi_ds.models.engine import BeeswarmFeature, CaseDriver, CaseExplanation, GlobalExplanation
from lexsi_ds.models.task import Apart, FeatureDef, LeftOut, TaskSpec
from lexsi_ds.services.finding import Check, Finding, Flag

SOURCE, SNAPSHOT = "con_0199aaaa-0000-7000-8000-000000000001", "snap_0199aaaa-0000-7000-8000-000000000001"
MODEL, PREDICTIONS = "mdl_0199aaaa-0000-7000-8000-000000000001", "pred_0199aaaa-0000-7000-8000-000000000001"
QUESTION = "For loans currently being repaid, which are likely to default? Show me the top 10 highest-risk loans and tell me why."
LABELS = (
    ("trans_balance_min", "lowest balance before the loan", "CZK"),
    ("loan_payments", "monthly payment", "CZK"),
    ("sanction_fees", "sanction fees before the loan", None),
    ("loan_duration", "duration", "months"),
    ("district_salary", "average salary of the account's district", "CZK"),
    ("account_age_days", "age of the account", "days"),
    ("trans_in_mean", "mean income a month before the loan", "CZK"),
    ("trans_out_mean", "mean outgoing a month before the loan", "CZK"),
    ("cards_before", "cards issued before the loan", None),
    ("loan_amount", "amount", "CZK"),
    ("orders_count", "standing orders before the loan", None),
    ("unemployment", "unemployment of the account's district", "%"),
)


def handle(name: str = "Demo bank") -> DatasetHandle:
    """Eight tables of a bank."""
    sizes = {
        "account": 4500,
        "card": 892,
        "client": 5369,
        "disp": 5369,
        "district": 77,
        "loan": 682,
        "order": 6471,
        "trans": 1056320,
    }
    tables = tuple(
        Table(
            name=n,
            dataset_id=f"ds_0199aaaa-0000-7000-8000-{i:012d}",
            version=1,
            path=Path("/nowhere/data.duckdb"),
            rows=rows,
            columns=_columns(n, rows),
            comment=f"One row a {n}",
        )
        for i, (n, rows) in enumerate(sizes.items())
    )
    return DatasetHandle(
        source_id=SOURCE,
        name=name,
        kind="demo",
        snapshot_id=SNAPSHOT,
        snapshot_number=1,
        tables=tables,
        today=date(1998, 12, 31),
        synthetic=True,
    )


def _columns(table: str, rows: int) -> tuple[Column, ...]:
    return (
        Column(name=f"{table}_id", type="BIGINT", distinct=rows, minimum="1", maximum=str(rows), identifier=True),
        Column(
            name="date",
            type="DATE",
            distinct=1200,
            minimum="1993-01-01",
            maximum="1998-12-31",
            comment="Day of the event",
        ),
        Column(
            name="amount", type="DOUBLE", nulls=rows // 20, distinct=rows // 2, minimum="-3120.5", maximum="87400.0"
        ),
        Column(name="sex", type="VARCHAR", distinct=2, protected=True),
        Column(name="birth_number", type="VARCHAR", distinct=rows, minimum="190101", maximum="877231", masked=True),
    )


def task() -> TaskSpec:
    """Loan default."""
    return TaskSpec(
        title="Loan default",
        question=QUESTION,
        task_type="classification",
        target_column="y_default",
        target_label="default",
        positive_meaning="status B or D: not paid",
        entity_column="loan_id",
        entity_table="loan",
        entity_label="loan",
        cutoff_column="date",
        known_meaning="finished loans (status A or B)",
        unknown_meaning="running loans (status C or D)",
        context_sql="SELECT loan_id, amount, status = 'B' AS y_default FROM loan WHERE status IN ('A', 'B')",
        predict_sql="SELECT loan_id, amount FROM loan WHERE status IN ('C', 'D')",
        features=tuple(_feature(n, label, unit) for n, label, unit in LABELS),
        left_out=left_out(),
        display_columns=("status", "amount"),
        apart=Apart(column="status", value="D", label="in debt already"),
        notes=("The 1995 and 1996 district figures come after early loans and are left out.",),
    )


def _feature(name: str, label: str, unit: str | None) -> FeatureDef:
    return FeatureDef(
        name=name,
        label=label,
        kind="numeric",
        unit=unit,
        expression=f"min({name}) FILTER (WHERE t.date < l.date)",
        tables=("trans",),
    )


def left_out() -> tuple[LeftOut, ...]:
    """One of each that the bank has."""
    return (
        LeftOut(name="sex", table="client", reason="protected", detail="Sex is protected.", approvable=True),
        LeftOut(name="birth_number", table="client", reason="masked", detail="It identifies a person."),
        LeftOut(name="status", table="loan", reason="target", detail="It is the outcome."),
        LeftOut(
            name="A12",
            table="district",
            reason="undated",
            detail="Unemployment of 1995 is later than the first loans.",
            approvable=True,
        ),
        LeftOut(
            name="k_symbol = UVER", table="order", reason="post_outcome", detail="It is the loan's own repayment order."
        ),
    )


def _metrics(auc: float) -> Metrics:
    def around(v: float, w: float) -> Interval:
        return Interval(value=v, low=v - w, high=min(1.0, v + w))

    return Metrics(
        roc_auc=around(auc, 0.06),
        gini=around(2 * auc - 1, 0.12),
        ks=around(0.52, 0.1),
        average_precision=around(auc - 0.3, 0.13),
        brier=around(0.092, 0.014),
        log_loss=around(0.32, 0.05),
    )


def _candidate(kind: str, auc: float, chosen: bool) -> Candidate:
    x = np.linspace(0, 1, 41)
    y = x ** (1 / auc - 0.95)
    bins = tuple(
        CalibrationBin(predicted=p, observed=o, low=max(0, o - 0.09), high=o + 0.14, n=39)
        for p, o in ((0.03, 0.02), (0.07, 0.05), (0.12, 0.13), (0.2, 0.15), (0.31, 0.36), (0.55, 0.58))
    )
    return Candidate(
        model_type=kind,
        metrics=_metrics(auc),
        calibration=bins,
        parameters={"max_depth": "3"},
        chosen=chosen,
        roc=Curve(x=tuple(x), y=tuple(y), low=tuple(np.clip(y - 0.08, 0, 1)), high=tuple(np.clip(y + 0.06, 0, 1))),
    )


def card(name: str = "XGBoost_v1", model_id: str = MODEL) -> ModelCard:
    """A model that beats its baseline by a little."""
    spec = task()
    return ModelCard(
        id=model_id,
        name=name,
        created_at=(datetime.now(UTC) - timedelta(minutes=12)).isoformat(),
        source_id=SOURCE,
        source_name="Demo bank",
        snapshot_id=SNAPSHOT,
        snapshot_number=1,
        run_id=None,
        task=spec,
        model_type="XGBoost",
        candidates=(_candidate("XGBoost", 0.81, True), _candidate("Logistic", 0.76, False)),
        auc_difference=Interval(value=0.05, low=-0.01, high=0.11),
        why_chosen="XGBoost has the higher AUC on the same folds.",
        features=tuple(FeatureStats(feature=f, missing=i * 3, distinct=200 - i) for i, f in enumerate(spec.features)),
        left_out=left_out(),
        rows=234,
        positives=31,
        folds=5,
        repeats=4,
        seed=20,
        seconds=2.4,
        warnings=("Only 234 rows with 31 of default: the figures are unsure, see their intervals.",),
        versions={"xgboost": "3.2.0", "scikit-learn": "1.8.0"},
    )


def predictions_frame(n: int = 448, apart: int = 45) -> pd.DataFrame:
    """Ranked and apart rows in the order of the ranking."""
    rng = np.random.default_rng(3)
    p = np.concatenate([np.sort(rng.beta(1.2, 6, n - apart))[::-1], np.sort(rng.beta(3, 3, apart))[::-1]])
    rank = np.concatenate([np.arange(1, n - apart + 1), np.arange(1, apart + 1)])
    return pd.DataFrame(
        {
            "loan_id": rng.permutation(np.arange(5000, 5000 + n)),
            "rank": rank,
            "segment": ["ranked"] * (n - apart) + ["apart"] * apart,
            "prediction": (p >= 0.5).astype(int),
            "probability": p,
            "probability_low": np.clip(p - 0.1, 0, 1),
            "probability_high": np.clip(p + 0.12, 0, 1),
            "rank_low": np.maximum(1, rank - 4),
            "rank_high": rank + 6,
            "top_share": np.clip(1 - rank / 60, 0, 1),
            "scored": "model",
            "status": ["C"] * (n - apart) + ["D"] * apart,
            "amount": rng.integers(20, 500, n) * 1000,
        }
    )


def predictions_meta() -> dict[str, Any]:
    """Meta of the predict artifact."""
    return {
        "tool": "predict",
        "model_id": MODEL,
        "predictions_id": PREDICTIONS,
        "rows": 448,
        "ranked": 403,
        "entity_column": "loan_id",
        "entity_label": "loan",
        "segment_label": "in debt already",
        "top_k": 10,
        "positive": "default",
        "scored": ["model"],
        "display_columns": ["status", "amount"],
    }


def case(case_id: str, scale: str = "probability", seed: int = 0) -> CaseExplanation:
    """A case whose contributions add up."""
    rng = np.random.default_rng(seed + sum(map(ord, case_id)))
    margins = np.sort(np.abs(rng.normal(0, 0.5, len(LABELS))))[::-1] * rng.choice([-1, 1], len(LABELS), p=[0.35, 0.65])
    base_margin, factor, base = -2.1, 0.13 if scale == "probability" else 1.0, 0.13 if scale == "probability" else -2.1
    drivers = tuple(
        CaseDriver(
            feature=n,
            label=label,
            value=None if i == 8 else float(round(rng.normal(900, 4000), 1)),
            unit=unit,
            contribution=float(m * factor),
            margin=float(m),
        )
        for i, ((n, label, unit), m) in enumerate(zip(LABELS, margins, strict=True))
    )
    prediction = base + sum(d.contribution for d in drivers)
    return CaseExplanation(
        case_id=case_id,
        scale=scale,
        base_value=base,
        prediction=prediction,
        base_margin=base_margin,
        margin=base_margin + float(margins.sum()),
        drivers=drivers,
        scored="model",
        display={"status": "C", "amount": 208000},
        summary=f"Loan {case_id} is at {prediction:.2f}. The lowest balance goes with more risk; the salary with less.",
    )


def overall(scale: str = "probability", rows: int = 448) -> GlobalExplanation:
    """A beeswarm's worth of points."""
    rng = np.random.default_rng(5)
    features = []
    for i, (name, label, unit) in enumerate(LABELS):
        value = rng.random(rows)
        contribution = (
            (value - 0.5) * (1.6 - i * 0.12) * (0.12 if scale == "probability" else 1) * (-1 if i == 0 else 1)
        )
        contribution += rng.normal(0, 0.02 if scale == "probability" else 0.15, rows)
        features.append(
            BeeswarmFeature(
                feature=name,
                label=label,
                unit=unit,
                mean_abs=float(np.abs(contribution).mean()),
                contributions=tuple(contribution),
                values=tuple(float(v) if v > 0.05 else None for v in value),
                raw=tuple(float(v * 9000) if v > 0.05 else None for v in value),
            )
        )
    return GlobalExplanation(
        scale=scale,
        base_value=0.13,
        rows=rows,
        of_rows=rows,
        case_ids=tuple(str(5000 + i) for i in range(rows)),
        features=tuple(sorted(features, key=lambda f: -f.mean_abs)),
    )


def _basis(scale: str, rows: int = 448) -> Basis:
    return Basis(scale=scale, rows=rows, of_rows=rows, method="SHAP values of the model")


def importance(scale: str = "probability") -> ImportanceView:
    """Both measures; the second feature moves the model and is not missed."""
    rows = []
    for i, (name, label, _) in enumerate(LABELS):
        size, loss = 0.2 / (i + 1), -0.001 if i == 1 else 0.05 / (i + 1)
        rows.append(
            FeatureImportance(
                feature=name, label=label, mean_abs=size, rank=i + 1, loss_rank=len(LABELS) if i == 1 else i + 1,
                mean_abs_interval=Interval(value=size, low=size * 0.9, high=size * 1.1),
                loss=Interval(value=loss, low=loss - 0.01, high=loss + 0.01), disagrees=i == 1,
            )
        )  # fmt: skip
    warning = f"{LABELS[1][1]} is number 2 by mean contribution, yet shuffling it does not lower the ROC AUC by more than noise."
    return ImportanceView(
        basis=_basis(scale), figure="ROC AUC", measured=0.81, loss_rows=234, repeats=5, features=tuple(rows), warnings=(warning,)
    )


def dependence(feature: str, scale: str = "probability", rows: int = 60) -> Dependence:
    """Points with one value missing, coloured by the first feature."""
    label, unit = next((label, unit) for name, label, unit in LABELS if name == feature)
    return Dependence(
        basis=_basis(scale, rows), feature=feature, label=label, unit=unit, case_ids=tuple(str(5000 + i) for i in range(rows)),
        x=(None, *(float(i) for i in range(1, rows))), y=tuple(i / rows - 0.5 for i in range(rows)), partner=LABELS[0][0],
        partner_label=LABELS[0][1], colour=tuple(float(i % 7) for i in range(rows)), partner_share=0.4,
    )  # fmt: skip


def interactions() -> Interactions:
    """Three features, of which two act together."""
    names, labels = [n for n, *_ in LABELS[:3]], [label for _, label, _ in LABELS[:3]]
    pair = Pair(first=names[0], second=names[1], first_label=labels[0], second_label=labels[1], strength=0.4)
    matrix = ((1.0, 0.2, 0.0), (0.2, 0.8, 0.05), (0.0, 0.05, 0.5))
    return Interactions(basis=_basis("log-odds"), features=tuple(names), labels=tuple(labels), matrix=matrix, pairs=(pair,))


def profile(feature: str, scale: str = "probability") -> Profile:
    """Four values and what the model says at each."""
    label, unit = next((label, unit) for name, label, unit in LABELS if name == feature)
    return Profile(
        basis=_basis(scale), feature=feature, label=label, unit=unit, kind="numeric", grid=(1.0, 2.0, 3.0, None),
        mean=(0.1, 0.2, 0.3, 0.15), low=(0.05, 0.1, 0.2, 0.1), high=(0.2, 0.3, 0.5, 0.3), shares=(0.3, 0.3, 0.3, 0.1),
        ice_ids=("5001", "5002"), ice=((0.1, 0.2, 0.3, 0.2), (0.0, 0.1, 0.2, 0.1)),
    )  # fmt: skip


def ranges() -> FeatureRanges:
    """What training held of each feature."""
    return FeatureRanges(
        features=tuple(
            FeatureRange(
                feature=n, label=label, unit=unit, kind="numeric", low=-2e4, high=2e4, whole=False, words=(), missing=i == 8
            )
            for i, (n, label, unit) in enumerate(LABELS)
        )
    )


def what_if(case_id: str, changes: dict[str, Any], scale: str = "probability") -> WhatIf:
    """The prediction rises by a tenth; the change is outside of what training saw together."""
    before = case(case_id, scale)
    after = before.model_copy(update={"prediction": before.prediction + 0.1})
    labels = {n: label for n, label, _ in LABELS}
    made = tuple(Change(feature=n, label=labels[n], before=None, after=v) for n, v in changes.items())
    doubt = Doubt(features=tuple(changes), severity="unlikely", sentence="No training row has such values together.")
    return WhatIf(before=before, after=after, changes=made, doubts=(doubt,), sentence="The model would say more.")


def counterfactuals(case_id: str, actionable: tuple[str, ...]) -> Counterfactuals:
    """One way, over the first column that may change."""
    labels = {n: label for n, label, _ in LABELS}
    change = Change(feature=actionable[0], label=labels[actionable[0]], before=1.0, after=5.0)
    return Counterfactuals(
        case_id=case_id, prediction=0.7, wanted="a probability of default below 0.5", tried=900, seconds=0.4, stopped=False,
        found=(Counterfactual(changes=(change,), prediction=0.42, distance=1.0),), actionable=actionable,
        sentence="One way was found.",
    )  # fmt: skip


def finding(n: int, **changes: Any) -> Finding:
    """A finding that waits and holds, but for what is changed."""
    at = datetime.now(UTC) - timedelta(hours=3 * n)
    check = Check(
        ran_at=at,
        outcome="holds",
        finding_version=1,
        dataset_version=1,
        failure_count=0,
        rows_checked=682,
        seconds=0.01,
    )
    base = Finding(
        id=f"fnd_0199aaaa-0000-7000-8000-{n:012d}",
        source_id=SOURCE,
        dataset_id="ds_0199aaaa-0000-7000-8000-000000000005",
        run_id=None,
        origin="agent",
        title=f"Loans above 200,000 CZK default more often, case {n}",
        statement="Loans above 200,000 CZK default more often than 15%.",
        columns=("amount", "status"),
        check_sql="SELECT * FROM dataset WHERE amount > 200000 AND status NOT IN ('A', 'B', 'C', 'D')",
        verdict="holds",
        last_check=check,
        review="pending",
        status="active",
        flag=None,
        version=1,
        row_version=1,
        created_by="local",
        created_at=at,
        updated_by="local",
        updated_at=at,
        reviewed_by=None,
        reviewed_by_name=None,
        reviewed_at=None,
        review_note="",
        reviewed_version=None,
        reviewed_via=None,
        reviewed_check=None,
    )
    return base.model_copy(update=changes)


def broken_finding(n: int) -> Finding:
    """Accepted once, violated now."""
    at = datetime.now(UTC) - timedelta(hours=1)
    check = Check(
        ran_at=at, outcome="violated", finding_version=1, dataset_version=2, failure_count=12, rows_checked=682
    )
    flag = Flag(reason="check_violated", message="12 rows break it; 0 did when it was accepted.", since=at)
    return finding(
        n,
        review="accepted",
        verdict="violated",
        last_check=check,
        flag=flag,
        row_version=4,
        reviewed_by="local",
        reviewed_by_name="You",
    )
