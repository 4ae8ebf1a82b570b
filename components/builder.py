"""The query builder: a half-filled or empty query that is finished by point and click, with a live line that says how it reads.

Draws a form and hands the finished query on; what can be chosen and how it reads comes from the core. A part that it has no
fields for stands as a fixed line that can be taken out.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from components import asking, builder_lines, problems, session, tables
from components.builder_lines import Lines
from components.safe import plain
from components.session import BuilderState
from components.sql_text import show_sql
from lexsi_ds.agent.building import Building
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import BadInput, LexsiError
from lexsi_ds.knowledge.model import LearnedWord
from lexsi_ds.services.access import Actor
from lexsi_ds.text_to_sql.builder import FilterLine, Form, GroupLine, MeasureLine

NEW = "new"
_USES = {"group": "Group by it", "filter": "Only some of its values", "measure": "Work it out"}


def open_for(place: str, form: Form, words: tuple[str, ...] = ()) -> None:
    """Open the builder under a turn, or on its own."""
    state = BuilderState(place, form, words=list(words), finishing=bool(words))
    for part in ("measures", "groups", "columns", "filters"):
        for _ in getattr(form, part):
            _number(state, part)
    session.held().builder = state


def _number(state: BuilderState, part: str) -> None:
    state.last_id += 1
    state.ids.setdefault(part, []).append(state.last_id)


@problems.careful
def on_open(
    app: Application, handle: DatasetHandle, place: str, logical: dict[str, Any] | None, words: tuple[str, ...] = ()
) -> None:
    """A button that opens it: empty, or with the query of an answer."""
    building = app.building(handle)
    open_for(place, building.form_of(logical) if logical else building.start(), words)


def at(place: str) -> BuilderState | None:
    """The builder, if it is open here."""
    state = session.held().builder
    return state if state is not None and state.place == place else None


def half_filled(app: Application, handle: DatasetHandle, run_id: str, offer: dict[str, Any]) -> None:
    """Open what a question left half understood, once; a turn whose builder was closed stays closed."""
    mine = session.held()
    if mine.builder is None and run_id not in mine.builder_closed and offer.get("logical"):
        try:
            form = app.building(handle).form_of(offer["logical"])
        except BadInput:
            return
        open_for(run_id, form, tuple(str(w) for w in offer.get("words") or ()))


@st.fragment
def panel(app: Application, actor: Actor, handle: DatasetHandle, conversation_id: str | None, place: str) -> None:
    """The open builder. A fragment: a choice redraws the form only."""
    state = at(place)
    if state is None:
        return
    building = app.building(handle)
    with st.container(border=True, gap="small", key=session.wkey("builder", place)), problems.guarded("The query builder"):
        _head(building, state)
        _unknown(building, state)
        _remember(state)
        lines = Lines(state, building.choices(state.form.table))
        builder_lines.base(building, state)
        if state.form.lists:
            lines.shown()
        else:
            lines.figures()
            lines.groups()
        lines.filters()
        builder_lines.order(building, state)
        builder_lines.fixed(state)
        _foot(app, actor, handle, conversation_id, building, state)


def _head(building: Building, state: BuilderState) -> None:
    if state.finishing:
        tables.card_head("Finish the question", "")
    if state.words:
        understood = _reading(building, state.form)
        said = f"Understood so far: {plain(understood)}. " if understood else ""
        asked = ", ".join(f"“{plain(w, 60)}”" for w in state.words)
        st.markdown(f":gray[{said}Not understood: {asked}.]")
    elif not state.finishing:
        tables.card_head("Build a question" if state.place == NEW else "Change this query", "")


def _reading(building: Building, form: Form) -> str:
    try:
        return building.preview(form)[0]
    except BadInput:
        return ""


def _unknown(building: Building, state: BuilderState) -> None:
    """One row for each word that was not understood: which column it is and what for, or left out."""
    columns = {c.id: c for c in building.choices(state.form.table).columns}
    for i, word in enumerate(list(state.words)):
        key = session.wkey("builder", state.place, "word", i, word)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            chosen = st.selectbox(
                f"Which column is “{plain(word, 60)}”?", list(columns), index=None, key=f"{key}-column",
                format_func=lambda c: builder_lines.flat(columns[c].label, 80), placeholder="Choose a column",
            )  # fmt: skip
            column = columns[chosen] if chosen else None
            uses = [u for u in _USES if _fits(u, column)]
            use = st.selectbox("What for", uses, key=f"{key}-use-{chosen}", format_func=lambda u: _USES[u], width=210)
            st.button("Add", key=f"{key}-add", icon=":material/add:", disabled=column is None, on_click=_take_word,
                      args=(state, word, chosen, use, column))  # fmt: skip
            st.button("Leave it out", key=f"{key}-out", type="tertiary", on_click=_drop_word, args=(state, word))


def _remember_key(state: BuilderState, word: str) -> str:
    return session.wkey("builder", state.place, "remember", word)


def _remember(state: BuilderState) -> None:
    """Whether a word is to mean the chosen column from now on."""
    for word, table, _, label in state.taken:
        st.checkbox(
            f"Remember that “{plain(word, 60)}” means {plain(label, 60)} :gray[({plain(table, 40)})]",
            key=_remember_key(state, word),
            help="Used in this data set's next questions; shown and undone on Connect data, in the semantic model.",
        )


def _fits(use: str, column: Any) -> bool:
    if column is None:
        return use == "group"
    return {"group": column.groups, "filter": True, "measure": any(f != "count_distinct" for f in column.fns)}[use]


def _take_word(state: BuilderState, word: str, chosen: str, use: str, column: Any) -> None:
    form = state.form
    if use == "group":
        part, line = "groups", GroupLine(column=chosen, grain="year" if column.kind == "date" else None)
    elif use == "filter":
        part, line = "filters", FilterLine(column=chosen, test=column.tests[0])
    else:
        part, line = "measures", MeasureLine(fn=next(f for f in column.fns if f != "count_distinct"), column=chosen)
    if use == "group" and form.lists:
        part = "columns"
    state.form = form.model_copy(update={part: (*getattr(form, part), line)})
    state.taken.append((word, column.table, column.column, column.label))
    _number(state, part)
    _drop_word(state, word)


def _drop_word(state: BuilderState, word: str) -> None:
    state.words = [w for w in state.words if w != word]


def _foot(
    app: Application, actor: Actor, handle: DatasetHandle, conversation_id: str | None, building: Building, state: BuilderState
) -> None:
    """How it reads, its SQL, and the button that runs it."""
    ready = False
    try:
        reading, sql = building.preview(state.form)
        ready = not state.words
        st.markdown(f":material/info: **Reads as** {plain(reading, 600)}")
        with st.expander("SQL", type="compact"):
            show_sql(sql)
    except LexsiError as error:
        st.caption(f":material/edit: {problems.sentence(error)}")
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        run = st.button("Run", type="primary", icon=":material/play_arrow:", disabled=not ready,
                        key=session.wkey("builder", state.place, "run"))  # fmt: skip
        close = st.button("Close", type="tertiary", key=session.wkey("builder", state.place, "close"))
        if state.words:
            st.caption("Say what each word is, or leave it out.")
    if run:
        _run(app, actor, handle, conversation_id, building, state)
        st.rerun()
    if close:
        session.held().builder = None
        session.held().builder_closed.add(state.place)
        st.rerun()


@problems.careful
def _run(
    app: Application, actor: Actor, handle: DatasetHandle, conversation_id: str | None, building: Building, state: BuilderState
) -> None:
    question, given = building.finished(state.form)
    for word, table, column, _ in state.taken:
        if session.read(_remember_key(state, word)):
            app.semantics.learn(actor, handle.source_id, word, LearnedWord(id="", words=word, table=table, column=column))
    asking.start(app, actor, handle.source_id, conversation_id, question, given)
