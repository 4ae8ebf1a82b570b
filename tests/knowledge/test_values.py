"""Which words are values of which column: by spelling that differs in case, accents or a letter, among few and very many."""

from __future__ import annotations

import pytest

from lexsi_ds.knowledge.load import semantic_model
from lexsi_ds.knowledge.loose_names import first_words
from lexsi_ds.knowledge.ngrams import NgramIndex
from lexsi_ds.knowledge.values import ValueIndex, build_values
from tests.knowledge.sources import Source, make_source

FEW = {
    "people": "SELECT n AS person_id, CASE WHEN n % 2 = 0 THEN 'F' ELSE 'M' END AS gender,"
    " ['east Bohemia', 'south Moravia', 'Ústí'][n % 3 + 1] AS region, ['Canada', 'USA', 'Germany', 'Norway'][n % 4 + 1] AS country,"
    " 'P-' || (1000 + n % 40) AS code FROM range(1, 241) AS t(n)",
}


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> ValueIndex:
    return index_of(make_source(tmp_path_factory.mktemp("few"), FEW))


def index_of(source: Source) -> ValueIndex:
    return build_values(source.handle, semantic_model(source.handle, source.query), source.query)


@pytest.mark.parametrize(
    ("said", "column", "value"),
    [
        ("East Bohemia", "region", "east Bohemia"),
        ("east bohemai", "region", "east Bohemia"),
        ("usti", "region", "Ústí"),
        ("women", "gender", "F"),
        ("Canadian", "country", "Canada"),
        ("american", "country", "USA"),
        ("german", "country", "Germany"),
        ("P-1007", "code", "P-1007"),
    ],
)
def test_a_value_is_found_by_what_people_say(few: ValueIndex, said: str, column: str, value: str) -> None:
    assert [(h.column, h.value) for h in few.search(said)] == [(column, value)]


@pytest.mark.parametrize("said", ["P-1099", "P-107", "eats", "us", "bohemia east north"])
def test_codes_numbers_and_short_words_are_never_mended(few: ValueIndex, said: str) -> None:
    assert few.search(said) == ()


MANY = {
    "names": "SELECT n AS name_id, 'Person ' || chr(CAST(65 + n % 26 AS INTEGER)) || 'oltrane' || n AS full_name,"
    " CASE WHEN n = 4321 THEN 'Žofie Nováková' WHEN n = 4322 THEN 'Johann Goodfellow'"
    " ELSE 'track ' || n || ' of the list' END AS title FROM range(1, 6001) AS t(n)",
}


def test_names_among_very_many_are_found_by_their_spelling_and_read_only_when_asked_for(tmp_path) -> None:
    source = make_source(tmp_path, MANY)
    values = index_of(source)
    assert not any("title" in sql and "GROUP BY ALL" in sql for sql in source.asked)
    assert [(h.value, h.exact) for h in values.search("zofie novakova")] == [("Žofie Nováková", True)]
    assert [(h.value, h.exact) for h in values.search("Johan Goodfelow")] == [("Johann Goodfellow", False)]
    assert values.search("Johann Somebody") == ()
    assert [h.value for h in values.search("track 777 of the list")] == ["track 777 of the list"]
    assert sum('"title"' in sql and "GROUP BY ALL" in sql for sql in source.asked) == 1


def test_masked_columns_give_no_values_however_many_they_have(tmp_path) -> None:
    source = make_source(tmp_path, MANY)
    masked = [c.name for c in source.handle.tables[0].columns if c.masked]
    assert masked == ["full_name"]
    values = index_of(source)
    assert [c.column for c in values.large] == ["title"]
    assert values.search("Person Boltrane1") == ()
    assert not any('"full_name" IS NOT NULL' in sql for sql in source.asked)


def test_texts_beyond_the_bound_are_left_out_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexsi_ds.knowledge.ngrams.MOST_LETTERS", 40)
    index = NgramIndex([f"name number {n}" for n in range(10)])
    assert (len(index.texts), index.whole) == (2, False)
    assert index.find("name number 1") == [("name number 1", True)]
    assert NgramIndex([]).find("name") == []


def test_a_value_is_told_by_its_first_word_only_where_nothing_else_has_it(tmp_path) -> None:
    kinds = "['Fiber optic', 'Mailed check', 'Bank transfer', 'Bank order', 'Region code'][n % 5 + 1]"
    source = make_source(tmp_path, {"sale": f"SELECT n AS sale_id, {kinds} AS kind, n % 3 AS region FROM range(1, 301) AS t(n)"})
    found = first_words(index_of(source), frozenset({"region", "sale", "kind"}))
    assert {word: hit.value for word, hit in found.items()} == {"fiber": "Fiber optic", "mailed": "Mailed check"}
