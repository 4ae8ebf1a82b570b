"""The file of a semantic model (YAML, in the shape of OSI): changed as text, checked before it is saved, taken out and in; its
history with what changed, and a way back.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components import figures, session
from components.problems import careful
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import BadInput
from lexsi_ds.knowledge.osi_text import MOST_LETTERS, Issue
from lexsi_ds.services.access import Actor
from lexsi_ds.services.semantics import SemanticView

_SHOWN = 20
_CHANGES = 6
_AROUND = 3


def editor(app: Application, actor: Actor, handle: DatasetHandle, view: SemanticView) -> None:
    """The text, its check, and saving."""
    key = session.wkey("semantic", handle.source_id, view.version, "yaml")
    text = app.semantics.text(actor, handle.source_id)
    if session.read(key) is None:
        session.put(key, text)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.download_button(
            "Download", text, file_name=f"{figures.slug(handle.name)}.osi.yaml", mime="application/yaml", type="tertiary",
            icon=":material/download:", key=session.wkey(key, "down"),
        )  # fmt: skip
        with st.popover("Upload", type="tertiary", icon=":material/upload:", key=session.wkey(key, "up")):
            slot = session.wkey(key, "file", session.held().upload_round)
            st.file_uploader("A YAML file in the shape of OSI", type=["yaml", "yml"], key=slot)
            st.button(
                "Put it into the editor", key=session.wkey(key, "take"), on_click=_take, args=(key, slot),
                help="Nothing is saved before it was checked.",
            )  # fmt: skip
    st.text_area(
        "Semantic model as YAML", key=key, height=460, label_visibility="collapsed",
        help="Open Semantic Interchange 1.0; what Lexsi DS adds stands in custom_extensions.",
    )  # fmt: skip
    changed = session.read(key) != text
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button("Check", key=session.wkey(key, "check"), on_click=_check, args=(app, actor, handle.source_id, key))
        st.button(
            "Check and save", type="primary", key=session.wkey(key, "save"), disabled=not changed, on_click=_save,
            args=(app, actor, handle.source_id, view.version, key),
        )  # fmt: skip
        st.button("Undo changes", type="tertiary", key=session.wkey(key, "undo"), disabled=not changed, on_click=_undo, args=(key,))
    issues = session.read(session.wkey(key, "issues"))
    if issues is not None and session.read(session.wkey(key, "of")) == session.read(key):
        _issues(issues, str(session.read(key) or ""))


def _issues(issues: Sequence[Issue], text: str) -> None:
    if not issues:
        st.success("No error was found.", icon=":material/check_circle:")
        return
    lines = text.splitlines()
    for level, show, icon in (("error", st.error, "error"), ("warning", st.warning, "warning")):
        these = [i for i in issues if i.level == level]
        if not these:
            continue
        told = [f"- Line {i.line}: {plain(i.what, 400)}" for i in these[:_SHOWN]]
        more = f"\n- and {len(these) - _SHOWN} more" if len(these) > _SHOWN else ""
        show(f"**{figures.counted(len(these), level)}**\n" + "\n".join(told) + more, icon=f":material/{icon}:")
    first = issues[0].line
    around = range(max(1, first - _AROUND), min(len(lines), first + _AROUND) + 1)
    st.code("\n".join(f"{n:>5}{'>' if n == first else ' '} {lines[n - 1]}" for n in around), language="yaml")


@careful
def _take(key: str, slot: str) -> None:
    file = session.read(slot)
    if file is None:
        return
    raw = file.getvalue()
    if len(raw) > MOST_LETTERS:
        raise BadInput("The file is too large for a semantic model.", where=plain(file.name, 80), to_do="Choose another file.")
    try:
        session.put(key, raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise BadInput("The file is no UTF-8 text.", where=plain(file.name, 80), to_do="Save it as UTF-8.") from None
    session.held().upload_round += 1


@careful
def _check(app: Application, actor: Actor, source_id: str, key: str) -> None:
    text = str(session.read(key) or "")
    session.put(session.wkey(key, "issues"), app.semantics.check(actor, source_id, text))
    session.put(session.wkey(key, "of"), text)


@careful
def _save(app: Application, actor: Actor, source_id: str, seen: int, key: str) -> None:
    text = str(session.read(key) or "")
    issues = app.semantics.check(actor, source_id, text)
    if any(i.level == "error" for i in issues):
        session.put(session.wkey(key, "issues"), issues)
        session.put(session.wkey(key, "of"), text)
        return
    version = app.semantics.save(actor, source_id, text, seen)
    session.notify("success", f"Saved as version {version}.")


@careful
def _undo(key: str) -> None:
    session.forget(key, session.wkey(key, "issues"))


def history(app: Application, actor: Actor, handle: DatasetHandle, view: SemanticView) -> None:
    """Versions, newest first: who, when, what changed; each can be made to hold again."""
    if not view.history:
        words = "Nothing was saved yet. What you see is derived from the data; the first change makes version 1."
        st.info(words, icon=":material/history:")
        return
    for version in view.history:
        key = session.wkey("semantic", handle.source_id, "version", version.version)
        now = version.version == view.version
        with st.container(border=True, gap="xsmall"):
            with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
                badge = " :green-badge[In force]" if now else ""
                who = f"{plain(version.how)} by {plain(version.person_name)} {figures.ago(version.created_at)}"
                st.markdown(f"**Version {version.version}**{badge} :gray[{who}]")
                st.button(
                    "Go back to this one", type="tertiary", icon=":material/undo:", key=session.wkey(key, "back"), disabled=now,
                    on_click=_revert, args=(app, actor, handle.source_id, version.version, view.version),
                )  # fmt: skip
            told = [f"- {plain(c, 200)}" for c in version.changes[:_CHANGES]]
            more = [f"- and {len(version.changes) - _CHANGES} more"] * (len(version.changes) > _CHANGES)
            st.markdown("\n".join([*told, *more]) or ":gray[No difference in meaning.]")
            lines = st.expander("Lines that changed", type="compact", on_change="rerun", key=session.wkey(key, "diff"))
            if lines.open:
                with lines:
                    st.code(app.semantics.diff(actor, handle.source_id, version.version) or "No line differs.", language="diff")
    if view.saved:
        st.button(
            "Go back to what is derived", type="tertiary", icon=":material/restart_alt:",
            key=session.wkey("semantic", handle.source_id, "derived"), on_click=_revert,
            args=(app, actor, handle.source_id, 0, view.version),
        )  # fmt: skip


@careful
def _revert(app: Application, actor: Actor, source_id: str, version: int, seen: int) -> None:
    made = app.semantics.revert(actor, source_id, version, seen)
    session.notify("success", f"Version {made} is as {f'version {version}' if version else 'derived'}.")
