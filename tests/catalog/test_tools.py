"""The catalog's tools as an agent calls them: within their caps, with the seed's fields, and refusals that say what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lexsi_ds.agent.tools import REGISTRY
from lexsi_ds.agent.tools.base import ToolResult
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from tests.catalog.conftest import ADA, BEN, Importing

_TOOLS = ("list_data_connectors", "list_datasets", "describe_dataset", "get_columns", "compare_schemas")
_WIDE = ",".join(f"column_{i:03}" for i in range(300)) + "\n" + ",".join(str(i) for i in range(300)) + "\n"


@pytest.fixture
def active(importing: Importing) -> DatasetHandle:
    return importing({"people": "id,email,pay\n1,SECRET@x.org,10\n2,b@x.org,30\n", "wide": _WIDE}, "active")


def _call(app: Application, handle: DatasetHandle, folder: Path, tool: str, **args: Any) -> ToolResult:
    ctx = app.answering.context(handle, "run_x", folder, actor=ADA, offline=True)
    found = REGISTRY[tool]
    result = found.run(found.spec.args_schema(**args), ctx)
    assert len(result.summary) <= found.spec.summary_cap
    json.dumps(result.payload, allow_nan=False)
    return result


def test_the_tools_answer_within_their_caps_and_show_nothing_masked(
    app: Application, active: DatasetHandle, tmp_path: Path
) -> None:
    said = {
        "list_data_connectors": _call(app, active, tmp_path, "list_data_connectors"),
        "list_datasets": _call(app, active, tmp_path, "list_datasets", limit=1),
        "describe_dataset": _call(app, active, tmp_path, "describe_dataset", dataset="people"),
        "get_columns": _call(app, active, tmp_path, "get_columns", dataset="people"),
        "compare_schemas": _call(app, active, tmp_path, "compare_schemas", dataset_a="people", dataset_b="wide"),
    }
    assert set(said) == set(_TOOLS) and all(r.ok for r in said.values())
    assert "active" in said["list_data_connectors"].summary
    assert said["list_datasets"].payload["nextCursor"] in said["list_datasets"].summary
    assert "mean 20" in said["get_columns"].summary and "- email VARCHAR: masked" in said["get_columns"].summary
    assert said["get_columns"].meta["facts"] == {
        "rows": 2, "nullCount.id": 0, "uniqueCount.id": 2, "min.id": 1, "max.id": 2, "mean.id": 1.5, "median.id": 1.5,
        "nullCount.pay": 0, "uniqueCount.pay": 2, "min.pay": 10, "max.pay": 30, "mean.pay": 20, "median.pay": 20,
    }
    assert "SECRET" not in json.dumps([[r.summary, r.payload] for r in said.values()])
    assert "Only in A (3)" in said["compare_schemas"].summary
    wide = _call(app, active, tmp_path, "get_columns", dataset="wide")
    assert len(wide.payload["columns"]) == 300 and "more lines are left out here" in wide.summary


def test_a_name_is_looked_for_in_the_active_source_first_and_else_never_picked(
    app: Application, active: DatasetHandle, importing: Importing, tmp_path: Path
) -> None:
    others = [importing({"people": "a\n1\n", "twin": "a\n1\n"}, "other") for _ in range(2)]
    importing({"hidden": "a\n1\n"}, "bens", BEN)
    found = _call(app, active, tmp_path, "describe_dataset", dataset="people")
    assert found.payload["id"] == active.table("people").dataset_id  # type: ignore[union-attr]
    refused = _call(app, active, tmp_path, "describe_dataset", dataset="twin")
    ids = [h.table("twin").dataset_id for h in others]  # type: ignore[union-attr]
    assert not refused.ok and refused.meta["code"] == "ambiguous_dataset" and sorted(refused.meta["candidates"]) == sorted(ids)
    for name in ("hidden", "nowhere"):
        missing = _call(app, active, tmp_path, "get_columns", dataset=name)
        assert not missing.ok and missing.meta["code"] == "not_found" and "list_datasets" in missing.summary
    bad = _call(app, active, tmp_path, "list_datasets", cursor="made-up")
    assert not bad.ok and bad.meta["code"] == "invalid_cursor"


def test_a_file_of_the_command_line_can_be_described_too(app: Application, tmp_path: Path) -> None:
    path = tmp_path / "oneoff.csv"
    path.write_text("a,b\n1,2\n")
    handle = app.catalog.throwaway(path, actor=ADA)
    assert _call(app, handle, tmp_path, "describe_dataset", dataset="oneoff").payload["rowCount"] == 1
    listed = _call(app, handle, tmp_path, "list_datasets", limit=200).payload["datasets"]
    assert "oneoff" not in {d["name"] for d in listed}


def test_five_more_tools_leave_the_prompt_of_a_planner_short() -> None:
    told = sum(len(REGISTRY[name].spec.description) + len(json.dumps(REGISTRY[name].spec.args_schema.model_json_schema()))
               for name in _TOOLS)
    order = list(REGISTRY)
    assert told < 4_500 and order.index("query_kg") < order.index("list_data_connectors") < order.index("text_to_sql")
