"""The second step of a bucket: a look at the files that were named, before anything is loaded."""

from __future__ import annotations

import time
from typing import Any

import pytest

from components.connector_state import ConnectorWizard
from lexsi_ds.application import Application
from lexsi_ds.services.access import LOCAL
from tests.app.conftest import open_page, settled, words  # noqa: F401
from tests.connectors.conftest import Store

pytestmark = pytest.mark.xdist_group("connectors")


def test_files_that_are_named_are_looked_at_before_they_are_loaded(
    app: Application, moto: Store, open_page: Any, monkeypatch: pytest.MonkeyPatch  # noqa: F811
) -> None:
    moto.client.put_object(Bucket="lake", Key="page/a_1.csv", Body=b"code;amount\n007;1,5\n")
    moto.client.put_object(Bucket="lake", Key="page/a_2.csv", Body=b"code;amount\n008;2,5\n")
    connector = app.connectors.connect(LOCAL, "s3", moto.config(prefix="page"))
    monkeypatch.setattr(app, "prepare_demo", lambda actor: None)
    before = app.catalog.sources(LOCAL)
    at = open_page(app, "connect")
    at.session_state["lexsi.held"].wizard = ConnectorWizard("s3", connector.id)
    at.run(timeout=60)
    settled(at.text_area(key="connector-files").set_value("a_*.csv").run(timeout=60))
    at.button(key="connector-look").click().run(timeout=60)
    until = time.monotonic() + 60
    while app.background.running() and time.monotonic() < until:
        time.sleep(0.05)
    at = settled(at.run(timeout=60))
    said = words(at)
    assert "2 files; semicolon, utf-8, decimal comma, header on line 1" in said
    assert [list(d.value.columns) for d in at.dataframe] == [["File", "Bytes"], ["Column", "Type"]]
    assert not at.button(key="connector-next").disabled and app.catalog.sources(LOCAL) == before
