"""Members of a workspace and their roles there. Must never: decide; the service refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from components import tables
from components.safe import flat
from lexsi_ds.application import Application
from lexsi_ds.services.access import LOCAL, Actor
from lexsi_ds.services.workspaces import MEMBER_ROLES, Workspace

Done = Callable[[Callable[[], Any], str], bool]


def draw(app: Application, actor: Actor, workspace: Workspace, done: Done) -> None:
    """Who is in it; its admins add, change and take out."""
    names = {p.id: p.name for p in app.people.list(actor)} | {LOCAL.id: LOCAL.name}
    found = app.workspaces.members(actor, workspace.id)
    rows = [{"Member": names.get(m.person, m.person), "Role here": m.role, "Since": m.added_at} for m in found]
    st.markdown("**Members**")
    tables.show(pd.DataFrame(rows), key="rights-members", alt="Members of the workspace")
    if workspace.role != "admin":
        st.caption("Its admins add and change members.")
        return
    left, right = st.columns(2, gap="small")
    who = left.selectbox("Person", list(names), key="rights-member-who", format_func=lambda i: flat(names.get(i, ""), 60))
    role = right.selectbox("Role here", MEMBER_ROLES, key="rights-member-role")
    with st.container(horizontal=True, gap="small"):
        put = st.button("Add or change", key="rights-member-put", disabled=not who)
        take = st.button("Take out", key="rights-member-take", disabled=not who)
    if not who or not (put or take):
        return
    wanted = role if put else None
    said = "Kept." if put else "Taken out."
    if done(lambda: app.workspaces.set_member(actor, workspace.id, who, wanted), said):
        app.audit.note(actor, "set_member" if put else "take_member", workspace.id, detail={"person": who, "role": wanted})
