"""The findings page and the dialog of rights, on a real application as a browser would open them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from components import session
from components.model_downloads import noted
from lexsi_ds.application import Application
from lexsi_ds.services.access import LOCAL
from lexsi_ds.services.finding import Finding
from lexsi_ds.settings import Settings

REPO = Path(__file__).resolve().parents[2]


@pytest.fixture
def mine(tmp_path: Path) -> Iterator[tuple[Application, list[Finding]]]:
    """A home with one source and 30 pending findings, one of them violated."""
    app = Application(Settings(home=tmp_path / "home", sql_workers=1))
    (tmp_path / "sales.csv").write_text("sale_id,price,sqft\n1,100,50\n2,0,80\n")
    handle = app.catalog.import_source(LOCAL, "files", "Sales", [tmp_path / "sales.csv"])
    app.set_active_source(LOCAL, handle.source_id)
    dataset = handle.tables[0].dataset_id
    made = [
        app.findings.propose(
            LOCAL, dataset_id=dataset, source_id=handle.source_id, title=f"Rule {i}", statement="S.",
            check_sql="SELECT * FROM dataset WHERE price <= 0" if i == 0 else None,
        )
        for i in range(30)
    ]
    yield app, made
    app.close()


def _open(app: Application, monkeypatch: pytest.MonkeyPatch, **query: str) -> AppTest:
    monkeypatch.setattr("lexsi_ds.application.get_application", lambda: app)
    at = AppTest.from_file(str(REPO / "app.py"), default_timeout=60)
    for name, value in query.items():
        at.query_params[name] = value
    at.switch_page("pages/5_Findings_review.py")
    return _settled(at.run())


def _settled(at: AppTest) -> AppTest:
    assert not at.exception, at.exception
    assert not [e.value for e in at.error], [e.value for e in at.error]
    return at


def test_a_link_opens_the_page_that_a_finding_stands_on_and_a_key_decides(
    mine: tuple[Application, list[Finding]], monkeypatch: pytest.MonkeyPatch
) -> None:
    app, made = mine
    at = _open(app, monkeypatch, finding=made[0].id)
    assert at.radio(key="findings-pick").value == made[0].id
    assert len(at.radio(key="findings-pick").options) == 5, "the second page of 25"
    assert any("26 to 30 of 30" in c.value for c in at.caption)
    _settled(at.button(key=f"finding-{made[0].id}-reject").click().run())
    kept = app.findings.get(LOCAL, made[0].id)
    assert (kept.review, kept.reviewed_via) == ("rejected", "ui")
    _settled(at.button(key="findings-undo").click().run())
    assert app.findings.get(LOCAL, made[0].id).review == "pending"


def test_search_and_filters_narrow_the_counts_and_the_list(
    mine: tuple[Application, list[Finding]], monkeypatch: pytest.MonkeyPatch
) -> None:
    app, made = mine
    at = _open(app, monkeypatch)
    _settled(at.text_input(key="findings-search").set_value("rule 7").run())
    assert at.radio(key="findings-pick").options == ["Rule 27", "Rule 17", "Rule 7"]
    _settled(at.text_input(key="findings-search").set_value("").run())
    _settled(at.selectbox(key="findings-filter-verdict").set_value("violated").run())
    assert at.radio(key="findings-pick").value == made[0].id


def test_a_figure_in_a_band_is_proposed_by_hand_with_what_is_observed(
    mine: tuple[Application, list[Finding]], monkeypatch: pytest.MonkeyPatch
) -> None:
    app, made = mine
    at = _open(app, monkeypatch)
    _settled(at.button(key="finding-new-open").click().run())
    at.text_input(key="finding-new-title").set_value("Mean price")
    at.text_area(key="finding-new-statement").set_value("The mean price is at least 40.")
    key = f"finding-new-{made[0].dataset_id}"
    at.session_state["finding-new-kind"] = "band"
    _settled(at.run())
    _settled(at.selectbox(key=f"{key}-figure").set_value("average").run())
    _settled(at.selectbox(key=f"{key}-of").set_value("price").run())
    _settled(at.number_input(key=f"{key}-low").set_value(40.0).run())
    assert any("50 of 2" in m.value for m in at.markdown)
    _settled(at.button(key="finding-new-save").click().run())
    newest = app.findings.list(LOCAL)[0]
    assert (newest.title, newest.verdict) == ("Mean price", "holds") and newest.band is not None


def test_the_dialog_of_rights_shows_a_key_once(
    mine: tuple[Application, list[Finding]], monkeypatch: pytest.MonkeyPatch
) -> None:
    app, _ = mine
    at = _open(app, monkeypatch)
    _settled(at.button(key="rights-open").click().run())
    at.text_input(key="rights-key-name").set_value("ci")
    at = at.run()
    _settled(at.button(key="rights-open").click().run())
    assert any("AI context" in a.label for a in at.text_area)


def _rights() -> None:
    """What the dialog's tabs draw, without the dialog: it closes at each run of a test."""
    from components import rights_dialog
    from lexsi_ds.application import get_application
    from lexsi_ds.services.access import LOCAL

    app = get_application()
    rights_dialog._sharing(app, LOCAL)
    rights_dialog._workspace(app, LOCAL)


def test_the_dialog_shares_adds_members_and_shows_clients_without_a_key(
    mine: tuple[Application, list[Finding]], monkeypatch: pytest.MonkeyPatch
) -> None:
    app, made = mine
    row, source = app.datasets.resolve(LOCAL, made[0].dataset_id)
    app.set_active_source(LOCAL, source.id)
    zoe = app.people.add(LOCAL, "Zoe", "member")
    at = _open(app, monkeypatch)
    _settled(at.button(key="rights-open").click().run())
    texts = " ".join(c.value for c in at.code)
    assert '"mcp"' in texts and "/mcp" in texts and "Bearer lx_YOUR_KEY" in texts
    at = _settled(AppTest.from_function(_rights, default_timeout=60).run())
    at.selectbox(key="rights-grant-on").set_value(row.id)
    at.selectbox(key="rights-grant-who").set_value(zoe.id)
    _settled(at.button(key="rights-grant-give").click().run())
    assert [(g.person, g.level) for g in app.sharing.grants(LOCAL, row.id)] == [(zoe.id, "read")]
    at.radio(key=session.wkey("rights-visibility", source.id, "private")).set_value("showcase")
    _settled(at.run())
    _settled(at.button(key="rights-visibility-keep").click().run())
    assert app.sharing.visibility(LOCAL, source.id) == "showcase"
    at.selectbox(key="rights-member-who").set_value(zoe.id)
    _settled(at.button(key="rights-member-put").click().run())
    workspace = app.workspaces.active(LOCAL)
    assert workspace is not None
    assert {m.person: m.role for m in app.workspaces.members(LOCAL, workspace.id)}[zoe.id] == "member"
    actions = {line.action for line in app.audit.lines(LOCAL)[0]}
    assert {"grant", "set_visibility", "set_member"} <= actions


def test_a_download_of_a_model_is_written_when_it_is_asked_for(mine: tuple[Application, list[Finding]]) -> None:
    app, _ = mine
    card = SimpleNamespace(id="mdl_x", name="m1", rows=12, snapshot_id="snap_x")
    data = noted(app, LOCAL, card, "contributions", lambda: b"a")  # type: ignore[arg-type]
    before = app.audit.lines(LOCAL, action="download")[1]
    assert data() == b"a"
    (line, *_), total = app.audit.lines(LOCAL, action="download")
    assert total == before + 1 and line.target == "contributions of m1 (mdl_x)"
    assert (line.detail["rows"], line.detail["snapshot"]) == (12, "snap_x")
