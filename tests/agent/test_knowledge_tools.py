"""query_kg and sample_values as the tool reference tells them: modes, arguments, caps, and what is never shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lexsi_ds.agent.context import AgentContext
from lexsi_ds.agent.tools.base import ToolResult
from lexsi_ds.agent.tools.query_kg import TOOL as QUERY_KG
from lexsi_ds.agent.tools.sample_values import TOOL as SAMPLE_VALUES
from lexsi_ds.application import Application
from lexsi_ds.errors import NotFound
from lexsi_ds.ids import new_id
from lexsi_ds.settings import Settings
from tests.knowledge.sources import make_source
from tests.text_to_sql.sources import mini_bank


@pytest.fixture(scope="module")
def ctx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentContext]:
    folder: Path = tmp_path_factory.mktemp("tools")
    app = Application(Settings(home=folder / "home", sql_workers=1))
    handle = make_source(folder, mini_bank(), kind="demo").handle
    yield app.answering.context(handle, new_id("run"), folder / "run", offline=True)
    app.close()


def kg(ctx: AgentContext, **args: Any) -> ToolResult:
    return QUERY_KG.run(QUERY_KG.spec.args_schema(**args), ctx)


def sample(ctx: AgentContext, **args: Any) -> ToolResult:
    return SAMPLE_VALUES.run(SAMPLE_VALUES.spec.args_schema(**args), ctx)


def test_no_arguments_outline_all_sections(ctx: AgentContext) -> None:
    result = kg(ctx)
    sections = [line.split(" (")[0] for line in result.summary.splitlines()]
    assert sections == ["concepts", "disambigs", "metrics", "join_paths", "tables"]
    assert "customer" in result.summary and result.payload["mode"] == "outline"


def test_the_whole_question_finds_what_its_phrases_trigger(ctx: AgentContext) -> None:
    result = kg(ctx, search="How many customers live in the district where their account is kept in?", top_k=3)
    assert len(result.payload["hits"]) == 3
    assert {"customer", "district"} & {h["label"] for h in result.payload["hits"]}


def test_weak_words_are_widened_by_the_run_s_question_and_that_is_said(ctx: AgentContext) -> None:
    ctx.cache["question"] = "Which customers have a loan in default?"
    try:
        widened, alone = kg(ctx, search="zzz"), kg(ctx, search="default rate")
    finally:
        del ctx.cache["question"]
    assert "widened by the run's question" in widened.summary and widened.payload["hits"]
    assert "widened" not in alone.summary
    assert kg(ctx, search="zzz").summary == "Nothing in the knowledge graph matches."


def test_a_section_is_whole_in_the_payload_and_never_cut_through_a_line(ctx: AgentContext) -> None:
    result = kg(ctx, section="tables")
    assert len(result.payload["hits"]) == 8
    lines = result.summary.splitlines()
    assert len(result.summary) <= QUERY_KG.spec.summary_cap
    assert all(line.startswith("- [tables] ") for line in lines[:-1]) and "more, each with node=" in lines[-1]
    inside = kg(ctx, search="loan", section="metrics")
    assert {h["section"] for h in inside.payload["hits"]} == {"metrics"}


@pytest.mark.parametrize("name", ["customer", "Customer", "disambigs:customer"])
def test_a_node_is_given_whole_by_label_or_id(ctx: AgentContext, name: str) -> None:
    result = kg(ctx, node=name)
    assert result.summary.startswith("id: disambigs:customer\nsection: disambigs\nlabel: customer\ntext: ")
    assert "found by:" in result.summary and "owned by" in result.summary
    with pytest.raises(NotFound, match="No node"):
        kg(ctx, node="custmer2")


def test_values_come_with_counts_and_what_they_stand_for_most_common_first(ctx: AgentContext) -> None:
    result = sample(ctx, table="client", column="gender")
    assert result.summary == "client.gender: 2 distinct values; 2 shown: 'M' = male (18), 'F' = female (17)"
    assert result.payload["values"] == [{"value": "M", "count": 18}, {"value": "F", "count": 17}]
    assert [v["value"] for v in sample(ctx, table="CLIENT", column="Gender", order_by_freq=False).payload["values"]] == ["F", "M"]


def test_the_cap_is_a_hundred_and_what_is_left_out_is_said(ctx: AgentContext) -> None:
    assert len(sample(ctx, table="client", column="client_id", k=500).payload["values"]) == 35
    result = sample(ctx, table="client", column="client_id", k=2)
    assert "35 distinct values; 2 shown" in result.summary


@pytest.mark.parametrize(
    ("table", "column", "said"),
    [
        ("clients", "gender", "No table named 'clients'. Tables:"),
        ("client", "sex; DROP TABLE client", "No column named"),
        ("client", "birth_number", "is masked; its values are not shown"),
    ],
)
def test_what_is_not_there_or_masked_is_refused_with_what_to_do(ctx: AgentContext, table: str, column: str, said: str) -> None:
    result = sample(ctx, table=table, column=column)
    assert not result.ok and said in result.summary and result.payload is None
