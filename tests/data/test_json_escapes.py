"""JSON with escapes that no text can hold: one cell is odd, and the file is read."""

from __future__ import annotations

import pytest

from lexsi_ds.data import json_escapes
from tests.data.conftest import Importing

_FIRST = r'{"s": "\ud83d\ude00 \u0000x", "t": "line\nb"}'
_SECOND = r'{"s": "ok", "t": "\ud800"}'
_THIRD = r'{"s": "C:\\u0000", "t": "\\\u0041"}'
_ROWS = [("😀 �x", "line\nb"), ("ok", "�"), ("C:\\u0000", "\\A")]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", f"[{_FIRST}, {_SECOND}, {_THIRD}]"),
        ("l.jsonl", f"{_FIRST}\n{_SECOND}\n{_THIRD}\n"),
        ("w.json", f'{{"n": 3, "rows": [{_FIRST}, {_SECOND}, {_THIRD}]}}'),
    ],
)
def test_a_character_that_no_text_holds_costs_its_place_alone(csv: Importing, name: str, content: str) -> None:
    read = csv(content, name)
    assert read.rows() == _ROWS
    assert "2 characters that no text can hold" in read.notes() and read.table()["rejected"] == 0


@pytest.mark.parametrize("size", range(8, 40))
def test_an_escape_across_two_reads_is_one(csv: Importing, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(json_escapes, "_CHUNK", size)
    assert csv(f"[{_FIRST}, {_SECOND}, {_THIRD}]", "a.json").rows() == _ROWS


def test_a_file_without_them_is_not_copied(csv: Importing) -> None:
    assert "no text can hold" not in csv('[{"s": "\\ud83d\\ude00"}, {"s": "a"}]', "a.json").notes()
