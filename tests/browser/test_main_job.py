"""The main job as a person does it: from an empty machine to a predicted, explained, downloaded and reviewed answer."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Server, Watched

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
QUESTION = "For loans currently being repaid, which are likely to default? Show me the top 10 highest-risk loans and tell me why."
TOOLS = (
    "inspect_data",
    "query_kg",
    "text_to_sql",
    "run_sql",
    "train_tabular_model",
    "predict",
    "explain_prediction",
    "summarize_result",
)
ROW, HEADER = 35, 35


def ask(tab: Watched, question: str) -> None:
    box = tab.page.get_by_test_id("stChatInputTextArea")
    box.fill(question)
    box.press("Enter")


def test_from_an_empty_machine_to_an_accepted_finding(server: Server, tab: Watched, tmp_path: Path) -> None:
    page = tab.page
    connect_the_demo_bank(server, tab)
    ask_and_see_the_steps(tab)
    rows = download_every_prediction(tab, tmp_path)
    open_the_riskiest_case(tab, rows)
    finding = propose_and_accept(tab)
    server.stop()
    server.start()
    page.goto(finding)
    expect(page.get_by_text(re.compile(r"Accepted, (holds|violated)")).first).to_be_visible()
    expect(page.locator('[class*="st-key-finding-"][class*="-accept"] button')).to_be_disabled()
    tab.settle()


def connect_the_demo_bank(server: Server, tab: Watched) -> None:
    """First start: the page says what is being built, and goes on by itself."""
    page = tab.page
    page.goto(server.url)
    expect(page.get_by_role("heading", name="Home")).to_be_visible()
    expect(page.get_by_text("The demo bank is being built").first).to_be_visible()
    expect(page.get_by_text("8 tables, 1,079,680 rows")).to_be_visible(timeout=90_000)
    expect(page.get_by_text("Try one of these")).to_be_visible()
    tab.settle()
    labels = page.get_by_test_id("stSidebar").get_by_role("link").all_inner_texts()
    names = [label.split("\n")[-1].strip() for label in labels]
    assert names == ["Home", "Connect data", "Chat", "Model results", "XAI explorer", "Findings review"]
    assert page.get_by_test_id("stSidebarNav").count() == 0, "no default list with its app label"
    tab.go("Connect data")
    expect(page.get_by_label("What a row is")).to_have_value("Bank accounts; one row an account.")
    tab.settle()


def ask_and_see_the_steps(tab: Watched) -> None:
    """Each step shows while it happens; the answer opens into its evidence."""
    page = tab.page
    tab.go("Chat")
    expect(page.get_by_role("heading", name="New conversation")).to_be_visible()
    ask(tab, QUESTION)
    expect(page.get_by_text("Calling train_tabular_model…").first).to_be_visible(timeout=60_000)
    assert "conversation=conv_" in page.url
    expect(page.get_by_text("Risk list").first).to_be_visible(timeout=90_000)
    tab.settle()
    expect(page.get_by_text(re.compile(r"10 of 403 loans"))).to_be_visible()
    expect(page.get_by_text(re.compile(r"10 of 45 loans, listed apart"))).to_be_visible()
    page.get_by_text(re.compile(r"^\d+ steps, ")).first.click()
    for tool in TOOLS:
        expect(page.get_by_text(re.compile(rf"^{tool}\b")).first).to_be_visible()
    page.get_by_text(re.compile(r"^run_sql\b")).first.click()
    expect(page.get_by_text(re.compile("WITH target_rows")).first).to_be_visible()
    expect(page.get_by_text("showing 20 of 234 rows", exact=False).first).to_be_visible()


def download_every_prediction(tab: Watched, folder: Path) -> list[dict[str, str]]:
    """Model results names its interval and baseline; the CSV has every row that was scored."""
    page = tab.page
    page.get_by_role("link", name="Open model results").first.click()
    expect(page.get_by_role("heading", name="Loan default")).to_be_visible()
    expect(page.get_by_text("ROC AUC").first).to_be_visible()
    expect(page.get_by_text(re.compile(r"0\.\d\d to 0\.\d\d")).first).to_be_visible()
    page.get_by_role("tab", name="Predictions").click()
    expect(page.get_by_text("Rows 1 to 50 of 448", exact=False)).to_be_visible()
    tab.settle()
    page.locator('[class*="st-key-models-pred"] button').filter(has_text="Download").first.click()
    with page.expect_download() as download:
        page.locator('[class*="st-key-models-pred"][class*="-csv"] button').click()
    path = folder / "predictions.csv"
    download.value.save_as(path)
    with path.open(encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 448
    assert len({row["loan_id"] for row in rows}) == 448
    ranked = [float(row["probability"]) for row in rows if row["segment"] == "ranked"]
    assert len(ranked) == 403 and ranked == sorted(ranked, reverse=True)
    return rows


def open_the_riskiest_case(tab: Watched, rows: list[dict[str, str]]) -> None:
    """A row of the predictions opens its case in the explorer, with a waterfall, a reading and similar cases."""
    page = tab.page
    grid = page.locator('[class*="st-key-predictions-"]').get_by_test_id("data-grid-canvas")
    grid.click(position={"x": 15, "y": HEADER + ROW // 2}, force=True)
    expect(page.get_by_role("heading", name="XAI explorer")).to_be_visible()
    top = rows[0]["loan_id"]
    expect(page.get_by_text(f"Why loan {top}")).to_be_visible()
    expect(page.get_by_text("1 of 403 loans ranked by risk", exact=False)).to_be_visible()
    expect(page.get_by_text("What moves the model").first).to_be_visible(timeout=60_000)
    expect(page.get_by_text("Similar cases").first).to_be_visible(timeout=60_000)
    tab.settle()
    assert f"case={top}" in page.url
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    assert page.get_by_text("Probability points, rescaled").count() >= 2
    page.locator('[class*="st-key-explorer-next"] button').first.click()
    expect(page.get_by_text(f"Why loan {rows[1]['loan_id']}")).to_be_visible()
    tab.settle()


def propose_and_accept(tab: Watched) -> str:
    """What the run found becomes a finding with a check that has run; Accept sticks. Returns its address."""
    page = tab.page
    tab.go("Chat")
    expect(page.get_by_text("Risk list").first).to_be_visible()
    tab.settle()
    page.get_by_role("button", name="Propose as finding").first.click()
    expect(page.get_by_text("Propose a finding")).to_be_visible()
    page.get_by_role("button", name="Propose", exact=False).and_(page.locator('[class*="-save"] button')).click()
    expect(page.get_by_text("It waits in Findings review.")).to_be_visible()
    page.get_by_role("link", name="Proposed: open the finding").click()
    expect(page.get_by_role("heading", name="Findings review")).to_be_visible()
    expect(page.get_by_text(re.compile("To review, check (holds|violated)")).first).to_be_visible()
    tab.settle()
    address = page.url
    assert "finding=fnd_" in address
    page.locator('[class*="st-key-finding-"][class*="-accept"] button').click()
    expect(page.get_by_text(re.compile("^Accepted: "))).to_be_visible()
    tab.settle()
    return address
