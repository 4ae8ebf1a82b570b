"""The Fairness tab: figures by group of protected columns with intervals, and parts of the rows where the model errs more.

Computed by workers on held-out rows. Must never: show a rate without its rows and interval, or a slice without its
corrected p-value.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from components import chart_menu, figures, session, tables
from components.cards import mode
from components.charts import Chart, figure_for, literal, shortened
from components.explain_work import view
from components.problems import guarded
from components.registry import page
from components.safe import flat, plain
from lexsi_ds.application import Application
from lexsi_ds.explain.results_decision import ErrorSlices, Fairness, FairnessViews
from lexsi_ds.models.card import Interval, ModelCard
from lexsi_ds.services.access import Actor
from lexsi_ds.services.model_entry import Entry

_SHOWN_GROUPS = 30


def draw(app: Application, actor: Actor, card: ModelCard, entry: Entry | None) -> None:
    """Groups, then slices."""
    with guarded("The figures by group"):
        _groups(app, actor, card, entry)
    with guarded("The error slices"):
        _slices(app, actor, card)


def _groups(app: Application, actor: Actor, card: ModelCard, entry: Entry | None) -> None:
    protected = [out.name for out in card.left_out if out.reason == "protected"]
    words = [f.feature.name for f in card.features if f.feature.kind != "numeric"]
    chosen = st.multiselect(
        "Columns to compare groups of",
        list(dict.fromkeys([*protected, *words])),
        default=protected,
        key=session.wkey("fairness", card.id),
        format_func=lambda n: flat(n, 40) + (", protected" if n in protected else ""),
        placeholder="Choose a column",
    )
    if not protected:
        st.caption(
            "No column of this model is marked protected. Mark sex, age or the like in Connect data before training: it is then "
            "left out of the score and kept for this test. Any column of words can be looked at here."
        )
        st.page_link(page("connect").path, label="Mark columns", icon=page("connect").icon)
    if not chosen:
        return
    threshold = (
        (entry.threshold.value if entry and entry.threshold else card.threshold.value)
        if card.task.kind == "binary"
        else None
    )
    work = partial(_fair, app, actor, card.id, list(chosen), threshold)
    key = (card.id, "fairness", tuple(chosen), threshold)
    found = view(app, actor, key, "Figures by group", work, height=420, patience=1.0)
    if found is None:
        return
    for column in found.columns:
        _column(card, column)
    if found.absent:
        names = ", ".join(plain(name, 40) for name in found.absent)
        st.caption(f"Protected and not kept with the training rows, so that no groups are compared by it: {names}.")


def _fair(
    app: Application, actor: Actor, model_id: str, columns: list[str], threshold: float | None, **run: Any
) -> FairnessViews:
    return app.explanations.views(actor, model_id).fairness(columns, threshold=threshold, **run)


def _column(card: ModelCard, found: Fairness) -> None:
    names = list(dict.fromkeys(name for group in found.groups for name in group.figures))
    with st.container(border=True, gap="small"):
        at = f", flagged from {figures.number(found.threshold)} on" if found.threshold is not None else ""
        tables.card_head(found.column, f"{figures.counted(len(found.groups), 'group')}, out of fold{at}")
        for sentence in found.sentences:
            st.markdown(plain(sentence, 500))
        shown = found.groups[:_SHOWN_GROUPS]
        rows = [
            {"Group": g.group, "Rows": g.rows} | ({"With the outcome": g.positives} if card.task.kind == "binary" else {})
            | {_label(n): _written(g.figures.get(n)) for n in names}
            for g in shown
        ]  # fmt: skip
        tables.show(
            pd.DataFrame(rows), key=session.wkey("fair", card.id, found.column), alt=f"Figures by {flat(found.column)}"
        )
        if found.differences:
            gaps = [f"{_label(n).lower()} {_written(found.differences[n])}" for n in names if n in found.differences]
            st.caption(f"Largest minus smallest group: {', '.join(gaps)}.")
        if names and len(shown) > 1:
            which = st.segmented_control(
                "Figure",
                names,
                default=names[0],
                required=True,
                key=session.wkey("fair", card.id, found.column, "which"),
                format_func=lambda n: f":gray[{plain(_label(n))}]",
                label_visibility="collapsed",
            )
            figure = str(which or names[0])
            key = session.wkey("fair", card.id, found.column, "chart")
            chart_menu.figure(_label(figure), "", _dots(found, figure), key, f"{card.name}_{found.column}")
        if found.small:
            st.caption(f"Too few rows to compare: {', '.join(plain(g, 30) for g in found.small[:10])}.")


def _label(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _written(figure: Interval | None, digits: int = 2) -> str:
    if figure is None:
        return ""
    digits = 0 if max(abs(figure.low), abs(figure.high)) >= 1000 else digits
    return f"{figures.number(figure.value, digits)} ({figures.interval(figure, digits)})"


def _dots(found: Fairness, name: str) -> Chart:
    """One dot a group with its interval."""
    groups = [g for g in found.groups[:_SHOWN_GROUPS] if name in g.figures]
    height = 96 + 30 * len(groups)
    figure, p = figure_for(mode(), height)
    values = [g.figures[name] for g in groups]
    figure.add_scatter(
        x=[v.value for v in values], y=list(range(len(groups))), mode="markers", marker={"size": 9, "color": p.categorical[0]},
        customdata=[[literal(g.group), g.rows, v.low, v.high] for g, v in zip(groups, values, strict=True)], showlegend=False,
        error_x={"type": "data", "symmetric": False, "width": 0, "thickness": 1.5,
                 "array": [v.high - v.value for v in values], "arrayminus": [v.value - v.low for v in values]},
        hovertemplate="%{customdata[0]}: %{x:,.3~g}"
        "<br>%{customdata[2]:,.3~g} to %{customdata[3]:,.3~g}, %{customdata[1]:,} rows<extra></extra>",
    )  # fmt: skip
    names = [literal(shortened(g.group, 24)) for g in groups]
    figure.update_yaxes(
        tickvals=list(range(len(groups))), ticktext=names, range=[len(groups) - 0.5, -0.5], showgrid=False, zeroline=False
    )
    figure.update_xaxes(title_text=f"{_label(name)}, 95% interval", showgrid=True)
    return Chart(figure, f"{_label(name)} by group of {flat(found.column)}.", height)


def _slices(app: Application, actor: Actor, card: ModelCard) -> None:
    with st.container(border=True, gap="small"):
        tables.card_head("Where it errs more", "found on one half of the rows, tested on the other")
        work = partial(_sliced, app, actor, card.id)
        found = view(app, actor, (card.id, "slices"), "Parts of the rows where it errs more", work, height=260)
        if found is None:
            return
        st.markdown(plain(found.sentence, 500))
        if found.slices:
            rows = [
                {"Rows where": s.label, "Rows": s.rows, f"Mean {found.error}": _written(s.error, 3),
                 "Elsewhere": figures.number(s.rest_error, 3 if s.rest_error < 1000 else 0),
                 "Expected": "" if s.expected is None else figures.number(s.expected, 3),
                 "p, corrected": "below 0.001" if s.p_adjusted < 0.001 else figures.number(s.p_adjusted, 3),
                 "Worse": "yes" if s.holds else "no"}
                for s in found.slices
            ]  # fmt: skip
            tables.show(
                pd.DataFrame(rows),
                key=session.wkey("slices", card.id),
                alt="Parts of the rows where the model errs more",
            )
        overall = figures.number(found.overall, 3 if found.overall < 1000 else 0)
        rows_of = figures.counted(found.rows, "row")
        st.caption(
            f"{figures.counted(found.tested, 'part')} tested; mean {found.error} of {rows_of}: {overall}. "
            "p corrected for all of them (Benjamini and Hochberg, 5%). Expected: what the model's own probabilities lead to "
            "expect there."
        )


def _sliced(app: Application, actor: Actor, model_id: str, **run: Any) -> ErrorSlices:
    return app.explanations.views(actor, model_id).slices(**run)
