"""The page against real servers: fill in, test, pick, load, look and ask; locked after a restart; and what is wrong is said.

Secrets are looked for in the page, the log, the store's bytes and every other file of the home at the end.
"""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server as App
from tests.browser.conftest import Watched, browser, server, tab  # noqa: F401 - fixtures
from tests.connectors import servers
from tests.connectors.conftest import MARKERS, PASSWORD, WRONG, Store
from tests.connectors.servers import Server, postgres_owner

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("connectors")]


@pytest.fixture(autouse=True)
def no_secret_anywhere(server: App, tab: Watched) -> Iterator[None]:  # noqa: F811
    """After each test: no secret in what the page shows, nor in any file that the application wrote."""
    yield
    shown = tab.page.content()
    for marker in MARKERS:
        assert marker not in shown
    for path in [server.log, *(p for p in server.home.rglob("*") if p.is_file())]:
        body = path.read_bytes()
        for marker in MARKERS:
            assert marker.encode() not in body, path


def opened(server: App, tab: Watched) -> Page:  # noqa: F811
    page = tab.page
    page.goto(f"{server.url}/Connect_data")
    expect(page.get_by_text("1,079,680 rows").first).to_be_visible(timeout=120_000)
    tab.settle()
    return page


def form(tab: Watched, kind: str, **values: object) -> None:  # noqa: F811
    """Open a kind's form and fill it in."""
    page = tab.page
    page.locator(f".st-key-connect-{kind} button").click()
    expect(page.get_by_role("button", name="Test and connect")).to_be_visible()
    tab.settle()
    refill(tab, **values)


def refill(tab: Watched, **values: object) -> None:  # noqa: F811
    for name, value in values.items():
        secret = "secret-" if name in ("password", "aws_access_key_id", "aws_secret_access_key") else ""
        tab.page.locator(f'[class*="st-key-connector-{secret}{name}"] input').first.fill(str(value))


def test_connect(tab: Watched) -> None:  # noqa: F811
    tab.page.get_by_role("button", name="Test and connect").click()


def failed(tab: Watched, said: str) -> None:  # noqa: F811
    """The form stands with the error, and the password field is empty."""
    page = tab.page
    expect(page.get_by_text(re.compile(f"It could not be opened.*{said}")).first).to_be_visible(timeout=60_000)
    tab.settle()
    for box in page.locator('[class*="st-key-connector-secret"] input').all():
        expect(box).to_have_value("")


def load(tab: Watched, said: str) -> None:  # noqa: F811
    page = tab.page
    page.get_by_role("button", name=re.compile("^Go on with")).click()
    page.get_by_role("button", name="Load data").click()
    expect(page.get_by_text(re.compile(said)).first).to_be_visible(timeout=60_000)
    tab.settle()


def tick(tab: Watched, table: str, picked: int) -> None:  # noqa: F811
    """Search a table and tick its row; then so many are picked."""
    page = tab.page
    search = page.get_by_placeholder("Search tables")
    for text, shown in (("", r"^\d+ tables, "), (table, r"^\d of \d+ tables, ")):
        search.fill(text)
        search.press("Enter")
        expect(page.get_by_text(re.compile(shown)).first).to_be_visible()
        tab.settle()
    said = page.get_by_text(re.compile(rf"tables, {picked} picked"))
    for _ in range(4):  # a canvas takes no click before it is drawn, and says nothing of it
        page.get_by_test_id("stDataFrame").first.click(position={"x": 16, "y": 52})
        with contextlib.suppress(AssertionError):
            expect(said).to_be_visible(timeout=8_000)
            break
    expect(said).to_be_visible(timeout=1_000)
    tab.settle()


def ask(tab: Watched, question: str, answer: str) -> None:  # noqa: F811
    page = tab.page
    tab.go("Chat")
    box = page.get_by_test_id("stChatInputTextArea")
    box.fill(question)
    box.press("Enter")
    expect(page.get_by_test_id("stChatMessage").nth(1)).to_be_visible(timeout=60_000)
    expect(page.get_by_text(re.compile(answer)).first).to_be_visible(timeout=60_000)
    tab.settle()


test_connect.__test__ = False  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def shop(postgres: Server) -> Server:
    """A database of two tables with a key between them."""
    with postgres_owner(postgres) as owner:
        owner.execute("CREATE DATABASE pageshop")
    with postgres_owner(postgres, "pageshop") as owner:
        owner.execute("""
            CREATE TABLE client (nr int PRIMARY KEY, city text); INSERT INTO client VALUES (10, 'Brno'), (20, 'Praha');
            CREATE TABLE invoice (id int PRIMARY KEY, payer int REFERENCES client (nr), amount numeric(10,2), day date);
            INSERT INTO invoice VALUES (1, 10, 5.5, '2024-01-01'), (2, 10, 4.5, '2024-01-02'), (3, 20, 7, '2024-02-01');
            CREATE TABLE other AS SELECT 1 AS v; GRANT SELECT ON ALL TABLES IN SCHEMA public TO lexsi_reader;
        """)
    return postgres


def test_a_database_is_connected_picked_loaded_asked_and_unlocked_after_a_restart(
    server: App, tab: Watched, shop: Server  # noqa: F811
) -> None:
    page = opened(server, tab)
    form(tab, "postgres", host="127.0.0.1", port=shop.port, database="pageshop", user="lexsi_reader", password=WRONG)
    test_connect(tab)
    failed(tab, "does not let this user in")
    assert page.get_by_label("Server", exact=True).input_value() == "127.0.0.1", "what was typed stays"
    refill(tab, password=PASSWORD)
    test_connect(tab)
    expect(page.get_by_text("3 tables, 0 picked")).to_be_visible(timeout=60_000)
    tab.settle()
    tick(tab, "client", 1)
    tick(tab, "invoice", 2)  # what another search ticked stays
    load(tab, "PostgreSQL: pageshop is loaded and active")
    page.get_by_role("tab", name="Relationships").click()
    expect(page.get_by_text("declared by the database").first).to_be_visible(timeout=60_000)
    ask(tab, "average amount by city", "Brno")
    server.stop()
    server.start()
    page = opened(server, tab)
    expect(page.get_by_text("Locked").first).to_be_visible()
    unlock(tab, WRONG)
    expect(page.get_by_text("does not let this user in").first).to_be_visible(timeout=60_000)
    tab.settle()
    unlock(tab, PASSWORD)
    expect(page.get_by_text("Unlocked, until").first).to_be_visible(timeout=60_000)
    tab.settle()
    expect(page.get_by_text("Locked")).to_have_count(0)
    page.get_by_role("button", name="Test", exact=True).click()
    expect(page.get_by_text("PostgreSQL: pageshop answers").first).to_be_visible(timeout=60_000)
    tab.settle()


def unlock(tab: Watched, password: str) -> None:  # noqa: F811
    tab.page.locator('[class*="st-key-connector-secret-con_"] input').first.fill(password)
    tab.page.get_by_role("button", name="Unlock", exact=True).click()


def test_a_mariadb_is_connected_and_asked(server: App, tab: Watched, mariadb: Server) -> None:  # noqa: F811
    page = opened(server, tab)
    form(tab, "mysql", host="127.0.0.1", port=mariadb.port, database="shop", user="lexsi_reader", password=PASSWORD)
    assert page.get_by_text("Read in place").count() == 0, "what cannot be had is not offered"
    test_connect(tab)
    expect(page.get_by_text(re.compile(r"tables, 0 picked"))).to_be_visible(timeout=60_000)
    tab.settle()
    tick(tab, "orders", 1)
    load(tab, "MySQL and MariaDB: shop is loaded and active")
    ask(tab, "How many orders are there?", "1,000")


@pytest.mark.parametrize("store", ["moto", "nanio"])
def test_a_bucket_is_connected_in_place_and_previewed(
    server: App, tab: Watched, store: str, request: pytest.FixtureRequest  # noqa: F811
) -> None:
    s3: Store = request.getfixturevalue(store)
    page = opened(server, tab)
    form(tab, "s3", bucket="lake", prefix="shop", endpoint=f"http://127.0.0.1:{s3.server.port}", aws_access_key_id=s3.key,
         aws_secret_access_key=s3.secret, name=f"Lake of {store}")
    page.get_by_text("Read in place, copy nothing").click()
    test_connect(tab)
    files = page.get_by_role("textbox", name="Files, one a line")
    expect(files).to_be_visible(timeout=60_000)
    tab.settle()
    files.fill("sales_*.parquet\nplain.csv")
    files.press("Control+Enter")
    load(tab, f"Lake of {store} is loaded and active")
    page.get_by_role("tab", name="Preview").click()
    expect(page.get_by_text(re.compile("sales")).first).to_be_visible()
    ask(tab, "How many sales are there?", r"\b4\b")


def test_a_bucket_that_is_not_there_and_files_that_are_not_are_said(server: App, tab: Watched, nanio: Store) -> None:  # noqa: F811
    page = opened(server, tab)
    where = {"prefix": "shop", "endpoint": f"http://127.0.0.1:{nanio.server.port}", "aws_access_key_id": nanio.key}
    form(tab, "s3", bucket="nowhere", **where, aws_secret_access_key=nanio.secret)
    test_connect(tab)
    failed(tab, "no bucket of this name")
    refill(tab, bucket="lake", aws_access_key_id=nanio.key, aws_secret_access_key=WRONG)
    test_connect(tab)
    failed(tab, "does not let this key in")
    refill(tab, aws_access_key_id=nanio.key, aws_secret_access_key=nanio.secret)
    test_connect(tab)
    files = page.get_by_role("textbox", name="Files, one a line")
    expect(files).to_be_visible(timeout=60_000)
    tab.settle()
    files.fill("plane.csv")
    files.press("Control+Enter")
    page.get_by_role("button", name=re.compile("^Go on with")).click()
    page.get_by_role("button", name="Load data").click()
    said = re.compile("Nothing was imported.*No file of the bucket.*plain.csv")
    expect(page.get_by_text(said).first).to_be_visible(timeout=60_000)
    tab.settle()


def test_hosts_that_do_not_answer_and_roles_that_may_too_much_are_said(server: App, tab: Watched, shop: Server) -> None:  # noqa: F811
    page = opened(server, tab)
    form(tab, "postgres", host="127.0.0.1", port=1, database="pageshop", user="lexsi_reader", password=PASSWORD)
    test_connect(tab)
    failed(tab, "cannot be reached")
    refill(tab, port=shop.port, user="owner", password=servers.OWNER_PASSWORD)
    page.get_by_text("Read in place, copy nothing").click()
    test_connect(tab)
    failed(tab, "role that may only read")
    refill(tab, host="no-such-host.invalid", user="lexsi_reader", password=PASSWORD)
    test_connect(tab)
    failed(tab, "cannot be reached")


def test_a_test_of_a_server_that_says_nothing_can_be_cancelled_and_the_page_goes_on(server: App, tab: Watched) -> None:  # noqa: F811
    """A host that takes the connection and is silent: progress with a cancel, and other buttons work meanwhile."""
    silent = socket.create_server(("127.0.0.1", 0))
    held: list[socket.socket] = []
    threading.Thread(target=lambda: held.append(silent.accept()[0]), daemon=True).start()
    page = opened(server, tab)
    form(tab, "postgres", host="127.0.0.1", port=silent.getsockname()[1], database="x", user="u", password=PASSWORD)
    test_connect(tab)
    expect(page.get_by_text("Testing the connection").first).to_be_visible()
    page.get_by_role("button", name="Cancel").first.click()
    expect(page.get_by_role("button", name="Test and connect")).to_be_visible(timeout=60_000)
    tab.settle()
    silent.close()
