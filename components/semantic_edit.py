"""Forms that change one entry of a semantic model. Each saves a version; what is wrong is said and nothing is saved.

Must never: change a model without the version that was on screen, or decide itself what is right.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from components import session
from components.problems import careful
from components.safe import flat, plain
from components.sql_text import show_sql
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.knowledge.model import ColumnModel, ColumnRole, Formula, LearnedWord, Metric, TableModel, ValueMeaning
from lexsi_ds.knowledge.osi_edit import change_column, change_table, drop_metric, put_metric
from lexsi_ds.services.access import Actor
from lexsi_ds.services.semantics import SemanticView

_ROLES: tuple[ColumnRole, ...] = ("measure", "category", "flag", "time", "text", "key", "link")
_NONE = "None"
_MOST_CODES = 60


def table_form(app: Application, actor: Actor, handle: DatasetHandle, view: SemanticView, table: TableModel) -> None:
    """Label, other words and default date of a table."""
    key = session.wkey("semantic", handle.source_id, view.version, table.name)
    dates = [c.name for c in view.model.of_table(table.name) if c.role == "time"]
    with st.popover("Change this table", type="tertiary", icon=":material/edit:", key=session.wkey(key, "pop")):
        st.text_input("One row is one", value=table.label, key=session.wkey(key, "label"), max_chars=80)
        st.text_input("Several are", value=table.plural, key=session.wkey(key, "plural"), max_chars=80)
        _words_input("Also called", table.synonyms, session.wkey(key, "synonyms"))
        st.selectbox(
            "Default date", [_NONE, *dates], index=dates.index(table.time) + 1 if table.time in dates else 0,
            key=session.wkey(key, "time"), help="The date that a period in a question is about, when no other is named",
            format_func=lambda n: flat(n, 60),
        )  # fmt: skip
        st.text_area("About", value=table.comment, key=session.wkey(key, "comment"), max_chars=2000, height=80)
        st.button(
            "Save", type="primary", key=session.wkey(key, "save"), on_click=_save_table,
            args=(app, actor, handle.source_id, view.version, table.name, key),
        )  # fmt: skip


@careful
def _save_table(app: Application, actor: Actor, source_id: str, seen: int, table: str, key: str) -> None:
    def value(name: str) -> Any:
        return session.read(session.wkey(key, name))

    update = {
        "label": str(value("label") or "").strip() or table, "plural": str(value("plural") or "").strip() or table,
        "synonyms": tuple(value("synonyms") or ()), "comment": str(value("comment") or "").strip(),
        "time": None if value("time") == _NONE else value("time"),
    }  # fmt: skip
    version = app.semantics.edit(
        actor, source_id, lambda d, m: change_table(d, m, table, lambda t: t.model_copy(update=update)), seen
    )
    session.notify("success", f"Saved as version {version}.")


def column_form(
    app: Application, actor: Actor, handle: DatasetHandle, view: SemanticView, column: ColumnModel | None,
    columns: Sequence[ColumnModel],
) -> None:
    """What a column means. ``column`` is the selected row; without one, the form names the column itself."""
    if column is None:
        with st.expander("Change a column by name", type="compact"):
            pick = session.wkey("semantic", handle.source_id, view.version, columns[0].table, "pick")
            names = [c.name for c in columns]
            chosen = st.selectbox("Column", names, index=None, key=pick, format_func=lambda n: flat(n, 60))
            found = next((c for c in columns if c.name == chosen), None)
            if found is not None:
                _column_fields(app, actor, handle, view, found)
        return
    with st.container(border=True):
        _column_fields(app, actor, handle, view, column)


def _column_fields(app: Application, actor: Actor, handle: DatasetHandle, view: SemanticView, column: ColumnModel) -> None:
    key = session.wkey("semantic", handle.source_id, view.version, column.table, column.name)
    st.markdown(f"**{plain(column.table, 60)}.{plain(column.name, 60)}**")
    first, second, third = st.columns([2, 1, 1])
    first.text_input("Read as", value=column.label, key=session.wkey(key, "label"), max_chars=120)
    second.selectbox("Role", _ROLES, index=_ROLES.index(column.role), key=session.wkey(key, "role"))
    third.text_input("Unit", value=column.unit or "", key=session.wkey(key, "unit"), max_chars=20)
    _words_input("Also called", column.synonyms, session.wkey(key, "synonyms"))
    if column.role == "measure":
        st.toggle(
            "A sum over rows means something", value=column.additive, key=session.wkey(key, "additive"),
            help="Amounts and counts can be summed; ages, rates and balances cannot.",
        )  # fmt: skip
    st.text_area("About", value=column.comment, key=session.wkey(key, "comment"), max_chars=2000, height=68)
    coded = column.role in ("category", "flag") and not column.masked
    rows = _meanings(app, handle, column) if coded else None
    if rows is not None:
        st.caption("What its values stand for, and other words for them")
        st.data_editor(
            rows, key=session.wkey(key, "values"), hide_index=True, num_rows="fixed", disabled=["Value"],
            height=min(320, 35 * (len(rows) + 1) + 4),
        )  # fmt: skip
    st.button(
        "Save this column", type="primary", key=session.wkey(key, "save"), on_click=_save_column,
        args=(app, actor, handle.source_id, view.version, column, key, rows),
    )  # fmt: skip


def _meanings(app: Application, handle: DatasetHandle, column: ColumnModel) -> pd.DataFrame | None:
    """Values with what they stand for, and the values that have no meaning yet, when they are few."""
    known = {m.value: m for m in column.values}
    if column.role == "category" and 0 < column.distinct <= _MOST_CODES:
        found = [e[1][0] for e in app.knowledge(handle).values.entries()]
        every = {h.value for h in found if (h.table, h.column) == (column.table, column.name)}
        known = {v: known.get(v) or ValueMeaning(value=v, label="") for v in sorted(every | known.keys())}
    if not known:
        return None
    return pd.DataFrame(
        [{"Value": v, "Stands for": m.label if m.label != v else "", "Also called": ", ".join(m.words)} for v, m in known.items()]
    )


@careful
def _save_column(
    app: Application, actor: Actor, source_id: str, seen: int, column: ColumnModel, key: str, rows: pd.DataFrame | None
) -> None:
    def value(name: str) -> Any:
        return session.read(session.wkey(key, name))

    update: dict[str, Any] = {
        "label": str(value("label") or "").strip() or column.label, "role": value("role") or column.role,
        "unit": str(value("unit") or "").strip() or None, "synonyms": tuple(value("synonyms") or ()),
        "comment": str(value("comment") or "").strip(),
    }  # fmt: skip
    if value("additive") is not None:
        update["additive"] = bool(value("additive"))
    if rows is not None:
        update["values"] = _edited(rows, value("values") or {}, column)
    version = app.semantics.edit(
        actor, source_id,
        lambda d, m: change_column(d, m, column.table, column.name, lambda c: c.model_copy(update=update)), seen,
    )  # fmt: skip
    session.notify("success", f"Saved as version {version}.")


def _edited(rows: pd.DataFrame, edits: dict[str, Any], column: ColumnModel) -> tuple[ValueMeaning, ...]:
    """The meanings of the editor; values nobody said anything of are left out, but not a flag's."""
    made = []
    for i, row in enumerate(rows.to_dict("records")):
        changed = {**row, **edits.get("edited_rows", {}).get(i, {})}
        label = str(changed.get("Stands for") or "").strip()
        words = tuple(w.strip() for w in str(changed.get("Also called") or "").split(",") if w.strip())
        if label or words or column.role == "flag":
            made.append(ValueMeaning(value=str(row["Value"]), label=label or str(row["Value"]), words=words))
    return tuple(made)


def metric_form(app: Application, actor: Actor, handle: DatasetHandle, view: SemanticView) -> None:
    """Adds a metric."""
    key = session.wkey("semantic", handle.source_id, view.version, "metric")
    with st.popover("Add a metric", type="tertiary", icon=":material/add:", key=session.wkey(key, "pop")):
        st.text_input("Name", key=session.wkey(key, "label"), max_chars=80, placeholder="net revenue")
        names = [t.name for t in view.model.tables]
        st.selectbox("Over the rows of", names, key=session.wkey(key, "table"), format_func=lambda n: flat(n, 60))
        st.text_input(
            "Expression", key=session.wkey(key, "sql"), placeholder="SUM(price * quantity)",
            help="One aggregate over columns of that table: SUM, AVG, COUNT, MIN, MAX, or several with + - * /",
        )  # fmt: skip
        st.text_input("Unit", key=session.wkey(key, "unit"), max_chars=20)
        _words_input("Also called", (), session.wkey(key, "words"))
        st.button(
            "Add", type="primary", key=session.wkey(key, "save"), on_click=_add_metric,
            args=(app, actor, handle.source_id, view.version, key),
        )  # fmt: skip


@careful
def _add_metric(app: Application, actor: Actor, source_id: str, seen: int, key: str) -> None:
    def text(name: str) -> str:
        return str(session.read(session.wkey(key, name)) or "").strip()

    label = text("label")
    name = re.sub(r"\W+", "_", label.casefold()).strip("_")
    if not name or not text("sql"):
        session.notify("warning", "**A metric needs a name and an expression.** Nothing was saved.")
        return
    metric = Formula(
        id=name, label=label, table=text("table"), words=tuple(session.read(session.wkey(key, "words")) or ()),
        expression=text("sql"), unit=text("unit") or None,
    )  # fmt: skip
    version = app.semantics.edit(actor, source_id, lambda d, _m: put_metric(d, metric), seen)
    session.notify("success", f"Saved as version {version}: {plain(label, 60)}.")


def metric_line(
    app: Application, actor: Actor, handle: DatasetHandle, view: SemanticView, metric: Metric | Formula
) -> None:
    """A metric with its expression, and a way to take it out."""
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small"):
        words = ", ".join(plain(w, 40) for w in metric.words[:8])
        unit = f", {plain(metric.unit)}" if metric.unit else ""
        about = f":gray[{plain(metric.text or 'over rows of ' + metric.table, 200)}{unit}]"
        lines = f"**{plain(metric.label, 80)}** {about}" + (f"  \n:gray[said as {words}]" if words else "")
        with st.container(width="stretch", gap="xxsmall"):
            st.markdown(lines)
            if isinstance(metric, Formula):
                st.code(f"{metric.expression}   -- over {metric.table}", language="sql")
        st.button(
            "Remove", type="tertiary", icon=":material/delete:",
            key=session.wkey("semantic", handle.source_id, view.version, "metric", metric.id, "drop"),
            on_click=_drop_metric, args=(app, actor, handle.source_id, view.version, metric.id),
        )  # fmt: skip


@careful
def _drop_metric(app: Application, actor: Actor, source_id: str, seen: int, name: str) -> None:
    version = app.semantics.edit(actor, source_id, lambda d, _m: drop_metric(d, name), seen)
    session.notify("success", f"Saved as version {version}: {plain(name, 60)} is out.")


def verified(app: Application, actor: Actor, handle: DatasetHandle, view: SemanticView) -> None:
    """Questions with SQL that a person has checked."""
    key = session.wkey("semantic", handle.source_id, view.version, "verified")
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(f"**Verified questions** :gray[{len(view.model.verified)}]")
        with st.popover("Add a question", type="tertiary", icon=":material/add:", key=session.wkey(key, "pop")):
            st.text_input("Question", key=session.wkey(key, "question"), max_chars=500)
            st.text_area("SQL that answers it", key=session.wkey(key, "sql"), height=140)
            st.button(
                "Check and add", type="primary", key=session.wkey(key, "save"), on_click=_verify,
                args=(app, actor, handle.source_id, view.version, key),
            )  # fmt: skip
    for i, each in enumerate(view.model.verified):
        with st.container(border=True, gap="xsmall"):
            with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
                st.markdown(plain(each.question, 500))
                st.button(
                    "Remove", type="tertiary", icon=":material/delete:", key=session.wkey(key, i, "drop"), on_click=_unverify,
                    args=(app, actor, handle.source_id, view.version, each.question),
                )  # fmt: skip
            show_sql(each.sql)


@careful
def _verify(app: Application, actor: Actor, source_id: str, seen: int, key: str) -> None:
    question, sql = (str(session.read(session.wkey(key, n)) or "") for n in ("question", "sql"))
    version = app.semantics.verify(actor, source_id, question, sql, seen)
    session.notify("success", f"Checked and saved as version {version}.")


@careful
def _unverify(app: Application, actor: Actor, source_id: str, seen: int, question: str) -> None:
    version = app.semantics.unverify(actor, source_id, question, seen)
    session.notify("success", f"Saved as version {version}.")


def word_form(app: Application, actor: Actor, handle: DatasetHandle, view: SemanticView) -> None:
    """Teaches a word by hand."""
    key = session.wkey("semantic", handle.source_id, "teach")
    with st.popover("Teach a word", type="tertiary", icon=":material/add:", key=session.wkey(key, "pop")):
        st.text_input("Word or words", key=session.wkey(key, "words"), max_chars=80, placeholder="exposure")
        places = [f"{c.table}.{c.name}" for c in view.model.columns]
        st.selectbox("mean the column", places, index=None, key=session.wkey(key, "place"), format_func=lambda n: flat(n, 80))
        st.text_input("Value, when it means one", key=session.wkey(key, "value"), max_chars=200)
        st.button(
            "Remember", type="primary", key=session.wkey(key, "save"), on_click=_teach,
            args=(app, actor, handle.source_id, key, {f"{c.table}.{c.name}": (c.table, c.name) for c in view.model.columns}),
        )  # fmt: skip


@careful
def _teach(app: Application, actor: Actor, source_id: str, key: str, places: dict[str, tuple[str, str]]) -> None:
    words, place, value = (str(session.read(session.wkey(key, n)) or "").strip() for n in ("words", "place", "value"))
    if place not in places:
        session.notify("warning", "**No column was chosen.** Nothing was kept.")
        return
    table, column = places[place]
    word = app.semantics.learn(actor, source_id, words, LearnedWord(id="", words="", table=table, column=column, value=value))
    session.notify("success", f"Remembered: {plain(word.words, 80)} means {plain(word.meaning, 120)}.")


def _words_input(label: str, words: Sequence[str], key: str) -> None:
    st.multiselect(
        label, list(words), default=list(words), key=key, accept_new_options=True, placeholder="Write a word and press Enter",
        format_func=lambda w: flat(w, 60),
    )  # fmt: skip
