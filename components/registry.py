"""The pages, once: one list feeds the sidebar, the home cards, the links and a test that every file is registered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PageKey = Literal["home", "connect", "chat", "models", "explorer", "findings"]


@dataclass(frozen=True)
class PageInfo:
    """A page: its script, how it is named and drawn, and what it is for."""

    key: PageKey
    path: str
    title: str
    icon: str
    purpose: str


PAGES: tuple[PageInfo, ...] = (
    PageInfo("home", "app.py", "Home", ":material/home:", "What is connected and what to do next."),
    PageInfo(
        "connect",
        "pages/1_Connect_data.py",
        "Connect data",
        ":material/database:",
        "Bring data in, see how it was read, and choose which source is asked.",
    ),
    PageInfo(
        "chat",
        "pages/2_Chat.py",
        "Chat",
        ":material/forum:",
        "Ask in plain words; every answer opens into its steps, SQL and rows.",
    ),
    PageInfo(
        "models",
        "pages/3_Model_results.py",
        "Model results",
        ":material/monitoring:",
        "How good a model is, how sure that is, and what it predicts for every row.",
    ),
    PageInfo(
        "explorer",
        "pages/4_XAI_explorer.py",
        "XAI explorer",
        ":material/network_intelligence:",
        "What moves the model overall and why one case got its score.",
    ),
    PageInfo(
        "findings",
        "pages/5_Findings_review.py",
        "Findings review",
        ":material/rule:",
        "Sentences with a check: accept or reject them, and see when one stops being true.",
    ),
)
_BY_KEY = {page.key: page for page in PAGES}


def page(key: PageKey) -> PageInfo:
    """The page of this key."""
    return _BY_KEY[key]
