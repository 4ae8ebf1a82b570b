"""How words are compared."""

from __future__ import annotations

import pytest

from lexsi_ds.knowledge.words import distance, fold, nearest, other_spelling, phrase, plural, singular, split_name, stem


@pytest.mark.parametrize(
    ("many", "one"),
    [("accounts", "account"), ("cities", "city"), ("boxes", "box"), ("women", "woman"), ("people", "person"), ("status", "status"),
     ("addresses", "address"), ("loss", "loss"), ("houses", "house"), ("basis", "basis"), ("branches", "branch")],
)  # fmt: skip
def test_singular(many: str, one: str) -> None:
    assert singular(many) == one


@pytest.mark.parametrize(("one", "many"), [("account", "accounts"), ("city", "cities"), ("box", "boxes"), ("person", "people"),
                                           ("bank account", "bank accounts"), ("day", "days"), ("sales", "sales")])  # fmt: skip
def test_plural(one: str, many: str) -> None:
    assert plural(one) == many


@pytest.mark.parametrize(
    ("name", "words"),
    [("NumCompaniesWorked", ("number", "companies", "worked")), ("customerID", ("customer", "id")), ("k_symbol", ("k", "symbol")),
     ("yr_built", ("year", "built")), ("HTTPServer", ("http", "server")), ("A11", ("a11",)), ("Město", ("mesto",))],
)  # fmt: skip
def test_names_are_split_and_spelt_out(name: str, words: tuple[str, ...]) -> None:
    assert split_name(name) == words


def test_folding_drops_case_and_accents() -> None:
    assert fold("Ústí NAD Łabem ß") == "usti nad labem ss"
    assert phrase("The Women's cards, 1997!") == ("the", "woman", "card", "1997")


def test_a_swap_of_neighbours_is_one_edit() -> None:
    assert distance("distrcit", "district", 2) == 1
    assert distance("loan", "load", 1) == 1
    assert distance("loan", "account", 2) == 3


def test_nearest_needs_one_best_word_and_leaves_short_words_and_codes_alone() -> None:
    known = {"account", "amount", "district", "loans", "loads"}
    assert nearest("acount", known) == "account"
    assert nearest("lozns", {"loans", "lozens"}) is None
    assert nearest("lons", known) is None
    assert nearest("acc0unt", known) is None


def test_forms_of_one_verb_share_a_stem() -> None:
    assert stem("billed") == stem("billing") == stem("bills")
    assert stem("pay") == stem("payment")


@pytest.mark.parametrize(("word", "known"), [
    ("fibre", "fiber"), ("fiber", "fibre"), ("colours", "colors"), ("center", "centre"),
    ("organised", "organized"), ("cheque", "check"),
])  # fmt: skip
def test_a_word_is_known_as_the_other_side_of_the_atlantic_spells_it(word: str, known: str) -> None:
    assert other_spelling(word, {known, "other"}) == known and other_spelling(word, {"other"}) is None
