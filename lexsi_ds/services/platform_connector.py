"""The connector id of a bucket on the Lexsi platform, where that is configured; else why the id is ours alone.

The platform gets the bucket's keys then: it reads the bucket itself. Must never fail a connector that works here, or put a
key into what is said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from lexsi_ds.data.handle import Value
from lexsi_ds.errors import LexsiError
from lexsi_ds.jobs.cancel import Cancel


class RegisterBucket(Protocol):
    """Registers a bucket's keys with the platform and gives the connector's id there."""

    def __call__(
        self, connector_id: str, region: str, access_key: str, secret_key: str, *, cancel: Cancel | None = None
    ) -> str: ...


class PlatformId(Value):
    """The id on the platform, or None; and what the observation says of it."""

    id: str | None
    said: str


def platform_id_of(
    register: RegisterBucket | None,
    connector_id: str,
    kind: str,
    config: Mapping[str, Any],
    secrets: Callable[[], Mapping[str, str]],
    cancel: Cancel | None = None,
) -> PlatformId:
    """Register an S3 connector with the platform. Whatever goes wrong there leaves the local connector as it is."""
    if register is None:
        return _local("the Lexsi platform is not configured")
    if kind != "s3":
        return _local(f"the Lexsi platform has no connectors of kind {kind}")
    if config.get("endpoint"):
        return _local("the Lexsi platform reads Amazon's S3 only, and this store has an endpoint of its own")
    try:
        found = secrets()
        if found.get("aws_session_token"):
            return _local("the Lexsi platform takes no temporary keys")
        access, secret = found.get("aws_access_key_id", ""), found.get("aws_secret_access_key", "")
        if not access or not secret:
            return _local("the Lexsi platform needs a key for the bucket")
        made = register(connector_id, str(config.get("region") or "us-east-1"), access, secret, cancel=cancel)
    except LexsiError as error:
        return _local(f"the Lexsi platform did not take it: {error.what.rstrip('.')}")
    return PlatformId(id=made, said=f"Lexsi connector id: {made}; the bucket's keys were sent to the Lexsi platform")


def _local(why: str) -> PlatformId:
    return PlatformId(id=None, said=f"local connector id: {why}")
