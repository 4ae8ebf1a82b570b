"""The prediction task as it can be changed before it trains: which values count, which rows are scored, which columns are used,
how rows are held out. Hands the edited task on; what fits together is the core's to say.

Must never: put a protected column into a model by a slip of the hand.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from components import asking, figures, problems, session, tables
from components.builder_lines import flat, titled
from components.safe import plain
from components.tasks import REASONS, left_out_table
from lexsi_ds.agent.building import Building
from lexsi_ds.agent.given import GivenTask
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import LexsiError
from lexsi_ds.models.task import LeftOut, Split
from lexsi_ds.services.access import Actor
from lexsi_ds.text_to_sql.reading import Predictive
from lexsi_ds.text_to_sql.task_draft import MISSING, TaskDraft

_SPLITS = {"rows": "At random", "time": "By time"}
_FOLDS = [None, 3, 4, 5, 8, 10]


def reading_of(app: Application, actor: Actor, artifact_ids: list[str]) -> Predictive | None:
    """The task that a step stated, if it is one that can be changed."""
    for artifact_id in artifact_ids:
        artifact = app.chats.artifact(actor, artifact_id)
        body = artifact.json() if artifact.kind == "json" else {}
        if body.get("kind") == "predictive" and body.get("draft"):
            return Predictive.model_validate(body)
    return None


def on_edit(run_id: str | None) -> None:
    """Open or close the editor of a run's task."""
    session.held().editing_task = run_id


@st.fragment
def editor(
    app: Application,
    actor: Actor,
    handle: DatasetHandle,
    conversation_id: str | None,
    run_id: str,
    question: str,
    reading: Predictive,
    *,
    trained: bool,
) -> None:
    """The card with everything that can be changed. A fragment: a choice redraws the card only."""
    task, key = reading.task, session.wkey("task-edit", run_id)
    building = app.building(handle)
    with st.container(border=True, gap="small", key=key), problems.guarded("The task card"):
        tables.card_head("Prediction task", "nothing has been trained yet" if not trained else "change it and train again")
        st.code(task.statement or task.title, language=None, wrap_lines=True)
        draft = TaskDraft.model_validate(reading.draft)
        draft = _target(building, draft, reading, key)
        with titled("For each"):
            st.markdown(f"{plain(task.entity_label)} :gray[by {plain(task.entity_table)}.{plain(task.entity_column)}]")
        with titled("Cut-off"):
            st.markdown(
                f"only what was known before each {plain(task.entity_label)}'s own date :gray[({plain(task.cutoff_column)})]"
                if task.cutoff_column
                else f":gray[none: {plain(task.entity_table)} has no dates, so nothing proves what was known before the outcome]"
            )
        draft = _split(draft, key, dated=task.cutoff_column is not None)
        draft, decided = _columns(draft, reading, key)
        _foot(app, actor, handle, conversation_id, building, question, draft, reading, key, decided=decided, trained=trained)


def _target(building: Building, draft: TaskDraft, reading: Predictive, key: str) -> TaskDraft:
    label = reading.task.target_label
    if draft.above is not None:
        with titled("Predicts"):
            limit = st.number_input(f"{plain(draft.column)} above", value=float(draft.above), key=f"{key}-above", width=240)
        return draft.model_copy(update={"above": float(limit)})
    if not reading.values:
        with titled("Predicts"):
            st.markdown(f"{plain(label)} :gray[{plain(reading.task.positive_meaning)}]")
        return draft
    counts = {v: n for v, _, n in reading.values}
    said = {v: (m if m == v or v == MISSING else f"{v} ({m})") for v, m, _ in reading.values}
    options = [v for v, _, _ in reading.values]
    yes, no, scored = building.sides(draft, reading.values)
    picked: list[tuple[str, ...]] = []
    for title, part, chosen in (("Counts as it", "yes", yes), ("Does not", "no", no), ("To score", "score", scored)):
        usable = [v for v in options if v != MISSING or part == "score"]
        with titled(title):
            found = st.multiselect(
                title, usable, default=[v for v in chosen if v in usable], key=f"{key}-{part}", label_visibility="collapsed",
                format_func=lambda v: flat(f"{said[v]}, {figures.counted(counts[v], 'row')}", 70),
                placeholder="Choose values",
            )  # fmt: skip
        picked.append(tuple(found))
    known, positives = sum(counts[v] for v in (*picked[0], *picked[1])), sum(counts[v] for v in picked[0])
    of_folds = bool(picked[2]) and set(picked[2]) <= {*picked[0], *picked[1]}
    how = "out of fold: they train too, and models that did not see them score them" if of_folds else "by the model"
    st.caption(
        f"Learns {plain(label)} from {figures.counted(known, 'row')}, {figures.count(positives)} with it. "
        f"Scores {figures.counted(sum(counts[v] for v in picked[2]), 'row')}"
        f"{', fewer where the question narrows them,' if draft.only else ''} {how}."
    )
    if (picked[0], picked[1], picked[2]) == (yes, no, scored) and draft.outcome:
        return draft
    return draft.model_copy(update={"positive": picked[0], "negative": picked[1], "score": picked[2]})


def _split(draft: TaskDraft, key: str, *, dated: bool) -> TaskDraft:
    with titled("Held out"), st.container(horizontal=True, vertical_alignment="center", gap="small"):
        ways = list(_SPLITS) if dated else ["rows"]
        by = st.segmented_control("Held out", ways, default=draft.split.by if draft.split.by in ways else "rows", required=True,
                                  format_func=lambda w: _SPLITS[w], key=f"{key}-split", label_visibility="collapsed")  # fmt: skip
        folds = st.selectbox("Folds", _FOLDS, index=_FOLDS.index(draft.split.folds) if draft.split.folds in _FOLDS else 0,
                             format_func=lambda n: f"{n} folds" if n else "folds as usual", key=f"{key}-folds", width=160,
                             label_visibility="collapsed")  # fmt: skip
    return draft.model_copy(update={"split": Split(by="time" if by == "time" else "rows", folds=folds)})


def _columns(draft: TaskDraft, reading: Predictive, key: str) -> tuple[TaskDraft, bool]:
    """The columns that are used and those left out; the edited task, and whether every protected one was decided on."""
    task = reading.task
    by_hand = [o for o in task.left_out if o.reason == "by_hand"]
    may = sorted((o for o in task.left_out if o.approvable), key=lambda o: o.reason != "protected")
    never = [o for o in task.left_out if not o.approvable and o.reason != "by_hand"]
    with titled("Columns"):
        with st.expander(f"{figures.counted(len(task.features), 'column')} used", type="compact", key=f"{key}-used-box"):
            taken = _used(reading, by_hand, f"{key}-used")
        back: list[LeftOut] = []
        if may:
            head = f"{figures.counted(len(may), 'column')} left out that can be put back"
            with st.expander(head, type="compact", key=f"{key}-back-box"):
                back = _put_back(may, f"{key}-back")
        if never:
            with st.expander(f"{figures.counted(len(never), 'column')} that cannot be used", type="compact", key=f"{key}-never"):
                left_out_table(never, f"{key}-never-table")
    decided = _consequences(back, key)
    put = (*draft.put_back, *(f"{o.table}.{o.name}" for o in back))
    return draft.model_copy(update={"taken_out": tuple(taken), "put_back": tuple(dict.fromkeys(put))}), decided


def _used(reading: Predictive, by_hand: list[LeftOut], key: str) -> list[str]:
    """Features with a tick each; the names of those without one."""
    rows = [{"Use": True, "Column": f.label, "Name": f.name, "From": ", ".join(f.tables)} for f in reading.task.features]
    rows += [{"Use": False, "Column": o.name, "Name": o.name, "From": o.table} for o in by_hand]
    edited = st.data_editor(
        pd.DataFrame(rows), hide_index=True, key=key, disabled=["Column", "Name", "From"], height=tables.height(len(rows)),
        column_config={"Use": st.column_config.CheckboxColumn("Use", width=50)},
    )  # fmt: skip
    return [str(name) for name, use in zip(edited["Name"], edited["Use"], strict=True) if not use]


def _put_back(may: list[LeftOut], key: str) -> list[LeftOut]:
    rows = [{"Use": False, "Column": o.name, "Table": o.table, "Reason": REASONS[o.reason], "Why": o.detail} for o in may]
    edited = st.data_editor(
        pd.DataFrame(rows), hide_index=True, key=key, disabled=["Column", "Table", "Reason", "Why"],
        height=tables.height(len(rows)), column_config={"Use": st.column_config.CheckboxColumn("Use", width=50)},
    )  # fmt: skip
    return [o for o, use in zip(may, edited["Use"], strict=True) if use]


def _consequences(back: list[LeftOut], key: str) -> bool:
    """What it means to put these back. A protected one needs a decision of its own."""
    protected = [o for o in back if o.reason == "protected"]
    undated = [f"{o.table}.{o.name}" for o in back if o.reason == "undated"]
    if undated:
        st.info(
            f"**{plain(', '.join(undated), 300)}**: no date proves that this was known before the outcome. If it was not, the "
            "figures look better than the model will be. It is marked on the model card.",
            icon=":material/event_busy:",
        )
    if not protected:
        return True
    named = ", ".join(f"{o.table}.{o.name}" for o in protected)
    st.warning(
        f"**{plain(named, 300)}** is protected. A model that uses it treats people differently for who they are; for credit, "
        "jobs, housing or insurance the law often forbids that. It is marked on the model card, and fairness can then no longer "
        "be argued from not using it.",
        icon=":material/shield_person:",
    )
    return st.checkbox(f"I have decided to use {plain(named, 120)}", key=f"{key}-decided-{named}")


def _foot(
    app: Application, actor: Actor, handle: DatasetHandle, conversation_id: str | None, building: Building, question: str,
    draft: TaskDraft, reading: Predictive, key: str, *, decided: bool, trained: bool,
) -> None:  # fmt: skip
    fits = True
    try:
        building.check_task(draft, reading.values)
    except LexsiError as error:
        fits = False
        st.error(problems.sentence(error), icon=":material/error:")
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        label = "Train again" if trained else "Train"
        train = st.button(label, type="primary", icon=":material/model_training:", disabled=not (fits and decided),
                          key=f"{key}-train")  # fmt: skip
        if trained and st.button("Close", type="tertiary", key=f"{key}-close"):
            on_edit(None)
            st.rerun()
        if not decided:
            st.caption("Decide on the protected column first, or untick it.")
    if train:
        _train(app, actor, handle.source_id, conversation_id, question, draft)
        st.rerun()


@problems.careful
def _train(
    app: Application, actor: Actor, source_id: str, conversation_id: str | None, question: str, draft: TaskDraft
) -> None:
    given: dict[str, Any] = GivenTask(draft=draft).model_dump(mode="json")
    asking.start(app, actor, source_id, conversation_id, question, given)
