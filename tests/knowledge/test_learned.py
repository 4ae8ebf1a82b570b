"""A taught word wins over general synonyms, and stays out where what it means is gone."""

from __future__ import annotations

from lexsi_ds.knowledge.learned import with_learned
from lexsi_ds.knowledge.load import semantic_model
from lexsi_ds.knowledge.model import LearnedWord
from tests.knowledge.sources import make_source

ROWS = "SELECT n AS id, ['a', 'b', 'c'][n % 3 + 1] AS city, ['x', 'y', 'z'][n % 3 + 1] AS place FROM range(1, 61) AS t(n)"


def test_a_taught_word_takes_a_general_synonym_from_its_column(tmp_path) -> None:
    source = make_source(tmp_path, {"t": ROWS})
    model = semantic_model(source.handle, source.query)
    before = model.column("t", "city")
    assert before is not None and "town" in before.synonyms
    taught = with_learned(model, [LearnedWord(id="w", words="town", table="t", column="place")])
    city, place = taught.column("t", "city"), taught.column("t", "place")
    assert city is not None and place is not None
    assert "town" not in city.synonyms and "town" in place.synonyms
    gone = with_learned(model, [LearnedWord(id="w", words="town", table="t", column="gone")])
    assert gone == model
