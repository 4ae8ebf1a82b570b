"""A real, small model behind a real endpoint, where one is named: it answers or fails in words; no quality is claimed of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lexsi_ds.agent import events as ev
from lexsi_ds.agent.answering import Answering
from lexsi_ds.agent.loop import AgentLoop
from lexsi_ds.agent.planners.llm import LLMPlanner
from lexsi_ds.llm.client import LLMClient
from lexsi_ds.llm.probe import probe
from tests.agent.scripted import context, done

URL = os.environ.get("LEXSI_TEST_LOCAL_LLM", "")
MODEL = os.environ.get("LEXSI_TEST_LOCAL_LLM_MODEL", "local-model")
pytestmark = [
    pytest.mark.slow, pytest.mark.xdist_group("demo"),
    pytest.mark.skipif(not URL, reason="LEXSI_TEST_LOCAL_LLM names no endpoint, such as http://127.0.0.1:8151/v1"),
]  # fmt: skip


def test_the_probe_comes_to_a_verdict() -> None:
    verdict = probe(LLMClient(URL, MODEL, timeout_s=300))
    assert verdict.mode in ("native", "json") and verdict.seconds > 0


def test_it_answers_or_fails_in_words(application, demo_handle, tmp_path: Path) -> None:
    assert isinstance(application.answering, Answering)
    ctx = context(application, demo_handle, tmp_path)
    ctx.llm = LLMClient(URL, MODEL, timeout_s=300)
    events = list(AgentLoop(LLMPlanner(ctx.llm, native=True)).stream("How many accounts are there?", ctx))
    end = done(events)
    assert end.answer or any(isinstance(e, ev.Failed) and e.message for e in events) or end.state == "needs_clarification"
    assert end.usage["requests"] >= 1 and sum(isinstance(e, ev.Done) for e in events) == 1
