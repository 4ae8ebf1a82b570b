"""The New data tab: score a file with this model, every scoring so far with its downloads, and how right predictions were
once outcomes are known. The work goes on in the background; uploads are written to disk and dropped from memory at once.
"""

from __future__ import annotations

import contextlib
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from components import exports, figures, model_backtest, model_task, session, tables
from components.connect import drop_upload, upload_limit, write_upload
from components.problems import careful, guarded
from components.safe import flat, plain
from lexsi_ds.application import Application
from lexsi_ds.errors import BadInput, NotFound
from lexsi_ds.models.card import ModelCard
from lexsi_ds.services.access import Actor
from lexsi_ds.services.model_backtests import Backtest, OutcomeFile
from lexsi_ds.services.model_scoring import FileScore
from lexsi_ds.services.models import PredictionSet

FORMATS = ["csv", "tsv", "txt", "parquet", "xlsx", "json", "gz"]
SHOWN_SETS = 8


def draw(app: Application, actor: Actor, card: ModelCard) -> None:
    """Scoring and outcomes beside each other, then what there is of both."""
    scoring(app, actor, card)
    measured = model_task.outcome(app, actor, f"backtest-{card.id}")
    if isinstance(measured, Backtest):
        session.notify("success", "The outcomes are measured.")
        st.rerun()
    sets = app.models.all_predictions(actor, card.id)
    left, right = st.columns(2, gap="medium")
    with left, guarded("Scoring"), st.container(border=True, gap="small", height="stretch"):
        _score_form(app, actor, card)
    with right, guarded("Outcomes"), st.container(border=True, gap="small", height="stretch"):
        _outcome_form(app, actor, card, sets)
    with guarded("The scored rows"):
        _scored(app, actor, card, sets)
    with guarded("The backtests"):
        model_backtest.draw(app, actor, card)


def scoring(app: Application, actor: Actor, card: ModelCard) -> None:
    """The scoring under way, and its end."""
    done = model_task.outcome(app, actor, f"score-{card.id}")
    if isinstance(done, FileScore):
        session.put(session.PREDICTION_SET, done.predictions_id)
        session.forget(session.PREDICTION_PAGE, session.PREDICTION_SEARCH)
        session.notify("success", f"{figures.counted(done.rows, 'row')} of {plain(done.name)} are scored.")
        st.rerun()


def own_button(app: Application, actor: Actor, card: ModelCard) -> None:
    """Scores the newest version of the model's own data: what its task asks for, or every row of its table.

    Not where rows have no id of their own: those that trained the model could not be told from new ones.
    """
    if not _rows_have_ids(app, actor, card):
        st.caption("The rows of its own data have no id, so those that trained the model cannot be told from new ones.")
        return
    st.button(
        f"Score {plain(card.source_name, 40)}", icon=":material/database:", key=session.wkey("score", card.id, "own"),
        on_click=_score_own, args=(app, actor, card), disabled=model_task.running(app, f"score-{card.id}"),
        help="The newest version of its own data. Rows that trained it are scored by models that did not see them.",
    )


def _rows_have_ids(app: Application, actor: Actor, card: ModelCard) -> bool:
    with contextlib.suppress(NotFound):
        table = app.catalog.handle(actor, card.source_id).table(card.task.entity_table)
        return table is not None and table.column(card.task.entity_column) is not None
    return False


@careful
def _score_own(app: Application, actor: Actor, card: ModelCard) -> None:
    actor.need("models:write")
    handle = app.catalog.handle(actor, card.source_id)

    def work(cancel: Any, tell: Any) -> FileScore:
        return app.scoring.source(actor, card.id, handle, cancel=cancel, tell=tell)

    key = f"score-{card.id}"
    model_task.start(key, app.background.start("score", f"Scoring {handle.name}", work, owner=actor.id, key=key))


def _score_form(app: Application, actor: Actor, card: ModelCard) -> None:
    at = partial(session.wkey, "score", card.id)
    tables.card_head("Score a file", "with the columns that the model learned from")
    key, path, file = _file(at)
    fill = st.checkbox(
        "Count absent columns as missing values", key=at("fill"),
        help="Else a file without a column of the model is refused, and the column is named.",
    )
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Score file", type="primary", icon=":material/scoreboard:", key=at("go"), on_click=_score,
            args=(app, actor, card.id, key, path, fill),
            disabled=not (file or path.strip()) or model_task.running(app, f"score-{card.id}"),
        )
        own_button(app, actor, card)


def _file(at: Any) -> tuple[str, str, Any]:
    """An upload, or a path on this machine: the uploader's key, the path and the upload."""
    key = at("file", session.held().model_uploads)
    file = st.file_uploader("File", type=FORMATS, key=key, max_upload_size=upload_limit(), label_visibility="collapsed")
    path = st.text_input("Or a path on this machine", key=at("path"), placeholder="/data/new_rows.csv")
    return key, path, file


@careful
def _score(app: Application, actor: Actor, model_id: str, key: str, path: str, fill: bool) -> None:
    model_task.start(f"score-{model_id}", app.model_work.score(actor, model_id, _taken(app, key, path), fill_missing=fill))


def _taken(app: Application, key: str, path: str) -> Path:
    """The upload, written to a folder of its own, or the path that was typed."""
    file = session.read(key)
    if file is not None:
        written = write_upload(app.uploads.open(), file)
        drop_upload(file)
        session.held().model_uploads += 1
        return written
    typed = Path(path.strip()).expanduser()
    if not typed.exists():
        raise BadInput("There is no such file.", where=path.strip()[:200], to_do="Check the path, or upload the file.")
    return typed


def _outcome_form(app: Application, actor: Actor, card: ModelCard, sets: tuple[PredictionSet, ...]) -> None:
    at = partial(session.wkey, "backtest", card.id)
    tables.card_head("How right was it?", "when outcomes of predicted rows are known")
    if not sets:
        st.caption("Nothing is predicted yet. Score rows first.")
        return
    names = {s.id: set_name(card, s) for s in sets}
    chosen = st.selectbox("Predictions", list(names), key=at("set"), format_func=lambda i: flat(names.get(i, i), 80))
    way = st.segmented_control(
        "Outcomes from", ["newest", "file"], key=at("way"), default="newest", required=True,
        format_func=lambda w: f":gray[{'The newest data version' if w == 'newest' else 'A file'}]",
    )
    given: dict[str, Any] = {}
    key, path = "", ""
    if way == "file":
        key, path, _ = _file(at)
        one, two, three = st.columns(3, gap="small")
        given["outcome"] = one.text_input("Outcome column", key=at("outcome"), placeholder="as in training").strip()
        given["positive"] = two.text_input(
            "Value that counts", key=at("positive"), placeholder="as in training", disabled=card.task.kind != "binary"
        ).strip()
        given["time"] = three.text_input("Date column", key=at("time"), placeholder="none").strip()
    st.button(
        "Measure", icon=":material/fact_check:", key=at("go"), on_click=_measure,
        args=(app, actor, card.id, chosen, way, key, path, given), disabled=model_task.running(app, f"backtest-{card.id}"),
    )


@careful
def _measure(
    app: Application, actor: Actor, model_id: str, predictions_id: str, way: str, key: str, path: str, given: dict[str, Any]
) -> None:
    file = None
    if way == "file":
        file = OutcomeFile(path=_taken(app, key, path), **{name: text or None for name, text in given.items()})
    model_task.start(f"backtest-{model_id}", app.model_work.backtest(actor, model_id, file=file, predictions_id=predictions_id))


def set_name(card: ModelCard, scored: PredictionSet) -> str:
    """What was scored, how many rows, when."""
    about = scored.about or {}
    what = str(about.get("name") or f"{card.source_name}, {card.task.unknown_meaning}")
    return f"{what}: {figures.counted(scored.rows, 'row')}, {figures.ago(scored.created_at)}"


def _scored(app: Application, actor: Actor, card: ModelCard, sets: tuple[PredictionSet, ...]) -> None:
    if not sets:
        return
    with st.container(border=True, gap="small"):
        tables.card_head("Scored rows", f"{figures.counted(len(sets), 'time')}, newest first")
        for scored in sets[:SHOWN_SETS]:
            with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
                st.markdown(plain(set_name(card, scored), 160))
                with st.container(horizontal=True, width="content", gap="small"):
                    st.button(
                        "Show", type="tertiary", icon=":material/table_rows:", key=session.wkey("scored", scored.id, "show"),
                        on_click=_show, args=(scored.id,),
                    )
                    exports.of_predictions(
                        app, actor, card, scored.id, rows=scored.rows, key=session.wkey("scored", scored.id), type_="tertiary"
                    )
            notes = (scored.about or {}).get("notes") or []
            for note in notes[:6]:
                st.caption(f":material/info: {plain(note, 400)}")
        if len(sets) > SHOWN_SETS:
            st.caption(f"The newest {SHOWN_SETS} of {len(sets)}; Predictions lets you choose any.")


@careful
def _show(predictions_id: str) -> None:
    session.put(session.PREDICTION_SET, predictions_id)
    session.put(session.MODEL_TAB, "Predictions")
    session.forget(session.PREDICTION_PAGE, session.PREDICTION_SEARCH)
