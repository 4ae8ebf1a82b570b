"""The import of files in three visible steps: choose, check how it was read, name and load. State and callbacks.

Nothing is imported before the last step. Must never: read a file here, or hold more of it than the rows of one preview.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import streamlit as st

from components import session, sources
from components.problems import careful
from lexsi_ds.application import Application
from lexsi_ds.data.plan import Preview, ReadPlan, Suggestion, plan_options
from lexsi_ds.data.sniff import path_kind
from lexsi_ds.jobs.background import Task
from lexsi_ds.services.access import Actor
from lexsi_ds.services.planner import Plans

STEPS = ("Choose", "Check how it was read", "Name and load")


@dataclass
class FileWizard:
    """Files on their way in."""

    paths: list[Path]
    name: str
    task_id: str
    """The task that plans."""
    uploaded: Path | None = None
    """The folder that holds uploaded files; given up when the wizard is left or its import is over."""
    plans: list[ReadPlan] | None = None
    passed_over: tuple[str, ...] = ()
    """What the files hold beside these tables, and is not read."""
    preview: tuple[int, str, Preview] | None = None
    """The one that is shown: table, its choices, rows."""
    at: int = 0
    loading: bool = False
    """Whether the last step is shown."""
    round: int = 0
    """Part of the options' keys: a new one shows the plan as it is now."""
    trouble: dict[int, str] = field(default_factory=dict)

    @property
    def good(self) -> list[ReadPlan]:
        """Plans of tables that can be read."""
        return [p for p in self.plans or [] if not p.error]


def current() -> FileWizard | None:
    """The import that this tab is at."""
    found = session.held().wizard
    return found if isinstance(found, FileWizard) else None


def begin(app: Application, actor: Actor, paths: Sequence[Path], name: str, uploaded: Path | None = None) -> None:
    """Go to the second step: plans are made in the background."""
    task = plan_task(app, actor, paths)
    session.held().wizard = FileWizard(list(paths), name, task.id, uploaded)


def plan_task(app: Application, actor: Actor, paths: Sequence[Path]) -> Task:
    """Find out how files would be read; the bank's own files need no look."""

    def work(cancel: Any, tell: Any) -> Plans:
        if len(paths) == 1 and path_kind(paths[0]) == "pkdd":
            return Plans([])
        return app.catalog.plan_files(actor, paths, cancel=cancel, tell=tell)

    return app.background.start("plan", "Looking at the files", work, owner=actor.id)


def steps(number: int, names: Sequence[str] = STEPS) -> None:
    """Which of the three steps this is."""
    parts = []
    for i, name in enumerate(names, 1):
        mark = ":material/check_circle:" if i < number else f":material/counter_{i}:"
        parts.append(f"{mark} **{name}**" if i == number else f":gray[{mark} {name}]")
    st.markdown(" :gray[:material/chevron_right:] ".join(parts))


@careful
def leave(app: Application, actor: Actor) -> None:
    """Back to the first step; nothing was imported, uploaded copies go."""
    state = current()
    if state is None:
        session.held().wizard = None
        return
    app.background.stop(state.task_id, actor.id)
    if state.uploaded:
        app.uploads.release(state.uploaded)
    session.held().wizard = None


@careful
def step_to(loading: bool) -> None:
    """Between the second and the third step."""
    state = current()
    if state:
        state.loading = loading


def replace(state: FileWizard, index: int, plan: ReadPlan) -> None:
    """Put a changed plan in its place; the preview is made again, the options show it as it is."""
    if state.plans is not None:
        state.plans[index] = plan
        state.round += 1
        state.trouble.pop(index, None)


def shown(app: Application, actor: Actor, state: FileWizard, index: int) -> Preview:
    """The first rows under the plan as it is; read again only when it was changed. Raises what cannot be read so."""
    plan = (state.plans or [])[index]
    choices = plan.model_dump_json(include={"table", "chosen", "columns", *plan.chosen})
    if state.preview and state.preview[:2] == (index, choices):
        return state.preview[2]
    found = app.catalog.preview_file(actor, plan.path, plan)
    if state.plans is not None:
        state.plans[index] = found.plan
    choices = found.plan.model_dump_json(include={"table", "chosen", "columns", *found.plan.chosen})
    state.preview = (index, choices, found)
    return found


def fields_of(plan: ReadPlan) -> tuple[str, ...]:
    """Options that a format has."""
    if plan.format == "text":
        cuts = ("cuts",) if plan.cuts or plan.delimiter is None or len(plan.columns) == 1 else ()
        found = ("encoding", "quote", "decimal", "thousands", "header_line", "date_order", "missing", "keep_below")
        return ("delimiter", *cuts, *found)
    if plan.format == "excel":
        return ("decimal", "header_line", "date_order", "missing", "keep_below")
    return ("date_order", "missing") if plan.format == "json" else ("missing",)


def changed(plan: ReadPlan, option: str, value: Any) -> ReadPlan:
    """The plan with one option of the form set. ``header_line`` 0 means that there is none."""
    if option == "header_line":
        line = int(value or 0)
        return plan.change(header=line > 0, header_lines=(line,) if line else ())
    if option == "missing":
        return plan.change(missing=tuple(str(v) for v in value or ()))
    if option == "cuts":
        return plan.change(cuts=tuple(sorted({int(n) for n in re.findall(r"\d{1,6}", str(value or "")) if int(n)})))
    return plan.change(**{option: value})


@careful
def set_option(index: int, option: str, key: str) -> None:
    """An option of the form was changed. The browser may report one that was only drawn: that is nobody's choice."""
    state, value = current(), session.read(key)
    if state and state.plans and value != shown_value(state.plans[index], option):
        replace(state, index, changed(state.plans[index], option, value))


def shown_value(plan: ReadPlan, option: str) -> Any:
    """What the form shows of an option."""
    if option == "header_line":
        return plan.header_lines[0] if plan.header_lines else int(plan.header)
    if option == "cuts":
        return ", ".join(map(str, plan.cuts))
    return list(plan.missing) if option == "missing" else getattr(plan, option)


@careful
def take(index: int, suggestion: Suggestion, value: str | None) -> None:
    """A suggestion was accepted."""
    state = current()
    if state and state.plans:
        replace(state, index, taken(state.plans[index], suggestion, value))


def taken(plan: ReadPlan, suggestion: Suggestion, value: str | None) -> ReadPlan:
    """The plan with a suggestion applied; ``value`` is the choice where there are several."""
    if suggestion.kind in ("missing", "trim"):
        return plan.take(suggestion).model_copy(
            update={"suggestions": tuple(s for s in plan.suggestions if s != suggestion)}
        )
    column = next((c for c in plan.columns if c.name == suggestion.column), None)
    if column is None or value is None:
        return plan
    if suggestion.kind == "decimal":
        return plan.change(decimal=value)
    return plan.change_column(column.position, **{suggestion.kind: value})


@careful
def edit_columns(index: int, key: str) -> None:
    """Rows of the columns table were changed."""
    state = current()
    edited = (session.read(key) or {}).get("edited_rows", {})
    if state and state.plans and edited:
        replace(state, index, with_edits(state.plans[index], edited))


def with_edits(plan: ReadPlan, edited: dict[Any, dict[str, Any]]) -> ReadPlan:
    """The plan with what was changed in the columns table: row number -> column of the table -> value."""
    for row, changes in edited.items():
        column = plan.columns[int(row)]
        values: dict[str, Any] = {}
        for name, value in changes.items():
            option = name.casefold()
            if option == "missing":
                values["missing"] = tuple(v.strip() for v in str(value or "").split(",") if v.strip())
            elif option == "dates":
                values["date_order"] = {"Day first": "dmy", "Month first": "mdy"}.get(str(value))
            elif option == "read":
                values["include"] = bool(value)
            elif option != "name" or str(value or "").strip():
                values[option] = str(value).strip() if option == "name" else value
        if values:
            plan = plan.change_column(column.position, **values)
    return plan


@careful
def load(app: Application, actor: Actor, key: str) -> None:
    """The last click: import by these plans, in the background."""
    state = current()
    if state is None:
        return
    name = str(session.read(key) or "").strip() or state.name
    paths, options = state.paths, plan_options(state.good)
    kind = path_kind(paths[0]) if len(paths) == 1 else "files"

    uploaded = state.uploaded

    def work(cancel: Any, tell: Any) -> Any:
        try:
            handle = app.catalog.import_source(actor, kind, name, paths, cancel=cancel, tell=tell, options=options)
        finally:
            if uploaded:
                app.uploads.release(uploaded)
        app.set_active_source(actor, handle.source_id)
        return handle

    sources.start(app, actor, f"Importing {name}", work)
    session.held().wizard = None
    session.held().opened_source = None
    if sources.PARAMETER in st.query_params:
        del st.query_params[sources.PARAMETER]
