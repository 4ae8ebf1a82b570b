"""Rules of the screen that hold everywhere, read from the source: one registry, one file of keys, no raw HTML, small pages."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

from components import plotly_template
from components.registry import PAGES
from tests.app.conftest import REPO

SCREEN = [REPO / "app.py", *sorted((REPO / "pages").glob("*.py")), *sorted((REPO / "components").glob("*.py"))]
PAGE_FILES = [p for p in SCREEN if p.parent.name != "components"]


def test_every_page_file_is_registered_once() -> None:
    registered = [info.path for info in PAGES]
    assert sorted(registered) == sorted(str(p.relative_to(REPO)) for p in PAGE_FILES)
    assert len({info.icon for info in PAGES}) == len({info.title for info in PAGES}) == len(PAGES)


@pytest.mark.parametrize("path", PAGE_FILES, ids=lambda p: p.name)
def test_a_page_is_a_short_plain_script_that_begins_with_bootstrap(path: Path) -> None:
    source = path.read_text()
    tree = ast.parse(source)
    assert source.count("\n") < 120
    assert not [n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))]
    calls = [n for n in tree.body if not isinstance(n, (ast.Import, ast.ImportFrom)) and "bootstrap(" in ast.unparse(n)]
    before = [ast.unparse(n) for n in tree.body[: tree.body.index(calls[0])]]
    assert not [line for line in before if line.startswith("st.")]


@pytest.mark.parametrize("path", SCREEN, ids=lambda p: p.name)
def test_no_raw_html_no_css_no_pickle_no_router(path: Path) -> None:
    source = path.read_text()
    for word in (
        "unsafe_allow_html",
        "st.html",
        "components.v1",
        "st.iframe",
        "st.divider",
        "st.navigation",
        "pickle",
        "joblib",
        "<style",
    ):
        assert word not in source, word
    assert not re.search(r"st\.cache_(data|resource)", source), "caches are keyed by snapshot in the core"
    assert not [c for c in source if 0x1F000 <= ord(c) <= 0x1FAFF], "no emoji"


@pytest.mark.parametrize("path", [p for p in SCREEN if p.name != "session.py"], ids=lambda p: p.name)
def test_only_one_file_touches_session_state(path: Path) -> None:
    assert "session_state" not in re.sub(r'""".*?"""', "", path.read_text(), flags=re.S)


@pytest.mark.parametrize("path", SCREEN, ids=lambda p: p.name)
def test_every_module_says_why_it_exists(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))
    assert path.read_text().count("\n") <= 300


def test_the_core_does_not_know_the_screen() -> None:
    for path in (REPO / "lexsi_ds").rglob("*.py"):
        assert not re.search(r"^\s*(import|from) (streamlit|components)\b", path.read_text(), re.M), path


def test_figures_and_theme_share_their_colours() -> None:
    theme = tomllib.loads((REPO / ".streamlit" / "config.toml").read_text())["theme"]
    for mode, palette in (("light", plotly_template.LIGHT), ("dark", plotly_template.DARK)):
        assert tuple(theme[mode]["chartCategoricalColors"]) == palette.categorical
        assert tuple(theme[mode]["chartSequentialColors"]) == palette.sequential
        assert tuple(theme[mode]["chartDivergingColors"]) == palette.diverging
        assert theme[mode]["backgroundColor"] == palette.surface
        assert theme[mode]["textColor"] == palette.text
        assert theme[mode]["primaryColor"] == palette.accent


def test_the_app_stays_on_this_machine_and_hides_tracebacks() -> None:
    config = tomllib.loads((REPO / ".streamlit" / "config.toml").read_text())
    assert config["browser"]["gatherUsageStats"] is False
    assert config["client"]["showErrorDetails"] == "none"
    assert config["client"]["showSidebarNavigation"] is False
    assert config["server"]["enableXsrfProtection"] is True
