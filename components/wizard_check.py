"""The second step of an import on screen: one sentence a table, the options beside the first rows, suggestions, columns."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from components import figures, problems, session, tables, wizard, wizard_left
from components.frame import progress_of
from components.safe import flat, plain
from components.wizard import FileWizard
from lexsi_ds.application import Application
from lexsi_ds.data.plan import Preview, ReadPlan
from lexsi_ds.services.access import Actor

ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "cp1250", "cp1252", "latin-1", "iso8859-2", "cp852", "cp1251", "koi8_r", "cp866"]
CHOICES: dict[str, tuple[str, dict[Any, str]]] = {
    "delimiter": ("Delimiter", {",": "Comma", ";": "Semicolon", "\t": "Tab", "|": "Pipe", " ": "Space", ":": "Colon"}),
    "encoding": ("Encoding", {e: e for e in ENCODINGS}),
    "quote": ("Quote", {'"': 'Double "', "'": "Single '", None: "None"}),
    "decimal": ("Decimal mark", {".": "Point", ",": "Comma"}),
    "thousands": ("Thousands mark", {None: "None", ",": "Comma", ".": "Point", " ": "Space", "'": "Apostrophe"}),
    "date_order": ("Order in dates", {None: "As found", "dmy": "Day first", "mdy": "Month first"}),
}
TYPES = ["text", "integer", "decimal", "date", "timestamp", "time", "boolean"]
SHOWN_NOTES = 6
_ONE_WAY = {"missing": "Take as missing", "trim": "Trim the blanks"}
"""What a button says of a suggestion that leaves no choice."""


def draw(app: Application, actor: Actor, state: FileWizard) -> None:
    """The step: plans as they come, then the table that is looked at."""
    wizard.steps(2)
    if state.plans is None and not _planned(app, actor, state):
        return
    plans = state.plans or []
    if not plans:
        st.info("These are the files of the Czech bank (PKDD'99); how they are read is known.", icon=":material/info:")
    else:
        wizard_left.left_out(state)
        wizard_left.passed_over(state)
        index = _pick(plans, state)
        _table(app, actor, state, index)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.button("Back", key="wizard-back", icon=":material/arrow_back:", on_click=wizard.leave, args=(app, actor))
        st.button(
            "Go on to name and load",
            key="wizard-next",
            type="primary",
            disabled=bool(plans) and not state.good,
            on_click=wizard.step_to,
            args=(True,),
        )


def _planned(app: Application, actor: Actor, state: FileWizard) -> bool:
    task = app.background.get(state.task_id)
    if task is not None and task.state == "done":
        state.plans, state.passed_over = list(task.result), task.result.notes
        return True
    if task is not None and task.state == "running":
        _planning(app, actor, task.id)
        return False
    said = plain(task.error or "It was stopped.", 900) if task else "The server was started again."
    st.error(f"**These files could not be looked at.** {said}", icon=":material/error:")
    st.button("Back", key="wizard-back", icon=":material/arrow_back:", on_click=wizard.leave, args=(app, actor))
    return False


@st.fragment(run_every=0.4)
def _planning(app: Application, actor: Actor, task_id: str) -> None:
    task = app.background.get(task_id)
    if task is None or task.state != "running":
        st.rerun()
    with st.container(border=True, gap="small"):
        progress_of(app, actor, task, "plan")


def _pick(plans: list[ReadPlan], state: FileWizard) -> int:
    if len(plans) == 1:
        return 0
    bad = sum(bool(p.error) for p in plans)
    note = f", {figures.counted(bad, 'file')} left out" if bad else ""
    st.caption(f"{figures.counted(len(plans) - bad, 'table')}{note}. Look at each; what is changed holds for that table.")
    chosen = st.selectbox(
        "Table",
        range(len(plans)),
        index=min(state.at, len(plans) - 1),
        key="wizard-table",
        format_func=lambda i: option(plans[i]),
        label_visibility="collapsed",
    )
    state.at = int(chosen or 0)
    return state.at


def option(plan: ReadPlan) -> str:
    """A table in the list of tables: its name and how it is read, or that it is left out."""
    said = f"left out, {flat(plan.path.name, 60)} cannot be read" if plan.error else flat(plan.said, 90)
    return f"{flat(plan.table, 50)}: {said}"


def _table(app: Application, actor: Actor, state: FileWizard, index: int) -> None:
    plan = (state.plans or [])[index]
    if plan.error:
        said = f"**{plain(wizard_left.place(plan))} cannot be read.** {plain(wizard_left.reason(plan), 600)}"
        st.error(said, icon=":material/error:")
        return
    preview = None
    left, right = st.columns([1, 2.9], gap="medium")
    with right:
        slot = st.skeleton(height=340)
        with slot, problems.guarded("The preview"):
            preview = wizard.shown(app, actor, state, index)
            _preview(preview, index, state)
    plan = (state.plans or [])[index]
    with left:
        tables.card_head(plan.table, wizard_left.place(plan))
        st.markdown(f":material/info: {plain(plan.said, 300)}")
        for option in wizard.fields_of(plan):
            _option(plan, option, index, state.round)
    _suggestions(plan, index, state.round)
    _columns(plan, index, state.round)


def _option(plan: ReadPlan, option: str, index: int, number: int) -> None:
    key = session.wkey("plan", index, option, number)
    given: Any = {"key": key, "on_change": wizard.set_option, "args": (index, option, key)}
    if option == "header_line":
        word = "Header row" if plan.format == "excel" else "Header line"
        now = wizard.shown_value(plan, option)
        last = plan.header_lines[-1] if plan.header_lines else now
        spans = f" It spans {now} to {last} now." if last > now else ""
        st.number_input(word, value=now, min_value=0, max_value=1000, step=1, help=f"0: there is none.{spans}", **given)
    elif option == "missing":
        st.multiselect(
            "Codes for missing",
            list(dict.fromkeys([*plan.missing, "NA", "?", "-", "-200", "999"])),
            default=list(plan.missing),
            accept_new_options=True,
            placeholder="None beside blanks",
            help="These become missing in every column. For one column, write them in the table below.",
            **given,
        )
    elif option == "cuts":
        said = "The characters at which columns begin, from 1, with commas between. Empty: as found."
        st.text_input("Columns begin at", value=wizard.shown_value(plan, option), placeholder="1, 11, 20", help=said, **given)
    elif option == "keep_below":
        said = "Notes and a total under the table are set aside, and kept in a file. With this they are rows."
        st.checkbox("Keep what stands below", value=plan.keep_below, help=said, **given)
    else:
        label, names = CHOICES[option]
        now = getattr(plan, option)
        options = list(names) if now in names else [now, *names]
        st.selectbox(
            label, options, index=options.index(now), format_func=lambda v: names.get(v, flat(repr(v))), **given
        )


def _preview(preview: Preview, index: int, state: FileWizard) -> None:
    frame = pd.DataFrame(list(preview.rows), columns=pd.Index(_distinct(preview.columns)))
    plan = preview.plan
    part = ", from the beginning of the file" if plan.partial else ""
    tables.card_head("Preview", f"{figures.counted(len(frame), 'row')}{part}")
    tables.show(frame, key=session.wkey("preview", index, state.round), alt="First rows as they are read now")
    suggested = {s.said for s in plan.suggestions}
    notes = [note for note in plan.notes if note not in suggested]
    for note in notes[:SHOWN_NOTES]:
        st.caption(f":material/info: {plain(note, 300)}")
    if len(notes) > SHOWN_NOTES:
        st.caption(f"and {figures.counted(len(notes) - SHOWN_NOTES, 'more note')}.")
    if preview.rejected:
        said = figures.counted(max(plan.rejected + plan.flagged, len(preview.rejected)), "entry")
        with st.expander(f"{said} did not fit; kept in a file with the reason", icon=":material/warning:", type="compact"):
            lines = pd.DataFrame(list(preview.rejected), columns=pd.Index(["Line", "Reason", "Text"]))
            tables.show(lines, key=session.wkey("rejected", index, state.round), alt="Rows that do not fit")


def _distinct(names: tuple[str, ...]) -> list[str]:
    seen: dict[str, int] = {}
    made = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        made.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return made


def _suggestions(plan: ReadPlan, index: int, number: int) -> None:
    for i, suggestion in enumerate(plan.suggestions[:8]):
        with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f":material/lightbulb: {plain(suggestion.said, 300)}", width="stretch")
            values = [None] if suggestion.kind in ("missing", "trim") else list(suggestion.values)
            for value in values:
                name = _ONE_WAY[suggestion.kind] if value is None else _choice_name(suggestion.kind, value)
                st.button(
                    name,
                    key=session.wkey("suggestion", index, number, i, value),
                    on_click=wizard.take,
                    args=(index, suggestion, value),
                )


def _choice_name(kind: str, value: str) -> str:
    names = CHOICES.get(kind, ("", {}))[1]
    return names.get(value, plain(value, 30).capitalize())


def _columns(plan: ReadPlan, index: int, number: int) -> None:
    key = session.wkey("plan", index, "columns", number)
    order = {"dmy": "Day first", "mdy": "Month first"}
    frame = pd.DataFrame(
        [
            {
                "Read": c.include,
                "Name": c.name,
                "Type": c.type,
                "Dates": order.get(c.date_order or "", ""),
                "Missing": ", ".join(c.missing),
                "Masked": c.masked,
                "Protected": c.protected,
                "Identifier": c.identifier,
                "Noticed": " ".join(c.notes),
            }
            for c in plan.columns
        ]
    )
    tables.card_head("Columns", f"{figures.counted(len(frame), 'column')}; names, types and marks can be changed")
    st.data_editor(
        frame,
        key=key,
        hide_index=True,
        num_rows="fixed",
        height=tables.height(len(frame)),
        disabled=["Noticed"],
        on_change=wizard.edit_columns,
        args=(index, key),
        alt=f"Columns of {flat(plan.table)} as they will be read",
        column_config={
            "Read": st.column_config.CheckboxColumn("Read", width=75),
            "Type": st.column_config.SelectboxColumn("Type", options=[*TYPES, "other"], required=True, width=100),
            "Dates": st.column_config.SelectboxColumn("Dates", options=["", *order.values()], width=100),
            "Missing": st.column_config.TextColumn("Missing", help="Codes, with commas between", width=100),
            "Masked": st.column_config.CheckboxColumn("Masked", width=95, help="Never shown to a planner or on screen"),
            "Protected": st.column_config.CheckboxColumn("Protected", width=105, help="Left out of models"),
            "Identifier": st.column_config.CheckboxColumn("Identifier", width=100, help="Names a row"),
        },
    )


def name_and_load(app: Application, actor: Actor, state: FileWizard, *, busy: bool) -> None:
    """The third step: what will be read, under which name."""
    wizard.steps(3)
    key = "wizard-name"
    st.text_input("Name of the source", value=state.name, key=key, max_chars=80)
    if state.good:
        rows = [{"Table": p.table, "File": p.path.name, "How it is read": p.said} for p in state.good]
        tables.show(pd.DataFrame(rows), key="wizard-summary", alt="Tables that will be loaded")
    wizard_left.left_out(state)
    wizard_left.passed_over(state)
    with st.container(horizontal=True, gap="small"):
        st.button("Back", key="wizard-back", icon=":material/arrow_back:", on_click=wizard.step_to, args=(False,))
        st.button(
            "Load data",
            key="wizard-load",
            type="primary",
            icon=":material/database:",
            disabled=busy,
            on_click=wizard.load,
            args=(app, actor, key),
        )
        st.button("Cancel", key="wizard-cancel", type="tertiary", on_click=wizard.leave, args=(app, actor))
