"""Which verified question a question is: the same words, a near match, other values; and what becomes a parameter."""

from __future__ import annotations

import pytest
import sqlglot

from lexsi_ds.errors import BadInput
from lexsi_ds.knowledge.model import Parameter, VerifiedQuestion
from lexsi_ds.knowledge.values import ValueHit, ValueIndex
from lexsi_ds.knowledge.verified_sql import filled_sql
from lexsi_ds.text_to_sql.verified import candidates, find, with_parameters

VALUES = ValueIndex(
    ValueHit("district", "A2", v, v, tuple(v.casefold().split()), exact=True) for v in ("Prague", "Brno", "Hradec Kralove")
)
KNOWN = frozenset({"loan", "account", "paid", "region"})
SQL = (
    "SELECT COUNT(*) AS n FROM loan AS l JOIN district AS d ON l.d = d.id "
    "WHERE l.amount > 300000 AND d.A2 = 'Prague' AND l.since >= '1996-01-01'"
)
ASKED = "How many loans above 300,000 are there in Prague since 1996-01-01?"


def template() -> VerifiedQuestion:
    return with_parameters(ASKED, SQL, candidates(ASKED, SQL))


def test_literals_that_the_question_holds_are_offered_as_parameters() -> None:
    made = template()
    assert made.question == "How many loans above {amount} are there in {a2} since {since}?"
    assert [(p.name, p.kind, p.value, p.table, p.column) for p in made.parameters] == [
        ("amount", "number", "300000", "loan", "amount"), ("a2", "text", "Prague", "district", "A2"),
        ("since", "date", "1996-01-01", "loan", "since"),
    ]  # fmt: skip
    assert "{amount}" in made.sql and "'Prague'" not in made.sql
    assert sqlglot.parse_one(filled_sql(made), dialect="duckdb") == sqlglot.parse_one(SQL, dialect="duckdb")


@pytest.mark.parametrize(
    ("question", "values"),
    [
        (ASKED, ("300000", "Prague", "1996-01-01")),
        ("how many loan above 300 thousand are there in prague since 1996-01-01", ("300000", "Prague", "1996-01-01")),
        ("Number of loans above 50k in Hradec Kralove since 1997-06-30", ("50000", "Hradec Kralove", "1997-06-30")),
        ("Please tell me the number of loans above 1.5 in Brno since 1996-01-01.", ("1.5", "Brno", "1996-01-01")),
    ],
)
def test_a_near_match_takes_its_own_values(question: str, values: tuple[str, ...]) -> None:
    found = find(question, [template()], VALUES, KNOWN)
    assert found is not None and tuple(found.values[n] for n in ("amount", "a2", "since")) == values
    assert found.near == (values != ("300000", "Prague", "1996-01-01"))
    sql = filled_sql(found.verified, found.values)
    assert f"> {values[0]}" in sql and f"'{values[1]}'" in sql and f"'{values[2]}'" in sql


@pytest.mark.parametrize(
    "question",
    [
        "How many loans below 300,000 are there in Prague since 1996-01-01?",
        "How many loans above 300,000 are there in Prague?",
        "How many loans above 300,000 are there in Vienna since 1996-01-01?",
        "How many loans above 300,000 are there not in Prague since 1996-01-01?",
        "List loans above 300,000 in Prague since 1996-01-01",
        "How many accounts above 300,000 are there in Prague since 1996-01-01?",
        "How many loans above 300,000 are there in Prague or Brno since 1996-01-01?",
        "How many loans above 300,000 are there in Prague since 1996?",
        "",
    ],
)
def test_another_question_is_no_match(question: str) -> None:
    assert find(question, [template()], VALUES, KNOWN) is None


def test_a_misspelt_word_is_near_only_where_the_data_does_not_know_it() -> None:
    known = [VerifiedQuestion(question="Revenue by region", sql="SELECT 1")]
    assert find("Revenu by reggion", known, VALUES, KNOWN) is not None
    assert find("Revenue by legion", known, VALUES, KNOWN | {"legion"}) is None


def test_two_near_matches_of_different_sql_are_none() -> None:
    both = [VerifiedQuestion(question="Show the loans", sql="SELECT 1"), VerifiedQuestion(question="What loans", sql="SELECT 2")]
    assert find("loans please", both, VALUES, KNOWN) is None
    assert find("what loans", both, VALUES, KNOWN).verified is both[1]


@pytest.mark.parametrize(
    ("kind", "value"), [("number", "1; DROP TABLE x"), ("number", "1e5"), ("date", "1996-13-01"), ("date", "' OR 1=1")]
)
def test_a_value_is_one_literal_of_its_kind_or_refused(kind, value: str) -> None:
    verified = VerifiedQuestion(question="{p}", sql="SELECT {p}", parameters=(Parameter(name="p", kind=kind, value="1"),))
    with pytest.raises(BadInput, match=f"no {kind}"):
        filled_sql(verified, {"p": value})


def test_a_text_with_quotes_stays_one_literal() -> None:
    verified = VerifiedQuestion(question="{p}", sql="SELECT {p}", parameters=(Parameter(name="p", kind="text", value="a"),))
    assert filled_sql(verified, {"p": "x' OR '1'='1"}) == "SELECT 'x'' OR ''1''=''1'"
