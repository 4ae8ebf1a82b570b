"""An S3 bucket registered with the platform, for its connector id.

The SDK returns a sentence where it should raise, and never says an id: a connector is known by its name, so the name is made
here and looked for afterwards. Must never put a key into an answer or an error.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from lexsi_ds.errors import PlatformFailed
from lexsi_ds.models.lexsi.names import alphanumeric
from lexsi_ds.models.lexsi.project import organization
from lexsi_ds.models.lexsi.session import Session

_LENGTH = 12


def connector_name(connector_id: str) -> str:
    """The platform's name for one of our connectors."""
    return f"lexsids{alphanumeric(connector_id)[-_LENGTH:]}"


def register_s3(session: Session, connector_id: str, region: str, access_key: str, secret_key: str) -> str:
    """Register a bucket's keys; gives the connector's id on the platform once it is in the platform's list."""
    owner = organization(session)
    name = connector_name(connector_id)
    config = {"region": region, "access_key": access_key, "secret_key": secret_key}

    def create() -> Any:
        # Later calls of the SDK compare the kind in small letters.
        return owner.create_data_connectors(data_connector_name=name, data_connector_type="s3", s3_config=config)

    try:
        said = session.call("registering the bucket", create)
        listed = session.call("listing connectors", owner.list_data_connectors)
    except PlatformFailed as error:
        what = error.what.replace(access_key, "…").replace(secret_key, "…")
        raise PlatformFailed(what, where=error.where, to_do=error.to_do) from None
    names = listed["link_service_name"].tolist() if isinstance(listed, pd.DataFrame) and "link_service_name" in listed else []
    if name not in names:
        reason = said if isinstance(said, str) and secret_key not in said and access_key not in said else ""
        raise session.failed("registering the bucket", f"The connector is not in the platform's list ({reason[:100]})")
    return name
