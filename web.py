"""The app behind security headers, metrics and a cap on tabs: ``streamlit run web.py`` instead of ``app.py``.

The pages are the same. Must never: hold anything of a page.
"""

from __future__ import annotations

import logging
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from lexsi_ds.server.headers import SecurityHeaders, policy
from lexsi_ds.server.metrics import Metrics, SessionCap
from lexsi_ds.settings import get_settings

_FIRST_PAGE = Path(st.__file__).parent / "static" / "index.html"
_settings = get_settings()
logging.basicConfig(level=_settings.log_level, format="%(asctime)s %(levelname)s %(name)s %(message)s")

app = st.App(
    "app.py",
    middleware=[
        Middleware(SecurityHeaders, content_policy=policy(_FIRST_PAGE.read_text(encoding="utf-8"))),
        Middleware(Metrics, reach=_settings.metrics),
        Middleware(SessionCap, most=_settings.max_tabs),
    ],
)
