"""How a chart of the explorer is drawn: its head, its figure with PNG, its rows as CSV, and what was chosen in it.

A click on a point opens its case; a box or lasso makes its points the cohort. Streamlit takes no click while a chart's drag
selects, so a switch above the charts says which of the two is on. Must never: build a figure twice for one look, or let a
cell of a CSV start a formula.
"""

from __future__ import annotations

import csv
import io
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from components import figures, session, tables
from components.charts import Chart
from components.explain_state import ExplorerState, write
from components.plotly_template import CONFIG
from components.problems import careful

Rows = tuple[Sequence[str], Sequence[Sequence[Any]]]
"""Names of columns and the rows under them."""
_FORMULA = re.compile(r"^[=+\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
_figures: OrderedDict[tuple[object, ...], Chart] = OrderedDict()
_KEPT = 48
PICTURES = {"png": "PNG", "svg": "SVG"}
OPENS, CHOOSES = "case", "cohort"
_POINTING = {OPENS: ":material/ads_click: Click opens a case", CHOOSES: ":material/select: Drag chooses a cohort"}


def built(key: tuple[object, ...], make: Callable[[], Chart]) -> Chart:
    """The figure of this key, made once: a case switch must not build a beeswarm of 2,000 rows again."""
    found = _figures.get(key)
    if found is None:
        found = _figures[key] = make()
        while len(_figures) > _KEPT:
            _figures.popitem(last=False)
    return found


def config(name: str) -> dict[str, Any]:
    """The tool bar, whose camera takes the chart under its own name, as PNG or SVG."""
    format_ = session.read(session.PICTURE) or "png"
    return CONFIG | {"toImageButtonOptions": {"format": format_, "filename": figures.slug(name), "scale": 2}}


def chart(drawn: Chart, key: str, name: str) -> None:
    """A figure that is looked at only."""
    st.plotly_chart(drawn.figure, theme=None, config=config(name), key=key, height=drawn.height, alt=drawn.alt)


def pointing() -> str:
    """What the pointer does in charts whose points are cases: open one, or choose a cohort. Kept for the whole tab."""
    return st.segmented_control(
        "What a click does", list(_POINTING), key=session.POINTING, default=OPENS, required=True, persist_state="session",
        format_func=lambda p: f":gray[{_POINTING[p]}]", label_visibility="collapsed",
    )  # fmt: skip


def selectable(drawn: Chart, key: str, name: str, mine: ExplorerState) -> None:
    """A figure whose points are cases: a click opens one, or a drag across several makes them the cohort."""
    what = pointing()
    key = session.wkey(key, mine.round, what)
    figure = go.Figure(drawn.figure).update_layout(dragmode="zoom" if what == OPENS else "select", clickmode="event+select")
    st.plotly_chart(
        figure, theme=None, config=config(name), key=key, height=drawn.height, alt=drawn.alt,
        on_select=lambda: _selected(key, name, mine), selection_mode=("points", "box", "lasso"),
    )  # fmt: skip


@careful
def _selected(key: str, name: str, mine: ExplorerState) -> None:
    chosen = (session.read(key) or {}).get("selection") or {}
    ids = tuple(dict.fromkeys(str(p["customdata"][0]) for p in chosen.get("points", ()) if p.get("customdata")))
    ids = tuple(i.replace("&lt;", "<").replace("&amp;", "&") for i in ids)
    if not ids:
        return
    mine.round += 1
    if chosen.get("box") or chosen.get("lasso"):
        mine.chosen, mine.chosen_in = ids, name
        write(mine)
    else:
        st.query_params["case"] = ids[0]


def head(title: str, note: str, name: str, rows: Callable[[], Rows] | None, key: str) -> None:
    """The head of a card with the download of what it shows."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        tables.card_head(title, note)
        with st.container(horizontal=True, width="content", gap="xxsmall", vertical_alignment="center"):
            if rows is not None:
                tables.csv_button("CSV", f"{figures.slug(name)}.csv", lambda: csv_of(*rows()), key)
            chip = st.popover(
                "", icon=":material/image:", type="tertiary", key=f"{key}-picture", on_change="rerun", help="Format of pictures"
            )
            if chip.open:
                with chip:
                    picture_format(key)


def picture_format(key: str) -> None:
    """Which format the cameras of all charts take; kept for the tab."""
    own = f"{key}-format"
    session.put(own, session.read(session.PICTURE) or "png")

    def take() -> None:
        session.put(session.PICTURE, session.read(own))

    st.segmented_control(
        "Picture", list(PICTURES), key=own, required=True, on_change=take, format_func=lambda f: f":gray[{PICTURES[f]}]",
    )  # fmt: skip
    st.caption("The camera above a chart takes it in this format.")


def csv_of(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
    """Rows as CSV for a spreadsheet: UTF-8 with its mark, numbers as they are, no cell that starts a formula."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([_cell(name) for name in names])
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue().encode("utf-8-sig")


def _cell(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    text = str(value)
    return "'" + text if _FORMULA.match(text) and not _NUMBER.match(text) else text
