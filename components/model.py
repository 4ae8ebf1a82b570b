"""Model results on screen: header, figures beside the baseline's, and the tabs. Draws a card and pages of predictions."""

from __future__ import annotations

import contextlib

import pandas as pd
import streamlit as st

from components import charts, figures, session
from components.cards import draw_chart, mode
from components.problems import careful
from components.safe import plain
from components.tasks import features_table, left_out_table
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import NotFound
from lexsi_ds.ids import is_id
from lexsi_ds.models.card import AnyMetrics, Interval, ModelCard
from lexsi_ds.services.access import Actor

METRICS: tuple[tuple[str, str, str], ...] = (
    ("roc_auc", "ROC AUC", "Chance that a row with the outcome scores above a row without it. 0.5 is a coin."),
    ("gini", "Gini", "2 AUC − 1. 0 is a coin, 1 is perfect."),
    ("ks", "KS", "Largest gap between the score distributions of the two outcomes."),
    (
        "average_precision",
        "Average precision",
        "Mean precision over all thresholds; compare it with the share of the outcome.",
    ),
    ("brier", "Brier score", "Mean squared error of the probabilities. Lower is better."),
    ("log_loss", "Log loss", "Mean surprise of the probabilities. Lower is better."),
)
LOWER_IS_BETTER = frozenset({"brier", "log_loss"})


def wanted() -> str | None:
    """The model that the address names."""
    return st.query_params.get("model")


def current(app: Application, actor: Actor, source_id: str | None) -> ModelCard | None:
    """The model of the address, else the one this tab had open, else the latest of the active source."""
    for model_id in (wanted(), None if wanted() else session.held().model_id):
        if model_id and is_id(model_id, "mdl"):
            with contextlib.suppress(NotFound):
                card = app.models.get(actor, model_id)
                session.held().model_id = card.id
                return card
        if wanted():
            return None
    return app.models.latest(actor, source_id) if source_id else None


def newest_version(app: Application, actor: Actor, card: ModelCard, handle: DatasetHandle | None) -> int | None:
    """Number of the newest version of the model's source; None when that is not there any more."""
    if handle and handle.source_id == card.source_id:
        return handle.snapshot_number
    return next((s.snapshot_number for s in app.catalog.sources(actor) if s.id == card.source_id), None)


def header(card: ModelCard, newest: int | None) -> None:
    """What the model predicts, and on which data it stands."""
    task = card.task
    st.markdown(
        f"{plain(task.target_label[:1].upper() + task.target_label[1:])} means {plain(task.positive_meaning)}. "
        f"Known: {plain(task.known_meaning)}. Unknown: {plain(task.unknown_meaning)}."
    )
    with st.container(horizontal=True, gap="xsmall"):
        where = ", Lexsi platform" if card.engine == "lexsi" else ""
        st.badge(f"{plain(card.model_type)}, {plain(card.name)}{where}", color="gray", icon=":material/model_training:")
        st.badge(f"{plain(card.source_name)}, version {card.snapshot_number}", color="gray", icon=":material/dataset:")
        if newest and newest > card.snapshot_number:
            said = f"Stale: made from version {card.snapshot_number}, version {newest} is there"
            st.badge(said, color="yellow", icon=":material/history:")


def picker(app: Application, actor: Actor, card: ModelCard) -> None:
    """Which model, latest first. The list is read only when it is opened; the choice goes to the address."""
    chip = st.popover(plain(card.name, 30), icon=":material/model_training:", on_change="rerun", key="models-picker")
    if not chip.open:
        return
    with chip:
        listed = app.models.list(actor, card.source_id)
        names = {m.id: f"{m.name}, {m.task.title}" for m in listed}
        captions = [
            f"{m.chosen.main_name.removeprefix('ROC ')} {figures.number(m.chosen.main.value)}, {figures.ago(m.created_at)}"
            for m in listed
        ]
        session.put(session.MODEL_PICK, card.id)
        st.radio(
            "Model",
            list(names),
            key=session.MODEL_PICK,
            format_func=lambda i: plain(names.get(i, i), 60),
            captions=captions,
            on_change=_pick,
        )


@careful
def _pick() -> None:
    st.query_params["model"] = session.read(session.MODEL_PICK)
    session.held().model_id = session.read(session.MODEL_PICK)
    session.forget(session.PREDICTION_SEARCH, session.PREDICTION_PAGE, session.PREDICTION_SEGMENT)


def metric_row(card: ModelCard) -> None:
    """Six figures, each with its interval and its distance to the other candidate."""
    chosen, other = card.chosen, next((c for c in card.candidates if not c.chosen), None)
    halves = st.grid(2, min_column_width=440)
    for half in (METRICS[:3], METRICS[3:]):
        with halves.cell(), st.grid(3, min_column_width=120):
            for name, label, meaning in (figure for figure in half if hasattr(chosen.metrics, figure[0])):
                _metric(name, label, meaning, chosen.metrics, other.metrics if other else None)
    beside = f" Gray: difference to {plain(other.model_type)} on the same folds." if other else ""
    st.caption(
        f"Out of fold, {card.folds} folds, {figures.counted(card.repeats, 'repeat')}. Interval: 95%, bootstrap over "
        f"{figures.count(card.rows)} rows, {figures.share(card.positives, card.rows)} {plain(card.task.target_label)}.{beside}"
    )
    st.caption(plain(card.why_chosen, 500))
    if card.warnings:
        st.warning("  \n".join(plain(warning, 400) for warning in card.warnings), icon=":material/warning:")


def _metric(name: str, label: str, meaning: str, chosen: AnyMetrics, other: AnyMetrics | None) -> None:
    figure: Interval = getattr(chosen, name)
    digits = 3 if name == "brier" else 2
    delta = figures.signed(figure.value - getattr(other, name).value, digits) if other else None
    st.metric(
        label,
        figures.number(figure.value, digits),
        delta=delta,
        delta_description=figures.interval(figure, digits),
        delta_color="gray",
        delta_arrow="off",
        border=True,
        help=meaning,
        height="stretch",
    )


def performance(card: ModelCard) -> None:
    """ROC with its band, calibration beside it."""
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(f"**ROC** :gray[out of fold, {figures.counted(card.rows, 'row')}]")
        draw_chart(charts.roc(card, mode()), session.wkey("roc", card.id))
    with right:
        st.markdown(f"**Calibration** :gray[{figures.counted(len(card.chosen.calibration), 'bin')}, 95% interval]")
        draw_chart(charts.calibration(card, mode()), session.wkey("calibration", card.id))


def features(card: ModelCard) -> None:
    """Definitions and missing shares; then what was left out."""
    st.markdown(f"**Features** :gray[{len(card.features)}, every one known before the cut-off]")
    frame = pd.DataFrame(
        [
            {
                "Feature": f.feature.label,
                "Kind": f.feature.kind,
                "Unit": f.feature.unit or "",
                "Missing": 100 * f.missing / card.rows if card.rows else 0.0,
                "Distinct": f.distinct,
                "Definition": f.feature.expression,
            }
            for f in card.features
        ]
    )
    features_table(frame, session.wkey("features", card.id))
    st.markdown(f"**Left out** :gray[{len(card.left_out)}, with the reason]")
    if card.left_out:
        left_out_table(card.left_out, session.wkey("left", card.id))
    else:
        st.caption("Nothing was left out.")


def document(card: ModelCard) -> None:
    """The card as JSON, to read and to keep."""
    st.download_button(
        "Download JSON",
        lambda: card.model_dump_json(indent=2).encode(),
        file_name=f"model_card_{card.name}.json",
        mime="application/json",
        key=session.wkey("card", card.id),
        icon=":material/download:",
        on_click="ignore",
    )
    made = (
        f"Trained {figures.ago(card.created_at)} in {figures.seconds(card.seconds)}, seed {card.seed}, "
        f"data version {card.snapshot_number} of {plain(card.source_name)}."
    )
    st.caption(made + " " + ", ".join(f"{plain(k)} {plain(v)}" for k, v in card.versions.items()))
    st.json(card.model_dump(mode="json", exclude={"candidates": {"__all__": {"roc", "calibration"}}}), expanded=1)
