"""train_tabular_model and predict on any frame of a run, through real workers: what the planner sees and what is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lexsi_ds.agent.context import AgentContext
from lexsi_ds.agent.narrate import predictive
from lexsi_ds.agent.tools.predict import TOOL as PREDICT
from lexsi_ds.agent.tools.train_tabular_model import TOOL as TRAIN
from lexsi_ds.data.handle import Column, DatasetHandle, Table
from lexsi_ds.errors import BadInput
from lexsi_ds.jobs.pool import Pool
from lexsi_ds.models.local import LocalEngine
from lexsi_ds.settings import Settings
from tests.models.test_kinds import CLASSES, clients


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalEngine]:
    settings = Settings(home=tmp_path_factory.mktemp("home"), train_budget_s=1)
    pool = Pool(settings)
    yield LocalEngine(pool, settings)
    pool.close()


@pytest.fixture
def ctx(engine: LocalEngine, tmp_path: Path) -> AgentContext:
    marked = Column(name="d", type="DOUBLE", protected=True)
    table = Table(name="t", dataset_id="ds_1", version=1, path=tmp_path / "none", rows=1, columns=(marked,))
    handle = DatasetHandle(
        source_id="con_1", name="s", kind="files", snapshot_id="snp_1", snapshot_number=1, tables=(table,)
    )
    nothing: Any = None
    found = AgentContext(dataset=handle, run_id="run_1", sql=nothing, engine=engine, knowledge=nothing, folder=tmp_path)
    frame = clients()
    found.cache |= {
        "sql_result:known": frame,
        "sql_result:new": clients(40, 3, 1_000).drop(columns=["plan", "spend"]),
        "sql_result:empty_target": clients(40, 3, 1_000).drop(columns="spend").assign(plan=None),
    }
    return found


def run(tool: Any, ctx: AgentContext, **args: Any) -> Any:
    return tool.run(tool.spec.args_schema(**args), ctx)


def test_classes_of_any_frame_are_trained_and_predicted(ctx: AgentContext) -> None:
    trained = run(TRAIN, ctx, df_label="known", target_column="plan", model_type="logistic")
    assert trained.ok
    assert "on 300 rows of 3 classes" in trained.summary
    assert "out-of-fold ROC AUC" in trained.summary
    card = ctx.cache["_card"]
    assert set(card.task.classes) == set(CLASSES)
    assert {out.name: out.reason for out in card.task.left_out} == {"d": "protected"}
    assert ctx.cache["last_model_task"] == {
        "task_type": "classification", "target_column": "plan", "entity_column": "client",
    }  # fmt: skip
    told = run(PREDICT, ctx, df_label="new", top_k=3)
    assert told.ok
    assert told.summary.splitlines()[0].startswith("The 40 rows to score and the 300 that trained")
    assert {f"p: {word}" for word in CLASSES} <= set(told.payload.columns)
    assert run(PREDICT, ctx, df_label="new", top_k=3) is told
    assert len(run(PREDICT, ctx, df_label="empty_target").payload) == 40
    text = predictive(told.payload, told.meta["frame"], card, [])
    assert "are alike" in text or "differ" in text
    assert "of which" not in text.split("trained on")[1].split(";")[0]


def test_amounts_of_any_frame_are_trained_and_predicted_with_intervals(ctx: AgentContext) -> None:
    trained = run(TRAIN, ctx, df_label="known", target_column="spend", task_type="regression", model_type="linear")
    assert trained.ok
    assert "out-of-fold R2" in trained.summary
    assert trained.meta["facts"]["conformal.level"] == 0.9
    frame = clients(40, 3, 1_000).drop(columns="spend")
    ctx.cache["sql_result:more"] = frame
    told = run(PREDICT, ctx, df_label="more")
    assert told.ok
    assert "top 10 by spend:" in told.summary
    assert ctx.cache["last_prediction_columns"] == {"pred": "prediction", "prob": None, "entity": "client"}
    assert told.meta["facts"]["top[0].prediction_high"] > told.meta["facts"]["top[0].prediction_low"]
    assert "with the highest spend are" in predictive(told.payload, told.meta["frame"], ctx.cache["_card"], [])


def test_the_seeds_arguments_are_all_taken_and_a_sample_is_drawn(ctx: AgentContext) -> None:
    trained = run(
        TRAIN, ctx, df_label="known", target_column="plan", entity_column="client", task_type="classification",
        model_name="Plans", model_type="Logistic", compute_type=None, xai_method=[], sample_percentage=50,
    )  # fmt: skip
    assert trained.ok
    assert ctx.cache["_card"].rows == 150
    assert ctx.cache["_card"].task.title == "Plans"


def test_what_does_not_fit_is_refused_in_words_that_a_planner_can_use(ctx: AgentContext) -> None:
    assert "No column 'nope'" in run(TRAIN, ctx, df_label="known", target_column="nope").summary
    assert "No column 'nope'" in run(TRAIN, ctx, df_label="known", target_column="plan", entity_column="nope").summary
    assert "No result is cached under the label" in run(TRAIN, ctx, df_label="lost", target_column="plan").summary
    ctx.cache["sql_result:many"] = pd.DataFrame({"id": range(100), "x": np.arange(100) % 3, "y": np.arange(100.0)})
    with pytest.raises(BadInput, match='task_type "regression"'):
        run(TRAIN, ctx, df_label="many", target_column="y")
