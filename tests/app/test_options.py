"""Places of the screen that draw no Markdown (options of select boxes, spoken names, placeholders) hold text without escapes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from components import session, wizard_check
from lexsi_ds.application import Application
from lexsi_ds.data.plan import ReadPlan
from lexsi_ds.settings import Settings
from tests.app.conftest import settled
from tests.app.test_house import SCREEN

pytestmark = pytest.mark.xdist_group("pages")
NO_MARKDOWN = {"selectbox", "multiselect"}
"""Widgets whose options are drawn as they are; radio buttons, pills and segments take Markdown."""
SPOKEN = {"alt", "placeholder", "file_name"}


def escaped(source: str) -> list[str]:
    """Calls that hand Markdown's escapes to a place that shows them."""
    found = []
    for call in [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Call)]:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        options = {"format_func", "options"} if name in NO_MARKDOWN else set()
        given = [k.value for k in call.keywords if k.arg in SPOKEN | options]
        given += call.args[1:2] if name in NO_MARKDOWN else []
        found += [f"{call.lineno}: {ast.unparse(v)}" for v in given if "plain(" in ast.unparse(v)]
    return found


@pytest.mark.parametrize("path", SCREEN, ids=lambda p: p.name)
def test_nothing_is_escaped_where_no_markdown_is_drawn(path: Path) -> None:
    assert escaped(path.read_text()) == []


def test_the_rule_finds_an_escape() -> None:
    assert escaped('st.selectbox("T", names, format_func=lambda n: plain(n, 60))')
    assert escaped('tables.show(rows, alt=f"Rows of {plain(name)}")')
    assert not escaped('st.radio("T", names, format_func=lambda n: plain(n, 60))')


def test_a_table_that_is_left_out_says_so_in_letters() -> None:
    plan = ReadPlan(path=Path("my_file (1).csv"), table="my_file", format="text", error="Nothing in it.")
    assert wizard_check.option(plan) == "my_file: left out, my_file (1).csv cannot be read"


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Application]:
    running = Application(Settings(home=tmp_path / "home", sql_workers=1))
    for name in ("t_01_statement", "j2*tz"):
        (tmp_path / f"{name}.csv").write_text("id_no,price_$\n" + "\n".join(f"{i},{i * 2}" for i in range(40)))
    paths = sorted(tmp_path.glob("*.csv"))
    running.import_id = running.catalog.import_source(running.person(), "files", "Odd_names", paths).source_id  # type: ignore[attr-defined]
    yield running
    running.close()


@pytest.mark.parametrize("tab", ["Tables", "Preview", "Relationships", "Versions", "SQL"])
def test_select_boxes_of_a_source_show_names_as_they_are(app: Application, open_page, tab: str) -> None:
    source = app.import_id  # type: ignore[attr-defined]
    at = open_page(app, "connect", source=source)
    at.session_state[session.wkey("tabs", source)] = f":gray[{tab}]"
    settled(at.run(timeout=60))
    options = [option for box in at.selectbox for option in box.options]
    assert not [option for option in options if "\\" in option or ":material" in option]
    if tab == "Relationships":
        assert "t_01_statement" in options
