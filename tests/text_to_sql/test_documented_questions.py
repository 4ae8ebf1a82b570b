"""docs/questions.md says what works: every example in it is read on a real source, and its answer comes out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lexsi_ds.text_to_sql.interpret import interpret
from lexsi_ds.text_to_sql.reading import (
    Analytic,
    CannotAnswer,
    Clarify,
    Explain,
    NextPage,
    OffTopic,
    Predictive,
    Reading,
)
from tests.text_to_sql.messy import CLUB
from tests.text_to_sql.sources import asked
from tests.text_to_sql.studio import STUDIO

pytestmark = pytest.mark.xdist_group("demo")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "questions.md"
KINDS: dict[str, tuple[type, ...]] = {
    "answered": (Analytic,),
    "predicts": (Predictive,),
    "explains": (Explain,),
    "next rows": (NextPage,),
    "asks back": (Clarify,),
    "cannot answer": (CannotAnswer, OffTopic),
}
SHOP = {
    "customers": "SELECT n AS customer_id, ['Germany', 'France', 'Spain'][n % 3 + 1] AS country,"
    " DATE '2023-01-01' + CAST(n AS INTEGER) AS signup_date, n % 7 AS visits, n % 4 = 0 AS churned FROM range(1, 61) AS t(n)",
    "orders": "SELECT n AS order_id, n % 50 + 1 AS customer_id, DATE '2024-01-01' + CAST(n AS INTEGER) AS order_date,"
    " n AS amount, ['web', 'store'][n % 2 + 1] AS channel FROM range(1, 201) AS t(n)",
}


@dataclass(frozen=True)
class Example:
    """A row of the page."""

    question: str
    source: str
    kind: str
    answer: str
    before: tuple[str, ...]
    """The questions that it goes on from, the first first."""


def examples() -> list[Example]:
    found: list[Example] = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if not line.startswith("|") or len(cells) != 4 or cells[0] in ("Question", "---"):
            continue
        follows = cells[0].startswith("…")
        before = (*found[-1].before, found[-1].question) if follows else ()
        found.append(Example(cells[0].lstrip("… "), cells[1], cells[2], cells[3], before))
    return found


@dataclass
class Read:
    """A source that questions are asked of."""

    read: Callable[..., Reading]
    query: Callable[[str], pd.DataFrame]


@pytest.fixture(scope="module")
def sources(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Read]:
    made: dict[str, Read] = {}

    def of(name: str) -> Read:
        if name not in made:
            made[name] = _demo(request) if name == "demo" else _made(tmp_path_factory, name)
        return made[name]

    return of


def _demo(request: pytest.FixtureRequest) -> Read:
    app: Any = request.getfixturevalue("application")
    handle = request.getfixturevalue("demo_handle")
    known = app.knowledge(handle)

    def query(sql: str) -> pd.DataFrame:
        return app.sql.frame(handle, sql)

    def read(question: str, **more: Any) -> Reading:
        return interpret(question, handle, known.model, known.values, query, **more)

    return Read(read, query)


def _made(folders: pytest.TempPathFactory, name: str) -> Read:
    source = asked(folders.mktemp(name), {"shop": SHOP, "club": CLUB, "studio": STUDIO}[name])
    return Read(source.read, source.source.query)


@pytest.mark.parametrize("example", examples(), ids=lambda e: f"{e.source}: {' … '.join((*e.before, e.question))}")
def test_a_documented_question_comes_out_as_the_page_says(example: Example, sources: Callable[[str], Read]) -> None:
    source = sources(example.source)
    previous = None
    for question in example.before:
        previous = source.read(question, previous=previous)
    reading = source.read(example.question, previous=previous)
    assert isinstance(reading, KINDS[example.kind]), reading
    if isinstance(reading, Analytic):
        _check_rows(source.query(reading.sql), reading, example.answer)
    elif isinstance(reading, Predictive):
        assert reading.task.target_label == example.answer
    elif isinstance(reading, NextPage):
        assert str(reading.count) == example.answer
    elif isinstance(reading, CannotAnswer) and example.answer:
        assert any(example.answer in word for word in reading.words), reading.words
    elif isinstance(reading, Clarify):
        for option in reading.options:
            assert not isinstance(source.read(option), CannotAnswer | OffTopic), option


def _check_rows(rows: pd.DataFrame, reading: Analytic, answer: str) -> None:
    assert len(rows) > 0
    if counted := re.fullmatch(r"(\d+) rows?", answer):
        assert len(rows) == int(counted[1])
    elif answer.startswith("first: "):
        assert str(rows.iloc[0, 0]) == answer.removeprefix("first: ")
    elif answer:
        assert len(rows) == 1
        value = rows[reading.value_column].iloc[0] if reading.value_column else rows.iloc[0, -1]
        assert float(value) == pytest.approx(float(answer), rel=1e-5)


def test_the_page_has_examples_of_every_kind_on_every_source() -> None:
    found = examples()
    assert {e.kind for e in found} == set(KINDS)
    assert {e.source for e in found} == {"demo", "shop", "club", "studio"}
    assert len({(e.before, e.question, e.source) for e in found}) == len(found) > 60
