"""The dialog of workspaces, sharing, keys, MCP clients, people and the audit trail. A key's secret is drawn once and kept nowhere.

Must never: put a secret into session state, or decide who may do what; the services refuse.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from components import figures, problems, rights_clients, rights_members, rights_sharing, session, tables
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.errors import LexsiError
from lexsi_ds.services.access import ROLES, Actor, scopes_of
from lexsi_ds.services.review_rules import ReviewRules

_ENDS = {30: "30 days", 90: "90 days", 365: "One year"}


def button(app: Application, actor: Actor) -> None:
    """The person at the foot of the sidebar; opens the dialog."""
    if st.button(plain(actor.name, 40), key="rights-open", type="tertiary", icon=":material/person:", width="stretch"):
        dialog(app, actor)


@st.dialog("Workspace, keys and people", width="large")
def dialog(app: Application, actor: Actor) -> None:
    """A tab for each."""
    workspace, sharing, keys, clients, people, audit = st.tabs(
        ["Workspace", "Sharing", "API keys", "MCP clients", "People and reviews", "Audit trail"]
    )
    for tab, draw, name in (
        (workspace, _workspace, "The workspace"), (sharing, _sharing, "The sharing"), (keys, _keys, "The keys"),
        (clients, rights_clients.draw, "The clients"), (people, _people, "The people"), (audit, _audit, "The audit trail"),
    ):
        with tab, problems.guarded(name):
            draw(app, actor)


def _workspace(app: Application, actor: Actor) -> None:
    found = app.workspaces.list(actor)
    active = app.workspaces.active(actor)
    if active is None:
        st.caption("You are in no workspace yet.")
    else:
        chosen = st.selectbox(
            "Workspace", [w.id for w in found], index=[w.id for w in found].index(active.id), key="rights-workspace",
            format_func=lambda i: next((w.name for w in found if w.id == i), "")[:80],
        )
        if chosen != active.id:
            app.workspaces.set_active(actor, chosen)
            active = app.workspaces.get(actor, chosen)
        seen = session.wkey("rights-context", active.id, active.version)
        content = st.text_area(
            "AI context, as Markdown: it goes to every analysis made here", active.content, key=seen, height=180,
            placeholder="Revenue is always net of refunds.", disabled=active.role != "admin",
        )
        by = f"Saved by {active.updated_by}" if active.updated_by else "Nothing is written yet"
        st.caption(plain(by))
        if st.button("Save", key="rights-context-save", type="primary", disabled=(content or "") == active.content) and _done(
            lambda: app.workspaces.write_context(actor, active.id, content or "", active.version), "Saved."
        ):
            app.audit.note(actor, "update_workspace_context", active.id)
        rights_members.draw(app, actor, active, _done)
    name = st.text_input("A new workspace", key="rights-workspace-name", placeholder="Name", max_chars=80)
    if st.button("Make it", key="rights-workspace-make", disabled=not name):
        _done(lambda: app.workspaces.create(actor, name or ""), "Made.")


def _sharing(app: Application, actor: Actor) -> None:
    rights_sharing.draw(app, actor, _done)


def _keys(app: Application, actor: Actor) -> None:
    kept = app.api_keys.list(actor)
    if kept:
        st.dataframe(
            pd.DataFrame([
                {"Name": k.name, "Ends in": f"…{k.tail}", "Scopes": ", ".join(k.scopes), "Until": (k.expires_at or "")[:10],
                 "Used": (k.last_used_at or "never")[:10], "State": "ended" if k.ended else "works"}
                for k in kept
            ]), hide_index=True, height=tables.height(len(kept)), alt="API keys",
        )
    name = st.text_input("Name of a new key", key="rights-key-name", placeholder="What it is for", max_chars=80)
    scopes = st.multiselect("Scopes", scopes_of(actor), default=["datasets:read"], key="rights-key-scopes")
    days = st.selectbox("It ends after", list(_ENDS), index=1, key="rights-key-days", format_func=lambda d: _ENDS[d])
    if st.button("Make a key", key="rights-key-make", type="primary", disabled=not name or not scopes):
        try:
            made, secret = app.api_keys.create(actor, name or "", scopes, days)
        except LexsiError as error:
            st.error(problems.sentence(error), icon=":material/error:")
        else:
            app.audit.note(actor, "create_api_key", made.id, detail={"scopes": list(made.scopes)})
            st.success("Copy it now: it is not shown again.", icon=":material/key:")
            st.code(secret, language=None, wrap_lines=True)
    live = {k.id: k for k in kept if not k.ended}
    gone = st.selectbox(
        "End a key", list(live), index=None, key="rights-key-gone", placeholder="Choose one",
        format_func=lambda i: f"{live[i].name[:60]} …{live[i].tail}" if i in live else "",
    )
    if st.button("End it", key="rights-key-end", disabled=gone is None) and gone and _done(
        lambda: app.api_keys.revoke(actor, gone), "It opens nothing any more."
    ):
        app.audit.note(actor, "revoke_api_key", gone)


def _people(app: Application, actor: Actor) -> None:
    found = app.people.list(actor)
    if found:
        rows = [{"Name": p.name, "Role": p.role, "Added": p.added_at} for p in found]
        tables.show(pd.DataFrame(rows), key="rights-people", alt="People")
    else:
        st.caption("You are the only person. Others matter to programs that come with a key of theirs.")
    name = st.text_input("A new person", key="rights-person-name", placeholder="Name", max_chars=80)
    role = st.selectbox("Role", ROLES, index=1, key="rights-person-role")
    if st.button("Add", key="rights-person-add", disabled=not name) and _done(
        lambda: app.people.add(actor, name or "", role), "Added."
    ):
        app.audit.note(actor, "add_person", plain(name or "", 80))
    rules = app.review_settings.rules()
    st.markdown("**Reviews of findings**")
    chat = st.checkbox("Decisions of the chat wait for a person", "chat" in rules.queued, key="rights-rules-chat")
    mcp = st.checkbox("Decisions of MCP clients wait for a person", "mcp" in rules.queued, key="rights-rules-mcp")
    other = st.checkbox("Somebody else than the author reviews", rules.other_reviewer, key="rights-rules-other")
    queued = tuple(door for door, on in (("chat", chat), ("mcp", mcp)) if on)
    wanted = ReviewRules(queued=queued, other_reviewer=other)
    if st.button("Keep the rules", key="rights-rules-keep", disabled=wanted == rules) and _done(
        lambda: app.review_settings.change(actor, wanted), "Kept."
    ):
        app.audit.note(actor, "change_review_rules", "findings")


def _audit(app: Application, actor: Actor) -> None:
    lines, total = app.audit.lines(actor, limit=50)
    if not lines:
        st.caption("Nothing yet: confirmed calls, downloads and changes of rights are written here.")
        return
    st.caption(tables.count_line(len(lines), total, "line"))
    frame = pd.DataFrame([
        {"When": line.at, "Who": line.person_name, "Through": line.via, "What": line.action, "On": line.target,
         "Outcome": line.outcome, "Rows": line.detail.get("rows"), "Version": str(line.detail.get("snapshot") or "")}
        for line in lines
    ])
    tables.show(frame, key="rights-audit", alt=f"Audit trail, {figures.count(total)} lines")


def _done(act: object, said: str) -> bool:
    """Do it and say so; what the service refuses is said instead."""
    try:
        act()  # type: ignore[operator]
    except LexsiError as error:
        st.error(problems.sentence(error), icon=":material/error:")
        return False
    st.success(said, icon=":material/check:")
    return True
