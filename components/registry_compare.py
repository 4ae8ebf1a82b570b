"""Two models beside each other, on the rows that both scored; and what can be taken away: report, archive, card.

A comparison, a report and an archive are made in the background. Must never: set figures of different rows side by side
without saying so.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from components import figures, model_figures, model_task, session, tables
from components.explain_work import view
from components.model_downloads import noted
from components.problems import careful
from components.safe import flat, plain
from lexsi_ds.application import Application
from lexsi_ds.ids import new_id
from lexsi_ds.models.card import ModelCard
from lexsi_ds.services.access import Actor
from lexsi_ds.services.model_comparison import ModelComparison

_MOST = 60
_FILES = {
    "report": ("Report", "html", "text/html", "description"),
    "archive": ("Archive", "zip", "application/zip", "folder_zip"),
}


def compare(app: Application, actor: Actor, card: ModelCard) -> None:
    """Another model of the same source, chosen by the person."""
    others = {m.id: m for m in app.models.list(actor, card.source_id)[:_MOST] if m.id != card.id}
    with st.container(border=True, gap="small"):
        tables.card_head("Compare", "paired, on the rows that both scored out of fold")
        if not others:
            st.caption("There is no other model of this data set.")
            return
        chosen = st.selectbox(
            "With",
            list(others),
            index=None,
            key=session.wkey("compare", card.id),
            placeholder="Choose another model",
            width=420,
            label_visibility="collapsed",
            format_func=lambda i: flat(f"{others[i].name}, {others[i].task.title}", 80),
        )
        if chosen is None:
            return
        work = partial(app.model_comparisons.compare, actor, card.id, chosen)
        found: ModelComparison | None = view(app, actor, (card.id, "compare", chosen), "Comparing", work, height=240)
        if found is not None:
            _compared(found)


def _compared(found: ModelComparison) -> None:
    st.markdown(plain(found.sentence, 600))
    first, second = found.first.name, found.second.name
    if found.paired is not None:
        shown = {name: label for name, label, _ in model_figures.BINARY + model_figures.CLASSES + model_figures.AMOUNTS}
        rows = []
        for name, label in shown.items():
            one, two = getattr(found.paired.first, name, None), getattr(found.paired.second, name, None)
            if one is not None and two is not None:
                digits = model_figures.digits_of(name, one.value)
                rows.append({"Figure": label, first: f"{figures.number(one.value, digits)} ({figures.interval(one, digits)})",
                             second: f"{figures.number(two.value, digits)} ({figures.interval(two, digits)})"})  # fmt: skip
        _table(rows, found, "figures")
    for name, only in ((first, found.only_first), (second, found.only_second)):
        if only:
            more = f" and {len(only) - 12} more" if len(only) > 12 else ""
            st.caption(f"Only {plain(name)} uses {', '.join(plain(n, 40) for n in only[:12])}{more}.")
    differ = [{"What differs": d.what, first: d.first, second: d.second} for d in (*found.data, *found.redefined)]
    if differ:
        _table(differ, found, "data")


def _table(rows: list[dict[str, Any]], found: ModelComparison, what: str) -> None:
    key = session.wkey("compared", found.first.id, found.second.id, what)
    tables.show(pd.DataFrame(rows), key=key, alt=f"Two models compared: {what}")


def downloads(app: Application, actor: Actor, card: ModelCard) -> None:
    """Report and archive, made when asked for; the card as JSON at once."""
    with st.container(border=True, gap="small"):
        tables.card_head("Take it away", "everything opens offline")
        for kind in _FILES:
            made = model_task.outcome(app, actor, f"{kind}-{card.id}")
            if isinstance(made, Path):
                session.held().model_files[f"{kind}-{card.id}"] = str(made)
        with st.container(horizontal=True, gap="small"):
            for kind in _FILES:
                _file(app, actor, card, kind)
            st.download_button(
                "Card (JSON)",
                noted(app, actor, card, "card", lambda: card.model_dump_json(indent=2).encode()),
                file_name=f"model_card_{figures.slug(card.name)}.json",
                mime="application/json",
                key=session.wkey("card", card.id),
                icon=":material/download:",
                on_click="ignore",
            )
        st.caption(
            "The archive holds the rows, the card, the report and a script that trains and scores again and compares."
        )


def _file(app: Application, actor: Actor, card: ModelCard, kind: str) -> None:
    label, suffix, mime, icon = _FILES[kind]
    path = Path(session.held().model_files.get(f"{kind}-{card.id}", ""))
    if path.is_file():
        st.download_button(
            f"Download {label.lower()}",
            noted(app, actor, card, kind, path.read_bytes),
            file_name=f"{figures.slug(card.name)}.{suffix}",
            mime=mime,
            type="primary",
            key=session.wkey("registry", card.id, kind, "file"),
            icon=":material/download:",
            on_click="ignore",
        )
        return
    st.button(
        f"Make {label.lower()} ({suffix.upper() if suffix == 'html' else suffix})",
        icon=f":material/{icon}:",
        on_click=_make,
        key=session.wkey("registry", card.id, kind, "make"),
        args=(app, actor, card, kind),
        disabled=model_task.running(app, f"{kind}-{card.id}"),
    )


@careful
def _make(app: Application, actor: Actor, card: ModelCard, kind: str) -> None:
    def work(cancel: Any, tell: Any) -> Path:
        made = (
            app.packages.zip(actor, card.id, cancel=cancel, tell=tell)
            if kind == "archive"
            else app.model_reports.html(actor, card.id)
        )
        path = app.pool.scratch / f"{new_id('res')}.{_FILES[kind][1]}"
        path.write_bytes(made)
        return path

    task = app.background.start(
        kind, f"Making the {kind} of {card.name}", work, owner=actor.id, key=f"{kind}-{card.id}"
    )
    model_task.start(f"{kind}-{card.id}", task)
