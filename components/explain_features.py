"""Each feature's definition, and the contributions of all rows of a cohort as a file: what stands behind the explorer's charts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from components import explain_work, figures, session, tables
from components.explain_asked import Asking
from components.model_downloads import noted
from components.problems import careful
from components.safe import flat, plain
from components.sql_text import show_sql
from lexsi_ds.ids import new_id

DEFINED = "explorer-defined"


def definitions(asking: Asking) -> None:
    """A popover: what a feature is, its expression, its SQL."""
    chip = st.popover("Features", icon=":material/data_object:", on_change="rerun", key="explorer-definitions", width="content")
    if not chip.open:
        return
    with chip:
        card = asking.card
        known = {f.feature.name: f for f in card.features}
        open_now = session.read(session.EXPLAINED_FEATURE)
        if session.read(DEFINED) not in known:
            session.put(DEFINED, open_now if open_now in known else next(iter(known)))
        name = st.selectbox("Feature", list(known), key=DEFINED, format_func=lambda n: flat(known[n].feature.label, 60), width=420)
        stats, feature = known[name], known[name].feature
        kind = {"numeric": "Number", "categorical": "Words", "boolean": "Yes or no"}[feature.kind]
        unit = f", {plain(feature.unit, 30)}" if feature.unit else ""
        st.markdown(f"**{plain(feature.label)}** :gray[{kind}{unit}, column {plain(feature.name, 60)}]")
        missing = figures.share(stats.missing, card.rows) if stats.missing else "none"
        st.caption(
            f"{figures.counted(stats.distinct, 'value')}, missing: {missing}."
            + (f" From {plain(', '.join(feature.tables), 200)}." if feature.tables else "")
        )
        show_sql(feature.expression or feature.name)
        with st.expander("SQL of all features"):
            st.caption("Rows that train")
            show_sql(card.task.context_sql, height=240)
            if card.task.predict_sql:
                st.caption("Rows that are scored")
                show_sql(card.task.predict_sql, height=240)


def contributions(asking: Asking) -> None:
    """The contributions of every row of the cohort: made as a job, then downloaded."""
    key = (*asking.mark, asking.cohort_mark, "contributions")
    board = explain_work.board(asking.app)
    asked = board.find(key)
    if asked is None:
        st.button(
            "Contributions", icon=":material/table_view:", type="tertiary", key="explorer-contributions", on_click=_make,
            args=(asking, key), help="Every row of the cohort with the contribution of each feature, as CSV.",
        )  # fmt: skip
        return
    path: Path | None = explain_work.view(
        asking.app, asking.actor, key, "Contributions of all rows", _gone, height=40, listed=True
    )
    if path is not None:
        name = f"contributions_{figures.slug(asking.card.name)}_{asking.scale}.csv"
        data = noted(asking.app, asking.actor, asking.card, "contributions", path.read_bytes)
        tables.csv_button("Download contributions", name, data, "explorer-contributions-csv", type_="secondary")


@careful
def _make(asking: Asking, key: tuple[object, ...]) -> None:
    cohort = asking.mine.cohort

    def work(*, cancel: Any, tell: Any) -> Path:
        views = asking.app.explanations.views(asking.actor, asking.card.id)
        data = views.contributions_csv(scale=asking.scale, output=asking.output, cohort=cohort, cancel=cancel, tell=tell)
        path = asking.app.settings.home / "tmp" / f"{new_id('csv')}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    explain_work.board(asking.app).ask(key, "Contributions of all rows", work, asking.actor.id, listed=True)


def _gone(*, cancel: Any, tell: Any) -> Path:
    raise LookupError("the file is not there any more")
