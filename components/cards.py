"""Result cards under an answer: risk list, explained cases, table with its chart, SQL, model summary.

Each takes a payload that was read already and says what the person chose, such as the case to open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from components import explanation_charts, figures, payloads, session, tables
from components.charts import Chart
from components.plotly_template import CONFIG
from components.registry import page
from components.safe import flat, plain, safe_md
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.engine import CaseExplanation

Draw = Callable[[], None]


def mode() -> str | None:
    """Light or dark, as the browser says; None on a first run without one."""
    return st.context.theme.type


def draw_chart(chart: Chart, key: str) -> None:
    """A figure with our own look and its spoken name."""
    st.plotly_chart(chart.figure, theme=None, config=CONFIG, key=key, height=chart.height, alt=chart.alt)


@dataclass(frozen=True)
class Ranking:
    """The head of a segment of predictions, with how many rows the segment has."""

    rows: pd.DataFrame
    total: int


def risk_list(
    ranked: Ranking, apart: Ranking, meta: dict[str, Any], cases: list[dict[str, Any]], run_id: str, downloads: Draw
) -> str | None:
    """The ranked rows with their drivers and, below, the rows that stand apart. Returns the case to open."""
    noun = str(meta.get("entity_label") or "row")
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            tables.card_head("Risk list", f"{len(ranked.rows)} of {figures.counted(ranked.total, noun)}")
            downloads()
        chosen = _risk_table(ranked.rows, meta, cases, session.wkey("risk", run_id), noun)
        unseen = "out_of_fold" in (meta.get("scored") or [])
        scored = "out of fold, by models that did not see the row" if unseen else "by the model"
        st.caption(
            f"▲ raises, ▼ lowers the probability; scored {scored}. {_band_note(ranked.rows)}"
            f"Select a row to open the {plain(noun)} in the explorer."
        )
        if apart.total:
            label = str(meta.get("segment_label") or "apart")
            note = f"{len(apart.rows)} of {figures.counted(apart.total, noun)}, listed apart"
            tables.card_head(label[:1].upper() + label[1:], note)
            chosen = _risk_table(apart.rows, meta, cases, session.wkey("apart", run_id), noun) or chosen
    return chosen


def _band_note(rows: pd.DataFrame) -> str:
    """What the bands are, where there are any."""
    return "Band: 80%, over refits. " if len(rows) and bool(rows["probability_low"].notna().any()) else ""


def _risk_table(
    rows: pd.DataFrame, meta: dict[str, Any], cases: list[dict[str, Any]], key: str, noun: str
) -> str | None:
    entity = str(meta["entity_column"])
    ids = [tables.as_id(v) for v in rows[entity]]
    drivers = {str(c["case_id"]): payloads.drivers_text(c["drivers"], 3) for c in cases}
    name, extra = noun.capitalize(), [c for c in meta.get("display_columns") or [] if c in rows.columns and c != entity]
    shown = pd.DataFrame({"Rank": rows["rank"].astype(int).to_list(), name: ids})
    settings: dict[str, Any] = {
        "Rank": st.column_config.NumberColumn("Rank", width=50),
        name: st.column_config.TextColumn(name, width=70),
        "Probability": tables.probability_column(width=125),
        "Band": st.column_config.TextColumn("80% band", width=105),
    }
    for column in extra[:1]:
        shown[_heading(column)] = rows[column].to_list()
    shown["Probability"] = rows["probability"].to_list()
    if any(i in drivers for i in ids):
        shown["Drivers"] = [drivers.get(i or "", "") for i in ids]
        settings["Drivers"] = st.column_config.TextColumn("Drivers", width=330)
    lows, highs = rows["probability_low"], rows["probability_high"]
    shown["Band"] = [figures.span(a, b) for a, b in zip(lows, highs, strict=True)]
    for column in extra[1:]:
        shown[_heading(column)] = rows[column].to_list()
    shown = tables.presentable(shown)
    event = st.dataframe(
        shown,
        hide_index=True,
        key=key,
        on_select="rerun",
        selection_mode="single-row",
        height=tables.height(len(shown)),
        column_config=tables.columns(shown) | settings,
        alt=f"{flat(noun)} rows by probability, highest first",
    )
    picked = event.selection.rows
    return ids[picked[0]] if picked and picked[0] < len(ids) else None


def _heading(column: str) -> str:
    return column.replace("_", " ").capitalize()


def explained_cases(cases: list[CaseExplanation], target: str, run_id: str, noun: str) -> str | None:
    """Single cases in full: sentence and waterfall. Returns the case to open."""
    chosen = None
    for case in cases[:5]:
        with st.container(border=True, gap="small"):
            where = "out of fold, it trained the model" if case.scored == "out_of_fold" else "by the model"
            tables.card_head(f"Why {noun} {case.case_id}", f"{figures.number(case.prediction)}, scored {where}")
            if case.display:
                st.caption(
                    ", ".join(
                        f"{plain(k.replace('_', ' '))} {plain(figures.value(v))}" for k, v in case.display.items()
                    )
                )
            draw_chart(explanation_charts.waterfall(case, target, mode()), session.wkey("why", run_id, case.case_id))
            if st.button(
                "Open in explorer",
                key=session.wkey("why", run_id, case.case_id, "open"),
                type="tertiary",
                icon=page("explorer").icon,
            ):
                chosen = case.case_id
    if len(cases) > 5:
        st.caption(f"Showing 5 of {figures.counted(len(cases), 'case')}; the step explain_prediction lists all.")
    return chosen


def model_card(card: ModelCard, run_id: str) -> None:
    """The model in three lines, with its interval, its baseline and its warnings; opens Model results."""
    auc, other = card.chosen.main, next((c for c in card.candidates if not c.chosen), None)
    with st.container(border=True, gap="xsmall"):
        tables.card_head("Model", f"{card.name}, {card.model_type}, data version {card.snapshot_number}")
        beside = (
            f"; {plain(other.model_type)} has {figures.number(other.main.value)} on the same folds" if other else ""
        )
        st.markdown(
            f"{card.chosen.main_name} **{figures.number(auc.value)}** :gray[({figures.interval(auc)}, 95%, out of fold){beside}]"
        )
        st.markdown(
            f":gray[{figures.counted(card.rows, 'row')}, {figures.share(card.positives, card.rows)} "
            f"{plain(card.task.target_label)}; {figures.counted(len(card.features), 'feature')}, {len(card.left_out)} left out]"
        )
        for warning in card.warnings[:2]:
            st.caption(f":material/warning: {plain(warning, 300)}")
        st.page_link(
            page("models").path,
            label="Open model results",
            icon=page("models").icon,
            query_params={"model": card.id},
        )


def reading_line(reading: str | None, caveats: list[str], removed: list[str]) -> None:
    """How the question was taken, what to keep in mind, and what was taken out of the text."""
    if reading:
        st.caption(f":material/info: {plain(reading, 600)}")
    for caveat in caveats:
        st.caption(f":material/warning: {plain(caveat, 600)}")
    if removed:
        with st.popover(
            f"{figures.counted(len(removed), 'sentence')} left out", type="tertiary", icon=":material/content_cut:"
        ):
            st.caption("A number in them is not among the facts of this run.")
            for sentence in removed:
                st.markdown(safe_md(sentence))
