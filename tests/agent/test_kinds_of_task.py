"""Tasks of several classes, of figures and of events within days: as a person sees, changes and trains them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from lexsi_ds.agent import events as ev
from lexsi_ds.agent.building import Building
from lexsi_ds.agent.given import GivenTask, task_lines
from lexsi_ds.errors import BadInput
from lexsi_ds.text_to_sql.reading import Predictive
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.task_draft import TaskDraft

pytestmark = pytest.mark.xdist_group("demo")
SHOP = {
    "customer": "SELECT n AS customer_id, DATE '2023-06-01' + CAST(n * 3 % 520 AS INTEGER) AS joined_on,"
    " ['France', 'Spain', 'Italy'][n % 3 + 1] AS country, hash(n) % 40 + 20 * (n % 3) AS limit_amount,"
    " CASE WHEN n > 130 THEN NULL ELSE ['low', 'medium', 'high'][CASE WHEN hash(n + 5) % 9 < 7 THEN n ELSE n + 1 END % 3 + 1] END"
    " AS risk_class FROM range(1, 171) AS t(n)",
    "orders": "SELECT n AS order_id, CASE WHEN hash(n) % 2 = 0 THEN n % 40 + 1 ELSE hash(n + 9) % 170 + 1 END AS customer_id,"
    " DATE '2023-01-01' + CAST(n * 365 // 700 AS INTEGER) AS placed_on, hash(n + 3) % 50 + 1 AS amount FROM range(1, 1400) AS t(n)",
}


@pytest.fixture(scope="module")
def shop(application: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder: Path = tmp_path_factory.mktemp("kinds")
    for name, select in SHOP.items():
        duckdb.sql(f"COPY ({select}) TO '{folder / f'{name}.csv'}' (HEADER)")
    return application.catalog.throwaway(folder)


def run(application: Any, handle: Any, question: str, folder: Path, **more: Any) -> tuple[Any, list[ev.Event]]:
    ctx = application.answering.context(handle, "run_kinds", folder, **more)
    return ctx, list(application.answering.loop(ctx).stream(question, ctx))


QUESTIONS = {
    "multiclass": "predict the risk class of each customer",
    "regression": "predict the limit amount of each customer",
    "binary": "which customers will order in the next 90 days?",
}


@pytest.mark.parametrize("kind", QUESTIONS)
def test_a_task_of_each_kind_is_reviewed_and_its_card_checks_it(application: Any, shop: Any, tmp_path: Path, kind: str) -> None:
    ctx, events = run(application, shop, QUESTIONS[kind], tmp_path, review="always")
    done = events[-1]
    assert isinstance(done, ev.Done)
    assert (done.state, done.offer) == ("needs_clarification", {"kind": "task"})
    reading: Predictive = ctx.cache["_predictive"]
    assert reading.task.kind == kind
    lines = dict(task_lines(reading))
    assert lines["Task"] == reading.task.statement
    assert lines["Columns used"]
    draft = TaskDraft.model_validate(reading.draft)
    building = Building(Names(shop, ctx.knowledge.model), ctx.knowledge.values)
    building.check_task(draft, reading.values)
    if draft.horizon is not None:
        with pytest.raises(BadInput):
            building.check_task(draft.model_copy(update={"horizon": draft.horizon.model_copy(update={"events": "gone"})}), ())


def test_edits_of_a_task_within_days_train_as_edited(application: Any, shop: Any, tmp_path: Path) -> None:
    ctx, _ = run(application, shop, QUESTIONS["binary"], tmp_path, review="always")
    draft = TaskDraft.model_validate(ctx.cache["_predictive"].draft)
    assert draft.horizon is not None
    edited = draft.model_copy(
        update={
            "put_back": ("customer.country",), "taken_out": ("orders_count_30d",),
            "horizon": draft.horizon.model_copy(update={"days": 60}),
        }
    )  # fmt: skip
    ctx, events = run(application, shop, QUESTIONS["binary"], tmp_path, given=GivenTask(draft=edited))
    done = events[-1]
    assert isinstance(done, ev.Done)
    assert done.state == "answered"
    names = {f.name for f in ctx.cache["_task"].features}
    assert "country" in names
    assert "orders_count_30d" not in names
    assert ctx.cache["_task"].target_column == "y_orders_60d"
    predictions = ctx.cache["last_predictions"]
    # Known customers stand at a later day now: the model scores them, nothing is out of fold.
    assert set(predictions["scored"]) == {"model"}
    assert len(predictions) == 170


@pytest.mark.parametrize("kind", ["multiclass", "regression"])
def test_classes_and_figures_train_from_a_question(application: Any, shop: Any, tmp_path: Path, kind: str) -> None:
    ctx, events = run(application, shop, QUESTIONS[kind], tmp_path)
    done = events[-1]
    assert isinstance(done, ev.Done)
    assert done.state == "answered"
    predictions = ctx.cache["last_predictions"]
    if kind == "multiclass":
        assert set(predictions["prediction"]) <= {"low", "medium", "high"}
        assert (len(predictions), set(predictions["scored"])) == (40, {"model"})
    else:
        assert (len(predictions), set(predictions["scored"])) == (170, {"out_of_fold"})
