"""Fresh and returned-to projects: what a run calls its own, and what must fit before it is used again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lexsi_ds.errors import BadInput
from lexsi_ds.models.frames import read_frame
from lexsi_ds.models.lexsi.engine import LexsiEngine
from lexsi_ds.models.lexsi.names import project_name, tag_name
from tests.lexsi.fake_platform import FakePlatform
from tests.lexsi.frames import loan_task, loans

RUN, OTHER = "run_01a22dd8-6990-73a2-a9ee-e3ceae00bbb1", "run_01a22dd8-6990-73a2-a9ee-e3ceae00ccc2"
Make = Callable[..., LexsiEngine]


def names(platform: FakePlatform) -> list[str]:
    return [p.fields["user_project_name"] for p in platform.projects.values()]


def test_names_are_letters_and_digits_and_tell_runs_apart() -> None:
    assert project_name("classification", RUN) == "agentclassae00bbb1"
    assert project_name("regression", OTHER, 3) == "agentregreae00ccc23"
    for name in (project_name("classification", "run_ü&?#é"), tag_name("predict", RUN, 2), tag_name("train", "a&b=c #/é")):
        assert name.isascii() and name.isalnum()


def test_each_run_gets_a_project_of_its_own(engine: LexsiEngine, platform: FakePlatform) -> None:
    for run in (RUN, OTHER):
        engine.train(loans(), loan_task(), run_id=run)
    assert names(platform) == ["agentclassae00bbb1", "agentclassae00ccc2"]
    assert len(platform.sent("project/upload_data_with_check")) == 2 and platform.sent("users/xai_config_update") == []


def test_a_second_training_of_a_run_returns_to_its_project(engine: LexsiEngine, platform: FakePlatform) -> None:
    first, _ = engine.train(loans(), loan_task(), run_id=RUN)
    second, card = engine.train(loans(seed=2), loan_task(), model_type="CatBoost", run_id=RUN)
    assert names(platform) == ["agentclassae00bbb1"]
    assert card.chosen.parameters["model on the platform"] == "CatBoost_v2"
    (body,) = (r.body for r in platform.sent("users/xai_config_update"))
    assert body["metadata"]["training_strategy"] == "simple" and body["metadata"]["model"] == "CatBoost"
    assert body["metadata"]["feature_include"] == ["balance_co", "dur_e_mois", "frequency", "card"]
    assert set(body["metadata"]["feature_exclude"]) == {"row_key", "y", "Prediction"}
    assert body["pred_label"] == "Prediction" and body["metadata"]["tags"] != []
    tags = [tag for tag, _ in platform.uploads()]
    assert len(set(tags)) == len(tags), "two uploads share a tag"
    for ref in (first, second):
        assert len(read_frame(engine.predict(ref, loans(30, first=900).drop(columns=["y", "amount"])).path)) == 30


def test_other_columns_in_the_same_run_get_another_project(engine: LexsiEngine, platform: FakePlatform) -> None:
    engine.train(loans(), loan_task("balance & co"), run_id=RUN)
    engine.train(loans(), loan_task(), run_id=RUN)
    assert names(platform) == ["agentclassae00bbb1", "agentclassae00bbb12"]


def test_fewer_columns_fit_a_project_that_knows_more(engine: LexsiEngine, platform: FakePlatform) -> None:
    engine.train(loans(), loan_task(), run_id=RUN)
    engine.train(loans(), loan_task("balance & co", "card"), run_id=RUN)
    body = platform.sent("users/xai_config_update")[0].body
    assert body["metadata"]["feature_include"] == ["balance_co", "card"]
    assert names(platform) == ["agentclassae00bbb1"]


def test_a_named_project_is_made_once_and_returned_to(make_engine: Make, platform: FakePlatform) -> None:
    engine = make_engine(lexsi_project="riskdesk")
    engine.train(loans(), loan_task(), run_id=RUN)
    engine.train(loans(), loan_task(), run_id=OTHER)
    assert names(platform) == ["riskdesk"] and len(platform.sent("users/xai_config_update")) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c.update(unique_identifier="client"), "identifies rows by client"),
        (lambda c: c["metadata"].update(feature_include=["age"]), "does not know balance_co"),
        (lambda c: c["metadata"].update(test_tags=["old"]), "test tags"),
        (lambda c: c["metadata"].update(handle_data_imbalance=True), "handle_data_imbalance switched on"),
        (lambda c: c["metadata"].pop("feature_encodings"), "lacks feature_encodings"),
    ],
)
def test_a_named_project_that_does_not_fit_is_refused_before_an_upload(
    make_engine: Make, platform: FakePlatform, change: Callable[[dict], object], said: str
) -> None:
    engine = make_engine(lexsi_project="riskdesk")
    engine.train(loans(), loan_task(), run_id=RUN)
    project = next(iter(platform.projects.values()))
    assert project.config is not None
    change(project.config)
    uploads = len(platform.uploads())
    with pytest.raises(BadInput, match=said):
        engine.train(loans(), loan_task(), run_id=OTHER)
    assert len(platform.uploads()) == uploads


def test_a_project_that_is_gone_is_said(engine: LexsiEngine, platform: FakePlatform) -> None:
    ref, _ = engine.train(loans(), loan_task(), run_id=RUN)
    platform.projects.clear()
    with pytest.raises(BadInput, match="not on the Lexsi platform any more"):
        engine.predict(ref, loans(10).drop(columns=["y", "amount"]).assign(**{"loan id": range(5000, 5010)}))


def test_a_project_of_another_kind_is_refused(make_engine: Make, platform: FakePlatform) -> None:
    engine = make_engine(lexsi_project="riskdesk")
    engine.train(loans(), loan_task(), run_id=RUN)
    next(iter(platform.projects.values())).fields["metadata"]["modality"] = "text"
    with pytest.raises(BadInput, match="not one for tables"):
        engine.train(loans(), loan_task(), run_id=OTHER)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"lexsi_workspace": "attic"}, "no such workspace.*lab"),
        ({"lexsi_organization": "umbrella"}, "no such organization"),
    ],
)
def test_a_wrong_place_is_named(make_engine: Make, more: dict[str, str], said: str) -> None:
    with pytest.raises(BadInput, match=f"(?s){said}"):
        make_engine(**more).train(loans(), loan_task(), run_id=RUN)


def test_an_organization_may_be_named(make_engine: Make, platform: FakePlatform) -> None:
    make_engine(lexsi_organization="acme", lexsi_workspace="lab").train(loans(), loan_task(), run_id=RUN)
    assert platform.sent("users/workspaces")[0].query == {"organization_id": "org-7"}
