"""One application on a home of its own, people of every role, and a small data set that a test may version."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lexsi_ds.application import Application
from lexsi_ds.services.access import ALL_RIGHTS, Actor, rights_of_role
from lexsi_ds.services.confirmations import Confirmations
from lexsi_ds.services.reference import ReferenceTools
from lexsi_ds.settings import Settings

ADA = Actor("ada", "Ada", ALL_RIGHTS)
"""Owns the data."""
BEN = Actor("ben", "Ben", rights_of_role("member"))
EVE = Actor("eve", "Eve", rights_of_role("member"))
"""Nothing is shared with her."""
VIC = Actor("vic", "Vic", rights_of_role("viewer"))
SALES = "sale_id,price,sqft,city\n1,100,50,Brno\n2,200,80,Brno\n3,0,60,Praha\n4,400,90,Praha\n"
POSITIVE = "SELECT * FROM dataset WHERE price <= 0"
Json = dict[str, Any]


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    opened = Application(Settings(home=tmp_path_factory.mktemp("findings"), sql_workers=1))
    for person in (BEN, EVE):
        opened.people.add(ADA, person.name, "member", person=person.id)
    opened.people.add(ADA, VIC.name, "viewer", person=VIC.id)
    yield opened
    opened.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tools(app: Application, clock: Clock) -> ReferenceTools:
    return ReferenceTools(
        app.findings, app.datasets, app.workspaces, Confirmations(app.store, clock), app.cursors, app.audit
    )


Importing = Callable[..., str]


@pytest.fixture
def importing(app: Application, tmp_path: Path) -> Importing:
    """``importing("sales", SALES)`` gives the id of the one data set of a new source of Ada's."""

    def run(name: str = "sales", text: str = SALES, owner: Actor = ADA) -> str:
        folder = tmp_path / f"{name}-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        (folder / f"{name}.csv").write_text(text)
        return app.catalog.import_source(owner, "files", name, [folder / f"{name}.csv"]).tables[0].dataset_id

    return run


@pytest.fixture
def newer(app: Application, tmp_path: Path) -> Callable[[str, str], None]:
    """``newer(dataset_id, text)`` reads other rows into the data set's source, as a refresh does."""

    def run(dataset_id: str, text: str) -> None:
        row, source = app.datasets.resolve(ADA, dataset_id)
        folder = tmp_path / f"newer-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        (folder / f"{row.name}.csv").write_text(text)
        app.versions.refresh(ADA, source.id, [folder / f"{row.name}.csv"])

    return run


Confirming = Callable[..., Json]


@pytest.fixture
def confirming(tools: ReferenceTools) -> Confirming:
    """Both calls of a tool: the preview, then the same with its token."""

    def run(tool: str, actor: Actor, via: str = "mcp:test", **arguments: object) -> Json:
        call = getattr(tools, tool)
        shown = call(actor, arguments, via=via)
        assert shown["status"] == "preview"
        return call(actor, {**arguments, "confirm": True, "confirmationToken": shown["confirmationToken"]}, via=via)

    return run
