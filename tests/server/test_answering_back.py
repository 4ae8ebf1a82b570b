"""What a run asks back is answered over the API, and the question that waited is taken up again: offline and with a model."""

from __future__ import annotations

import json

import pytest

from lexsi_ds.application import Application
from lexsi_ds.settings import Settings
from tests.llm.server import Say, Server
from tests.server.conftest import Served, ask, frames, serving

pytestmark = pytest.mark.xdist_group("demo")


def answer(served: Served, run_id: str, **body):
    with served.client() as client:
        return frames(client.post(f"/api/runs/{run_id}/answer", json=body).text)


def test_an_option_offline_answers_in_the_same_conversation(bank: Served, demo_handle) -> None:
    asked = frames(ask(bank, "average exposure by status", source_id=demo_handle.source_id).text)
    assert asked[-1]["state"] == "needs_clarification"
    options = next(e for e in asked if e["type"] == "ask")["options"]
    number = options.index("average loan amount by status") + 1
    answered = answer(bank, asked[0]["run_id"], option=number)
    assert answered[-1]["state"] == "answered" and answered[0]["conversation_id"] == asked[0]["conversation_id"]


@pytest.mark.parametrize("body", [{"option": 2}, {"answer": "the loans"}])
def test_a_models_question_back_resumes_with_what_was_looked_at(bank: Served, demo_handle, body) -> None:
    def model(sent) -> Say:
        told = json.dumps(sent["messages"])
        if "The user answered: " not in told:
            if "Observation of inspect_data" not in told:
                return Say(json.dumps({"tool": "inspect_data", "args": {"table_filter": ["loan"]}}))
            return Say(json.dumps({"tool": "ask_user", "args": {"question": "Which ones?", "options": ["All cards", "the loans"]}}))
        if "Observation of run_sql" not in told:
            return Say(json.dumps({"tool": "run_sql", "args": {"sql": "SELECT count(*) AS n FROM loan"}}))
        return Say(json.dumps({"final_answer": "There are 682 loans."}))

    with Server([model]) as server:
        settings = Settings(home=bank.app.settings.home, llm_base_url=server.url, llm_model="m", llm_tools="json", sql_workers=1)
        app = Application(settings)
        try:
            with serving(app) as served:
                asked = frames(ask(served, "How many are there of them?", source_id=demo_handle.source_id).text)
                answered = answer(served, asked[0]["run_id"], **body)
        finally:
            app.close()
        last = json.dumps(server.requests[-1]["messages"])
    assert asked[-1]["state"] == "needs_clarification" and answered[-1]["answer"] == "There are 682 loans."
    assert "How many are there of them?" in last and "The user answered: the loans" in last
    assert last.count("Observation of inspect_data") == 1, "what was looked at is not looked at again"
    assert [e["name"] for e in answered if e["type"] == "tool"] == ["run_sql"]
