"""Opens a page as a browser would, on a real or a stand-in application."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

REPO = Path(__file__).resolve().parents[2]
PAGES = {
    "home": "app.py",
    "connect": "pages/1_Connect_data.py",
    "chat": "pages/2_Chat.py",
    "models": "pages/3_Model_results.py",
    "explorer": "pages/4_XAI_explorer.py",
    "findings": "pages/5_Findings_review.py",
}
Open = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def _views_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page opened here has no browser that would come back for a view: it waits for each."""
    monkeypatch.setattr("components.explain_work.PATIENCE", 60.0)


@pytest.fixture
def open_page(monkeypatch: pytest.MonkeyPatch) -> Open:
    """``open_page(application, "chat", conversation=id)``: the page, run once, with no exception."""

    def opened(application: Any, page: str, **query: str) -> AppTest:
        monkeypatch.setattr("lexsi_ds.application.get_application", lambda: application)
        at = AppTest.from_file(str(REPO / "app.py"), default_timeout=30)
        for name, value in query.items():
            at.query_params[name] = value
        if page != "home":
            at.switch_page(PAGES[page])
        return settled(at.run())

    return opened


def settled(at: AppTest) -> AppTest:
    """The page, having drawn without an exception of its own or one that the frame caught as a bug."""
    assert not at.exception, at.exception
    assert not [e.value for e in at.error if "could not be drawn" in e.value], [e.value for e in at.error]
    return at


def words(at: AppTest) -> str:
    """Everything the page says, as one text."""
    kinds = (
        "title",
        "subheader",
        "markdown",
        "caption",
        "text",
        "code",
        "info",
        "warning",
        "error",
        "success",
        "toast",
        "button",
    )
    found = [str(getattr(e, "value", "") or "") for kind in kinds for e in getattr(at, kind)]
    found += [e.label for e in at.button] + [e.proto.label for e in at.get("page_link")]
    found += [e.label for kind in (at.expander, at.status, at.metric) for e in kind]
    return "\n".join(found).replace("\\", "").replace("\u2060", "")
