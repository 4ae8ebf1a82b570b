"""Numbers are written one way: precision, thousands marks, a real minus, coarse ages."""

from __future__ import annotations

import io
import math
from pathlib import Path

import pandas as pd
import pytest

from components import figures, tables
from components.connect import write_upload
from components.turn import fold
from lexsi_ds.models.card import Interval
from tests.app import scripts


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (figures.count(1079680), "1,079,680"),
        (figures.counted(1, "table"), "1 table"),
        (figures.counted(2, "entity"), "2 entities"),
        (figures.number(0.8134521), "0.81"),
        (figures.number(-3120.456), "−3,120.46"),
        (figures.number(math.nan), "unknown"),
        (figures.probability(0.8134521), "0.81"),
        (figures.probability(0.0031), "0.003"),
        (figures.probability(0.00001), "below 0.001"),
        (figures.probability(0.9972), "0.997"),
        (figures.probability(0.0), "0.00"),
        (figures.interval(Interval(value=0.81, low=0.771, high=0.849)), "0.77 to 0.85"),
        (figures.share(35, 201), "17.4% of 201"),
        (figures.share(0, 0), "no rows"),
        (figures.seconds(0.0123), "12 ms"),
        (figures.seconds(3.24), "3.2 s"),
        (figures.seconds(125), "2 min 5 s"),
        (figures.size(4_200_000), "4.2 MB"),
        (figures.ago(1000, now=1030), "just now"),
        (figures.ago(0, now=3 * 86400 + 5), "3 days ago"),
        (figures.ago("not a time"), ""),
        (figures.value(-3120.0), "−3,120"),
        (figures.value(None), "missing"),
        (figures.value(True), "yes"),
        (tables.as_id(5314.0), "5314"),
        (tables.count_line(50, 4500), "showing 50 of 4,500 rows"),
        (tables.count_line(1, 1), "1 row"),
    ],
)
def test_a_figure_is_written_so(made: str, says: str) -> None:
    assert made == says


def test_ids_become_text_and_years_take_no_thousands_mark() -> None:
    shown = tables.presentable(pd.DataFrame({"loan_id": [4959], "year": [1993], "amount": [1000]}))
    assert shown["loan_id"].to_list() == ["4959"]
    settings = tables.columns(shown)
    assert settings["year"]["type_config"]["format"] == "%d"
    assert settings["amount"]["type_config"]["format"] == "localized"


class Upload(io.BytesIO):
    """What the uploader hands over."""

    def __init__(self, name: str, content: bytes) -> None:
        super().__init__(content)
        self.name = name


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "..", "a/b/../c.csv", "C:\\x\\y.csv", "", "\x00.csv", "x" * 400 + ".csv", "ta'bl\"e;.csv"],
)
def test_an_upload_stays_in_its_folder_whatever_its_name(tmp_path: Path, name: str) -> None:
    path = write_upload(tmp_path, Upload(name, b"a,b\n1,2\n"))
    assert path.parent == tmp_path
    assert path.read_bytes() == b"a,b\n1,2\n"


def test_two_uploads_of_one_name_are_both_kept(tmp_path: Path) -> None:
    first, second = (write_upload(tmp_path, Upload("loans.csv", body)) for body in (b"1", b"2"))
    assert (first.read_bytes(), second.read_bytes()) == (b"1", b"2")


def test_a_turn_folds_the_same_in_pieces_and_twice() -> None:
    script = scripts.north_star()
    whole = fold(script.run_id, script.question, script.events)
    pieces = fold(script.run_id, script.question, [])
    for i in range(0, len(script.events), 3):
        pieces.feed(script.events[max(0, i - 2) : i + 3])
    assert pieces == whole
    assert whole.over and len(whole.steps) == 9 and all(s.ok for s in whole.steps)
    assert whole.answer_query is None, "rows that feed a model are no answer"
