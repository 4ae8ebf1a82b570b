"""What the frame says of work and age, marks of staleness, and an edit that was overtaken."""

from __future__ import annotations

from tests.app import fake_application as fake
from tests.app import scripts
from tests.app.conftest import settled, words


def test_the_sidebar_shows_answers_that_are_being_made_and_stops_them(open_page) -> None:
    script = scripts.live()
    app = fake.FakeApplication([script])
    at = open_page(app, "home")
    assert "Running loans at risk" in words(at)
    settled(at.button(key=f"run-side-{script.run_id}-stop").click().run())
    assert app.chats.stopped == [script.run_id]


def test_the_data_set_chip_says_its_age(open_page) -> None:
    assert "3 days old" in words(open_page(fake.FakeApplication(), "home"))


def test_a_model_of_an_older_version_says_both_numbers(open_page) -> None:
    app = fake.FakeApplication([scripts.north_star()])
    app.catalog.handles = [app.catalog.handles[0].model_copy(update={"snapshot_number": 4})]
    at = open_page(app, "models")
    assert "Stale: made from version 1, version 4 is there" in words(at)


def test_a_finding_whose_data_moved_says_both_numbers(open_page) -> None:
    app = fake.FakeApplication([scripts.north_star()])
    finding = app.findings.rows[1]
    ran = finding.last_check.dataset_version
    app.findings.rows[1] = finding.model_copy(update={"latest_version": ran + 1})
    said = words(open_page(app, "findings", finding=finding.id))
    assert f"Stale: checked on version {ran}, version {ran + 1} is there" in said


def test_an_edit_that_somebody_overtook_is_said_and_not_saved(open_page) -> None:
    app = fake.FakeApplication([scripts.north_star()])
    finding = app.findings.rows[0]
    at = open_page(app, "findings", finding=finding.id)
    settled(at.button(key=f"finding-{finding.id}-edit").click().run())
    settled(at.text_input(key=f"edit-{finding.id}-title").set_value("Another title").run())
    assert "A new title alone leaves the review as it is." in words(at)
    app.findings.conflict = True
    settled(at.button(key=f"edit-{finding.id}-save").click().run())
    assert "Ana edited it." in words(at)
    assert app.findings.edited == []
