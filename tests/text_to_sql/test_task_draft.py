"""A task says what it is in a form that reads back, changes as a person changes it, and never takes a target nobody meant."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lexsi_ds.errors import BadInput
from lexsi_ds.models.task import Split
from lexsi_ds.models.validation import make_folds
from lexsi_ds.text_to_sql.predictive import task_reading
from lexsi_ds.text_to_sql.reading import CannotAnswer, Clarify, Predictive
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.task_draft import MISSING, TaskDraft
from tests.text_to_sql.sources import Asked, asked

MACHINES = (
    "SELECT 'M' || n AS machine, DATE '2020-01-01' + CAST(n AS INTEGER) AS installed, n * 7 % 40 AS temperature, n % 9 + 1 AS wear,"
    " CASE WHEN n % 10 = 0 THEN NULL WHEN n % 4 = 0 THEN 'broken' WHEN n % 4 = 1 THEN 'worn out' ELSE 'fine' END AS state,"
    " ['F', 'M'][n % 2 + 1] AS gender,"
    " CASE WHEN n % 5 = 1 THEN 'left' ELSE 'right' END AS side, n % 5 = 0 AS churned, n * 1.5 AS cost FROM range(1, 201) AS t(n)"
)


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return asked(tmp_path_factory.mktemp("machines"), {"machine": MACHINES})


def draft(**more: object) -> TaskDraft:
    return TaskDraft.model_validate({"table": "machine", "column": "state", **more})


def read(source: Asked, given: TaskDraft) -> Predictive:
    return task_reading(given, Names(source.source.handle, source.model), source.source.query)


def rows(source: Asked, sql: str) -> list[str]:
    return sorted(map(str, source.source.rows(sql)))


@pytest.mark.parametrize(
    "question",
    [
        "predict churn for each machine",
        "predict churn for each machine where wear > 3 and gender = F",
        "predict state for each machine",
        "predict state for each machine where state = fine",
        "predict state of all machines",
        "predict cost for each machine",
        "estimate the cost of each machine where cost > 100 and wear < 5",
        "predict wear as a number for each machine",
        "predict wear as classes for each machine",
        "predict side for each machine",
        "predict state = broken for each machine",
        "predict state in (broken, worn out) for each machine where state is missing",
        "predict cost above 150 for each machine",
        "which machines are likely to churn?",
    ],
)
def test_the_written_form_of_a_task_is_the_same_task(machines: Asked, question: str) -> None:
    first = machines.predictive(question)
    again = machines.predictive(first.task.statement)
    assert rows(machines, again.task.context_sql) == rows(machines, first.task.context_sql)
    assert rows(machines, again.task.predict_sql) == rows(machines, first.task.predict_sql)
    assert again.task.target_label == first.task.target_label
    assert (again.task.kind, again.task.classes) == (first.task.kind, first.task.classes)


def test_the_north_star_task_reads_back_on_the_bank(mini: Asked) -> None:
    task = mini.predictive("predict default FOR EACH loan WHERE status IN (C, D)").task
    assert task.statement == "predict default FOR EACH loan WHERE status IN (C, D)"
    assert task.edits == ()
    scored = {row[0] for row in mini.source.rows(task.predict_sql)}
    assert scored == set(range(13, 25))
    assert {row[0] for row in mini.source.rows(task.context_sql)} == set(range(1, 13))


def test_several_words_are_told_apart_and_figures_estimated(machines: Asked) -> None:
    task = machines.predictive("predict state for each machine").task
    assert (task.kind, task.task_type, task.classes) == ("multiclass", "classification", ("broken", "fine", "worn out"))
    known = machines.source.query(task.context_sql)
    assert dict(zip(known["machine"], known[task.target_column], strict=True)) == dict(
        machines.source.rows("SELECT machine, state FROM machine WHERE state IS NOT NULL")
    )
    assert (task.out_of_fold, len(machines.source.rows(task.predict_sql))) == (False, 20)
    cost = machines.predictive("predict the cost of each machine").task
    assert (cost.kind, cost.classes, cost.target_label, cost.out_of_fold) == ("regression", (), "cost", True)
    figures = machines.source.query(cost.context_sql)
    assert dict(zip(figures["machine"], figures[cost.target_column], strict=True)) == dict(
        machines.source.rows("SELECT machine, cost FROM machine")
    )
    assert "cost" not in {f.name for f in cost.features}
    assert any("out of fold" in note for note in cost.notes)


def test_a_written_limit_on_the_figure_itself_narrows_who_is_scored_only(machines: Asked) -> None:
    task = machines.predictive("predict the cost of each machine where cost > 100").task
    assert len(machines.source.rows(task.context_sql)) == 200
    dear = machines.source.rows("SELECT count(*) FROM machine WHERE cost > 100")[0][0]
    assert len(machines.source.rows(task.predict_sql)) == dear


def test_values_that_count_are_as_the_person_says(machines: Asked) -> None:
    task = read(machines, draft(positive=("broken", "worn out"), negative=("fine",), score=(MISSING,))).task
    known = machines.source.query(task.context_sql)
    truth = dict(machines.source.rows("SELECT machine, state IN ('broken', 'worn out') FROM machine WHERE state IS NOT NULL"))
    assert {m: bool(y) for m, y in zip(known[task.entity_column], known[task.target_column], strict=True)} == truth
    assert len(machines.source.rows(task.predict_sql)) == 20
    assert not task.out_of_fold
    assert any("broken, worn out" in said for said in task.edits)


def test_scoring_rows_that_train_is_out_of_fold_and_says_so(machines: Asked) -> None:
    task = read(machines, draft(positive=("broken",), negative=("fine", "worn out"), score=("worn out",))).task
    assert task.out_of_fold
    assert any("out of fold" in note for note in task.notes)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"positive": ("fine",), "negative": ("fine",)}, "both sides"),
        ({"positive": ("gone",)}, "no value gone"),
        ({"positive": ("broken", "fine", "worn out")}, "both sides to learn"),
        ({"positive": (MISSING,), "negative": ("fine",)}, "teach nothing"),
        ({"positive": ("broken",), "negative": ("fine",), "score": ("fine", "worn out")}, "train as well and some do not"),
        ({"positive": ("broken",), "negative": ("fine",), "score": (MISSING, "worn out")}, "by themselves"),
        ({"column": "nothing"}, "no column nothing"),
        ({"taken_out": ("nothing",)}, "no column of this task"),
        ({"outcome": "machine.gone"}, "not declared any more"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(machines: Asked, change: dict, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        read(machines, draft(**change))


def test_columns_are_put_back_and_taken_out_by_name(machines: Asked) -> None:
    plain = read(machines, draft(column="churned", outcome="machine.churned"))
    left = {o.name: o for o in plain.task.left_out}
    assert left["gender"].reason == "protected"
    assert left["gender"].approvable
    changed = read(
        machines, draft(column="churned", outcome="machine.churned", put_back=("machine.gender",), taken_out=("temperature",))
    )
    names = {f.name for f in changed.task.features}
    assert "gender" in names
    assert "temperature" not in names
    assert {o.name: o.reason for o in changed.task.left_out}["temperature"] == "by_hand"
    assert changed.task.edits == ("Put back by hand: machine.gender (protected).", "Taken out by hand: temperature.")


def test_a_target_nobody_declared_is_doubtful_and_one_that_was_said_is_not(machines: Asked) -> None:
    assert "rarest" in " ".join(machines.predictive("predict side for each machine").doubts)
    assert "a class of its own" in " ".join(machines.predictive("predict wear for each machine").doubts)
    assert machines.predictive("predict wear as a number for each machine").doubts == ()
    assert machines.predictive("predict state for each machine").doubts == ()
    assert machines.predictive("predict state = broken for each machine").doubts == ()
    assert machines.predictive("predict churn for each machine").doubts == ()
    assert "protected" in " ".join(machines.predictive("predict gender for each machine").doubts)


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("predict installed for each machine", "date"),
        ("predict machine for each machine", "names rows"),
        ("predict state for each machine where state = melted", "no value"),
        ("predict churn for each machine where colour = red", "no column"),
        ("predict churn for each machine where wear > much", "number"),
        ("predict churn for each machine where wear", "no test"),
        ("predict cost above lots for each machine", "above"),
        ("forecast the number of machines", "not forecast"),
    ],
)
def test_what_cannot_be_trained_says_why(machines: Asked, question: str, word: str) -> None:
    reading = machines.read(question)
    assert isinstance(reading, CannotAnswer), reading
    assert word in reading.reason


@pytest.mark.parametrize(
    "question",
    [
        "make a prediction",
        "predict for each machine",
        "predict the weather for each machine",
        "which machines are likely to explode?",
    ],
)
def test_a_prediction_of_nothing_named_asks_which_column(machines: Asked, question: str) -> None:
    reading = machines.read(question)
    assert isinstance(reading, Clarify), reading
    assert reading.options
    for option in reading.options:
        assert isinstance(machines.read(option), Predictive), option


def test_hostile_words_of_a_written_form_stay_values(tmp_path: Path) -> None:
    select = "SELECT n AS id, ['it''s; DROP', 'a, b', 'x'][n % 3 + 1] AS kind, n % 7 AS size FROM range(1, 61) AS t(n)"
    source = asked(tmp_path, {"things": select})
    given = TaskDraft(table="things", column="kind", positive=("it's; DROP",))
    task = read(source, given).task
    assert len(source.source.rows(task.context_sql)) == 60
    assert sum(row[1] for row in source.source.rows(task.context_sql)) == 20


def test_stretches_of_time_follow_each_other_and_cut_no_moment() -> None:
    rng = np.random.default_rng(5)
    moments = np.array(["2020-01-01"], dtype="datetime64[D]") + rng.integers(0, 40, 400)
    y = (rng.random(400) < 0.3).astype(float)
    folds = make_folds(y, 5, 7, Split(by="time", folds=4), moments)
    assert (folds.count, folds.repeats) == (4, 1)
    last = None
    for fold in range(4):
        inside = moments[folds.of[:, 0] == fold]
        assert last is None or inside.min() > last
        last = inside.max()


@pytest.mark.parametrize("split", [Split(by="time"), Split(folds=400), Split(folds=1)])
def test_a_split_that_cannot_be_made_is_refused(split: Split) -> None:
    y = np.array([0.0, 1.0] * 30)
    with pytest.raises(BadInput):
        make_folds(y, 5, 7, split, None)
