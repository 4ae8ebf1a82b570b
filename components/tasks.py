"""The prediction task: what is predicted, for whom, from what was known when, and what was left out and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pandas as pd
import streamlit as st

from components import figures, tables
from components.safe import plain
from components.sql_text import show_sql
from lexsi_ds.models.task import FeatureDef, LeftOut, TaskSpec

REASONS: dict[str, str] = {
    "undated": "no date proves it was known",
    "protected": "protected",
    "post_outcome": "known only after the outcome",
    "identifier": "identifier",
    "constant": "constant",
    "all_null": "always missing",
    "duplicate": "duplicate",
    "target": "is the outcome",
    "masked": "identifies a person",
    "high_cardinality": "too many values",
    "date": "bare date",
    "leak": "gives the outcome away",
    "by_hand": "taken out by hand",
}


def task_lines(task: TaskSpec) -> list[str]:
    """The task in lines of safe Markdown, for a card or a step."""
    cutoff = (
        f"only what was known before {plain(task.cutoff_column)} of each {plain(task.entity_label)}"
        if task.cutoff_column
        else f"none; rows are dated by {plain(task.time_column)}, and nothing proves when their columns were known"
        if task.time_column
        else "the table has no dates"
    )
    lines = [f"`{plain_code(task.statement)}`"] if task.statement else []
    lines += [
        f"**Target** :gray[{plain(task.target_label)}: {plain(task.positive_meaning)}]",
        f"**Entity** :gray[{plain(task.entity_label)}, {plain(task.entity_table)}.{plain(task.entity_column)}]",
        f"**Known** :gray[{plain(task.known_meaning)}]",
        f"**Unknown** :gray[{plain(task.unknown_meaning)}]",
        f"**Cut-off** :gray[{cutoff}]",
        f"**Features** :gray[{features_line(task.features)}]",
    ]
    if task.left_out:
        lines.append(f"**Left out** :gray[{left_out_line(task.left_out)}]")
    return lines


def plain_code(text: str) -> str:
    """A statement for inline code: one line, no back-ticks."""
    return " ".join(text.replace("`", "'").split())[:400]


def features_line(features: Iterable[FeatureDef], n: int = 4) -> str:
    """How many features, and the first few by name."""
    listed = list(features)
    names = ", ".join(plain(f.label, 40) for f in listed[:n])
    more = f" and {len(listed) - n} more" if len(listed) > n else ""
    return f"{len(listed)}: {names}{more}"


def left_out_line(left_out: Iterable[LeftOut]) -> str:
    """How many columns were left out, by reason."""
    counts = Counter(REASONS[item.reason] for item in left_out)
    return f"{sum(counts.values())}: " + ", ".join(f"{n} {reason}" for reason, n in counts.most_common())


def task_card(task: TaskSpec, left_out: tuple[LeftOut, ...], key: str, *, title: str = "Prediction task") -> None:
    """The task with its left-out list and its two queries, each one click away."""
    with st.container(border=True, gap="xsmall"):
        tables.card_head(title, task.title)
        for line in task_lines(task.model_copy(update={"left_out": left_out})):
            st.markdown(line)
        for text in task.edits:
            st.caption(f":material/edit: {plain(text, 300)}")
        for note in task.notes:
            st.caption(f":material/info: {plain(note, 400)}")
        with st.container(horizontal=True, gap="small"):
            if left_out:
                with st.popover(
                    f"{figures.counted(len(left_out), 'column')} left out",
                    type="tertiary",
                    icon=":material/filter_alt_off:",
                    key=f"{key}-left",
                ):
                    left_out_table(left_out, f"{key}-left-table")
            with st.popover("SQL of both frames", type="tertiary", icon=":material/code:", key=f"{key}-sql"):
                st.caption("Rows that train")
                show_sql(task.context_sql, height=220)
                if task.predict_sql:
                    st.caption("Rows that are scored")
                    show_sql(task.predict_sql, height=220)


def left_out_table(left_out: Iterable[LeftOut], key: str) -> None:
    """Every column that could have been a feature and is not, with the reason in words of the data."""
    frame = pd.DataFrame(
        [
            {"Column": item.name, "Table": item.table, "Reason": REASONS[item.reason], "Why": item.detail}
            for item in left_out
        ]
    )
    tables.show(frame, key=key, alt="Columns left out of the model and why")


def features_table(features: pd.DataFrame, key: str) -> None:
    """Definitions of the features with what is missing."""
    settings = {
        "Missing": st.column_config.NumberColumn("Missing", format="%.1f%%", width=80),
        "Distinct": st.column_config.NumberColumn("Distinct", format="localized", width=90),
    }
    tables.show(features, key=key, alt="Features, their definitions and missing shares", settings=settings)
