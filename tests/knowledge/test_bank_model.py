"""The bank's written model fits the real tables, and nothing in it speaks of what is not there."""

from __future__ import annotations

import pytest

from lexsi_ds.knowledge.load import is_bank, semantic_model
from lexsi_ds.knowledge.model import SemanticModel
from lexsi_ds.knowledge.values import ValueIndex, build_values
from tests.knowledge.sources import Source, berka_tables, make_source, needs_data

pytestmark = needs_data


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    return make_source(tmp_path_factory.mktemp("bank"), berka_tables(), kind="pkdd")


@pytest.fixture(scope="module")
def model(source: Source) -> SemanticModel:
    return semantic_model(source.handle, source.query)


@pytest.fixture(scope="module")
def values(source: Source, model: SemanticModel) -> ValueIndex:
    return build_values(source.handle, model, source.query)


def test_everything_named_exists(source: Source, model: SemanticModel) -> None:
    have = {(t.name, c.name) for t in source.handle.tables for c in t.columns}
    named = {(c.table, c.name) for c in model.columns}
    named |= {(r.child, r.child_column) for r in model.relationships} | {
        (r.parent, r.parent_column) for r in model.relationships
    }
    for holder in (*model.segments, *model.metrics):
        named |= {(c.table, c.column) for c in holder.conditions}
    for outcome in model.outcomes:
        named |= {(c.table, c.column) for c in (*outcome.positive, *outcome.known, *outcome.unknown)}
    for table in model.tables:
        named |= {(table.name, n) for n in (table.key, table.time, table.size, *table.names) if n}
    assert named <= have
    assert len(model.tables) == 8
    assert len(model.relationships) == 8


def test_every_written_code_is_a_value_of_its_column(source: Source, model: SemanticModel) -> None:
    for column in model.columns:
        if column.values:
            found = {v for (v,) in source.rows(f'SELECT DISTINCT "{column.name}" FROM "{column.table}"')}
            missing = {m.value for m in column.values} - found
            # The example data holds a part of the transactions only.
            assert not missing or column.table == "trans", (column.table, column.name, missing)


def test_every_code_of_a_described_column_has_a_meaning(source: Source, model: SemanticModel) -> None:
    for column in model.columns:
        if column.values:
            found = {
                v for (v,) in source.rows(f'SELECT DISTINCT "{column.name}" FROM "{column.table}"') if v is not None
            }
            assert found <= {m.value for m in column.values}, (column.table, column.name)


def test_the_outcome_takes_finished_loans_as_known_and_sets_those_in_debt_apart(model: SemanticModel) -> None:
    (outcome,) = model.outcomes
    assert outcome.known[0].values == ("A", "B")
    assert outcome.positive[0].values == ("B",)
    assert outcome.unknown[0].values == ("C", "D")
    assert (outcome.apart_value, outcome.apart_label) == ("D", "in debt already")
    assert next(m for m in model.metrics if m.id == "default_rate").conditions[0].values == ("B", "D")


def test_people_and_places_are_told_apart_by_role(model: SemanticModel) -> None:
    roles = {(r.child, r.parent): r.role for r in model.relationships}
    assert roles["account", "district"] == "the account's district"
    assert roles["client", "district"] == "the client's district"
    assert model.paths[0].conditions[0].values == ("OWNER",)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("women", "F"),
        ("Women", "F"),
        ("a man", None),
        ("weekly statement", "POPLATEK TYDNE"),
        ("USTI NAD LABEM", "Usti nad Labem"),
        ("Ústí nad Labem", "Usti nad Labem"),
        ("prague", "Prague"),
        ("Pragues", "Prague"),
        ("south moravai", "south Moravia"),
        ("in debt", "D"),
        ("gold cards", "gold"),
        ("Atlantis", None),
    ],
)
def test_values_are_found_by_what_people_say(values: ValueIndex, said: str, value: str | None) -> None:
    assert {h.value for h in values.lookup(said)} == ({value} if value else set())


def test_masked_values_are_not_in_the_index(source: Source, values: ValueIndex) -> None:
    number = source.rows("SELECT birth_number FROM client LIMIT 1")[0][0]
    assert not values.lookup(number)
    assert not any("birth_number" in sql for sql in source.asked if "DISTINCT" in sql or "GROUP BY" in sql)


def test_a_bank_is_told_by_its_tables_and_not_by_its_kind(source: Source, tmp_path) -> None:
    assert is_bank(source.handle.model_copy(update={"kind": "files"}))
    assert not is_bank(source.handle.model_copy(update={"tables": source.handle.tables[:5]}))


def test_a_bank_with_texts_for_dates_and_numbers_is_read_the_same(tmp_path) -> None:
    tables = berka_tables()
    tables["loan"] = f"SELECT * REPLACE (CAST(date AS VARCHAR) AS date) FROM ({tables['loan']})"
    tables["district"] = f"SELECT * REPLACE (CAST(A4 AS VARCHAR) AS A4) FROM ({tables['district']})"
    text = make_source(tmp_path, tables, kind="sqlite")
    model = semantic_model(text.handle, text.query)
    stored = {(c.table, c.name): c.stored for c in model.columns}
    assert (stored["loan", "date"], stored["district", "A4"]) == ("date_text", "number_text")


def test_a_column_that_is_missing_takes_its_meanings_with_it(tmp_path) -> None:
    tables = berka_tables()
    tables["client"] = f"SELECT * EXCLUDE (gender) FROM ({tables['client']})"
    bare = make_source(tmp_path, tables)
    model = semantic_model(bare.handle, bare.query)
    assert model.column("client", "gender") is None
    assert not build_values(bare.handle, model, bare.query).lookup("women")
