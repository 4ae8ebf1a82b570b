"""Prefixed, time-ordered identifiers (UUIDv7, RFC 9562). The only place that makes one.

Sources are ``con_``, datasets ``ds_``, snapshots ``snap_``, conversations ``conv_``, runs ``run_``, artifacts ``art_``,
models ``mdl_``, findings ``fnd_``.
"""

from __future__ import annotations

import os
import re
import time

_FORM = re.compile(r"^[a-z]{2,5}_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


def new_id(prefix: str) -> str:
    """A fresh id such as ``ds_0199…``; ids made later sort later (to the millisecond)."""
    millis = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    value = (millis & (2**48 - 1)) << 80 | 0x7 << 76 | (random >> 68 & 0xFFF) << 64 | 0b10 << 62 | random & (2**62 - 1)
    h = f"{value:032x}"
    return f"{prefix}_{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"


def is_id(text: str, prefix: str) -> bool:
    """Whether ``text`` has the form of an id with this prefix; ids come from URLs and must be checked before use."""
    return text.startswith(prefix + "_") and _FORM.match(text) is not None
