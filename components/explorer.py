"""The explorer on screen: scale and class, one case in full, its values, and cases like it. Draws explanation payloads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from components import explain_cases, explain_work, explanation_charts, figures, session, tables
from components.cards import mode
from components.charts import TALL
from components.explain_asked import Asking
from components.explain_cases import Cases
from components.explain_draw import built, chart, csv_of
from components.explain_rows import case_rows
from components.plotly_template import direction
from components.safe import flat, plain
from lexsi_ds.errors import NotFound
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.engine import CaseExplanation

SCALES = {"probability": "Probability points", "log-odds": "Log-odds"}
CASE_HEIGHT = TALL + 220
SIMILAR_HEIGHT = 230
AHEAD = 1
"""Cases after the open one in the list that are explained before anybody asks, beside the previous and the next."""


def scale_switch(card: ModelCard) -> str:
    """Probability points or log-odds; kept between pages. An amount has one scale, which is said instead."""
    if card.task.kind == "regression":
        st.badge(f"In units of {plain(card.task.target_label, 40)}", color="gray", icon=":material/straighten:")
        return "probability"
    return st.segmented_control(
        "Scale", list(SCALES), key=session.SCALE, default="probability", required=True, label_visibility="collapsed",
        format_func=lambda s: f":gray[{'Margin' if s == 'log-odds' and card.task.classes else SCALES[s]}]", persist_state="session",
    )  # fmt: skip


def class_picker(card: ModelCard) -> str | None:
    """Of several classes the one that is explained; None is each case's likeliest."""
    if not card.task.classes:
        return None
    if session.read(session.EXPLAINED_CLASS) not in (None, *card.task.classes):
        session.forget(session.EXPLAINED_CLASS)
    return st.selectbox(
        "Class", list(card.task.classes), index=None, key=session.EXPLAINED_CLASS, placeholder="Likeliest class",
        label_visibility="collapsed", width=200, format_func=lambda c: flat(c, 40), persist_state="session",
    )  # fmt: skip


def explained(asking: Asking, case_id: str, found: Cases) -> CaseExplanation | None:
    """The case when it is there; else its skeleton. Those next in order are explained while it is looked at."""
    key, work = _case_work(asking, case_id)
    case: CaseExplanation | None = explain_work.view(
        asking.app, asking.actor, key, f"Why {asking.noun} {case_id}", work, height=CASE_HEIGHT, patience=1.0
    )
    if case is not None and asking.local:
        ids = list(found.top)
        at = ids.index(case_id) if case_id in ids else -1
        for ahead in dict.fromkeys(i for i in (found.following, found.previous, *ids[at + 1 : at + 1 + AHEAD]) if i):
            for key, work in (_case_work(asking, ahead), _similar_work(asking, ahead)):
                explain_work.board(asking.app).ask(key, "Cases next to it", work, asking.actor.id)
    return case


def _case_work(asking: Asking, case_id: str) -> tuple[tuple[object, ...], Any]:
    def work(*, cancel: Any, tell: Any) -> CaseExplanation | str:
        told = asking.app.explanations
        try:
            return told.case(asking.actor, asking.card.id, case_id, asking.scale, output=asking.output).case
        except NotFound:
            return ""

    return (*asking.mark, "case", case_id), work


def similar(asking: Asking, case_id: str) -> Sequence[dict[str, Any]] | None:
    """The nearest training rows when they are there; else their skeleton."""
    key, work = _similar_work(asking, case_id)
    return explain_work.view(asking.app, asking.actor, key, "Similar cases", work, height=SIMILAR_HEIGHT)


def _similar_work(asking: Asking, case_id: str) -> tuple[tuple[object, ...], Any]:
    def work(*, cancel: Any, tell: Any) -> Sequence[dict[str, Any]]:
        return asking.app.similar_cases(asking.actor, asking.card.id, case_id)

    return (asking.card.id, asking.predictions_id or "training", "similar", case_id), work


def one_case(asking: Asking, case: CaseExplanation, found: Cases) -> None:
    """Waterfall with its values, and where the case stands."""
    noun, task = asking.noun, asking.card.task
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            tables.card_head(f"Why {noun} {case.case_id}", _headline(case, found))
            explain_cases.steps(found)
        explain_cases.bar(asking, found, case.case_id)
        look = (*asking.mark, "waterfall", case.case_id, mode())
        drawn = built(look, lambda: explanation_charts.waterfall(case, task.target_label, mode()))
        key = session.wkey("waterfall", asking.card.id, case.case_id, case.scale, case.output or "")
        chart(drawn, key, f"why_{noun}_{case.case_id}")
        scored = {
            "out_of_fold": "It trained the model, so its score is out of fold.",
            "in_sample": "It trained the model that scored it, so the score flatters.",
        }.get(case.scored, "")
        shown = ", ".join(f"{plain(k.replace('_', ' '))} {plain(figures.value(v))}" for k, v in case.display.items())
        st.caption(" ".join(part for part in (explain_cases.place_line(asking, found), shown, scored) if part))
        if not asking.local:
            told = f" In its own words: {case.engine_summary}" if case.engine_summary else ""
            st.caption(plain(case.method + told, 900))


def _headline(case: CaseExplanation, found: Cases) -> str:
    """The prediction, of which class, with its band where there is one."""
    of = f"{case.output}: " if case.output else ""
    if case.scale == "value":
        low, high = (found.row or {}).get("prediction_low"), (found.row or {}).get("prediction_high")
        digits = 0 if abs(case.prediction) >= 100 else 2
        band = figures.span(low, high, digits) if low is not None and high is not None else "none"
        return figures.number(case.prediction, digits) + (f" ({band})" if band != "none" else "")
    note = of + (figures.probability if case.scale == "probability" else figures.number)(case.prediction)
    if found.row and case.scale == "probability" and not case.output:
        band = figures.span(found.row["probability_low"], found.row["probability_high"])
        note += f" ({band}, 80% band)" if band != "none" else ""
    return note


def values_table(asking: Asking, case: CaseExplanation) -> None:
    """Every driver with its value and its part, on the scale of the waterfall."""
    digits = explanation_charts.digits_of([d.contribution for d in case.drivers])
    digits = digits + 1 if digits else 0
    frame = pd.DataFrame(
        [
            {
                "Feature": d.label + (f", {d.unit}" if d.unit else ""),
                "Value": figures.value(d.value),
                "Contribution": f"{direction(d.contribution)} {figures.number(abs(d.contribution), digits)}",
            }
            for d in case.drivers
        ]
    )
    scale = SCALES.get(case.scale, "units of the outcome" if case.scale == "value" else case.scale)
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            tables.card_head("All features", f"{figures.counted(len(frame), 'value')}, {scale.lower()}")
            name = f"contributions_{figures.slug(case.case_id)}.csv"
            tables.csv_button("CSV", name, lambda: csv_of(*case_rows(case)), "explorer-values-csv")
        tables.show(
            frame,
            key=session.wkey("values", asking.card.id, case.case_id, case.scale),
            alt=f"Contributions of all features for case {flat(case.case_id)}",
            settings={
                "Feature": st.column_config.TextColumn("Feature", width=205),
                "Value": st.column_config.TextColumn("Value", width=85),
                "Contribution": st.column_config.TextColumn("Contribution", width=95),
            },
        )
        ends = 0 if case.scale == "value" and abs(case.prediction) >= 100 else 3
        st.caption(
            f"▲ raises, ▼ lowers. Base value {figures.number(case.base_value, ends)} plus the contributions is "
            f"{figures.number(case.prediction, ends)}. "
            + ("The log-odds values are rescaled so that they add up." if case.scale == "probability" else "")
        )


def similar_table(asking: Asking, found: Sequence[dict[str, Any]], case_id: str) -> None:
    """The nearest training rows with what became of them."""
    noun, task = asking.noun, asking.card.task
    with st.container(border=True, gap="small"):
        if not found:
            tables.card_head("Similar cases", "none")
            st.caption("No training row is close.")
            return
        frame = tables.presentable(pd.DataFrame([_similar_row(s, asking.card) for s in found]))
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            tables.card_head("Similar cases", f"{len(found)} nearest with a known outcome")
            rows = [tuple(row) for row in frame.itertuples(index=False)]
            names, file = [str(c) for c in frame.columns], f"similar_{figures.slug(case_id)}.csv"
            tables.csv_button("CSV", file, lambda: csv_of(names, rows), "explorer-similar-csv")
        settings: dict[str, Any] = {"Distance": st.column_config.NumberColumn("Distance", format="%.1f", width=70)}
        if task.kind != "regression":
            settings["Probability"] = tables.probability_column(width=120)
        key = session.wkey("similar", asking.card.id, case_id)
        tables.show(frame, key=key, alt=f"{flat(noun)} rows like case {flat(case_id)}", settings=settings)
        said = {"binary": "Probability: out of fold. Outcome: " + plain(task.positive_meaning) + ".",
                "multiclass": "Probability: of the class predicted, out of fold."}  # fmt: skip
        st.caption(said.get(task.kind, "Predicted: out of fold."))


def _similar_row(near: dict[str, Any], card: ModelCard) -> dict[str, Any]:
    task, outcome = card.task, near.get("outcome")
    display = near.get("display") or {}
    if task.kind == "binary":
        outcome = task.target_label if outcome else f"without {task.target_label}"
    return {
        task.entity_label.capitalize(): tables.as_id(near.get("entity")),
        "Outcome": outcome,
        "Predicted" if task.kind == "regression" else "Probability": _rounded(near.get("probability"), task.kind),
        **{str(k).replace("_", " ").capitalize(): _day(v) for k, v in display.items()},
        "Distance": near.get("distance"),
    }


def _rounded(value: Any, kind: str) -> Any:
    """An amount at the precision it deserves; a probability as it is."""
    return float(f"{value:.4g}") if kind == "regression" and isinstance(value, float) else value


def _day(value: Any) -> Any:
    return value.removesuffix("T00:00:00") if isinstance(value, str) else value


def no_case(asking: Asking, found: Cases, case_id: str | None) -> None:
    """Nothing to explain: no case was scored, or the address names one that the model does not know."""
    noun = plain(asking.noun)
    with st.container(border=True, gap="small"):
        explain_cases.bar(asking, found, None)
        if case_id is None:
            st.info("This model has scored nothing yet, so there is no case to open.", icon=":material/info:")
            return
        st.warning(
            f"**No {noun} {plain(case_id, 40)} here.** The model knows the {noun} ids it was trained on and those it scored.",
            icon=":material/link_off:",
        )
