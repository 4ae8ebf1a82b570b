from __future__ import annotations

from lexsi_ds.ids import new_id
from lexsi_ds.store.artifacts import Artifacts
from lexsi_ds.store.conversations import Conversations
from lexsi_ds.store.db import Store
from lexsi_ds.store.models import ModelRows
from lexsi_ds.store.preferences import Preferences


def test_a_conversation_is_its_owners_alone(store: Store) -> None:
    conversations = Conversations(store)
    conversations.insert("conv_1", "ada", "con_1")
    assert conversations.get("conv_1", "ben") is None
    assert not conversations.rename("conv_1", "ben", "Mine")
    assert not conversations.delete("conv_1", "ben")
    assert [c.id for c in conversations.list("ada")] == ["conv_1"] and conversations.list("ben") == ()


def test_the_first_question_names_a_conversation_and_the_last_used_stands_first(store: Store) -> None:
    conversations = Conversations(store)
    for each in ("conv_1", "conv_2"):
        conversations.insert(each, "ada", None)
    conversations.touch("conv_1", "ada", source_id="con_1", title="How many accounts?")
    conversations.touch("conv_1", "ada", source_id="con_2", title="And loans?")
    first = conversations.list("ada")[0]
    assert (first.id, first.title, first.source_id) == ("conv_1", "How many accounts?", "con_2")
    assert conversations.delete("conv_1", "ada") and conversations.get("conv_1", "ada") is None


def test_a_conversation_remembers(store: Store) -> None:
    conversations = Conversations(store)
    conversations.insert("conv_1", "ada", None)
    conversations.remember("conv_1", {"model_id": "mdl_1", "shown": 10})
    found = conversations.get("conv_1", "ada")
    assert found is not None and found.memory == {"model_id": "mdl_1", "shown": 10}


def test_an_artifact_is_its_owners_alone(store: Store) -> None:
    artifacts = Artifacts(store)
    made = artifacts.insert("art_1", "ada", "run_1", "json", "artifacts/run_1/art_1.json", 12, {"tool": "run_sql"})
    assert artifacts.get("art_1", "ada") == made
    assert artifacts.get("art_1", "ben") is None
    assert artifacts.of_run("run_1", "ada") == (made,) and artifacts.of_run("run_1", "ben") == ()


def test_models_of_a_source_are_numbered(store: Store) -> None:
    rows = ModelRows(store)
    card = {"source_id": "con_1", "snapshot_id": "snap_1", "name": "XGBoost_v1", "run_id": None}
    names = [rows.insert(new_id("mdl"), "ada", "models/m", "run_1", card).name for _ in range(3)]
    other = rows.insert(new_id("mdl"), "ada", "models/m", None, {**card, "name": "Logistic"})
    elsewhere = rows.insert(new_id("mdl"), "ada", "models/m", None, {**card, "source_id": "con_2"})
    assert names == ["XGBoost_v1", "XGBoost_v2", "XGBoost_v3"]
    assert (other.name, other.card["name"], elsewhere.name) == ("Logistic_v1", "Logistic_v1", "XGBoost_v1")
    assert [m.name for m in rows.list("ada", "con_1")] == ["Logistic_v1", "XGBoost_v3", "XGBoost_v2", "XGBoost_v1"]
    assert rows.list("ben") == ()


def test_a_preference_is_replaced_and_personal(store: Store) -> None:
    preferences = Preferences(store)
    preferences.set("ada", "source", "con_1")
    preferences.set("ada", "source", {"id": "con_2"})
    assert preferences.get("ada", "source") == {"id": "con_2"}
    assert preferences.get("ben", "source") is None
