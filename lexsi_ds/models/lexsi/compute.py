"""Which compute a training may ask for: what the platform offers to this account, looked up before anything is uploaded.

The SDK checks it only at some calls, and after the upload; a name that is not offered would be sent on as it is.
"""

from __future__ import annotations

from typing import Any

from lexsi_ds.errors import BadInput
from lexsi_ds.models.lexsi.names import PlatformModel
from lexsi_ds.models.lexsi.session import Session


def compute_for(session: Session, model: PlatformModel, asked: str | None) -> tuple[str, tuple[str, ...]]:
    """The compute to use, and what is to be said about it. A foundation model needs one that is asked for and offered."""
    lexsi = session.open()
    if model.foundation:
        offered = _names(session.call("listing compute", lambda: lexsi.available_node_servers(type="GPU")))
        offered += _names(session.call("listing compute", lambda: lexsi.available_pod_servers(type="GPU")))
        if asked and (asked in offered or asked.startswith("gova")):
            return asked, ()
        raise BadInput(
            f"{model.name} is a foundation model and needs compute_type: a GPU that the platform offers.",
            where=asked or "compute_type", to_do=f"Use one of: {', '.join(offered[:20]) or 'none is offered to this account'}.",
        )  # fmt: skip
    offered = _names(session.call("listing compute", lambda: lexsi.available_pod_servers(type="CPU")))
    default = session.access.compute
    chosen = asked or default
    if chosen in offered:
        return chosen, ()
    if asked and default in offered:
        return default, (f"{model.name} does not run on {asked}; {default} was used.",)
    raise BadInput(
        "The platform does not offer this compute.", where=chosen,
        to_do=f"Set LEXSI_DS_LEXSI_COMPUTE to one of: {', '.join(offered[:20]) or 'none is offered to this account'}.",
    )  # fmt: skip


def scoring_compute(session: Session, asked: str | None, trained_with: str) -> tuple[str, tuple[str, ...]]:
    """The compute to score with: the one asked for if it is offered, else the one that trained. The SDK checks neither."""
    if not asked or asked == trained_with:
        return trained_with, ()
    lexsi = session.open()
    offered = _names(session.call("listing compute", lambda: lexsi.available_pod_servers(type="CPU")))
    offered += _names(session.call("listing compute", lambda: lexsi.available_pod_servers(type="GPU")))
    if asked in offered:
        return asked, ()
    return trained_with, (f"The platform does not offer {asked[:40]}; {trained_with} was used.",)


def _names(servers: Any) -> list[str]:
    found = servers if isinstance(servers, list) else []
    return [str(s["instance_name"]) for s in found if isinstance(s, dict) and s.get("instance_name")]
