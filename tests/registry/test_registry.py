"""The registry: states and who may set them, changes on what was seen, staleness, the threshold and what it does."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lexsi_ds.errors import BadInput, Conflict, Denied, NotFound
from lexsi_ds.ids import new_id
from lexsi_ds.models.bundle import PROBABILITY, TARGET
from lexsi_ds.models.frames import write_frame
from lexsi_ds.models.task import FeatureDef
from lexsi_ds.services.access import ALL_RIGHTS, LOCAL, Actor
from lexsi_ds.services.model_registry import Registry
from lexsi_ds.services.model_threshold import costs_at, threshold_of
from lexsi_ds.services.models import Models
from lexsi_ds.store.db import Store
from lexsi_ds.store.sources import NewSource, NewVersion, Sources
from tests.services.cards import card, scored, trained

from .conftest import ADA, BEN


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = Store(f"sqlite:///{tmp_path / 'store.sqlite'}")
    opened.migrate()
    return opened


@pytest.fixture
def models(store: Store, tmp_path: Path) -> Models:
    return Models(store, tmp_path)


@pytest.fixture
def registry(store: Store, models: Models) -> Registry:
    return Registry(store, models)


def _training(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    y = rng.random(n) < 0.2
    p = np.clip(np.where(y, rng.beta(4, 4, n), rng.beta(2, 8, n)), 0.001, 0.999).round(2)
    return pd.DataFrame({"loan_id": np.arange(n), TARGET: y.astype(np.int8), PROBABILITY: p})


def _model(models: Models, home: Path, actor: Actor = ADA) -> str:
    made = card()
    ref = trained(home, made)
    write_frame(_training(), ref.folder / "oof.arrow")
    models.register(actor, ref, made, None)
    return made.id


@pytest.fixture
def model_id(models: Models, tmp_path: Path) -> str:
    return _model(models, tmp_path)


def _described(registry: Registry, model_id: str, actor: Actor = ADA) -> int:
    return registry.describe(actor, model_id, 1, intended_use="Whom to call first.", limits="Not for new customers.").row_version


def test_a_trained_model_enters_as_a_draft_of_its_author(registry: Registry, model_id: str) -> None:
    entry = registry.entry(ADA, model_id)
    assert (entry.state, entry.row_version, entry.author, entry.responsible, entry.headline) == ("draft", 1, "ada", "Ada", "Draft")
    assert registry.entries(ADA) == (entry,) and registry.entries(BEN) == ()
    with pytest.raises(NotFound):
        registry.entry(BEN, model_id)
    with pytest.raises(Denied):
        registry.entry(Actor("ada", "Ada", frozenset()), model_id)


def test_the_way_to_approval_takes_what_it_needs_and_another_person(registry: Registry, model_id: str) -> None:
    with pytest.raises(BadInput, match="intended use"):
        registry.move(ADA, model_id, 1, "validated")
    with pytest.raises(BadInput, match="cannot become approved"):
        registry.move(ADA, model_id, 1, "approved")
    seen = _described(registry, model_id)
    seen = registry.move(ADA, model_id, seen, "validated", note="Checked on 1998.").row_version
    seen = registry.ask_review(ADA, model_id, seen, "ben").row_version
    with pytest.raises(Denied, match="author may not approve"):
        registry.move(ADA, model_id, seen, "approved")
    reader = Actor("ben", "Ben", frozenset({"models:read"}))
    with pytest.raises(Denied, match="validate or approve"):
        registry.move(reader, model_id, seen, "approved")
    entry = registry.move(BEN, model_id, seen, "approved", note="Fine.", via="mcp")
    assert entry.state == "approved" and entry.note == "Fine."
    steps = registry.history(ADA, model_id)
    assert [(s.action, s.person, s.via) for s in steps] == [
        ("trained", "ada", "ui"), ("described", "ada", "ui"), ("validated", "ada", "ui"), ("asked for review", "ada", "ui"),
        ("approved", "ben", "mcp"),
    ]
    assert steps[2].before == {"note": "", "state": "draft"}
    assert steps[2].after == {"note": "Checked on 1998.", "state": "validated"}
    assert [s.row_version for s in steps] == [1, 2, 3, 4, 5] == list(range(1, entry.row_version + 1))


def test_a_reviewer_sees_the_model_but_may_not_change_what_it_says(registry: Registry, models: Models, model_id: str) -> None:
    seen = registry.ask_review(ADA, model_id, 1, "ben").row_version
    assert models.get(BEN, model_id).id == model_id and [c.id for c in models.list(BEN)] == [model_id]
    for call in (
        lambda: registry.describe(BEN, model_id, seen, limits="none"),
        lambda: registry.set_threshold(BEN, model_id, seen, rate=0.1),
        lambda: registry.move(BEN, model_id, seen, "retired"), lambda: models.delete(BEN, model_id),
    ):
        with pytest.raises(Denied):
            call()
    registry.ask_review(ADA, model_id, seen, None)
    with pytest.raises(NotFound):
        models.get(BEN, model_id)


def test_the_one_person_of_an_installation_may_approve_and_the_note_says_so(
    registry: Registry, models: Models, tmp_path: Path
) -> None:
    mine = _model(models, tmp_path, LOCAL)
    seen = _described(registry, mine, LOCAL)
    seen = registry.move(LOCAL, mine, seen, "validated").row_version
    _model(models, tmp_path, BEN)
    with pytest.raises(Denied, match="author may not approve"):
        registry.move(LOCAL, mine, seen, "approved")
    models.delete(BEN, models.list(BEN)[0].id)
    assert "Approved by its author" in registry.move(LOCAL, mine, seen, "approved").note


def test_what_was_approved_and_is_changed_is_approved_no_more(registry: Registry, model_id: str) -> None:
    def approved() -> int:
        entry = registry.entry(ADA, model_id)
        seen = entry.row_version
        if entry.state == "draft":
            seen = registry.move(ADA, model_id, seen, "validated").row_version
        return registry.move(BEN, model_id, seen, "approved").row_version

    registry.ask_review(ADA, model_id, _described(registry, model_id), "ben")
    for change in (
        lambda seen: registry.describe(ADA, model_id, seen, limits="Only for loans under 100,000."),
        lambda seen: registry.set_threshold(ADA, model_id, seen, rate=0.1),
        lambda seen: registry.clear_threshold(ADA, model_id, seen),
    ):
        assert change(approved()).state == "validated"
    assert registry.describe(ADA, model_id, approved(), responsible="Credit desk").state == "approved"


def test_a_change_on_an_older_row_is_a_conflict_that_names_who_was_first(registry: Registry, model_id: str) -> None:
    _described(registry, model_id)
    with pytest.raises(Conflict, match="Ada described it"):
        registry.describe(ADA, model_id, 1, limits="other")
    with pytest.raises(Conflict):
        registry.set_threshold(ADA, model_id, 1, value=0.3)
    with pytest.raises(Conflict):
        registry.move(ADA, model_id, 1, "retired")
    assert registry.entry(ADA, model_id).row_version == 2


def test_the_same_decision_sent_twice_is_written_once(registry: Registry, model_id: str) -> None:
    seen = _described(registry, model_id)
    first = registry.move(ADA, model_id, seen, "validated")
    assert registry.move(ADA, model_id, seen, "validated") == first and len(registry.history(ADA, model_id)) == 3


def test_of_many_changes_at_once_one_is_written(store: Store, registry: Registry, model_id: str) -> None:
    done: list[str] = []
    barrier = threading.Barrier(8)

    def change(number: int) -> None:
        barrier.wait()
        try:
            registry.describe(ADA, model_id, 1, limits=f"limit {number}")
            done.append("written")
        except Conflict:
            done.append("conflict")

    threads = [threading.Thread(target=change, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == ["conflict"] * 7 + ["written"] and registry.entry(ADA, model_id).row_version == 2


def test_a_model_is_stale_when_a_table_that_it_reads_has_a_newer_version(
    store: Store, models: Models, registry: Registry, tmp_path: Path
) -> None:
    sources = Sources(store)
    ids = {"loan": new_id("ds"), "notes": new_id("ds")}

    def version(name: str, number: int) -> NewVersion:
        return NewVersion(dataset_id=ids[name], name=name, version=number, path=f"datasets/{ids[name]}/v{number}", rows=1,
                          bytes=1, columns=(), read_options={}, rejected=0)

    source = NewSource(id=new_id("con"), owner="ada", name="Bank", kind="files", synthetic=False)
    first = sources.insert(source, [version("loan", 1), version("notes", 1)], None)
    feature = FeatureDef(name="amount", label="amount", kind="numeric", tables=("loan",))
    made = card(source_id=source.id)
    stats = made.features[0].model_copy(update={"feature": feature})
    made = made.model_copy(update={"snapshot_id": first.id, "snapshot_number": first.number, "features": (stats,)})
    models.register(ADA, trained(tmp_path, made), made, None)
    assert registry.entry(ADA, made.id).stale is None
    sources.add_snapshot(source.id, [version("notes", 2)], None, keep=True)
    assert registry.entry(ADA, made.id).stale is None, "a table that it does not read changed"
    sources.add_snapshot(source.id, [version("loan", 2)], None, keep=True)
    stale = registry.entry(ADA, made.id).stale
    assert stale is not None and stale.tables == ("loan",) and (stale.trained_on, stale.newest) == (1, 3)
    assert registry.entry(ADA, made.id).headline == "Draft, data has moved"


# -- the threshold -----------------------------------------------------------------------------------------------------


def test_the_cheapest_threshold_is_cheaper_than_every_other_one() -> None:
    training = _training()
    y, p = training[TARGET].to_numpy() == 1, training[PROBABILITY].to_numpy()
    for costs in ((1.0, 5.0), (1.0, 1.0), (3.0, 1.0), (0.1, 20.0)):
        found = threshold_of(training, costs=costs)
        spent = [costs[0] * ((p >= t) & ~y).sum() + costs[1] * ((p < t) & y).sum() for t in np.linspace(0, 1.001, 1_002)]
        assert found.cost == pytest.approx(min(spent)), costs
        assert found.cost_at_half == costs[0] * ((p >= 0.5) & ~y).sum() + costs[1] * ((p < 0.5) & y).sum()
        assert found.flagged == (p >= found.value).sum() == found.true_positives + found.false_positives
    curve = costs_at(training, (1.0, 5.0))
    assert curve["cost"].min() == threshold_of(training, costs=(1.0, 5.0)).cost


def test_a_rate_flags_as_near_to_that_share_as_equal_scores_allow_and_never_more() -> None:
    training = _training()
    p = training[PROBABILITY].to_numpy()
    for rate in (0.01, 0.1, 0.333, 1.0):
        found = threshold_of(training, rate=rate)
        below = p[p < found.value].max(initial=-1.0)
        assert found.flagged <= rate * len(p) and (below < 0 or (p >= below).sum() > rate * len(p))


@pytest.mark.parametrize("ask", [
    {}, {"rate": 0.1, "value": 0.5}, {"rate": 0.0}, {"rate": 1.5}, {"value": -0.1}, {"value": float("nan")},
    {"costs": (-1.0, 1.0)}, {"costs": (0.0, 0.0)}, {"costs": (float("inf"), 1.0)},
])
def test_a_threshold_that_means_nothing_is_refused(ask: dict) -> None:
    with pytest.raises(BadInput):
        threshold_of(_training(), **ask)


def test_a_saved_threshold_says_who_and_when_and_holds_for_what_is_shown(
    registry: Registry, models: Models, model_id: str, tmp_path: Path
) -> None:
    frame = pd.DataFrame({"loan_id": [1, 2, 3], "probability": [0.6, 0.3, 0.1], "segment": "ranked"})
    predictions = models.save_predictions(ADA, model_id, scored(tmp_path, frame), None, "snap_a")
    entry = registry.set_threshold(ADA, model_id, 1, value=0.25, via="cli")
    saved = entry.threshold
    assert saved is not None and (saved.value, saved.how, saved.set_by, saved.set_by_name) == (0.25, "value", "ada", "Ada")
    assert saved.set_at[:10] == f"{entry.updated_at:%Y-%m-%d}"
    page, total = models.page(ADA, predictions, filters={"prediction": 1})
    assert total == 2 and page["loan_id"].tolist() == [1, 2]
    assert models.case(ADA, predictions, "2")["prediction"] == 1 and page["probability"].tolist() == [0.6, 0.3]
    registry.clear_threshold(ADA, model_id, entry.row_version)
    assert models.page(ADA, predictions, filters={"prediction": 1})[1] == 1


def test_a_deleted_model_leaves_the_registry(registry: Registry, models: Models, model_id: str, store: Store) -> None:
    registry.set_threshold(ADA, model_id, 1, rate=0.2)
    models.delete(ADA, model_id)
    assert registry.entries(ADA) == ()
    with pytest.raises(NotFound):
        registry.entry(ADA, model_id)


def test_all_rights_hold_the_right_to_review() -> None:
    assert "models:review" in ALL_RIGHTS


def test_a_card_that_cannot_be_read_hides_no_other_model(models: Models, registry: Registry, model_id: str, tmp_path: Path) -> None:
    made = card()
    body = {**made.model_dump(mode="json"), "of_another_version": 1}
    models._rows.insert(made.id, "ada", f"models/{made.id}", None, body)
    assert [c.id for c in models.list(ADA)] == [model_id] and [e.model_id for e in registry.entries(ADA)] == [model_id]
