"""Columns that are averages themselves, figures listed by their own entity, and ids that are told as names."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexsi_ds.agent.loop import AgentLoop
from lexsi_ds.agent.planners.offline import OfflinePlanner
from tests.agent.scripted import context, done

pytestmark = pytest.mark.xdist_group("demo")


def _ask(application, handle, folder: Path, question: str):
    ctx = context(application, handle, folder)
    return ctx, done(list(AgentLoop(OfflinePlanner(ctx)).stream(question, ctx)))


def test_a_column_called_average_is_averaged_over_the_rows_that_are_meant_and_said_once(application, demo_handle, tmp_path) -> None:
    ctx, end = _ask(application, demo_handle, tmp_path, "average salary in Prague")
    value = application.sql.frame(demo_handle, "SELECT avg(A11) AS v FROM district WHERE A3 = 'Prague'")["v"][0]
    assert ctx.cache["last_sql_result"].iloc[0, 0] == pytest.approx(value)
    assert (end.answer or "").startswith("Average salary:") and "mean of the average salary of each district" in (end.reading or "")


def test_a_figure_by_its_own_entity_lists_it(application, demo_handle, tmp_path) -> None:
    ctx, end = _ask(application, demo_handle, tmp_path, "average salary by district")
    want = application.sql.frame(demo_handle, "SELECT A2, A11 FROM district")
    got = ctx.cache["last_sql_result"]
    assert end.state == "answered" and len(got) == len(want) == 77
    assert sorted(got["average_salary"]) == pytest.approx(sorted(want["A11"]))


def test_an_id_takes_no_thousands_marks(application, demo_handle, tmp_path) -> None:
    _, end = _ask(application, demo_handle, tmp_path, "what is the amount of loan 4959?")
    assert "loan id: 4959;" in (end.answer or "")
