"""Replies to what was asked back, and follow-ups that order, replace or keep the first of each: as a chat takes them."""

from __future__ import annotations

import pytest

from lexsi_ds.agent.chat_run import memory, remembered
from lexsi_ds.agent.context import SessionContext
from lexsi_ds.data.same_rows import same_rows
from lexsi_ds.text_to_sql import replies
from lexsi_ds.text_to_sql.reading import Analytic, Clarify
from tests.text_to_sql.sources import Asked, asked
from tests.text_to_sql.studio import STUDIO

_BY = "SELECT method, year(paid_on) AS y, sum(amount) AS s FROM payments GROUP BY 1, 2"
CHAINS = [
    (["total payment amount by method", "and by year", "only the largest of each year"],
     f"SELECT * FROM ({_BY}) QUALIFY rank() OVER (PARTITION BY y ORDER BY s DESC) = 1"),
    (["total payment amount by method", "and by year", "the smallest in each method"],
     f"SELECT * FROM ({_BY}) QUALIFY rank() OVER (PARTITION BY method ORDER BY s) = 1"),
    (["list payments above 20", "largest amount first", "top 5"],
     "SELECT payment_id, amount FROM payments WHERE amount > 20 ORDER BY amount DESC, payment_id LIMIT 5"),
    (["list payments above 20", "top 3 by amount"],
     "SELECT payment_id, amount FROM payments WHERE amount > 20 ORDER BY amount DESC, payment_id LIMIT 3"),
    (["number of payments by method", "as a share", "without card"],
     "SELECT method, count(*), 100.0 * count(*) / sum(count(*)) OVER () FROM payments WHERE method <> 'card' GROUP BY 1"),
    (["number of payments in 2022", "2023 instead of 2022"], "SELECT count(*) FROM payments WHERE year(paid_on) = 2023"),
    (["number of card payments", "cash instead of card"], "SELECT count(*) FROM payments WHERE method = 'cash'"),
    (["total payment amount by method", "the average instead of the total"], "SELECT method, avg(amount) FROM payments GROUP BY 1"),
    (["total capacity by level", "same for trainers"], None),
    (["list payments above 20", "top 5"], None),
    (["list payments above 20", "top 5 by amount", "smallest amount first"], None),
    (["total payment amount by method", "and by year", "only the first of each year"], None),
    (["total payment amount by method", "only the largest of each year"], None),
]  # fmt: skip


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return asked(tmp_path_factory.mktemp("turns"), STUDIO)


@pytest.mark.parametrize(("questions", "gold"), CHAINS, ids=[c[-1] + str(n) for n, (c, _) in enumerate(CHAINS)])
def test_a_follow_up_changes_the_answer_before_or_is_not_answered(studio: Asked, questions: list[str], gold: str | None) -> None:
    reading = None
    for question in questions[:-1]:
        reading = studio.analytic(question, previous=reading)
    last = studio.read(questions[-1], previous=reading)
    if gold is None:
        assert not isinstance(last, Analytic), last
        return
    assert isinstance(last, Analytic), last
    got, wanted = studio.source.rows(last.sql), studio.source.rows(gold)
    assert same_rows(got, wanted, ordered=False), (last.reading, got[:5], wanted[:5])


def test_rows_without_a_parent_do_not_come_first_in_a_follow_up_either(tmp_path_factory: pytest.TempPathFactory) -> None:
    tables = {
        "vets": "SELECT * FROM (VALUES (1, 'Anna'), (2, 'Ben')) AS t(vet_id, vet_name)",
        "visits": "SELECT n AS visit_id, CASE WHEN n % 5 < 2 THEN n % 5 + 1 END AS vet_id, 10.0 AS fee FROM range(1, 31) AS t(n)",
    }
    vet = asked(tmp_path_factory.mktemp("vet"), tables)
    top = vet.analytic("top 2", previous=vet.analytic("number of visits by vet"))
    assert {row[0] for row in vet.source.rows(top.sql)} == {"Anna", "Ben"}
    assert "without a vet left out" in top.reading


OPTIONS = ("average cost by turbine's county", "average cost by technician's county")


@pytest.mark.parametrize(
    ("reply", "which"),
    [("the turbine's county", 0), ("turbine", 0), ("technician's please", 1), ("2", 1), ("the first one", 0), ("option two", 1),
     ("average cost by technician's county", 1), ("AVERAGE COST BY TURBINE'S COUNTY", 0), ("I mean the technician", 1),
     ("county", None), ("3", None), ("only offshore", None), ("top 2", None), ("average", None), ("", None),
     ("turbine or technician", None)],
)  # fmt: skip
def test_a_reply_picks_an_option_by_its_words_or_number_or_none(reply: str, which: int | None) -> None:
    assert replies.picked(reply, OPTIONS) == (OPTIONS[which] if which is not None else None)


def test_a_reply_that_picks_the_shorter_of_two_options_is_told_by_its_own_words() -> None:
    options = ("average number of visits per animal with visits", "average number of visits per animal, counting those without any")
    assert replies.picked("with visits", options) == options[0]
    assert replies.picked("counting those without any", options) == options[1]
    assert replies.picked("visits", options) is None


def test_a_fragment_that_picks_nothing_is_asked_again_and_a_question_is_read(studio: Asked) -> None:
    back = studio.read("average amount per member")
    assert isinstance(back, Clarify)
    again = studio.read("only card", asked=back)
    assert isinstance(again, Clarify) and again.options == back.options and "picks none" in again.question
    twice = studio.read("only cash", asked=again)
    assert isinstance(twice, Clarify) and twice.question.count("picks none") == 1
    assert isinstance(studio.read("how many members are there", asked=back), Analytic)


def test_a_conversation_remembers_what_it_asked_for_one_turn() -> None:
    session = SessionContext("c")
    session.asks = Clarify(question="Which?", options=OPTIONS)
    after = remembered("c", memory(session))
    assert after.asked == session.asks and after.asks is None
    assert remembered("c", memory(after)).asked is None
