"""With whom the source in use is shared: how visible it is, and who was granted what. Must never: decide; the service refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import pandas as pd
import streamlit as st

from components import session, tables
from components.safe import flat, plain
from lexsi_ds.application import Application
from lexsi_ds.services.access import LOCAL, Actor, Level
from lexsi_ds.services.sharing import GRANTS, Visibility

Done = Callable[[Callable[[], Any], str], bool]
_VISIBLE: dict[Visibility, str] = {
    "private": "Private: its owner, and who is granted something",
    "showcase": "Showcase: everybody sees figures, never rows",
    "public": "Public: everybody reads it",
}
_GRANTED: dict[Level, str] = {"read": "Read", "edit": "Edit: change it and judge its findings"}


def draw(app: Application, actor: Actor, done: Done) -> None:
    """The source in use and each of its data sets."""
    handle = app.active_handle(actor)
    if handle is None:
        st.caption("No source is in use: choose one on Connect data.")
        return
    st.markdown(f"**{plain(handle.name, 60)}** :gray[the source in use; another one is chosen in the sidebar]")
    _visibility(app, actor, handle.source_id, done)
    subjects = {handle.source_id: "The whole source"} | {t.dataset_id: t.name for t in handle.tables}
    names = {p.id: p.name for p in app.people.list(actor)} | {LOCAL.id: LOCAL.name}
    rows = [
        {"On": subjects[subject], "Who": names.get(g.person, g.person), "May": g.level,
         "Granted by": names.get(g.granted_by, g.granted_by), "Since": g.granted_at}
        for subject in subjects for g in app.sharing.grants(actor, subject)
    ]
    if rows:
        tables.show(pd.DataFrame(rows), key="rights-grants", alt="Grants")
    else:
        st.caption("Nobody was granted anything on it. Its owner has every right.")
    others = {i: name for i, name in names.items() if i != actor.id}
    if not others:
        st.caption("Add people on the tab People and reviews to share it with them.")
        return
    _grant(app, actor, subjects, others, done)


def _visibility(app: Application, actor: Actor, source_id: str, done: Done) -> None:
    now = app.sharing.visibility(actor, source_id)
    choices = list(get_args(Visibility))
    key = session.wkey("rights-visibility", source_id, now)
    chosen = st.radio("Who sees it", choices, index=choices.index(now), key=key, format_func=lambda v: _VISIBLE[v])
    if st.button("Change", key="rights-visibility-keep", disabled=chosen == now) and chosen and done(
        lambda: app.sharing.set_visibility(actor, source_id, chosen), "Changed."
    ):
        app.audit.note(actor, "set_visibility", source_id, detail={"visibility": chosen})


def _grant(app: Application, actor: Actor, subjects: dict[str, str], others: dict[str, str], done: Done) -> None:
    left, middle, right = st.columns(3, gap="small")
    on = left.selectbox("On", list(subjects), key="rights-grant-on", format_func=lambda i: flat(subjects.get(i, ""), 60))
    who = middle.selectbox("Who", list(others), key="rights-grant-who", format_func=lambda i: flat(others.get(i, ""), 60))
    level = right.selectbox("May", GRANTS, key="rights-grant-level", format_func=lambda v: _GRANTED[v])
    with st.container(horizontal=True, gap="small"):
        give = st.button("Grant", key="rights-grant-give", type="primary", disabled=not (on and who))
        take = st.button("Take away", key="rights-grant-take", disabled=not (on and who))
    if not (on and who) or not (give or take):
        return
    wanted = level if give else None
    if done(lambda: app.sharing.grant(actor, on, who, wanted), "Granted." if give else "Taken away."):
        app.audit.note(actor, "grant" if give else "take_grant", on, detail={"person": who, "level": wanted})
