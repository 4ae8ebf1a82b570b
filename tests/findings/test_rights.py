"""Who may do what: every sentence of the tools reference in one table of tool, role, grant, scopes and author."""

from __future__ import annotations

import itertools

import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import Denied, LexsiError, NotFound
from lexsi_ds.services.access import LOCAL, ROLES, SCOPES, Actor, Role, Scope, rights_of_key, rights_of_role
from lexsi_ds.services.reference import ReferenceTools
from tests.findings.conftest import ADA, BEN, EVE, POSITIVE, VIC, Importing, Json

GRANTS = (None, "showcase", "read", "edit")
KEYS: tuple[tuple[Scope, ...] | None, ...] = (
    None, ("datasets:read",), ("datasets:write",), ("datasets:read", "datasets:write"), ("datasets:read", "sharing:write"), SCOPES,
)
TOOLS = {
    "list_findings": ("read", "showcase"), "propose_finding": ("write", "read"), "propose_finding with a check": ("write", "edit"),
    "update_finding": ("write", "edit"), "update_finding of my pending one": ("write", "read"),
    "update_finding of the check of my pending one": ("write", "edit"), "update_finding of my accepted one": ("write", "edit"),
    "review_finding": ("write", "edit"), "update_dataset_context": ("write", "edit"),
}
"""What each tool needs: the scope datasets:read or datasets:write too, and the least level on the data set."""
_ORDER = (None, "showcase", "read", "edit", "owner")


@pytest.fixture(scope="module")
def place(app: Application, tmp_path_factory: pytest.TempPathFactory) -> Json:
    """Ada's data set with an accepted finding of hers, a pending and an accepted one of the person who is tried."""
    path = tmp_path_factory.mktemp("rights") / "sales.csv"
    path.write_text("sale_id,price\n1,100\n2,0\n")
    handle = app.catalog.import_source(ADA, "files", "rights", [path])
    dataset = handle.tables[0].dataset_id
    pat = Actor("pat", "Pat", rights_of_role("member"))
    app.sharing.grant(ADA, handle.source_id, "pat", "edit")
    said: Json = {"dataset": dataset, "source": handle.source_id}
    said["hers"] = app.findings.propose(ADA, dataset_id=dataset, title="Hers", statement="S.").id
    said["mine"] = app.findings.propose(pat, dataset_id=dataset, title="Mine", statement="S.").id
    done = app.findings.propose(pat, dataset_id=dataset, title="Done", statement="S.")
    app.findings.decide(ADA, done.id, 1, "accepted")
    said["done"] = done.id
    app.sharing.grant(ADA, handle.source_id, "pat", None)
    return said


def _call(tools: ReferenceTools, name: str, actor: Actor, place: Json) -> Json:
    dataset = place["dataset"]
    tool = name.split()[0]
    arguments: Json = {
        "list_findings": {"dataset": dataset},
        "propose_finding": {"dataset": dataset, "title": "T", "statement": "S."},
        "propose_finding with a check": {"dataset": dataset, "title": "T", "statement": "S.", "checkSql": POSITIVE},
        "update_finding": {"dataset": dataset, "findingId": place["hers"], "statement": "Other."},
        "update_finding of my pending one": {
            "dataset": dataset, "findingId": place["mine"], "title": "U", "statement": "Other.", "columns": ["price"],
            "dependsOn": [place["hers"]],
        },
        "update_finding of the check of my pending one": {"dataset": dataset, "findingId": place["mine"], "checkSql": POSITIVE},
        "update_finding of my accepted one": {"dataset": dataset, "findingId": place["done"], "statement": "Other."},
        "review_finding": {"dataset": dataset, "findingId": place["hers"], "decision": "accept"},
        "update_dataset_context": {"dataset": dataset, "datasetContext": "Text."},
    }[name]
    return getattr(tools, tool)(actor, arguments, via="mcp:test")


def _expected(need: str, least: str, role: Role, scopes: tuple[Scope, ...] | None, level: str | None) -> type[LexsiError] | None:
    """The rule in words: the scopes, then the role, then whether it is there at all, then the level."""
    read = scopes is None or "datasets:read" in scopes
    write = role != "viewer" and (scopes is None or "datasets:write" in scopes)
    if not read or (need == "write" and not write):
        return Denied
    if level is None:
        return NotFound
    return None if _ORDER.index(level) >= _ORDER.index(least) else Denied


@pytest.mark.parametrize("tool", TOOLS)
def test_effective_right_is_scopes_and_role_and_grant(
    app: Application, tools: ReferenceTools, place: Json, tool: str
) -> None:
    need, least = TOOLS[tool]
    tried = 0
    for level in GRANTS:
        app.sharing.set_visibility(ADA, place["source"], "showcase" if level == "showcase" else "private")
        app.sharing.grant(ADA, place["source"], "pat", level if level in ("read", "edit") else None)
        for role, scopes in itertools.product(ROLES, KEYS):
            rights = rights_of_role(role) if scopes is None else rights_of_key(role, scopes)
            pat = Actor("pat", "Pat", rights, "" if scopes is None else "key")
            expected = _expected(need, least, role, scopes, level)
            case = (tool, role, scopes, level)
            if expected is None:
                assert "findings" in (answer := _call(tools, tool, pat, place)) or answer["status"] == "preview", case
            else:
                with pytest.raises((Denied, NotFound)) as refused:
                    _call(tools, tool, pat, place)
                visible = level is not None and (scopes is None or "datasets:read" in scopes)
                assert isinstance(refused.value, expected) or not visible, case
            tried += 1
    assert tried == 96
    app.sharing.set_visibility(ADA, place["source"], "private")
    app.sharing.grant(ADA, place["source"], "pat", None)


def test_a_grant_on_one_data_set_opens_it_alone_and_hides_its_connector(app: Application, tmp_path_factory) -> None:
    folder = tmp_path_factory.mktemp("two")
    for name in ("one", "two"):
        (folder / f"{name}.csv").write_text("a\n1\n")
    handle = app.catalog.import_source(ADA, "files", "two tables", sorted(folder.iterdir()))
    one = next(t.dataset_id for t in handle.tables if t.name == "one")
    app.sharing.grant(ADA, one, BEN.id, "read")
    seen = {d["id"]: d for d in app.datasets.list_datasets(BEN)["datasets"]}
    assert [i for i in seen if i in {t.dataset_id for t in handle.tables}] == [one]
    assert "connectorId" not in seen[one] and seen[one]["accessLevel"] == "read"
    with pytest.raises(NotFound):
        app.catalog.handle(BEN, handle.source_id)
    app.sharing.grant(ADA, handle.source_id, BEN.id, "edit")
    seen = {d["id"]: d for d in app.datasets.list_datasets(BEN)["datasets"]}
    assert seen[one]["accessLevel"] == "edit" and seen[one]["connectorId"] == handle.source_id
    assert app.catalog.handle(BEN, handle.source_id).name == "two tables"


def test_a_showcase_shows_figures_and_never_rows(app: Application, importing: Importing) -> None:
    dataset = importing("shown")
    _, source = app.datasets.resolve(ADA, dataset)
    finding = app.findings.propose(ADA, dataset_id=dataset, title="P", statement="P.", check_sql=POSITIVE)
    app.sharing.set_visibility(ADA, source.id, "showcase")
    assert app.datasets.get_columns(EVE, dataset)["totalRows"] == 4
    assert app.findings.get(EVE, finding.id).verdict == "violated"
    for call in (
        lambda: app.findings.failing_rows(EVE, finding.id), lambda: app.findings.violating_rows(EVE, finding.id),
        lambda: app.findings.propose(EVE, dataset_id=dataset, title="x", statement="y"),
    ):
        with pytest.raises(Denied):
            call()
    for call in (lambda: app.catalog.handle(EVE, source.id), lambda: app.catalog.preview(EVE, source.id, "shown")):
        with pytest.raises(NotFound):
            call()
    app.sharing.set_visibility(ADA, source.id, "public")
    assert len(app.findings.failing_rows(EVE, finding.id)) == 1


def test_what_is_invisible_and_what_does_not_exist_are_told_alike(
    app: Application, importing: Importing, tools: ReferenceTools
) -> None:
    dataset = importing("hidden")
    finding = app.findings.propose(ADA, dataset_id=dataset, title="P", statement="P.").id
    absent_set, absent = "ds_01900000-0000-7000-8000-000000000000", "fnd_01900000-0000-7000-8000-000000000000"
    space = app.workspaces.create(ADA, "Hidden").id
    absent_space = "ws_01900000-0000-7000-8000-000000000000"
    pairs = (
        (lambda i: app.findings.get(EVE, i), finding, absent), (lambda i: app.findings.history(EVE, i), finding, absent),
        (lambda i: app.findings.decide(EVE, i, 1, "accepted"), finding, absent),
        (lambda i: tools.list_findings(EVE, {"dataset": i}), dataset, absent_set),
        (lambda i: app.datasets.describe_dataset(EVE, i), dataset, absent_set),
        (lambda i: app.workspaces.get(EVE, i), space, absent_space),
        (lambda i: app.sharing.grants(EVE, i), dataset, absent_set),
    )
    for call, hidden, nothing in pairs:
        said = []
        for name in (hidden, nothing):
            with pytest.raises(NotFound) as refused:
                call(name)
            said.append(str(refused.value).replace(name, "X"))
        assert said[0] == said[1]
    assert app.findings.list(EVE) == () or all(f.id != finding for f in app.findings.list(EVE))
    assert app.findings.titles(EVE, [finding]) == {}


# -- workspaces, keys, people --------------------------------------------------------------------------------------------


def test_a_context_needs_the_scopes_the_role_and_the_workspace_admin(app: Application, tools: ReferenceTools) -> None:
    space = app.workspaces.create(ADA, "Finance").id
    for person, role in ((BEN.id, "admin"), (EVE.id, "member"), (VIC.id, "admin")):
        app.workspaces.set_member(ADA, space, person, role)
    asked = {"workspaceId": space, "content": "Text."}
    assert tools.update_workspace_context(BEN, asked, via="x")["status"] == "preview"
    for actor in (EVE, VIC):  # a member of the workspace; its admin, but a viewer of the installation
        with pytest.raises(Denied):
            tools.update_workspace_context(actor, asked, via="x")
        assert tools.get_workspace_context(actor, {"workspaceId": space})["content"] == ""
    for scopes in (("sharing:write",), ("datasets:read",), ("datasets:read", "datasets:write", "sharing:read")):
        with pytest.raises(Denied):
            tools.update_workspace_context(Actor("ben", "Ben", rights_of_key("member", scopes), "key"), asked, via="x")
    both = Actor("ben", "Ben", rights_of_key("member", ("sharing:write", "datasets:read")), "key")
    assert tools.update_workspace_context(both, asked, via="x")["status"] == "preview"
    assert [w["workspaceId"] for w in tools.list_workspaces(EVE, {})["workspaces"]] == [space]
    with pytest.raises(LexsiError, match="at least one admin"):
        for person in (VIC.id, BEN.id, ADA.id):
            app.workspaces.set_member(ADA, space, person, "member")


def test_a_key_is_shown_once_kept_as_a_digest_and_ends(app: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    key, secret = app.api_keys.create(BEN, "ci", ["datasets:read"], 30)
    assert secret not in repr(key) and secret[-4:] == key.tail
    with app.store.read() as db:
        rows = [str(row) for row in db.exec_driver_sql("SELECT * FROM api_keys")]
    assert rows and all(secret not in row and secret.split("_")[2] not in row for row in rows)
    actor = app.api_keys.actor(secret)
    assert actor is not None and (actor.id, actor.key) == ("ben", key.id)
    assert actor.rights == rights_of_key("member", ["datasets:read"]) and "datasets:write" not in actor.rights
    for wrong in ("", "lx_", secret[:-1], secret + "x", secret.swapcase(), "sk-" + secret, "lx_" + "a" * 80, " " + secret):
        assert app.api_keys.actor(wrong) is None
    app.people.add(ADA, "Ben", "viewer", person="ben")
    narrowed = app.api_keys.create(ADA, "of Ben", ["datasets:read", "datasets:write"], person="ben")
    viewer = app.api_keys.actor(narrowed[1])
    assert viewer is not None and "findings:write" not in viewer.rights
    app.people.add(ADA, "Ben", "member", person="ben")
    member = app.api_keys.actor(narrowed[1])
    assert member is not None and "findings:write" in member.rights
    from lexsi_ds.services import api_keys as module

    later = module.now() + module.timedelta(days=31)
    with monkeypatch.context() as moved:
        moved.setattr(module, "now", lambda: later)
        assert app.api_keys.actor(secret) is None
    with pytest.raises(NotFound):
        app.api_keys.revoke(EVE, key.id)
    app.api_keys.revoke(BEN, key.id)
    assert app.api_keys.actor(secret) is None and app.api_keys.list(BEN)[0].id in {k.id for k in app.api_keys.list(BEN)}


def test_a_key_makes_no_keys_manages_nobody_and_gives_nothing_its_maker_lacks(app: Application) -> None:
    whole = Actor("ada", "Ada", rights_of_key("owner", SCOPES), "key_x")
    for call in (
        lambda: app.api_keys.create(whole, "k", ["datasets:read"]), lambda: app.api_keys.list(whole),
        lambda: app.people.add(whole, "X", "member"), lambda: app.audit.lines(whole),
        lambda: app.api_keys.create(VIC, "k", ["datasets:write"]),
        lambda: app.api_keys.create(BEN, "k", ["datasets:read"], person="ada"),
    ):
        with pytest.raises(Denied):
            call()


def test_nobody_raises_a_role_above_their_own_and_a_removed_person_is_nobody(app: Application) -> None:
    admin = app.people.add(ADA, "Ann", "admin")
    ann = app.people.actor(admin.id)
    assert ann is not None
    with pytest.raises(Denied):
        app.people.add(ann, "Boss", "owner")
    with pytest.raises(Denied):
        app.people.add(BEN, "X", "viewer")
    someone = app.people.add(ann, "Tom", "member")
    _, secret = app.api_keys.create(ADA, "t", ["datasets:read"], person=someone.id)
    assert app.api_keys.actor(secret) is not None
    app.people.remove(ann, someone.id)
    assert app.api_keys.actor(secret) is None and app.people.actor(someone.id) is None


def test_the_local_person_owns_everything_without_signing_in(app: Application, importing: Importing) -> None:
    dataset = importing("local", owner=LOCAL)
    finding = app.findings.propose(LOCAL, dataset_id=dataset, title="P", statement="P.", check_sql=POSITIVE)
    assert app.findings.decide(LOCAL, finding.id, 1, "accepted").review == "accepted"
    assert app.workspaces.active(LOCAL) is not None and app.people.role("local") == "owner"
    app.audit.lines(LOCAL)
    _, secret = app.api_keys.create(LOCAL, "mine", SCOPES)
    actor = app.api_keys.actor(secret)
    assert actor is not None and actor.rights == rights_of_key("owner", SCOPES)


def test_an_option_demands_another_reviewer_than_the_author(app: Application, importing: Importing) -> None:
    from lexsi_ds.services.review_rules import ReviewRules

    dataset = importing("fours")
    _, source = app.datasets.resolve(ADA, dataset)
    app.sharing.grant(ADA, source.id, BEN.id, "edit")
    finding = app.findings.propose(ADA, dataset_id=dataset, title="P", statement="P.")
    with pytest.raises(Denied):
        app.review_settings.change(BEN, ReviewRules(other_reviewer=True))
    app.review_settings.change(ADA, ReviewRules(other_reviewer=True, queued=("chat", "mcp")))
    try:
        with pytest.raises(Denied, match="author"):
            app.findings.decide(ADA, finding.id, 1, "accepted")
        with pytest.raises(Denied, match="waits for a person"):
            app.findings.decide(BEN, finding.id, 1, "accepted", via="mcp:inspector")
        assert app.findings.decide(BEN, finding.id, 1, "accepted", via="ui").reviewed_by == "ben"
    finally:
        app.review_settings.change(ADA, ReviewRules())


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("scopes", [*KEYS, ("datasets:read", "datasets:write", "connectors:write")])
def test_connecting_takes_the_right_to_connect(app: Application, role: Role, scopes: tuple[Scope, ...] | None) -> None:
    rights = rights_of_role(role) if scopes is None else rights_of_key(role, scopes)
    who = Actor("con", "Con", rights)
    may = {"connectors:write", "datasets:write"} <= rights
    assert may == (role != "viewer" and (scopes is None or {"datasets:write", "connectors:write"} <= set(scopes)))
    calls = (
        lambda: app.connectors.connect(who, "no such kind", {}), lambda: app.connectors.unlock(who, "con_x", {"key": "x"}),
        lambda: app.connectors.ingest_tables(who, "con_x", ["t"]), lambda: app.connectors.refresh(who, "con_x"),
        lambda: app.connectors.delete(who, "con_x"), lambda: app.connectors.platform_id(who, "con_x"),
    )
    for call in calls:
        with pytest.raises(LexsiError) as refused:
            call()
        assert isinstance(refused.value, Denied) != may, refused.value
