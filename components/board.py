"""The board on Home: pinned cards with their rows, run again on fresh data with one click, and questions with their parameters.

Each card draws from its own file, so the board is there at once; running again is background work. Must never: run SQL here.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components import asking, cards, chart_spec, figures, session, tables
from components.frame import progress_of
from components.problems import careful, guarded
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.errors import LexsiError
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.services.access import Actor
from lexsi_ds.services.board_export import archive
from lexsi_ds.store.board import PinRecord

CHART_HEIGHT = 190
_ROWS = 5


def draw(app: Application, actor: Actor) -> None:
    """The board; nothing where nothing is pinned."""
    pins = app.board.list(actor)
    if not pins:
        return
    found = [p for p in pins if p.kind == "card"]
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.subheader("Board", anchor=False)
        if found:
            with st.container(horizontal=True, gap="small", width="content"):
                _all_again(app, actor, found)
                _export(app, actor)
    task = app.background.get(session.held().board_task or "")
    if task is not None and task.state == "running":
        _running(app, actor, task.id)
    with st.grid(3 if len(pins) > 2 else 2, min_column_width=300):
        for i, pin in enumerate(pins):
            with st.container(border=True, gap="xsmall", height="stretch"), guarded("This pin"):
                _pin(app, actor, pin, first=i == 0, last=i == len(pins) - 1)
    st.space("small")


def _pin(app: Application, actor: Actor, pin: PinRecord, *, first: bool, last: bool) -> None:
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(f"**{plain(pin.title, 90)}**")
        _menu(app, actor, pin, first=first, last=last)
    if pin.kind == "question":
        _question(app, actor, pin)
        return
    _rows(app, actor, pin)
    st.space("stretch")
    result = pin.result or {}
    when = figures.ago(pin.refreshed_at) if pin.refreshed_at else "never run"
    st.caption(f"{figures.counted(int(result.get('rows') or 0), 'row')}, data version {result.get('snapshot_number')}, {when}")
    if pin.error:
        st.caption(f":material/error: The last run failed, these rows are of before. {plain(pin.error, 300)}")
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Run again", icon=":material/refresh:", type="tertiary", key=session.wkey("pin", pin.id, "again"),
            on_click=_again, args=(app, actor, (pin.id,)),
        )  # fmt: skip
        if pin.question:
            st.button(
                "Ask about it", icon=":material/forum:", type="tertiary", key=session.wkey("pin", pin.id, "ask"),
                on_click=_ask, args=(app, actor, pin.source_id, pin.question),
            )  # fmt: skip


def _rows(app: Application, actor: Actor, pin: PinRecord) -> None:
    """A figure alone, a chart, or the first rows."""
    frame = app.board.rows(actor, pin.id, tables.SHOWN_ROWS)
    view = pin.view or {}
    if frame.shape == (1, 1):
        unit = f", {view['unit']}" if view.get("unit") else ""
        st.metric(f"{plain(str(frame.columns[0]).replace('_', ' '), 60)}{unit}", figures.value(frame.iat[0, 0]))
        return
    spec = chart_spec.spec_of(view, frame, view)
    chart = chart_spec.drawn(spec, frame, cards.mode())
    if chart:
        chart.figure.update_layout(height=CHART_HEIGHT)
        cards.draw_chart(type(chart)(chart.figure, chart.alt, CHART_HEIGHT), session.wkey("pin", pin.id, "chart"))
        return
    shown = frame.head(_ROWS)
    tables.show(shown, key=session.wkey("pin", pin.id, "rows"), alt=f"First rows of {pin.title}")


def _question(app: Application, actor: Actor, pin: PinRecord) -> None:
    """Words with a field for each parameter."""
    if pin.question != pin.title:
        st.markdown(f":gray[{plain(pin.question, 300)}]")
    for name, value in (pin.parameters or {}).items():
        st.text_input(
            name.replace("_", " ").capitalize(), value=value, key=session.wkey("pin", pin.id, "value", name), max_chars=100
        )
    st.space("stretch")
    st.button(
        "Ask", icon=":material/north_east:", key=session.wkey("pin", pin.id, "ask"), on_click=_ask_pinned,
        args=(app, actor, pin.id, tuple(pin.parameters or ())),
    )  # fmt: skip


def _menu(app: Application, actor: Actor, pin: PinRecord, *, first: bool, last: bool) -> None:
    key = session.wkey("pin", pin.id, "menu")
    with st.popover("", icon=":material/more_horiz:", type="tertiary", key=key, help="Rename, move or take off"):
        title = session.wkey(key, "title")
        st.text_input(
            "Title", value=pin.title, key=title, max_chars=120, on_change=_renamed, args=(app, actor, pin.id, title)
        )
        with st.container(horizontal=True, gap="xxsmall"):
            st.button(
                "Earlier", icon=":material/arrow_back:", key=session.wkey(key, "up"), type="tertiary", disabled=first,
                on_click=_moved, args=(app, actor, pin.id, -1),
            )  # fmt: skip
            st.button(
                "Later", icon=":material/arrow_forward:", key=session.wkey(key, "down"), type="tertiary", disabled=last,
                on_click=_moved, args=(app, actor, pin.id, 1),
            )  # fmt: skip
        st.button(
            "Take off the board", icon=":material/keep_off:", key=session.wkey(key, "off"), type="tertiary",
            on_click=_unpinned, args=(app, actor, pin.id),
        )  # fmt: skip


def _all_again(app: Application, actor: Actor, found: Sequence[PinRecord]) -> None:
    st.button(
        "Run all again", icon=":material/refresh:", type="tertiary", key="board-again", on_click=_again,
        args=(app, actor, tuple(p.id for p in found)),
    )  # fmt: skip


@careful
def _again(app: Application, actor: Actor, ids: tuple[str, ...]) -> None:
    task = app.background.start(
        "board", f"Running {figures.counted(len(ids), 'card')} again",
        lambda cancel, tell: _run_all(app, actor, ids, cancel, tell), owner=actor.id, key=f"board-{actor.id}-{'-'.join(ids)}",
    )  # fmt: skip
    session.held().board_task = task.id


def _run_all(app: Application, actor: Actor, ids: Sequence[str], cancel: Cancel, tell: object) -> int:
    """Each card by itself: one that fails keeps its rows and says why, the others go on."""
    done = 0
    for i, pin_id in enumerate(ids):
        cancel.check()
        if callable(tell):
            tell({"done": i, "total": len(ids), "text": ""})
        try:
            app.board.refresh(actor, pin_id, cancel=cancel)
            done += 1
        except LexsiError:
            continue  # the card says why
    return done


@st.fragment(run_every=0.5)
def _running(app: Application, actor: Actor, task_id: str) -> None:
    task = app.background.get(task_id)
    if task is None or task.state != "running":
        st.rerun()
    progress_of(app, actor, task, "board")


def _export(app: Application, actor: Actor) -> None:
    board, folder = app.board, app.settings.home / "tmp"
    st.download_button(
        "Export all", lambda: archive(board, actor, folder), file_name="board.zip", mime="application/zip", key="board-export",
        icon=":material/download:", type="tertiary", on_click="ignore", help="Every card's rows as CSV, with its query, in one zip",
    )  # fmt: skip


@careful
def _ask(app: Application, actor: Actor, source_id: str, question: str) -> None:
    session.held().conversation_id = None
    app.set_active_source(actor, source_id)
    asking.start(app, actor, source_id, None, question)
    session.held().go_to_chat = True


@careful
def _ask_pinned(app: Application, actor: Actor, pin_id: str, names: tuple[str, ...]) -> None:
    values = {name: str(session.read(session.wkey("pin", pin_id, "value", name)) or "") for name in names}
    source_id, question = app.board.asked(actor, pin_id, values)
    session.held().conversation_id = None
    app.set_active_source(actor, source_id)
    asking.start(app, actor, source_id, None, question)
    session.held().go_to_chat = True


@careful
def _renamed(app: Application, actor: Actor, pin_id: str, key: str) -> None:
    app.board.rename(actor, pin_id, str(session.read(key) or ""))


@careful
def _moved(app: Application, actor: Actor, pin_id: str, by: int) -> None:
    app.board.move(actor, pin_id, by)


@careful
def _unpinned(app: Application, actor: Actor, pin_id: str) -> None:
    app.board.unpin(actor, pin_id)
