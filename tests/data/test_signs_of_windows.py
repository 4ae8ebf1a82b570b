"""Files in the code page of Windows whose only bytes beyond ASCII are signs beside numbers."""

from __future__ import annotations

import pytest

from tests.data.conftest import Importing


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("id;price\n1;1,50 €\n2;2,50 €\n3;3,50 €\n", [(1, 1.5), (2, 2.5), (3, 3.5)]),
        ("id,p\n1,£5\n2,£6.5\n", [(1, 5.0), (2, 6.5)]),
        ("id;n\n1;5 µg\n2;7 µg\n3;½ kg\n", [(1, "5 µg"), (2, "7 µg"), (3, "½ kg")]),
        ("id;n\n1;4\u00a0881\u00a0987\n2;1\u00a0000\n", [(1, 4881987), (2, 1000)]),
    ],
)
def test_signs_beside_numbers_are_signs(csv: Importing, content: str, rows: list[tuple[object, ...]]) -> None:
    assert csv(content.encode("cp1252")).rows() == rows


def test_the_other_reading_of_a_sign_is_named(csv: Importing) -> None:
    assert "“£5” would be “Ł5” as cp1250" in csv("id,p\n1,£5\n2,£6.5\n".encode("cp1252")).notes()
