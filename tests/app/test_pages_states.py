"""States that are hard to reach with the real application: a run at work, an old server's run, a stale decision, a bug."""

from __future__ import annotations

import pytest

from components import session
from lexsi_ds.errors import WorkerFailed
from tests.app import fake_application as fake
from tests.app import fixtures as fx
from tests.app import scripts
from tests.app.conftest import settled, words

STATES = {
    "Asks back": "Which reading of bad?",
    "Cannot answer": "I did not understand: happy.",
    "Refused": "not a question about this data",
    "Failed": "The query ran out of memory.",
    "Stopped": "You stopped this run.",
    "Limit reached": "Twelve steps were not enough.",
    "Interrupted": "The server ended while this run was at work.",
}


def specs(at) -> list[str]:
    """The Plotly figures of a page as JSON."""
    return [str(chart.proto.spec) for chart in at.get("plotly_chart")]


def chat(open_page, *runs: scripts.Script):
    app = fake.FakeApplication(runs)
    return app, open_page(app, "chat", conversation=fake.CONVERSATION)


@pytest.mark.parametrize(("badge", "says"), STATES.items())
def test_every_state_looks_different(open_page, badge: str, says: str) -> None:
    script = next(s for s, name in zip(scripts.other_states(), STATES, strict=True) if name == badge)
    _, at = chat(open_page, script)
    assert badge in words(at)
    assert says in words(at)
    assert not [b for b in set(STATES) - {badge} if f" {b}]" in words(at)]


def test_an_interrupted_run_is_asked_again_with_one_click(open_page) -> None:
    script = scripts.other_states()[-1]
    app, at = chat(open_page, script)
    settled(at.button(key=f"chat-retry-{script.run_id}").click().run())
    assert app.chats.asked == ["Who defaults?"]


def test_an_answer_in_full_shows_words_reading_risk_list_model_and_task(open_page) -> None:
    _, at = chat(open_page, scripts.north_star())
    said = words(at)
    assert "9 steps" in said
    assert "Default is status B or D." in said
    assert "Only 31 of 234 known loans defaulted" in said
    assert "10 of 403 loans" in said
    assert "In debt already" in said and "10 of 45 loans" in said
    assert "ROC AUC **0.81**" in said
    assert "Logistic has 0.76 on the same folds" in said
    assert "1 protected" in said
    risk = at.dataframe[0].value
    assert len(risk) == 10
    assert list(risk["Rank"]) == list(range(1, 11))
    assert risk["Drivers"].str.count("[▲▼]").eq(3).all()


def test_a_taken_out_sentence_is_visible(open_page) -> None:
    _, at = chat(open_page, scripts.north_star())
    assert "A number in them is not among the facts of this run." in words(at)
    assert "4,000,000" in words(at)


def test_the_timeline_opens_to_payloads(open_page) -> None:
    script = scripts.north_star()
    _, at = chat(open_page, script)
    at.session_state[session.wkey("steps", script.run_id)] = True
    for event in script.events:
        if event["type"] == "tool":
            at.session_state[session.wkey("step", script.run_id, event["call_id"])] = True
    settled(at.run())
    said = words(at)
    assert "SELECT" in said
    assert "234 rows, 13 columns" in said
    assert len(at.dataframe) >= 9


def test_a_chart_follows_the_reading(open_page) -> None:
    _, at = chat(open_page, scripts.grouped())
    assert len(at.get("plotly_chart")) == 1
    assert list(at.dataframe[0].value["year"]) == ["1993", "1994", "1995", "1996", "1997", "1998"]


def test_a_follow_up_is_asked_from_a_chip(open_page) -> None:
    app, at = chat(open_page, scripts.north_star())
    chips = at.get("pills")[0]
    settled(chips.set_value("And the next ten?").run())
    assert app.chats.asked == ["And the next ten?"]


def test_answered_options_are_greyed_out(open_page) -> None:
    asked, later = scripts.other_states()[0], scripts.count()
    _, at = chat(open_page, asked, later)
    assert at.get("pills")[0].disabled


def test_a_busy_conversation_keeps_the_text(open_page, monkeypatch) -> None:
    app = fake.FakeApplication([scripts.count()])
    at = open_page(app, "chat", conversation=fake.CONVERSATION)
    app.chats.scripts.append(scripts.live())
    monkeypatch.setattr("components.chat.live_turn", lambda *a: None)
    settled(at.chat_input[0].set_value("And by district?").run())
    assert "still at work" in words(at)
    assert at.chat_input[0].proto.value == "And by district?"
    assert app.chats.asked == []


def test_a_question_of_20000_characters_is_refused_and_not_lost(open_page) -> None:
    _, at = chat(open_page, scripts.count())
    question = "loans " * 3400
    settled(at.chat_input[0].set_value(question).run())
    assert "20399 characters" in words(at)
    assert at.chat_input[0].proto.value == question.strip()


def test_stop_ends_the_run_itself(open_page, monkeypatch) -> None:
    monkeypatch.setattr("components.chat.live_turn", lambda *a: None)
    script = scripts.live()
    app, at = chat(open_page, script)
    settled(at.button(key=f"chat-stop-{script.run_id}").click().run())
    assert app.chats.stopped == [script.run_id]
    assert "You stopped this run." in words(at)


def test_a_live_run_is_drawn_to_its_end_by_draining_events(open_page) -> None:
    script = scripts.live()
    whole = scripts.north_star(20)
    app = fake.FakeApplication([script])
    heard: list[int] = []

    def events(actor, run_id, after=0, wait=0.0):
        heard.append(after)
        if after:
            script.events, script.artifacts = whole.events, whole.artifacts
        return [e for e in script.events if e["seq"] > after]

    app.chats.events = events  # type: ignore[method-assign]
    at = open_page(app, "chat", conversation=fake.CONVERSATION)
    assert heard[0] == 0 and len(heard) >= 2
    assert "are likely to default" in words(at)


def test_a_known_error_in_a_callback_is_said_with_what_to_do(open_page) -> None:
    app, at = chat(open_page, scripts.count())
    app.chats.refuse = WorkerFailed("memory", "The worker ran out of memory.", to_do="Ask for fewer rows.")
    settled(at.chat_input[0].set_value("everything").run())
    assert "ran out of memory" in words(at) and "Ask for fewer rows" in words(at)


def test_a_bug_shows_a_log_id_and_no_text_of_its_own(open_page, caplog) -> None:
    app = fake.FakeApplication([scripts.count()])

    def broken(*args: object, **kwargs: object) -> None:
        raise ZeroDivisionError("secret=hunter2")

    app.findings.history = broken  # type: ignore[method-assign]
    with pytest.raises(AssertionError, match="could not be drawn"):
        open_page(app, "findings")
    assert "hunter2" in caplog.text, "the log has the details"


def test_a_bug_in_one_part_leaves_the_rest_of_the_page(open_page) -> None:
    app = fake.FakeApplication([scripts.count()])
    app.similar_cases = None  # type: ignore[assignment]
    with pytest.raises(AssertionError) as seen:
        open_page(app, "explorer", model=fx.MODEL)
    assert "Similar cases could not be drawn" in str(seen.value)
    assert "Log id" in str(seen.value)
    assert "NoneType" not in str(seen.value)


def test_a_stale_decision_is_a_kind_word(open_page) -> None:
    app = fake.FakeApplication([scripts.count()])
    app.findings.conflict = True
    at = open_page(app, "findings")
    settled(at.button(key=f"finding-{app.findings.rows[0].id}-accept").click().run())
    assert "Ana accepted it" in words(at)
    assert "nothing was changed now" in words(at)
    assert app.findings.decided == []


def test_a_decision_carries_the_version_that_was_seen_and_undo_takes_it_back(open_page) -> None:
    app = fake.FakeApplication([scripts.count()])
    first = app.findings.rows[0]
    at = open_page(app, "findings")
    settled(at.button(key=f"finding-{first.id}-accept").click().run())
    assert app.findings.decided == [(first.id, 1, "accepted")]
    settled(at.button(key="findings-undo").click().run())
    assert app.findings.get(None, first.id).review == "pending"


def test_a_broken_finding_has_one_headline_and_its_rows(open_page) -> None:
    app = fake.FakeApplication([scripts.count()])
    broken = app.findings.rows[2]
    at = open_page(app, "findings", finding=broken.id)
    said = words(at)
    assert said.count("Accepted, now broken]") == 1
    assert "12 rows violate it" in said
    assert "12 rows break it; 0 did when it was accepted." in said
    assert len(at.dataframe[0].value) == 12


def test_hostile_text_of_a_finding_loads_nothing(open_page) -> None:
    app = fake.FakeApplication([scripts.count()])
    hostile = app.findings.rows[6]
    at = open_page(app, "findings", finding=hostile.id)
    drawn = [m.value for m in at.markdown] + [b.label for b in at.button] + [o for r in at.radio for o in r.options]
    assert any("evil" in text for text in drawn)
    assert not [text for text in drawn if "![x](" in text]


def test_the_explorer_names_its_scale_on_the_axis(open_page) -> None:
    app = fake.FakeApplication([scripts.count()])
    at = open_page(app, "explorer", model=fx.MODEL, case=str(app.models.rows["loan_id"][3]))
    assert "4 of 403 loans ranked by risk." in words(at)
    assert ["Probability points, rescaled" in spec for spec in specs(at)] == [True, True]
    at.session_state[session.SCALE] = "log-odds"
    settled(at.run())
    assert ["Log-odds of default" in spec for spec in specs(at)] == [True, True]
    at.session_state[session.OVERALL_TAB] = "Importance"
    settled(at.run())
    assert "log-odds" in specs(at)[0]


def test_an_unknown_case_is_a_friendly_word_beside_the_picker(open_page) -> None:
    at = open_page(fake.FakeApplication([scripts.count()]), "explorer", model=fx.MODEL, case="'; drop")
    assert "No loan '; drop here." in words(at)
    assert at.selectbox(key=session.CASE_PICK)
