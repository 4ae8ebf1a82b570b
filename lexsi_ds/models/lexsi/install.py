"""Whether the SDK is there and of the version that this engine was written for. Imports nothing of it: that takes seconds and
changes the process's environment, so it is left to a worker."""

from __future__ import annotations

import importlib.metadata
import importlib.util

from lexsi_ds.errors import BadInput

VERSION = "0.1.65"
COMMAND = f'pip install "lexsi-sdk=={VERSION}"'
"""What ``pip install "lexsi-ds[lexsi]"`` brings too."""


def installed() -> str | None:
    """Version of the installed SDK; None when it is not there."""
    if importlib.util.find_spec("lexsi_sdk") is None:
        return None
    try:
        return importlib.metadata.version("lexsi-sdk")
    except importlib.metadata.PackageNotFoundError:
        return None


def need_sdk() -> str:
    """The installed version; BadInput with the command that installs it when it is missing."""
    found = installed()
    if found is None:
        raise BadInput(
            "The Lexsi engine needs the package lexsi-sdk, which is not installed.",
            where="LEXSI_DS_ENGINE=lexsi",
            to_do=f"Run: {COMMAND}. Or set LEXSI_DS_ENGINE=local.",
        )
    return found
