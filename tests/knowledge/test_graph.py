"""The business knowledge graph: outline, sections, nodes, and search by whole questions."""

from __future__ import annotations

import pytest

from lexsi_ds.errors import NotFound
from lexsi_ds.knowledge.graph import SECTIONS, KnowledgeGraph
from lexsi_ds.knowledge.load import semantic_model
from tests.knowledge.sources import berka_tables, csv_table, make_source, needs_data

pytestmark = needs_data


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeGraph:
    source = make_source(tmp_path_factory.mktemp("bank"), berka_tables(), kind="pkdd")
    return KnowledgeGraph(semantic_model(source.handle, source.query))


def test_the_outline_names_every_node_by_section(graph: KnowledgeGraph) -> None:
    outline = graph.outline()
    assert tuple(outline) == SECTIONS
    assert "default" in outline["disambigs"]
    assert outline["tables"] == ["account", "card", "client", "disp", "district", "loan", "order", "trans"]


def test_the_full_question_finds_what_default_means(graph: KnowledgeGraph) -> None:
    hits = graph.search(
        "For loans currently being repaid, which are likely to default? Show me the top 10 and tell me why."
    )
    assert "disambigs:default" in [h.id for h in hits[:3]]
    assert "('B','D')" in next(h for h in hits if h.id == "disambigs:default").text
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)


@pytest.mark.parametrize(
    ("question", "node"),
    [
        ("How many of our customers live in Prague?", "disambigs:customer"),
        ("Which customers live in Prague?", "join_paths:client_to_district"),
        ("accounts kept in Brno", "join_paths:account_to_district"),
        ("what is our default rate", "metrics:default_rate"),
        ("withdrawals in 1997", "disambigs:withdrawal"),
        ("who is the disponent", "concepts:disponent"),
    ],
)
def test_search_finds_the_node_that_settles_it(graph: KnowledgeGraph, question: str, node: str) -> None:
    assert node in [h.id for h in graph.search(question, top_k=3)]


def test_top_k_is_kept_and_nothing_is_found_for_nothing(graph: KnowledgeGraph) -> None:
    assert len(graph.search("loan account client district", top_k=2)) == 2
    assert graph.search("zzz qqq") == []
    assert graph.search("") == []


def test_weak_hits_are_widened_by_the_runs_question(graph: KnowledgeGraph) -> None:
    question = "which running loans are likely to default?"
    assert graph.search("zzz") == []
    assert "disambigs:default" in [h.id for h in graph.search("zzz", question=question)]


def test_a_section_lists_all_its_nodes_and_a_node_is_fetched_by_id_or_label(graph: KnowledgeGraph) -> None:
    assert len(graph.section("join_paths")) == 9
    assert graph.node("disambigs:default") == graph.node("Default")
    assert "loan.amount" in graph.node("total loan amount").text


def test_an_unknown_node_names_the_nearest(graph: KnowledgeGraph) -> None:
    with pytest.raises(NotFound, match="Did you mean 'district'"):
        graph.node("distrcit")
    with pytest.raises(NotFound, match="outline"):
        graph.node("nothing like it")


def test_ambiguous_nouns_of_a_question_come_in_its_order(graph: KnowledgeGraph) -> None:
    assert graph.ambiguous_nouns("How many accounts?") == []
    assert graph.ambiguous_nouns("Default rate by district of the customers") == ["default", "district", "customer"]


def test_a_source_nobody_described_has_a_graph_too(tmp_path) -> None:
    source = make_source(tmp_path, {"telco_customer_churn": csv_table("Telco-Customer-Churn.csv")})
    graph = KnowledgeGraph(semantic_model(source.handle, source.query))
    assert graph.search("which customers churn?")
    assert "churn rate" in graph.outline()["metrics"]
    assert "MonthlyCharges" in graph.node("telco_customer_churn").text
