"""The form that trains a model on a table or saved result: what is predicted, from which columns, how it is held out.

What the target means is asked of the service and said before anything trains. Must never: train in the page's process.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import streamlit as st

from components import figures, model_task, session
from components.explain_work import view
from components.problems import careful
from components.safe import flat, plain
from components.tasks import left_out_line
from lexsi_ds.application import Application
from lexsi_ds.data.handle import Column, DatasetHandle, Table
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.task import MODEL_TYPES, TaskSpec
from lexsi_ds.services.access import Actor
from lexsi_ds.services.model_training import TrainRequest

NAME = "train"
_COMPARE = "Compare all that fit"
_NONE = "none"
_KINDS = {"": "As the values say", "classification": "A class", "regression": "An amount"}
_TYPES: dict[str, Literal["classification", "regression"]] = {"classification": "classification", "regression": "regression"}
_key = partial(session.wkey, "train")


def button(app: Application) -> None:
    """Opens and closes the form."""
    st.button("Train a model", icon=":material/model_training:", key="models-train", on_click=_toggle)


@careful
def _toggle() -> None:
    session.held().train_open = not session.held().train_open


def draw(app: Application, actor: Actor, handle: DatasetHandle | None) -> None:
    """The work under way with its end, and the form when it is open."""
    made = model_task.outcome(app, actor, NAME)
    if isinstance(made, ModelCard):
        session.held().model_id, session.held().train_open = made.id, False
        session.forget(session.MODEL_TAB, session.MODEL_PICK)
        st.query_params["model"] = made.id
        session.notify("success", f"{plain(made.name)} is trained.")
        st.rerun()
    if not session.held().train_open or model_task.running(app, NAME) or handle is None:
        return
    with st.container(border=True, gap="small", key="train-form"):
        head = st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center")
        head.markdown("**Train a model** :gray[on any table or saved result]")
        head.button("", icon=":material/close:", type="tertiary", key=_key("close"), on_click=_toggle, help="Close the form")
        data, table = _data(app, actor, handle)
        if table is None:
            st.info("This data set has no table.", icon=":material/info:")
            return
        request = _request(table, data)
        if request is not None:
            _foot(app, actor, data, request)


def _data(app: Application, actor: Actor, handle: DatasetHandle) -> tuple[DatasetHandle, Table | None]:
    names = {s.id: s.name for s in app.catalog.sources(actor)}
    left, right = st.columns(2, gap="medium")
    with left:
        chosen = st.selectbox(
            "Data set", list(names), index=list(names).index(handle.source_id) if handle.source_id in names else 0,
            key=_key("source"), format_func=lambda i: flat(names.get(i, i), 60),
        )
    data = handle if chosen in (None, handle.source_id) else app.catalog.handle(actor, chosen)
    tables = {t.name: t for t in data.tables}
    with right:
        name = st.selectbox(
            "Table", list(tables), key=_key("table", data.snapshot_id), format_func=lambda n: _table_name(tables, n)
        )
    return data, tables.get(name or "")


def _table_name(tables: dict[str, Table], name: str) -> str:
    return f"{flat(name, 60)}, {figures.counted(tables[name].rows, 'row')}"


def _request(table: Table, data: DatasetHandle) -> TrainRequest | None:
    """What the fields say; None until a target is chosen."""
    columns = {c.name: c for c in table.columns}
    at = partial(_key, data.snapshot_id, table.name)
    one, two, three = st.columns(3, gap="medium")
    with one:
        target = st.selectbox(
            "What to predict", list(columns), index=None, key=at("target"), placeholder="Choose a column",
            format_func=lambda n: f"{flat(n, 40)}, {meaning(columns[n])}",
        )
    if target is None:
        st.caption("Choose the column whose value is to be predicted; rows where it is empty are scored, the others train.")
        return None
    rest = [n for n in columns if n != target]
    found = columns[target]
    with two:
        kind = st.selectbox(
            "Predicted as", list(_KINDS), key=at(target, "kind"), format_func=lambda k: _KINDS[k],
            disabled=found.family != "number" or found.distinct <= 2,
        )
        as_amount = found.family == "number" and found.distinct > 2 and kind != "classification"
    with three:
        types = [m for m in MODEL_TYPES if m != ("Logistic" if as_amount else "Linear")]
        model_type = st.selectbox("Model type", [_COMPARE, *types], key=at(target, "type"))
    positive = None
    with st.expander("Rows, columns and how it is held out", type="compact", key=at(target, "more")):
        one, two = st.columns(2, gap="medium")
        with one:
            entity = _one("Column that names a row", rest, at(target, "entity"), "found by itself")
            time = _one("Column that dates a row", rest, at(target, "time"), _NONE, "Later rows are then held out as well.")
            if not as_amount:
                positive = st.text_input(
                    "Value that counts as the outcome", key=at(target, "positive"), placeholder="found by itself",
                    help="Of a target with two values; with more, this one against all others.",
                ).strip()
        with two:
            group = _one("Column of groups", rest, at(target, "group"), _NONE, "Rows of one group stay in one fold.")
            score = _one("Existing score to compare with", _numbers(columns, rest), at(target, "score"), _NONE)
            out = st.multiselect("Columns to leave out", rest, key=at(target, "out"), placeholder="none",
                                 format_func=lambda n: flat(n, 40))  # fmt: skip
            guarded = [n for n in rest if columns[n].protected]
            taken = st.multiselect(
                "Protected columns to use all the same", guarded, key=at(target, "in"), placeholder="none",
                format_func=lambda n: flat(n, 40),
            ) if guarded else []
    return TrainRequest(
        target=target, table=table.name, entity=entity, task_type=_TYPES.get(kind),
        positive=positive or None, model_type=None if model_type == _COMPARE else model_type, exclude=tuple(out),
        include=tuple(taken), time_column=time, group_column=group, score_column=score,
    )


def meaning(column: Column) -> str:
    """What a target of this column would mean, for the list."""
    if column.family in ("date", "other"):
        return "no outcome"
    if column.distinct == 2:
        return "yes or no"
    if column.distinct < 2:
        return "one value"
    return "an amount" if column.family == "number" else f"{column.distinct:,} classes"


def _one(label: str, names: list[str], key: str, empty: str, help_: str | None = None) -> str | None:
    return st.selectbox(label, names, index=None, key=key, placeholder=empty, help=help_, format_func=lambda n: flat(n, 40))


def _numbers(columns: dict[str, Column], names: list[str]) -> list[str]:
    return [n for n in names if columns[n].family == "number"]


def _foot(app: Application, actor: Actor, data: DatasetHandle, request: TrainRequest) -> None:
    """What would be trained, in words, or why it cannot be; and the button."""
    key = ("train", data.snapshot_id, request.model_dump_json())
    work = partial(_stated, app, actor, data, request)
    task = view(app, actor, key, "What this would predict", work, height=74, patience=1.0)
    if task is None:
        return
    kind = {"binary": "Yes or no", "multiclass": f"{len(task.classes)} classes", "regression": "An amount"}[task.kind]
    st.markdown(f"**{kind}**: {plain(task.positive_meaning)}. Trains on {plain(task.known_meaning)}.")
    left = f" Left out {left_out_line(task.left_out)}." if task.left_out else ""
    used = figures.counted(len(task.features), "column")
    st.caption(f"{used} to learn from.{left} Training looks at the data and may leave out more.")
    st.button(
        "Train", type="primary", icon=":material/model_training:", key=_key("go"), on_click=_train, args=(app, actor, data, request)
    )


def _stated(app: Application, actor: Actor, data: DatasetHandle, request: TrainRequest, **_: Any) -> TaskSpec:
    return app.training.task(actor, data, request)


@careful
def _train(app: Application, actor: Actor, data: DatasetHandle, request: TrainRequest) -> None:
    model_task.start(NAME, app.model_work.train(actor, data, request))
