"""First guesses about columns, by general rules of names and values, in any case style."""

from __future__ import annotations

import pytest

from lexsi_ds.data.marks import Facts, Marks, guess_marks, split_name

_NAMES = ("Braund, Mr. Owen Harris", "Cumings, Mrs. John Bradley", "Heikkinen, Miss. Laina")


def _guess(
    name: str, family: str = "text", *, rows: int = 100, distinct: int = 10, sample: tuple[str, ...] = ()
) -> Marks:
    return guess_marks(Facts(name, family, rows, 0, distinct, sample))


@pytest.mark.parametrize(
    "name",
    ["gender", "Sex", "AGE", "age_years", "birth_date", "BirthDate", "dateOfBirth", "dob", "marital-status", "MaritalStatus",
     "Religion", "ethnicity", "Race", "SeniorCitizen", "senior_citizen", "native-country", "Nationality"],
)  # fmt: skip
def test_protected_traits_are_known_in_every_case_style(name: str) -> None:
    assert _guess(name, "number").protected


@pytest.mark.parametrize(
    "name", ["page", "average", "account_age", "message", "essex", "language", "race_id", "usage", "stage"]
)
def test_names_that_only_look_alike_are_not_protected(name: str) -> None:
    assert not _guess(name, "number").protected


@pytest.mark.parametrize(
    "name",
    ["email", "E-Mail", "phone_number", "Telephone", "FirstName", "last_name", "birth_number", "BillingAddress", "iban",
     "ssn", "credit_card_number", "Address"],
)  # fmt: skip
def test_what_names_a_person_is_masked(name: str) -> None:
    assert _guess(name).masked


@pytest.mark.parametrize("name", ["email_sent", "PhoneService", "has_phone"])
def test_yes_or_no_about_an_email_names_nobody(name: str) -> None:
    assert not _guess(name, sample=("Yes", "No", "Yes")).masked
    assert not _guess(name, "number", sample=("0", "1")).masked
    assert _guess(name, sample=("Yes", "ann@example.com")).masked


def test_values_can_say_what_a_name_does_not() -> None:
    assert _guess("contact", sample=("ann@example.com", "bob@example.org")).masked
    assert _guess("Name", sample=_NAMES).masked
    assert not _guess("Name", sample=("AC/DC", "Accept", "Aerosmith")).masked
    assert not _guess("product_name", sample=("Lamp", "Chair")).masked


@pytest.mark.parametrize("name", ["customerID", "PassengerId", "account_id", "AlbumId", "uuid", "order_key"])
def test_keys_are_identifiers(name: str) -> None:
    assert _guess(name, "number").identifier


def test_a_number_that_never_repeats_is_an_identifier_and_a_measure_is_not() -> None:
    assert _guess("EmployeeNumber", "number", rows=1470, distinct=1470).identifier
    assert not _guess("bedrooms_number", "number", rows=1470, distinct=8).identifier
    assert not _guess("amount", "number", rows=1470, distinct=1470).identifier


def test_names_are_split_at_case_and_signs() -> None:
    assert split_name("dateOfBirth") == ("date", "of", "birth")
    assert split_name("PT08.S1(CO)") == ("pt08", "s1", "co")
    assert split_name("customerID") == ("customer", "id")
