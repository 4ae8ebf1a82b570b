"""The connector id of a bucket: the platform's where it can have one, else ours, and the observation says which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from lexsi_ds.errors import PlatformFailed
from lexsi_ds.models.lexsi.engine import LexsiEngine
from lexsi_ds.services.platform_connector import platform_id_of
from tests.lexsi.fake_platform import FakePlatform

KEYS = {"aws_access_key_id": "AKIAMARKERMARKER1234", "aws_secret_access_key": "mark3r/S3cret+key="}
CONNECTOR = "con_01a22dd8-6990-73a2-a9ee-e3ceae00bbb1"
PLAIN: dict[str, Any] = {"bucket": "lake", "region": "eu-central-1", "endpoint": None}


def test_a_bucket_is_registered_and_looked_for(engine: LexsiEngine, platform: FakePlatform) -> None:
    found = platform_id_of(engine.register_bucket, CONNECTOR, "s3", PLAIN, lambda: KEYS)
    assert found.id == "lexsidse3ceae00bbb1" and found.said.startswith("Lexsi connector id: lexsidse3ceae00bbb1")
    assert "keys were sent" in found.said
    (request,) = platform.sent("linkservices/create")
    assert request.query["link_service_name"] == found.id and request.body["link_service_type"] == "s3"
    service = request.body["link_service"]
    assert (service["region"], service["secret_key"]) == ("eu-central-1", KEYS["aws_secret_access_key"])


@pytest.mark.parametrize(
    ("kind", "config", "keys", "said"),
    [
        ("s3", {**PLAIN, "endpoint": "127.0.0.1:9000"}, KEYS, "endpoint of its own"),
        ("s3", PLAIN, {**KEYS, "aws_session_token": "t"}, "no temporary keys"),
        ("s3", PLAIN, {}, "needs a key"),
        ("postgres", {}, KEYS, "no connectors of kind postgres"),
    ],
)
def test_what_the_platform_cannot_register_keeps_our_id(
    engine: LexsiEngine, platform: FakePlatform, kind: str, config: Mapping[str, Any], keys: dict[str, str], said: str
) -> None:
    found = platform_id_of(engine.register_bucket, CONNECTOR, kind, config, lambda: keys)
    assert found.id is None and found.said.startswith("local connector id") and said in found.said
    assert platform.requests == []


def test_without_the_platform_the_id_is_ours() -> None:
    found = platform_id_of(None, CONNECTOR, "s3", PLAIN, lambda: KEYS)
    assert (found.id, found.said) == (None, "local connector id: the Lexsi platform is not configured")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((500, "application/json", b'{"details": "Quota: mark3r/S3cret+key="}'), "did not take it: Quota"),
        ({"success": True, "details": "No configuration for S3 found"}, "not in the platform's list"),
        ((200, "application/json", b"{}"), "lacks details"),
    ],
)
def test_a_failure_there_leaves_the_connector_here(
    engine: LexsiEngine, platform: FakePlatform, answer: Any, said: str
) -> None:
    platform.answers["/v2/linkservices/create"] = [answer]
    found = platform_id_of(engine.register_bucket, CONNECTOR, "s3", PLAIN, lambda: KEYS)
    assert found.id is None and said in found.said and "mark3r" not in found.said


def test_a_failure_names_the_operation(engine: LexsiEngine, platform: FakePlatform) -> None:
    platform.answers["/v2/linkservices/list"] = [{"success": False, "details": "No data connector found"}]
    with pytest.raises(PlatformFailed, match="not in the platform's list") as caught:
        engine.register_bucket(CONNECTOR, "us-east-1", *KEYS.values())
    assert caught.value.where == "Lexsi, registering the bucket"
