"""The frame of every page: settings of the page, sidebar, notices, and the values a page starts from.

``bootstrap`` is the first call of every page script. It computes nothing that grows with the data: a page switch stays cheap.
Must never: decide what a person may do; services check that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from components import figures, problems, rights_dialog, session, settings_dialog
from components.problems import careful
from components.registry import PAGES, PageInfo, PageKey, page
from components.safe import plain
from lexsi_ds import application
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import LexsiError
from lexsi_ds.jobs.background import Task
from lexsi_ds.services.access import Actor
from lexsi_ds.services.chats import LiveRun

ICON = str(Path(__file__).parent / "assets" / "icon.png")
ABOUT = (
    "**Lexsi DS**  \nAsk, predict, explain and review in one flow. Runs on this machine; nothing leaves it unless a language "
    "model's endpoint is set."
)


@dataclass(frozen=True)
class Frame:
    """What a page starts from."""

    app: Application
    actor: Actor
    page: PageInfo
    handle: DatasetHandle | None
    """The active source's latest snapshot; None until there is one."""


def bootstrap(key: PageKey) -> Frame:
    """Set the page up and draw what all pages share. Stops the script, with a message, when the application cannot start."""
    here = page(key)
    st.set_page_config(
        page_title=f"{here.title}, Lexsi DS",
        page_icon=ICON,
        layout="wide",
        initial_sidebar_state="auto",
        menu_items={"About": ABOUT},
    )
    st.logo(":material/insights:", size="large")
    try:
        app = application.get_application()
        app.warm()
        actor = app.person()
        handle = app.active_handle(actor)
    except Exception as error:
        _cannot_start(error)
        st.stop()
    frame = Frame(app, actor, here, handle)
    with st.sidebar, problems.guarded("The sidebar"):
        _sidebar(frame)
    if key != "chat":  # there they stand by the box, where the person is looking
        problems.draw_notices()
    return frame


def _cannot_start(error: Exception) -> None:
    short = problems.log_id(error, "start")
    st.title("Lexsi DS cannot start", anchor=False)
    if isinstance(error, LexsiError):  # a full disk, a store that does not answer: it is known what to do, and a reload tries again
        st.error(problems.sentence(error) + f"  \nThen reload this page. Log id {short}.", icon=":material/error:")
        return
    st.error(
        f"**The store or the workers could not be opened.** Look at the log of the server for id {short}, then start it again. "
        "Your data is untouched.",
        icon=":material/error:",
    )


def _sidebar(frame: Frame) -> None:
    waiting = frame.app.findings.counts(frame.actor, frame.handle.source_id if frame.handle else None)
    st.markdown("### Lexsi DS")
    with st.container(gap="xxsmall"):
        for info in PAGES:
            count = waiting.get("to_review", 0) + waiting.get("flagged", 0) if info.key == "findings" else 0
            label = f"{info.title} :gray-badge[{count}]" if count else info.title
            st.page_link(info.path, label=label, icon=info.icon, width="stretch")
    st.space("small")
    sources = frame.app.catalog.sources(frame.actor) if frame.handle else []
    with st.container(gap="xxsmall"):
        _source_chip(frame, sources)
    with st.container(gap="xxsmall"):
        _planner_chip(frame.app, frame.actor)
    running = tuple(task.id for task in frame.app.background.running(frame.actor.id))
    open_here = st.query_params.get("conversation") if frame.page.key == "chat" else None
    live = tuple(run.run_id for run in _live(frame.app, frame.actor, open_here))
    if running or live:
        _jobs(frame.app, frame.actor, running, live, open_here)
    st.space("small")
    rights_dialog.button(frame.app, frame.actor)


def _source_chip(frame: Frame, sources: Sequence[Any]) -> None:
    st.caption("Data set")
    handle = frame.handle
    if handle is None:
        st.caption(":material/hourglass_empty: None yet")
        return
    name = plain(handle.name, 26)
    with st.popover(
        f"{name}, version {handle.snapshot_number}", type="tertiary", icon=":material/dataset:", key="frame-source-chip"
    ):
        _source_switcher(frame, handle, sources)
    read = next((s.updated_at for s in sources if s.id == handle.source_id), None)
    until = f", data to {handle.today.isoformat()}" if handle.today else ""
    old = f", {figures.age(read)}" if read else ""
    st.caption(f"{figures.count(handle.rows)} rows{old}{until}")


def _source_switcher(frame: Frame, handle: DatasetHandle, sources: Sequence[Any]) -> None:
    names = {s.id: s.name for s in sources}
    names.setdefault(handle.source_id, handle.name)
    session.put(session.SOURCE_PICK, handle.source_id)
    st.radio(
        "Ask this source",
        list(names),
        key=session.SOURCE_PICK,
        format_func=lambda i: plain(names.get(i, i), 60),
        on_change=_switch_source,
        args=(frame.app, frame.actor),
    )
    tables = figures.counted(len(handle.tables), "table")
    st.caption(f"{tables}, {figures.count(handle.rows)} rows." + (" Synthetic data." if handle.synthetic else ""))
    st.page_link(page("connect").path, label="Open data", icon=page("connect").icon)


@careful
def _switch_source(app: Application, actor: Actor) -> None:
    chosen = session.read(session.SOURCE_PICK)
    if chosen:
        activate(app, actor, chosen)


def activate(app: Application, actor: Actor, source_id: str) -> None:
    """Make another source the active one; what belongs to the old one is dropped from this tab."""
    app.set_active_source(actor, source_id)
    session.forget_source()


def _planner_chip(app: Application, actor: Actor) -> None:
    st.caption("Planner")
    label = app.planner_label()
    with st.popover(plain(label, 26), type="tertiary", icon=":material/account_tree:", key="frame-planner-chip"):
        if app.llm.of(actor) is not None:
            does = "plans the steps and writes" if app.settings.llm_plans else "writes"
            leaves = (
                "names, codes and figures over many rows" if app.llm.aggregates_only(actor) else "names, codes and short previews"
            )
            st.markdown(
                f"**{plain(label)}** {does} SQL, beside the offline parser. Questions, {leaves} go to its endpoint; the rows "
                "themselves stay here."
            )
        else:
            st.markdown(
                "**Offline.** No key and no network. It answers questions inside a grammar and says what it did not understand."
            )
        st.markdown("**Your settings**")
        _preferences(app, actor)
    settings_dialog.button(app, actor)  # beside the chip: an open popover would lie over the dialog


def _preferences(app: Application, actor: Actor) -> None:
    """What a person may set for themselves."""
    key = session.wkey("frame", "review")
    st.toggle(
        "Show me the task before training",
        value=app.review(actor) == "always",
        key=key,
        help="A prediction stops with its task card and waits for Train. A doubtful task always waits.",
        on_change=_set_review,
        args=(app, actor, key),
    )


@careful
def _set_review(app: Application, actor: Actor, key: str) -> None:
    app.set_review(actor, always=bool(session.read(key)))


def _live(app: Application, actor: Actor, open_here: str | None) -> list[LiveRun]:
    """Answers that are being made in other conversations than the one on screen, which has its own Stop."""
    return [run for run in app.chats.live(actor) if run.conversation_id != open_here]


@st.fragment(run_every=1.0)
def _jobs(app: Application, actor: Actor, watched: Sequence[str], runs: Sequence[str], open_here: str | None) -> None:
    """Drawn only while something runs; one full redraw when one of the watched tasks or runs ends."""
    tasks = [task for i in watched if (task := app.background.get(i))]
    live = _live(app, actor, open_here) if runs else []
    if any(task.state != "running" for task in tasks) or not set(runs) <= {run.run_id for run in live}:
        st.rerun()
    st.caption("Running")
    for task in tasks:
        progress_of(app, actor, task)
    for run in live:
        st.page_link(
            page("chat").path,
            label=plain(run.title, 44),
            icon=page("chat").icon,
            query_params={"conversation": run.conversation_id},
        )
        st.button(
            "Stop",
            key=session.wkey("run", "side", run.run_id, "stop"),
            type="tertiary",
            icon=":material/stop_circle:",
            on_click=_stop_run,
            args=(app, actor, run.run_id),
        )


@careful
def _stop_run(app: Application, actor: Actor, run_id: str) -> None:
    app.chats.stop(actor, run_id)


@careful
def _stop_task(app: Application, actor: Actor, task_id: str) -> None:
    app.background.stop(task_id, actor.id)


def progress_of(app: Application, actor: Actor, task: Task, place: str = "side") -> None:
    """A task's bar and its Cancel."""
    far = figures.progress(task)
    st.progress(task.share, text=plain(task.text or task.label, 90) + (f"  \n:gray[{plain(far)}]" if far else ""))
    st.button(
        "Cancel",
        key=session.wkey("task", place, task.id, "cancel"),
        type="tertiary",
        icon=":material/stop_circle:",
        on_click=_stop_task,
        args=(app, actor, task.id),
    )
