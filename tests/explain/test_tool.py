"""The tool explain_prediction: the seed's arguments, and a reason for each case that could not be explained."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pandas as pd
import pytest

from lexsi_ds.agent.context import AgentContext
from lexsi_ds.agent.tools.explain_prediction import TOOL
from lexsi_ds.application import Application
from lexsi_ds.explain.wording import NOT_CAUSES
from lexsi_ds.facts import check
from lexsi_ds.services.access import LOCAL
from lexsi_ds.settings import Settings
from tests.models.frames_for_tests import loan_task, loans


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory):
    app = Application(Settings(home=tmp_path_factory.mktemp("home")))
    frame = loans()
    ref, card = app.engine.train(frame, loan_task(frame), model_type="Logistic")
    kept = app.models.register(LOCAL, ref, card, None)
    yield app, ref, kept
    app.close()


def _context(trained: Any, folder: Path, rows: pd.DataFrame | None = None) -> AgentContext:
    app, ref, card = trained
    rows = loans(30, seed=5, first=1_000) if rows is None else rows
    context = AgentContext(
        dataset=cast(Any, None), run_id="run_x", sql=app.sql, engine=app.engine, knowledge=cast(Any, None), folder=folder,
        models=app.models, explanations=app.explanations,
    )  # fmt: skip
    scores = pd.DataFrame({"loan_id": rows["loan_id"], "rank": range(1, len(rows) + 1), "segment": "ranked"})
    context.cache |= {
        "last_model_id": card.id, "_model_ref": ref, "_card": card, "last_predictions": scores,
        "last_predict_df_label": "running", "sql_result:running": rows,
    }  # fmt: skip
    return context


def _run(context: AgentContext, **args: Any) -> Any:
    return TOOL.run(TOOL.spec.args_schema.model_validate(args), context)


def test_without_ids_the_top_of_the_last_predictions_is_explained(trained, tmp_path: Path) -> None:
    context = _context(trained, tmp_path)
    result = _run(context, top_k=3)
    assert result.ok
    kept = context.cache["last_xai"]
    assert [k["case_id"] for k in kept] == ["1000", "1001", "1002"]
    assert len(kept[0]["shap_values"]) == 30
    assert kept[0]["summary"].endswith(NOT_CAUSES)
    assert "similar" not in kept[0]
    assert context.cache["last_xai_failures"] == []
    for case in result.payload["cases"]:
        assert check(case["summary"], case["facts"]).removed == ()


def test_similar_cases_come_when_asked_for_and_the_summary_goes_when_not(trained, tmp_path: Path) -> None:
    context = _context(trained, tmp_path)
    result = _run(context, case_ids=[1005, "1006"], include_similar=True, include_summary=False)
    assert result.ok
    kept = context.cache["last_xai"]
    assert all("summary" not in k for k in kept)
    assert set(result.payload["similar"]) == {"1005", "1006"}
    for case in kept:
        assert len(case["similar"]) == 5
        assert {"entity", "distance", "outcome", "probability", "display"} <= set(case["similar"][0])
    assert all(case["summary"] is None for case in result.payload["cases"])


def test_each_case_that_fails_is_listed_with_its_reason_and_the_rest_are_explained(trained, tmp_path: Path) -> None:
    rows = loans(5, seed=5, first=1_000).astype({"balance_min": object})
    rows.loc[1, "balance_min"] = "a lot"
    context = _context(trained, tmp_path, rows.map(lambda v: v))
    result = _run(context, case_ids=["1000", "1001", "7777", "1002"])
    assert result.ok
    assert [k["case_id"] for k in context.cache["last_xai"]] == ["1000", "1002"]
    reasons = {f["case_id"]: f["error"] for f in context.cache["last_xai_failures"]}
    assert set(reasons) == {"1001", "7777"}
    assert "not a number" in reasons["1001"]
    assert "7777" in reasons["7777"]
    assert result.payload["failures"] == context.cache["last_xai_failures"]
    assert "2 could not be explained" in result.summary
    assert len(result.summary) <= 2_000


def test_where_no_case_can_be_explained_the_tool_refuses_with_the_reasons(trained, tmp_path: Path) -> None:
    result = _run(_context(trained, tmp_path), case_ids=["7777"])
    assert not result.ok
    assert "no loan 7777" in result.summary


def test_unknown_arguments_are_refused(trained, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="pod"):
        _run(_context(trained, tmp_path), pod="small")
