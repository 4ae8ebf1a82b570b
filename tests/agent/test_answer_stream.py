"""An answer is shown while a model writes it: whole sentences, grounded ones only, and nothing twice."""

from __future__ import annotations

import json

import pytest

from components.turn import fold
from lexsi_ds.agent import events as ev
from lexsi_ds.agent.answer_stream import AnswerStream
from lexsi_ds.agent.loop import AgentLoop
from lexsi_ds.agent.planners.llm import LLMPlanner
from lexsi_ds.facts import check
from lexsi_ds.llm.client import LLMClient
from tests.agent.scripted import context, done
from tests.llm.server import Say, Server

pytestmark = pytest.mark.xdist_group("demo")
COUNT = ("run_sql", {"sql": "SELECT count(*) AS n FROM account"})
LOANS, LENT = ("run_sql", {"sql": "SELECT count(*) AS n FROM loan"}), "There are 682 loans."
TRUE, FALSE, LAST = "There are 4,500 accounts.", "Of them 77 are closed.", 'The word "account" is žluté.\nThat is all.'


def run(application, handle, folder, script, *, native: bool):
    with Server(script) as server:
        ctx = context(application, handle, folder)
        ctx.llm = LLMClient(server.url, "m")
        return list(AgentLoop(LLMPlanner(ctx.llm, native=native)).stream("How many accounts?", ctx))


def deltas(events) -> list[str]:
    return [e.text for e in events if isinstance(e, ev.Delta)]


@pytest.mark.parametrize("piece", [1, 4, 50])
@pytest.mark.parametrize("native", [True, False])
def test_sentences_come_one_by_one_and_make_up_the_answer(application, demo_handle, tmp_path, native: bool, piece: int) -> None:
    text = f"{TRUE} {FALSE} {LAST}"
    if native:
        script = [Say(calls=(COUNT,)), Say(text, piece=piece)]
    else:
        said = json.dumps({"thought": "7", "final_answer": text})
        script = [json.dumps({"tool": COUNT[0], "args": COUNT[1]}), Say(said, piece=piece)]
    events = run(application, demo_handle, tmp_path, script, native=native)
    end = done(events)
    assert end.answer == f"{TRUE} {LAST}" == "".join(deltas(events)) and end.removed == [FALSE]
    assert len(deltas(events)) >= (3 if piece < 50 else 2)


def test_words_before_a_call_are_no_answer(application, demo_handle, tmp_path) -> None:
    preamble = "I will count the loans now. One moment please. "
    script = [Say(calls=(COUNT,)), Say(preamble, calls=(LOANS,)), Say(LENT)]
    events = run(application, demo_handle, tmp_path, script, native=True)
    assert deltas(events) == ["I will count the loans now.", LENT]
    told = [e.model_dump() for e in events]
    first = [e["type"] for e in told].index("delta")
    assert fold("run", "q", told[: first + 1]).narrative == "I will count the loans now."
    assert fold("run", "q", told[:-1]).narrative == LENT == done(events).answer


def test_a_reply_that_breaks_off_is_asked_for_again_and_begun_anew(application, demo_handle, tmp_path) -> None:
    script = [Say(calls=(COUNT,)), Say(f"{TRUE} {LAST}", piece=5, drop_after=9), Say("We have 4,500 accounts.")]
    events = run(application, demo_handle, tmp_path, script, native=True)
    assert deltas(events) == [TRUE, "We have 4,500 accounts."] and done(events).answer == "We have 4,500 accounts."
    assert fold("run", "q", [e.model_dump() for e in events[:-1]]).narrative == "We have 4,500 accounts."


def test_nothing_is_shown_before_a_tool_worked_nor_where_rows_may_not_be_told(application, demo_handle, tmp_path) -> None:
    script = [Say("I know this. It is easy. There is more."), Say("Still the same. Yes it is. Yes.")]
    assert len(deltas(run(application, demo_handle, tmp_path, script, native=True))) <= 1


def test_a_surrogate_or_an_escape_cut_in_two_is_waited_for() -> None:
    said: list[str] = []
    stream = AnswerStream(said.append, lambda t: check(t, {}), lambda: said.append("AGAIN"), lambda: True)
    stream.begin(native=False)
    for letter in json.dumps({"final_answer": "Done \U0001f600 now. Then \"this\".\nEnd"}):
        stream.take(letter)
    assert "".join(said) == 'Done \U0001f600 now. Then "this".\nEnd'
    assert stream.rest("Done.") == "Done." and said[-1] == "AGAIN"
